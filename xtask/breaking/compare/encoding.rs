//! How the properties of a form are written.
//!
//! A property whose encoding is not given is written in the usual way; one that the base does not have cannot be written
//! otherwise than before.

use std::collections::BTreeSet;
use std::rc::Rc;

use contract::node::{Entry, Node, Value};

use super::operations::place;
use super::{Comparison, Places, Use};
use crate::rule::{Direction, Mirror, Rule};
use crate::schema::value::shown;
use crate::schema::view::{Parts, View};

/// The rules of this family.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "request-body-encoding-changed",
        Mirror::Of("request-body-encoding-changed"),
        "A client writes the property as it did, and is misunderstood.",
        "Go on reading how it was written; add a property of another name for the new way.",
    ),
    Rule::error(
        "response-body-encoding-changed",
        Mirror::Of("response-body-encoding-changed"),
        "A client reads the property as it was written, and misunderstands it.",
        "Go on writing it as before; add a property of another name for the new way.",
    ),
];

/// Compares the encodings of a media type.
pub(super) fn compare<'n>(
    on: &mut Comparison<'n>,
    at: &Rc<Use>,
    was: &'n Entry,
    now: &'n Entry,
    direction: Direction,
) {
    let encodings =
        |entry: &'n Entry| entry.value.get("encoding").and_then(Node::entries).unwrap_or_default();
    let (bases, revisions) = (encodings(was), encodings(now));
    let names: BTreeSet<&str> = bases.iter().chain(revisions).map(|entry| entry.key.text.as_str()).collect();
    if names.is_empty() {
        return;
    }
    let schema = was.value.entry("schema").map_or_else(|| Parts::any(was.key.span), Parts::under);
    let view = View::of(&on.base, &schema);
    let known = view.properties();
    let id = match direction {
        Direction::Request => "request-body-encoding-changed",
        Direction::Response => "response-body-encoding-changed",
    };
    let find = |among: &'n [Entry], name: &str| among.iter().find(|entry| entry.key.text == name);
    for name in names.into_iter().filter(|name| known.contains_key(name)) {
        let (old, new) = (find(bases, name), find(revisions, name));
        let (written_was, written) = (written(old), written(new));
        if written_was == written {
            continue;
        }
        let spot = |entry: Option<&Entry>, otherwise: &Entry| {
            entry.map_or_else(
                || place(&otherwise.value, "encoding", otherwise.key.span),
                |entry| entry.key.span,
            )
        };
        let places = Places::new(spot(old, was), spot(new, now));
        let facts = format!("{name}: {written_was} to {written}");
        on.raise(
            id,
            at,
            places,
            &facts,
            format!("`{name}` is written otherwise: from {written_was} to {written}"),
        );
    }
}

/// How a property is written, in words.
fn written(encoding: Option<&Entry>) -> String {
    let node = encoding.map(|entry| &entry.value);
    let get = |keyword| node.and_then(|node| node.get(keyword));
    let style = get("style").and_then(Node::as_str).unwrap_or("form");
    let explode = match get("explode").map(|flag| &flag.value) {
        Some(Value::Bool(explode)) => *explode,
        _ => style == "form",
    };
    let mut words = vec![format!("style {style}")];
    if explode {
        words.push("exploded".to_owned());
    }
    for keyword in ["contentType", "headers", "allowReserved"] {
        let says = get(keyword).filter(|value| !matches!(value.value, Value::Bool(false)));
        words.extend(says.map(|value| format!("{keyword} {}", shown(value))));
    }
    words.join(", ")
}
