//! Finds the schemas that apply to a property: its own, those of matching patterns, or that of additional properties.

use std::collections::BTreeSet;

use contract::node::{Entry, Node, Value};
use regex::Regex;

use super::view::{SchemaParts, SchemaView, Subschema, accepts_everything};

/// The schemas that apply to a property.
#[derive(Clone, Debug)]
pub(super) struct PropertySchemas<'n> {
    /// The schemas.
    pub parts: SchemaParts<'n>,
    /// Whether the property is declared in `properties`.
    pub named: bool,
}

impl PropertySchemas<'_> {
    /// Whether the property is never valid.
    pub(super) fn is_rejected(&self) -> bool {
        self.parts.nodes.iter().any(|node| matches!(node.value, Value::Bool(false)))
    }

    /// Whether every value is valid.
    pub(super) const fn accepts_everything(&self) -> bool {
        self.parts.nodes.is_empty()
    }
}

/// The properties of a schema.
pub(super) struct SchemaProperties<'a, 'n> {
    view: &'a SchemaView<'n>,
    subschemas: Vec<SubschemaProperties<'n>>,
}

/// The keywords of one subschema that apply to properties.
struct SubschemaProperties<'n> {
    named: Option<&'n Node>,
    patterns: Vec<(Regex, &'n Node)>,
    others: Option<&'n Node>,
}

impl<'n> SubschemaProperties<'n> {
    fn of(subschema: Subschema<'_, 'n>) -> Option<Self> {
        let value = |keyword| subschema.entry(keyword).map(|entry| &entry.value);
        let (named, patterns, others) =
            (value("properties"), value("patternProperties"), value("additionalProperties"));
        named.or(patterns).or(others)?;
        let patterns = patterns.and_then(Node::entries).unwrap_or_default();
        // Unsupported patterns are ignored.
        let read = |entry: &'n Entry| Some((Regex::new(&entry.key.text).ok()?, &entry.value));
        Some(Self { named, patterns: patterns.iter().filter_map(read).collect(), others })
    }
}

impl<'a, 'n> SchemaProperties<'a, 'n> {
    /// Collects the properties of a schema.
    pub(super) fn of(view: &'a SchemaView<'n>) -> Self {
        Self { view, subschemas: view.subschemas().filter_map(SubschemaProperties::of).collect() }
    }

    /// Returns the names of the declared properties.
    pub(super) fn names(&self) -> BTreeSet<&'n str> {
        let named = self.subschemas.iter().filter_map(|subschema| subschema.named?.entries()).flatten();
        named.map(|entry| entry.key.text.as_str()).collect()
    }

    /// Returns the schemas that apply to a property.
    pub(super) fn get(&self, name: &str) -> PropertySchemas<'n> {
        let mut property =
            PropertySchemas { parts: SchemaParts::any(self.view.position("properties")), named: false };
        let mut evaluated = false;
        for subschema in &self.subschemas {
            let own = subschema.named.and_then(|named| named.entry(name));
            if let Some(own) = own.filter(|_| !property.named) {
                property.parts.at = own.key.span;
            }
            property.named |= own.is_some();
            let own = own.map(|entry| &entry.value);
            let by_pattern = subschema.patterns.iter().filter(|(regex, _)| regex.is_match(name));
            let mut found: Vec<&Node> = own.into_iter().chain(by_pattern.map(|(_, node)| *node)).collect();
            if found.is_empty() {
                found.extend(subschema.others);
            }
            evaluated |= !found.is_empty();
            property.parts.nodes.extend(found.into_iter().filter(|node| !accepts_everything(node)));
        }
        if !evaluated {
            let rest = self.view.parts("unevaluatedProperties");
            property.parts.nodes.extend(rest.into_iter().flat_map(|parts| parts.nodes));
        }
        property
    }
}
