//! Finds what is identical in both documents, including everything it refers to, so that it need not be compared.
//!
//! This makes comparing a large contract with a slightly changed one fast. Identical objects have no findings.

use std::collections::{HashMap, HashSet};

use contract::node::{Node, Value};

use crate::document::{IndexedDocument, component_of};
use crate::schema::view::SchemaParts;
use crate::schema::{ancestors, value};

/// The sections of the components to which other objects refer.
const SECTIONS: [&str; 6] = ["schemas", "parameters", "responses", "headers", "requestBodies", "pathItems"];

/// The components that are identical in both documents.
pub(crate) struct Unchanged<'n> {
    components: HashSet<(&'n str, &'n str)>,
    /// False if the same text has another meaning in each document, because their versions differ.
    comparable: bool,
}

impl<'n> Unchanged<'n> {
    /// Finds the identical components: those whose own text and all of whose references are identical.
    pub(crate) fn of(base: &IndexedDocument<'n>, revision: &IndexedDocument<'n>) -> Self {
        let mut users: HashMap<(&str, &str), Vec<(&str, &str)>> = HashMap::new();
        let mut components = HashSet::new();
        let mut changed = Vec::new();
        for section in SECTIONS {
            for entry in base.section(section) {
                let own = (section, entry.key.text.as_str());
                let mut plain = true;
                references(&entry.value, &mut |used| match used {
                    Some(used) => users.entry(used).or_default().push(own),
                    None => plain = false,
                });
                let other = revision.component(section, own.1);
                if plain && other.is_some_and(|other| value::is_equal(&entry.value, other)) {
                    components.insert(own);
                } else {
                    changed.push(own);
                }
            }
        }
        for side in [base, revision] {
            for (descendant, ancestor) in descendants(side) {
                users.entry(descendant).or_default().push(ancestor);
                if base.component(descendant.0, descendant.1).is_none() {
                    changed.push(descendant);
                }
            }
        }
        while let Some(component) = changed.pop() {
            for user in users.remove(&component).unwrap_or_default() {
                if components.remove(&user) {
                    changed.push(user);
                }
            }
        }
        Self { components, comparable: base.document.version == revision.document.version }
    }

    /// Whether two nodes are identical, including what they refer to.
    pub(crate) fn nodes(&self, base: &Node, revision: &Node) -> bool {
        if !self.comparable || !value::is_equal(base, revision) {
            return false;
        }
        let mut same = true;
        references(base, &mut |used| {
            same &= used.is_some_and(|component| self.components.contains(&component))
        });
        same
    }

    /// Whether two schemas are identical, including what they refer to.
    pub(crate) fn parts(&self, base: &SchemaParts<'_>, revision: &SchemaParts<'_>) -> bool {
        base.nodes.len() == revision.nodes.len()
            && base.nodes.iter().zip(&revision.nodes).all(|(base, revision)| self.nodes(base, revision))
    }
}

/// A component by section and name.
type Component<'n> = (&'n str, &'n str);

/// Returns the schemas that extend a schema with a discriminator by `allOf`, each with that schema, which can select them.
fn descendants<'n>(side: &IndexedDocument<'n>) -> Vec<(Component<'n>, Component<'n>)> {
    let chooses = |name: &&str| {
        side.component("schemas", name).is_some_and(|ancestor| ancestor.get("discriminator").is_some())
    };
    let mut descendants = Vec::new();
    for entry in side.section("schemas") {
        let descendant = ("schemas", entry.key.text.as_str());
        let ancestors = ancestors(side, &entry.value).into_iter().filter(chooses);
        descendants.extend(ancestors.map(|ancestor| (descendant, ("schemas", ancestor))));
    }
    descendants
}

/// Visits every reference in a node: the component that it denotes, or `None` if it denotes something else.
fn references<'n>(node: &'n Node, visit: &mut impl FnMut(Option<Component<'n>>)) {
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(|item| references(item, visit)),
        Value::Mapping(entries) => {
            for entry in entries {
                match (entry.key.text.as_str(), entry.value.as_str()) {
                    ("$ref", Some(target)) => visit(component_of(target)),
                    ("discriminator", None) => mapped(&entry.value, visit),
                    _ => references(&entry.value, visit),
                }
            }
        }
        _ => {}
    }
}

/// Visits the schemas that a discriminator mapping names, by reference or by name.
fn mapped<'n>(discriminator: &'n Node, visit: &mut impl FnMut(Option<Component<'n>>)) {
    references(discriminator, visit);
    let mapping = discriminator.get("mapping").and_then(Node::entries).unwrap_or_default();
    for target in mapping.iter().filter_map(|entry| entry.value.as_str()) {
        visit(if target.starts_with('#') { component_of(target) } else { Some(("schemas", target)) });
    }
}
