//! Proves that a schema accepts every value that another schema accepts, or that two schemas have no value in common.
//!
//! A proof considers a schema as a whole, so it succeeds where comparing keyword by keyword is not enough: for
//! alternatives that were split, merged, wrapped or written as another keyword. It is sound but not complete: if no proof
//! is found, nothing is known.
//!
//! In both judgments, `null` is considered first, and the other values without it.

mod bounds;
mod disjoint;
mod evaluate;
mod examples;
mod included;
mod items;
mod properties;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use contract::node::Node;
use contract::source::Span;

use self::bounds::CountedSchema;
use super::equality::{self, KnownDifferences};
use super::types::JsonTypes;
use super::view::{SchemaParts, SchemaView};
use crate::document::IndexedDocument;
use crate::rule::Direction;

/// The maximum number of goals of one proof.
const MAX_GOALS: usize = 600;

/// The maximum number of schemas for which one proof evaluates values.
const MAX_EVALUATIONS: usize = 2_000;
/// The maximum number of schemas for which one proof looks for examples.
const MAX_EXAMPLE_SCHEMAS: usize = 100;
/// The maximum number of goals and evaluated schemas of all proofs of a comparison.
const MAX_TOTAL_STEPS: usize = 500_000;
/// The maximum number of schemas and of failed goals that a comparison remembers.
const MAX_CACHED: usize = 200_000;
/// The maximum depth of goals that depend on each other. It limits the use of the call stack.
const MAX_DEPTH: usize = 40;

/// The document that contains a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DocumentSide {
    /// The base.
    Base,
    /// The revision.
    Revision,
}

/// A schema in one of the documents, restricted to some types.
#[derive(Clone, Debug)]
pub(crate) struct Operand<'n> {
    /// The document.
    pub side: DocumentSide,
    /// The schema.
    pub parts: SchemaParts<'n>,
    types: JsonTypes,
}

impl<'n> Operand<'n> {
    /// Creates an operand with all types.
    pub(crate) const fn new(side: DocumentSide, parts: SchemaParts<'n>) -> Self {
        Self { side, parts, types: JsonTypes::ANY }
    }

    /// Creates an operand in the same document.
    fn with_nodes(&self, nodes: Vec<&'n Node>) -> Self {
        Self::new(self.side, SchemaParts::of_nodes(nodes, Span { start: 0, end: 0 }))
    }

    /// Restricts the types.
    fn with_types(&self, types: JsonTypes) -> Self {
        Self { types, ..self.clone() }
    }

    /// Replaces a list of alternatives by one of them.
    fn select(&self, list: &'n Node, member: &'n Node) -> Self {
        Self { parts: self.parts.select(list, member), ..self.clone() }
    }

    fn key(&self) -> OperandKey {
        (self.side, self.parts.address())
    }
}

/// The identity of a schema: its document and address.
type OperandKey = (DocumentSide, Vec<usize>);

/// The identity of a goal: both schemas, the types of the first one, and the direction.
type GoalKey = (OperandKey, OperandKey, JsonTypes, Direction);

/// Results that all proofs of a comparison share.
pub(crate) struct ProofCache<'n> {
    views: RefCell<HashMap<OperandKey, Rc<SchemaView<'n>>>>,
    /// The inclusions that were not proven.
    failed: RefCell<HashSet<GoalKey>>,
    /// The pairs of schemas that are not equal.
    differences: KnownDifferences,
    /// The remaining number of goals and evaluated schemas of all proofs. Further goals count as not proven.
    remaining_steps: Cell<usize>,
}

impl Default for ProofCache<'_> {
    fn default() -> Self {
        Self {
            views: RefCell::default(),
            failed: RefCell::default(),
            differences: KnownDifferences::default(),
            remaining_steps: Cell::new(MAX_TOTAL_STEPS),
        }
    }
}

impl<'n> ProofCache<'n> {
    /// Whether two schemas are equal after their references are resolved. Each is given with its document.
    pub(crate) fn is_same_schema(
        &self,
        left: (&IndexedDocument<'n>, &SchemaParts<'n>),
        right: (&IndexedDocument<'n>, &SchemaParts<'n>),
    ) -> bool {
        equality::is_same_schema(&self.differences, left, right)
    }

    /// Counts a goal or an evaluated schema.
    fn use_step(&self) {
        self.remaining_steps.update(|remaining| remaining.saturating_sub(1));
    }
}

/// A proof in progress.
pub(crate) struct Proof<'p, 'n> {
    base: &'p IndexedDocument<'n>,
    revision: &'p IndexedDocument<'n>,
    cache: &'p ProofCache<'n>,
    /// The direction in which values are sent. It determines which properties are never sent.
    direction: Direction,
    /// The goals in progress, each with its nesting. A schema can refer to itself, so a goal can depend on itself. That is
    /// valid if the nested goal is about a part of the value (induction over the size of values).
    open: HashMap<GoalKey, usize>,
    /// The nesting in properties and items.
    nesting: usize,
    /// The goals that were proven, in this order. They can depend on goals in progress.
    proven: Vec<GoalKey>,
    proven_index: HashSet<GoalKey>,
    remaining_goals: usize,
    /// The nesting of goals about disjoint schemas.
    disjoint_nesting: usize,
    /// Whether a goal was not considered because of a limit.
    is_limited: bool,
    /// The nesting of parts of a value and of alternatives while it is evaluated.
    evaluation_depth: Cell<usize>,
    /// The remaining number of schemas for which a value is evaluated.
    remaining_evaluations: Cell<usize>,
    /// The remaining number of schemas for which examples are found.
    remaining_examples: Cell<usize>,
}

impl<'p, 'n> Proof<'p, 'n> {
    /// Starts a proof about schemas whose values are sent in a direction.
    pub(crate) fn new(
        base: &'p IndexedDocument<'n>,
        revision: &'p IndexedDocument<'n>,
        cache: &'p ProofCache<'n>,
        direction: Direction,
    ) -> Self {
        Self {
            base,
            revision,
            cache,
            direction,
            open: HashMap::new(),
            nesting: 0,
            proven: Vec::new(),
            proven_index: HashSet::new(),
            remaining_goals: cache.remaining_steps.get().min(MAX_GOALS),
            disjoint_nesting: 0,
            is_limited: false,
            evaluation_depth: Cell::new(0),
            remaining_evaluations: Cell::new(cache.remaining_steps.get().min(MAX_EVALUATIONS)),
            remaining_examples: Cell::new(MAX_EXAMPLE_SCHEMAS),
        }
    }

    /// Whether the second schema provably accepts every value that the first one accepts.
    pub(crate) fn is_included(&mut self, narrow: &Operand<'n>, wide: &Operand<'n>) -> bool {
        if wide.parts.nodes.is_empty() {
            return true;
        }
        let accepts_null = |view: &SchemaView<'n>| view.accepts_null;
        if accepts_null(&self.view(narrow)) && !accepts_null(&self.view(wide)) {
            return false;
        }
        self.is_included_without_null(narrow, wide)
    }

    /// Whether the second schema provably accepts the text of every value that the first one accepts, in a URL or a
    /// header. Text has no `null`.
    pub(crate) fn is_text_included(&mut self, narrow: &Operand<'n>, wide: &Operand<'n>) -> bool {
        if self.is_included_without_null(narrow, wide) {
            return true;
        }
        if self.remaining_goals == 0 {
            return false;
        }
        self.use_goal();
        let view = self.view(narrow);
        if let Some(alternatives) = view.one_of.first().or(view.any_of.first()) {
            return alternatives
                .members
                .iter()
                .all(|member| self.is_text_included(&narrow.select(alternatives.list, member), wide));
        }
        let structured = narrow.types.and(view.types).and(JsonTypes::ARRAY.or(JsonTypes::OBJECT));
        let all_strings =
            Operand::new(wide.side, SchemaParts::any(wide.parts.span)).with_types(JsonTypes::STRING);
        // The text of a plain value is a string.
        self.is_included_without_null(&all_strings, wide)
            && (structured == JsonTypes::NONE
                || self.is_included_without_null(&narrow.with_types(structured), wide))
    }

    /// Whether two schemas provably accept the same values, apart from `null`.
    pub(crate) fn are_equivalent_without_null(&mut self, left: &Operand<'n>, right: &Operand<'n>) -> bool {
        self.is_included_without_null(left, right) && self.is_included_without_null(right, left)
    }

    /// Whether values of a schema in the base match another one, too: all values of the schema, or all plain values and
    /// lists of the other one. Objects of the other one can have properties that clients of the base do not send.
    pub(crate) fn overlaps(&mut self, of_base: &Operand<'n>, other: &Operand<'n>) -> bool {
        let without_objects = other.with_types(JsonTypes::PLAIN.or(JsonTypes::ARRAY));
        [(of_base, other), (&without_objects, of_base)].into_iter().any(|(narrow, wide)| {
            // A schema without values is included in each one.
            self.is_included_without_null(narrow, wide) && !self.are_disjoint_without_null(narrow, wide)
        })
    }

    /// Whether two schemas provably accept the same values.
    pub(crate) fn are_equivalent(&mut self, left: &Operand<'n>, right: &Operand<'n>) -> bool {
        self.is_included(left, right) && self.is_included(right, left)
    }

    /// Like [`Self::is_included`], for values other than `null`.
    pub(crate) fn is_included_without_null(&mut self, narrow: &Operand<'n>, wide: &Operand<'n>) -> bool {
        if wide.parts.nodes.is_empty() {
            return true;
        }
        let key = (narrow.key(), wide.key(), narrow.types, self.direction);
        if self.proven_index.contains(&key) {
            return true;
        }
        if let Some(nesting) = self.open.get(&key) {
            return *nesting < self.nesting;
        }
        if self.cache.failed.borrow().contains(&key)
            || self.remaining_goals == 0
            || self.open.len() >= MAX_DEPTH
        {
            self.is_limited |= self.open.len() >= MAX_DEPTH;
            return false;
        }
        self.use_goal();
        let proven_before = self.proven.len();
        self.open.insert(key.clone(), self.nesting);
        let is_proven = self.prove_inclusion(narrow, wide);
        self.open.remove(&key);
        if is_proven {
            self.proven_index.insert(key.clone());
            self.proven.push(key);
        } else {
            // Goals that were proven since can depend on this one.
            for goal in self.proven.drain(proven_before..) {
                self.proven_index.remove(&goal);
            }
            // A failure within a limit is final.
            if self.remaining_goals > 0 && !self.is_limited {
                let mut failed = self.cache.failed.borrow_mut();
                if failed.len() >= MAX_CACHED {
                    failed.clear();
                }
                failed.insert(key);
            }
        }
        is_proven
    }

    /// Counts a goal of this proof.
    fn use_goal(&mut self) {
        self.remaining_goals = self.remaining_goals.saturating_sub(1);
        self.cache.use_step();
    }

    /// Like [`Self::is_included`], for a part of the values, such as a property.
    fn is_part_included(&mut self, narrow: &Operand<'n>, wide: &Operand<'n>) -> bool {
        self.nesting += 1;
        let is_included = self.is_included(narrow, wide);
        self.nesting -= 1;
        is_included
    }

    fn document(&self, side: DocumentSide) -> &'p IndexedDocument<'n> {
        match side {
            DocumentSide::Base => self.base,
            DocumentSide::Revision => self.revision,
        }
    }

    /// Returns the effective schema of an operand.
    pub(crate) fn view(&self, operand: &Operand<'n>) -> Rc<SchemaView<'n>> {
        let key = operand.key();
        if let Some(view) = self.cache.views.borrow().get(&key) {
            return Rc::clone(view);
        }
        let view = Rc::new(SchemaView::of(self.document(operand.side), &operand.parts));
        let mut views = self.cache.views.borrow_mut();
        if views.len() >= MAX_CACHED {
            views.clear();
        }
        views.insert(key, Rc::clone(&view));
        view
    }

    /// Counts the required properties of a schema that are sent.
    fn counted<'v>(&self, operand: &Operand<'n>, view: &'v SchemaView<'n>) -> CountedSchema<'v, 'n> {
        CountedSchema { view, required_count: self.required_names(operand, view).len() }
    }

    /// Returns the names of the required properties, without those that are never sent.
    pub(crate) fn required_names(&self, operand: &Operand<'n>, view: &SchemaView<'n>) -> Vec<&'n str> {
        let keyword = match self.direction {
            Direction::Request => "readOnly",
            Direction::Response => "writeOnly",
        };
        let properties: BTreeMap<&str, SchemaParts<'_>> = view.properties();
        let is_sent = |name: &&str| {
            properties.get(name).is_none_or(|parts| {
                let property = Operand::new(operand.side, parts.clone());
                !self.view(&property).is_true(keyword)
            })
        };
        view.required().into_keys().filter(is_sent).collect()
    }
}
