//! Determines whether a schema accepts `null`.

use std::collections::{HashMap, HashSet};

use contract::node::{Entry, Node, Value};
use contract::source::Span;
use contract::version::Version;

use super::is_annotation;
use super::types::JsonTypes;
use crate::compare::unchanged::Unchanged;
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

/// Whether all keywords of a schema accept `null`, apart from `oneOf`, `anyOf`, `allOf` and `$ref`, which are handled
/// separately.
pub(super) fn all_accept_null(side: &IndexedDocument<'_>, entries: &[Entry]) -> bool {
    let accepts_null = |node: &Node| any_accepts_null(side, &[node]);
    let is_accepted = |entry: &Entry| match entry.key.text.as_str() {
        "not" => !accepts_null(&entry.value),
        _ => constraint_accepts_null(entry),
    };
    entries.iter().all(is_accepted) && applied_branch(entries, accepts_null).is_none_or(accepts_null)
}

/// Returns the branch of `if` (`then` or `else`) that applies to `null`. Returns `None` if there is none.
fn applied_branch(entries: &[Entry], mut accepts_null: impl FnMut(&Node) -> bool) -> Option<&Node> {
    let find = |keyword| entries.iter().find(|entry| entry.key.text == keyword).map(|entry| &entry.value);
    let branch = if accepts_null(find("if")?) { "then" } else { "else" };
    find(branch)
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

/// The keyword or alternative that decides whether a schema accepts `null`.
#[derive(Clone, Debug)]
pub(super) struct NullDecision<'n> {
    /// Whether it accepts `null`.
    accepts: bool,
    /// Its position.
    span: Span,
    /// The references that lead to it, from the outermost to the innermost.
    references: Vec<&'n str>,
}

impl<'n> NullDecision<'n> {
    /// Creates a decision.
    pub(super) const fn new(accepts: bool, span: Span, references: Vec<&'n str>) -> Self {
        Self { accepts, span, references }
    }

    /// Whether a decision after this one has no effect: the first one that rejects `null` decides, or else the first
    /// one that accepts it.
    pub(super) const fn prevails_over(&self, accepts: bool) -> bool {
        !self.accepts || accepts
    }

    /// Returns the position of a change of the decision: the keyword; if it is in a component that did not change, the
    /// outer object that refers to the component. `use_span` is the position of the schema.
    pub(super) fn position(
        &self,
        side: &IndexedDocument<'n>,
        unchanged: &Unchanged<'n>,
        use_span: Span,
    ) -> Span {
        let is_unchanged = |reference: &&str| unchanged.is_target_unchanged(reference);
        match self.references.iter().position(is_unchanged) {
            None => self.span,
            Some(0) => use_span,
            Some(index) => side.target_position(self.references[index - 1]).unwrap_or(use_span),
        }
    }
}

/// Returns the keyword of a mapping that accepts or rejects `null`, or `None` if no keyword mentions `null`. `nullable` of
/// OpenAPI 3.0 is found first, because the other keywords have no effect beside it.
pub(super) fn deciding_keyword(entries: &[Entry], version: Version, accepts: bool) -> Option<&Entry> {
    let is_nullable = |entry: &&Entry| is_nullable(std::slice::from_ref(*entry), version);
    let constrains = |entry: &&Entry| ["type", "enum", "const"].contains(&entry.key.text.as_str());
    entries
        .iter()
        .find(is_nullable)
        .or_else(|| entries.iter().filter(constrains).find(|entry| constraint_accepts_null(entry) == accepts))
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
    let is_part = |entry: &Entry| match entry.key.text.as_str() {
        "allOf" => entry.value.items().is_some_and(|parts| parts.len() == 1),
        keyword => keyword == "$ref",
    };
    let mut current = Some(node);
    let mut visited = HashSet::new();
    while let Some(node) = current.filter(|node| visited.insert(std::ptr::from_ref(*node))) {
        let Some(entries) = node.entries() else { return false };
        let is_ignored = |entry: &Entry| is_part(entry) || is_annotation(&entry.key.text);
        if !entries.iter().all(|entry| is_ignored(entry) || accepts_only_null(entry)) {
            return false;
        }
        match entries.iter().find(|entry| is_part(entry)) {
            Some(part) => {
                let target = part.value.as_str().and_then(|target| side.resolve(target));
                current = target.or_else(|| part.value.items()?.first());
            }
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
        let branch = applied_branch(entries, |condition| self.accepts(condition, depth));
        branch.is_none_or(|branch| self.accepts(branch, depth))
            && target.is_none_or(|target| self.accepts(target, depth))
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
