//! Where an operation is served: its own servers, or those of its path, or those of the document.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matched::by_key;
use super::operations::Operation;
use super::{Comparison, Places, Use};
use crate::rule::{Mirror, Rule};
use crate::schema::{is_annotation, value};

/// The rules of this family.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("api-server-added", Mirror::Of("api-server-removed")),
    Rule::error(
        "api-server-removed",
        Mirror::Of("api-server-added"),
        "A client that calls this address is not answered.",
        "Keep the address beside the new one, and answer there.",
    ),
    Rule::error(
        "api-server-variables-changed",
        Mirror::Of("api-server-variables-changed"),
        "A client that fills in the address as it did may reach nothing.",
        "Keep the variables, their values and their defaults; add a server beside it.",
    ),
    Rule::info("api-server-variables-extended", Mirror::Of("api-server-variables-changed")),
];

/// A server by its address.
struct Server<'n> {
    url: &'n str,
    at: Span,
    variables: Option<&'n Node>,
}

/// Compares where an operation is served. A webhook is served by its receiver.
pub(super) fn compare(on: &mut Comparison<'_>, at: &Rc<Use>, was: Operation<'_, '_>, now: Operation<'_, '_>) {
    if at.flipped {
        return;
    }
    let (base, base_at) = effective(&on.base.document.root, was);
    let (revision, revision_at) = effective(&on.revision.document.root, now);
    lists(on, at, (base, base_at), (revision, revision_at));
}

/// The servers of an operation, and where they are named.
fn effective<'n>(root: &'n Node, operation: Operation<'_, 'n>) -> (Vec<Server<'n>>, Span) {
    let head = Span { start: root.span.start, end: root.span.start };
    let owners = [operation.node.entry("servers"), operation.item.entry("servers"), root.entry("servers")];
    for owner in owners.into_iter().flatten() {
        if let Some(servers) = of(&owner.value).filter(|servers| !servers.is_empty()) {
            return (servers, owner.key.span);
        }
    }
    // A document without servers is served where it was found.
    (vec![Server { url: "/", at: head, variables: None }], head)
}

/// The servers of a list.
fn of(list: &Node) -> Option<Vec<Server<'_>>> {
    let servers = list.items()?.iter().filter_map(|item| {
        let url = item.entry("url")?;
        Some(Server { url: url.value.as_str()?, at: url.key.span, variables: item.get("variables") })
    });
    Some(servers.collect())
}

fn lists(
    on: &mut Comparison<'_>,
    at: &Rc<Use>,
    (was, was_at): (Vec<Server<'_>>, Span),
    (now, now_at): (Vec<Server<'_>>, Span),
) {
    let servers = by_key(&was, &now, |server| server.url.trim_end_matches('/'));
    for (server, other) in servers.stayed {
        let (id, what) = match variables(server.variables, other.variables) {
            Variables::Same => continue,
            Variables::Extended => ("api-server-variables-extended", "take more values"),
            Variables::Changed => ("api-server-variables-changed", "changed"),
        };
        let places = Places::new(server.at, other.at);
        let message = format!("the variables of the server `{}` {what}", server.url);
        on.raise(id, at, places, server.url, message);
    }
    for server in servers.gone {
        let places = Places::new(server.at, now_at);
        let message = format!("the server `{}` was removed", server.url);
        on.raise("api-server-removed", at, places, server.url, message);
    }
    for server in servers.came {
        let places = Places::new(was_at, server.at);
        let message = format!("the server `{}` was added", server.url);
        on.raise("api-server-added", at, places, server.url, message);
    }
}

/// What became of the variables of an address; the worst comes last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Variables {
    Same,
    /// Whoever fills in what could be filled in still may.
    Extended,
    Changed,
}

fn variables(was: Option<&Node>, now: Option<&Node>) -> Variables {
    fn entries(node: Option<&Node>) -> &[Entry] {
        node.and_then(Node::entries).unwrap_or_default()
    }
    let matched = by_key(entries(was), entries(now), |entry| &entry.key.text);
    if !(matched.gone.is_empty() && matched.came.is_empty()) {
        return Variables::Changed;
    }
    let became = matched.stayed.iter().map(|(was, now)| variable(&was.value, &now.value));
    became.max().unwrap_or(Variables::Same)
}

fn variable(was: &Node, now: &Node) -> Variables {
    let without = |node: &Node| {
        let counts = |entry: &&Entry| entry.key.text != "enum" && !is_annotation(&entry.key.text);
        let left = node.entries().unwrap_or_default().iter().filter(counts).cloned();
        Node::made(Value::Mapping(left.collect()))
    };
    if !value::same(&without(was), &without(now)) {
        return Variables::Changed;
    }
    let holds = |list: &[Node], item: &Node| list.iter().any(|other| value::same(other, item));
    match (was.get("enum").and_then(Node::items), now.get("enum").and_then(Node::items)) {
        (None, None) => Variables::Same,
        (Some(_), None) => Variables::Extended,
        (None, Some(_)) => Variables::Changed,
        (Some(was), Some(now)) if was.iter().any(|item| !holds(now, item)) => Variables::Changed,
        (Some(was), Some(now)) if now.iter().any(|item| !holds(was, item)) => Variables::Extended,
        (Some(_), Some(_)) => Variables::Same,
    }
}
