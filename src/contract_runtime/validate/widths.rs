//! The widths of numbers, which JSON Schema takes for hints: `int32` and `float` become bounds.
//!
//! Without them a number that its schema takes and its type does not would be the server's fault.

use serde_json::{Map, Number, Value};

/// Gives every number of a document the bounds of its type, where it has no narrower ones.
pub(super) fn bound(document: &mut Value) {
    match document {
        Value::Array(items) => items.iter_mut().for_each(bound),
        Value::Object(fields) => {
            if let Some((least, most)) = width(fields) {
                narrow(fields, "minimum", &least, |stated, least| stated < least);
                narrow(fields, "maximum", &most, |stated, most| stated > most);
            }
            // What stands in examples is no schema.
            let schemas = fields.iter_mut().filter(|(name, _)| !["example", "examples"].contains(&&***name));
            schemas.for_each(|(_, field)| bound(field));
        }
        _ => {}
    }
}

fn narrow(fields: &mut Map<String, Value>, key: &str, limit: &Number, beyond: fn(f64, f64) -> bool) {
    let stated = fields.get(key).and_then(Value::as_f64);
    if stated.zip(limit.as_f64()).is_none_or(|(stated, limit)| beyond(stated, limit)) {
        fields.insert(key.to_owned(), Value::Number(limit.clone()));
    }
}

/// The least and the greatest value of a number's type; `None` for what is no number.
fn width(fields: &Map<String, Value>) -> Option<(Number, Number)> {
    let is = |name: &str| match fields.get("type") {
        Some(Value::String(stated)) => stated == name,
        Some(Value::Array(stated)) => stated.iter().any(|stated| stated == name),
        _ => false,
    };
    let format = fields.get("format").and_then(Value::as_str);
    match format {
        Some("int32") if is("integer") => Some((i32::MIN.into(), i32::MAX.into())),
        _ if is("integer") && !fields.contains_key("enum") => Some((i64::MIN.into(), i64::MAX.into())),
        Some("float") if is("number") => {
            Some((Number::from_f64(f32::MIN.into())?, Number::from_f64(f32::MAX.into())?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_number_keeps_narrower_bounds_and_gets_those_of_its_type() {
        let mut schema = json!({
            "a": { "type": "integer", "format": "int32", "minimum": 1 },
            "b": { "type": ["integer", "null"], "maximum": 1e300 },
            "c": { "type": "string", "format": "int32" },
        });
        bound(&mut schema);
        assert_eq!(
            schema["a"],
            json!({ "type": "integer", "format": "int32", "minimum": 1, "maximum": i32::MAX })
        );
        assert_eq!(
            schema["b"],
            json!({ "type": ["integer", "null"], "minimum": i64::MIN, "maximum": i64::MAX })
        );
        assert_eq!(schema["c"], json!({ "type": "string", "format": "int32" }));
    }
}
