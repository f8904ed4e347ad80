//! Follows references within a document (`$ref`).

use serde_json::Value;

/// The maximum number of references from one value to the next.
const MAX_REFERENCES: usize = 64;

/// Returns the JSON pointer of a local reference, or `None` for other values.
pub(crate) fn target(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()?.strip_prefix('#')
}

/// Returns the value at the end of a chain of local references, which is the value itself if it is not a reference.
/// Returns `None` if a reference does not resolve or leads to itself.
pub(crate) fn resolve<'d>(document: &'d Value, mut value: &'d Value) -> Option<&'d Value> {
    for _ in 0..MAX_REFERENCES {
        if value.get("$ref").is_none() {
            return Some(value);
        }
        value = document.pointer(target(value)?)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn chains_of_references_are_followed() {
        let document = json!({
            "end": 1, "a": { "$ref": "#/b" }, "b": { "$ref": "#/end" },
            "loop": { "$ref": "#/loop" }, "missing": { "$ref": "#/none" }, "file": { "$ref": "a.json" },
        });
        for name in ["end", "a", "b"] {
            assert_eq!(resolve(&document, &document[name]), Some(&json!(1)), "{name}");
        }
        for name in ["loop", "missing", "file"] {
            assert_eq!(resolve(&document, &document[name]), None, "{name}");
        }
    }
}
