//! Compares two documents.
//!
//! [`api`] compares everything outside of schemas, and queues each pair of schemas that it finds: a schema of the base
//! and its counterpart in the revision. Each pair is compared once for each [`PairContext`]; the queue ensures that
//! recursion through `$ref` ends and that nesting does not consume stack. Each change is recorded with its origin,
//! which is the operation or pair that led to it.

pub(crate) mod affected;
pub(crate) mod api;
mod bodies;
mod callbacks;
mod common_parameters;
mod content;
mod encoding;
mod lifecycle;
mod lifecycle_changes;
mod matching;
mod media_types;
mod operations;
mod parameter_list;
mod parameters;
mod recording;
mod response_headers;
mod responses;
mod security;
mod security_schemes;
mod serialization;
mod servers;
pub(crate) mod unchanged;
mod urls;

use std::collections::HashMap;
use std::rc::Rc;

use contract::diagnostic::{Code, Diagnostic};
use contract::source::Span;
use jiff::civil::Date;

use self::unchanged::Unchanged;
use super::catalog;
use super::document::{IndexedDocument, OpenApiDocument};
use super::finding::{self, Finding};
use super::rule::{Direction, Level, SchemaRule, SchemaSite};
use super::schema;
use super::schema::proof::{DocumentSide, Operand, Proof, ProofCache};
use super::schema::view::SchemaParts;

pub(crate) use self::affected::AffectedOperation;
pub(crate) use self::api::RULES as API_RULES;
pub(crate) use self::bodies::RULES as BODY_RULES;
pub(crate) use self::encoding::RULES as ENCODING_RULES;
pub(crate) use self::lifecycle::{
    RULES as LIFECYCLE_RULES, RemovalStatus, SCHEMA_RULES as LIFECYCLE_SCHEMA_RULES,
    compare_schema_lifecycle, property_removal_status,
};
pub(crate) use self::lifecycle_changes::GracePeriods;
pub(crate) use self::matching::take_matches;
pub(crate) use self::operations::{Method, RULES as OPERATION_RULES, operations_in};
pub(crate) use self::parameters::RULES as PARAMETER_RULES;
pub(crate) use self::responses::RULES as RESPONSE_RULES;
pub(crate) use self::security::RULES as SECURITY_RULES;
pub(crate) use self::security_schemes::RULES as SECURITY_SCHEME_RULES;
pub(crate) use self::servers::RULES as SERVER_RULES;

/// The path to a compared object: its operation, and the steps within the operation.
#[derive(Debug)]
pub(crate) struct OperationPath {
    /// The operation id, or the method and path if the operation has no id. For an object outside of operations, its
    /// name, such as `info`, a path or a webhook.
    pub operation: String,
    /// The steps within the operation, for example `200` or `query limit`.
    pub steps: String,
    /// Whether the server sends the request, as in a webhook or a callback.
    pub is_outgoing: bool,
}

impl OperationPath {
    /// Creates the path to an object outside of operations, such as `info`.
    pub(crate) fn of(operation: impl Into<String>) -> Rc<Self> {
        Rc::new(Self { operation: operation.into(), steps: String::new(), is_outgoing: false })
    }

    /// Appends a step.
    pub(crate) fn step(&self, step: &str) -> Rc<Self> {
        let steps = if self.steps.is_empty() { step.to_owned() } else { format!("{} {step}", self.steps) };
        Rc::new(Self { operation: self.operation.clone(), steps, is_outgoing: self.is_outgoing })
    }
}

/// The object through which a change or a pair of schemas was found.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// An operation, or an object within it.
    Operation(Rc<OperationPath>),
    /// A pair of schemas, by its index in the queue, and the step from it, such as the name of a property. The step is
    /// empty for a change of the schema itself.
    Pair(usize, Rc<str>),
}

/// Where a pair of schemas is used, and what is known about its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PairContext {
    /// The site.
    pub site: SchemaSite,
    /// Whether the change is provably compatible, although a comparison of the keywords may not show it: the revision
    /// accepts all requests of the base, or sends only responses that are valid in the base.
    pub is_compatible: bool,
    /// Whether the default has no effect, because clients always send the value.
    pub is_default_unused: bool,
    /// Whether values may be sent as XML.
    pub is_xml: bool,
}

impl From<SchemaSite> for PairContext {
    fn from(site: SchemaSite) -> Self {
        Self { site, is_compatible: false, is_default_unused: false, is_xml: false }
    }
}

/// A queued pair of schemas, its context, and the origins that refer to the pair.
struct QueuedPair<'n> {
    base: SchemaParts<'n>,
    revision: SchemaParts<'n>,
    context: PairContext,
    origins: Vec<Origin>,
}

/// The identity of a pair: the addresses of both schemas' nodes, and the context.
type PairKey = (Vec<usize>, Vec<usize>, PairContext);

/// The maximum number of nodes in all queued pairs. `allOf` of several recursive schemas can lead to a pair for each
/// combination of their parts.
const MAX_QUEUED_NODES: usize = 500_000;

/// Rules about properties that break clients only if a value is no longer valid.
const PROPERTY_RULES_ABOUT_VALUES: [&str; 5] = [
    "request-property-removed",
    "new-required-request-property",
    "new-required-request-property-with-default",
    "new-required-request-header-property",
    "response-required-property-removed",
];

/// The positions of a change in both documents. If a document lacks the object, its position is that of the parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Positions {
    /// The position in the base.
    pub base: Span,
    /// The position in the revision.
    pub revision: Span,
}

impl Positions {
    /// Creates a pair of positions.
    pub(crate) const fn new(base: Span, revision: Span) -> Self {
        Self { base, revision }
    }
}

/// A change that was found. A change that is found through several origins is recorded once for each of them.
pub(crate) struct DetectedChange {
    /// The rule id.
    pub id: String,
    /// The level of this change. It can differ from the default level of the rule.
    pub level: Level,
    /// The site, if the rule is a schema rule.
    pub site: Option<SchemaSite>,
    /// The rule id; if the rule is a schema rule, without the prefix of the site.
    pub suffix: String,
    /// What changed: one sentence without a period.
    pub message: String,
    /// The details that distinguish this change from others of the same rule at the same position. They are part of the
    /// fingerprint.
    pub details: String,
    /// The positions in both documents.
    pub positions: Positions,
    /// The origin through which the change was found.
    pub origin: Origin,
}

impl DetectedChange {
    /// Whether the change breaks clients only because values are no longer valid, or newly valid.
    pub(crate) fn is_about_valid_values(&self) -> bool {
        match self.site {
            Some(_) => catalog::schema_rule(&self.suffix).is_some_and(SchemaRule::is_about_valid_values),
            None => self.level == Level::Error && PROPERTY_RULES_ABOUT_VALUES.contains(&self.suffix.as_str()),
        }
    }
}

/// The state of a comparison.
pub(crate) struct Comparison<'n> {
    /// The base.
    pub base: IndexedDocument<'n>,
    /// The revision.
    pub revision: IndexedDocument<'n>,
    /// The current date, with which sunsets are compared.
    pub today: Date,
    /// How long before its sunset an object must be deprecated.
    pub grace_periods: GracePeriods,
    unchanged: Unchanged<'n>,
    /// All pairs in the order in which they were queued. Compared pairs remain in the list.
    pairs: Vec<QueuedPair<'n>>,
    /// The index of each queued pair in `pairs`.
    pair_index: HashMap<PairKey, usize>,
    /// The number of nodes in all queued pairs.
    queued_nodes: usize,
    /// The position in the revision of the first pair that was not queued because of [`MAX_QUEUED_NODES`].
    overflow: Option<Span>,
    changes: Vec<DetectedChange>,
    proofs: ProofCache<'n>,
}

/// Compares two documents. Returns one finding for each change, sorted by position in the revision.
///
/// # Errors
/// Returns an error about the revision if there are too many pairs of schemas.
pub(crate) fn compare(
    base: &OpenApiDocument,
    revision: &OpenApiDocument,
    today: Date,
    grace_periods: GracePeriods,
) -> Result<Vec<Finding>, Box<Diagnostic>> {
    let (base, revision) = (IndexedDocument::new(base), IndexedDocument::new(revision));
    let unchanged = Unchanged::of(&base, &revision);
    let mut comparison = Comparison {
        base,
        revision,
        today,
        grace_periods,
        unchanged,
        pairs: Vec::new(),
        pair_index: HashMap::new(),
        queued_nodes: 0,
        overflow: None,
        changes: Vec::new(),
        proofs: ProofCache::default(),
    };
    api::compare(&mut comparison);
    // Comparing a pair can queue more pairs.
    let mut index = 0;
    while index < comparison.pairs.len() && comparison.overflow.is_none() {
        schema::compare(&mut comparison, index);
        index += 1;
    }
    match comparison.overflow {
        None => Ok(finding::merge_changes(&comparison)),
        Some(span) => {
            let message = "`allOf` combines recursive schemas in too many ways to compare";
            let help = "combine fewer schemas that contain themselves";
            Err(Box::new(Diagnostic::error(Code::CyclicRef, span, message, help)))
        }
    }
}

impl<'n> Comparison<'n> {
    /// Queues a pair of schemas, unless they are identical. If the pair is already queued at this site, only the origin
    /// is added to it.
    pub(crate) fn queue(
        &mut self,
        base: SchemaParts<'n>,
        revision: SchemaParts<'n>,
        context: impl Into<PairContext>,
        origin: Origin,
    ) {
        if self.unchanged.is_schema_unchanged(&base, &revision) {
            return;
        }
        let context = context.into();
        let key = (base.address(), revision.address(), context);
        if let Some(index) = self.pair_index.get(&key) {
            self.pairs[*index].origins.push(origin);
            return;
        }
        let node_count = |parts: &SchemaParts<'n>| (parts.nodes.len() + parts.selected.len()).max(1);
        self.queued_nodes += node_count(&base) + node_count(&revision);
        if self.queued_nodes > MAX_QUEUED_NODES {
            self.overflow.get_or_insert(revision.span);
            return;
        }
        self.pair_index.insert(key, self.pairs.len());
        self.pairs.push(QueuedPair { base, revision, context, origins: vec![origin] });
    }

    /// Whether a pair of schemas was queued in a context, compatible or not. It may be compared already.
    pub(crate) fn is_queued(
        &self,
        base: &SchemaParts<'n>,
        revision: &SchemaParts<'n>,
        context: PairContext,
    ) -> bool {
        let is_queued = |is_compatible| {
            let context = PairContext { is_compatible, ..context };
            self.pair_index.contains_key(&(base.address(), revision.address(), context))
        };
        is_queued(false) || is_queued(true)
    }

    /// Returns the two schemas of a queued pair and their context.
    pub(crate) fn pair(&self, index: usize) -> (SchemaParts<'n>, SchemaParts<'n>, PairContext) {
        let QueuedPair { base, revision, context, .. } = &self.pairs[index];
        (base.clone(), revision.clone(), *context)
    }

    /// Starts a proof about schemas whose values are sent in a direction.
    pub(crate) fn proof(&self, direction: Direction) -> Proof<'_, 'n> {
        Proof::new(&self.base, &self.revision, &self.proofs, direction)
    }

    /// Whether a schema of the base and one of the revision are equal after their references are resolved.
    pub(crate) fn is_same_schema(&self, base: &SchemaParts<'n>, revision: &SchemaParts<'n>) -> bool {
        self.proofs.is_same_schema((&self.base, base), (&self.revision, revision))
    }

    /// Whether the change from one schema to another one is provably compatible: the revision accepts all requests of
    /// the base, or sends only responses that are valid in the base.
    pub(crate) fn is_provably_compatible(
        &self,
        base: &SchemaParts<'n>,
        revision: &SchemaParts<'n>,
        site: SchemaSite,
    ) -> bool {
        let base = Operand::new(DocumentSide::Base, base.clone());
        let revision = Operand::new(DocumentSide::Revision, revision.clone());
        let (narrow, wide) = match site.direction() {
            Direction::Request => (base, revision),
            Direction::Response => (revision, base),
        };
        let mut proof = self.proof(site.direction());
        if site.is_plain_text() {
            proof.is_text_included(&narrow, &wide)
        } else {
            proof.is_included(&narrow, &wide)
        }
    }

    /// Sets the changes about valid values, beginning with the one at `first`, to level info.
    pub(crate) fn mark_compatible(&mut self, first: usize) {
        for change in &mut self.changes[first..] {
            if change.is_about_valid_values() {
                change.level = Level::Info;
            }
        }
    }

    /// Records that the change from one schema of a pair to the other is compatible.
    pub(crate) fn set_compatible(&mut self, index: usize) {
        self.pairs[index].context.is_compatible = true;
    }

    /// Returns the origins of a queued pair.
    pub(crate) fn origins(&self, index: usize) -> &[Origin] {
        &self.pairs[index].origins
    }

    /// Returns the components that are identical in both documents.
    pub(crate) const fn unchanged(&self) -> &Unchanged<'n> {
        &self.unchanged
    }

    /// Returns the changes found so far.
    pub(crate) fn changes(&self) -> &[DetectedChange] {
        &self.changes
    }
}
