//! Whether `null` is valid.
//!
//! Owns what each keyword says of `null` and how alternatives pass it on. It never looks at other values.

use std::collections::{HashMap, HashSet};

use contract::node::{Entry, Node, Value};
use contract::version::Version;

use super::types::Types;
use crate::document::Side;

/// How deep alternatives may stand in each other before `null` is taken for refused; what is deeper is compared on its own.
const DEPTH: usize = 64;

/// Whether `nullable` of 3.0 lets `null` in beside whatever else a text says.
pub(super) fn is_let_in(entries: &[Entry], version: Version) -> bool {
    let lets = |entry: &Entry| entry.key.text == "nullable" && matches!(entry.value.value, Value::Bool(true));
    version == Version::V30 && entries.iter().any(lets)
}

/// Whether a keyword lets `null` through, alternatives and parts of `allOf` aside.
pub(super) fn is_let_by(side: &Side<'_>, entry: &Entry) -> bool {
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

/// Whether a schema, or what its reference leads to, lets `null` through and nothing else.
pub(super) fn is_only(side: &Side<'_>, node: &Node) -> bool {
    let only = |entry: &Entry| match entry.key.text.as_str() {
        "type" => Types::of_keyword(&entry.value) == Types::NULL,
        "enum" => entry
            .value
            .items()
            .is_some_and(|items| items.iter().all(|item| matches!(item.value, Value::Null))),
        "const" => matches!(entry.value.value, Value::Null),
        _ => false,
    };
    let aside = ["$ref", "description", "title", "$comment"];
    let mut here = Some(node);
    for _ in 0..DEPTH {
        let Some(entries) = here.and_then(Node::entries) else { return false };
        let is_aside = |entry: &Entry| aside.contains(&entry.key.text.as_str());
        if !entries.iter().all(|entry| is_aside(entry) || only(entry)) {
            return false;
        }
        match entries.iter().find(|entry| entry.key.text == "$ref") {
            Some(reference) => here = reference.value.as_str().and_then(|target| side.resolve(target)),
            None => return entries.iter().any(|entry| !is_aside(entry)),
        }
    }
    false
}

/// Whether one of several alternatives lets `null` through.
///
/// Schemas that name each other in a circle are asked again until no answer rests on a guess that turned out wrong.
pub(super) fn is_let_through(side: &Side<'_>, members: &[&Node]) -> bool {
    let mut asked = Asked { side, guessed: HashMap::new(), known: HashMap::new(), open: HashSet::new() };
    for _ in 0..DEPTH {
        let lets = members.iter().any(|member| asked.lets(member, 0));
        let known = std::mem::take(&mut asked.known);
        let wrong = asked.guessed.iter().any(|(address, guess)| known.get(address) != Some(guess));
        if !wrong {
            return lets;
        }
        asked.guessed.retain(|address, _| known.contains_key(address));
        for (address, guess) in &mut asked.guessed {
            *guess = known[address];
        }
    }
    false
}

/// What is known of the schemas that were asked.
struct Asked<'a, 'n> {
    side: &'a Side<'n>,
    /// What is taken for the answer of a schema that is still being asked: at first that it lets nothing through.
    guessed: HashMap<usize, bool>,
    known: HashMap<usize, bool>,
    open: HashSet<usize>,
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
        if !self.open.insert(address) {
            return *self.guessed.entry(address).or_insert(false);
        }
        let lets = self.lets_all(entries, depth + 1);
        self.open.remove(&address);
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
