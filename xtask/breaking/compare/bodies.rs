//! Compares request and response bodies and their media types.

use std::rc::Rc;

use contract::node::{Entry, Node};
use contract::source::Span;

use super::media_types::{narrowest_covering_range, normalized_name, renamed_media_type};
use super::operations::{OperationNode, compare_unknown_keywords, position_of};
use super::serialization::is_true;
use super::{Comparison, OperationPath, Origin, PairContext, Positions, encoding, media_types};
use crate::document::IndexedDocument;
use crate::rule::{Direction, Inverse, Rule, SchemaSite};
use crate::schema::view::{SchemaParts, all_accept_everything};

const REQUEST_TYPE_REJECTED: &str = "Requests with this media type fail with 415.";
const RESPONSE_TYPE_NOT_ACCEPTED: &str =
    "Clients that accept only this media type receive no usable response.";
const KEEP_MEDIA_TYPE: &str = "Keep the media type, and add the new one.";

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "request-body-added-required",
        Inverse::Of("request-body-removed"),
        "Existing clients do not send a body, so their requests are rejected.",
        "Make the body optional (`required: false`).",
    ),
    Rule::info("request-body-added-optional", Inverse::Of("request-body-removed")),
    Rule::error(
        "request-body-removed",
        Inverse::Of("request-body-added-required"),
        "The server ignores the body that clients send.",
        "Keep accepting the body.",
    ),
    Rule::info("request-body-became-optional", Inverse::Of("request-body-became-required")),
    Rule::error(
        "request-body-became-required",
        Inverse::Of("request-body-became-optional"),
        "Requests without a body are rejected.",
        "Keep the body optional.",
    ),
    Rule::info("request-body-media-type-added", Inverse::Of("request-body-media-type-removed")),
    Rule::error(
        "request-body-media-type-removed",
        Inverse::Of("request-body-media-type-added"),
        REQUEST_TYPE_REJECTED,
        KEEP_MEDIA_TYPE,
    ),
    Rule::error(
        "request-body-media-type-schema-added",
        Inverse::Of("request-body-media-type-schema-removed"),
        "Requests that do not match the new schema are rejected.",
        "Make the schema accept all bodies that were valid.",
    ),
    Rule::info("request-body-media-type-schema-removed", Inverse::Of("request-body-media-type-schema-added")),
    Rule::info("request-body-media-type-name-changed", Inverse::Of("request-body-media-type-name-changed")),
    Rule::info("request-body-media-type-name-generalized", Inverse::Of("request-body-media-type-removed")),
    Rule::error(
        "response-media-type-removed",
        Inverse::Of("response-media-type-added"),
        RESPONSE_TYPE_NOT_ACCEPTED,
        KEEP_MEDIA_TYPE,
    ),
    Rule::info("response-media-type-added", Inverse::Of("response-media-type-removed")),
    Rule::info("response-media-type-name-changed", Inverse::Of("response-media-type-name-changed")),
    Rule::error(
        "response-media-type-name-generalized",
        Inverse::Of("response-media-type-name-specialized"),
        RESPONSE_TYPE_NOT_ACCEPTED,
        KEEP_MEDIA_TYPE,
    ),
    // A client that accepts `application/json` can parse types with the suffix `+json` (RFC 6839).
    Rule::info("response-media-type-name-specialized", Inverse::Of("response-media-type-name-generalized")),
    Rule::info(
        "response-body-media-type-schema-added",
        Inverse::Of("response-body-media-type-schema-removed"),
    ),
    Rule::error(
        "response-body-media-type-schema-removed",
        Inverse::Of("response-body-media-type-schema-added"),
        "Clients can receive bodies that they do not understand.",
        "Keep the schema.",
    ),
    Rule::info("webhook-payload-added", Inverse::Of("webhook-payload-removed")),
    Rule::error(
        "webhook-payload-removed",
        Inverse::Of("webhook-payload-added"),
        "Receivers that read the body fail.",
        "Keep sending the body.",
    ),
    Rule::error(
        "webhook-payload-became-optional",
        Inverse::Of("webhook-payload-became-required"),
        "Receivers that read the body fail when it is missing.",
        "Always send the body.",
    ),
    Rule::info("webhook-payload-became-required", Inverse::Of("webhook-payload-became-optional")),
];

/// Compares the body of a request, or the payload of a webhook.
pub(super) fn compare<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: OperationNode<'_, 'n>,
    after: OperationNode<'_, 'n>,
) {
    let is_outgoing = operation_path.is_outgoing;
    let (base, revision) = (before.node.entry("requestBody"), after.node.entry("requestBody"));
    let is_required = |body: &Node| is_true(body, "required");
    let (base, revision) = match (base, revision) {
        (None, None) => return,
        (Some(base), None) => {
            let id = if is_outgoing { "webhook-payload-removed" } else { "request-body-removed" };
            comparison.report(
                id,
                operation_path,
                Positions::new(base.key.span, after.span),
                "",
                "the body was removed".to_owned(),
            );
            return;
        }
        (None, Some(revision)) => {
            let body = comparison.revision.follow(&revision.value);
            let (id, message) = match (is_outgoing, is_required(body)) {
                (true, _) => ("webhook-payload-added", "a body was added"),
                (false, true) => ("request-body-added-required", "a required body was added"),
                (false, false) => ("request-body-added-optional", "an optional body was added"),
            };
            comparison.report(
                id,
                operation_path,
                Positions::new(before.span, revision.key.span),
                "",
                message.to_owned(),
            );
            return;
        }
        (Some(base), Some(revision)) => (base, revision),
    };
    let (base, base_span) = comparison.base.follow_with_position(&base.value, base.key.span);
    let (revision, revision_span) =
        comparison.revision.follow_with_position(&revision.value, revision.key.span);
    let positions = Positions::new(
        position_of(base, "required", base_span),
        position_of(revision, "required", revision_span),
    );
    let id_prefix = if is_outgoing { "webhook-payload" } else { "request-body" };
    match (is_required(base), is_required(revision)) {
        (true, false) => {
            comparison.report(
                &format!("{id_prefix}-became-optional"),
                operation_path,
                positions,
                "",
                "the body became optional".to_owned(),
            );
        }
        (false, true) => {
            comparison.report(
                &format!("{id_prefix}-became-required"),
                operation_path,
                positions,
                "",
                "the body became required".to_owned(),
            );
        }
        _ => {}
    }
    let direction = if is_outgoing { Direction::Response } else { Direction::Request };
    let operation_path = operation_path.step(if is_outgoing { "payload" } else { "body" });
    compare_contents(comparison, &operation_path, (base, base_span), (revision, revision_span), direction);
    compare_unknown_keywords(
        comparison,
        &operation_path,
        base,
        revision,
        (base_span, revision_span),
        |key| ["required", "content"].contains(&key),
    );
}

/// Compares the media types of a body.
pub(super) fn compare_contents<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    (base, base_span): (&'n Node, Span),
    (revision, revision_span): (&'n Node, Span),
    direction: Direction,
) {
    let entries = |node: &'n Node| node.get("content").and_then(Node::entries).unwrap_or_default();
    let positions = Positions::new(
        position_of(base, "content", base_span),
        position_of(revision, "content", revision_span),
    );
    let mut remaining: Vec<&Entry> = entries(revision).iter().collect();
    let mut unmatched = Vec::new();
    for before in entries(base) {
        match remaining
            .iter()
            .position(|after| normalized_name(&after.key.text) == normalized_name(&before.key.text))
        {
            Some(index) => {
                compare_media_type(comparison, operation_path, before, remaining.remove(index), direction)
            }
            None => unmatched.push(before),
        }
    }
    // A media range of the revision can cover several request types of the base, so it can match repeatedly.
    let candidates: Vec<&Entry> = match direction {
        Direction::Request => entries(revision).iter().collect(),
        Direction::Response => remaining.clone(),
    };
    for before in unmatched {
        let name = &before.key.text;
        let is_available = |after: &&&Entry| {
            direction == Direction::Request || remaining.iter().any(|entry| std::ptr::eq(*entry, **after))
        };
        let candidate = candidates
            .iter()
            .filter(is_available)
            .find_map(|after| Some((*after, renamed_media_type(direction, name, &after.key.text)?)));
        if let Some((after, id)) = candidate {
            remaining.retain(|entry| !std::ptr::eq(*entry, after));
            report_renamed(comparison, operation_path, id, before, after);
            compare_media_type(comparison, operation_path, before, after, direction);
            continue;
        }
        let id = match direction {
            Direction::Request => "request-body-media-type-removed",
            Direction::Response => "response-media-type-removed",
        };
        let message = format!("the media type `{name}` was removed");
        comparison.report(
            id,
            operation_path,
            Positions::new(before.key.span, positions.revision),
            name,
            message,
        );
    }
    for after in remaining {
        let name = &after.key.text;
        let id = match direction {
            Direction::Request => "request-body-media-type-added",
            Direction::Response => "response-media-type-added",
        };
        comparison.report(
            id,
            operation_path,
            Positions::new(positions.base, after.key.span),
            name,
            format!("the media type `{name}` was added"),
        );
        // If a media range covered this type before, its schema is compared with that of the new type.
        if let Some(before) = narrowest_covering_range(entries(base), name) {
            compare_media_type(comparison, operation_path, before, after, direction);
        }
    }
}

fn report_renamed(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    id: &str,
    before: &Entry,
    after: &Entry,
) {
    let details = format!("`{}` to `{}`", before.key.text, after.key.text);
    let positions = Positions::new(before.key.span, after.key.span);
    comparison.report(
        id,
        operation_path,
        positions,
        &details,
        format!("the media type changed from {details}"),
    );
}

/// Whether a schema accepts every value.
fn accepts_everything<'n>(side: &IndexedDocument<'n>, schema: &'n Entry) -> bool {
    all_accept_everything(side, &SchemaParts::of_entry(schema))
}

fn compare_media_type<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: &'n Entry,
    after: &'n Entry,
    direction: Direction,
) {
    let (site, id_prefix) = match direction {
        Direction::Request => (SchemaSite::RequestBody, "request-body"),
        Direction::Response => (SchemaSite::ResponseBody, "response-body"),
    };
    // A media type without a schema accepts everything, like one whose schema does.
    let (base, revision) = match (before.value.entry("schema"), after.value.entry("schema")) {
        (None, Some(entry)) if accepts_everything(&comparison.revision, entry) => (None, None),
        (Some(entry), None) if accepts_everything(&comparison.base, entry) => (None, None),
        schemas => schemas,
    };
    match (base, revision) {
        (None, None) => {}
        (Some(base), Some(revision)) => {
            comparison.queue(
                SchemaParts::of_entry(base),
                SchemaParts::of_entry(revision),
                PairContext {
                    is_xml: [before, after].into_iter().any(media_types::is_xml),
                    ..PairContext::from(site)
                },
                Origin::Operation(Rc::clone(operation_path)),
            );
        }
        (base, revision) => {
            let (ending, name) =
                if base.is_none() { ("added", &after.key.text) } else { ("removed", &before.key.text) };
            let span = |entry: Option<&Entry>, fallback: &Entry| {
                entry.map_or(fallback.key.span, |entry| entry.key.span)
            };
            let positions = Positions::new(span(base, before), span(revision, after));
            let message = format!("the schema of `{name}` was {ending}");
            comparison.report(
                &format!("{id_prefix}-media-type-schema-{ending}"),
                operation_path,
                positions,
                name,
                message,
            );
        }
    }
    encoding::compare(comparison, operation_path, before, after, direction);
    let known_keywords = ["schema", "encoding"];
    compare_unknown_keywords(
        comparison,
        operation_path,
        &before.value,
        &after.value,
        (before.key.span, after.key.span),
        |key| known_keywords.contains(&key),
    );
}
