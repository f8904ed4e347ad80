//! Determines whether a schema accepts `null`.

use std::collections::{HashMap, HashSet};

use contract::node::{Entry, Node, Value};
use contract::version::Version;

use super::types::JsonTypes;
use crate::document::IndexedDocument;

/// The maximum nesting of alternatives; below it, `null` counts as rejected. Deeper alternatives are compared on their own.
const DEPTH: usize = 64;

/// Whether `nullable: true` of OpenAPI 3.0 accepts `null` regardless of the other keywords.
pub(super) fn is_nullable(entries: &[Entry], version: Version) -> bool {
    let accepts =
        |entry: &Entry| entry.key.text == "nullable" && matches!(entry.value.value, Value::Bool(true));
    version == Version::V30 && entries.iter().any(accepts)
}

/// Whether a keyword accepts `null`; `oneOf`, `anyOf` and `allOf` are handled separately.
pub(super) fn accepts_null(side: &IndexedDocument<'_>, entry: &Entry) -> bool {
    match entry.key.text.as_str() {
        "not" => !any_accepts_null(side, &[&entry.value]),
        _ => constraint_accepts_null(entry),
    }
}

/// Whether a keyword that constrains values accepts `null`.
fn constraint_accepts_null(entry: &Entry) -> bool {
    let is_null = |node: &Node| matches!(node.value, Value::Null);
    match entry.key.text.as_str() {
        "type" => JsonTypes::of_keyword(&entry.value).contains(JsonTypes::NULL),
        "enum" => entry.value.items().is_none_or(|items| items.iter().any(is_null)),
        "const" => is_null(&entry.value),
        _ => true,
    }
}

/// Whether a schema, after resolving its references, accepts `null` and nothing else.
pub(super) fn accepts_only_null(side: &IndexedDocument<'_>, node: &Node) -> bool {
    let only = |entry: &Entry| match entry.key.text.as_str() {
        "type" => JsonTypes::of_keyword(&entry.value) == JsonTypes::NULL,
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

/// Whether any of several alternatives accepts `null`.
///
/// Circular schemas are evaluated repeatedly, until no result depends on a wrong assumption.
pub(super) fn any_accepts_null(side: &IndexedDocument<'_>, members: &[&Node]) -> bool {
    let mut evaluator =
        NullEvaluator { side, assumed: HashMap::new(), known: HashMap::new(), in_progress: HashSet::new() };
    for _ in 0..DEPTH {
        let accepts = members.iter().any(|member| evaluator.accepts(member, 0));
        let known = std::mem::take(&mut evaluator.known);
        let wrong =
            evaluator.assumed.iter().any(|(address, assumption)| known.get(address) != Some(assumption));
        if !wrong {
            return accepts;
        }
        evaluator.assumed.retain(|address, _| known.contains_key(address));
        for (address, assumption) in &mut evaluator.assumed {
            *assumption = known[address];
        }
    }
    false
}

/// The results of evaluating schemas.
struct NullEvaluator<'a, 'n> {
    side: &'a IndexedDocument<'n>,
    /// Assumed results of schemas that are still being evaluated: initially that they reject `null`.
    assumed: HashMap<usize, bool>,
    known: HashMap<usize, bool>,
    in_progress: HashSet<usize>,
}

impl NullEvaluator<'_, '_> {
    fn accepts(&mut self, node: &Node, depth: usize) -> bool {
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
        if !self.in_progress.insert(address) {
            return *self.assumed.entry(address).or_insert(false);
        }
        let accepts = self.accepts_all(entries, depth + 1);
        self.in_progress.remove(&address);
        self.known.insert(address, accepts);
        accepts
    }

    fn accepts_all(&mut self, entries: &[Entry], depth: usize) -> bool {
        let version = self.side.document.version;
        let reference = entries.iter().find(|entry| entry.key.text == "$ref");
        let target = reference.and_then(|entry| self.side.resolve(entry.value.as_str()?));
        if target.is_some() && version == Version::V30 {
            return target.is_some_and(|target| self.accepts(target, depth));
        }
        if is_nullable(entries, version) {
            return true;
        }
        target.is_none_or(|target| self.accepts(target, depth))
            && entries.iter().all(|entry| {
                let items = entry.value.items().unwrap_or_default();
                match entry.key.text.as_str() {
                    "allOf" => items.iter().all(|item| self.accepts(item, depth)),
                    "not" => !self.accepts(&entry.value, depth),
                    "oneOf" | "anyOf" => items.iter().any(|item| self.accepts(item, depth)),
                    _ => constraint_accepts_null(entry),
                }
            })
    }
}
