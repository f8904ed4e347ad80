//! Compares responses: statuses, headers, links and bodies.
//!
//! In a webhook the receiver responds: a removed status is a response that the server no longer accepts, and response headers
//! are read by the server.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matching::by_key;
use super::operations::{OperationNode, compare_unknown_keywords, position_of};
use super::{Comparison, OperationPath, Origin, Positions, bodies, content, lifecycle, parameters};
use crate::document::IndexedDocument;
use crate::rule::{Direction, Inverse, Level, Rule, SchemaSite};
use crate::schema::{is_annotation, value};

const NO_HEADER: &str = "Clients that read the header fail.";
const KEEP_HEADER: &str = "Keep sending the header.";

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "response-success-status-removed",
        Inverse::Of("response-success-status-added"),
        "Clients that expect this status treat another one as a failure.",
        "Keep responding with this status.",
    ),
    Rule::info("response-success-status-added", Inverse::Of("response-success-status-removed")),
    Rule::info("response-non-success-status-removed", Inverse::Of("response-non-success-status-added")),
    Rule::info("response-non-success-status-added", Inverse::Of("response-non-success-status-removed")),
    Rule::error(
        "webhook-response-status-removed",
        Inverse::Of("webhook-response-status-added"),
        "Responses of receivers with this status are no longer accepted.",
        "Keep accepting the status.",
    ),
    Rule::info("webhook-response-status-added", Inverse::Of("webhook-response-status-removed")),
    Rule::error(
        "required-response-header-removed",
        Inverse::Of("response-header-added"),
        NO_HEADER,
        KEEP_HEADER,
    ),
    Rule::warning(
        "optional-response-header-removed",
        Inverse::Of("response-header-added"),
        "Clients that read the optional header no longer receive it.",
        KEEP_HEADER,
    ),
    Rule::info("response-header-added", Inverse::Of("optional-response-header-removed")),
    Rule::error(
        "response-header-explode-changed",
        Inverse::Of("response-header-explode-changed"),
        "Clients misinterpret the header when they parse the old serialization.",
        "Keep the serialization, and send the new one in another header.",
    ),
    Rule::error(
        "response-header-serialization-changed",
        Inverse::Of("response-header-serialization-changed"),
        "Clients misinterpret the header when they parse the old serialization.",
        "Keep the serialization, and send the new one in another header.",
    ),
    Rule::warning(
        "response-link-removed",
        Inverse::Of("response-link-added"),
        "Clients that follow the link fail.",
        "Keep the link.",
    ),
    Rule::info("response-link-added", Inverse::Of("response-link-removed")),
    Rule::warning(
        "response-link-changed",
        Inverse::Of("response-link-changed"),
        "Clients that follow the link call another operation.",
        "Keep the link, and add a new one.",
    ),
];

/// Compares the responses of an operation.
pub(super) fn compare<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    before: OperationNode<'_, 'n>,
    after: OperationNode<'_, 'n>,
) {
    let entries = |node: &'n Node| node.get("responses").and_then(Node::entries).unwrap_or_default();
    let (bases, revisions) = (entries(before.node), entries(after.node));
    let parents = Positions::new(
        position_of(before.node, "responses", before.at),
        position_of(after.node, "responses", after.at),
    );
    let statuses = |entry: &&Entry| !entry.key.text.starts_with("x-");
    for entry in bases.iter().filter(statuses) {
        let status = &entry.key.text;
        // The remaining statuses of a range are compared below, each on its own; `default` does not cover a success.
        if let Some(left) =
            first_in_range(revisions, status).filter(|_| !at.is_outgoing && is_success(status))
        {
            let positions = Positions::new(entry.key.span, left.key.span);
            let message = format!("of {status}, only the listed statuses remain");
            comparison.report_with_level(
                Level::Info,
                "response-success-status-removed",
                at,
                positions,
                status,
                message,
            );
            continue;
        }
        if let Some(other) = covering_response(revisions, status) {
            response(comparison, at, entry, other);
        }
        if exact_response(revisions, status).is_none() {
            let id = match (at.is_outgoing, is_success(status)) {
                (true, _) => "webhook-response-status-removed",
                (false, true) => "response-success-status-removed",
                (false, false) => "response-non-success-status-removed",
            };
            // `default` covers failures only; a success is covered by its own status or its range.
            let is_covered = covering_response(revisions, status)
                .is_some_and(|entry| !is_success(status) || entry.key.text != "default");
            // A removed failure status is reported to clients that read it, but receivers that respond with it keep working.
            if !is_covered || !(at.is_outgoing || is_success(status)) {
                let positions = Positions::new(entry.key.span, parents.revision);
                comparison.report(id, at, positions, status, format!("the status {status} was removed"));
            }
        }
    }
    for entry in
        revisions.iter().filter(statuses).filter(|entry| exact_response(bases, &entry.key.text).is_none())
    {
        let status = &entry.key.text;
        // A range or `default` covered the status before.
        if let Some(other) = covering_response(bases, status) {
            response(comparison, at, other, entry);
        }
        let id = match (at.is_outgoing, is_success(status)) {
            (true, _) => "webhook-response-status-added",
            (false, true) => "response-success-status-added",
            (false, false) => "response-non-success-status-added",
        };
        let positions = Positions::new(parents.base, entry.key.span);
        comparison.report(id, at, positions, status, format!("the status {status} was added"));
    }
}

fn exact_response<'n>(entries: &'n [Entry], status: &str) -> Option<&'n Entry> {
    entries.iter().find(|entry| entry.key.text.eq_ignore_ascii_case(status))
}

/// Returns the response that covers a status: its own, that of its range, or `default`.
fn covering_response<'n>(entries: &'n [Entry], status: &str) -> Option<&'n Entry> {
    let range = format!("{}XX", status.get(..1).unwrap_or_default());
    let range = || if status == "default" { None } else { exact_response(entries, &range) };
    exact_response(entries, status).or_else(range).or_else(|| exact_response(entries, "default"))
}

/// Returns the first status of a range that the revision lacks as a whole.
fn first_in_range<'n>(entries: &'n [Entry], status: &str) -> Option<&'n Entry> {
    let range = status.get(..1).filter(|_| status[1..].eq_ignore_ascii_case("XX"))?;
    let in_range = |entry: &&Entry| entry.key.text.starts_with(range);
    if exact_response(entries, status).is_some() { None } else { entries.iter().find(in_range) }
}

fn is_success(status: &str) -> bool {
    status.starts_with('2') || status.starts_with('3')
}

fn response<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    before: &'n Entry,
    after: &'n Entry,
) {
    let (base, base_at) = comparison.base.follow_from(&before.value, before.key.span);
    let (revision, revision_at) = comparison.revision.follow_from(&after.value, after.key.span);
    if comparison.unchanged().nodes(base, revision) {
        return;
    }
    let at = &at.step(&before.key.text);
    let direction = if at.is_outgoing { Direction::Request } else { Direction::Response };
    let spans = (base_at, revision_at);
    bodies::compare_contents(comparison, at, (base, spans.0), (revision, spans.1), direction);
    headers(comparison, at, (base, spans.0), (revision, spans.1));
    links(comparison, at, (base, spans.0), (revision, spans.1));
    compare_unknown_keywords(comparison, at, base, revision, spans, |key| {
        ["content", "headers", "links"].contains(&key)
    });
}

fn headers<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    base: (&'n Node, Span),
    revision: (&'n Node, Span),
) {
    let entries = |node: &'n Node| node.get("headers").and_then(Node::entries).unwrap_or_default();
    // OpenAPI ignores `Content-Type` here; the media types of the body define it.
    let is_not_content_type = |entry: &&Entry| !entry.key.text.eq_ignore_ascii_case("Content-Type");
    let parents = Positions::new(
        position_of(base.0, "headers", base.1),
        position_of(revision.0, "headers", revision.1),
    );
    let headers = by_key(entries(base.0), entries(revision.0), |entry| entry.key.text.to_ascii_lowercase());
    let header = if at.is_outgoing { parameters::compare_as_request_header } else { header };
    for (entry, other) in headers.common.into_iter().filter(|(entry, _)| is_not_content_type(entry)) {
        let before = HeaderUse::of(&comparison.base, &entry.value, entry.key.span);
        let after = HeaderUse::of(&comparison.revision, &other.value, other.key.span);
        header(comparison, at, &entry.key.text, Some(before), Some(after), parents);
    }
    for entry in headers.removed.into_iter().filter(is_not_content_type) {
        let before = HeaderUse::of(&comparison.base, &entry.value, entry.key.span);
        header(comparison, at, &entry.key.text, Some(before), None, parents);
    }
    for entry in headers.added.into_iter().filter(is_not_content_type) {
        let after = HeaderUse::of(&comparison.revision, &entry.value, entry.key.span);
        header(comparison, at, &entry.key.text, None, Some(after), parents);
    }
}

/// A response header.
#[derive(Clone, Copy)]
pub(super) struct HeaderUse<'n> {
    /// The node of the header.
    pub node: &'n Node,
    /// The position of its use.
    pub used_at: Span,
    /// The position of its definition.
    pub defined_at: Span,
}

impl<'n> HeaderUse<'n> {
    fn of(side: &IndexedDocument<'n>, node: &'n Node, used_at: Span) -> Self {
        let (node, defined_at) = side.follow_from(node, used_at);
        Self { node, used_at, defined_at }
    }
}

/// Compares a header that the server sends.
pub(super) fn header<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    name: &'n str,
    before: Option<HeaderUse<'n>>,
    after: Option<HeaderUse<'n>>,
    parents: Positions,
) {
    let (before, after) = match (before, after) {
        (None, None) => return,
        (None, Some(after)) => {
            let positions = Positions::new(parents.base, after.used_at);
            comparison.report(
                "response-header-added",
                at,
                positions,
                name,
                format!("the header `{name}` was added"),
            );
            return;
        }
        (Some(before), None) => {
            let id = if is_true(before.node, "required") { "required" } else { "optional" };
            let positions = Positions::new(before.used_at, parents.revision);
            let id = format!("{id}-response-header-removed");
            let message = format!("the header `{name}` was removed");
            match lifecycle::removal_status(before.node, comparison.today) {
                lifecycle::RemovalStatus::Announced => {
                    comparison.report_with_level(Level::Info, &id, at, positions, name, message)
                }
                _ => comparison.report(&id, at, positions, name, message),
            }
            return;
        }
        (Some(before), Some(after)) => (before, after),
    };
    compare_both(comparison, at, name, before, after);
}

/// Keywords of a header that are compared elsewhere.
const KNOWN: [&str; 8] = ["required", "schema", "content", "explode", "name", "in", "deprecated", "x-sunset"];

fn compare_both<'n>(
    comparison: &mut Comparison<'n>,
    at: &Rc<OperationPath>,
    name: &str,
    before: HeaderUse<'n>,
    after: HeaderUse<'n>,
) {
    if comparison.unchanged().nodes(before.node, after.node) {
        return;
    }
    let at = &at.step(&format!("header {name}"));
    let positions = |keyword| {
        Positions::new(
            position_of(before.node, keyword, before.defined_at),
            position_of(after.node, keyword, after.defined_at),
        )
    };
    match (is_true(before.node, "required"), is_true(after.node, "required")) {
        (true, false) => {
            let message = format!("the header `{name}` became optional");
            comparison.report_schema_change_at(
                SchemaSite::ResponseHeader,
                "became-optional",
                at,
                positions("required"),
                "",
                message,
            );
        }
        (false, true) => {
            let message = format!("the header `{name}` became required");
            comparison.report_schema_change_at(
                SchemaSite::ResponseHeader,
                "became-required",
                at,
                positions("required"),
                "",
                message,
            );
        }
        _ => {}
    }
    if is_true(before.node, "explode") != is_true(after.node, "explode") {
        let message = format!("`explode` of the header `{name}` changed");
        comparison.report("response-header-explode-changed", at, positions("explode"), name, message);
    }
    let (base, revision) = ((before.node, before.defined_at), (after.node, after.defined_at));
    if let Some((details, positions)) = content::serialization(base, revision) {
        let message = format!("the serialization of the header `{name}` changed from {details}");
        comparison.report("response-header-serialization-changed", at, positions, &details, message);
    }
    lifecycle::compare_header(comparison, at, base, revision);
    comparison.queue(
        content::schema(base),
        content::schema(revision),
        SchemaSite::ResponseHeader,
        Origin::Operation(Rc::clone(at)),
    );
    let unchanged = |key: &str| match key {
        "style" => style(before.node) == style(after.node),
        "allowReserved" | "allowEmptyValue" => is_true(before.node, key) == is_true(after.node, key),
        _ => false,
    };
    compare_unknown_keywords(
        comparison,
        at,
        before.node,
        after.node,
        (before.defined_at, after.defined_at),
        |key| KNOWN.contains(&key) || unchanged(key),
    );
}

fn is_true(node: &Node, keyword: &str) -> bool {
    matches!(node.get(keyword).map(|flag| &flag.value), Some(Value::Bool(true)))
}

/// Returns the style of a header. A webhook can also have query parameters.
fn style(node: &Node) -> &str {
    let in_query = matches!(node.get("in").and_then(Node::as_str), Some("query" | "cookie"));
    let default_style = if in_query { "form" } else { "simple" };
    node.get("style").and_then(Node::as_str).unwrap_or(default_style)
}

fn links(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    base: (&Node, Span),
    revision: (&Node, Span),
) {
    let positions =
        Positions::new(position_of(base.0, "links", base.1), position_of(revision.0, "links", revision.1));
    let bases = base.0.get("links").and_then(Node::entries).unwrap_or_default();
    let revisions = revision.0.get("links").and_then(Node::entries).unwrap_or_default();
    let links = by_key(bases, revisions, |entry| &entry.key.text);
    for (entry, other) in links.common {
        let (before, was_at) = comparison.base.follow_from(&entry.value, entry.key.span);
        let (after, now_at) = comparison.revision.follow_from(&other.value, other.key.span);
        if !is_same_link(before, after) {
            let name = &entry.key.text;
            let positions = Positions::new(was_at, now_at);
            comparison.report(
                "response-link-changed",
                at,
                positions,
                name,
                format!("the link `{name}` changed"),
            );
        }
    }
    for entry in links.removed {
        let name = &entry.key.text;
        let positions = Positions::new(entry.key.span, positions.revision);
        comparison.report(
            "response-link-removed",
            at,
            positions,
            name,
            format!("the link `{name}` was removed"),
        );
    }
    for entry in links.added {
        let name = &entry.key.text;
        let positions = Positions::new(positions.base, entry.key.span);
        comparison.report("response-link-added", at, positions, name, format!("the link `{name}` was added"));
    }
}

/// Whether two links are equal, except for annotations.
fn is_same_link(before: &Node, after: &Node) -> bool {
    let link_fields = |node: &Node| {
        let entries = node.entries().unwrap_or_default().iter();
        let link_fields = entries.filter(|entry| !is_annotation(&entry.key.text)).cloned();
        Node::without_span(Value::Mapping(link_fields.collect()))
    };
    value::is_equal(&link_fields(before), &link_fields(after))
}
