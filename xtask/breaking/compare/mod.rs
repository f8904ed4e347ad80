//! Compares two documents.
//!
//! [`api`] walks what stands outside of schemas and enters every pair of schemas that it meets; each pair is compared once
//! for each [`Site`], in a queue, so that recursion through `$ref` ends and depth costs no stack. Whatever is found is noted
//! with the way that led there. Nothing here prints.

pub(crate) mod api;
mod bodies;
mod content;
mod encoding;
mod lifecycle;
mod matched;
mod operations;
mod parameters;
pub(crate) mod reach;
mod responses;
pub(crate) mod same;
mod security;
mod servers;

use std::collections::HashMap;
use std::rc::Rc;

use contract::source::Span;
use jiff::civil::Date;

use self::same::Same;
use super::catalogue;
use super::document::{Document, Side};
use super::finding::{self, Finding};
use super::rule::{Level, Rule, Site};
use super::schema;
use super::schema::view::Parts;

pub(crate) use self::api::RULES as API_RULES;
pub(crate) use self::bodies::RULES as BODY_RULES;
pub(crate) use self::encoding::RULES as ENCODING_RULES;
pub(crate) use self::lifecycle::{ASPECTS as LIFECYCLE_ASPECTS, RULES as LIFECYCLE_RULES, judge_schema};
pub(crate) use self::operations::RULES as OPERATION_RULES;
pub(crate) use self::parameters::RULES as PARAMETER_RULES;
pub(crate) use self::reach::Reach;
pub(crate) use self::responses::RULES as RESPONSE_RULES;
pub(crate) use self::security::RULES as SECURITY_RULES;
pub(crate) use self::servers::RULES as SERVER_RULES;

/// An operation, and the way into it that ends at the thing compared.
#[derive(Debug)]
pub(crate) struct Use {
    /// The operation's id, or its method and path.
    pub operation: String,
    /// Where in it: `200`, `query limit`.
    pub steps: String,
    /// Whether the server is the one that calls: in a webhook or a callback.
    pub flipped: bool,
}

impl Use {
    /// An operation as a whole.
    pub(crate) fn of(operation: impl Into<String>) -> Rc<Self> {
        Rc::new(Self { operation: operation.into(), steps: String::new(), flipped: false })
    }

    /// One step further into it.
    pub(crate) fn step(&self, step: &str) -> Rc<Self> {
        let steps = if self.steps.is_empty() { step.to_owned() } else { format!("{} {step}", self.steps) };
        Rc::new(Self { operation: self.operation.clone(), steps, flipped: self.flipped })
    }
}

/// How a thing was come by.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// From an operation.
    Use(Rc<Use>),
    /// From another pair of schemas, by a step.
    Pair(usize, Rc<str>),
}

/// Two schemas to be compared at a site.
struct Pair<'n> {
    base: Parts<'n>,
    revision: Parts<'n>,
    site: Site,
    from: Vec<Origin>,
}

/// A pair by the addresses of its texts.
type Key = (Vec<usize>, Vec<usize>, Site);

/// The places of a change in both documents; where the thing is absent, the place that lacks it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// In the base.
    pub base: Span,
    /// In the revision.
    pub revision: Span,
}

impl Places {
    /// Two places.
    pub(crate) const fn new(base: Span, revision: Span) -> Self {
        Self { base, revision }
    }
}

/// A change as it was met, once for each way that leads to it.
pub(crate) struct Note {
    /// The id of the rule.
    pub id: String,
    /// How bad it is here.
    pub level: Level,
    /// The site, when it is about a schema.
    pub site: Option<Site>,
    /// The rule without its site.
    pub word: String,
    /// What changed, in one sentence without a full stop.
    pub message: String,
    /// What tells this change from others of the same rule at the same place.
    pub facts: String,
    /// Where.
    pub places: Places,
    /// How it was come by.
    pub from: Origin,
}

/// What is known while two documents are compared.
pub(crate) struct Comparison<'n> {
    /// What was promised.
    pub base: Side<'n>,
    /// What is promised now.
    pub revision: Side<'n>,
    /// The day on which they are compared.
    pub today: Date,
    same: Same<'n>,
    pairs: Vec<Pair<'n>>,
    index: HashMap<Key, usize>,
    notes: Vec<Note>,
}

/// Everything that differs, in the order of the revision's text.
pub(crate) fn compare(base: &Document, revision: &Document, today: Date) -> Vec<Finding> {
    let (base, revision) = (Side::new(base), Side::new(revision));
    let same = Same::of(&base, &revision);
    let mut comparison = Comparison {
        base,
        revision,
        today,
        same,
        pairs: Vec::new(),
        index: HashMap::new(),
        notes: Vec::new(),
    };
    api::compare(&mut comparison);
    let mut next = 0;
    while next < comparison.pairs.len() {
        schema::compare(&mut comparison, next);
        next += 1;
    }
    api::judge_version(&mut comparison);
    finding::gather(&comparison)
}

impl<'n> Comparison<'n> {
    /// Has a pair of schemas compared, unless they are the same or have been met.
    pub(crate) fn enter(&mut self, base: Parts<'n>, revision: Parts<'n>, site: Site, from: Origin) {
        if self.same.parts(&base, &revision) {
            return;
        }
        let key = (base.address(), revision.address(), site);
        if let Some(known) = self.index.get(&key) {
            self.pairs[*known].from.push(from);
            return;
        }
        self.index.insert(key, self.pairs.len());
        self.pairs.push(Pair { base, revision, site, from: vec![from] });
    }

    /// Whether two schemas are compared at a site.
    pub(crate) fn has_met(&self, base: &Parts<'n>, revision: &Parts<'n>, site: Site) -> bool {
        self.index.contains_key(&(base.address(), revision.address(), site))
    }

    /// The two schemas of a pair, and their site.
    pub(crate) fn pair(&self, pair: usize) -> (Parts<'n>, Parts<'n>, Site) {
        let Pair { base, revision, site, .. } = &self.pairs[pair];
        (base.clone(), revision.clone(), *site)
    }

    /// How a pair was come by.
    pub(crate) fn origins(&self, pair: usize) -> &[Origin] {
        &self.pairs[pair].from
    }

    /// Whether two texts are the same, all the way down.
    pub(crate) const fn same(&self) -> &Same<'n> {
        &self.same
    }

    /// Everything noted so far.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Notes a change of a schema.
    pub(crate) fn note(
        &mut self,
        pair: usize,
        site: Site,
        word: &str,
        places: Places,
        facts: &str,
        message: String,
    ) {
        self.push_schema(site, word, places, facts, message, Origin::Pair(pair, Rc::from("")));
    }

    /// Notes a change of a property of a schema.
    pub(crate) fn note_inside(
        &mut self,
        pair: usize,
        site: Site,
        word: &str,
        name: &str,
        places: Places,
        message: String,
    ) {
        self.push_schema(site, word, places, name, message, Origin::Pair(pair, Rc::from(name)));
    }

    /// Notes a change of what a schema is about, from outside of it.
    pub(crate) fn note_use(
        &mut self,
        site: Site,
        word: &str,
        at: &Rc<Use>,
        places: Places,
        facts: &str,
        message: String,
    ) {
        self.push_schema(site, word, places, facts, message, Origin::Use(Rc::clone(at)));
    }

    /// Notes a change of a property that has a rule of its own.
    pub(crate) fn raise_in(
        &mut self,
        pair: usize,
        id: &str,
        level: Option<Level>,
        places: Places,
        name: &str,
        message: String,
    ) {
        self.push(id, places, name, message, Origin::Pair(pair, Rc::from(name)), level);
    }

    /// Notes a change outside of schemas.
    pub(crate) fn raise(&mut self, id: &str, at: &Rc<Use>, places: Places, facts: &str, message: String) {
        self.push(id, places, facts, message, Origin::Use(Rc::clone(at)), None);
    }

    /// Notes a change that is worse or better than usual.
    pub(crate) fn raise_at(
        &mut self,
        level: Level,
        id: &str,
        at: &Rc<Use>,
        places: Places,
        facts: &str,
        message: String,
    ) {
        self.push(id, places, facts, message, Origin::Use(Rc::clone(at)), Some(level));
    }

    fn push_schema(
        &mut self,
        site: Site,
        word: &str,
        places: Places,
        facts: &str,
        message: String,
        from: Origin,
    ) {
        self.notes.push(Note {
            id: site.id(word),
            level: catalogue::aspect(word).map_or(Level::Error, |aspect| aspect.level(site)),
            site: Some(site),
            word: word.to_owned(),
            message,
            facts: facts.to_owned(),
            places,
            from,
        });
    }

    fn push(
        &mut self,
        id: &str,
        places: Places,
        facts: &str,
        message: String,
        from: Origin,
        level: Option<Level>,
    ) {
        let usual = catalogue::rule(id).map_or(Level::Error, |rule: &Rule| rule.level);
        self.notes.push(Note {
            id: id.to_owned(),
            level: level.unwrap_or(usual),
            site: None,
            word: id.to_owned(),
            message,
            facts: facts.to_owned(),
            places,
            from,
        });
    }
}
