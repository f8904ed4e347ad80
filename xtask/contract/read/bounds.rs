//! Bounds: a minimum must not exceed its maximum, and `multipleOf` must be positive.

use super::super::node::{Node, Value};
use super::super::reader::{Cursor, NodeReader};
use crate::diagnostic::{Code, Diagnostic};

/// The keywords of a lower and an upper bound, and whether a value satisfies both if they are equal.
const BOUND_PAIRS: [(&str, &str, bool); 7] = [
    ("minLength", "maxLength", true),
    ("minItems", "maxItems", true),
    ("minProperties", "maxProperties", true),
    ("minimum", "maximum", true),
    ("exclusiveMinimum", "maximum", false),
    ("minimum", "exclusiveMaximum", false),
    ("exclusiveMinimum", "exclusiveMaximum", false),
];

/// Reports two bounds that no value satisfies, and a `multipleOf` that is not positive.
pub(super) fn check(reader: &mut NodeReader<'_>, cursor: &Cursor<'_>) {
    for (lower, upper, can_be_equal) in BOUND_PAIRS {
        let (Some(lower_entry), Some(upper_entry)) = (cursor.node.entry(lower), cursor.node.entry(upper))
        else {
            continue;
        };
        let (Some(low), Some(high)) = (number(&lower_entry.value), number(&upper_entry.value)) else {
            continue;
        };
        if low < high || (can_be_equal && low <= high) {
            continue;
        }
        let message = format!("no value satisfies `{lower}: {low}` and `{upper}: {high}`");
        let help = "correct one of the two bounds";
        let diagnostic = Diagnostic::error(Code::UnsupportedKeyword, upper_entry.key.span, message, help);
        reader.diagnostics.push(diagnostic.with_related(lower_entry.key.span, "the other bound"));
    }
    if let Some(step) = cursor.node.entry("multipleOf")
        && number(&step.value).is_some_and(|step| step <= 0.0)
    {
        let message = "`multipleOf` must be greater than 0";
        let help = "write a positive number, or remove `multipleOf`";
        reader.error(Code::UnsupportedKeyword, step.key.span, message, help);
    }
}

#[allow(clippy::cast_precision_loss)] // Bounds beyond 2^53 are rounded, like all JSON numbers.
const fn number(node: &Node) -> Option<f64> {
    match node.value {
        Value::Integer(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
}
