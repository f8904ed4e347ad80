//! Converts a document to OpenAPI 3.1, and writes the types that its schemas imply.

use super::{entry, map_entries, map_items, mapping};
use crate::node::{Entry, Node, Value};
use crate::version::Version;

/// Converts a document. Extensions, examples and descriptions are unchanged.
pub(super) fn to_openapi_3_1(root: &Node, version: Version) -> Node {
    let converter = Converter { version };
    map_entries(root, |item| {
        Some(match &*item.key {
            "openapi" if version == Version::V30 => Node { span: item.value.span, ..Node::string("3.1.0") },
            key => converter.entry(key, &item.value),
        })
    })
}

struct Converter {
    version: Version,
}

impl Converter {
    /// Converts the value of an entry outside of schemas.
    fn entry(&self, key: &str, value: &Node) -> Node {
        match key {
            "schema" => self.schema(value, true),
            "schemas" => map_entries(value, |item| Some(self.schema(&item.value, true))),
            "content" => map_entries(value, |item| {
                // A response can also have the name `content`.
                let is_media_type = item.key.contains('/');
                Some(if is_media_type {
                    self.media_type(&item.value)
                } else {
                    self.entry(&item.key, &item.value)
                })
            }),
            "example" | "examples" => value.clone(),
            _ if key.starts_with("x-") => value.clone(),
            _ if value.items().is_some() => map_items(value, |item| self.entry("", item)),
            _ => map_entries(value, |item| Some(self.entry(&item.key, &item.value))),
        }
    }

    /// Converts a media type. Without a schema, any value is valid.
    fn media_type(&self, node: &Node) -> Node {
        let mut converted = self.entry("", node);
        if let Value::Mapping(entries) = &mut converted.value
            && !entries.iter().any(|item| item.key.text == "schema")
        {
            entries.push(entry("schema", node.span, Value::Bool(true)));
        }
        converted
    }

    /// Converts a schema. `is_value` is whether it describes the value itself: the schemas of `not`, `if` and others are
    /// conditions, and a type would change their result.
    fn schema(&self, node: &Node, is_value: bool) -> Node {
        let converted = map_entries(node, |item| {
            Some(match &*item.key {
                "properties" | "patternProperties" | "$defs" => {
                    map_entries(&item.value, |property| Some(self.schema(&property.value, is_value)))
                }
                "dependentSchemas" => map_entries(&item.value, |item| Some(self.schema(&item.value, false))),
                "items" | "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => {
                    self.schema(&item.value, is_value)
                }
                "propertyNames" | "contains" | "not" | "if" | "then" | "else" => {
                    self.schema(&item.value, false)
                }
                "allOf" | "oneOf" | "anyOf" | "prefixItems" => {
                    map_items(&item.value, |part| self.schema(part, is_value))
                }
                _ => item.value.clone(),
            })
        });
        let Value::Mapping(mut entries) = converted.value else { return converted };
        if self.version == Version::V30 {
            // OpenAPI 3.0 ignores keywords beside a reference.
            if entries.iter().any(|item| item.key.text == "$ref") {
                entries.retain(|item| ["$ref", "description"].contains(&&*item.key));
            }
            convert_bounds(&mut entries);
        }
        if is_value {
            imply_type(node, &mut entries);
        }
        if self.version == Version::V30 {
            convert_nullable(&mut entries);
        }
        mapping(node.span, entries)
    }
}

/// Converts the flags `exclusiveMinimum` and `exclusiveMaximum` of OpenAPI 3.0 to bounds.
fn convert_bounds(entries: &mut Vec<Entry>) {
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        let Some(at) = entries.iter().position(|item| item.key.text == flag) else { continue };
        let Value::Bool(exclusive) = entries[at].value.value else { continue };
        entries.remove(at);
        if let Some(item) = entries.iter_mut().find(|item| exclusive && item.key.text == bound) {
            item.key.text = flag.to_owned();
        }
    }
}

/// Writes the type of a schema that has none, if its keywords apply to one type only.
fn imply_type(node: &Node, entries: &mut Vec<Entry>) {
    let has = |key: &str| entries.iter().any(|item| item.key.text == key);
    if ["type", "$ref", "oneOf", "anyOf", "allOf", "not", "if", "const"].into_iter().any(has) {
        return;
    }
    let values = node.get("enum").and_then(Node::items).unwrap_or_default();
    let has_only_strings = !values.is_empty() && values.iter().all(|value| value.as_str().is_some());
    let name = if has("properties") || has("additionalProperties") {
        "object"
    } else if has("items") {
        "array"
    } else if has_only_strings || (!has("enum") && ["minLength", "maxLength", "pattern"].into_iter().any(has))
    {
        "string"
    } else {
        return;
    };
    entries.insert(0, entry("type", node.span, Value::String(name.to_owned())));
}

/// Keywords that describe a schema and do not restrict its values.
const ANNOTATIONS: [&str; 10] = [
    "default",
    "deprecated",
    "description",
    "example",
    "examples",
    "externalDocs",
    "readOnly",
    "title",
    "writeOnly",
    "xml",
];

/// Converts `nullable` of OpenAPI 3.0: the schema accepts null in addition to its values. Without this rule, `nullable`
/// would have no effect beside `allOf`, where contracts use it for references.
fn convert_nullable(entries: &mut Vec<Entry>) {
    let Some(at) = entries.iter().position(|item| item.key.text == "nullable") else { return };
    let nullable = entries.remove(at);
    if !matches!(nullable.value.value, Value::Bool(true)) {
        return;
    }
    let span = nullable.key.span;
    let null = || Node { span, ..Node::string("null") };
    let has = |key: &str| entries.iter().any(|item| item.key.text == key);
    if ["allOf", "oneOf", "anyOf", "not"].into_iter().any(has) {
        let is_annotation = |item: &Entry| ANNOTATIONS.contains(&&*item.key) || item.key.starts_with("x-");
        let (annotations, values): (Vec<Entry>, Vec<Entry>) =
            std::mem::take(entries).into_iter().partition(is_annotation);
        *entries = annotations;
        let null_type = mapping(span, vec![entry("type", span, null().value)]);
        let alternatives = vec![mapping(span, values), null_type];
        entries.push(entry("anyOf", span, Value::Sequence(alternatives)));
        return;
    }
    let Some(declared) = entries.iter_mut().find(|item| item.key.text == "type") else { return };
    let name = declared.value.clone();
    declared.value.value = Value::Sequence(vec![name, null()]);
    if let Some(Value::Sequence(values)) =
        entries.iter_mut().find(|item| item.key.text == "enum").map(|item| &mut item.value.value)
        && !values.iter().any(|value| matches!(value.value, Value::Null))
    {
        values.push(Node { span, value: Value::Null });
    }
}
