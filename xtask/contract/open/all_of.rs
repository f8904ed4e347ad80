//! Merges the members of `allOf` into one object.
//!
//! The rules of this server require that no two members declare the same property. Other contracts restrict a property
//! of a base in this way. Objects have the properties of all declarations; otherwise, the last declaration that is not
//! only a type determines the Rust type.

use std::collections::{BTreeMap, BTreeSet, HashSet};

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
    lowering.note_default(schema);
    let mut object = MergedObject::default();
    if object.add(lowering, schema, 0).is_none() {
        lowering.notes.add(schema.span, "a member of `allOf` is not an object with properties", AS_JSON);
        return Some(any(schema.span));
    }
    for name in &object.conflicts {
        let message = format!("the declarations of `{}` in `allOf` have different types", name.text);
        lowering.notes.add(name.span, message, AS_JSON);
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
    /// The properties whose declarations have different types.
    conflicts: Vec<SpannedString>,
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
        match combined(lowering, earlier, &property.value, 0) {
            Some(schema) => *earlier = schema,
            None => {
                *earlier = any(earlier.span);
                self.conflicts.push(property.key.clone());
            }
        }
    }
}

/// Returns a schema that allows each value that two schemas allow. Returns `None` if the schemas have different types: no
/// value matches both. `depth` is the number of arrays around the schemas, which can contain themselves.
fn combined(lowering: &Lowering<'_>, earlier: &Node, later: &Node, depth: usize) -> Option<Node> {
    if depth == MAX_DEPTH {
        return Some(later.clone());
    }
    let (left, right) = (lowering.resolve(earlier), lowering.resolve(later));
    let same_type = match (kind(left), kind(right)) {
        (Some("integer"), Some("number")) => return Some(earlier.clone()),
        (Some("number"), Some("integer")) => return Some(later.clone()),
        (Some(left), Some(right)) if left != right => return None,
        (Some(left), Some(_)) => Some(left),
        // Without a type, the other declaration only restricts the values.
        (Some(left), None) if is_scalar(left) => return Some(earlier.clone()),
        (None, Some(right)) if is_scalar(right) => return Some(later.clone()),
        _ => None,
    };
    if left.span == right.span || is_plain(right) && (kind(left).is_some() || kind(right).is_none()) {
        return Some(earlier.clone());
    }
    if extends(lowering, left, right) {
        return Some(earlier.clone());
    }
    if is_plain(left) || extends(lowering, right, left) {
        return Some(later.clone());
    }
    let list = |key: &str, value: Value| mapping(earlier.span, vec![entry(key, earlier.span, value)]);
    match same_type {
        Some("array") => {
            let items = left.get("items").zip(right.get("items"));
            let items = items.and_then(|(earlier, later)| combined(lowering, earlier, later, depth + 1));
            let Some(items) = items else { return Some(later.clone()) };
            let mut entries: Vec<Entry> = right.entries().unwrap_or_default().to_vec();
            entries.retain(|item| item.key.text != "items");
            entries.push(Entry {
                key: SpannedString { text: "items".to_owned(), span: items.span },
                value: items,
            });
            Some(mapping(earlier.span, entries))
        }
        // The properties of both. A union has no properties: the merged schema allows any value, with a note.
        Some("object") | None => Some(list("allOf", Value::Sequence(vec![earlier.clone(), later.clone()]))),
        Some(_) => Some(later.clone()),
    }
}

/// Returns whether `base` is in the `allOf` of a schema, at any depth.
fn extends<'n>(lowering: &'n Lowering<'_>, schema: &'n Node, base: &Node) -> bool {
    let mut visited = HashSet::new();
    let mut pending = vec![schema];
    while let Some(schema) = pending.pop() {
        if !visited.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        let members = schema.get("allOf").and_then(Node::items).unwrap_or_default();
        for member in members.iter().map(|member| lowering.resolve(member)) {
            if member.span == base.span {
                return true;
            }
            pending.push(member);
        }
    }
    false
}

/// Returns the type of a schema without null, if it has exactly one.
fn kind(schema: &Node) -> Option<&str> {
    let Some(declared) = schema.get("type") else { return schema.get("allOf").map(|_| "object") };
    let names = declared.items().unwrap_or(std::slice::from_ref(declared)).iter().filter_map(Node::as_str);
    let mut names = names.filter(|name| *name != "null");
    names.next().filter(|_| names.next().is_none())
}

fn is_scalar(kind: &str) -> bool {
    ["string", "integer", "number", "boolean"].contains(&kind)
}

/// Returns whether a schema describes nothing but its JSON type.
fn is_plain(schema: &Node) -> bool {
    let describes = [
        "properties",
        "allOf",
        "oneOf",
        "anyOf",
        "enum",
        "const",
        "format",
        "items",
        "additionalProperties",
        "$ref",
    ];
    !describes.iter().any(|key| schema.get(key).is_some())
}
