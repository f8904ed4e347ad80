//! The keywords of JSON Schema 2020-12: conditions, dependencies, content.

use std::collections::BTreeMap;

use super::Two;
use super::value::{alike, same, shown};
use super::view::{Parts, View, says_nothing};
use crate::breaking::compare::{Comparison, Places};
use crate::breaking::rule::{Aspect, Effect, Topic};
use crate::contract::node::{Entry, Node, Value};

const S: Topic = Topic::Structure;

/// What lets more through when it is there.
pub const fn gone(word: &'static str, mirror: &'static str) -> Aspect {
    Aspect::new(S, Effect::Widens, word, mirror)
}

/// What lets less through when it is there.
pub const fn come(word: &'static str, mirror: &'static str) -> Aspect {
    Aspect::new(S, Effect::Narrows, word, mirror)
}

/// What lets other values through.
pub const fn other(word: &'static str) -> Aspect {
    Aspect::new(S, Effect::Alters, word, word)
}

/// The rules of this family.
pub const ASPECTS: &[Aspect] = &[
    come("not-added", "not-removed"),
    gone("not-removed", "not-added"),
    other("not-changed"),
    come("if-added", "if-removed"),
    gone("if-removed", "if-added"),
    other("if-changed"),
    come("then-added", "then-removed"),
    gone("then-removed", "then-added"),
    come("else-added", "else-removed"),
    gone("else-removed", "else-added"),
    come("property-names-added", "property-names-removed"),
    gone("property-names-removed", "property-names-added"),
    come("unevaluated-properties-added", "unevaluated-properties-removed"),
    gone("unevaluated-properties-removed", "unevaluated-properties-added"),
    come("content-schema-added", "content-schema-removed"),
    gone("content-schema-removed", "content-schema-added"),
    come("pattern-property-added", "pattern-property-removed"),
    gone("pattern-property-removed", "pattern-property-added"),
    come("dependent-schema-added", "dependent-schema-removed"),
    gone("dependent-schema-removed", "dependent-schema-added"),
    come("dependent-required-added", "dependent-required-removed"),
    gone("dependent-required-removed", "dependent-required-added"),
    other("dependent-required-changed"),
    other("content-media-type-changed"),
    other("content-encoding-changed"),
];

/// The keywords of this family.
pub const KEYWORDS: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedProperties",
    "contentSchema",
    "patternProperties",
    "dependentSchemas",
    "dependentRequired",
    "contentMediaType",
    "contentEncoding",
];

/// Keywords whose value is a schema, and how their rules are called.
const SCHEMAS: [(&str, &str); 7] = [
    ("not", "not"),
    ("if", "if"),
    ("then", "then"),
    ("else", "else"),
    ("propertyNames", "property-names"),
    ("unevaluatedProperties", "unevaluated-properties"),
    ("contentSchema", "content-schema"),
];

/// Compares conditions, dependencies and content.
pub fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    for (keyword, word) in SCHEMAS {
        schema(on, two, (keyword, word), parts(&two.base, keyword), parts(&two.revision, keyword));
    }
    named(on, two, "patternProperties", "pattern-property");
    named(on, two, "dependentSchemas", "dependent-schema");
    dependent_required(on, two);
    for (keyword, word) in
        [("contentMediaType", "content-media-type-changed"), ("contentEncoding", "content-encoding-changed")]
    {
        let text = |view: &View<'n>| {
            view.entry(keyword).map_or_else(|| "none".to_owned(), |entry| shown(&entry.value))
        };
        let (was, now) = (text(&two.base), text(&two.revision));
        if was != now {
            let facts = format!("{was} to {now}");
            two.note(on, word, two.places(keyword), &facts, format!("`{keyword}` went from {facts}"));
        }
    }
}

/// Every text of a keyword, but for one that says nothing: mostly what lets all through.
fn parts<'n>(view: &View<'n>, keyword: &str) -> Option<Parts<'n>> {
    let says = |entry: &&Entry| match keyword {
        "not" => !matches!(entry.value.value, Value::Bool(false)),
        _ => keyword == "if" || !says_nothing(&entry.value),
    };
    let nodes: Vec<&Node> = view.entries(keyword).filter(says).map(|entry| &entry.value).collect();
    (!nodes.is_empty()).then(|| Parts { nodes, at: view.place(keyword) })
}

/// Compares the schemas of a keyword, or says that it came or went.
pub fn schema<'n>(
    on: &mut Comparison<'n>,
    two: &Two<'n>,
    (keyword, word): (&str, &str),
    base: Option<Parts<'n>>,
    revision: Option<Parts<'n>>,
) {
    let places = two.places(keyword);
    match (base, revision) {
        (None, None) => {}
        (None, Some(_)) => {
            two.note(on, &format!("{word}-added"), places, "", format!("`{keyword}` was added"))
        }
        (Some(_), None) => {
            two.note(on, &format!("{word}-removed"), places, "", format!("`{keyword}` was removed"))
        }
        (Some(was), Some(now)) if matches!(keyword, "not" | "if") => {
            // What is more here is less as a whole, or the other way round: only the same is safe.
            if !is_same(on, &was, &now) {
                two.note(on, &format!("{word}-changed"), places, "", format!("`{keyword}` changed"));
            }
        }
        (Some(was), Some(now)) => {
            let step = if keyword == "items" { "[]" } else { keyword };
            two.enter(on, was, now, two.site.inner(), step);
        }
    }
}

/// Whether two schemas are the same, but for what they say to readers.
pub fn is_same(on: &Comparison<'_>, was: &Parts<'_>, now: &Parts<'_>) -> bool {
    on.same().parts(was, now) || is_noted_otherwise(was, now)
}

/// Whether two schemas without references differ in what they say to readers alone.
fn is_noted_otherwise(was: &Parts<'_>, now: &Parts<'_>) -> bool {
    was.nodes.len() == now.nodes.len()
        && was.nodes.iter().zip(&now.nodes).all(|(was, now)| alike(was, now) && !refers(was))
}

fn refers(node: &Node) -> bool {
    match &node.value {
        Value::Sequence(items) => items.iter().any(refers),
        Value::Mapping(entries) => {
            entries.iter().any(|entry| entry.key.text == "$ref" || refers(&entry.value))
        }
        _ => false,
    }
}

/// The entries of a keyword that is a mapping.
fn entries<'n>(view: &View<'n>, keyword: &str) -> BTreeMap<&'n str, &'n Entry> {
    let entries = view.entries(keyword).filter_map(|entry| entry.value.entries()).flatten();
    entries.map(|entry| (entry.key.text.as_str(), entry)).collect()
}

fn named<'n>(on: &mut Comparison<'n>, two: &Two<'n>, keyword: &str, word: &str) {
    let (was, now) = (entries(&two.base, keyword), entries(&two.revision, keyword));
    let places = two.places(keyword);
    for (name, entry) in &was {
        match now.get(name) {
            Some(other) => {
                let step = format!("{keyword} {name}");
                two.enter(on, Parts::under(entry), Parts::under(other), two.site.inner(), &step);
            }
            None => {
                let places = Places::new(entry.key.span, places.revision);
                let message = format!("`{name}` was removed from `{keyword}`");
                two.note(on, &format!("{word}-removed"), places, name, message);
            }
        }
    }
    for (name, entry) in now.iter().filter(|(name, _)| !was.contains_key(*name)) {
        let places = Places::new(places.base, entry.key.span);
        two.note(on, &format!("{word}-added"), places, name, format!("`{name}` was added to `{keyword}`"));
    }
}

fn dependent_required<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (was, now) = (entries(&two.base, "dependentRequired"), entries(&two.revision, "dependentRequired"));
    let places = two.places("dependentRequired");
    for name in was.keys().chain(now.keys().filter(|name| !was.contains_key(*name))) {
        let (ending, places, message) = match (was.get(name), now.get(name)) {
            (Some(was), Some(now)) if same(&was.value, &now.value) => continue,
            (Some(was), Some(now)) => {
                let message = format!("`{name}` requires other properties beside it now");
                ("changed", Places::new(was.key.span, now.key.span), message)
            }
            (None, Some(now)) => {
                let message = format!("`{name}` requires properties beside it now");
                ("added", Places::new(places.base, now.key.span), message)
            }
            (Some(was), None) => {
                let message = format!("`{name}` requires no properties beside it any more");
                ("removed", Places::new(was.key.span, places.revision), message)
            }
            (None, None) => continue,
        };
        two.note(on, &format!("dependent-required-{ending}"), places, name, message);
    }
}
