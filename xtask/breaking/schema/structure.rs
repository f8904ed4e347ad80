//! The keywords of JSON Schema 2020-12: negation, dependencies, content.

use std::collections::{BTreeMap, BTreeSet};

use contract::node::{Entry, Node, Value};

use super::Two;
use super::value::{alike, shown};
use super::values::distinct;
use super::view::{Parts, View, says_nothing};
use crate::compare::{Comparison, Places};
use crate::rule::{Aspect, Effect, Topic};

const S: Topic = Topic::Structure;

/// What lets more through when it is there.
pub(super) const fn gone(word: &'static str, mirror: &'static str) -> Aspect {
    Aspect::new(S, Effect::Widens, word, mirror)
}

/// What lets less through when it is there.
pub(super) const fn come(word: &'static str, mirror: &'static str) -> Aspect {
    Aspect::new(S, Effect::Narrows, word, mirror)
}

/// What lets other values through.
pub(super) const fn other(word: &'static str) -> Aspect {
    Aspect::new(S, Effect::Alters, word, word)
}

/// The rules of this family.
pub(super) const ASPECTS: &[Aspect] = &[
    come("not-added", "not-removed"),
    gone("not-removed", "not-added"),
    other("not-changed"),
    come("property-names-added", "property-names-removed"),
    gone("property-names-removed", "property-names-added"),
    come("content-schema-added", "content-schema-removed"),
    gone("content-schema-removed", "content-schema-added"),
    come("dependent-schema-added", "dependent-schema-removed"),
    gone("dependent-schema-removed", "dependent-schema-added"),
    come("dependent-required-added", "dependent-required-removed"),
    gone("dependent-required-removed", "dependent-required-added"),
    other("dependent-required-changed"),
    other("content-media-type-changed"),
    other("content-encoding-changed"),
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] = &[
    "not",
    "propertyNames",
    "contentSchema",
    "dependentSchemas",
    "dependentRequired",
    "contentMediaType",
    "contentEncoding",
];

/// Keywords whose value is a schema, and how their rules are called.
const SCHEMAS: [(&str, &str); 3] =
    [("not", "not"), ("propertyNames", "property-names"), ("contentSchema", "content-schema")];

/// Compares negations, dependencies and content.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    for (keyword, word) in SCHEMAS {
        schema(on, two, (keyword, word), parts(&two.base, keyword), parts(&two.revision, keyword));
    }
    dependent_schemas(on, two);
    dependent_required(on, two);
    for (keyword, word) in
        [("contentMediaType", "content-media-type-changed"), ("contentEncoding", "content-encoding-changed")]
    {
        let text = |view: &View<'n>| {
            let mut texts: Vec<String> =
                distinct(view, keyword).iter().map(|entry| shown(&entry.value)).collect();
            texts.sort_unstable();
            if texts.is_empty() { "none".to_owned() } else { texts.join(" and ") }
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
        _ => !says_nothing(&entry.value),
    };
    let nodes: Vec<&Node> = view.entries(keyword).filter(says).map(|entry| &entry.value).collect();
    (!nodes.is_empty()).then(|| Parts { nodes, at: view.place(keyword) })
}

/// Compares the schemas of a keyword, or says that it came or went.
pub(super) fn schema<'n>(
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
        (Some(was), Some(now)) if keyword == "not" => {
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
pub(super) fn is_same(on: &Comparison<'_>, was: &Parts<'_>, now: &Parts<'_>) -> bool {
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

/// The schemas of a keyword that is a mapping, by their names, each with all that every text says.
pub(super) fn entries<'n>(view: &View<'n>, keyword: &str) -> BTreeMap<&'n str, Parts<'n>> {
    let mut named: BTreeMap<&str, Parts<'_>> = BTreeMap::new();
    for entry in view.entries(keyword).filter_map(|entry| entry.value.entries()).flatten() {
        named
            .entry(entry.key.text.as_str())
            .and_modify(|parts| parts.nodes.push(&entry.value))
            .or_insert_with(|| Parts::under(entry));
    }
    named
}

fn dependent_schemas<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let keyword = "dependentSchemas";
    let (was, now) = (entries(&two.base, keyword), entries(&two.revision, keyword));
    let places = two.places(keyword);
    for (name, parts) in &was {
        if let Some(other) = now.get(name) {
            let step = format!("{keyword} {name}");
            two.enter(on, parts.clone(), other.clone(), two.site.inner(), &step);
        } else {
            let message = format!("`{name}` was removed from `{keyword}`");
            let places = Places::new(parts.at, places.revision);
            two.note(on, "dependent-schema-removed", places, name, message);
        }
    }
    for (name, parts) in now.iter().filter(|(name, _)| !was.contains_key(*name)) {
        let message = format!("`{name}` was added to `{keyword}`");
        two.note(on, "dependent-schema-added", Places::new(places.base, parts.at), name, message);
    }
}

fn dependent_required<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let keyword = "dependentRequired";
    let (was, now) = (entries(&two.base, keyword), entries(&two.revision, keyword));
    let places = two.places(keyword);
    for name in was.keys().chain(now.keys().filter(|name| !was.contains_key(*name))) {
        let (base, revision) = (was.get(name), now.get(name));
        let (needed_was, needed) = (needed(base), needed(revision));
        let (ending, message) = match (needed_was.is_subset(&needed), needed.is_subset(&needed_was)) {
            (true, true) => continue,
            (true, false) => ("added", format!("`{name}` requires more properties beside it now")),
            (false, true) => ("removed", format!("`{name}` requires fewer properties beside it now")),
            (false, false) => ("changed", format!("`{name}` requires other properties beside it now")),
        };
        let at = |parts: Option<&Parts<'n>>, otherwise| parts.map_or(otherwise, |parts| parts.at);
        let places = Places::new(at(base, places.base), at(revision, places.revision));
        let only = |left: &BTreeSet<&str>, right: &BTreeSet<&str>| {
            left.difference(right).copied().collect::<Vec<_>>().join(" ")
        };
        let facts = format!("{name}: +{} -{}", only(&needed, &needed_was), only(&needed_was, &needed));
        two.note(on, &format!("dependent-required-{ending}"), places, &facts, message);
    }
}

/// The names that stand in lists.
fn needed<'n>(lists: Option<&Parts<'n>>) -> BTreeSet<&'n str> {
    let lists = lists.map(|parts| parts.nodes.as_slice()).unwrap_or_default();
    lists.iter().filter_map(|node| node.items()).flatten().filter_map(Node::as_str).collect()
}
