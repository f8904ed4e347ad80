//! What is word for word the same in both documents, all the way down, and need not be looked at.
//!
//! Owns the speed of comparing a large contract with a slightly changed one. What it calls the same has no findings.

use std::collections::{HashMap, HashSet};

use crate::breaking::document::{Side, component_of};
use crate::breaking::schema::value;
use crate::breaking::schema::view::Parts;
use crate::contract::node::{Node, Value};

/// The sections of the components whose entries other parts are made of.
const SECTIONS: [&str; 6] = ["schemas", "parameters", "responses", "headers", "requestBodies", "pathItems"];

/// The components that are the same.
pub struct Same<'n> {
    components: HashSet<(&'n str, &'n str)>,
    /// False when the same text means another thing in either document.
    comparable: bool,
}

impl<'n> Same<'n> {
    /// Finds what is the same: a component is so when its text is, and that of all it refers to.
    pub fn of(base: &Side<'n>, revision: &Side<'n>) -> Self {
        let mut users: HashMap<(&str, &str), Vec<(&str, &str)>> = HashMap::new();
        let mut components = HashSet::new();
        let mut changed = Vec::new();
        for section in SECTIONS {
            for entry in base.section(section) {
                let own = (section, entry.key.text.as_str());
                let mut plain = true;
                references(&entry.value, &mut |target| match component_of(target) {
                    Some(used) => users.entry(used).or_default().push(own),
                    None => plain = false,
                });
                let other = revision.component(section, own.1);
                if plain && other.is_some_and(|other| value::same(&entry.value, other)) {
                    components.insert(own);
                } else {
                    changed.push(own);
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

    /// Whether two texts are the same.
    pub fn nodes(&self, base: &Node, revision: &Node) -> bool {
        if !self.comparable || !value::same(base, revision) {
            return false;
        }
        let mut same = true;
        references(base, &mut |target| {
            same &= component_of(target).is_some_and(|component| self.components.contains(&component));
        });
        same
    }

    /// Whether two schemas are the same.
    pub fn parts(&self, base: &Parts<'_>, revision: &Parts<'_>) -> bool {
        base.nodes.len() == revision.nodes.len()
            && base.nodes.iter().zip(&revision.nodes).all(|(base, revision)| self.nodes(base, revision))
    }
}

/// Tells of every reference inside of a text.
fn references<'n>(node: &'n Node, tell: &mut impl FnMut(&'n str)) {
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(|item| references(item, tell)),
        Value::Mapping(entries) => {
            for entry in entries {
                match entry.value.as_str() {
                    Some(target) if entry.key.text == "$ref" => tell(target),
                    _ => references(&entry.value, tell),
                }
            }
        }
        _ => {}
    }
}
