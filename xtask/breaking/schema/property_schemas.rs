//! Finds the schemas that apply to a property: its declared schema and those of matching patterns, or else those of
//! additional or unevaluated properties.

use std::collections::{BTreeSet, HashMap};

use contract::node::{Entry, Node, Value};
use regex::Regex;

use super::patterns;
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
    /// The declared properties by name.
    properties: HashMap<&'n str, &'n Entry>,
    patterns: Vec<PatternSchema<'n>>,
    /// Whether a pattern is not supported. It is not in `patterns`.
    has_unsupported_pattern: bool,
    additional: Option<&'n Node>,
}

/// A pattern of `patternProperties` and its schema.
struct PatternSchema<'n> {
    pattern: &'n str,
    regex: Regex,
    node: &'n Node,
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
        let compile = |entry: &'n Entry| {
            let regex = patterns::compile(&entry.key.text)?;
            Some(PatternSchema { pattern: &entry.key.text, regex, node: &entry.value })
        };
        let supported: Vec<PatternSchema<'_>> = patterns.iter().filter_map(compile).collect();
        let has_unsupported_pattern = supported.len() < patterns.len();
        let declared = properties.and_then(Node::entries).unwrap_or_default().iter();
        let properties = declared.map(|entry| (entry.key.text.as_str(), entry)).collect();
        Some(Self { properties, patterns: supported, has_unsupported_pattern, additional })
    }
}

impl<'a, 'n> SchemaProperties<'a, 'n> {
    /// Collects the properties of a schema.
    pub(super) fn of(view: &'a SchemaView<'n>) -> Self {
        Self { view, subschemas: view.subschemas().filter_map(SubschemaProperties::of).collect() }
    }

    /// Returns the names of the declared properties.
    pub(super) fn names(&self) -> BTreeSet<&'n str> {
        self.subschemas.iter().flat_map(|subschema| subschema.properties.keys().copied()).collect()
    }

    /// Returns the schemas that apply to a property.
    pub(super) fn get(&self, name: &str) -> PropertySchemas<'n> {
        self.find(name, true)
    }

    /// Returns the schemas that certainly apply to a property: without `unevaluatedProperties`, because a part of the
    /// schema that is not merged, such as an alternative, can evaluate the property.
    pub(super) fn get_certain(&self, name: &str) -> Vec<&'n Node> {
        if self.has_unsupported_pattern() { Vec::new() } else { self.find(name, false).parts.nodes }
    }

    /// Whether a pattern is not supported, so that the properties to which it applies are unknown.
    pub(super) fn has_unsupported_pattern(&self) -> bool {
        self.subschemas.iter().any(|subschema| subschema.has_unsupported_pattern)
    }

    /// Returns the patterns with their schemas.
    pub(super) fn patterns(&self) -> impl Iterator<Item = (&'n str, &'n Node)> {
        let patterns = self.subschemas.iter().flat_map(|subschema| &subschema.patterns);
        patterns.map(|pattern| (pattern.pattern, pattern.node))
    }

    /// Returns the schemas of additional properties, each with the patterns to which it does not apply.
    pub(super) fn additional(&self) -> impl Iterator<Item = (Vec<&'n str>, &'n Node)> {
        self.subschemas.iter().filter_map(|subschema| {
            let patterns = subschema.patterns.iter().map(|pattern| pattern.pattern).collect();
            Some((patterns, subschema.additional?))
        })
    }

    /// Returns the schemas that certainly apply to undeclared properties whose name matches a pattern.
    pub(super) fn certain_for_pattern(&self, pattern: &str) -> Vec<&'n Node> {
        if self.has_unsupported_pattern() {
            return Vec::new();
        }
        let of_subschema = |subschema: &SubschemaProperties<'n>| -> Vec<&'n Node> {
            let same = subschema.patterns.iter().filter(|other| other.pattern == pattern);
            let same: Vec<&Node> = same.map(|other| other.node).collect();
            let is_additional =
                subschema.patterns.iter().all(|other| !patterns::may_overlap(other.pattern, pattern));
            if is_additional { subschema.additional.into_iter().collect() } else { same }
        };
        self.subschemas.iter().flat_map(of_subschema).collect()
    }

    /// Returns the schemas that certainly apply to undeclared properties whose name matches none of the patterns.
    pub(super) fn certain_for_others(&self, excluded: &[&str]) -> Vec<&'n Node> {
        let applies = |subschema: &&SubschemaProperties<'n>| {
            !subschema.has_unsupported_pattern
                && subschema.patterns.iter().all(|pattern| excluded.contains(&pattern.pattern))
        };
        self.subschemas.iter().filter(applies).filter_map(|subschema| subschema.additional).collect()
    }

    fn find(&self, name: &str, with_unevaluated: bool) -> PropertySchemas<'n> {
        let mut property =
            PropertySchemas { parts: SchemaParts::any(self.view.position("properties")), is_declared: false };
        let mut is_evaluated = false;
        for subschema in &self.subschemas {
            let declared = subschema.properties.get(name).copied();
            if let Some(declared) = declared.filter(|_| !property.is_declared) {
                property.parts.span = declared.key.span;
            }
            property.is_declared |= declared.is_some();
            let declared = declared.map(|entry| &entry.value);
            let by_pattern = subschema.patterns.iter().filter(|pattern| pattern.regex.is_match(name));
            let mut schemas: Vec<&Node> =
                declared.into_iter().chain(by_pattern.map(|pattern| pattern.node)).collect();
            if schemas.is_empty() {
                schemas.extend(subschema.additional);
            }
            is_evaluated |= !schemas.is_empty();
            property.parts.nodes.extend(schemas.into_iter().filter(|node| !accepts_everything(node)));
        }
        if !is_evaluated && with_unevaluated {
            let unevaluated = self.view.parts("unevaluatedProperties");
            property.parts.nodes.extend(unevaluated.into_iter().flat_map(|parts| parts.nodes));
        }
        property
    }
}
