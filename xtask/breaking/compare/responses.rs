//! Compares responses: statuses, headers, links and bodies.
//!
//! The response to a webhook or callback comes from the receiver: a removed status is one that the server no longer
//! accepts, and the server reads the headers.

use std::rc::Rc;

use contract::node::{Entry, Node};
use contract::source::Span;

use super::matching::match_by_key;
use super::operations::{OperationNode, compare_unknown_keywords, position_of};
use super::{Comparison, OperationPath, Positions, bodies, response_headers};
use crate::rule::{Direction, Inverse, Level, Rule};
use crate::schema::is_same_object;

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
    response_headers::compare_headers(
        comparison,
        operation_path,
        base_and_span,
        revision_and_span,
        direction,
    );
    compare_links(comparison, operation_path, base_and_span, revision_and_span);
    compare_unknown_keywords(comparison, operation_path, base, revision, (base_span, revision_span), |key| {
        ["content", "headers", "links"].contains(&key)
    });
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
        if !is_same_object(before, after) {
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
