//! Determines which schemas requests and responses use: a required property with `readOnly` is optional in requests, and
//! one with `writeOnly` is optional in responses.

use std::collections::{BTreeSet, HashSet};

use super::resolve;
use crate::model::Method;
use crate::node::{Node, Value};
use crate::source::Span;

/// The schemas that requests and responses use, by their spans.
#[derive(Default)]
pub(super) struct Directions {
    requests: BTreeSet<Span>,
    responses: BTreeSet<Span>,
}

impl Directions {
    /// Follows the parameters, bodies and references of a document. The server sends the bodies of webhooks, so they
    /// count as responses.
    pub(super) fn of(root: &Node) -> Self {
        let mut directions = Self::default();
        let entries = |key: &str| root.get(key).and_then(Node::entries).unwrap_or_default();
        for path in entries("paths") {
            path.value
                .get("parameters")
                .into_iter()
                .for_each(|node| collect(root, node, &mut directions.requests));
            for item in path.value.entries().unwrap_or_default() {
                if Method::from_key(&item.key).is_none() {
                    continue;
                }
                for key in ["parameters", "requestBody"] {
                    let node = item.value.get(key);
                    node.into_iter().for_each(|node| collect(root, node, &mut directions.requests));
                }
                let responses = item.value.get("responses");
                responses.into_iter().for_each(|node| collect(root, node, &mut directions.responses));
            }
        }
        for webhook in entries("webhooks") {
            collect(root, &webhook.value, &mut directions.responses);
        }
        directions
    }

    /// Returns whether a property need not be present in each value of a schema although it is required.
    pub(super) fn is_optional(&self, schema: &Node, property: PropertyAccess) -> bool {
        (property.is_read_only && self.requests.contains(&schema.span))
            || (property.is_write_only && self.responses.contains(&schema.span))
    }
}

/// Who can send a property.
#[derive(Clone, Copy, Default)]
pub(super) struct PropertyAccess {
    is_read_only: bool,
    is_write_only: bool,
}

impl PropertyAccess {
    /// Reads the keywords of a property, of the schemas that it references, and of the members of its `allOf`.
    pub(super) fn of(root: &Node, property: &Node) -> Self {
        let mut access = Self::default();
        let mut visited = HashSet::new();
        let mut pending = vec![property];
        while let Some(schema) = pending.pop() {
            if !visited.insert(std::ptr::from_ref(schema)) {
                continue;
            }
            let has = |key| matches!(schema.get(key).map(|flag| &flag.value), Some(Value::Bool(true)));
            access = access.and(Self { is_read_only: has("readOnly"), is_write_only: has("writeOnly") });
            pending.extend(schema.get("$ref").map(|_| resolve(root, schema)));
            pending.extend(schema.get("allOf").and_then(Node::items).unwrap_or_default());
        }
        access
    }

    /// Combines the declarations of the same property.
    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            is_read_only: self.is_read_only || other.is_read_only,
            is_write_only: self.is_write_only || other.is_write_only,
        }
    }
}

/// Adds the spans of all nodes in a node and behind its references.
fn collect(root: &Node, node: &Node, spans: &mut BTreeSet<Span>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        let is_collection = node.entries().is_some() || node.items().is_some();
        if !is_collection || !spans.insert(node.span) {
            continue;
        }
        if node.get("$ref").is_some() {
            open.push(resolve(root, node));
        }
        open.extend(node.entries().unwrap_or_default().iter().map(|entry| &entry.value));
        open.extend(node.items().unwrap_or_default());
    }
}
