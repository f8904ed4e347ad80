//! Compares lengths, counts, ranges, `multipleOf`, `uniqueItems` and patterns.

use contract::node::Entry;
use contract::source::Span;

use super::value::number;
use super::view::SchemaView;
use super::{SchemaPair, patterns};
use crate::compare::{Comparison, Positions};
use crate::rule::{Level, SchemaRule, Topic, ValueEffect};

const BOUNDS: Topic = Topic::Bounds;

const fn narrowing(suffix: &'static str, inverse: &'static str) -> SchemaRule {
    SchemaRule::new(BOUNDS, ValueEffect::Narrows, suffix, inverse)
}

const fn widening(suffix: &'static str, inverse: &'static str) -> SchemaRule {
    SchemaRule::new(BOUNDS, ValueEffect::Widens, suffix, inverse)
}

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    narrowing("max-set", "max-unset"),
    widening("max-unset", "max-set"),
    widening("max-increased", "max-decreased"),
    narrowing("max-decreased", "max-increased"),
    narrowing("min-set", "min-unset"),
    widening("min-unset", "min-set"),
    narrowing("min-increased", "min-decreased"),
    widening("min-decreased", "min-increased"),
    narrowing("exclusive-max-set", "exclusive-max-unset"),
    widening("exclusive-max-unset", "exclusive-max-set"),
    widening("exclusive-max-increased", "exclusive-max-decreased"),
    narrowing("exclusive-max-decreased", "exclusive-max-increased"),
    narrowing("exclusive-min-set", "exclusive-min-unset"),
    widening("exclusive-min-unset", "exclusive-min-set"),
    narrowing("exclusive-min-increased", "exclusive-min-decreased"),
    widening("exclusive-min-decreased", "exclusive-min-increased"),
    narrowing("max-length-set", "max-length-unset"),
    widening("max-length-unset", "max-length-set"),
    widening("max-length-increased", "max-length-decreased"),
    narrowing("max-length-decreased", "max-length-increased"),
    narrowing("min-length-increased", "min-length-decreased"),
    widening("min-length-decreased", "min-length-increased"),
    narrowing("max-items-set", "max-items-unset"),
    widening("max-items-unset", "max-items-set"),
    widening("max-items-increased", "max-items-decreased"),
    narrowing("max-items-decreased", "max-items-increased"),
    narrowing("min-items-set", "min-items-unset"),
    widening("min-items-unset", "min-items-set"),
    narrowing("min-items-increased", "min-items-decreased"),
    widening("min-items-decreased", "min-items-increased"),
    narrowing("max-properties-set", "max-properties-unset"),
    widening("max-properties-unset", "max-properties-set"),
    widening("max-properties-increased", "max-properties-decreased"),
    narrowing("max-properties-decreased", "max-properties-increased"),
    narrowing("min-properties-set", "min-properties-unset"),
    widening("min-properties-unset", "min-properties-set"),
    narrowing("min-properties-increased", "min-properties-decreased"),
    widening("min-properties-decreased", "min-properties-increased"),
    narrowing("max-contains-set", "max-contains-unset"),
    widening("max-contains-unset", "max-contains-set"),
    widening("max-contains-increased", "max-contains-decreased"),
    narrowing("max-contains-decreased", "max-contains-increased"),
    narrowing("min-contains-increased", "min-contains-decreased"),
    widening("min-contains-decreased", "min-contains-increased"),
    narrowing("multiple-of-added", "multiple-of-removed"),
    widening("multiple-of-removed", "multiple-of-added"),
    SchemaRule::new(BOUNDS, ValueEffect::Alters, "multiple-of-changed", "multiple-of-changed"),
    widening("multiple-of-generalized", "multiple-of-changed"),
    narrowing("unique-items-added", "unique-items-removed"),
    widening("unique-items-removed", "unique-items-added"),
    narrowing("pattern-added", "pattern-removed"),
    widening("pattern-removed", "pattern-added"),
    SchemaRule::new(BOUNDS, ValueEffect::Alters, "pattern-changed", "pattern-changed"),
    // Clients that check the pattern are few, and formats are extended in this way.
    widening("pattern-generalized", "pattern-changed").in_responses(Level::Warning),
    // Whether the new pattern matches all strings that matched the old one cannot be decided.
    SchemaRule::new(BOUNDS, ValueEffect::Alters, "pattern-changed-undecided", "pattern-changed-undecided")
        .in_requests(Level::Warning)
        .in_responses(Level::Warning),
];

/// The keywords that [`compare`] compares. [`compare_contains_counts`] compares two more.
pub(super) const KEYWORDS: &[&str] = &[
    "maximum",
    "minimum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "maxProperties",
    "minProperties",
    "multipleOf",
    "uniqueItems",
    "pattern",
];

/// A bound of a length or count.
pub(super) struct CountKeyword {
    /// The keyword.
    pub keyword: &'static str,
    /// The part that its rule ids share, such as `max-length`.
    suffix_stem: &'static str,
    /// Whether the keyword is a maximum.
    pub is_upper: bool,
    /// The bound with which the keyword is compared if one of the schemas lacks it. Without a default, the keyword is
    /// reported as set or unset.
    default: Option<f64>,
}

/// The lengths and counts.
pub(super) const COUNTS: [CountKeyword; 6] = [
    CountKeyword { keyword: "maxLength", suffix_stem: "max-length", is_upper: true, default: None },
    CountKeyword { keyword: "minLength", suffix_stem: "min-length", is_upper: false, default: Some(0.0) },
    CountKeyword { keyword: "maxItems", suffix_stem: "max-items", is_upper: true, default: None },
    CountKeyword { keyword: "minItems", suffix_stem: "min-items", is_upper: false, default: None },
    CountKeyword { keyword: "maxProperties", suffix_stem: "max-properties", is_upper: true, default: None },
    CountKeyword { keyword: "minProperties", suffix_stem: "min-properties", is_upper: false, default: None },
];

const CONTAINS_COUNTS: [CountKeyword; 2] = [
    CountKeyword { keyword: "minContains", suffix_stem: "min-contains", is_upper: false, default: Some(1.0) },
    CountKeyword { keyword: "maxContains", suffix_stem: "max-contains", is_upper: true, default: None },
];

impl CountKeyword {
    /// Returns the tightest bound of several entries, or else the default at the position of the schema, if there is
    /// one.
    pub(super) fn bound<'n>(
        &self,
        entries: impl Iterator<Item = &'n Entry>,
        schema_span: Span,
    ) -> Option<Bound> {
        let bound = tightest(entries, self.is_upper, false);
        // A minimum of zero equals no minimum, so it is dropped. Keywords with a default keep it: their missing value
        // is compared as the default, which is 1 for `minContains`.
        let bound = bound.filter(|bound| self.is_upper || self.default.is_some() || bound.value > 0.0);
        bound.or_else(|| self.default.map(|value| Bound { value, exclusive: false, span: schema_span }))
    }
}

/// The integer up to which a double represents all integers exactly.
const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// A bound and its position.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    /// The value.
    pub value: f64,
    /// Whether the bound excludes the value itself.
    pub exclusive: bool,
    span: Span,
}

impl Bound {
    /// Returns the tightest equivalent bound for integers as an inclusive value, or the bound itself if it is so large
    /// that a double does not represent all integers exactly. The second value is true if the bound is exclusive.
    pub(super) fn integer_bound(self, is_upper: bool) -> (f64, bool) {
        if self.value.abs() >= EXACT {
            return (self.value, self.exclusive);
        }
        let last_valid = match (is_upper, self.exclusive) {
            (true, false) => self.value.floor(),
            (true, true) => self.value.ceil() - 1.0,
            (false, false) => self.value.ceil(),
            (false, true) => self.value.floor() + 1.0,
        };
        (last_valid, false)
    }
}

/// Compares all bounds.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    for count in &COUNTS {
        let bound = |view: &SchemaView<'n>| count.bound(view.entries(count.keyword), view.span);
        let names = (count.suffix_stem, count.keyword);
        compare_bound(comparison, pair, names, count.is_upper, bound(&pair.base), bound(&pair.revision));
    }
    for (is_upper, inclusive, exclusive) in [
        (true, ("max", "maximum"), ("exclusive-max", "exclusiveMaximum")),
        (false, ("min", "minimum"), ("exclusive-min", "exclusiveMinimum")),
    ] {
        let (base, revision) = (range(&pair.base, is_upper), range(&pair.revision, is_upper));
        if is_integer_only(pair)
            && base.zip(revision).is_some_and(|(before, after)| {
                before.integer_bound(is_upper) == after.integer_bound(is_upper)
            })
        {
            continue;
        }
        let reported = revision.or(base);
        let names = if reported.is_some_and(|bound| bound.exclusive) { exclusive } else { inclusive };
        compare_bound(comparison, pair, names, is_upper, base, revision);
    }
    compare_multiple_of(comparison, pair);
    compare_unique_items(comparison, pair);
    compare_pattern(comparison, pair);
}

/// Compares `minContains` and `maxContains`.
pub(super) fn compare_contains_counts<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    base: [Option<&'n Entry>; 2],
    revision: [Option<&'n Entry>; 2],
) {
    for (count, (before, after)) in CONTAINS_COUNTS.iter().zip(base.into_iter().zip(revision)) {
        let before = count.bound(before.into_iter(), pair.base.span);
        let after = count.bound(after.into_iter(), pair.revision.span);
        compare_bound(comparison, pair, (count.suffix_stem, count.keyword), count.is_upper, before, after);
    }
}

/// Returns the tightest bound of several entries. `exclusive` applies to all of them.
fn tightest<'n>(entries: impl Iterator<Item = &'n Entry>, is_upper: bool, exclusive: bool) -> Option<Bound> {
    let bounds = entries
        .filter_map(|entry| Some(Bound { value: number(&entry.value)?, exclusive, span: entry.key.span }));
    bounds.reduce(|left, right| if is_tighter(right, left, is_upper) { right } else { left })
}

/// Whether the first bound is tighter than the second.
pub(super) fn is_tighter(left: Bound, right: Bound, is_upper: bool) -> bool {
    if left.value.to_bits() == right.value.to_bits() || (left.value - right.value).abs() < f64::EPSILON {
        return left.exclusive && !right.exclusive;
    }
    (left.value < right.value) == is_upper
}

/// Returns the upper or lower bound of a range, from any of its keywords.
pub(super) fn range(view: &SchemaView<'_>, is_upper: bool) -> Option<Bound> {
    let (inclusive, exclusive) =
        if is_upper { ("maximum", "exclusiveMaximum") } else { ("minimum", "exclusiveMinimum") };
    let flagged = view.entries(inclusive).filter(|entry| view.is_flagged_exclusive(entry, exclusive));
    let unflagged = view.entries(inclusive).filter(|entry| !view.is_flagged_exclusive(entry, exclusive));
    let declared_exclusive = view.entries(exclusive);
    let all = [
        tightest(unflagged, is_upper, false),
        tightest(flagged, is_upper, true),
        tightest(declared_exclusive, is_upper, true),
    ];
    all.into_iter()
        .flatten()
        .reduce(|left, right| if is_tighter(right, left, is_upper) { right } else { left })
}

fn compare_bound<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    (suffix_stem, keyword): (&str, &str),
    is_upper: bool,
    base: Option<Bound>,
    revision: Option<Bound>,
) {
    let (ending, details, message) = match (base, revision) {
        (None, Some(after)) => {
            ("set", after.value.to_string(), format!("`{keyword}` {} was added", after.value))
        }
        (Some(before), None) => {
            ("unset", before.value.to_string(), format!("`{keyword}` {} was removed", before.value))
        }
        (Some(before), Some(after))
            if is_tighter(after, before, is_upper) || is_tighter(before, after, is_upper) =>
        {
            let ending =
                if is_tighter(after, before, is_upper) == is_upper { "decreased" } else { "increased" };
            let note = |bound: Bound| if bound.exclusive { " (exclusive)" } else { "" };
            let change = format!("{}{} to {}{}", before.value, note(before), after.value, note(after));
            (ending, change.clone(), format!("`{keyword}` changed from {change}"))
        }
        _ => return,
    };
    let positions = Positions::new(
        base.map_or(pair.base.span, |before| before.span),
        revision.map_or(pair.revision.span, |after| after.span),
    );
    pair.report(comparison, &format!("{suffix_stem}-{ending}"), positions, &details, message);
}

/// Whether only the integers among the values need to be compared. Added or removed fractions are a change of type.
const fn is_integer_only(pair: &SchemaPair<'_>) -> bool {
    !(pair.base.types.has_fractions() && pair.revision.types.has_fractions())
}

fn compare_multiple_of<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let (mut before, mut after) = (steps(&pair.base), steps(&pair.revision));
    if is_integer_only(pair) {
        // Integers are multiples of one.
        [&mut before, &mut after].into_iter().for_each(|steps| steps.retain(|step| !divides(*step, 1.0)));
    }
    if implies(&before, &after) && implies(&after, &before) {
        return;
    }
    let display_value = |steps: &[f64]| steps.iter().map(f64::to_string).collect::<Vec<_>>().join(" and ");
    let (base, revision) = (display_value(&before), display_value(&after));
    let (suffix, details, message) = match (before.is_empty(), after.is_empty()) {
        (true, _) => ("multiple-of-added", revision.clone(), format!("`multipleOf` {revision} was added")),
        (_, true) => ("multiple-of-removed", base.clone(), format!("`multipleOf` {base} was removed")),
        _ => {
            let suffix =
                if implies(&before, &after) { "multiple-of-generalized" } else { "multiple-of-changed" };
            let message = format!("`multipleOf` changed from {base} to {revision}");
            (suffix, format!("{base} to {revision}"), message)
        }
    };
    pair.report(comparison, suffix, pair.positions("multipleOf"), &details, message);
}

/// Returns the steps (`multipleOf`) of the schema and of the parts it includes, for example by `allOf` or `$ref`: their
/// least common multiple if it is an exact integer, otherwise those that are not implied by another step.
pub(super) fn steps(view: &SchemaView<'_>) -> Vec<f64> {
    let steps: Vec<f64> = view
        .entries("multipleOf")
        .filter_map(|entry| number(&entry.value))
        .filter(|step| *step > 0.0)
        .collect();
    let least_common_multiple =
        steps.iter().copied().reduce(|left, right| left / greatest_common_divisor(left, right) * right);
    match least_common_multiple {
        Some(step) if step < EXACT && steps.iter().all(|step| step.fract() == 0.0) => vec![step],
        _ => {
            // Of two equal steps, the first one is kept.
            let is_implied = |index: usize, other: usize| {
                other != index
                    && divides(steps[index], steps[other])
                    && (other < index || !divides(steps[other], steps[index]))
            };
            let kept =
                (0..steps.len()).filter(|index| !(0..steps.len()).any(|other| is_implied(*index, other)));
            kept.map(|index| steps[index]).collect()
        }
    }
}

/// Whether multiples of all of the first steps are also multiples of all of the second ones.
pub(super) fn implies(first: &[f64], second: &[f64]) -> bool {
    second.iter().all(|step| first.iter().any(|first_step| divides(*step, *first_step)))
}

/// Whether a number is a multiple of a step.
pub(super) fn divides(step: f64, number: f64) -> bool {
    let quotient = number / step;
    // A quotient close to zero is not a multiple.
    quotient.round() >= 1.0 && (quotient - quotient.round()).abs() < 1e-9
}

/// Returns the greatest common divisor of two integers. For other numbers, the result has no meaning.
fn greatest_common_divisor(mut left: f64, mut right: f64) -> f64 {
    // The remainder of an infinite number is not a number, which ends the loop.
    while right >= 1.0 {
        (left, right) = (right, left % right);
    }
    left
}

fn compare_unique_items<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let positions = pair.positions("uniqueItems");
    match (pair.base.is_true("uniqueItems"), pair.revision.is_true("uniqueItems")) {
        (false, true) => {
            pair.report(comparison, "unique-items-added", positions, "", "items must be unique".to_owned())
        }
        (true, false) => pair.report(
            comparison,
            "unique-items-removed",
            positions,
            "",
            "items need not be unique".to_owned(),
        ),
        _ => {}
    }
}

fn compare_pattern<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let patterns = |view: &SchemaView<'n>| {
        let mut patterns: Vec<&str> =
            view.entries("pattern").filter_map(|entry| entry.value.as_str()).collect();
        patterns.sort_unstable();
        patterns.dedup();
        // A pattern that matches every string has no effect.
        patterns.retain(|pattern| patterns::is_included(&[], &[pattern]) != Some(true));
        patterns
    };
    let (before, after) = (patterns(&pair.base), patterns(&pair.revision));
    let (base, revision) = (before.join(" and "), after.join(" and "));
    let change = format!("the pattern changed from `{base}` to `{revision}`");
    let (suffix, message) = match (before.is_empty(), after.is_empty()) {
        (true, true) => return,
        (true, false) => ("pattern-added", format!("the pattern `{revision}` was added")),
        (false, true) => ("pattern-removed", format!("the pattern `{base}` was removed")),
        (false, false) => {
            match (patterns::is_included(&before, &after), patterns::is_included(&after, &before)) {
                (Some(true), Some(true)) => return,
                (Some(true), _) => ("pattern-generalized", change),
                (Some(false), _) | (None, Some(true)) => ("pattern-changed", change),
                (None, _) => ("pattern-changed-undecided", change),
            }
        }
    };
    pair.report(comparison, suffix, pair.positions("pattern"), &format!("{base} to {revision}"), message);
}
