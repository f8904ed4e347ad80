//! Path items and their operations, those of webhooks and callbacks included.

use std::collections::BTreeMap;
use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matched::by_key;
use super::{Comparison, Places, Use, bodies, lifecycle, parameters, responses, security, servers};
use crate::document::Side;
use crate::rule::{Mirror, Rule};
use crate::schema::{is_annotation, value};

const GONE: &str = "A client that calls it gets 404 or 405.";
const KEEP: &str =
    "Keep it, mark it `deprecated`, and say by `x-sunset` when it ends, at least 180 days ahead.";
const ADDED: Mirror = Mirror::Of("endpoint-added");

/// The rules of this family.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("endpoint-added", Mirror::Of("api-removed-without-deprecation")),
    Rule::error("api-removed-without-deprecation", ADDED, GONE, KEEP),
    Rule::info("api-removed-with-deprecation", ADDED),
    Rule::error(
        "api-removed-before-sunset",
        ADDED,
        GONE,
        "Wait for the day of the sunset that was announced.",
    ),
    Rule::error("api-path-removed-without-deprecation", ADDED, GONE, KEEP),
    Rule::info("api-path-removed-with-deprecation", ADDED),
    Rule::error(
        "api-path-removed-before-sunset",
        ADDED,
        GONE,
        "Wait for the day of the sunset that was announced.",
    ),
    Rule::error(
        "api-path-sunset-parse",
        ADDED,
        "Nobody can tell whether its time is over.",
        "Keep it, and write `x-sunset` with a day (YYYY-MM-DD) at least 180 days ahead.",
    ),
    Rule::error(
        "api-operation-id-removed",
        Mirror::Of("api-operation-id-added"),
        "Code that was generated from the contract calls a function that is gone.",
        "Keep the `operationId`; it is a name that others use.",
    ),
    Rule::info("api-operation-id-added", Mirror::Of("api-operation-id-removed")),
    Rule::info("api-tag-removed", Mirror::Of("api-tag-added")),
    Rule::info("api-tag-added", Mirror::Of("api-tag-removed")),
    Rule::info("callback-added", Mirror::Of("callback-removed")),
    Rule::error(
        "callback-removed",
        Mirror::Of("callback-added"),
        "A client waits for a call that never comes.",
        "Go on making the call, and mark it `deprecated`.",
    ),
    Rule::error(
        "unclassified-change",
        Mirror::Of("unclassified-change"),
        "No rule knows what this does to clients, so it counts as breaking.",
        "Leave it as it was, or have it waived once someone has judged it.",
    ),
];

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// A path, a webhook or a callback with its operations.
pub(super) struct Item<'n> {
    /// The path, or the name.
    pub name: &'n str,
    /// Where it is named.
    pub at: Span,
    /// Whether the server is the one that calls.
    pub flipped: bool,
    /// What it holds: its own text, and those that its references lead to. No two of them say the same thing.
    texts: Vec<&'n Node>,
}

impl<'n> Item<'n> {
    /// Takes an item by its entry.
    pub(super) fn new(side: &Side<'n>, entry: &'n Entry, flipped: bool) -> Self {
        Self { name: &entry.key.text, at: entry.key.span, flipped, texts: side.texts(&entry.value) }
    }

    fn entries(&self) -> impl Iterator<Item = &'n Entry> {
        self.texts.iter().flat_map(|text| text.entries().unwrap_or_default())
    }

    /// What it says by a keyword for all of its operations.
    pub(super) fn entry(&self, keyword: &str) -> Option<&'n Entry> {
        self.texts.iter().find_map(|text| text.entry(keyword))
    }

    /// Its operations by their methods.
    pub(super) fn operations(&self) -> impl Iterator<Item = (&'n str, &'n Entry)> {
        let methods = self.entries().filter(|entry| METHODS.contains(&entry.key.text.as_str()));
        methods.map(|entry| (entry.key.text.as_str(), entry))
    }

    /// What it says that nobody compares.
    fn others(&self) -> Node {
        let known = |key: &str| {
            METHODS.contains(&key) || ["parameters", "servers", "$ref"].contains(&key) || is_annotation(key)
        };
        let others = self.entries().filter(|entry| !known(&entry.key.text));
        Node::made(Value::Mapping(others.cloned().collect()))
    }

    /// An operation as people call it.
    fn named(&self, method: &str, operation: &Node) -> Rc<Use> {
        let id = operation.get("operationId").and_then(Node::as_str).map(str::to_owned);
        let name = id.unwrap_or_else(|| format!("{} {}", method.to_uppercase(), self.name));
        Rc::new(Use { operation: name, steps: String::new(), flipped: self.flipped })
    }
}

/// An operation on one side.
#[derive(Clone, Copy)]
pub(super) struct Operation<'a, 'n> {
    /// The path that it belongs to.
    pub item: &'a Item<'n>,
    /// What it says.
    pub node: &'n Node,
    /// Where it is named.
    pub at: Span,
}

/// Compares the operations of a path; either side may have none.
pub(super) fn compare<'n>(
    on: &mut Comparison<'n>,
    base: Option<&Item<'n>>,
    revision: Option<&Item<'n>>,
    places: Places,
) {
    let collect = |item: Option<&Item<'n>>| -> BTreeMap<&'n str, &'n Entry> {
        item.map(|item| item.operations().collect()).unwrap_or_default()
    };
    let (was, now) = (collect(base), collect(revision));
    for (method, entry) in &was {
        let Some(base) = base else { continue };
        let at = base.named(method, &entry.value);
        match (revision, now.get(method)) {
            (Some(revision), Some(other)) => {
                let was = Operation { item: base, node: &entry.value, at: entry.key.span };
                let now = Operation { item: revision, node: &other.value, at: other.key.span };
                both(on, &at, was, now);
            }
            (_, _) => {
                let lacking = revision.map_or(places.revision, |item| item.at);
                removed(on, &at, base, entry, lacking, now.is_empty());
            }
        }
    }
    for (method, entry) in now.iter().filter(|(method, _)| !was.contains_key(*method)) {
        let Some(revision) = revision else { continue };
        let at = revision.named(method, &entry.value);
        let message = format!("`{} {}` was added", method.to_uppercase(), revision.name);
        let lacking = base.map_or(places.base, |item| item.at);
        let places = Places::new(lacking, entry.key.span);
        on.raise("endpoint-added", &at, places, &format!("{method} {}", revision.name), message);
    }
    if let (Some(base), Some(revision)) = (base, revision) {
        let at =
            Rc::new(Use { operation: base.name.to_owned(), steps: String::new(), flipped: base.flipped });
        rest(on, &at, &base.others(), &revision.others(), (base.at, revision.at), |_| false);
    }
}

fn removed(
    on: &mut Comparison<'_>,
    at: &Rc<Use>,
    item: &Item<'_>,
    entry: &Entry,
    lacking: Span,
    whole: bool,
) {
    let path = if whole { "api-path" } else { "api" };
    let shown = format!("{} {}", entry.key.text.to_uppercase(), item.name);
    let (id, why) = match lifecycle::removal(&entry.value, on.today) {
        lifecycle::Removal::Unannounced => (format!("{path}-removed-without-deprecation"), String::new()),
        lifecycle::Removal::Announced => (format!("{path}-removed-with-deprecation"), String::new()),
        lifecycle::Removal::BeforeSunset(date) => {
            (format!("{path}-removed-before-sunset"), format!(" before its sunset on {date}"))
        }
        lifecycle::Removal::NoDay(text) => {
            ("api-path-sunset-parse".to_owned(), format!("; its sunset `{text}` is not a day"))
        }
    };
    let places = Places::new(entry.key.span, lacking);
    on.raise(&id, at, places, &shown, format!("`{shown}` was removed{why}"));
}

/// Keywords of an operation that someone compares.
const KNOWN: [&str; 10] = [
    "operationId",
    "tags",
    "parameters",
    "requestBody",
    "responses",
    "callbacks",
    "security",
    "servers",
    "deprecated",
    "x-sunset",
];

fn both<'n>(on: &mut Comparison<'n>, at: &Rc<Use>, was: Operation<'_, 'n>, now: Operation<'_, 'n>) {
    operation_id(on, at, was, now);
    tags(on, at, was, now);
    lifecycle::judge_operation(on, at, (was.node, was.at), (now.node, now.at));
    parameters::compare(on, at, was, now);
    bodies::compare(on, at, was, now);
    responses::compare(on, at, was, now);
    security::compare(on, at, was, now);
    servers::compare(on, at, was, now);
    callbacks(on, at, was, now);
    rest(on, at, was.node, now.node, (was.at, now.at), |key| KNOWN.contains(&key));
}

/// Where a keyword stands, or else the thing that lacks it.
pub(super) fn place(node: &Node, keyword: &str, otherwise: Span) -> Span {
    node.entry(keyword).map_or(otherwise, |entry| entry.key.span)
}

fn operation_id(on: &mut Comparison<'_>, at: &Rc<Use>, was: Operation<'_, '_>, now: Operation<'_, '_>) {
    let id = |node: &Node| node.get("operationId").and_then(Node::as_str).map(str::to_owned);
    let places = Places::new(place(was.node, "operationId", was.at), place(now.node, "operationId", now.at));
    let (old, new) = (id(was.node), id(now.node));
    if old == new {
        return;
    }
    if let Some(old) = old {
        let message = match &new {
            Some(new) => format!("the operationId `{old}` became `{new}`"),
            None => format!("the operationId `{old}` was removed"),
        };
        on.raise("api-operation-id-removed", at, places, &old, message);
    } else if let Some(new) = new {
        on.raise("api-operation-id-added", at, places, &new, format!("the operationId `{new}` was added"));
    }
}

fn tags(on: &mut Comparison<'_>, at: &Rc<Use>, was: Operation<'_, '_>, now: Operation<'_, '_>) {
    let list = |node: &Node| -> Vec<String> {
        let items = node.get("tags").and_then(Node::items).unwrap_or_default();
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let (old, new) = (list(was.node), list(now.node));
    let places = Places::new(place(was.node, "tags", was.at), place(now.node, "tags", now.at));
    let tags = by_key(&old, &new, String::as_str);
    for tag in tags.gone {
        on.raise("api-tag-removed", at, places, tag, format!("the tag `{tag}` was removed"));
    }
    for tag in tags.came {
        on.raise("api-tag-added", at, places, tag, format!("the tag `{tag}` was added"));
    }
}

fn callbacks<'n>(on: &mut Comparison<'n>, at: &Rc<Use>, was: Operation<'_, 'n>, now: Operation<'_, 'n>) {
    let entries = |node: &'n Node| node.get("callbacks").and_then(Node::entries).unwrap_or_default();
    let callbacks = by_key(entries(was.node), entries(now.node), |entry| &entry.key.text);
    for (entry, other) in callbacks.stayed {
        let (old, new) = (on.base.follow(&entry.value), on.revision.follow(&other.value));
        expressions(on, at, (old, entry.key.span), (new, other.key.span));
    }
    for entry in callbacks.gone {
        let name = &entry.key.text;
        let places = Places::new(entry.key.span, place(now.node, "callbacks", now.at));
        on.raise("callback-removed", at, places, name, format!("the callback `{name}` was removed"));
    }
    for entry in callbacks.came {
        let name = &entry.key.text;
        let places = Places::new(place(was.node, "callbacks", was.at), entry.key.span);
        on.raise("callback-added", at, places, name, format!("the callback `{name}` was added"));
    }
}

/// The addresses that a callback calls.
fn expressions<'n>(on: &mut Comparison<'n>, at: &Rc<Use>, was: (&'n Node, Span), now: (&'n Node, Span)) {
    let (bases, revisions) = (was.0.entries().unwrap_or_default(), now.0.entries().unwrap_or_default());
    let addresses = by_key(bases, revisions, |entry| &entry.key.text);
    for (entry, other) in addresses.stayed {
        let (old, new) = (Item::new(&on.base, entry, true), Item::new(&on.revision, other, true));
        compare(on, Some(&old), Some(&new), Places::new(old.at, new.at));
    }
    for entry in addresses.gone {
        let name = &entry.key.text;
        let places = Places::new(entry.key.span, now.1);
        on.raise("callback-removed", at, places, name, format!("the callback to `{name}` was removed"));
    }
    for entry in addresses.came {
        let name = &entry.key.text;
        let places = Places::new(was.1, entry.key.span);
        on.raise("callback-added", at, places, name, format!("the callback to `{name}` was added"));
    }
}

/// Everything beside what is known: it is either a note for readers, or nobody knows what it does.
pub(super) fn rest(
    on: &mut Comparison<'_>,
    at: &Rc<Use>,
    base: &Node,
    revision: &Node,
    places: (Span, Span),
    known: impl Fn(&str) -> bool,
) {
    let bases = base.entries().unwrap_or_default();
    let revisions = revision.entries().unwrap_or_default();
    let added = revisions.iter().filter(|entry| base.entry(&entry.key.text).is_none());
    for entry in bases.iter().chain(added) {
        let key = entry.key.text.as_str();
        if known(key) || is_annotation(key) {
            continue;
        }
        let (was, now) = (base.entry(key), revision.entry(key));
        let same = matches!((was, now), (Some(was), Some(now)) if value::same(&was.value, &now.value));
        if !same {
            let span = |entry: Option<&Entry>, otherwise| entry.map_or(otherwise, |entry| entry.key.span);
            let places = Places::new(span(was, places.0), span(now, places.1));
            let shown =
                |entry: Option<&Entry>| entry.map(|entry| value::shown(&entry.value)).unwrap_or_default();
            let facts = format!("{key} {} {}", shown(was), shown(now));
            let message = format!("`{key}` changed, and no rule knows what that does");
            on.raise("unclassified-change", at, places, &facts, message);
        }
    }
}
