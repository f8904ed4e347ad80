//! Proves statements about lengths, counts, ranges and `multipleOf`.

use contract::node::Value;

use crate::schema::bounds::{self, Bound, COUNTS};
use crate::schema::types::JsonTypes;
use crate::schema::view::SchemaView;

/// Returns the type to which a length or count applies.
fn type_of(keyword: &str) -> JsonTypes {
    match keyword {
        "maxLength" | "minLength" => JsonTypes::STRING,
        "maxItems" | "minItems" => JsonTypes::ARRAY,
        _ => JsonTypes::OBJECT,
    }
}

/// A schema and the number of its required properties that are sent.
#[derive(Clone, Copy)]
pub(super) struct CountedSchema<'a, 'n> {
    /// The schema.
    pub view: &'a SchemaView<'n>,
    /// The number of properties.
    pub required_count: usize,
}

impl CountedSchema<'_, '_> {
    /// Returns the effective lower bound of a count; that of properties is at least the number of required ones.
    fn lower_count(self, keyword: &str, declared: Option<Bound>) -> f64 {
        let declared = declared.map_or(0.0, |bound| bound.value);
        let required = u32::try_from(self.required_count).map_or(0.0, f64::from);
        if keyword == "minProperties" { declared.max(required) } else { declared }
    }
}

/// Whether all values of the narrow schema with one of the types are within the bounds of the wide schema.
pub(super) fn are_included(counted: CountedSchema<'_, '_>, wide: &SchemaView<'_>, types: JsonTypes) -> bool {
    let narrow = counted.view;
    let are_counts_included =
        COUNTS.iter().filter(|count| types.overlaps(type_of(count.keyword))).all(|count| {
            let bound = |view: &SchemaView<'_>| count.bound(view.entries(count.keyword), view.span);
            match (bound(narrow), bound(wide)) {
                (_, None) => true,
                (Some(narrow), Some(wide)) if count.is_upper => narrow.value <= wide.value,
                (None, Some(_)) if count.is_upper => false,
                (declared, Some(wide)) => counted.lower_count(count.keyword, declared) >= wide.value,
            }
        });
    let are_items_unique = !types.overlaps(JsonTypes::ARRAY)
        || !wide.is_true("uniqueItems")
        || narrow.is_true("uniqueItems")
        || COUNTS.iter().any(|count| {
            count.keyword == "maxItems"
                && count
                    .bound(narrow.entries(count.keyword), narrow.span)
                    .is_some_and(|bound| bound.value <= 1.0)
        });
    are_counts_included && are_items_unique && are_numbers_included(narrow, wide, types)
}

fn are_numbers_included(narrow: &SchemaView<'_>, wide: &SchemaView<'_>, types: JsonTypes) -> bool {
    if !types.overlaps(JsonTypes::NUMBER) {
        return true;
    }
    let integers_only = !types.has_fractions();
    let is_range_included = [true, false].into_iter().all(|is_upper| {
        match (bounds::range(narrow, is_upper), bounds::range(wide, is_upper)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(narrow), Some(wide)) => {
                !bounds::is_tighter(wide, narrow, is_upper)
                    || integers_only && {
                        let (narrow, wide) = (narrow.integer_bound(is_upper), wide.integer_bound(is_upper));
                        !narrow.1 && !wide.1 && if is_upper { narrow.0 <= wide.0 } else { narrow.0 >= wide.0 }
                    }
            }
        }
    });
    let mut steps = bounds::steps(narrow);
    if integers_only {
        steps.push(1.0);
    }
    is_range_included && bounds::implies(&steps, &bounds::steps(wide))
}

/// Whether no value of one type is within the bounds of both schemas.
pub(super) fn are_disjoint(
    left: CountedSchema<'_, '_>,
    right: CountedSchema<'_, '_>,
    single_type: JsonTypes,
) -> bool {
    if single_type.overlaps(JsonTypes::NUMBER) {
        let range = |view: &SchemaView<'_>| (bounds::range(view, false), bounds::range(view, true));
        let ((left_lower, left_upper), (right_lower, right_upper)) = (range(left.view), range(right.view));
        return is_empty_range(left_lower, right_upper) || is_empty_range(right_lower, left_upper);
    }
    COUNTS.iter().filter(|count| !count.is_upper && type_of(count.keyword) == single_type).any(|lower| {
        let upper_keyword = lower.keyword.replace("min", "max");
        let Some(upper) = COUNTS.iter().find(|count| count.keyword == upper_keyword) else { return false };
        let is_empty = |left: CountedSchema<'_, '_>, right: CountedSchema<'_, '_>| {
            let declared = lower.bound(left.view.entries(lower.keyword), left.view.span);
            let at_least = left.lower_count(lower.keyword, declared);
            let at_most = upper.bound(right.view.entries(upper.keyword), right.view.span);
            at_most.is_some_and(|at_most| at_least > at_most.value)
        };
        is_empty(left, right) || is_empty(right, left)
    })
}

fn is_empty_range(lower: Option<Bound>, upper: Option<Bound>) -> bool {
    lower.zip(upper).is_some_and(|(lower, upper)| {
        lower.value > upper.value || lower.value >= upper.value && (lower.exclusive || upper.exclusive)
    })
}

/// Whether a number is within the range and a multiple of the steps of a schema.
pub(super) fn accepts_number(view: &SchemaView<'_>, number: f64) -> bool {
    let is_in_range = [true, false].into_iter().all(|is_upper| {
        bounds::range(view, is_upper).is_none_or(|bound| match (is_upper, bound.exclusive) {
            (true, false) => number <= bound.value,
            (true, true) => number < bound.value,
            (false, false) => number >= bound.value,
            (false, true) => number > bound.value,
        })
    });
    let is_multiple = |step: &f64| number == 0.0 || bounds::divides(*step, number.abs());
    is_in_range && bounds::steps(view).iter().all(is_multiple)
}

/// Whether the length or count of a value is within the bounds of a schema.
pub(super) fn accepts_count(view: &SchemaView<'_>, value: &Value) -> bool {
    let (value_type, size) = match value {
        Value::String(text) => (JsonTypes::STRING, text.chars().count()),
        Value::Sequence(items) => (JsonTypes::ARRAY, items.len()),
        Value::Mapping(entries) => (JsonTypes::OBJECT, entries.len()),
        _ => return true,
    };
    let size = u32::try_from(size).map_or(f64::INFINITY, f64::from);
    COUNTS.iter().filter(|count| type_of(count.keyword) == value_type).all(|count| {
        let bound = count.bound(view.entries(count.keyword), view.span);
        bound.is_none_or(|bound| if count.is_upper { size <= bound.value } else { size >= bound.value })
    })
}
