//! Whether `null` is valid.
//!
//! Owns what each keyword says of `null` and how alternatives pass it on. It never looks at other values.

use std::collections::HashMap;

use super::types::Types;
use crate::breaking::document::Side;
use crate::contract::node::{Entry, Node, Value};
use crate::contract::version::Version;

/// How deep alternatives may stand in each other before `null` is taken for refused; what is deeper is compared on its own.
const DEPTH: usize = 64;

/// Whether `nullable` of 3.0 lets `null` in beside whatever else a text says.
pub fn is_let_in(entries: &[Entry], version: Version) -> bool {
    let lets = |entry: &Entry| entry.key.text == "nullable" && matches!(entry.value.value, Value::Bool(true));
    version == Version::V30 && entries.iter().any(lets)
}

/// Whether a keyword lets `null` through, alternatives and parts of `allOf` aside.
pub fn is_let_by(side: &Side<'_>, entry: &Entry) -> bool {
    match entry.key.text.as_str() {
        "not" => !is_let_through(side, &[&entry.value]),
        _ => is_valid(entry),
    }
}

/// Whether a keyword lets `null` through that speaks of values itself.
fn is_valid(entry: &Entry) -> bool {
    let is_null = |node: &Node| matches!(node.value, Value::Null);
    match entry.key.text.as_str() {
        "type" => Types::of_keyword(&entry.value).holds(Types::NULL),
        "enum" => entry.value.items().is_none_or(|items| items.iter().any(is_null)),
        "const" => is_null(&entry.value),
        _ => true,
    }
}

/// Whether a schema lets `null` through and nothing else.
pub fn is_only(node: &Node) -> bool {
    let words = ["type", "enum", "const"];
    let only = |entry: &Entry| match entry.key.text.as_str() {
        "type" => Types::of_keyword(&entry.value) == Types::NULL,
        "enum" => entry
            .value
            .items()
            .is_some_and(|items| items.iter().all(|item| matches!(item.value, Value::Null))),
        "const" => matches!(entry.value.value, Value::Null),
        key => matches!(key, "description" | "title" | "$comment"),
    };
    node.entries().is_some_and(|entries| {
        entries.iter().any(|entry| words.contains(&entry.key.text.as_str())) && entries.iter().all(only)
    })
}

/// Whether one of several alternatives lets `null` through.
pub fn is_let_through(side: &Side<'_>, members: &[&Node]) -> bool {
    let mut asked = Asked { side, known: HashMap::new() };
    members.iter().any(|member| asked.lets(member, 0))
}

/// What is known of the schemas that were asked; one that is being asked lets nothing through.
struct Asked<'a, 'n> {
    side: &'a Side<'n>,
    known: HashMap<usize, bool>,
}

impl Asked<'_, '_> {
    fn lets(&mut self, node: &Node, depth: usize) -> bool {
        let entries = match &node.value {
            Value::Bool(all) => return *all,
            Value::Mapping(entries) => entries,
            _ => return true,
        };
        if depth > DEPTH {
            return false;
        }
        let address = std::ptr::from_ref(node) as usize;
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        self.known.insert(address, false);
        let lets = self.lets_all(entries, depth + 1);
        self.known.insert(address, lets);
        lets
    }

    fn lets_all(&mut self, entries: &[Entry], depth: usize) -> bool {
        let version = self.side.document.version;
        let reference = entries.iter().find(|entry| entry.key.text == "$ref");
        let target = reference.and_then(|entry| self.side.resolve(entry.value.as_str()?));
        if target.is_some() && version == Version::V30 {
            return target.is_some_and(|target| self.lets(target, depth));
        }
        if is_let_in(entries, version) {
            return true;
        }
        target.is_none_or(|target| self.lets(target, depth))
            && entries.iter().all(|entry| {
                let items = entry.value.items().unwrap_or_default();
                match entry.key.text.as_str() {
                    "allOf" => items.iter().all(|item| self.lets(item, depth)),
                    "not" => !self.lets(&entry.value, depth),
                    "oneOf" | "anyOf" => items.iter().any(|item| self.lets(item, depth)),
                    _ => is_valid(entry),
                }
            })
    }
}
