//! Compares `enum`, `const` and `default`.

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::SchemaPair;
use super::types::JsonTypes;
use super::value::{ValueSet, display_value, text};
use super::view::SchemaView;
use crate::compare::{Comparison, Positions};
use crate::rule::{Level, SchemaRule, Topic, ValueEffect};

const VALUES: Topic = Topic::Values;

/// The rules of this module.
pub(super) const SCHEMA_RULES: &[SchemaRule] = &[
    SchemaRule::new(VALUES, ValueEffect::Narrows, "became-enum", "no-longer-enum"),
    SchemaRule::new(VALUES, ValueEffect::Widens, "no-longer-enum", "became-enum"),
    SchemaRule::new(VALUES, ValueEffect::Widens, "enum-value-added", "enum-value-removed"),
    SchemaRule::new(VALUES, ValueEffect::Narrows, "enum-value-removed", "enum-value-added"),
    SchemaRule::new(VALUES, ValueEffect::Neutral, "open-enum-value-added", "enum-value-removed"),
    SchemaRule::new(VALUES, ValueEffect::Neutral, "open-enum-removed", "became-enum"),
    SchemaRule::new(VALUES, ValueEffect::Narrows, "x-extensible-enum-value-removed", "open-enum-value-added"),
    SchemaRule::new(VALUES, ValueEffect::Widens, "enum-opened", "enum-closed"),
    SchemaRule::new(VALUES, ValueEffect::Narrows, "enum-closed", "enum-opened").in_requests(Level::Info),
    SchemaRule::new(VALUES, ValueEffect::Narrows, "const-added", "const-removed"),
    SchemaRule::new(VALUES, ValueEffect::Widens, "const-removed", "const-added"),
    SchemaRule::new(VALUES, ValueEffect::Alters, "const-changed", "const-changed"),
    SchemaRule::new(VALUES, ValueEffect::Neutral, "default-value-added", "default-value-removed"),
    SchemaRule::new(VALUES, ValueEffect::Neutral, "default-value-removed", "default-value-added"),
    SchemaRule::new(VALUES, ValueEffect::Neutral, "default-value-changed", "default-value-changed"),
];

/// The keywords that this module compares.
pub(super) const KEYWORDS: &[&str] = &["enum", "const", "default"];

/// A list of valid values.
struct ValueList<'n> {
    values: Vec<&'n Node>,
    span: Span,
    /// Whether the enum is open, so that clients must expect further values.
    is_open: bool,
    /// Whether the list is the value of `x-extensible-enum`, and not of `enum`.
    is_extension_list: bool,
}

/// Compares enums, constants and defaults.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let (base, revision) = (&pair.base, &pair.revision);
    let only_one_is_listed = is_listed(base) != is_listed(revision);
    let constant_count = |view| distinct(view, "const").len();
    // Several constants, a constant next to an enum, and a constant that replaces an enum or is replaced by one are
    // compared as enums of one value. Only values that are in all of them are valid.
    let has_several_lists = |view| constant_count(view) > 1 || constant_count(view) == 1 && is_listed(view);
    let combined = has_several_lists(base)
        || has_several_lists(revision)
        || only_one_is_listed && constant_count(base) != constant_count(revision);
    let (base_is_boolean, revision_is_boolean) =
        (has_boolean_texts(pair, base, revision), has_boolean_texts(pair, revision, base));
    let combined = combined || base_is_boolean || revision_is_boolean;
    let list = |view: &SchemaView<'n>, is_boolean| {
        if is_boolean { Some(boolean_values(view.span)) } else { value_list(view, combined) }
    };
    let (base_list, revision_list) = (list(base, base_is_boolean), list(revision, revision_is_boolean));
    compare_enums(comparison, pair, base_list, revision_list);
    if !combined {
        compare_values(comparison, pair, "const", "const", "the constant");
    }
    if !pair.context.is_default_unused {
        compare_values(comparison, pair, "default", "default-value", "the default");
    }
}

/// The two booleans.
static BOOLEANS: [Node; 2] = [Node::without_span(Value::Bool(false)), Node::without_span(Value::Bool(true))];

/// Returns the values of the type `boolean`. `span` is the position of the schema.
fn boolean_values<'n>(span: Span) -> ValueList<'n> {
    ValueList { values: BOOLEANS.iter().collect(), span, is_open: false, is_extension_list: false }
}

/// Whether a schema accepts the texts `true` and `false` in a URL or header, and the other schema lists values.
fn has_boolean_texts(pair: &SchemaPair<'_>, view: &SchemaView<'_>, other: &SchemaView<'_>) -> bool {
    let lists_values = |view: &SchemaView<'_>| is_listed(view) || view.entry("const").is_some();
    pair.site.is_plain_text()
        && view.types == JsonTypes::BOOLEAN
        && !lists_values(view)
        && lists_values(other)
}

fn is_listed(view: &SchemaView<'_>) -> bool {
    view.entry("enum").is_some() || !view.constant_lists.is_empty()
}

/// Returns the entries of a keyword with distinct values.
pub(super) fn distinct<'n>(view: &SchemaView<'n>, keyword: &str) -> Vec<&'n Entry> {
    let mut values = ValueSet::default();
    view.entries(keyword).filter(|entry| values.insert(&entry.value)).collect()
}

/// Returns the valid values of a schema, or `None` if it does not list them. Enums are returned without `null`, because
/// nullability is compared separately. With `with_const`, constants are lists of one value.
fn value_list<'n>(view: &SchemaView<'n>, with_const: bool) -> Option<ValueList<'n>> {
    let extensible_entries = || view.entries("x-extensible-enum");
    let is_open = extensible_entries().any(|entry| !matches!(entry.value.value, Value::Bool(false)));
    let not_null = |value: &&Node| !matches!(value.value, Value::Null);
    let list = |entry: &'n Entry, is_extension_list| {
        let values = entry.value.items().unwrap_or_default().iter().filter(not_null).collect();
        ValueList { values, span: entry.key.span, is_open: is_open || is_extension_list, is_extension_list }
    };
    // If there are several lists, a value must be in all of them.
    let enums = view.entries("enum").map(|entry| list(entry, false));
    let constant_lists = view.constant_lists.iter().map(|constant_list| ValueList {
        values: constant_list.values.iter().copied().filter(not_null).collect(),
        span: constant_list.span,
        is_open,
        is_extension_list: false,
    });
    let constants = view.entries("const").filter(|_| with_const).map(|entry| ValueList {
        values: vec![&entry.value],
        span: entry.key.span,
        is_open: false,
        is_extension_list: false,
    });
    let intersection = enums.chain(constant_lists).chain(constants).reduce(|mut first, second| {
        let listed = ValueSet::of(second.values);
        first.values.retain(|value| listed.contains(value));
        first
    });
    let extensible_list =
        || extensible_entries().find(|entry| entry.value.items().is_some()).map(|entry| list(entry, true));
    intersection.or_else(extensible_list)
}

fn compare_enums<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    base: Option<ValueList<'n>>,
    revision: Option<ValueList<'n>>,
) {
    let (base, revision) = match (base, revision) {
        (None, None) => return,
        (None, Some(revision)) => {
            if !revision.is_extension_list {
                let message = "only listed values are valid".to_owned();
                pair.report(
                    comparison,
                    "became-enum",
                    Positions::new(pair.base.span, revision.span),
                    "",
                    message,
                );
            }
            return;
        }
        (Some(base), None) => {
            let suffix = if base.is_open { "open-enum-removed" } else { "no-longer-enum" };
            let message = "the enum was removed: every value is valid".to_owned();
            pair.report(comparison, suffix, Positions::new(base.span, pair.revision.span), "all", message);
            return;
        }
        (Some(base), Some(revision)) => (base, revision),
    };
    let set =
        |list: &ValueList<'n>| ValueSet::of_text(list.values.iter().copied(), pair.site.is_plain_text());
    let (base_set, revision_set) = (set(&base), set(&revision));
    for value in revision.values.iter().filter(|value| !base_set.contains(value)) {
        let suffix = if base.is_open { "open-enum-value-added" } else { "enum-value-added" };
        let positions = Positions::new(base.span, position_of(value, revision.span));
        pair.report(
            comparison,
            suffix,
            positions,
            &text(value),
            format!("the value {} was added", display_value(value)),
        );
    }
    for value in base.values.iter().filter(|value| !revision_set.contains(value)) {
        let suffix =
            if base.is_extension_list { "x-extensible-enum-value-removed" } else { "enum-value-removed" };
        let positions = Positions::new(position_of(value, base.span), revision.span);
        pair.report(
            comparison,
            suffix,
            positions,
            &text(value),
            format!("the value {} was removed", display_value(value)),
        );
    }
    let positions = Positions::new(
        extensible_position(&pair.base, base.span),
        extensible_position(&pair.revision, revision.span),
    );
    match (base.is_open, revision.is_open) {
        (false, true) => pair.report(
            comparison,
            "enum-opened",
            positions,
            "",
            "the enum became open: unlisted values can occur".to_owned(),
        ),
        (true, false) => pair.report(
            comparison,
            "enum-closed",
            positions,
            "",
            "the enum became closed: only listed values can occur".to_owned(),
        ),
        _ => {}
    }
}

/// Returns the position of `x-extensible-enum`, or `fallback` if the schema lacks it.
fn extensible_position(view: &SchemaView<'_>, fallback: Span) -> Span {
    view.entry("x-extensible-enum").map_or(fallback, |entry| entry.key.span)
}

const fn position_of(value: &Node, fallback: Span) -> Span {
    if value.span.end > value.span.start { value.span } else { fallback }
}

/// Compares a keyword whose value is any JSON value. The subschemas of a schema can have different values.
/// `suffix_stem` is the start of the rule suffixes, and `subject` names the keyword in messages.
fn compare_values<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    keyword: &str,
    suffix_stem: &str,
    subject: &str,
) {
    let positions = pair.positions(keyword);
    let (before, after) = (distinct(&pair.base, keyword), distinct(&pair.revision, keyword));
    let is_subset = |left: &[&'n Entry], right: &[&'n Entry]| {
        let values = |entries: &[&'n Entry]| entries.iter().map(|entry| &entry.value).collect::<Vec<_>>();
        ValueSet::of_text(values(right), pair.site.is_plain_text()).contains_all(values(left))
    };
    if is_subset(&before, &after) && is_subset(&after, &before) {
        return;
    }
    let join = |entries: &[&Entry], format: fn(&Node) -> String| {
        entries.iter().map(|entry| format(&entry.value)).collect::<Vec<_>>().join(" and ")
    };
    let (base, revision) = (join(&before, display_value), join(&after, display_value));
    let (full_base, full_revision) = (join(&before, text), join(&after, text));
    let (ending, details, message) = match (before.is_empty(), after.is_empty()) {
        (true, _) => ("added", full_revision, format!("{subject} {revision} was added")),
        (_, true) => ("removed", full_base, format!("{subject} {base} was removed")),
        _ => {
            let message = format!("{subject} changed from {base} to {revision}");
            ("changed", format!("{full_base} to {full_revision}"), message)
        }
    };
    pair.report(comparison, &format!("{suffix_stem}-{ending}"), positions, &details, message);
}
