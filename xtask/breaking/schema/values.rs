//! Enums, constants and defaults.

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::Two;
use super::value::{same, shown};
use super::view::View;
use crate::compare::{Comparison, Places};
use crate::rule::{Aspect, Effect, Level, Topic};

const V: Topic = Topic::Values;

/// The rules of this family.
pub(super) const ASPECTS: &[Aspect] = &[
    Aspect::new(V, Effect::Narrows, "became-enum", "no-longer-enum"),
    Aspect::new(V, Effect::Widens, "no-longer-enum", "became-enum"),
    Aspect::new(V, Effect::Widens, "enum-value-added", "enum-value-removed"),
    Aspect::new(V, Effect::Narrows, "enum-value-removed", "enum-value-added"),
    Aspect::new(V, Effect::Notes, "open-enum-value-added", "enum-value-removed"),
    Aspect::new(V, Effect::Narrows, "x-extensible-enum-value-removed", "open-enum-value-added"),
    Aspect::new(V, Effect::Widens, "enum-opened", "enum-closed"),
    Aspect::new(V, Effect::Narrows, "enum-closed", "enum-opened").in_requests(Level::Info),
    Aspect::new(V, Effect::Narrows, "const-added", "const-removed"),
    Aspect::new(V, Effect::Widens, "const-removed", "const-added"),
    Aspect::new(V, Effect::Alters, "const-changed", "const-changed"),
    Aspect::new(V, Effect::Notes, "default-value-added", "default-value-removed"),
    Aspect::new(V, Effect::Notes, "default-value-removed", "default-value-added"),
    Aspect::new(V, Effect::Notes, "default-value-changed", "default-value-changed"),
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] = &["enum", "const", "default"];

/// The values that are listed.
struct Listed<'n> {
    values: Vec<&'n Node>,
    at: Span,
    /// Whether clients were told that others may come.
    open: bool,
    /// Whether `x-extensible-enum` is the list itself.
    extensible: bool,
}

/// Compares what is listed, what is fixed, and what is assumed.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (base, revision) = (&two.base, &two.revision);
    let listed_both = is_listed(base) == is_listed(revision);
    let fixed = |view| distinct(view, "const").len();
    // A constant beside an enum is an enum of one value, and so are two constants.
    let together = |view| fixed(view) > 1 || fixed(view) == 1 && is_listed(view);
    let mixed = together(base) || together(revision) || !listed_both && fixed(base) != fixed(revision);
    enums(on, two, listed(base, mixed), listed(revision, mixed));
    if !mixed {
        one(on, two, "const", "const", "the constant");
    }
    one(on, two, "default", "default-value", "the default");
}

fn is_listed(view: &View<'_>) -> bool {
    view.entry("enum").is_some() || !view.lists.is_empty()
}

/// The entries of a keyword that differ from each other.
pub(super) fn distinct<'n>(view: &View<'n>, keyword: &str) -> Vec<&'n Entry> {
    let mut entries: Vec<&Entry> = Vec::new();
    for entry in view.entries(keyword) {
        if !entries.iter().any(|known| same(&known.value, &entry.value)) {
            entries.push(entry);
        }
    }
    entries
}

fn listed<'n>(view: &View<'n>, with_const: bool) -> Option<Listed<'n>> {
    let marks = || view.entries("x-extensible-enum");
    let open = marks().any(|mark| !matches!(mark.value.value, Value::Bool(false)));
    let not_null = |value: &&Node| !matches!(value.value, Value::Null);
    let list = |entry: &'n Entry, extensible| {
        let values = entry.value.items().unwrap_or_default().iter().filter(not_null).collect();
        Listed { values, at: entry.key.span, open: open || extensible, extensible }
    };
    // Several lists hold together: what is valid stands in all of them.
    let own = view.entries("enum").map(|entry| list(entry, false));
    let unions = view.lists.iter().map(|known| Listed {
        values: known.values.iter().copied().filter(not_null).collect(),
        at: known.at,
        open,
        extensible: false,
    });
    let fixed = view.entries("const").filter(|_| with_const).map(|entry| Listed {
        values: vec![&entry.value],
        at: entry.key.span,
        open: false,
        extensible: false,
    });
    let together = own.chain(unions).chain(fixed).reduce(|mut first, other| {
        first.values.retain(|value| other.values.iter().any(|there| same(value, there)));
        first
    });
    let marked = || marks().find(|mark| mark.value.items().is_some()).map(|mark| list(mark, true));
    together.or_else(marked)
}

fn enums<'n>(on: &mut Comparison<'n>, two: &Two<'n>, base: Option<Listed<'n>>, revision: Option<Listed<'n>>) {
    let (base, revision) = match (base, revision) {
        (None, None) => return,
        (None, Some(revision)) => {
            if !revision.extensible {
                let message = "only listed values are valid now".to_owned();
                two.note(on, "became-enum", Places::new(two.base.at, revision.at), "", message);
            }
            return;
        }
        (Some(base), None) => {
            let word = if base.open { "open-enum-value-added" } else { "no-longer-enum" };
            let message = "every value is valid now, not only listed ones".to_owned();
            two.note(on, word, Places::new(base.at, two.revision.at), "all", message);
            return;
        }
        (Some(base), Some(revision)) => (base, revision),
    };
    let missing = |from: &'n Node, values: &[&Node]| !values.iter().any(|value| same(from, value));
    for value in revision.values.iter().filter(|value| missing(value, &base.values)) {
        let word = if base.open { "open-enum-value-added" } else { "enum-value-added" };
        let places = Places::new(base.at, place(value, revision.at));
        two.note(on, word, places, &shown(value), format!("the value {} was added", shown(value)));
    }
    for value in base.values.iter().filter(|value| missing(value, &revision.values)) {
        let word = if base.extensible { "x-extensible-enum-value-removed" } else { "enum-value-removed" };
        let places = Places::new(place(value, base.at), revision.at);
        two.note(on, word, places, &shown(value), format!("the value {} was removed", shown(value)));
    }
    let places = Places::new(mark(&two.base, base.at), mark(&two.revision, revision.at));
    match (base.open, revision.open) {
        (false, true) => {
            two.note(on, "enum-opened", places, "", "values that are not listed can come".to_owned())
        }
        (true, false) => two.note(on, "enum-closed", places, "", "only listed values can come".to_owned()),
        _ => {}
    }
}

/// Where the mark of an open enum stands.
fn mark(view: &View<'_>, otherwise: Span) -> Span {
    view.entry("x-extensible-enum").map_or(otherwise, |entry| entry.key.span)
}

const fn place(value: &Node, otherwise: Span) -> Span {
    if value.span.end > value.span.start { value.span } else { otherwise }
}

/// A keyword that holds one value, or in several texts several.
fn one<'n>(on: &mut Comparison<'n>, two: &Two<'n>, keyword: &str, word: &str, what: &str) {
    let places = two.places(keyword);
    let (was, now) = (distinct(&two.base, keyword), distinct(&two.revision, keyword));
    let within = |left: &[&Entry], right: &[&Entry]| {
        left.iter().all(|entry| right.iter().any(|other| same(&entry.value, &other.value)))
    };
    if within(&was, &now) && within(&now, &was) {
        return;
    }
    let all = |entries: &[&Entry]| {
        entries.iter().map(|entry| shown(&entry.value)).collect::<Vec<_>>().join(" and ")
    };
    let (base, revision) = (all(&was), all(&now));
    let (ending, facts, message) = match (was.is_empty(), now.is_empty()) {
        (true, _) => ("added", revision.clone(), format!("{what} {revision} was added")),
        (_, true) => ("removed", base.clone(), format!("{what} {base} was removed")),
        _ => {
            let change = format!("{base} to {revision}");
            ("changed", change.clone(), format!("{what} went from {change}"))
        }
    };
    two.note(on, &format!("{word}-{ending}"), places, &facts, message);
}
