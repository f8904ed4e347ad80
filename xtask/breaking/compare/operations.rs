//! Compares path items and their operations, including those of webhooks and callbacks.

use std::collections::BTreeMap;
use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matching::by_key;
use super::{
    Comparison, OperationPath, Positions, bodies, lifecycle, parameters, responses, security, servers,
};
use crate::document::IndexedDocument;
use crate::rule::{Inverse, Rule};
use crate::schema::{is_annotation, value};

const GONE: &str = "Requests to the operation fail with 404 or 405.";
const KEEP: &str =
    "Keep the operation, mark it `deprecated`, and set `x-sunset` to a date at least 180 days in the future.";
const ADDED: Inverse = Inverse::Of("endpoint-added");

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("endpoint-added", Inverse::Of("api-removed-without-deprecation")),
    Rule::error("api-removed-without-deprecation", ADDED, GONE, KEEP),
    Rule::info("api-removed-with-deprecation", ADDED),
    Rule::error("api-removed-before-sunset", ADDED, GONE, "Keep it until the announced sunset date."),
    Rule::error("api-path-removed-without-deprecation", ADDED, GONE, KEEP),
    Rule::info("api-path-removed-with-deprecation", ADDED),
    Rule::error("api-path-removed-before-sunset", ADDED, GONE, "Keep it until the announced sunset date."),
    Rule::error(
        "api-path-sunset-parse",
        ADDED,
        "The end of support is unknown.",
        "Keep it, and set `x-sunset` to a date (YYYY-MM-DD) at least 180 days in the future.",
    ),
    Rule::error(
        "api-operation-id-removed",
        Inverse::Of("api-operation-id-added"),
        "Generated clients no longer have the function of this name.",
        "Keep the `operationId`; generated clients use it as a function name.",
    ),
    Rule::info("api-operation-id-added", Inverse::Of("api-operation-id-removed")),
    Rule::info("api-tag-removed", Inverse::Of("api-tag-added")),
    Rule::info("api-tag-added", Inverse::Of("api-tag-removed")),
    Rule::info("callback-added", Inverse::Of("callback-removed")),
    Rule::error(
        "callback-removed",
        Inverse::Of("callback-added"),
        "Clients no longer receive the callback.",
        "Keep sending the callback, and mark it `deprecated`.",
    ),
    Rule::error(
        "unclassified-change",
        Inverse::Of("unclassified-change"),
        "The effect on clients is unknown, so the change counts as breaking.",
        "Revert the change, or review it and add a waiver.",
    ),
];

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// A path item: a path, a webhook or a callback with its operations.
pub(super) struct PathItem<'n> {
    /// The path, or the name of the webhook or callback.
    pub name: &'n str,
    /// The position of its key.
    pub at: Span,
    /// Whether the server sends the request, as in a webhook or a callback.
    pub is_outgoing: bool,
    /// The node of the item and the targets of its references. No keyword occurs in two of them.
    nodes: Vec<&'n Node>,
}

impl<'n> PathItem<'n> {
    /// Creates an item from its entry.
    pub(super) fn new(side: &IndexedDocument<'n>, entry: &'n Entry, is_outgoing: bool) -> Self {
        Self {
            name: &entry.key.text,
            at: entry.key.span,
            is_outgoing,
            nodes: side.reference_chain(&entry.value),
        }
    }

    fn entries(&self) -> impl Iterator<Item = &'n Entry> {
        self.nodes.iter().flat_map(|node| node.entries().unwrap_or_default())
    }

    /// Returns a keyword that applies to all operations of the item.
    pub(super) fn entry(&self, keyword: &str) -> Option<&'n Entry> {
        self.nodes.iter().find_map(|node| node.entry(keyword))
    }

    /// Returns the operations with their methods.
    pub(super) fn operations(&self) -> impl Iterator<Item = (&'n str, &'n Entry)> {
        let methods = self.entries().filter(|entry| METHODS.contains(&entry.key.text.as_str()));
        methods.map(|entry| (entry.key.text.as_str(), entry))
    }

    /// Returns the keywords that are not compared elsewhere.
    fn others(&self) -> Node {
        let known = |key: &str| {
            METHODS.contains(&key) || ["parameters", "servers", "$ref"].contains(&key) || is_annotation(key)
        };
        let others = self.entries().filter(|entry| !known(&entry.key.text));
        Node::without_span(Value::Mapping(others.cloned().collect()))
    }

    /// Returns the operation by its id, or by method and path.
    fn named(&self, method: &str, operation: &Node) -> Rc<OperationPath> {
        let id = operation.get("operationId").and_then(Node::as_str).map(str::to_owned);
        let name = id.unwrap_or_else(|| format!("{} {}", method.to_uppercase(), self.name));
        Rc::new(OperationPath { operation: name, steps: String::new(), is_outgoing: self.is_outgoing })
    }
}

/// An operation of one of the documents.
#[derive(Clone, Copy)]
pub(super) struct OperationNode<'a, 'n> {
    /// The path item that contains it.
    pub item: &'a PathItem<'n>,
    /// The node of the operation.
    pub node: &'n Node,
    /// The position of its key.
    pub at: Span,
}

/// Compares the operations of two path items, one of which can be missing.
pub(super) fn compare<'n>(
    comparison: &mut Comparison<'n>,
    base: Option<&PathItem<'n>>,
    revision: Option<&PathItem<'n>>,
    positions: Positions,
) {
    let collect = |item: Option<&PathItem<'n>>| -> BTreeMap<&'n str, &'n Entry> {
        item.map(|item| item.operations().collect()).unwrap_or_default()
    };
    let (before, after) = (collect(base), collect(revision));
    for (method, entry) in &before {
        let Some(base) = base else { continue };
        let at = base.named(method, &entry.value);
        match (revision, after.get(method)) {
            (Some(revision), Some(other)) => {
                let before = OperationNode { item: base, node: &entry.value, at: entry.key.span };
                let after = OperationNode { item: revision, node: &other.value, at: other.key.span };
                compare_both(comparison, &at, before, after);
            }
            (_, _) => {
                let parents = revision.map_or(positions.revision, |item| item.at);
                report_removed(comparison, &at, base, entry, parents, after.is_empty());
            }
        }
    }
    for (method, entry) in after.iter().filter(|(method, _)| !before.contains_key(*method)) {
        let Some(revision) = revision else { continue };
        let at = revision.named(method, &entry.value);
        let message = format!("`{} {}` was added", method.to_uppercase(), revision.name);
        let parents = base.map_or(positions.base, |item| item.at);
        let positions = Positions::new(parents, entry.key.span);
        comparison.report("endpoint-added", &at, positions, &format!("{method} {}", revision.name), message);
    }
    if let (Some(base), Some(revision)) = (base, revision) {
        let at = Rc::new(OperationPath {
            operation: base.name.to_owned(),
            steps: String::new(),
            is_outgoing: base.is_outgoing,
        });
        compare_unknown_keywords(
            comparison,
            &at,
            &base.others(),
            &revision.others(),
            (base.at, revision.at),
            |_| false,
        );
    }
}

fn report_removed(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    item: &PathItem<'_>,
    entry: &Entry,
    parents: Span,
    whole: bool,
) {
    let path = if whole { "api-path" } else { "api" };
    let display_value = format!("{} {}", entry.key.text.to_uppercase(), item.name);
    let (id, why) = match lifecycle::removal_status(&entry.value, comparison.today) {
        lifecycle::RemovalStatus::NotDeprecated => {
            (format!("{path}-removed-without-deprecation"), String::new())
        }
        lifecycle::RemovalStatus::Announced => (format!("{path}-removed-with-deprecation"), String::new()),
        lifecycle::RemovalStatus::BeforeSunset(date) => {
            (format!("{path}-removed-before-sunset"), format!(" before its sunset on {date}"))
        }
        lifecycle::RemovalStatus::InvalidSunset(text) => {
            ("api-path-sunset-parse".to_owned(), format!("; its sunset `{text}` is not a date"))
        }
    };
    let positions = Positions::new(entry.key.span, parents);
    comparison.report(&id, at, positions, &display_value, format!("`{display_value}` was removed{why}"));
}

/// Keywords of an operation that are compared elsewhere.
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

fn compare_both<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    before: OperationNode<'_, 'n>,
    after: OperationNode<'_, 'n>,
) {
    operation_id(comparison, at, before, after);
    tags(comparison, at, before, after);
    lifecycle::compare_operation(comparison, at, (before.node, before.at), (after.node, after.at));
    parameters::compare(comparison, at, before, after);
    bodies::compare(comparison, at, before, after);
    responses::compare(comparison, at, before, after);
    security::compare(comparison, at, before, after);
    servers::compare(comparison, at, before, after);
    callbacks(comparison, at, before, after);
    compare_unknown_keywords(comparison, at, before.node, after.node, (before.at, after.at), |key| {
        KNOWN.contains(&key)
    });
}

/// Returns the position of a keyword, or `otherwise` if the node lacks it.
pub(super) fn position_of(node: &Node, keyword: &str, otherwise: Span) -> Span {
    node.entry(keyword).map_or(otherwise, |entry| entry.key.span)
}

fn operation_id(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    before: OperationNode<'_, '_>,
    after: OperationNode<'_, '_>,
) {
    let id = |node: &Node| node.get("operationId").and_then(Node::as_str).map(str::to_owned);
    let positions = Positions::new(
        position_of(before.node, "operationId", before.at),
        position_of(after.node, "operationId", after.at),
    );
    let (old, new) = (id(before.node), id(after.node));
    if old == new {
        return;
    }
    if let Some(old) = old {
        let message = match &new {
            Some(new) => format!("the operationId changed from `{old}` to `{new}`"),
            None => format!("the operationId `{old}` was removed"),
        };
        comparison.report("api-operation-id-removed", at, positions, &old, message);
    } else if let Some(new) = new {
        comparison.report(
            "api-operation-id-added",
            at,
            positions,
            &new,
            format!("the operationId `{new}` was added"),
        );
    }
}

fn tags(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    before: OperationNode<'_, '_>,
    after: OperationNode<'_, '_>,
) {
    let list = |node: &Node| -> Vec<String> {
        let items = node.get("tags").and_then(Node::items).unwrap_or_default();
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let (old, new) = (list(before.node), list(after.node));
    let positions = Positions::new(
        position_of(before.node, "tags", before.at),
        position_of(after.node, "tags", after.at),
    );
    let tags = by_key(&old, &new, String::as_str);
    for tag in tags.removed {
        comparison.report("api-tag-removed", at, positions, tag, format!("the tag `{tag}` was removed"));
    }
    for tag in tags.added {
        comparison.report("api-tag-added", at, positions, tag, format!("the tag `{tag}` was added"));
    }
}

fn callbacks<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    before: OperationNode<'_, 'n>,
    after: OperationNode<'_, 'n>,
) {
    let entries = |node: &'n Node| node.get("callbacks").and_then(Node::entries).unwrap_or_default();
    let callbacks = by_key(entries(before.node), entries(after.node), |entry| &entry.key.text);
    for (entry, other) in callbacks.common {
        let (old, new) = (comparison.base.follow(&entry.value), comparison.revision.follow(&other.value));
        expressions(comparison, at, (old, entry.key.span), (new, other.key.span));
    }
    for entry in callbacks.removed {
        let name = &entry.key.text;
        let positions = Positions::new(entry.key.span, position_of(after.node, "callbacks", after.at));
        comparison.report(
            "callback-removed",
            at,
            positions,
            name,
            format!("the callback `{name}` was removed"),
        );
    }
    for entry in callbacks.added {
        let name = &entry.key.text;
        let positions = Positions::new(position_of(before.node, "callbacks", before.at), entry.key.span);
        comparison.report("callback-added", at, positions, name, format!("the callback `{name}` was added"));
    }
}

/// Compares the URL expressions of a callback.
fn expressions<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    before: (&'n Node, Span),
    after: (&'n Node, Span),
) {
    let (bases, revisions) = (before.0.entries().unwrap_or_default(), after.0.entries().unwrap_or_default());
    let addresses = by_key(bases, revisions, |entry| &entry.key.text);
    for (entry, other) in addresses.common {
        let (old, new) =
            (PathItem::new(&comparison.base, entry, true), PathItem::new(&comparison.revision, other, true));
        compare(comparison, Some(&old), Some(&new), Positions::new(old.at, new.at));
    }
    for entry in addresses.removed {
        let name = &entry.key.text;
        let positions = Positions::new(entry.key.span, after.1);
        comparison.report(
            "callback-removed",
            at,
            positions,
            name,
            format!("the callback to `{name}` was removed"),
        );
    }
    for entry in addresses.added {
        let name = &entry.key.text;
        let positions = Positions::new(before.1, entry.key.span);
        comparison.report(
            "callback-added",
            at,
            positions,
            name,
            format!("the callback to `{name}` was added"),
        );
    }
}

/// Reports changes of unknown keywords, except annotations and extensions.
pub(super) fn compare_unknown_keywords(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    base: &Node,
    revision: &Node,
    positions: (Span, Span),
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
        let (before, after) = (base.entry(key), revision.entry(key));
        let same = matches!((before, after), (Some(before), Some(after)) if value::is_equal(&before.value, &after.value));
        if !same {
            let span = |entry: Option<&Entry>, otherwise| entry.map_or(otherwise, |entry| entry.key.span);
            let positions = Positions::new(span(before, positions.0), span(after, positions.1));
            let display_value = |entry: Option<&Entry>| {
                entry.map(|entry| value::display_value(&entry.value)).unwrap_or_default()
            };
            let details = format!("{key} {} {}", display_value(before), display_value(after));
            let message = format!("`{key}` changed, and no rule covers this keyword");
            comparison.report("unclassified-change", at, positions, &details, message);
        }
    }
}
