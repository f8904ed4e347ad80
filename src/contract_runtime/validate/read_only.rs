//! Makes read-only properties optional in requests.
//!
//! OpenAPI, section "Schema Object": a required property with `readOnly` is required in responses only. The server
//! validates only requests.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::json;

/// The maximum depth of `allOf` inside of members of `allOf`.
const MAX_DEPTH: usize = 32;

/// Removes the names of read-only properties from `required` in all schemas of a document.
pub(super) fn make_optional(document: &mut Value) {
    let mut found = Vec::new();
    Finder { document, found: &mut found }.walk(document, "");
    for (pointer, names) in found {
        let required = document.pointer_mut(&pointer).and_then(Value::as_array_mut);
        required.into_iter().for_each(|required| required.retain(|name| !contains(&names, name)));
    }
}

fn contains(names: &BTreeSet<String>, name: &Value) -> bool {
    name.as_str().is_some_and(|name| names.contains(name))
}

/// Finds required names of read-only properties.
struct Finder<'d, 'f> {
    document: &'d Value,
    /// The pointers of `required` lists, with the names to remove.
    found: &'f mut Vec<(String, BTreeSet<String>)>,
}

impl<'d> Finder<'d, '_> {
    /// Searches a value and the values in it. Examples contain no schemas.
    fn walk(&mut self, value: &'d Value, pointer: &str) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(item, &format!("{pointer}/{index}"));
                }
            }
            Value::Object(fields) => {
                if fields.contains_key("required") || fields.contains_key("allOf") {
                    self.find(value, pointer, &self.read_only(value, 0), 0);
                }
                for (name, field) in
                    fields.iter().filter(|(name, _)| !["example", "examples"].contains(&&***name))
                {
                    self.walk(field, &format!("{pointer}/{}", json::escape(name)));
                }
            }
            _ => {}
        }
    }

    /// Finds the names in `required` of a schema and of the members of its `allOf`.
    fn find(&mut self, schema: &'d Value, pointer: &str, names: &BTreeSet<String>, depth: usize) {
        let required = schema.get("required").and_then(Value::as_array);
        if required.is_some_and(|required| required.iter().any(|name| contains(names, name))) {
            self.found.push((format!("{pointer}/required"), names.clone()));
        }
        let members = schema.get("allOf").and_then(Value::as_array).filter(|_| depth < MAX_DEPTH);
        for (index, member) in members.into_iter().flatten().enumerate() {
            self.find(member, &format!("{pointer}/allOf/{index}"), names, depth + 1);
        }
    }

    /// Returns the names of the read-only properties of a schema, including those of its `allOf`.
    fn read_only(&self, schema: &'d Value, depth: usize) -> BTreeSet<String> {
        let schema = self.resolve(schema);
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let is_read_only = |schema: &Value| schema.get("readOnly") == Some(&Value::Bool(true));
        let own = properties
            .filter(|(_, property)| is_read_only(property) || is_read_only(self.resolve(property)))
            .map(|(name, _)| name.clone());
        let members = schema.get("allOf").and_then(Value::as_array).filter(|_| depth < MAX_DEPTH);
        let inherited = members.into_iter().flatten().flat_map(|member| self.read_only(member, depth + 1));
        own.chain(inherited).collect()
    }

    /// Returns the value that a local reference leads to, or the value itself.
    fn resolve<'v>(&self, mut value: &'v Value) -> &'v Value
    where
        'd: 'v,
    {
        for _ in 0..MAX_DEPTH {
            let target =
                value.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
            let Some(target) = target.and_then(|pointer| self.document.pointer(pointer)) else { break };
            value = target;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn read_only_properties_are_not_required() {
        let base = json!({ "required": ["id"], "properties": { "id": { "readOnly": true } } });
        let id = json!({ "type": "string", "readOnly": true });
        for (schema, expected) in [
            (
                json!({ "required": ["a", "b"], "properties": { "a": { "readOnly": true }, "b": { "readOnly": false } } }),
                json!({ "required": ["b"], "properties": { "a": { "readOnly": true }, "b": { "readOnly": false } } }),
            ),
            (
                json!({ "required": ["id"], "properties": { "id": { "$ref": "#/id" } } }),
                json!({ "required": [], "properties": { "id": { "$ref": "#/id" } } }),
            ),
            (
                json!({ "allOf": [{ "$ref": "#/base" }, { "required": ["id", "c"], "properties": {} }] }),
                json!({ "allOf": [{ "$ref": "#/base" }, { "required": ["c"], "properties": {} }] }),
            ),
            (
                json!({ "required": ["required"], "properties": { "required": { "required": ["x"] } } }),
                json!({ "required": ["required"], "properties": { "required": { "required": ["x"] } } }),
            ),
            (
                json!({ "example": { "required": ["a"], "properties": { "a": { "readOnly": true } } } }),
                json!({ "example": { "required": ["a"], "properties": { "a": { "readOnly": true } } } }),
            ),
            (json!({ "allOf": [{ "$ref": "#/schema" }] }), json!({ "allOf": [{ "$ref": "#/schema" }] })),
        ] {
            let mut document = json!({ "schema": schema, "base": base, "id": id });
            make_optional(&mut document);
            assert_eq!(document["schema"], expected);
            assert_eq!(document["base"]["required"], json!([]));
        }
    }
}
