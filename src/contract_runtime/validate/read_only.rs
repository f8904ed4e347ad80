//! Makes read-only properties optional in requests.
//!
//! OpenAPI, section "Schema Object": a required property with `readOnly` is required in responses only. The server
//! validates only requests.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::query;
use super::walk::for_each_schema;
use crate::{json as strict_json, reference};

/// The maximum depth of references and `allOf` inside of each other.
const MAX_DEPTH: usize = 32;

/// The names of properties.
type Names = BTreeSet<String>;

/// Removes the names of read-only properties from `required` in all schemas of a document.
///
/// If a schema references another one that requires a property, and only the first one makes the property read-only, it
/// gets a copy of the other one: that schema can also be used alone.
pub(super) fn make_optional(document: &mut Value) {
    let mut changes = Vec::new();
    let finder = Finder { document };
    for_each_schema(document, |pointer, fields| {
        let has = |keyword| fields.contains_key(keyword);
        if has("required") || has("allOf") || (has("$ref") && has("properties")) {
            let schema = document.pointer(pointer).unwrap_or(document);
            finder.find(schema, pointer, &finder.read_only(schema, 0), &mut changes, 0);
        }
    });
    for Change { schema, names } in &changes {
        let Some(Value::Object(fields)) = document.pointer_mut(schema) else { continue };
        retain_required(fields, names);
    }
    // The copies contain the changes above.
    for Change { schema, names } in changes {
        let Some(copy) = (Finder { document }).relaxed_target(&schema, &names) else { continue };
        if let Some(Value::Object(fields)) = document.pointer_mut(&schema) {
            replace_reference(fields, copy);
        }
    }
}

/// A schema in which properties with these names are not required.
struct Change {
    /// The JSON pointer of the schema.
    schema: String,
    names: Names,
}

/// Removes names from `required`.
fn retain_required(fields: &mut Map<String, Value>, names: &Names) {
    if let Some(Value::Array(required)) = fields.get_mut("required") {
        required.retain(|name| !contains(names, name));
    }
}

/// Replaces `$ref` with a schema. The keywords beside it still apply.
fn replace_reference(fields: &mut Map<String, Value>, schema: Value) {
    fields.remove("$ref");
    match fields.entry("allOf").or_insert_with(|| json!([])) {
        Value::Array(members) => members.push(schema),
        other => *other = json!([schema]),
    }
}

fn contains(names: &Names, name: &Value) -> bool {
    name.as_str().is_some_and(|name| names.contains(name))
}

/// Finds read-only properties and the schemas that require them.
#[derive(Clone, Copy)]
struct Finder<'d> {
    document: &'d Value,
}

impl<'d> Finder<'d> {
    /// Finds the changes in a schema and in the members of its `allOf`.
    fn find(self, schema: &'d Value, pointer: &str, names: &Names, changes: &mut Vec<Change>, depth: usize) {
        if depth > MAX_DEPTH || names.is_empty() {
            return;
        }
        let is_behind_reference =
            self.target(schema).is_some_and(|target| self.requires(target, names, depth));
        if requires(schema, names) || is_behind_reference {
            changes.push(Change { schema: pointer.to_owned(), names: names.clone() });
        }
        for (index, member) in members(schema).enumerate() {
            self.find(member, &format!("{pointer}/allOf/{index}"), names, changes, depth + 1);
        }
    }

    /// Returns the target of the reference in a schema.
    fn target(self, schema: &Value) -> Option<&'d Value> {
        self.document.pointer(reference::target(schema)?)
    }

    /// Returns the schemas that apply together with the keywords of a schema: the target of its reference, and the
    /// members of its `allOf`.
    fn parts(self, schema: &'d Value, depth: usize) -> impl Iterator<Item = &'d Value> {
        let parts = self.target(schema).into_iter().chain(members(schema));
        parts.take(if depth < MAX_DEPTH { usize::MAX } else { 0 })
    }

    /// Returns whether a schema or one of its parts requires one of these properties, and does not make it read-only
    /// itself.
    fn requires(self, schema: &'d Value, names: &Names, depth: usize) -> bool {
        let own = self.read_only(schema, depth);
        let others: Names = names.difference(&own).cloned().collect();
        !others.is_empty()
            && (requires(schema, &others)
                || self.parts(schema, depth).any(|part| self.requires(part, &others, depth + 1)))
    }

    /// Returns the names of the read-only properties of a schema and its parts.
    fn read_only(self, schema: &'d Value, depth: usize) -> Names {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let own =
            properties.filter(|(_, property)| self.is_read_only(property, 0)).map(|(name, _)| name.clone());
        own.chain(self.parts(schema, depth).flat_map(|part| self.read_only(part, depth + 1))).collect()
    }

    fn is_read_only(self, property: &'d Value, depth: usize) -> bool {
        property.get("readOnly") == Some(&Value::Bool(true))
            || self.parts(property, depth).any(|part| self.is_read_only(part, depth + 1))
    }

    /// Returns a copy of the schema that the schema at `pointer` references, in which properties with these names are not
    /// required. Returns `None` if they are not required there.
    fn relaxed_target(self, pointer: &str, names: &Names) -> Option<Value> {
        let schema = self.document.pointer(pointer)?;
        self.target(schema).filter(|target| self.requires(target, names, 0))?;
        Some(self.relaxed(self.target(schema)?, reference::target(schema)?, names, 0))
    }

    /// Returns a copy of the schema at `pointer` in which properties with these names are not required. The schemas of its
    /// properties are not copied.
    fn relaxed(self, schema: &'d Value, pointer: &str, names: &Names, depth: usize) -> Value {
        let mut copy = schema.clone();
        let Value::Object(fields) = &mut copy else { return copy };
        retain_required(fields, names);
        for (name, property) in
            fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
        {
            let name = strict_json::escape(name);
            let name = query::encode(&name);
            *property = json!({ "$ref": format!("#{pointer}/properties/{name}") });
        }
        if depth == MAX_DEPTH {
            return copy;
        }
        if let Some(Value::Array(copies)) = fields.get_mut("allOf") {
            for (index, (copy, member)) in copies.iter_mut().zip(members(schema)).enumerate() {
                *copy = self.relaxed(member, &format!("{pointer}/allOf/{index}"), names, depth + 1);
            }
        }
        let target = self.target(schema).filter(|target| self.requires(target, names, depth));
        if let Some((target, pointer)) = target.zip(reference::target(schema)) {
            replace_reference(fields, self.relaxed(target, pointer, names, depth + 1));
        }
        copy
    }
}

/// Returns whether the keyword `required` of a schema contains one of these names.
fn requires(schema: &Value, names: &Names) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|name| contains(names, name)))
}

/// Returns the members of `allOf`.
fn members(schema: &Value) -> impl Iterator<Item = &Value> {
    schema.get("allOf").and_then(Value::as_array).into_iter().flatten()
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
            // Properties with the names of keywords.
            (
                json!({ "properties": { "example": { "required": ["a"], "properties": { "a": { "readOnly": true } } } } }),
                json!({ "properties": { "example": { "required": [], "properties": { "a": { "readOnly": true } } } } }),
            ),
            (
                json!({ "properties": { "required": { "readOnly": true }, "properties": { "a": { "readOnly": true } } } }),
                json!({ "properties": { "required": { "readOnly": true }, "properties": { "a": { "readOnly": true } } } }),
            ),
        ] {
            let mut document = json!({ "schema": schema, "base": base, "id": id });
            make_optional(&mut document);
            assert_eq!(document["schema"], expected);
            assert_eq!(document["base"]["required"], json!([]));
        }
    }

    #[test]
    fn a_part_of_a_property_can_make_it_read_only() {
        for property in [
            json!({ "allOf": [{ "$ref": "#/text" }, { "readOnly": true }] }),
            json!({ "allOf": [{ "allOf": [{ "$ref": "#/id" }] }] }),
            json!({ "$ref": "#/text", "readOnly": true }),
        ] {
            let schema = json!({ "required": ["a"], "properties": { "a": property } });
            let mut document = json!({
                "schema": schema, "text": { "type": "string" }, "id": { "type": "string", "readOnly": true },
            });
            make_optional(&mut document);
            assert_eq!(document["schema"]["required"], json!([]), "{property}");
        }
    }

    /// Returns whether a request can omit the property `a` of the schema `#/schema`, which references `#/base`.
    fn can_omit(schema: Value, base: Value) -> bool {
        let mut document = json!({ "schema": schema, "base": base, "next": { "$ref": "#/base" } });
        make_optional(&mut document);
        assert_eq!(document["base"], base, "the schema can also be used alone");
        document["$ref"] = json!("#/schema");
        let validator = jsonschema::validator_for(&document).unwrap();
        assert!(!validator.is_valid(&json!({ "a": 1 })), "the schema of the property still applies");
        assert!(!validator.is_valid(&json!({ "a": "a", "b": 1 })), "the other properties are still checked");
        validator.is_valid(&json!({ "b": "b" }))
    }

    #[test]
    fn only_the_schema_beside_a_reference_can_make_a_property_read_only() {
        let base = json!({ "required": ["a", "b"], "properties": { "a": { "type": "string" }, "b": { "type": "string" } } });
        let read_only = json!({ "properties": { "a": { "readOnly": true } } });
        let in_all_of = json!({ "allOf": [base] });
        for base in [base, in_all_of] {
            for schema in [
                json!({ "allOf": [{ "$ref": "#/base" }, read_only] }),
                json!({ "allOf": [{ "allOf": [{ "$ref": "#/next" }] }, read_only] }),
                json!({ "$ref": "#/base", "properties": read_only["properties"] }),
            ] {
                assert!(can_omit(schema.clone(), base.clone()), "{schema}");
            }
            assert!(!can_omit(json!({ "allOf": [{ "$ref": "#/base" }, {}] }), base));
        }
    }
}
