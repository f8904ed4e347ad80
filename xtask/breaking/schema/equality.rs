//! Whether two schemas are equal after their references are resolved.
//!
//! Annotations and the order of alternatives, types, listed values and required names do not matter.

use std::cell::RefCell;
use std::collections::HashSet;

use contract::node::{Entry, Node};
use contract::version::Version;

use super::is_annotation;
use super::value::{ValueSet, is_equal};
use super::view::SchemaParts;
use crate::document::IndexedDocument;

/// The pairs of nodes, by address, that were found to differ. Schemas that refer to each other in cycles lead to the same
/// pairs again and again.
#[derive(Default)]
pub(super) struct KnownDifferences(RefCell<HashSet<(usize, usize)>>);

/// Whether two schemas are equal. Each is given with its document.
pub(super) fn is_same_schema<'n>(
    known: &KnownDifferences,
    (left_side, left): (&IndexedDocument<'n>, &SchemaParts<'n>),
    (right_side, right): (&IndexedDocument<'n>, &SchemaParts<'n>),
) -> bool {
    let mut equality = Equality {
        left_side,
        right_side,
        known,
        assumed: HashSet::new(),
        order: Vec::new(),
        depth: 0,
        remaining_pairs: MAX_PAIRS,
        is_limited: false,
    };
    // Equal keywords can have different meanings in OpenAPI 3.0 and in later versions.
    (left_side.document.version == Version::V30) == (right_side.document.version == Version::V30)
        && left.selected.is_empty()
        && right.selected.is_empty()
        && equality.are_lists_equal(&left.nodes, &right.nodes, true)
}

/// The state of comparing two schemas.
struct Equality<'a, 'n> {
    left_side: &'a IndexedDocument<'n>,
    right_side: &'a IndexedDocument<'n>,
    known: &'a KnownDifferences,
    /// Pairs of nodes, by address, that are equal if the pairs in progress are. A schema can refer to itself.
    assumed: HashSet<(usize, usize)>,
    /// The pairs in `assumed` in the order in which they were added.
    order: Vec<(usize, usize)>,
    /// The nesting of the compared nodes.
    depth: usize,
    /// The remaining number of pairs that are compared.
    remaining_pairs: usize,
    /// Whether a pair counts as different because of a limit.
    is_limited: bool,
}

/// The maximum number of compared pairs. Schemas with more count as different.
const MAX_PAIRS: usize = 5_000;

/// The maximum nesting of nodes. Deeper ones count as different. It limits the use of the call stack.
const MAX_DEPTH: usize = 200;

impl<'n> Equality<'_, 'n> {
    fn are_equal(&mut self, left: &'n Node, right: &'n Node) -> bool {
        let (left, right) = (unwrap(self.left_side, left), unwrap(self.right_side, right));
        let (Some(left_entries), Some(right_entries)) = (left.entries(), right.entries()) else {
            return is_equal(left, right);
        };
        let pair = (std::ptr::from_ref(left) as usize, std::ptr::from_ref(right) as usize);
        if self.known.0.borrow().contains(&pair) {
            return false;
        }
        if self.depth >= MAX_DEPTH || self.remaining_pairs == 0 {
            self.is_limited = true;
            return false;
        }
        self.remaining_pairs -= 1;
        if !self.assumed.insert(pair) {
            return true;
        }
        self.depth += 1;
        let added_before = self.order.len();
        self.order.push(pair);
        let are_equal = self.are_mappings_equal(left_entries, right_entries);
        self.depth -= 1;
        if !are_equal {
            // Pairs that were compared since can depend on this one.
            for pair in self.order.drain(added_before..) {
                self.assumed.remove(&pair);
            }
            // A schema that is too large to compare is too large each time.
            if !self.is_limited || self.depth == 0 {
                self.known.0.borrow_mut().insert(pair);
            }
        }
        are_equal
    }

    fn are_mappings_equal(&mut self, left: &'n [Entry], right: &'n [Entry]) -> bool {
        let is_compared = |entry: &&'n Entry| !is_annotation(&entry.key.text);
        left.iter().filter(is_compared).count() == right.iter().filter(is_compared).count()
            && left.iter().filter(is_compared).all(|entry| {
                let other = right.iter().find(|other| other.key.text == entry.key.text);
                other
                    .is_some_and(|other| self.are_keywords_equal(&entry.key.text, &entry.value, &other.value))
            })
    }

    fn are_keywords_equal(&mut self, keyword: &str, left: &'n Node, right: &'n Node) -> bool {
        match keyword {
            "const" | "default" | "discriminator" => is_equal(left, right),
            "enum" | "required" | "type" => has_same_items(left, right),
            "properties" | "patternProperties" | "dependentSchemas" => {
                match (left.entries(), right.entries()) {
                    (Some(left), Some(right)) => {
                        left.len() == right.len()
                            && left.iter().all(|entry| {
                                let other = right.iter().find(|other| other.key.text == entry.key.text);
                                other.is_some_and(|other| self.are_equal(&entry.value, &other.value))
                            })
                    }
                    _ => is_equal(left, right),
                }
            }
            "allOf" | "oneOf" | "anyOf" | "prefixItems" => match (left.items(), right.items()) {
                (Some(left), Some(right)) => {
                    let (left, right) = (Vec::from_iter(left), Vec::from_iter(right));
                    self.are_lists_equal(&left, &right, keyword != "prefixItems")
                }
                _ => is_equal(left, right),
            },
            "$ref" => match (left.as_str().and_then(|target| self.left_side.resolve(target)), right.as_str())
            {
                (Some(left), Some(right)) => {
                    self.right_side.resolve(right).is_some_and(|right| self.are_equal(left, right))
                }
                _ => is_equal(left, right),
            },
            _ => self.are_equal(left, right),
        }
    }

    /// Compares two lists of schemas, regardless of the order if `any_order` is true.
    fn are_lists_equal(&mut self, left: &[&'n Node], right: &[&'n Node], any_order: bool) -> bool {
        let mut remaining = right.to_vec();
        left.len() == right.len()
            && left.iter().all(|item| {
                let candidates = if any_order { remaining.len() } else { 1 };
                let index = (0..candidates).find(|index| self.are_equal(item, remaining[*index]));
                index.is_some_and(|index| {
                    remaining.remove(index);
                    true
                })
            })
    }
}

/// Whether two lists have the same items in any order. A value that is not a list equals a list of itself.
fn has_same_items(left: &Node, right: &Node) -> bool {
    let (left, right) = (items_of(left), items_of(right));
    ValueSet::of(right).contains_all(left) && ValueSet::of(left).contains_all(right)
}

/// Returns the items of a list. A value that is not a list is one item.
fn items_of(node: &Node) -> &[Node] {
    node.items().unwrap_or(std::slice::from_ref(node))
}

/// Follows references, and `allOf` with a single part, as long as they are the only keyword apart from annotations.
pub(super) fn unwrap<'n>(side: &IndexedDocument<'n>, node: &'n Node) -> &'n Node {
    let mut visited = HashSet::new();
    let mut current = node;
    loop {
        let mut keywords =
            current.entries().unwrap_or_default().iter().filter(|entry| !is_annotation(&entry.key.text));
        let (Some(only), None) = (keywords.next(), keywords.next()) else { break };
        let next = match (only.key.text.as_str(), only.value.items()) {
            ("$ref", _) => only.value.as_str().and_then(|target| side.resolve(target)),
            ("allOf", Some([part])) => Some(part),
            _ => None,
        };
        match next {
            Some(next) if visited.insert(std::ptr::from_ref(current)) => current = next,
            _ => break,
        }
    }
    current
}
