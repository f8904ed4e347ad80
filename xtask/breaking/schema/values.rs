//! Compares `enum`, `const` and `default`.

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::SchemaPair;
use super::value::{display_value, is_equal};
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
    at: Span,
    /// Whether the enum is open, so that clients must expect further values.
    open: bool,
    /// Whether `x-extensible-enum` itself contains the list.
    extensible: bool,
}

/// Compares enums, constants and defaults.
pub(super) fn compare<'n>(comparison: &mut Comparison<'n>, pair: &SchemaPair<'n>) {
    let (base, revision) = (&pair.base, &pair.revision);
    let listed_both = is_listed(base) == is_listed(revision);
    let fixed = |view| distinct(view, "const").len();
    // A constant next to an enum is an enum of one value, and so are two constants.
    let together = |view| fixed(view) > 1 || fixed(view) == 1 && is_listed(view);
    let combined = together(base) || together(revision) || !listed_both && fixed(base) != fixed(revision);
    enums(comparison, pair, listed(base, combined), listed(revision, combined));
    if !combined {
        compare_values(comparison, pair, "const", "const", "the constant");
    }
    compare_values(comparison, pair, "default", "default-value", "the default");
}

fn is_listed(view: &SchemaView<'_>) -> bool {
    view.entry("enum").is_some() || !view.constant_lists.is_empty()
}

/// Returns the distinct entries of a keyword.
pub(super) fn distinct<'n>(view: &SchemaView<'n>, keyword: &str) -> Vec<&'n Entry> {
    let mut entries: Vec<&Entry> = Vec::new();
    for entry in view.entries(keyword) {
        if !entries.iter().any(|known| is_equal(&known.value, &entry.value)) {
            entries.push(entry);
        }
    }
    entries
}

fn listed<'n>(view: &SchemaView<'n>, with_const: bool) -> Option<ValueList<'n>> {
    let marks = || view.entries("x-extensible-enum");
    let open = marks().any(|mark| !matches!(mark.value.value, Value::Bool(false)));
    let not_null = |value: &&Node| !matches!(value.value, Value::Null);
    let list = |entry: &'n Entry, extensible| {
        let values = entry.value.items().unwrap_or_default().iter().filter(not_null).collect();
        ValueList { values, at: entry.key.span, open: open || extensible, extensible }
    };
    // If there are several lists, a value must be in all of them.
    let own = view.entries("enum").map(|entry| list(entry, false));
    let unions = view.constant_lists.iter().map(|known| ValueList {
        values: known.values.iter().copied().filter(not_null).collect(),
        at: known.at,
        open,
        extensible: false,
    });
    let fixed = view.entries("const").filter(|_| with_const).map(|entry| ValueList {
        values: vec![&entry.value],
        at: entry.key.span,
        open: false,
        extensible: false,
    });
    let together = own.chain(unions).chain(fixed).reduce(|mut first, other| {
        first.values.retain(|value| other.values.iter().any(|existing| is_equal(value, existing)));
        first
    });
    let marked = || marks().find(|mark| mark.value.items().is_some()).map(|mark| list(mark, true));
    together.or_else(marked)
}

fn enums<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    base: Option<ValueList<'n>>,
    revision: Option<ValueList<'n>>,
) {
    let (base, revision) = match (base, revision) {
        (None, None) => return,
        (None, Some(revision)) => {
            if !revision.extensible {
                let message = "only listed values are valid".to_owned();
                pair.report(
                    comparison,
                    "became-enum",
                    Positions::new(pair.base.at, revision.at),
                    "",
                    message,
                );
            }
            return;
        }
        (Some(base), None) => {
            let suffix = if base.open { "open-enum-value-added" } else { "no-longer-enum" };
            let message = "the enum was removed: every value is valid".to_owned();
            pair.report(comparison, suffix, Positions::new(base.at, pair.revision.at), "all", message);
            return;
        }
        (Some(base), Some(revision)) => (base, revision),
    };
    let missing = |from: &'n Node, values: &[&Node]| !values.iter().any(|value| is_equal(from, value));
    for value in revision.values.iter().filter(|value| missing(value, &base.values)) {
        let suffix = if base.open { "open-enum-value-added" } else { "enum-value-added" };
        let positions = Positions::new(base.at, position_of(value, revision.at));
        pair.report(
            comparison,
            suffix,
            positions,
            &display_value(value),
            format!("the value {} was added", display_value(value)),
        );
    }
    for value in base.values.iter().filter(|value| missing(value, &revision.values)) {
        let suffix = if base.extensible { "x-extensible-enum-value-removed" } else { "enum-value-removed" };
        let positions = Positions::new(position_of(value, base.at), revision.at);
        pair.report(
            comparison,
            suffix,
            positions,
            &display_value(value),
            format!("the value {} was removed", display_value(value)),
        );
    }
    let positions = Positions::new(mark(&pair.base, base.at), mark(&pair.revision, revision.at));
    match (base.open, revision.open) {
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

/// Returns the position of `x-extensible-enum`.
fn mark(view: &SchemaView<'_>, otherwise: Span) -> Span {
    view.entry("x-extensible-enum").map_or(otherwise, |entry| entry.key.span)
}

const fn position_of(value: &Node, otherwise: Span) -> Span {
    if value.span.end > value.span.start { value.span } else { otherwise }
}

/// Compares a keyword with one value; several subschemas can have several values.
fn compare_values<'n>(
    comparison: &mut Comparison<'n>,
    pair: &SchemaPair<'n>,
    keyword: &str,
    suffix: &str,
    what: &str,
) {
    let positions = pair.positions(keyword);
    let (before, after) = (distinct(&pair.base, keyword), distinct(&pair.revision, keyword));
    let within = |left: &[&Entry], right: &[&Entry]| {
        left.iter().all(|entry| right.iter().any(|other| is_equal(&entry.value, &other.value)))
    };
    if within(&before, &after) && within(&after, &before) {
        return;
    }
    let all = |entries: &[&Entry]| {
        entries.iter().map(|entry| display_value(&entry.value)).collect::<Vec<_>>().join(" and ")
    };
    let (base, revision) = (all(&before), all(&after));
    let (ending, details, message) = match (before.is_empty(), after.is_empty()) {
        (true, _) => ("added", revision.clone(), format!("{what} {revision} was added")),
        (_, true) => ("removed", base.clone(), format!("{what} {base} was removed")),
        _ => {
            let change = format!("{base} to {revision}");
            ("changed", change.clone(), format!("{what} changed from {change}"))
        }
    };
    pair.report(comparison, &format!("{suffix}-{ending}"), positions, &details, message);
}
