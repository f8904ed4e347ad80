//! Merges the members of `allOf` into one object.
//!
//! The rules of this server require that no two members declare the same property. Other contracts restrict a property
//! of a base in this way, so the last declaration that is not a plain object or list determines the Rust type.

use std::collections::{BTreeMap, BTreeSet};

use super::directions::PropertyAccess;
use super::lower::Lowering;
use super::{AS_JSON, any, entry, mapping};
use crate::node::{Entry, Node, SpannedString, Value};
use crate::source::Span;

/// The maximum depth of `allOf` inside of members of `allOf`.
const MAX_DEPTH: usize = 32;

/// Returns one object for a schema with `allOf`, or `None` if the schema has no `allOf` or is only a reference with
/// annotations. A schema whose members are not all objects becomes one that allows any value.
pub(super) fn merged(lowering: &mut Lowering<'_>, schema: &Node) -> Option<Node> {
    let members = schema.get("allOf")?.items()?;
    if let [only] = members
        && only.get("$ref").is_some()
        && schema.get("properties").is_none()
    {
        let mut reference = lowering.schema(only);
        if let (Value::Mapping(entries), Some(description)) =
            (&mut reference.value, schema.entry("description"))
        {
            entries.retain(|item| item.key.text != "description");
            entries.push(description.clone());
        }
        return Some(reference);
    }
    if lowering.merges_left == 0 || lowering.merge_depth == MAX_DEPTH {
        lowering.notes.add(schema.span, "there are too many schemas with `allOf` inside of others", AS_JSON);
        return Some(any(schema.span));
    }
    lowering.merges_left -= 1;
    let mut object = MergedObject::default();
    if object.add(lowering, schema, 0).is_none() {
        lowering.notes.add(schema.span, "a member of `allOf` is not an object with properties", AS_JSON);
        return Some(any(schema.span));
    }
    let mut properties = Vec::new();
    lowering.merge_depth += 1;
    for (key, value) in &object.properties {
        properties.push(Entry { key: key.clone(), value: lowering.schema(value) });
    }
    lowering.merge_depth -= 1;
    let is_required = |name: &&Node| {
        let access = name.as_str().and_then(|name| object.access.get(name));
        access.is_some_and(|access| !lowering.directions.is_optional(schema, *access))
    };
    let names: Vec<Node> = object.required.iter().filter(is_required).cloned().collect();
    let span = schema.span;
    let mut entries: Vec<Entry> = ["title", "description", "deprecated"]
        .into_iter()
        .filter_map(|key| schema.entry(key).cloned())
        .collect();
    entries.push(entry("type", span, Value::String("object".to_owned())));
    entries.push(entry("required", span, Value::Sequence(names)));
    if properties.is_empty() {
        entries.push(entry("additionalProperties", span, Value::Bool(true)));
        entries.retain(|item| item.key.text != "required");
    } else {
        entries.push(entry("properties", span, Value::Mapping(properties)));
    }
    Some(mapping(span, entries))
}

#[derive(Default)]
struct MergedObject {
    /// The spans of the bases that were added. A base that is extended twice is added once.
    bases: BTreeSet<Span>,
    properties: Vec<(SpannedString, Node)>,
    /// Who can send each property.
    access: BTreeMap<String, PropertyAccess>,
    required: Vec<Node>,
}

impl MergedObject {
    /// Adds the properties of a schema and of the members of its `allOf`. Returns `None` if one of them is not an object
    /// with properties.
    fn add(&mut self, lowering: &Lowering<'_>, schema: &Node, depth: usize) -> Option<()> {
        let is_base = schema.get("$ref").is_some();
        let schema = lowering.resolve(schema);
        if is_base && !self.bases.insert(schema.span) {
            return Some(());
        }
        let is_object = schema.get("type").is_none_or(|name| name.as_str() == Some("object"));
        let is_composition =
            ["oneOf", "anyOf", "enum", "const", "$ref"].iter().any(|key| schema.get(key).is_some());
        if depth > MAX_DEPTH || !is_object || is_composition || schema.entries().is_none() {
            return None;
        }
        if schema.get("additionalProperties").is_some_and(|values| values.entries().is_some()) {
            return None;
        }
        for member in schema.get("allOf").and_then(Node::items).unwrap_or_default() {
            self.add(lowering, member, depth + 1)?;
        }
        for property in schema.get("properties").and_then(Node::entries).unwrap_or_default() {
            self.add_property(lowering, property);
        }
        self.required
            .extend(schema.get("required").and_then(Node::items).unwrap_or_default().iter().cloned());
        Some(())
    }

    fn add_property(&mut self, lowering: &Lowering<'_>, property: &Entry) {
        let access = self.access.entry(property.key.text.clone()).or_default();
        *access = access.and(PropertyAccess::of(lowering.root, &property.value));
        let declared = self.properties.iter_mut().find(|(key, _)| key.text == property.key.text);
        let Some((_, earlier)) = declared else {
            self.properties.push((property.key.clone(), property.value.clone()));
            return;
        };
        match (kind(lowering, earlier), kind(lowering, &property.value)) {
            (left, right) if left == right || left.is_none() => {
                if !is_plain(lowering.resolve(&property.value)) {
                    *earlier = property.value.clone();
                }
            }
            (_, None) => {}
            // No value matches both, or the types overlap in a way that no Rust type expresses.
            _ => *earlier = any(earlier.span),
        }
    }
}

/// Returns the type of a schema, if it has exactly one.
fn kind<'n>(lowering: &'n Lowering<'_>, schema: &'n Node) -> Option<&'n str> {
    let schema = lowering.resolve(schema);
    match schema.get("type") {
        Some(name) => name.as_str(),
        None => schema.get("allOf").map(|_| "object"),
    }
}

/// Returns whether a schema describes nothing but its JSON type.
fn is_plain(schema: &Node) -> bool {
    let describes = ["properties", "allOf", "oneOf", "anyOf", "enum", "const", "format", "items", "$ref"];
    !describes.iter().any(|key| schema.get(key).is_some())
}
