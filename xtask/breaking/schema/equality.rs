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

/// A pair of nodes, by address.
type Pair = (usize, usize);

/// The pairs that were found to differ. Schemas that refer to each other in cycles lead to the same pairs again and again.
#[derive(Default)]
pub(super) struct KnownDifferences {
    different: RefCell<HashSet<Pair>>,
    /// Pairs of whole schemas that exceeded a limit.
    too_large: RefCell<HashSet<Pair>>,
}

impl KnownDifferences {
    /// Adds a pair. Forgets the others if there are too many.
    fn add(pairs: &RefCell<HashSet<Pair>>, pair: Pair) {
        let mut pairs = pairs.borrow_mut();
        if pairs.len() >= MAX_KNOWN {
            pairs.clear();
        }
        pairs.insert(pair);
    }
}

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
    let is_same = (left_side.document.version == Version::V30)
        == (right_side.document.version == Version::V30)
        && left.selected.is_empty()
        && right.selected.is_empty()
        && equality.are_lists_equal(&left.nodes, &right.nodes);
    let is_too_large = !is_same && equality.is_limited;
    if let (true, [left], [right]) = (is_too_large, &*left.nodes, &*right.nodes) {
        KnownDifferences::add(&known.too_large, equality.pair(left, right));
    }
    is_same
}

/// The state of comparing two schemas.
struct Equality<'a, 'n> {
    left_side: &'a IndexedDocument<'n>,
    right_side: &'a IndexedDocument<'n>,
    known: &'a KnownDifferences,
    /// Pairs of nodes, by address, that are equal if the pairs in progress are. A schema can refer to itself.
    assumed: HashSet<Pair>,
    /// The pairs in `assumed` in the order in which they were added.
    order: Vec<Pair>,
    /// The nesting of the compared nodes.
    depth: usize,
    /// The remaining number of pairs that are compared.
    remaining_pairs: usize,
    /// Whether a pair counts as different because of a limit.
    is_limited: bool,
}

/// The maximum number of compared pairs. Schemas with more count as different.
const MAX_PAIRS: usize = 5_000;

/// The maximum number of pairs that are remembered.
const MAX_KNOWN: usize = 200_000;

/// The maximum nesting of nodes. Deeper ones count as different. It limits the use of the call stack.
const MAX_DEPTH: usize = 200;

impl<'n> Equality<'_, 'n> {
    /// Returns the pair of the nodes behind two nodes.
    fn pair(&self, left: &'n Node, right: &'n Node) -> Pair {
        let (left, right) = (unwrap(self.left_side, left), unwrap(self.right_side, right));
        (std::ptr::from_ref(left) as usize, std::ptr::from_ref(right) as usize)
    }

    fn are_equal(&mut self, left: &'n Node, right: &'n Node) -> bool {
        let (left, right) = (unwrap(self.left_side, left), unwrap(self.right_side, right));
        let (Some(left_entries), Some(right_entries)) = (left.entries(), right.entries()) else {
            return is_equal(left, right);
        };
        let pair = (std::ptr::from_ref(left) as usize, std::ptr::from_ref(right) as usize);
        if self.known.different.borrow().contains(&pair) {
            return false;
        }
        if self.known.too_large.borrow().contains(&pair)
            || self.depth >= MAX_DEPTH
            || self.remaining_pairs == 0
        {
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
            // The assumptions were in favor of equality, so the pairs differ without them, too.
            if !self.is_limited {
                KnownDifferences::add(&self.known.different, pair);
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
                    if keyword == "prefixItems" {
                        left.len() == right.len()
                            && left.iter().zip(&right).all(|(left, right)| self.are_equal(left, right))
                    } else {
                        self.are_lists_equal(&left, &right)
                    }
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

    /// Compares two lists of schemas, regardless of their order.
    fn are_lists_equal(&mut self, left: &[&'n Node], right: &[&'n Node]) -> bool {
        let mut owners = vec![None; right.len()];
        left.len() == right.len()
            && (0..left.len()).all(|item| {
                let mut is_tried = vec![false; right.len()];
                self.find_partner(item, (left, right), &mut owners, &mut is_tried)
            })
    }

    /// Finds an equal schema in the right list for one of the left list. `owners` are those that have one already; they are given
    /// another one if necessary, since assumptions can make a schema equal to several.
    fn find_partner(
        &mut self,
        item: usize,
        (left, right): (&[&'n Node], &[&'n Node]),
        owners: &mut [Option<usize>],
        is_tried: &mut [bool],
    ) -> bool {
        let (free, taken): (Vec<usize>, Vec<usize>) =
            (0..right.len()).partition(|index| owners[*index].is_none());
        for index in free.into_iter().chain(taken) {
            if is_tried[index] || !self.are_equal(left[item], right[index]) {
                continue;
            }
            is_tried[index] = true;
            let is_available = match owners[index] {
                None => true,
                Some(owner) => self.find_partner(owner, (left, right), owners, is_tried),
            };
            if is_available {
                owners[index] = Some(item);
                return true;
            }
        }
        false
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
