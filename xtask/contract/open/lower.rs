//! Copies a document without the constructs that the generated code ignores.

use super::directions::{Directions, PropertyAccess};
use super::{
    AS_JSON, Notes, all_of, any, components, entry, map_entries, map_items, mapping, operations, resolve,
};
use crate::keywords;
use crate::node::{Entry, Node, Value};
use crate::read::scalar::STRING_FORMATS;

/// Keywords that the copy omits without a note: they do not determine the Rust type, and the server validates requests
/// with the original schemas. The copy keeps the other keywords that the reader supports.
const OMITTED_KEYWORDS: [&str; 10] = [
    "example",
    "examples",
    "externalDocs",
    "$comment",
    "$schema",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "unevaluatedProperties",
    "$id",
];

/// The original document and the notes about what the copy does not contain.
pub(super) struct Lowering<'a> {
    /// The document.
    pub root: &'a Node,
    /// The new names of schemas of `components`.
    pub renamed: components::Renamed,
    /// The schemas that requests and responses use.
    pub directions: Directions,
    /// The notes.
    pub notes: &'a mut Notes,
    /// How many more schemas with `allOf` are merged. The inline schemas of a base become types again in each schema that
    /// extends it, so their number can grow exponentially.
    pub merges_left: usize,
    /// The number of schemas with `allOf` around the current one.
    pub merge_depth: usize,
}

/// The maximum number of merged schemas.
const MAX_MERGES: usize = 10_000;

/// Copies a document.
pub(super) fn document(root: &Node, notes: &mut Notes) -> Node {
    let renamed = components::renamed_schemas(root, notes);
    let directions = Directions::of(root);
    let mut lowering = Lowering { root, renamed, directions, notes, merges_left: MAX_MERGES, merge_depth: 0 };
    let tags = operations::tags(&lowering);
    let mut entries = Vec::new();
    for item in root.entries().unwrap_or_default() {
        let value = match &*item.key {
            "openapi" => item.value.clone(),
            "info" => lowering.info(&item.value),
            "paths" => operations::paths(&mut lowering, &item.value, &tags),
            "webhooks" => operations::webhooks(&mut lowering, &item.value, &tags),
            "components" => components::lower(&mut lowering, &item.value),
            "servers" => {
                let help = "the server serves the paths as they are: mount it at the path of the server's URL, if it has one";
                lowering.notes.add(item.key.span, "`servers` is ignored", help);
                continue;
            }
            "security" | "tags" | "externalDocs" | "jsonSchemaDialect" => continue,
            _ if lowering.is_extension(item) => continue,
            _ => item.value.clone(),
        };
        entries.push(Entry { key: item.key.clone(), value });
    }
    entries.push(entry("tags", root.span, operations::declarations(root, &tags).value));
    mapping(root.span, entries)
}

impl Lowering<'_> {
    /// Returns whether an entry is an extension, and adds a note about it.
    pub(super) fn is_extension(&mut self, item: &Entry) -> bool {
        let is_extension = item.key.starts_with("x-");
        if is_extension {
            let message = format!("the extension `{}` is ignored", item.key.text);
            self.notes.add(item.key.span, message, "it has no effect on the generated code");
        }
        is_extension
    }

    /// Copies a node without extensions and without the entries whose keys are in `ignored` or `silent`. Only `silent` ones
    /// have no note. Unknown keywords stay, so that they are reported.
    pub(super) fn without(&mut self, node: &Node, ignored: &[&str], silent: &[&str]) -> Node {
        map_entries(node, |item| {
            let key = &*item.key;
            if silent.contains(&key) || self.is_extension(item) {
                return None;
            }
            if ignored.contains(&key) {
                let message = format!("`{key}` is ignored");
                self.notes.add(item.key.span, message, "it has no effect on the generated code");
                return None;
            }
            Some(item.value.clone())
        })
    }

    /// Copies the title and the version.
    fn info(&mut self, node: &Node) -> Node {
        map_entries(node, |item| {
            (!self.is_extension(item) && ["title", "version"].contains(&&*item.key))
                .then(|| item.value.clone())
        })
    }

    /// Returns the node that a local reference leads to, or the node itself.
    pub(super) fn resolve<'n>(&'n self, node: &'n Node) -> &'n Node {
        resolve(self.root, node)
    }

    /// Copies a schema.
    pub(super) fn schema(&mut self, node: &Node) -> Node {
        let Some(entries) = node.entries() else {
            return if matches!(node.value, Value::Bool(_)) { any(node.span) } else { node.clone() };
        };
        if let Some(reference) = entries.iter().find(|item| item.key.text == "$ref") {
            return self.reference(node, reference);
        }
        if let Some(merged) = all_of::merged(self, node) {
            return merged;
        }
        let is_typed =
            ["type", "enum", "const", "oneOf", "anyOf", "allOf"].iter().any(|key| node.get(key).is_some());
        if !is_typed {
            self.note_default(node);
            return any(node.span);
        }
        if let (Some(_), Some(values)) = (node.get("properties"), node.entry("additionalProperties"))
            && values.value.entries().is_some()
        {
            let message = "an object has `properties` and a schema for `additionalProperties`";
            self.notes.add(values.key.span, message, AS_JSON);
            return any(node.span);
        }
        let mut copied: Vec<Entry> = Vec::new();
        for item in entries {
            if let Some(value) = self.keyword(node, item) {
                copied.push(Entry { key: item.key.clone(), value });
            }
        }
        self.complete(node, &mut copied);
        mapping(node.span, copied)
    }

    /// Adds a note about the default of a schema, which the copy does not have.
    pub(super) fn note_default(&mut self, schema: &Node) {
        if let Some(default) = schema.entry("default") {
            let help = "the value is absent in the service if a request does not contain it";
            self.notes.add(default.key.span, "a default that has no Rust expression is ignored", help);
        }
    }

    /// Copies a reference, with the new name of its target.
    fn reference(&mut self, node: &Node, reference: &Entry) -> Node {
        self.note_default(node);
        let target = reference.value.as_str().map(|target| self.renamed.reference(target));
        let value = target.map_or_else(|| reference.value.value.clone(), Value::String);
        let mut entries =
            vec![Entry { key: reference.key.clone(), value: Node { span: reference.value.span, value } }];
        for key in ["description", "deprecated"] {
            entries.extend(node.entry(key).cloned());
        }
        mapping(node.span, entries)
    }

    /// Copies the value of a keyword, or returns `None` if the copy does not have the keyword.
    fn keyword(&mut self, schema: &Node, item: &Entry) -> Option<Node> {
        let key = &*item.key;
        let declared = schema.get("type").and_then(Node::as_str).unwrap_or_default();
        match key {
            _ if self.is_extension(item) || OMITTED_KEYWORDS.contains(&key) => None,
            "readOnly" | "writeOnly" => {
                let message = format!("`{key}` is not enforced");
                let help = if key == "readOnly" {
                    "ignore the property in requests; it is optional in types that requests use"
                } else {
                    "leave the property out of responses; it is optional in types that responses use"
                };
                self.notes.add(item.key.span, message, help);
                None
            }
            _ if !keywords::SCHEMA.supports(key) => {
                let message = format!("`{key}` does not change the generated types");
                self.notes.add(item.key.span, message, "requests are still validated against the schema");
                None
            }
            "properties" => Some(map_entries(&item.value, |property| Some(self.schema(&property.value)))),
            "items" => Some(self.schema(&item.value)),
            "additionalProperties" if matches!(item.value.value, Value::Bool(_)) => {
                // Properties that match a pattern are valid although they are not listed.
                schema.get("patternProperties").is_none().then(|| item.value.clone())
            }
            "additionalProperties" => Some(self.schema(&item.value)),
            "oneOf" | "anyOf" | "allOf" => Some(map_items(&item.value, |part| self.schema(part))),
            "discriminator" => Some(self.discriminator(&item.value))
                .filter(|_| schema.get("oneOf").or_else(|| schema.get("anyOf")).is_some()),
            "required" => Some(self.required_names(schema, &item.value)),
            "format" => self.format(schema, item),
            "enum" | "const" if ["boolean", "number"].contains(&declared) => {
                let message = format!("`{key}` of type {declared} does not change the generated types");
                self.notes.add(item.key.span, message, "requests are still validated against the schema");
                None
            }
            "default" if is_supported_default(schema, &item.value) => Some(item.value.clone()),
            "default" => {
                self.note_default(schema);
                None
            }
            _ => Some(item.value.clone()),
        }
    }

    /// Copies the names of `required` that `properties` declares and that all values contain.
    fn required_names(&self, schema: &Node, required: &Node) -> Node {
        let properties = schema.get("properties");
        let is_required = |name: &&Node| {
            let property = name.as_str().and_then(|name| properties?.get(name));
            property.is_some_and(|property| {
                !self.directions.is_optional(schema, PropertyAccess::of(self.root, property))
            })
        };
        let names = required.items().unwrap_or_default().iter().filter(is_required).cloned();
        Node { span: required.span, value: Value::Sequence(names.collect()) }
    }

    fn discriminator(&mut self, node: &Node) -> Node {
        let renamed = &self.renamed;
        let target = |node: &Node| match node.as_str() {
            Some(target) => Node { span: node.span, ..Node::string(renamed.reference(target)) },
            None => node.clone(),
        };
        map_entries(node, |item| match &*item.key {
            "mapping" => Some(map_entries(&item.value, |item| Some(target(&item.value)))),
            "propertyName" => Some(item.value.clone()),
            _ => None,
        })
    }

    /// Copies a format that has a Rust type or is well known. Any other format is ignored with a note.
    fn format(&mut self, schema: &Node, item: &Entry) -> Option<Node> {
        let types = schema.get("type");
        let is_type = |name: &str| {
            let names = types.and_then(Node::items).into_iter().flatten();
            types.into_iter().chain(names).any(|node| node.as_str() == Some(name))
        };
        let format = item.value.as_str().unwrap_or_default();
        let is_known =
            (is_type("string") && STRING_FORMATS.contains(&format) && schema.get("enum").is_none())
                || (is_type("integer") && ["int32", "int64"].contains(&format))
                || (is_type("number") && ["float", "double"].contains(&format));
        if !is_known {
            let message = format!("the format `{format}` is ignored");
            self.notes.add(item.value.span, message, "the value has the plain type of the schema");
        }
        is_known.then(|| item.value.clone())
    }

    /// Adds the keywords that the reader requires and OpenAPI does not.
    fn complete(&mut self, node: &Node, entries: &mut Vec<Entry>) {
        let declared = node.get("type").and_then(Node::as_str).unwrap_or_default();
        let has = |entries: &[Entry], key: &str| entries.iter().any(|item| item.key.text == key);
        let is_type = |name: &str| {
            let names = node.get("type").and_then(Node::items).unwrap_or_default();
            declared == name || names.iter().any(|node| node.as_str() == Some(name))
        };
        if is_type("object") && !has(entries, "properties") {
            // Without properties, `false` would leave only the empty object.
            let is_open =
                |item: &Entry| item.key.text != "required" && !matches!(item.value.value, Value::Bool(false));
            entries.retain(is_open);
            if !has(entries, "additionalProperties") {
                entries.push(entry("additionalProperties", node.span, Value::Bool(true)));
            }
        }
        if is_type("array") && !has(entries, "items") {
            entries.push(entry("items", node.span, Value::Bool(true)));
        }
    }
}

/// Returns whether the generated code supports a default: a scalar of the declared type, without a special Rust type.
fn is_supported_default(schema: &Node, default: &Node) -> bool {
    let declared = schema.get("type").and_then(Node::as_str).unwrap_or_default();
    let has_rust_type = schema
        .get("format")
        .and_then(Node::as_str)
        .is_some_and(|format| ["date-time", "date", "uuid", "byte"].contains(&format));
    match &default.value {
        Value::String(_) => declared == "string" && !has_rust_type,
        Value::Integer(_) => ["integer", "number"].contains(&declared),
        Value::Float(_) => declared == "number",
        Value::Bool(_) => declared == "boolean",
        Value::Sequence(items) => declared == "array" && items.is_empty(),
        Value::Null | Value::Mapping(_) => false,
    }
}
