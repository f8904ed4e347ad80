//! Equality of JSON values and schemas.

use contract::node::{Entry, Node, Value};

use super::is_annotation;

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
        (Value::Mapping(left), Value::Mapping(rights)) => {
            left.len() == rights.len()
                && left.iter().enumerate().all(|(at, entry)| {
                    // In most cases the order of keys is the same.
                    let right_value = rights.get(at).filter(|other| other.key.text == entry.key.text);
                    let right_value =
                        right_value.map(|other| &other.value).or_else(|| right.get(&entry.key.text));
                    right_value.is_some_and(|other| is_equal(&entry.value, other))
                })
        }
        _ => false,
    }
}

/// Whether two schemas are equal except for annotations.
pub(crate) fn is_equivalent(left: &Node, right: &Node) -> bool {
    schemas(left, right, false)
}

/// Keywords whose value is a mapping with user-defined names.
const NAMES: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

fn schemas(left: &Node, right: &Node, names: bool) -> bool {
    match (left.entries(), right.entries()) {
        (Some(lefts), Some(rights)) => {
            let counts = |entry: &&Entry| names || !is_annotation(&entry.key.text);
            lefts.iter().filter(counts).count() == rights.iter().filter(counts).count()
                && lefts.iter().filter(counts).all(|entry| {
                    let inner = !names && NAMES.contains(&entry.key.text.as_str());
                    right.get(&entry.key.text).is_some_and(|other| schemas(&entry.value, other, inner))
                })
        }
        _ => match (left.items(), right.items()) {
            (Some(lefts), Some(rights)) => {
                lefts.len() == rights.len()
                    && lefts.iter().zip(rights).all(|(left, right)| schemas(left, right, false))
            }
            _ => is_equal(left, right),
        },
    }
}

/// Returns the number in a node.
#[allow(clippy::cast_precision_loss)] // JSON's numbers are doubles.
pub(crate) fn number(node: &Node) -> Option<f64> {
    match node.value {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    }
}

/// Formats a value for a message: on one line, shortened to 60 characters.
pub(crate) fn display_value(node: &Node) -> String {
    let text = serde_json::to_string(node).unwrap_or_default();
    match text.char_indices().nth(60) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
