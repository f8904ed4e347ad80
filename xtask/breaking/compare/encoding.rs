//! Compares the encodings of form properties.
//!
//! A property without an encoding has the default encoding. Properties that the base does not declare are skipped,
//! because clients do not use them yet.

use std::collections::BTreeSet;
use std::rc::Rc;

use contract::node::{Entry, Node, Value};

use super::operations::position_of;
use super::{Comparison, OperationPath, Positions};
use crate::rule::{Direction, Inverse, Rule};
use crate::schema::value::{shorten, text};
use crate::schema::view::{SchemaParts, SchemaView};

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "request-body-encoding-changed",
        Inverse::Of("request-body-encoding-changed"),
        "The server misinterprets the encoding that existing clients use.",
        "Keep the encoding, and add a property with another name for the new one.",
    ),
    Rule::error(
        "response-body-encoding-changed",
        Inverse::Of("response-body-encoding-changed"),
        "Clients that expect the old encoding misinterpret the property.",
        "Keep the encoding, and add a property with another name for the new one.",
    ),
];

/// Compares the encodings of a media type. `before` and `after` are its entries in base and revision.
pub(super) fn compare<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: &'n Entry,
    after: &'n Entry,
    direction: Direction,
) {
    let encodings =
        |entry: &'n Entry| entry.value.get("encoding").and_then(Node::entries).unwrap_or_default();
    let (bases, revisions) = (encodings(before), encodings(after));
    let names: BTreeSet<&str> = bases.iter().chain(revisions).map(|entry| entry.key.text.as_str()).collect();
    if names.is_empty() {
        return;
    }
    let schema =
        before.value.entry("schema").map_or_else(|| SchemaParts::any(before.key.span), SchemaParts::of_entry);
    let view = SchemaView::of(&comparison.base, &schema);
    let base_properties = view.properties();
    let id = match direction {
        Direction::Request => "request-body-encoding-changed",
        Direction::Response => "response-body-encoding-changed",
    };
    let find = |encodings: &'n [Entry], name: &str| encodings.iter().find(|entry| entry.key.text == name);
    for name in names.into_iter().filter(|name| base_properties.contains_key(name)) {
        let (encoding_before, encoding_after) = (find(bases, name), find(revisions, name));
        let (old, new) = (describe(encoding_before), describe(encoding_after));
        if old == new {
            continue;
        }
        let position = |entry: Option<&Entry>, media_type: &Entry| {
            entry.map_or_else(
                || position_of(&media_type.value, "encoding", media_type.key.span),
                |entry| entry.key.span,
            )
        };
        let positions = Positions::new(position(encoding_before, before), position(encoding_after, after));
        let details = format!("{name}: {old} to {new}");
        comparison.report(
            id,
            operation_path,
            positions,
            &details,
            format!("the encoding of `{name}` changed from {} to {}", shorten(old), shorten(new)),
        );
    }
}

/// Describes the encoding of a property. Missing keywords have their defaults.
fn describe(encoding: Option<&Entry>) -> String {
    let node = encoding.map(|entry| &entry.value);
    let get = |keyword| node.and_then(|node| node.get(keyword));
    let style = get("style").and_then(Node::as_str).unwrap_or("form");
    let explode = match get("explode").map(|flag| &flag.value) {
        Some(Value::Bool(explode)) => *explode,
        _ => style == "form",
    };
    let mut parts = vec![format!("style {style}")];
    if explode {
        parts.push("exploded".to_owned());
    }
    for keyword in ["contentType", "headers", "allowReserved"] {
        let declared = get(keyword).filter(|value| !matches!(value.value, Value::Bool(false)));
        parts.extend(declared.map(|value| format!("{keyword} {}", text(value))));
    }
    parts.join(", ")
}
