//! Compares response headers, and the parameters of webhooks and callbacks, which the server also sends.

use std::rc::Rc;

use contract::node::{Entry, Node};
use contract::source::Span;

use super::matching::match_by_key;
use super::operations::{compare_unknown_keywords, position_of};
use super::serialization::{Serialization, is_true};
use super::{Comparison, OperationPath, Origin, PairContext, Positions, content, lifecycle, parameters};
use crate::document::IndexedDocument;
use crate::rule::{Direction, Level, SchemaSite};

/// Compares the headers of a response or of a part of a form. `direction` is that in which they are sent.
pub(super) fn compare_headers<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    base: (&'n Node, Span),
    revision: (&'n Node, Span),
    direction: Direction,
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
    let compare_header = match direction {
        Direction::Request => parameters::compare_as_request_header,
        Direction::Response => compare_header,
    };
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

/// Returns where the schemas of a header are used.
fn schema_context(before: &Node, after: &Node) -> PairContext {
    let is_plain_text = !content::has_media_type(before) && !content::has_media_type(after);
    let site = if is_plain_text { SchemaSite::ResponseHeader } else { SchemaSite::ResponseHeaderContent };
    let is_xml = content::is_xml(before) || content::is_xml(after);
    PairContext { is_xml, ..PairContext::from(site) }
}

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
    let (old, new) = (serialization(before.node), serialization(after.node));
    if old.is_exploded != new.is_exploded {
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
    let origin = Origin::Operation(Rc::clone(operation_path));
    let context = schema_context(before.node, after.node);
    comparison.queue(content::schema(base), content::schema(revision), context, origin);
    let is_unchanged = |key: &str| match key {
        "style" => old.style == new.style,
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

/// Returns the serialization of a header, or of a query parameter or cookie of a webhook.
fn serialization(node: &Node) -> Serialization {
    Serialization::of_parameter(node, node.get("in").and_then(Node::as_str).unwrap_or("header"))
}
