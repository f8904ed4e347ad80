//! Equality of JSON values, and the display of values in messages.

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
