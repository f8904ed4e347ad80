//! Bounds: minimum and maximum must allow at least one value.

use super::super::node::{Node, Value};
use super::super::reader::{Cursor, NodeReader};
use crate::diagnostic::{Code, Diagnostic};

/// The lower bound, the upper bound, and whether both can be equal.
const PAIRS: [(&str, &str, bool); 7] = [
    ("minLength", "maxLength", true),
    ("minItems", "maxItems", true),
    ("minProperties", "maxProperties", true),
    ("minimum", "maximum", true),
    ("exclusiveMinimum", "maximum", false),
    ("minimum", "exclusiveMaximum", false),
    ("exclusiveMinimum", "exclusiveMaximum", false),
];

/// Reports bounds that no value satisfies.
pub(super) fn check(reader: &mut NodeReader<'_>, cursor: &Cursor<'_>) {
    for (lower, upper, same) in PAIRS {
        let (Some(least), Some(most)) = (cursor.node.entry(lower), cursor.node.entry(upper)) else {
            continue;
        };
        let (Some(low), Some(high)) = (number(&least.value), number(&most.value)) else { continue };
        if low < high || (same && low <= high) {
            continue;
        }
        let message = format!("no value satisfies `{lower}: {low}` and `{upper}: {high}`");
        let help = "correct one of the two bounds";
        let diagnostic = Diagnostic::error(Code::UnsupportedKeyword, most.key.span, message, help);
        reader.diagnostics.push(diagnostic.with_related(least.key.span, "the other bound"));
    }
    if let Some(step) = cursor.node.entry("multipleOf")
        && number(&step.value).is_some_and(|step| step <= 0.0)
    {
        let message = "`multipleOf` must be greater than 0";
        let help = "write a positive number, or remove `multipleOf`";
        reader.error(Code::UnsupportedKeyword, step.key.span, message, help);
    }
}

#[allow(clippy::cast_precision_loss)] // Counts and bounds of contracts are far below 2^53.
const fn number(node: &Node) -> Option<f64> {
    match node.value {
        Value::Integer(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
}
