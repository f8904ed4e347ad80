//! The schema and serialization of a parameter or a header: `schema` with a style, or `content` with one media type.

use contract::node::{Entry, Node};
use contract::source::Span;

use super::operations::position_of;
use super::{Positions, media_types};
use crate::schema::view::SchemaParts;

/// Returns the media type of a parameter or a header, if it has `content`.
fn content(node: &Node) -> Option<&Entry> {
    node.get("content").and_then(Node::entries)?.first()
}

/// Whether a parameter or a header is serialized as a media type.
pub(super) fn has_media_type(node: &Node) -> bool {
    content(node).is_some()
}

/// Whether a parameter or a header may be serialized as XML.
pub(super) fn is_xml(node: &Node) -> bool {
    content(node).is_some_and(media_types::is_xml)
}

/// Describes a change of the media type of a parameter or a header (`old to new`), with its positions. Returns `None`
/// if the media type did not change. Values without a media type are plain text. `before` and `after` are nodes with
/// their positions.
pub(super) fn serialization_change(
    before: (&Node, Span),
    after: (&Node, Span),
) -> Option<(String, Positions)> {
    let media_type = |node| content(node).map(|entry| entry.key.text.as_str());
    let (old_type, new_type) = (media_type(before.0), media_type(after.0));
    if old_type.map(media_types::normalized_media_type) == new_type.map(media_types::normalized_media_type) {
        return None;
    }
    let display_name = |name: Option<&str>| {
        name.map_or_else(|| "plain text".to_owned(), |name| format!("`{}`", name.to_ascii_lowercase()))
    };
    let positions =
        Positions::new(position_of(before.0, "content", before.1), position_of(after.0, "content", after.1));
    Some((format!("{} to {}", display_name(old_type), display_name(new_type)), positions))
}

/// Returns the schema of a parameter or a header, or else that of its media type. Without either, every value is valid.
pub(super) fn schema<'n>((node, span): (&'n Node, Span)) -> SchemaParts<'n> {
    let entry = node.entry("schema").or_else(|| content(node)?.value.entry("schema"));
    entry.map_or_else(|| SchemaParts::any(span), SchemaParts::of_entry)
}
