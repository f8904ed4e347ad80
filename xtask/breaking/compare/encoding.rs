//! Compares the encodings of form properties.
//!
//! A property without an encoding has the default encoding. Properties that the base does not declare are skipped,
//! because clients do not use them yet. The headers of a part are compared like those of a request or response.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

use contract::node::{Entry, Node, Value};

use super::operations::{compare_unknown_keywords, position_of};
use super::serialization::Serialization;
use super::{Comparison, OperationPath, Positions, media_types, response_headers};
use crate::rule::{Direction, Inverse, Level, Rule};
use crate::schema::value::shorten;
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
        let position = |entry: Option<&Entry>, media_type: &Entry| {
            entry.map_or_else(
                || position_of(&media_type.value, "encoding", media_type.key.span),
                |entry| entry.key.span,
            )
        };
        let positions = Positions::new(position(encoding_before, before), position(encoding_after, after));
        let node = |entry: Option<&'n Entry>| entry.map_or(&DEFAULT_ENCODING, |entry| &entry.value);
        let (base, revision) = (node(encoding_before), node(encoding_after));
        let (old, new) = (Encoding::of(base), Encoding::of(revision));
        if old != new {
            let details = format!("{name}: {old} to {new}");
            let message = format!(
                "the encoding of `{name}` changed from {} to {}",
                shorten(old.to_string()),
                shorten(new.to_string())
            );
            let is_compatible = match direction {
                Direction::Request => old.is_included_in(&new),
                Direction::Response => new.is_included_in(&old),
            };
            let level = if is_compatible { Level::Info } else { Level::Error };
            comparison.report_with_level(level, id, operation_path, positions, &details, message);
        }
        let operation_path = &operation_path.step(&format!("encoding {name}"));
        let (base, revision) = ((base, positions.base), (revision, positions.revision));
        response_headers::compare_headers(comparison, operation_path, base, revision, direction);
        compare_unknown_keywords(
            comparison,
            operation_path,
            base.0,
            revision.0,
            (positions.base, positions.revision),
            |key| KNOWN_KEYWORDS.contains(&key),
        );
    }
}

/// Keywords of an encoding that are compared elsewhere.
const KNOWN_KEYWORDS: [&str; 5] = ["contentType", "style", "explode", "allowReserved", "headers"];

/// The encoding of a property without an encoding.
static DEFAULT_ENCODING: Node = Node::without_span(Value::Mapping(Vec::new()));

/// How the value of a property is sent, apart from its headers. Missing keywords have their defaults.
#[derive(PartialEq, Eq)]
struct Encoding {
    serialization: Serialization,
    /// The normalized media types. Without any, it depends on the type of the property.
    content_types: BTreeSet<Vec<String>>,
}

impl Encoding {
    fn of(node: &Node) -> Self {
        let content_types = node.get("contentType").and_then(Node::as_str).unwrap_or_default().split(',');
        let content_types = content_types.filter(|name| !name.trim().is_empty());
        Self {
            serialization: Serialization::of(node, "form"),
            content_types: content_types.map(media_types::normalized_media_type).collect(),
        }
    }

    /// Whether each value that is sent with this encoding can also be sent with the other one.
    fn is_included_in(&self, other: &Self) -> bool {
        let is_included = |name: &Vec<String>| {
            other.content_types.iter().any(|other| name == other || media_types::is_covered_by(name, other))
        };
        self.serialization == other.serialization
            && self.content_types.is_empty() == other.content_types.is_empty()
            && self.content_types.iter().all(is_included)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.serialization)?;
        if self.content_types.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = self.content_types.iter().map(|name| name.join("; ")).collect();
        write!(formatter, ", content type {}", names.join(" or "))
    }
}
