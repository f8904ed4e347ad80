//! Enums, constants and defaults.

use super::Two;
use super::value::{same, shown};
use super::view::View;
use crate::breaking::compare::{Comparison, Places};
use crate::breaking::rule::{Aspect, Effect, Level, Topic};
use crate::contract::node::{Entry, Node, Value};
use crate::contract::source::Span;

const V: Topic = Topic::Values;

/// The rules of this family.
pub const ASPECTS: &[Aspect] = &[
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
pub const KEYWORDS: &[&str] = &["enum", "const", "default"];

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
pub fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (base, revision) = (&two.base, &two.revision);
    // A constant beside an enum is an enum of one value.
    let mixed = base.entry("enum").is_some() != revision.entry("enum").is_some()
        && base.entry("const").is_some() != revision.entry("const").is_some();
    enums(on, two, listed(base, mixed), listed(revision, mixed));
    if !mixed {
        one(on, two, "const", "const", "the constant");
    }
    one(on, two, "default", "default-value", "the default");
}

fn listed<'n>(view: &View<'n>, with_const: bool) -> Option<Listed<'n>> {
    let mark = view.entry("x-extensible-enum");
    let open = mark.is_some_and(|mark| !matches!(mark.value.value, Value::Bool(false)));
    let not_null = |value: &&Node| !matches!(value.value, Value::Null);
    let list = |entry: &'n Entry, extensible| {
        let values = entry.value.items().unwrap_or_default().iter().filter(not_null).collect();
        Listed { values, at: entry.key.span, open: open || extensible, extensible }
    };
    // Several lists hold together: what is valid stands in all of them.
    let mut lists = view.entries("enum").map(|entry| list(entry, false));
    if let Some(mut first) = lists.next() {
        for other in lists {
            first.values.retain(|value| other.values.iter().any(|there| same(value, there)));
        }
        return Some(first);
    }
    if let Some(mark) = mark.filter(|mark| mark.value.items().is_some()) {
        return Some(list(mark, true));
    }
    let fixed = view.entry("const").filter(|_| with_const)?;
    Some(Listed { values: vec![&fixed.value], at: fixed.key.span, open: false, extensible: false })
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

/// A keyword that holds one value.
fn one<'n>(on: &mut Comparison<'n>, two: &Two<'n>, keyword: &str, word: &str, what: &str) {
    let places = two.places(keyword);
    let (ending, facts, message) = match (two.base.entry(keyword), two.revision.entry(keyword)) {
        (None, Some(now)) => {
            let now = shown(&now.value);
            ("added", now.clone(), format!("{what} {now} was added"))
        }
        (Some(was), None) => {
            let was = shown(&was.value);
            ("removed", was.clone(), format!("{what} {was} was removed"))
        }
        (Some(was), Some(now)) if !same(&was.value, &now.value) => {
            let change = format!("{} to {}", shown(&was.value), shown(&now.value));
            ("changed", change.clone(), format!("{what} went from {change}"))
        }
        _ => return,
    };
    two.note(on, &format!("{word}-{ending}"), places, &facts, message);
}
