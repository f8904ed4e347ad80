//! Compares responses: statuses, headers, links and bodies.
//!
//! The response to a webhook or callback comes from the receiver: a removed status is one that the server no longer
//! accepts, and the server reads the headers.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matching::match_by_key;
use super::operations::{OperationNode, compare_unknown_keywords, position_of};
use super::{Comparison, OperationPath, Origin, Positions, bodies, content, lifecycle, parameters};
use crate::document::IndexedDocument;
use crate::rule::{Direction, Inverse, Level, Rule, SchemaSite};
use crate::schema::{is_annotation, value};

const CLIENTS_MISS_HEADER: &str = "Clients that read the header fail.";
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
        CLIENTS_MISS_HEADER,
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
        "Clients that expect the old serialization misinterpret the header.",
        "Keep the serialization, and send the new one in another header.",
    ),
    Rule::error(
        "response-header-serialization-changed",
        Inverse::Of("response-header-serialization-changed"),
        "Clients that expect the old serialization misinterpret the header.",
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
    operation_path: &Rc<OperationPath>,
    before: OperationNode<'_, 'n>,
    after: OperationNode<'_, 'n>,
) {
    let entries = |node: &'n Node| node.get("responses").and_then(Node::entries).unwrap_or_default();
    let (bases, revisions) = (entries(before.node), entries(after.node));
    let parent_positions = Positions::new(
        position_of(before.node, "responses", before.span),
        position_of(after.node, "responses", after.span),
    );
    let is_status = |entry: &&Entry| !entry.key.text.starts_with("x-");
    for entry in bases.iter().filter(is_status) {
        let status = &entry.key.text;
        // Of a removed range, the statuses that remain are compared below. The range is not compared with `default`,
        // which does not cover a success.
        if let Some(first_remaining) = first_of_removed_range(revisions, status)
            .filter(|_| !operation_path.is_outgoing && is_success(status))
        {
            let positions = Positions::new(entry.key.span, first_remaining.key.span);
            let message = format!("of {status}, only the listed statuses remain");
            comparison.report_with_level(
                Level::Info,
                "response-success-status-removed",
                operation_path,
                positions,
                status,
                message,
            );
            continue;
        }
        if let Some(after) = covering_response(revisions, status) {
            compare_response(comparison, operation_path, entry, after);
        }
        if exact_response(revisions, status).is_none() {
            let id = match (operation_path.is_outgoing, is_success(status)) {
                (true, _) => "webhook-response-status-removed",
                (false, true) => "response-success-status-removed",
                (false, false) => "response-non-success-status-removed",
            };
            // `default` covers failures only; a success is covered by its own status or its range.
            let is_covered = covering_response(revisions, status)
                .is_some_and(|entry| !is_success(status) || entry.key.text != "default");
            // Clients may read a removed failure status even if `default` covers it, so it is reported. Receivers that
            // respond with a covered status keep working.
            if !is_covered || !(operation_path.is_outgoing || is_success(status)) {
                let positions = Positions::new(entry.key.span, parent_positions.revision);
                comparison.report(
                    id,
                    operation_path,
                    positions,
                    status,
                    format!("the status {status} was removed"),
                );
            }
        }
    }
    for entry in
        revisions.iter().filter(is_status).filter(|entry| exact_response(bases, &entry.key.text).is_none())
    {
        let status = &entry.key.text;
        // If a range or `default` covered the status before, its response is compared with the new one.
        if let Some(before) = covering_response(bases, status) {
            compare_response(comparison, operation_path, before, entry);
        }
        let id = match (operation_path.is_outgoing, is_success(status)) {
            (true, _) => "webhook-response-status-added",
            (false, true) => "response-success-status-added",
            (false, false) => "response-non-success-status-added",
        };
        let positions = Positions::new(parent_positions.base, entry.key.span);
        comparison.report(id, operation_path, positions, status, format!("the status {status} was added"));
    }
}

fn exact_response<'n>(entries: &'n [Entry], status: &str) -> Option<&'n Entry> {
    entries.iter().find(|entry| entry.key.text.eq_ignore_ascii_case(status))
}

/// Returns the response that covers a status: that of the status itself, that of its range (such as `2XX`), or
/// `default`.
fn covering_response<'n>(entries: &'n [Entry], status: &str) -> Option<&'n Entry> {
    let range = format!("{}XX", status.get(..1).unwrap_or_default());
    let range = || if status == "default" { None } else { exact_response(entries, &range) };
    exact_response(entries, status).or_else(range).or_else(|| exact_response(entries, "default"))
}

/// Returns the first response with a status in a range (such as `2XX`). Returns `None` if `status` is not a range, or
/// if the entries contain the range itself.
fn first_of_removed_range<'n>(entries: &'n [Entry], status: &str) -> Option<&'n Entry> {
    let range = status.get(..1).filter(|_| status[1..].eq_ignore_ascii_case("XX"))?;
    let is_in_range = |entry: &&Entry| entry.key.text.starts_with(range);
    if exact_response(entries, status).is_some() { None } else { entries.iter().find(is_in_range) }
}

/// Whether a status or range is a success (2xx) or a redirection (3xx).
fn is_success(status: &str) -> bool {
    status.starts_with('2') || status.starts_with('3')
}

fn compare_response<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: &'n Entry,
    after: &'n Entry,
) {
    let (base, base_span) = comparison.base.follow_with_position(&before.value, before.key.span);
    let (revision, revision_span) = comparison.revision.follow_with_position(&after.value, after.key.span);
    if comparison.unchanged().are_nodes_unchanged(base, revision) {
        return;
    }
    let operation_path = &operation_path.step(&before.key.text);
    let direction = if operation_path.is_outgoing { Direction::Request } else { Direction::Response };
    let (base_and_span, revision_and_span) = ((base, base_span), (revision, revision_span));
    bodies::compare_contents(comparison, operation_path, base_and_span, revision_and_span, direction);
    compare_headers(comparison, operation_path, base_and_span, revision_and_span);
    compare_links(comparison, operation_path, base_and_span, revision_and_span);
    compare_unknown_keywords(comparison, operation_path, base, revision, (base_span, revision_span), |key| {
        ["content", "headers", "links"].contains(&key)
    });
}

fn compare_headers<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    base: (&'n Node, Span),
    revision: (&'n Node, Span),
) {
    let entries = |node: &'n Node| node.get("headers").and_then(Node::entries).unwrap_or_default();
    // OpenAPI ignores `Content-Type` here; the media types of the body define it.
    let is_not_content_type = |entry: &&Entry| !entry.key.text.eq_ignore_ascii_case("Content-Type");
    let parent_positions = Positions::new(
        position_of(base.0, "headers", base.1),
        position_of(revision.0, "headers", revision.1),
    );
    let headers =
        match_by_key(entries(base.0), entries(revision.0), |entry| entry.key.text.to_ascii_lowercase());
    let compare_header =
        if operation_path.is_outgoing { parameters::compare_as_request_header } else { compare_header };
    for (base, revision) in headers.common.into_iter().filter(|(base, _)| is_not_content_type(base)) {
        let before = HeaderUse::of(&comparison.base, &base.value, base.key.span);
        let after = HeaderUse::of(&comparison.revision, &revision.value, revision.key.span);
        compare_header(
            comparison,
            operation_path,
            &base.key.text,
            Some(before),
            Some(after),
            parent_positions,
        );
    }
    for entry in headers.removed.into_iter().filter(is_not_content_type) {
        let before = HeaderUse::of(&comparison.base, &entry.value, entry.key.span);
        compare_header(comparison, operation_path, &entry.key.text, Some(before), None, parent_positions);
    }
    for entry in headers.added.into_iter().filter(is_not_content_type) {
        let after = HeaderUse::of(&comparison.revision, &entry.value, entry.key.span);
        compare_header(comparison, operation_path, &entry.key.text, None, Some(after), parent_positions);
    }
}

/// A use of a header.
#[derive(Clone, Copy)]
pub(super) struct HeaderUse<'n> {
    /// The node of the header, with its references resolved.
    pub node: &'n Node,
    /// The position of its use.
    pub use_span: Span,
    /// The position of its definition. It differs from `use_span` if the use is a reference.
    pub definition_span: Span,
}

impl<'n> HeaderUse<'n> {
    fn of(side: &IndexedDocument<'n>, node: &'n Node, use_span: Span) -> Self {
        let (node, definition_span) = side.follow_with_position(node, use_span);
        Self { node, use_span, definition_span }
    }
}

/// Compares a header that the server sends. `None` means that the document lacks the header.
pub(super) fn compare_header<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    name: &'n str,
    before: Option<HeaderUse<'n>>,
    after: Option<HeaderUse<'n>>,
    parent_positions: Positions,
) {
    let (before, after) = match (before, after) {
        (None, None) => return,
        (None, Some(after)) => {
            let positions = Positions::new(parent_positions.base, after.use_span);
            comparison.report(
                "response-header-added",
                operation_path,
                positions,
                name,
                format!("the header `{name}` was added"),
            );
            return;
        }
        (Some(before), None) => {
            let kind = if is_true(before.node, "required") { "required" } else { "optional" };
            let positions = Positions::new(before.use_span, parent_positions.revision);
            let id = format!("{kind}-response-header-removed");
            let message = format!("the header `{name}` was removed");
            match lifecycle::removal_status(before.node, comparison.today) {
                lifecycle::RemovalStatus::Announced => {
                    comparison.report_with_level(Level::Info, &id, operation_path, positions, name, message)
                }
                _ => comparison.report(&id, operation_path, positions, name, message),
            }
            return;
        }
        (Some(before), Some(after)) => (before, after),
    };
    compare_both(comparison, operation_path, name, before, after);
}

/// Keywords of a header that are compared elsewhere.
const KNOWN_KEYWORDS: [&str; 8] =
    ["required", "schema", "content", "explode", "name", "in", "deprecated", "x-sunset"];

fn compare_both<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    name: &str,
    before: HeaderUse<'n>,
    after: HeaderUse<'n>,
) {
    if comparison.unchanged().are_nodes_unchanged(before.node, after.node) {
        return;
    }
    let operation_path = &operation_path.step(&format!("header {name}"));
    let positions = |keyword| {
        Positions::new(
            position_of(before.node, keyword, before.definition_span),
            position_of(after.node, keyword, after.definition_span),
        )
    };
    match (is_true(before.node, "required"), is_true(after.node, "required")) {
        (true, false) => {
            let message = format!("the header `{name}` became optional");
            comparison.report_by_schema_rule(
                SchemaSite::ResponseHeader,
                "became-optional",
                operation_path,
                positions("required"),
                "",
                message,
            );
        }
        (false, true) => {
            let message = format!("the header `{name}` became required");
            comparison.report_by_schema_rule(
                SchemaSite::ResponseHeader,
                "became-required",
                operation_path,
                positions("required"),
                "",
                message,
            );
        }
        _ => {}
    }
    if is_true(before.node, "explode") != is_true(after.node, "explode") {
        let message = format!("`explode` of the header `{name}` changed");
        comparison.report(
            "response-header-explode-changed",
            operation_path,
            positions("explode"),
            name,
            message,
        );
    }
    let (base, revision) = ((before.node, before.definition_span), (after.node, after.definition_span));
    if let Some((details, positions)) = content::serialization_change(base, revision) {
        let message = format!("the serialization of the header `{name}` changed from {details}");
        comparison.report(
            "response-header-serialization-changed",
            operation_path,
            positions,
            &details,
            message,
        );
    }
    lifecycle::compare_response_header(comparison, operation_path, base, revision);
    comparison.queue(
        content::schema(base),
        content::schema(revision),
        SchemaSite::ResponseHeader,
        Origin::Operation(Rc::clone(operation_path)),
    );
    let is_unchanged = |key: &str| match key {
        "style" => style(before.node) == style(after.node),
        "allowReserved" | "allowEmptyValue" => is_true(before.node, key) == is_true(after.node, key),
        _ => false,
    };
    compare_unknown_keywords(
        comparison,
        operation_path,
        before.node,
        after.node,
        (before.definition_span, after.definition_span),
        |key| KNOWN_KEYWORDS.contains(&key) || is_unchanged(key),
    );
}

fn is_true(node: &Node, keyword: &str) -> bool {
    matches!(node.get(keyword).map(|flag| &flag.value), Some(Value::Bool(true)))
}

/// Returns the style of a header, or of a query parameter or cookie of a webhook. Without the keyword, it is the
/// default style.
fn style(node: &Node) -> &str {
    let in_query = matches!(node.get("in").and_then(Node::as_str), Some("query" | "cookie"));
    let default_style = if in_query { "form" } else { "simple" };
    node.get("style").and_then(Node::as_str).unwrap_or(default_style)
}

fn compare_links(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    base: (&Node, Span),
    revision: (&Node, Span),
) {
    let positions =
        Positions::new(position_of(base.0, "links", base.1), position_of(revision.0, "links", revision.1));
    let bases = base.0.get("links").and_then(Node::entries).unwrap_or_default();
    let revisions = revision.0.get("links").and_then(Node::entries).unwrap_or_default();
    let links = match_by_key(bases, revisions, |entry| &entry.key.text);
    for (base, revision) in links.common {
        let (before, span_before) = comparison.base.follow_with_position(&base.value, base.key.span);
        let (after, span_after) =
            comparison.revision.follow_with_position(&revision.value, revision.key.span);
        if !is_same_link(before, after) {
            let name = &base.key.text;
            let positions = Positions::new(span_before, span_after);
            comparison.report(
                "response-link-changed",
                operation_path,
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
            operation_path,
            positions,
            name,
            format!("the link `{name}` was removed"),
        );
    }
    for entry in links.added {
        let name = &entry.key.text;
        let positions = Positions::new(positions.base, entry.key.span);
        comparison.report(
            "response-link-added",
            operation_path,
            positions,
            name,
            format!("the link `{name}` was added"),
        );
    }
}

/// Whether two links are equal, except for annotations.
fn is_same_link(before: &Node, after: &Node) -> bool {
    let without_annotations = |node: &Node| {
        let entries = node.entries().unwrap_or_default().iter();
        let fields = entries.filter(|entry| !is_annotation(&entry.key.text)).cloned();
        Node::without_span(Value::Mapping(fields.collect()))
    };
    value::is_equal(&without_annotations(before), &without_annotations(after))
}
