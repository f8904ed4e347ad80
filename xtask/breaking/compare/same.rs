//! What is word for word the same in both documents, all the way down, and need not be looked at.
//!
//! Owns the speed of comparing a large contract with a slightly changed one. What it calls the same has no findings.

use std::collections::{HashMap, HashSet};

use contract::node::{Node, Value};

use crate::document::{Side, component_of};
use crate::schema::view::Parts;
use crate::schema::{owners, value};

/// The sections of the components whose entries other parts are made of.
const SECTIONS: [&str; 6] = ["schemas", "parameters", "responses", "headers", "requestBodies", "pathItems"];

/// The components that are the same.
pub(crate) struct Same<'n> {
    components: HashSet<(&'n str, &'n str)>,
    /// False when the same text means another thing in either document.
    comparable: bool,
}

impl<'n> Same<'n> {
    /// Finds what is the same: a component is so when its text is, and that of all it refers to.
    pub(crate) fn of(base: &Side<'n>, revision: &Side<'n>) -> Self {
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
                if plain && other.is_some_and(|other| value::same(&entry.value, other)) {
                    components.insert(own);
                } else {
                    changed.push(own);
                }
            }
        }
        for side in [base, revision] {
            for (heir, owner) in heirs(side) {
                users.entry(heir).or_default().push(owner);
                if base.component(heir.0, heir.1).is_none() {
                    changed.push(heir);
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
    pub(crate) fn nodes(&self, base: &Node, revision: &Node) -> bool {
        if !self.comparable || !value::same(base, revision) {
            return false;
        }
        let mut same = true;
        references(base, &mut |used| {
            same &= used.is_some_and(|component| self.components.contains(&component))
        });
        same
    }

    /// Whether two schemas are the same.
    pub(crate) fn parts(&self, base: &Parts<'_>, revision: &Parts<'_>) -> bool {
        base.nodes.len() == revision.nodes.len()
            && base.nodes.iter().zip(&revision.nodes).all(|(base, revision)| self.nodes(base, revision))
    }
}

/// A component by its section and name.
type Component<'n> = (&'n str, &'n str);

/// The schemas that are one of another's, each with that one: its discriminator leads to them.
fn heirs<'n>(side: &Side<'n>) -> Vec<(Component<'n>, Component<'n>)> {
    let chooses = |name: &&str| {
        side.component("schemas", name).is_some_and(|owner| owner.get("discriminator").is_some())
    };
    let mut heirs = Vec::new();
    for entry in side.section("schemas") {
        let heir = ("schemas", entry.key.text.as_str());
        let owners = owners(side, &entry.value).into_iter().filter(chooses);
        heirs.extend(owners.map(|owner| (heir, ("schemas", owner))));
    }
    heirs
}

/// Tells of every reference inside of a text which component it leads to; of one that leads to none, `None`.
fn references<'n>(node: &'n Node, tell: &mut impl FnMut(Option<Component<'n>>)) {
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(|item| references(item, tell)),
        Value::Mapping(entries) => {
            for entry in entries {
                match (entry.key.text.as_str(), entry.value.as_str()) {
                    ("$ref", Some(target)) => tell(component_of(target)),
                    ("discriminator", None) => mapped(&entry.value, tell),
                    _ => references(&entry.value, tell),
                }
            }
        }
        _ => {}
    }
}

/// The schemas that a mapping names, by their reference or by their name.
fn mapped<'n>(discriminator: &'n Node, tell: &mut impl FnMut(Option<Component<'n>>)) {
    references(discriminator, tell);
    let mapping = discriminator.get("mapping").and_then(Node::entries).unwrap_or_default();
    for target in mapping.iter().filter_map(|entry| entry.value.as_str()) {
        tell(if target.starts_with('#') { component_of(target) } else { Some(("schemas", target)) });
    }
}
