//! When two values say the same.

use contract::node::{Entry, Node, Value};

use super::is_annotation;

/// Whether two values are the same JSON: the order of keys is none, and 1 is 1.0.
pub(crate) fn same(left: &Node, right: &Node) -> bool {
    match (&left.value, &right.value) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Integer(left), Value::Integer(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Integer(_) | Value::Float(_), Value::Integer(_) | Value::Float(_)) => {
            number(left).map(f64::to_bits) == number(right).map(f64::to_bits)
        }
        (Value::Sequence(left), Value::Sequence(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Mapping(left), Value::Mapping(rights)) => {
            left.len() == rights.len()
                && left.iter().enumerate().all(|(at, entry)| {
                    // Most often the order is the same too.
                    let there = rights.get(at).filter(|other| other.key.text == entry.key.text);
                    let there = there.map(|other| &other.value).or_else(|| right.get(&entry.key.text));
                    there.is_some_and(|other| same(&entry.value, other))
                })
        }
        _ => false,
    }
}

/// Whether two schemas are the same but for what they say to readers.
pub(crate) fn alike(left: &Node, right: &Node) -> bool {
    schemas(left, right, false)
}

/// Keywords whose keys are names that someone chose.
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
            _ => same(left, right),
        },
    }
}

/// The number that a node is.
#[allow(clippy::cast_precision_loss)] // JSON's numbers are doubles.
pub(crate) fn number(node: &Node) -> Option<f64> {
    match node.value {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    }
}

/// A value as a sentence shows it: short, on one line.
pub(crate) fn shown(node: &Node) -> String {
    let text = serde_json::to_string(node).unwrap_or_default();
    match text.char_indices().nth(60) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
