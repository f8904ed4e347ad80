//! Finds the components that are identical in both documents, including all components to which they refer.
//!
//! Identical objects have no findings, so they are not compared. This makes it fast to compare a large contract with a
//! slightly changed one.

use std::collections::{HashMap, HashSet};

use contract::node::{Node, Value};
use contract::version::Version;

use crate::document::{IndexedDocument, component_of};
use crate::schema::view::SchemaParts;
use crate::schema::{ancestors, value};

/// The sections of `components` that are searched. [`Unchanged::are_nodes_unchanged`] returns false for a node that
/// refers to an entry of another section.
const SECTIONS: [&str; 6] = ["schemas", "parameters", "responses", "headers", "requestBodies", "pathItems"];

/// The components that are identical in both documents.
pub(crate) struct Unchanged<'n> {
    components: HashSet<Component<'n>>,
    /// Whether equal schemas mean the same in both documents. They can differ between OpenAPI 3.0 and later versions.
    is_same_version: bool,
}

impl<'n> Unchanged<'n> {
    /// Finds the identical components: those with equal values whose references lead only to identical components.
    pub(crate) fn of(base: &IndexedDocument<'n>, revision: &IndexedDocument<'n>) -> Self {
        // For each component, the components that refer to it.
        let mut users: HashMap<Component<'_>, Vec<Component<'_>>> = HashMap::new();
        let mut components = HashSet::new();
        let mut changed = Vec::new();
        for section in SECTIONS {
            for entry in base.section(section) {
                let component = (section, entry.key.text.as_str());
                let mut refers_only_to_components = true;
                visit_references(&entry.value, &mut |target| match target {
                    Some(target) => users.entry(target).or_default().push(component),
                    None => refers_only_to_components = false,
                });
                let after = revision.component(section, component.1);
                if refers_only_to_components
                    && after.is_some_and(|after| value::is_equal(&entry.value, after))
                {
                    components.insert(component);
                } else {
                    changed.push(component);
                }
            }
        }
        // A schema with a discriminator also depends on its descendants, to which it does not refer.
        for side in [base, revision] {
            for (descendant, ancestor) in discriminated_descendants(side) {
                users.entry(descendant).or_default().push(ancestor);
                if base.component(descendant.0, descendant.1).is_none() {
                    changed.push(descendant);
                }
            }
        }
        // A component that refers to a changed one is not identical either.
        while let Some(component) = changed.pop() {
            for user in users.remove(&component).unwrap_or_default() {
                if components.remove(&user) {
                    changed.push(user);
                }
            }
        }
        let is_same_version =
            (base.document.version == Version::V30) == (revision.document.version == Version::V30);
        Self { components, is_same_version }
    }

    /// Whether two nodes are identical, including the components to which they refer.
    pub(crate) fn are_nodes_unchanged(&self, base: &Node, revision: &Node) -> bool {
        if !self.is_same_version || !value::is_equal(base, revision) {
            return false;
        }
        let mut is_unchanged = true;
        visit_references(base, &mut |target| {
            is_unchanged &= target.is_some_and(|component| self.components.contains(&component))
        });
        is_unchanged
    }

    /// Whether a reference refers to a component that is identical in both documents.
    pub(crate) fn is_target_unchanged(&self, reference: &str) -> bool {
        component_of(reference).is_some_and(|component| self.components.contains(&component))
    }

    /// Whether two schemas are identical, including the components to which they refer.
    pub(crate) fn is_schema_unchanged(&self, base: &SchemaParts<'_>, revision: &SchemaParts<'_>) -> bool {
        base.nodes.len() == revision.nodes.len()
            && base
                .nodes
                .iter()
                .zip(&revision.nodes)
                .all(|(base, revision)| self.are_nodes_unchanged(base, revision))
    }
}

/// A component by section and name.
type Component<'n> = (&'n str, &'n str);

/// Returns pairs of schemas: the first extends the second through `allOf`, and the second has a discriminator, which
/// can select the first.
fn discriminated_descendants<'n>(side: &IndexedDocument<'n>) -> Vec<(Component<'n>, Component<'n>)> {
    let has_discriminator = |name: &&str| {
        side.component("schemas", name).is_some_and(|ancestor| ancestor.get("discriminator").is_some())
    };
    let mut descendants = Vec::new();
    for entry in side.section("schemas") {
        let descendant = ("schemas", entry.key.text.as_str());
        let ancestors = ancestors(side, &entry.value).into_iter().filter(has_discriminator);
        descendants.extend(ancestors.map(|ancestor| (descendant, ("schemas", ancestor))));
    }
    descendants
}

/// Visits every reference in a node: the component to which it refers, or `None` if its target is not a component.
fn visit_references<'n>(node: &'n Node, visit: &mut impl FnMut(Option<Component<'n>>)) {
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(|item| visit_references(item, visit)),
        Value::Mapping(entries) => {
            for entry in entries {
                match (entry.key.text.as_str(), entry.value.as_str()) {
                    ("$ref", Some(target)) => visit(component_of(target)),
                    ("discriminator", None) => visit_discriminator(&entry.value, visit),
                    _ => visit_references(&entry.value, visit),
                }
            }
        }
        _ => {}
    }
}

/// Visits the schemas that a discriminator selects, by reference or by name.
fn visit_discriminator<'n>(discriminator: &'n Node, visit: &mut impl FnMut(Option<Component<'n>>)) {
    visit_references(discriminator, visit);
    let mapping = discriminator.get("mapping").and_then(Node::entries).unwrap_or_default();
    // OpenAPI 3.2.
    let default = discriminator.get("defaultMapping");
    for target in mapping.iter().map(|entry| &entry.value).chain(default).filter_map(Node::as_str) {
        visit(if target.starts_with('#') { component_of(target) } else { Some(("schemas", target)) });
    }
}
