//! A tree of JSON values with source spans.
//!
//! This module does not depend on OpenAPI.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::source::Span;

/// A string with its span.
#[derive(Clone, Debug)]
pub struct SpannedString {
    /// The string.
    pub text: String,
    /// The span in the source.
    pub span: Span,
}

impl std::ops::Deref for SpannedString {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: SpannedString,
    /// The value.
    pub value: Node,
}

/// A value with its span.
#[derive(Clone, Debug)]
pub struct Node {
    /// The span in the source.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// A JSON value. Objects keep the order of their keys.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number that is written as an integer and fits into 64 bits.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    String(String),
    /// An array.
    Sequence(Vec<Node>),
    /// An object: entries in source order.
    Mapping(Vec<Entry>),
}

impl Value {
    /// Returns the type of the value with an article, for messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a number",
            Self::String(_) => "a string",
            Self::Sequence(_) => "a list",
            Self::Mapping(_) => "a mapping",
        }
    }
}

impl Node {
    /// Creates a node that does not come from a source.
    pub const fn without_span(value: Value) -> Self {
        Self { span: Span { start: 0, end: 0 }, value }
    }

    /// Creates a string node that does not come from a source.
    pub fn string(text: impl Into<String>) -> Self {
        Self::without_span(Value::String(text.into()))
    }

    /// Moves the spans of the node and of all nodes in it by `offset` bytes, for a file that is appended to another.
    pub fn move_spans(&mut self, offset: usize) {
        let moved = |span: Span| Span { start: span.start + offset, end: span.end + offset };
        self.span = moved(self.span);
        match &mut self.value {
            Value::Sequence(items) => items.iter_mut().for_each(|item| item.move_spans(offset)),
            Value::Mapping(entries) => entries.iter_mut().for_each(|entry| {
                entry.key.span = moved(entry.key.span);
                entry.value.move_spans(offset);
            }),
            _ => {}
        }
    }

    /// Returns the entries of a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        if let Value::Mapping(entries) = &self.value { Some(entries) } else { None }
    }

    /// Returns the items of a sequence.
    pub fn items(&self) -> Option<&[Node]> {
        if let Value::Sequence(items) = &self.value { Some(items) } else { None }
    }

    /// Returns the string value.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// Returns the entry with this key, if the node is a mapping.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key.text == key)
    }

    /// Returns the value of this key, if the node is a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the node at a JSON pointer such as `/a/b~1c/0`.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        pointer.split('/').skip(1).try_fold(self, |node, token| match &node.value {
            Value::Mapping(_) => node.get(&token.replace("~1", "/").replace("~0", "~")),
            Value::Sequence(items) => items.get(token.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Returns the target of the value of a `$ref` in this document, the root.
    pub fn target(&self, reference: &Self) -> Option<&Self> {
        self.pointer(reference.as_str()?.strip_prefix('#')?)
    }

    /// Returns the target of a node in this document, the root, if the node is a reference. Otherwise returns the node.
    pub fn follow<'n>(&'n self, node: &'n Self) -> &'n Self {
        node.get("$ref").and_then(|reference| self.target(reference)).unwrap_or(node)
    }

    /// Returns the span of the key or list item at a JSON pointer, or of its closest existing ancestor.
    pub fn span_at(&self, pointer: &str) -> Span {
        let mut node = self;
        let mut span = self.span;
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            match &node.value {
                Value::Mapping(_) => {
                    let Some(entry) = node.entry(&token) else { return span };
                    (node, span) = (&entry.value, entry.key.span);
                }
                Value::Sequence(items) => {
                    let Some(item) = token.parse::<usize>().ok().and_then(|index| items.get(index)) else {
                        return span;
                    };
                    (node, span) = (item, item.span);
                }
                _ => return span,
            }
        }
        span
    }

    /// Converts the node to a `serde_json` value.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("plain values serialize to JSON")
    }
}

/// Escapes one reference token of a JSON pointer (RFC 6901).
pub fn escape_pointer_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Integer(value) => serializer.serialize_i64(*value),
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::String(value) => serializer.serialize_str(value),
            Value::Sequence(items) => serializer.collect_seq(items),
            Value::Mapping(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for entry in entries {
                    map.serialize_entry(&entry.key.text, &entry.value)?;
                }
                map.end()
            }
        }
    }
}
