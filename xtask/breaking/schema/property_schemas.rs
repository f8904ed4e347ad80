//! Finds the schemas that apply to a property: its declared schema and those of matching patterns, or else those of
//! additional or unevaluated properties.

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
    pub is_declared: bool,
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
    properties: Option<&'n Node>,
    patterns: Vec<(Regex, &'n Node)>,
    additional: Option<&'n Node>,
}

impl<'n> SubschemaProperties<'n> {
    /// Reads the keywords of a subschema. Returns `None` if it has none of them.
    fn of(subschema: Subschema<'_, 'n>) -> Option<Self> {
        let value = |keyword| subschema.entry(keyword).map(|entry| &entry.value);
        let (properties, patterns, additional) =
            (value("properties"), value("patternProperties"), value("additionalProperties"));
        properties.or(patterns).or(additional)?;
        let patterns = patterns.and_then(Node::entries).unwrap_or_default();
        // Unsupported patterns are ignored.
        let compile = |entry: &'n Entry| Some((Regex::new(&entry.key.text).ok()?, &entry.value));
        Some(Self { properties, patterns: patterns.iter().filter_map(compile).collect(), additional })
    }
}

impl<'a, 'n> SchemaProperties<'a, 'n> {
    /// Collects the properties of a schema.
    pub(super) fn of(view: &'a SchemaView<'n>) -> Self {
        Self { view, subschemas: view.subschemas().filter_map(SubschemaProperties::of).collect() }
    }

    /// Returns the names of the declared properties.
    pub(super) fn names(&self) -> BTreeSet<&'n str> {
        let declared =
            self.subschemas.iter().filter_map(|subschema| subschema.properties?.entries()).flatten();
        declared.map(|entry| entry.key.text.as_str()).collect()
    }

    /// Returns the schemas that apply to a property.
    pub(super) fn get(&self, name: &str) -> PropertySchemas<'n> {
        let mut property =
            PropertySchemas { parts: SchemaParts::any(self.view.position("properties")), is_declared: false };
        let mut is_evaluated = false;
        for subschema in &self.subschemas {
            let declared = subschema.properties.and_then(|properties| properties.entry(name));
            if let Some(declared) = declared.filter(|_| !property.is_declared) {
                property.parts.span = declared.key.span;
            }
            property.is_declared |= declared.is_some();
            let declared = declared.map(|entry| &entry.value);
            let by_pattern = subschema.patterns.iter().filter(|(regex, _)| regex.is_match(name));
            let mut schemas: Vec<&Node> =
                declared.into_iter().chain(by_pattern.map(|(_, node)| *node)).collect();
            if schemas.is_empty() {
                schemas.extend(subschema.additional);
            }
            is_evaluated |= !schemas.is_empty();
            property.parts.nodes.extend(schemas.into_iter().filter(|node| !accepts_everything(node)));
        }
        if !is_evaluated {
            let unevaluated = self.view.parts("unevaluatedProperties");
            property.parts.nodes.extend(unevaluated.into_iter().flat_map(|parts| parts.nodes));
        }
        property
    }
}
