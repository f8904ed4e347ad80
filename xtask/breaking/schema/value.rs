//! Equality of JSON values, sets of values, and the display of values in messages.

use std::collections::HashMap;

use contract::node::{Node, Value};

/// Whether two JSON values are equal, regardless of the order of keys; 1 equals 1.0.
pub(crate) fn is_equal(left: &Node, right: &Node) -> bool {
    match (&left.value, &right.value) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Integer(left), Value::Integer(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Integer(_) | Value::Float(_), Value::Integer(_) | Value::Float(_)) => {
            number(left).map(f64::to_bits) == number(right).map(f64::to_bits)
        }
        (Value::Sequence(left), Value::Sequence(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right))
        }
        (Value::Mapping(left_entries), Value::Mapping(right_entries)) => {
            left_entries.len() == right_entries.len()
                && left_entries.iter().enumerate().all(|(index, entry)| {
                    // In most cases the order of keys is the same.
                    let same_index =
                        right_entries.get(index).filter(|right| right.key.text == entry.key.text);
                    let right_value =
                        same_index.map(|right| &right.value).or_else(|| right.get(&entry.key.text));
                    right_value.is_some_and(|right_value| is_equal(&entry.value, right_value))
                })
        }
        _ => false,
    }
}

/// A set of JSON values. Searching it takes the same time for any number of values.
#[derive(Default)]
pub(crate) struct ValueSet<'n> {
    by_text: HashMap<String, Vec<&'n Node>>,
    /// Whether values are equal if they are sent as the same plain text.
    is_plain_text: bool,
}

impl<'n> ValueSet<'n> {
    /// Creates a set of values.
    pub(crate) fn of(values: impl IntoIterator<Item = &'n Node>) -> Self {
        Self::of_text(values, false)
    }

    /// Creates a set of values, which are equal if they are sent as the same plain text if `is_plain_text` is true.
    pub(crate) fn of_text(values: impl IntoIterator<Item = &'n Node>, is_plain_text: bool) -> Self {
        let mut set = Self { by_text: HashMap::new(), is_plain_text };
        for value in values {
            set.insert(value);
        }
        set
    }

    /// Adds a value. Returns false if the set contains an equal one.
    pub(crate) fn insert(&mut self, value: &'n Node) -> bool {
        let is_new = !self.contains(value);
        if is_new {
            self.by_text.entry(search_text(value)).or_default().push(value);
        }
        is_new
    }

    /// Whether the set contains an equal value.
    pub(crate) fn contains(&self, value: &Node) -> bool {
        let candidates = self.by_text.get(&search_text(value)).map(Vec::as_slice).unwrap_or_default();
        candidates
            .iter()
            .any(|other| is_equal(value, other) || self.is_plain_text && is_same_text(value, other))
    }

    /// Whether the set contains all values.
    pub(crate) fn contains_all<'m>(&self, values: impl IntoIterator<Item = &'m Node>) -> bool {
        values.into_iter().all(|value| self.contains(value))
    }
}

/// Whether two scalar values are sent as the same plain text.
pub(crate) fn is_same_text(left: &Node, right: &Node) -> bool {
    plain_text(left).is_some_and(|left| plain_text(right) == Some(left))
}

/// Returns the plain text of a string, boolean or number.
fn plain_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => number(node).map(|number| number.to_string()),
    }
}

/// Returns a text that is the same for equal values.
fn search_text(node: &Node) -> String {
    match &node.value {
        Value::Sequence(items) => items.iter().map(|item| search_text(item) + "\n").collect(),
        Value::Mapping(entries) => {
            let mut texts: Vec<String> = entries
                .iter()
                .map(|entry| format!("{}: {}\n", entry.key.text, search_text(&entry.value)))
                .collect();
            texts.sort_unstable();
            texts.concat()
        }
        _ => plain_text(node).unwrap_or_default(),
    }
}

/// Returns the value of a number, or `None` if the node is not a number.
#[allow(clippy::cast_precision_loss)] // JSON's numbers are doubles.
pub(crate) fn number(node: &Node) -> Option<f64> {
    match node.value {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    }
}

/// Formats a value on one line. Two values with different texts are different.
pub(crate) fn text(node: &Node) -> String {
    serde_json::to_string(node).unwrap_or_default()
}

/// Formats a value for a message: on one line, shortened to 60 characters. It is not fit for comparisons.
pub(crate) fn display_value(node: &Node) -> String {
    shorten(text(node))
}

/// Shortens a text for a message to 60 characters.
pub(crate) fn shorten(text: String) -> String {
    match text.char_indices().nth(60) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
