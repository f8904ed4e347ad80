//! Compares path items and their operations, including those of webhooks and callbacks.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::{fmt, slice};

use contract::node::{Entry, Node, Value};
use contract::source::Span;
use contract::version::Version;

use super::matching::match_by_key;
use super::{
    Comparison, OperationPath, Positions, bodies, callbacks, lifecycle, parameters, responses, security,
    servers,
};
use crate::document::IndexedDocument;
use crate::rule::{Inverse, Rule};
use crate::schema::{is_annotation, value};

const REMOVED_OPERATION_FAILS: &str =
    "Requests to the operation fail with 404 or 405; those of a webhook or callback are no longer sent.";
const DEPRECATE_OPERATION: &str = "Keep the operation, mark it `deprecated`, and set `x-sunset` to a date that leaves clients time to migrate.";
const KEEP_UNTIL_SUNSET: &str = "Keep it until the announced sunset date.";
const ENDPOINT_ADDED: Inverse = Inverse::Of("endpoint-added");

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("endpoint-added", Inverse::Of("api-removed-without-deprecation")),
    Rule::error(
        "api-removed-without-deprecation",
        ENDPOINT_ADDED,
        REMOVED_OPERATION_FAILS,
        DEPRECATE_OPERATION,
    ),
    Rule::info("api-removed-with-deprecation", ENDPOINT_ADDED),
    Rule::error("api-removed-before-sunset", ENDPOINT_ADDED, REMOVED_OPERATION_FAILS, KEEP_UNTIL_SUNSET),
    Rule::error(
        "api-path-removed-without-deprecation",
        ENDPOINT_ADDED,
        REMOVED_OPERATION_FAILS,
        DEPRECATE_OPERATION,
    ),
    Rule::info("api-path-removed-with-deprecation", ENDPOINT_ADDED),
    Rule::error("api-path-removed-before-sunset", ENDPOINT_ADDED, REMOVED_OPERATION_FAILS, KEEP_UNTIL_SUNSET),
    Rule::error(
        "api-path-sunset-parse",
        ENDPOINT_ADDED,
        "The end of support is unknown.",
        "Keep it, and set `x-sunset` to a date (YYYY-MM-DD) that leaves clients time to migrate.",
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

/// The keys of a path item that contain an operation.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// The key of a path item that maps further methods to operations. It is part of OpenAPI 3.2.
const ADDITIONAL_OPERATIONS: &str = "additionalOperations";

/// The method of an operation. It is displayed as it is sent in requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Method<'n> {
    /// The key of the operation.
    key: &'n str,
    /// Whether the key is one of `additionalOperations`. Those are case-sensitive; the others are in lowercase.
    is_additional: bool,
}

impl fmt::Display for Method<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_additional {
            true => formatter.write_str(self.key),
            false => formatter.write_str(&self.key.to_uppercase()),
        }
    }
}

/// Returns the operations among the entries of a path item, with their methods.
pub(crate) fn operations_in<'n>(
    entries: impl Iterator<Item = &'n Entry>,
    version: Version,
) -> impl Iterator<Item = (Method<'n>, &'n Entry)> {
    entries.flat_map(move |entry| {
        let (is_additional, operations) = match entry.key.text.as_str() {
            key if METHODS.contains(&key) => (false, slice::from_ref(entry)),
            ADDITIONAL_OPERATIONS if version == Version::V32 => {
                (true, entry.value.entries().unwrap_or_default())
            }
            _ => (false, &[][..]),
        };
        operations.iter().map(move |entry| (Method { key: &entry.key.text, is_additional }, entry))
    })
}

/// A path item: a path, a webhook or a callback with its operations.
pub(super) struct PathItem<'n> {
    /// The path, the name of the webhook, or the URL expression of the callback.
    pub name: &'n str,
    /// The position of its key.
    pub span: Span,
    /// Whether the server sends the request, as in a webhook or a callback.
    pub is_outgoing: bool,
    /// The version of the document.
    version: Version,
    /// The node of the item and the targets of its references. Only annotations can occur in two of them.
    nodes: Vec<&'n Node>,
}

impl<'n> PathItem<'n> {
    /// Creates an item from its entry.
    pub(super) fn new(side: &IndexedDocument<'n>, entry: &'n Entry, is_outgoing: bool) -> Self {
        Self {
            name: &entry.key.text,
            span: entry.key.span,
            is_outgoing,
            version: side.document.version,
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
    pub(super) fn operations(&self) -> impl Iterator<Item = (Method<'n>, &'n Entry)> {
        operations_in(self.entries(), self.version)
    }

    /// Returns a mapping of the keywords that have no comparison of their own, without annotations.
    fn unknown_keywords(&self) -> Node {
        let is_known = |key: &str| {
            METHODS.contains(&key)
                || (key == ADDITIONAL_OPERATIONS && self.version == Version::V32)
                || ["parameters", "servers", "$ref"].contains(&key)
                || is_annotation(key)
        };
        let unknown = self.entries().filter(|entry| !is_known(&entry.key.text));
        Node::without_span(Value::Mapping(unknown.cloned().collect()))
    }

    /// Returns the path to an operation, which is named by its id, or else by method and path.
    fn operation_path(&self, method: Method<'_>, operation: &Node) -> Rc<OperationPath> {
        let id = operation.get("operationId").and_then(Node::as_str).map(str::to_owned);
        let name = id.unwrap_or_else(|| format!("{method} {}", self.name));
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
    pub span: Span,
}

/// Compares the operations of two path items, one of which can be missing. In the document that lacks it, findings are reported
/// at the position in `positions`.
pub(super) fn compare<'n>(
    comparison: &mut Comparison<'n>,
    base: Option<&PathItem<'n>>,
    revision: Option<&PathItem<'n>>,
    positions: Positions,
) {
    let collect = |item: Option<&PathItem<'n>>| -> BTreeMap<Method<'n>, &'n Entry> {
        item.map(|item| item.operations().collect()).unwrap_or_default()
    };
    let (before, after) = (collect(base), collect(revision));
    for (method, entry) in &before {
        let Some(base) = base else { continue };
        let operation_path = base.operation_path(*method, &entry.value);
        match (revision, after.get(method)) {
            (Some(revision), Some(revision_entry)) => {
                let before = OperationNode { item: base, node: &entry.value, span: entry.key.span };
                let after = OperationNode {
                    item: revision,
                    node: &revision_entry.value,
                    span: revision_entry.key.span,
                };
                compare_both(comparison, &operation_path, before, after);
            }
            (_, _) => {
                let parent_span = revision.map_or(positions.revision, |item| item.span);
                let method_and_path = format!("{method} {}", base.name);
                let is_whole_path = after.is_empty();
                let positions = Positions::new(entry.key.span, parent_span);
                report_removed(
                    comparison,
                    &operation_path,
                    &method_and_path,
                    &entry.value,
                    positions,
                    is_whole_path,
                );
            }
        }
    }
    for (method, entry) in after.iter().filter(|(method, _)| !before.contains_key(*method)) {
        let Some(revision) = revision else { continue };
        let operation_path = revision.operation_path(*method, &entry.value);
        let message = format!("`{method} {}` was added", revision.name);
        let parent_span = base.map_or(positions.base, |item| item.span);
        let positions = Positions::new(parent_span, entry.key.span);
        comparison.report(
            "endpoint-added",
            &operation_path,
            positions,
            &format!("{} {}", method.key, revision.name),
            message,
        );
    }
    if let (Some(base), Some(revision)) = (base, revision) {
        let operation_path = Rc::new(OperationPath {
            operation: base.name.to_owned(),
            steps: String::new(),
            is_outgoing: base.is_outgoing,
        });
        compare_unknown_keywords(
            comparison,
            &operation_path,
            &base.unknown_keywords(),
            &revision.unknown_keywords(),
            (base.span, revision.span),
            |_| false,
        );
    }
}

/// Reports a removed operation. `is_whole_path` is true if the path has no operation left.
fn report_removed(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    method_and_path: &str,
    operation: &Node,
    positions: Positions,
    is_whole_path: bool,
) {
    let id_prefix = if is_whole_path { "api-path" } else { "api" };
    let (id, reason) = match lifecycle::removal_status(operation, comparison.today) {
        lifecycle::RemovalStatus::NotDeprecated => {
            (format!("{id_prefix}-removed-without-deprecation"), String::new())
        }
        lifecycle::RemovalStatus::Announced => {
            (format!("{id_prefix}-removed-with-deprecation"), String::new())
        }
        lifecycle::RemovalStatus::BeforeSunset(date) => {
            (format!("{id_prefix}-removed-before-sunset"), format!(" before its sunset on {date}"))
        }
        lifecycle::RemovalStatus::InvalidSunset(text) => {
            // The same id, whether or not the path still has other operations.
            ("api-path-sunset-parse".to_owned(), format!("; its sunset `{text}` is not a date"))
        }
    };
    let message = format!("`{method_and_path}` was removed{reason}");
    comparison.report(&id, operation_path, positions, method_and_path, message);
}

/// Keywords of an operation that have a comparison of their own.
const KNOWN_KEYWORDS: [&str; 10] = [
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
    operation_path: &Rc<OperationPath>,
    before: OperationNode<'_, 'n>,
    after: OperationNode<'_, 'n>,
) {
    compare_operation_ids(comparison, operation_path, before, after);
    compare_tags(comparison, operation_path, before, after);
    lifecycle::compare_operation(
        comparison,
        operation_path,
        (before.node, before.span),
        (after.node, after.span),
    );
    parameters::compare(comparison, operation_path, before, after);
    bodies::compare(comparison, operation_path, before, after);
    responses::compare(comparison, operation_path, before, after);
    security::compare(comparison, operation_path, before, after);
    servers::compare(comparison, operation_path, before, after);
    callbacks::compare_callbacks(comparison, operation_path, before, after);
    compare_unknown_keywords(
        comparison,
        operation_path,
        before.node,
        after.node,
        (before.span, after.span),
        |key| KNOWN_KEYWORDS.contains(&key),
    );
}

/// Returns the position of a keyword, or `fallback` if the node lacks it.
pub(super) fn position_of(node: &Node, keyword: &str, fallback: Span) -> Span {
    node.entry(keyword).map_or(fallback, |entry| entry.key.span)
}

fn compare_operation_ids(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    before: OperationNode<'_, '_>,
    after: OperationNode<'_, '_>,
) {
    let id = |node: &Node| node.get("operationId").and_then(Node::as_str).map(str::to_owned);
    let positions = Positions::new(
        position_of(before.node, "operationId", before.span),
        position_of(after.node, "operationId", after.span),
    );
    let (old_id, new_id) = (id(before.node), id(after.node));
    if old_id == new_id {
        return;
    }
    if let Some(old_id) = old_id {
        let message = match &new_id {
            Some(new_id) => format!("the operationId changed from `{old_id}` to `{new_id}`"),
            None => format!("the operationId `{old_id}` was removed"),
        };
        comparison.report("api-operation-id-removed", operation_path, positions, &old_id, message);
    } else if let Some(new_id) = new_id {
        comparison.report(
            "api-operation-id-added",
            operation_path,
            positions,
            &new_id,
            format!("the operationId `{new_id}` was added"),
        );
    }
}

fn compare_tags(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    before: OperationNode<'_, '_>,
    after: OperationNode<'_, '_>,
) {
    let list = |node: &Node| -> Vec<String> {
        let items = node.get("tags").and_then(Node::items).unwrap_or_default();
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let (old, new) = (list(before.node), list(after.node));
    let positions = Positions::new(
        position_of(before.node, "tags", before.span),
        position_of(after.node, "tags", after.span),
    );
    let tags = match_by_key(&old, &new, String::as_str);
    for tag in tags.removed {
        comparison.report(
            "api-tag-removed",
            operation_path,
            positions,
            tag,
            format!("the tag `{tag}` was removed"),
        );
    }
    for tag in tags.added {
        comparison.report(
            "api-tag-added",
            operation_path,
            positions,
            tag,
            format!("the tag `{tag}` was added"),
        );
    }
}

/// Reports changes of keywords for which `is_known` returns false, except annotations and extensions. A keyword that a
/// document lacks is reported at the position in `positions`.
pub(super) fn compare_unknown_keywords(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    base: &Node,
    revision: &Node,
    positions: (Span, Span),
    is_known: impl Fn(&str) -> bool,
) {
    let bases = base.entries().unwrap_or_default();
    let revisions = revision.entries().unwrap_or_default();
    let added = revisions.iter().filter(|entry| base.entry(&entry.key.text).is_none());
    for entry in bases.iter().chain(added) {
        let key = entry.key.text.as_str();
        if is_known(key) || is_annotation(key) {
            continue;
        }
        let (before, after) = (base.entry(key), revision.entry(key));
        let is_same = matches!((before, after), (Some(before), Some(after)) if value::is_equal(&before.value, &after.value));
        if !is_same {
            let span = |entry: Option<&Entry>, fallback| entry.map_or(fallback, |entry| entry.key.span);
            let positions = Positions::new(span(before, positions.0), span(after, positions.1));
            let text =
                |entry: Option<&Entry>| entry.map(|entry| value::text(&entry.value)).unwrap_or_default();
            let details = format!("{key} {} {}", text(before), text(after));
            let message = format!("`{key}` changed, and no rule covers this keyword");
            comparison.report("unclassified-change", operation_path, positions, &details, message);
        }
    }
}
