//! The schema and serialization of a parameter or a header: `schema` with a style, or `content` with one media type.

use contract::node::{Entry, Node};
use contract::source::Span;

use super::operations::position_of;
use super::{Positions, bodies};
use crate::schema::view::SchemaParts;

/// Returns the media type of a parameter or a header, if it has `content`.
fn content(node: &Node) -> Option<&Entry> {
    node.get("content").and_then(Node::entries)?.first()
}

/// Whether a parameter or a header is serialized as a media type.
pub(super) fn is_named(node: &Node) -> bool {
    content(node).is_some()
}

/// Describes a change of the media type of a parameter or a header, with its positions. Values without a media type are plain
/// text.
pub(super) fn serialization(before: (&Node, Span), after: (&Node, Span)) -> Option<(String, Positions)> {
    let type_of = |node| content(node).map(|entry| entry.key.text.as_str());
    let (old, new) = (type_of(before.0), type_of(after.0));
    if old.map(bodies::normalized_media_type) == new.map(bodies::normalized_media_type) {
        return None;
    }
    let display_name = |name: Option<&str>| {
        name.map_or_else(|| "plain text".to_owned(), |name| format!("`{}`", name.to_ascii_lowercase()))
    };
    let positions =
        Positions::new(position_of(before.0, "content", before.1), position_of(after.0, "content", after.1));
    Some((format!("{} to {}", display_name(old), display_name(new)), positions))
}

/// Returns the schema of a parameter or a header: its own, or that of its media type.
pub(super) fn schema<'n>((node, at): (&'n Node, Span)) -> SchemaParts<'n> {
    let entry = node.entry("schema").or_else(|| content(node)?.value.entry("schema"));
    entry.map_or_else(|| SchemaParts::any(at), SchemaParts::under)
}
