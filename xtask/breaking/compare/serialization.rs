//! How a parameter, a header or a property of a form is serialized: `style`, `explode` and `allowReserved`.

use std::fmt;

use contract::node::{Node, Value};

/// Whether a keyword is `true`.
pub(super) fn is_true(node: &Node, keyword: &str) -> bool {
    matches!(node.get(keyword).map(|flag| &flag.value), Some(Value::Bool(true)))
}

/// The keywords of a serialization. Missing keywords have their defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Serialization {
    /// The style.
    pub style: String,
    /// Whether each value of a list or an object is a part of its own.
    pub is_exploded: bool,
    /// Whether reserved characters are sent as they are.
    pub allows_reserved: bool,
}

impl Serialization {
    /// Reads the keywords of an object whose default style depends on its kind.
    pub(super) fn of(node: &Node, default_style: &str) -> Self {
        let style = node.get("style").and_then(Node::as_str).unwrap_or(default_style);
        let is_exploded = match node.get("explode").map(|flag| &flag.value) {
            Some(Value::Bool(explode)) => *explode,
            _ => style == "form",
        };
        Self { style: style.to_owned(), is_exploded, allows_reserved: is_true(node, "allowReserved") }
    }

    /// Reads the keywords of a parameter in a location, such as `query`.
    pub(super) fn of_parameter(node: &Node, location: &str) -> Self {
        Self::of(node, if matches!(location, "query" | "cookie") { "form" } else { "simple" })
    }
}

impl fmt::Display for Serialization {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "style {}", self.style)?;
        formatter.write_str(if self.is_exploded { ", exploded" } else { "" })?;
        formatter.write_str(if self.allows_reserved { ", reserved characters allowed" } else { "" })
    }
}
