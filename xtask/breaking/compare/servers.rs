//! Compares the servers of an operation: those that it declares, or else those of its path item or of the document.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::api::without_parameter_names;
use super::matching::match_by_key;
use super::operations::OperationNode;
use super::urls::normalized_url;
use super::{Comparison, OperationPath, Positions};
use crate::rule::{Inverse, Rule};
use crate::schema::is_same_object;
use crate::schema::value::ValueSet;

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
    /// The address of the operation: the URL of the server and the path, without the names of parameters.
    address: String,
    /// The position of `url`.
    span: Span,
    variables: Option<&'n Node>,
}

/// Returns the servers of a document, or `None` if it has none.
pub(super) fn of_document(root: &Node) -> Option<&Node> {
    root.get("servers").filter(|servers| servers.items().is_some_and(|items| !items.is_empty()))
}

/// Returns the addresses of a path, without the names of its parameters. Returns the path itself if the document has no
/// `servers`. With `without_host`, the scheme and the host are left out.
pub(super) fn addresses(root: &Node, path: &str, without_host: bool) -> BTreeSet<String> {
    let servers = root.get("servers").and_then(|list| parse_servers(list, path)).unwrap_or_default();
    let addresses = servers.into_iter().map(|server| match server.address.split_once("://") {
        Some((_, rest)) if without_host => rest.find('/').map_or("/", |start| &rest[start..]).to_owned(),
        _ => server.address,
    });
    let addresses: BTreeSet<String> = addresses.collect();
    if addresses.is_empty() { BTreeSet::from([without_parameter_names(path)]) } else { addresses }
}

/// Returns the URL of a server and a path, without the names of parameters. It is the same for equal URLs.
fn address(url: &str, path: &str) -> String {
    format!("{}{}", normalized_url(url).trim_end_matches('/'), without_parameter_names(path))
}

/// Compares the servers of an operation. Webhooks and callbacks are skipped, because their receivers define the URL.
pub(super) fn compare(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    before: OperationNode<'_, '_>,
    after: OperationNode<'_, '_>,
) {
    if operation_path.is_outgoing {
        return;
    }
    let (base, base_span) = effective_servers(&comparison.base.document.root, before);
    let (revision, revision_span) = effective_servers(&comparison.revision.document.root, after);
    // The first `servers` only document the URL that clients already use. If the last ones are removed, the URL is
    // relative to that of the document.
    let revision = if revision.is_empty() && !base.is_empty() {
        vec![ApiServer {
            url: "/",
            address: address("/", after.item.name),
            span: revision_span,
            variables: None,
        }]
    } else {
        revision
    };
    compare_lists(comparison, operation_path, (base, base_span), (revision, revision_span));
}

/// Returns the servers that apply to an operation, and their position. An empty list counts as missing;
/// without servers, the result is empty.
fn effective_servers<'n>(root: &'n Node, operation: OperationNode<'_, 'n>) -> (Vec<ApiServer<'n>>, Span) {
    let document_start = Span { start: root.span.start, end: root.span.start };
    let lists = [operation.node.entry("servers"), operation.item.entry("servers"), root.entry("servers")];
    for list in lists.into_iter().flatten() {
        let servers = parse_servers(&list.value, operation.item.name);
        if let Some(servers) = servers.filter(|servers| !servers.is_empty()) {
            return (servers, list.key.span);
        }
    }
    (Vec::new(), document_start)
}

/// Parses a list of servers. Returns `None` if the node is not a list.
fn parse_servers<'n>(list: &'n Node, path: &str) -> Option<Vec<ApiServer<'n>>> {
    let servers = list.items()?.iter().filter_map(|item| {
        let url = item.entry("url")?;
        let (text, span) = (url.value.as_str()?, url.key.span);
        Some(ApiServer { url: text, address: address(text, path), span, variables: item.get("variables") })
    });
    Some(servers.collect())
}

fn compare_lists(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    (before, base_span): (Vec<ApiServer<'_>>, Span),
    (after, revision_span): (Vec<ApiServer<'_>>, Span),
) {
    let servers = match_by_key(&before, &after, |server| server.address.as_str());
    let mut after_by_address = HashMap::<&str, Vec<&ApiServer<'_>>>::new();
    for server in &after {
        after_by_address.entry(&server.address).or_default().push(server);
    }
    for (before, _) in servers.common {
        // Several servers can have the same URL and different variables. The one whose variables differ least is the match.
        let same_url = after_by_address.get(before.address.as_str()).into_iter().flatten();
        let changes = same_url.map(|after| (compare_variables(before.variables, after.variables), after));
        let (change, after) = changes.min_by_key(|(change, _)| *change).expect("both lists have the URL");
        let (id, change) = match change {
            VariablesChange::Unchanged => continue,
            VariablesChange::Extended => ("api-server-variables-extended", "accept more values"),
            VariablesChange::Changed => ("api-server-variables-changed", "changed"),
        };
        let positions = Positions::new(before.span, after.span);
        let message = format!("the variables of the server `{}` {change}", before.url);
        comparison.report(id, operation_path, positions, before.url, message);
    }
    for server in servers.removed {
        let positions = Positions::new(server.span, revision_span);
        let message = format!("the server `{}` was removed", server.url);
        comparison.report("api-server-removed", operation_path, positions, server.url, message);
    }
    for server in servers.added {
        let positions = Positions::new(base_span, server.span);
        let message = format!("the server `{}` was added", server.url);
        comparison.report("api-server-added", operation_path, positions, server.url, message);
    }
}

/// The change of a server's variables, from harmless to breaking.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum VariablesChange {
    Unchanged,
    /// All old values remain valid, and more values became valid.
    Extended,
    /// Some old values are no longer valid, another keyword differs, or a variable was added or removed.
    Changed,
}

/// Compares the variables of two servers with the same URL.
fn compare_variables(before: Option<&Node>, after: Option<&Node>) -> VariablesChange {
    fn entries(node: Option<&Node>) -> &[Entry] {
        node.and_then(Node::entries).unwrap_or_default()
    }
    let matched = match_by_key(entries(before), entries(after), |entry| &entry.key.text);
    if !(matched.removed.is_empty() && matched.added.is_empty()) {
        return VariablesChange::Changed;
    }
    let changes = matched.common.iter().map(|(before, after)| compare_variable(&before.value, &after.value));
    changes.max().unwrap_or(VariablesChange::Unchanged)
}

fn compare_variable(before: &Node, after: &Node) -> VariablesChange {
    let without_enum = |node: &Node| {
        let entries = node.entries().unwrap_or_default().iter();
        Node::without_span(Value::Mapping(
            entries.filter(|entry| entry.key.text != "enum").cloned().collect(),
        ))
    };
    if !is_same_object(&without_enum(before), &without_enum(after)) {
        return VariablesChange::Changed;
    }
    let contains_all = |list: &[Node], items: &[Node]| ValueSet::of(list).contains_all(items);
    match (before.get("enum").and_then(Node::items), after.get("enum").and_then(Node::items)) {
        (None, None) => VariablesChange::Unchanged,
        (Some(_), None) => VariablesChange::Extended,
        (None, Some(_)) => VariablesChange::Changed,
        (Some(before), Some(after)) if !contains_all(after, before) => VariablesChange::Changed,
        (Some(before), Some(after)) if !contains_all(before, after) => VariablesChange::Extended,
        (Some(_), Some(_)) => VariablesChange::Unchanged,
    }
}
