//! Determines whether a schema accepts `null`.

use std::collections::{HashMap, HashSet};

use contract::node::{Entry, Node, Value};
use contract::version::Version;

use super::types::JsonTypes;
use crate::document::IndexedDocument;

/// The maximum nesting of schemas that are evaluated. Deeper schemas count as rejecting `null`; their changes are found
/// when they are compared themselves. Also limits the references that are followed, and repeated evaluations.
const MAX_DEPTH: usize = 64;

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
    let accepts_only_null = |entry: &Entry| match entry.key.text.as_str() {
        "type" => JsonTypes::of_keyword(&entry.value) == JsonTypes::NULL,
        "enum" => entry
            .value
            .items()
            .is_some_and(|items| items.iter().all(|item| matches!(item.value, Value::Null))),
        "const" => matches!(entry.value.value, Value::Null),
        _ => false,
    };
    let ignored_keywords = ["$ref", "description", "title", "$comment"];
    let mut current = Some(node);
    for _ in 0..MAX_DEPTH {
        let Some(entries) = current.and_then(Node::entries) else { return false };
        let is_ignored = |entry: &Entry| ignored_keywords.contains(&entry.key.text.as_str());
        if !entries.iter().all(|entry| is_ignored(entry) || accepts_only_null(entry)) {
            return false;
        }
        match entries.iter().find(|entry| entry.key.text == "$ref") {
            Some(reference) => current = reference.value.as_str().and_then(|target| side.resolve(target)),
            None => return entries.iter().any(|entry| !is_ignored(entry)),
        }
    }
    false
}

/// Whether any of several alternatives accepts `null`.
///
/// Circular schemas are evaluated repeatedly until no result depends on a wrong assumption. Returns false if that takes
/// more than [`MAX_DEPTH`] evaluations.
pub(super) fn any_accepts_null(side: &IndexedDocument<'_>, members: &[&Node]) -> bool {
    let mut evaluator =
        NullEvaluator { side, assumed: HashMap::new(), results: HashMap::new(), in_progress: HashSet::new() };
    for _ in 0..MAX_DEPTH {
        let accepts = members.iter().any(|member| evaluator.accepts(member, 0));
        let results = std::mem::take(&mut evaluator.results);
        let is_wrong =
            evaluator.assumed.iter().any(|(address, assumption)| results.get(address) != Some(assumption));
        if !is_wrong {
            return accepts;
        }
        evaluator.assumed.retain(|address, _| results.contains_key(address));
        for (address, assumption) in &mut evaluator.assumed {
            *assumption = results[address];
        }
    }
    false
}

/// The state of evaluating schemas.
struct NullEvaluator<'a, 'n> {
    side: &'a IndexedDocument<'n>,
    /// The results that were assumed for schemas still being evaluated, by address of the node. The first assumption is
    /// that they reject `null`.
    assumed: HashMap<usize, bool>,
    /// The results of this evaluation, by address of the node.
    results: HashMap<usize, bool>,
    /// The schemas that are being evaluated, by address of the node.
    in_progress: HashSet<usize>,
}

impl NullEvaluator<'_, '_> {
    /// Whether a schema accepts `null`.
    fn accepts(&mut self, node: &Node, depth: usize) -> bool {
        let entries = match &node.value {
            Value::Bool(accepts) => return *accepts,
            Value::Mapping(entries) => entries,
            _ => return true,
        };
        if depth > MAX_DEPTH {
            return false;
        }
        let address = std::ptr::from_ref(node) as usize;
        if let Some(result) = self.results.get(&address) {
            return *result;
        }
        if !self.in_progress.insert(address) {
            return *self.assumed.entry(address).or_insert(false);
        }
        let accepts = self.all_accept(entries, depth + 1);
        self.in_progress.remove(&address);
        self.results.insert(address, accepts);
        accepts
    }

    /// Whether all keywords of a schema accept `null`.
    fn all_accept(&mut self, entries: &[Entry], depth: usize) -> bool {
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
