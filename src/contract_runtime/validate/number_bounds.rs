//! Adds the bounds of number formats to schemas, because JSON Schema treats `int32` and `float` as annotations.
//!
//! Without these bounds, a valid number that is too large for its Rust type would cause an internal error.

use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Number, Value};

use super::walk::for_each_schema;
use crate::payload::MAX_EXACT_INTEGER;

/// The keyword that this module adds to integer schemas. [`ExactInteger`] validates it.
pub(super) const EXACT_INTEGER: &str = "x-exact-integer";

/// Rejects integers that are written with a fraction or an exponent, if a float cannot represent all their digits. The
/// parser has already rounded such a number.
pub(super) struct ExactInteger;

impl Keyword<'_> for ExactInteger {
    fn validate<'i>(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(instance) {
            return Ok(());
        }
        Err(ValidationError::custom("must be written without a fraction and an exponent"))
    }

    fn is_valid(&self, instance: &Value) -> bool {
        // A number with a fraction violates `type`.
        let is_rounded = |float: f64| float.fract() == 0.0 && float.abs() > MAX_EXACT_INTEGER;
        !(instance.is_f64() && instance.as_f64().is_some_and(is_rounded))
    }
}

/// Adds the bounds of the Rust type to the number schemas of a document. Narrower bounds are kept.
pub(super) fn add_bounds(document: &mut Value) {
    let mut numbers = Vec::new();
    for_each_schema(document, |pointer, fields| {
        if has_type(fields, "integer") || type_bounds(fields).is_some() {
            numbers.push(pointer.to_owned());
        }
    });
    for pointer in numbers {
        let Some(Value::Object(fields)) = document.pointer_mut(&pointer) else { continue };
        if has_type(fields, "integer") {
            fields.insert(EXACT_INTEGER.to_owned(), Value::Bool(true));
        }
        if let Some((min, max)) = type_bounds(fields) {
            narrow(fields, "minimum", &min, |declared, min| declared < min);
            narrow(fields, "maximum", &max, |declared, max| declared > max);
        }
    }
}

/// Returns whether a schema declares this type, alone or among others.
fn has_type(fields: &Map<String, Value>, name: &str) -> bool {
    match fields.get("type") {
        Some(Value::String(declared)) => declared == name,
        Some(Value::Array(declared)) => declared.iter().any(|declared| declared == name),
        _ => false,
    }
}

/// Sets a bound, unless the schema declares a narrower one.
fn narrow(fields: &mut Map<String, Value>, key: &str, limit: &Number, is_beyond: fn(f64, f64) -> bool) {
    let declared = fields.get(key).and_then(Value::as_f64);
    if declared.zip(limit.as_f64()).is_none_or(|(declared, limit)| is_beyond(declared, limit)) {
        fields.insert(key.to_owned(), Value::Number(limit.clone()));
    }
}

/// Returns the minimum and maximum of a number schema's Rust type. Returns `None` for schemas that need no bounds, such
/// as those of 64-bit floats.
fn type_bounds(fields: &Map<String, Value>) -> Option<(Number, Number)> {
    let has_type = |name| has_type(fields, name);
    let format = fields.get("format").and_then(Value::as_str);
    match format {
        Some("int32") if has_type("integer") => Some((i32::MIN.into(), i32::MAX.into())),
        // The values of an enum are listed and need no bounds.
        _ if has_type("integer") && !fields.contains_key("enum") => Some((i64::MIN.into(), i64::MAX.into())),
        Some("float") if has_type("number") => {
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
    fn numbers_keep_narrower_bounds_and_get_the_bounds_of_their_type() {
        let mut schema = json!({
            "a": { "type": "integer", "format": "int32", "minimum": 1 },
            "b": { "type": ["integer", "null"], "maximum": 1e300 },
            "c": { "type": "string", "format": "int32" },
        });
        add_bounds(&mut schema);
        assert_eq!(
            schema["a"],
            json!({ "type": "integer", "format": "int32", "minimum": 1, "maximum": i32::MAX, EXACT_INTEGER: true })
        );
        assert_eq!(
            schema["b"],
            json!({ "type": ["integer", "null"], "minimum": i64::MIN, "maximum": i64::MAX, EXACT_INTEGER: true })
        );
        assert_eq!(schema["c"], json!({ "type": "string", "format": "int32" }));
    }

    #[test]
    fn a_property_can_have_the_name_of_a_keyword_with_data() {
        let integer = json!({ "type": "integer" });
        let names = json!({ "example": integer, "const": integer, "type": integer });
        let mut schema = json!({ "properties": names, "example": integer, "enum": [integer] });
        add_bounds(&mut schema);
        for name in ["example", "const", "type"] {
            assert_eq!(schema["properties"][name]["maximum"], i64::MAX, "{name}");
        }
        assert_eq!((&schema["example"], &schema["enum"]), (&integer, &json!([integer])));
    }
}
