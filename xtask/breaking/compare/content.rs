//! The schema of a parameter or a header: its own, or that of the one media type that it may name instead.
//!
//! Owns which of the two says how it is written. It never compares schemas.

use contract::node::{Entry, Node};
use contract::source::Span;

use super::operations::place;
use super::{Places, bodies};
use crate::schema::view::Parts;

/// The one media type that a parameter or a header may name.
fn content(node: &Node) -> Option<&Entry> {
    node.get("content").and_then(Node::entries)?.first()
}

/// Whether a parameter or a header is written as a media type says.
pub(super) fn is_named(node: &Node) -> bool {
    content(node).is_some()
}

/// From which media type to which other one a parameter or a header went, and where; plain text is written by its style.
pub(super) fn serialization(was: (&Node, Span), now: (&Node, Span)) -> Option<(String, Places)> {
    let type_of = |node| content(node).map(|entry| entry.key.text.as_str());
    let (old, new) = (type_of(was.0), type_of(now.0));
    if old.map(bodies::essence) == new.map(bodies::essence) {
        return None;
    }
    let shown = |name: Option<&str>| {
        name.map_or_else(|| "plain text".to_owned(), |name| format!("`{}`", name.to_ascii_lowercase()))
    };
    let places = Places::new(place(was.0, "content", was.1), place(now.0, "content", now.1));
    Some((format!("{} to {}", shown(old), shown(new)), places))
}

/// The schema of a parameter or a header: its own, or that of its media type.
pub(super) fn schema<'n>((node, at): (&'n Node, Span)) -> Parts<'n> {
    let entry = node.entry("schema").or_else(|| content(node)?.value.entry("schema"));
    entry.map_or_else(|| Parts::any(at), Parts::under)
}
