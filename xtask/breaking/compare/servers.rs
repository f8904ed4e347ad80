//! Compares the servers of an operation: its own, those of its path item, or those of the document.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matching::by_key;
use super::operations::OperationNode;
use super::{Comparison, OperationPath, Positions};
use crate::rule::{Inverse, Rule};
use crate::schema::{is_annotation, value};

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("api-server-added", Inverse::Of("api-server-removed")),
    Rule::error(
        "api-server-removed",
        Inverse::Of("api-server-added"),
        "Requests to this URL fail.",
        "Keep the URL working, and add the new one.",
    ),
    Rule::error(
        "api-server-variables-changed",
        Inverse::Of("api-server-variables-changed"),
        "Clients that fill in the old variables may send requests to a wrong URL.",
        "Keep the variables, their values and their defaults, and add a new server.",
    ),
    Rule::info("api-server-variables-extended", Inverse::Of("api-server-variables-changed")),
];

/// A server.
struct ApiServer<'n> {
    url: &'n str,
    at: Span,
    variables: Option<&'n Node>,
}

/// Compares the servers of an operation. Webhooks are skipped, because their receivers define the URL.
pub(super) fn compare(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    before: OperationNode<'_, '_>,
    after: OperationNode<'_, '_>,
) {
    if at.is_outgoing {
        return;
    }
    let (base, base_at) = effective(&comparison.base.document.root, before);
    let (revision, revision_at) = effective(&comparison.revision.document.root, after);
    compare_lists(comparison, at, (base, base_at), (revision, revision_at));
}

/// Returns the servers of an operation and their position.
fn effective<'n>(root: &'n Node, operation: OperationNode<'_, 'n>) -> (Vec<ApiServer<'n>>, Span) {
    let head = Span { start: root.span.start, end: root.span.start };
    let owners = [operation.node.entry("servers"), operation.item.entry("servers"), root.entry("servers")];
    for owner in owners.into_iter().flatten() {
        if let Some(servers) = of(&owner.value).filter(|servers| !servers.is_empty()) {
            return (servers, owner.key.span);
        }
    }
    // Without `servers`, the URL is relative to that of the document.
    (vec![ApiServer { url: "/", at: head, variables: None }], head)
}

/// Parses a list of servers.
fn of(list: &Node) -> Option<Vec<ApiServer<'_>>> {
    let servers = list.items()?.iter().filter_map(|item| {
        let url = item.entry("url")?;
        Some(ApiServer { url: url.value.as_str()?, at: url.key.span, variables: item.get("variables") })
    });
    Some(servers.collect())
}

fn compare_lists(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    (before, was_at): (Vec<ApiServer<'_>>, Span),
    (after, now_at): (Vec<ApiServer<'_>>, Span),
) {
    let servers = by_key(&before, &after, |server| server.url.trim_end_matches('/'));
    for (server, other) in servers.common {
        let (id, what) = match variables(server.variables, other.variables) {
            VariablesChange::Unchanged => continue,
            VariablesChange::Extended => ("api-server-variables-extended", "accept more values"),
            VariablesChange::Changed => ("api-server-variables-changed", "changed"),
        };
        let positions = Positions::new(server.at, other.at);
        let message = format!("the variables of the server `{}` {what}", server.url);
        comparison.report(id, at, positions, server.url, message);
    }
    for server in servers.removed {
        let positions = Positions::new(server.at, now_at);
        let message = format!("the server `{}` was removed", server.url);
        comparison.report("api-server-removed", at, positions, server.url, message);
    }
    for server in servers.added {
        let positions = Positions::new(was_at, server.at);
        let message = format!("the server `{}` was added", server.url);
        comparison.report("api-server-added", at, positions, server.url, message);
    }
}

/// The change of a server's variables, from harmless to breaking.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum VariablesChange {
    Unchanged,
    /// All old values remain valid.
    Extended,
    Changed,
}

fn variables(before: Option<&Node>, after: Option<&Node>) -> VariablesChange {
    fn entries(node: Option<&Node>) -> &[Entry] {
        node.and_then(Node::entries).unwrap_or_default()
    }
    let matched = by_key(entries(before), entries(after), |entry| &entry.key.text);
    if !(matched.removed.is_empty() && matched.added.is_empty()) {
        return VariablesChange::Changed;
    }
    let became = matched.common.iter().map(|(before, after)| variable(&before.value, &after.value));
    became.max().unwrap_or(VariablesChange::Unchanged)
}

fn variable(before: &Node, after: &Node) -> VariablesChange {
    let without = |node: &Node| {
        let counts = |entry: &&Entry| entry.key.text != "enum" && !is_annotation(&entry.key.text);
        let left = node.entries().unwrap_or_default().iter().filter(counts).cloned();
        Node::without_span(Value::Mapping(left.collect()))
    };
    if !value::is_equal(&without(before), &without(after)) {
        return VariablesChange::Changed;
    }
    let contains = |list: &[Node], item: &Node| list.iter().any(|other| value::is_equal(other, item));
    match (before.get("enum").and_then(Node::items), after.get("enum").and_then(Node::items)) {
        (None, None) => VariablesChange::Unchanged,
        (Some(_), None) => VariablesChange::Extended,
        (None, Some(_)) => VariablesChange::Changed,
        (Some(before), Some(after)) if before.iter().any(|item| !contains(after, item)) => {
            VariablesChange::Changed
        }
        (Some(before), Some(after)) if after.iter().any(|item| !contains(before, item)) => {
            VariablesChange::Extended
        }
        (Some(_), Some(_)) => VariablesChange::Unchanged,
    }
}
