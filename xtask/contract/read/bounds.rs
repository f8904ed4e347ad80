//! Bounds: some value lies between them.

use super::super::node::{Node, Value};
use super::super::reader::{At, Reader};
use crate::diagnostic::{Code, Diagnostic};

/// A lower bound, an upper one, and whether a value can be both.
const PAIRS: [(&str, &str, bool); 7] = [
    ("minLength", "maxLength", true),
    ("minItems", "maxItems", true),
    ("minProperties", "maxProperties", true),
    ("minimum", "maximum", true),
    ("exclusiveMinimum", "maximum", false),
    ("minimum", "exclusiveMaximum", false),
    ("exclusiveMinimum", "exclusiveMaximum", false),
];

/// Reports bounds that nothing can meet.
pub(super) fn judge(reader: &mut Reader<'_>, at: &At<'_>) {
    for (lower, upper, same) in PAIRS {
        let (Some(least), Some(most)) = (at.node.entry(lower), at.node.entry(upper)) else { continue };
        let (Some(low), Some(high)) = (number(&least.value), number(&most.value)) else { continue };
        if low < high || (same && low <= high) {
            continue;
        }
        let message = format!("nothing meets `{lower}: {low}` and `{upper}: {high}`");
        let help = "correct one of the two: whatever is sent or answered would be refused";
        let finding = Diagnostic::error(Code::UnsupportedKeyword, most.key.span, message, help);
        reader.findings.push(finding.related(least.key.span, "the other bound"));
    }
    if let Some(step) = at.node.entry("multipleOf")
        && number(&step.value).is_some_and(|step| step <= 0.0)
    {
        let message = "nothing is a multiple of a number that is not positive";
        let help = "write a number above 0, or leave `multipleOf` out";
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
