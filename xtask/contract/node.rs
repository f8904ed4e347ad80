//! The contract as a tree of values, each with its place.
//!
//! Owns values and ways through them. It never knows what OpenAPI is.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::source::Span;

/// A string with its place.
#[derive(Clone, Debug)]
pub struct Text {
    /// The string.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

impl std::ops::Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: Text,
    /// The value.
    pub value: Node,
}

/// A value with its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

/// What a node can be: JSON, with the order of keys kept.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a fraction.
    Integer(i64),
    /// A number with one.
    Float(f64),
    /// A string.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys with values, in the order of the text.
    Mapping(Vec<Entry>),
}

impl Value {
    /// What the value is, in words.
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
    /// A node that stands in no text.
    pub const fn made(value: Value) -> Self {
        Self { span: Span { start: 0, end: 0 }, value }
    }

    /// A string that stands in no text.
    pub fn string(text: impl Into<String>) -> Self {
        Self::made(Value::String(text.into()))
    }

    /// The entries, when this is a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        if let Value::Mapping(entries) = &self.value { Some(entries) } else { None }
    }

    /// The items, when this is a list.
    pub fn items(&self) -> Option<&[Node]> {
        if let Value::Sequence(items) = &self.value { Some(items) } else { None }
    }

    /// The string, when this is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// The entry under a key, when this is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| entry.key.text == key)
    }

    /// The value under a key, when this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The node that a JSON pointer (`/a/b~1c/0`) leads to.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        pointer.split('/').skip(1).try_fold(self, |node, step| match &node.value {
            Value::Mapping(_) => node.get(&step.replace("~1", "/").replace("~0", "~")),
            Value::Sequence(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Where the thing at a JSON pointer is named: its key, or itself in a list; the nearest parent's when absent.
    pub fn place_of(&self, pointer: &str) -> Span {
        let mut here = self;
        let mut span = self.span;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            match &here.value {
                Value::Mapping(_) => {
                    let Some(entry) = here.entry(&step) else { return span };
                    (here, span) = (&entry.value, entry.key.span);
                }
                Value::Sequence(items) => {
                    let Some(item) = step.parse::<usize>().ok().and_then(|at| items.get(at)) else {
                        return span;
                    };
                    (here, span) = (item, item.span);
                }
                _ => return span,
            }
        }
        span
    }

    /// The value as `serde_json` has it.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a tree of plain values becomes JSON")
    }
}

/// One step of a JSON pointer, escaped.
pub fn pointer_step(key: &str) -> String {
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
