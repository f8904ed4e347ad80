//! Compares `type`, `format` and nullability.

use std::collections::BTreeSet;

use contract::node::Node;

use super::types::JsonTypes;
use super::view::{SchemaParts, SchemaView};
use super::{SchemaPair, bounds, value};
use crate::compare::{Comparison, Positions};
use crate::document::IndexedDocument;
use crate::rule::{Direction, SchemaRule, SchemaSite, Topic, ValueEffect};

const TYPES: Topic = Topic::JsonTypes;

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    SchemaRule::new(TYPES, ValueEffect::Alters, "type-changed", "type-changed"),
    SchemaRule::new(TYPES, ValueEffect::Widens, "type-generalized", "type-specialized"),
    SchemaRule::new(TYPES, ValueEffect::Narrows, "type-specialized", "type-generalized"),
    SchemaRule::new(TYPES, ValueEffect::Neutral, "type-compatible", "type-compatible"),
    SchemaRule::new(TYPES, ValueEffect::Widens, "list-of-types-widened", "list-of-types-narrowed"),
    SchemaRule::new(TYPES, ValueEffect::Narrows, "list-of-types-narrowed", "list-of-types-widened"),
    SchemaRule::new(TYPES, ValueEffect::Widens, "became-nullable", "became-not-nullable"),
    SchemaRule::new(TYPES, ValueEffect::Narrows, "became-not-nullable", "became-nullable"),
];

/// The keywords that this module compares.
pub(super) const KEYWORDS: &[&str] = &["type", "format", "nullable"];

/// Compares types, then formats, then `null`.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let (base, revision) = (&pair.base, &pair.revision);
    if base.rejects_everything != revision.rejects_everything {
        let (suffix, message) = if revision.rejects_everything {
            (narrowed_type_rule(pair.site), "no value is valid")
        } else {
            ("type-generalized", "values became valid; none was valid before")
        };
        pair.report(
            comparison,
            suffix,
            Positions::new(base.span, revision.span),
            "never",
            message.to_owned(),
        );
        return;
    }
    let positions =
        Positions::new(base.type_span.unwrap_or(base.span), revision.type_span.unwrap_or(revision.span));
    let mut is_compatible = false;
    if base.types != revision.types {
        let suffix = type_rule(pair);
        is_compatible = suffix == "type-compatible";
        let details = format!("{} to {}", base.types, revision.types);
        pair.report(
            comparison,
            suffix,
            positions,
            &details,
            format!("the type changed from {} to {}", base.types, revision.types),
        );
    }
    compare_formats(comparison, pair);
    let type_excludes_null = |untyped: &SchemaView<'_>, typed: &SchemaView<'_>| {
        untyped.types.is_any()
            && !typed.types.is_any()
            && untyped.accepts_null
            && !typed.accepts_null
            && !is_compatible
    };
    // Plain text has no `null`. A schema without a type also accepts `null`, so the reported change of type includes the
    // change of nullability.
    if pair.site.is_plain_text() || type_excludes_null(base, revision) || type_excludes_null(revision, base) {
        return;
    }
    let null_position =
        |side: &IndexedDocument<'n>, view: &SchemaView<'n>, parts: &SchemaParts<'n>, fallback| {
            let decision = view.null_decision.as_ref();
            decision.map_or(fallback, |decision| decision.position(side, comparison.unchanged(), parts.span))
        };
    let positions = Positions::new(
        null_position(&comparison.base, base, &pair.base_parts, positions.base),
        null_position(&comparison.revision, revision, &pair.revision_parts, positions.revision),
    );
    match (base.accepts_null, revision.accepts_null) {
        (false, true) => {
            pair.report(comparison, "became-nullable", positions, "", "became nullable".to_owned());
        }
        (true, false) => {
            pair.report(comparison, "became-not-nullable", positions, "", "is no longer nullable".to_owned());
        }
        _ => {}
    }
}

/// Returns the rule for a change of types.
fn type_rule(pair: &SchemaPair<'_>) -> &'static str {
    let (base, revision) = (pair.base.types, pair.revision.types);
    let lists_only = |view: &SchemaView<'_>, types: JsonTypes| {
        view.listed_types().is_some_and(|values| types.contains(values))
    };
    // The types of the listed values are in both sets, so the change of `type` has no effect.
    if lists_only(&pair.base, base.and(revision)) && lists_only(&pair.revision, base.and(revision)) {
        return "type-compatible";
    }
    let has_list = base.needs_list() || revision.needs_list();
    if pair.site.is_plain_text() {
        let lists_values = |view: &SchemaView<'_>| {
            let is_boolean = view.types == JsonTypes::BOOLEAN;
            view.listed_types().map_or(is_boolean, |types| view.types.contains(types))
        };
        let is_included = accepts_text_of(&pair.revision, &pair.base);
        let is_included_back = accepts_text_of(&pair.base, &pair.revision);
        // Listed values are compared as text. The type `boolean` lists two values.
        if lists_values(&pair.base) && lists_values(&pair.revision) || is_included && is_included_back {
            return "type-compatible";
        }
        if is_included {
            return if has_list { "list-of-types-widened" } else { "type-generalized" };
        }
        if is_included_back {
            return if has_list { "list-of-types-narrowed" } else { narrowed_type_rule(pair.site) };
        }
    }
    if revision.contains(base) {
        return if has_list { "list-of-types-widened" } else { "type-generalized" };
    }
    if base.contains(revision) {
        return if has_list { "list-of-types-narrowed" } else { narrowed_type_rule(pair.site) };
    }
    "type-changed"
}

/// Keywords that constrain only strings.
const STRING_KEYWORDS: [&str; 6] =
    ["pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType", "contentSchema"];

/// Whether the wide schema accepts the text of every value of the types of the narrow schema: it has these types, or
/// accepts all strings. Its other keywords are compared elsewhere.
fn accepts_text_of(wide: &SchemaView<'_>, narrow: &SchemaView<'_>) -> bool {
    let listed = narrow.listed_values();
    let is_text = |value: &&Node| wide.types.overlaps(types_of_text(value));
    if narrow.listed_types().is_some_and(|types| narrow.types.contains(types)) && listed.iter().all(is_text) {
        return true;
    }
    // All plain text is a string. Without a type, text can also be an array or an object, which are not considered.
    let types = if narrow.types.is_any() { JsonTypes::PLAIN } else { narrow.types };
    let lists_other_types = wide.listed_types().is_some_and(|listed| !wide.types.contains(listed));
    let accepts_all_strings = wide.types.contains(JsonTypes::STRING) && !lists_other_types && {
        let formats = formats_for(narrow, JsonTypes::ANY);
        let constrains_strings =
            |format: &&str| types_of(format).contains(JsonTypes::STRING) || !formats.contains(format);
        STRING_KEYWORDS.iter().all(|keyword| wide.entry(keyword).is_none())
            && !formats_for(wide, JsonTypes::ANY).iter().any(constrains_strings)
    };
    types
        .each()
        .all(|single| wide.types.contains(single) || JsonTypes::PLAIN.contains(single) && accepts_all_strings)
}

/// Returns the types that the text of a value can have, for example `string` and `integer` for the string `1`.
fn types_of_text(value: &Node) -> JsonTypes {
    let types = JsonTypes::of_number_or_value(value);
    match value.as_str() {
        Some("true" | "false") => types.or(JsonTypes::BOOLEAN),
        Some(text) if text.parse().is_ok_and(|number: i64| number.to_string() == text) => {
            types.or(JsonTypes::integer())
        }
        _ => types,
    }
}

/// Returns the rule for narrowed types. oasdiff distinguishes it from `type-changed` only in responses and in
/// properties of parameters.
fn narrowed_type_rule(site: SchemaSite) -> &'static str {
    match site {
        SchemaSite::ParameterProperty | SchemaSite::ParameterContentProperty => "type-specialized",
        _ if site.direction() == Direction::Request => "type-changed",
        _ => "type-specialized",
    }
}

/// Formats that apply to strings.
const STRING_FORMATS: [&str; 22] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "uri-template",
    "iri",
    "iri-reference",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "regex",
    "byte",
    "binary",
    "password",
];

/// Returns the types to which a format applies. An unknown format applies to all types.
fn types_of(format: &str) -> JsonTypes {
    match format {
        "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" => {
            JsonTypes::integer()
        }
        // Numbers without a fraction are the same in both formats.
        "float" | "double" => JsonTypes::FRACTION,
        _ if STRING_FORMATS.contains(&format) => JsonTypes::STRING,
        _ => JsonTypes::ANY,
    }
}

/// Returns the smallest and the largest number of an integer format.
fn integer_range(format: &str) -> Option<(f64, f64)> {
    let bits: i32 = format.trim_start_matches('u').strip_prefix("int")?.parse().ok()?;
    let is_known = types_of(format) == JsonTypes::integer();
    let (lower, upper) = match format.starts_with('u') {
        true => (0.0, 2.0_f64.powi(bits) - 1.0),
        false => (-2.0_f64.powi(bits - 1), 2.0_f64.powi(bits - 1) - 1.0),
    };
    is_known.then_some((lower, upper))
}

/// Whether all integers within the bounds of a schema have an integer format.
fn is_format_within_bounds(view: &SchemaView<'_>, format: &str) -> bool {
    let bound = |is_upper| bounds::range(view, is_upper).map(|bound| bound.integer_bound(is_upper).0);
    integer_range(format).is_some_and(|(lower, upper)| {
        bound(false).is_some_and(|bound| bound >= lower) && bound(true).is_some_and(|bound| bound <= upper)
    })
}

/// Whether values of the types that match the narrow schema have each format of the wide schema.
pub(super) fn are_formats_implied(narrow: &SchemaView<'_>, wide: &SchemaView<'_>, types: JsonTypes) -> bool {
    let declared = formats_for(narrow, types);
    formats_for(wide, types).into_iter().all(|format| {
        let contains_declared = |(lower, upper): (f64, f64)| {
            declared
                .iter()
                .filter_map(|declared| integer_range(declared))
                .any(|(declared_lower, declared_upper)| declared_lower >= lower && declared_upper <= upper)
        };
        declared.contains(format)
            || format == "double" && declared.contains("float")
            || integer_range(format).is_some_and(contains_declared)
            || is_format_within_bounds(narrow, format)
    })
}

/// Whether a value has a format, or `None` if this is not decided. A format applies only to values of its types.
pub(super) fn format_accepts(format: &str, instance: &Node) -> Option<bool> {
    if !types_of(format).overlaps(JsonTypes::of_number_or_value(instance)) {
        return Some(true);
    }
    let (lower, upper) = integer_range(format)?;
    value::number(instance).map(|number| number >= lower && number <= upper)
}

/// Returns the formats that apply to any of the types.
fn formats_for<'n>(view: &SchemaView<'n>, types: JsonTypes) -> BTreeSet<&'n str> {
    let names = view.entries("format").filter_map(|entry| entry.value.as_str());
    names.filter(|name| types_of(name).and(types) != JsonTypes::NONE).collect()
}

/// Compares formats. If the type changed, only the formats that apply to the common types are compared.
fn compare_formats<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let is_same_type = pair.base.types == pair.revision.types;
    let types = if is_same_type { JsonTypes::ANY } else { pair.base.types.and(pair.revision.types) };
    // A format that the bounds of one of the schemas imply changes nothing for its values.
    let effective_formats = |view: &SchemaView<'n>| {
        let mut formats = formats_for(view, types);
        let is_implied = |format: &str| {
            [&pair.base, &pair.revision].into_iter().any(|view| is_format_within_bounds(view, format))
        };
        formats.retain(|format| !is_implied(format));
        formats
    };
    let (base, revision) = (effective_formats(&pair.base), effective_formats(&pair.revision));
    if base == revision {
        return;
    }
    let (base_names, revision_names) =
        (Vec::from_iter(base.iter().copied()), Vec::from_iter(revision.iter().copied()));
    let suffix = match (base_names.as_slice(), revision_names.as_slice()) {
        (["int32"], ["int64"]) | (["float"], ["double"]) => "type-generalized",
        (["int64"], ["int32"]) | (["double"], ["float"]) => narrowed_type_rule(pair.site),
        _ if revision.is_subset(&base) => "type-generalized",
        _ if base.is_subset(&revision) => narrowed_type_rule(pair.site),
        _ => "type-changed",
    };
    let display_value = |formats: &[&str]| {
        if formats.is_empty() { "none".to_owned() } else { format!("`{}`", formats.join("` and `")) }
    };
    let change = format!("{} to {}", display_value(&base_names), display_value(&revision_names));
    pair.report(
        comparison,
        suffix,
        pair.positions("format"),
        &format!("format {change}"),
        format!("the format changed from {change}"),
    );
}

impl SchemaView<'_> {
    /// Returns the values that the schema lists, in any of its keywords.
    fn listed_values(&self) -> Vec<&Node> {
        let listed = self.entries("enum").filter_map(|entry| entry.value.items()).flatten();
        let listed = listed.chain(self.constant_lists.iter().flat_map(|list| list.values.iter().copied()));
        listed.chain(self.entries("const").map(|entry| &entry.value)).collect()
    }

    /// Returns the types of the listed values without `null`, or `None` if the schema does not list its values.
    fn listed_types(&self) -> Option<JsonTypes> {
        let values = self.listed_values();
        let (first, others) = values.split_first()?;
        let type_of = |value: &&Node| {
            if value::number(value).is_some_and(|number| number.fract() == 0.0) {
                // JSON Schema treats 1.0 as an integer.
                JsonTypes::integer()
            } else {
                JsonTypes::of_value(value)
            }
        };
        Some(others.iter().fold(type_of(first), |types, value| types.or(type_of(value))).without_null())
    }
}
