//! Compares two documents.
//!
//! [`api`] compares everything outside of schemas, and queues each pair of schemas that it finds: a schema of the base
//! and its counterpart in the revision. Each pair is compared once for each [`SchemaSite`]; the queue ensures that
//! recursion through `$ref` ends and that nesting does not consume stack. Each change is recorded with its origin,
//! which is the operation or pair that led to it.

pub(crate) mod affected;
pub(crate) mod api;
mod bodies;
mod content;
mod encoding;
mod lifecycle;
mod matching;
mod operations;
mod parameters;
mod responses;
mod security;
mod servers;
pub(crate) mod unchanged;

use std::collections::HashMap;
use std::rc::Rc;

use contract::source::Span;
use jiff::civil::Date;

use self::unchanged::Unchanged;
use super::catalog;
use super::document::{IndexedDocument, OpenApiDocument};
use super::finding::{self, Finding};
use super::rule::{Level, Rule, SchemaSite};
use super::schema;
use super::schema::view::SchemaParts;

pub(crate) use self::affected::AffectedOperation;
pub(crate) use self::api::RULES as API_RULES;
pub(crate) use self::bodies::RULES as BODY_RULES;
pub(crate) use self::encoding::RULES as ENCODING_RULES;
pub(crate) use self::lifecycle::{
    GracePeriods, RULES as LIFECYCLE_RULES, SCHEMA_RULES as LIFECYCLE_SCHEMA_RULES, compare_schema_lifecycle,
};
pub(crate) use self::operations::RULES as OPERATION_RULES;
pub(crate) use self::parameters::RULES as PARAMETER_RULES;
pub(crate) use self::responses::RULES as RESPONSE_RULES;
pub(crate) use self::security::RULES as SECURITY_RULES;
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

/// A queued pair of schemas, its site, and the origins that refer to the pair.
struct QueuedPair<'n> {
    base: SchemaParts<'n>,
    revision: SchemaParts<'n>,
    site: SchemaSite,
    origins: Vec<Origin>,
}

/// The identity of a pair: the addresses of both schemas' nodes, and the site.
type PairKey = (Vec<usize>, Vec<usize>, SchemaSite);

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
    changes: Vec<DetectedChange>,
}

/// Compares two documents. Returns one finding for each change, sorted by position in the revision.
pub(crate) fn compare(
    base: &OpenApiDocument,
    revision: &OpenApiDocument,
    today: Date,
    grace_periods: GracePeriods,
) -> Vec<Finding> {
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
        changes: Vec::new(),
    };
    api::compare(&mut comparison);
    // Comparing a pair can queue more pairs.
    let mut index = 0;
    while index < comparison.pairs.len() {
        schema::compare(&mut comparison, index);
        index += 1;
    }
    api::check_version(&mut comparison);
    finding::merge_changes(&comparison)
}

impl<'n> Comparison<'n> {
    /// Queues a pair of schemas, unless they are identical. If the pair is already queued at this site, only the origin
    /// is added to it.
    pub(crate) fn queue(
        &mut self,
        base: SchemaParts<'n>,
        revision: SchemaParts<'n>,
        site: SchemaSite,
        origin: Origin,
    ) {
        if self.unchanged.is_schema_unchanged(&base, &revision) {
            return;
        }
        let key = (base.address(), revision.address(), site);
        if let Some(index) = self.pair_index.get(&key) {
            self.pairs[*index].origins.push(origin);
            return;
        }
        self.pair_index.insert(key, self.pairs.len());
        self.pairs.push(QueuedPair { base, revision, site, origins: vec![origin] });
    }

    /// Whether a pair of schemas was queued at a site. It may be compared already.
    pub(crate) fn is_queued(
        &self,
        base: &SchemaParts<'n>,
        revision: &SchemaParts<'n>,
        site: SchemaSite,
    ) -> bool {
        self.pair_index.contains_key(&(base.address(), revision.address(), site))
    }

    /// Returns the two schemas of a queued pair and their site.
    pub(crate) fn pair(&self, index: usize) -> (SchemaParts<'n>, SchemaParts<'n>, SchemaSite) {
        let QueuedPair { base, revision, site, .. } = &self.pairs[index];
        (base.clone(), revision.clone(), *site)
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

    /// Records a change of a schema.
    pub(crate) fn report_schema_change(
        &mut self,
        pair_index: usize,
        site: SchemaSite,
        suffix: &str,
        positions: Positions,
        details: &str,
        message: String,
    ) {
        self.push_schema_change(
            site,
            suffix,
            positions,
            details,
            message,
            Origin::Pair(pair_index, Rc::from("")),
        );
    }

    /// Records a change of a property of a schema.
    pub(crate) fn report_property_change(
        &mut self,
        pair_index: usize,
        site: SchemaSite,
        suffix: &str,
        name: &str,
        positions: Positions,
        message: String,
    ) {
        self.push_schema_change(
            site,
            suffix,
            positions,
            name,
            message,
            Origin::Pair(pair_index, Rc::from(name)),
        );
    }

    /// Records a change outside of schemas by a schema rule, such as a parameter that became required.
    pub(crate) fn report_by_schema_rule(
        &mut self,
        site: SchemaSite,
        suffix: &str,
        operation_path: &Rc<OperationPath>,
        positions: Positions,
        details: &str,
        message: String,
    ) {
        self.push_schema_change(
            site,
            suffix,
            positions,
            details,
            message,
            Origin::Operation(Rc::clone(operation_path)),
        );
    }

    /// Records a change of a property by a rule that is not a schema rule. Without `level`, the change has the default
    /// level of its rule.
    pub(crate) fn report_property_rule(
        &mut self,
        pair_index: usize,
        id: &str,
        level: Option<Level>,
        positions: Positions,
        name: &str,
        message: String,
    ) {
        self.push_change(id, positions, name, message, Origin::Pair(pair_index, Rc::from(name)), level);
    }

    /// Records a change outside of schemas.
    pub(crate) fn report(
        &mut self,
        id: &str,
        operation_path: &Rc<OperationPath>,
        positions: Positions,
        details: &str,
        message: String,
    ) {
        self.push_change(id, positions, details, message, Origin::Operation(Rc::clone(operation_path)), None);
    }

    /// Records a change outside of schemas with another level than the default of its rule.
    pub(crate) fn report_with_level(
        &mut self,
        level: Level,
        id: &str,
        operation_path: &Rc<OperationPath>,
        positions: Positions,
        details: &str,
        message: String,
    ) {
        self.push_change(
            id,
            positions,
            details,
            message,
            Origin::Operation(Rc::clone(operation_path)),
            Some(level),
        );
    }

    fn push_schema_change(
        &mut self,
        site: SchemaSite,
        suffix: &str,
        positions: Positions,
        details: &str,
        message: String,
        origin: Origin,
    ) {
        self.changes.push(DetectedChange {
            id: site.id(suffix),
            level: catalog::schema_rule(suffix).map_or(Level::Error, |schema_rule| schema_rule.level(site)),
            site: Some(site),
            suffix: suffix.to_owned(),
            message,
            details: details.to_owned(),
            positions,
            origin,
        });
    }

    fn push_change(
        &mut self,
        id: &str,
        positions: Positions,
        details: &str,
        message: String,
        origin: Origin,
        level: Option<Level>,
    ) {
        let default_level = catalog::rule(id).map_or(Level::Error, |rule: &Rule| rule.level);
        self.changes.push(DetectedChange {
            id: id.to_owned(),
            level: level.unwrap_or(default_level),
            site: None,
            suffix: id.to_owned(),
            message,
            details: details.to_owned(),
            positions,
            origin,
        });
    }
}
