//! The entries of a guide: findings about the same change are one entry.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use contract::node::Node;
use contract::plain_text::plain_text;

use super::super::markdown::{code, escape};
use super::examples::value_of;
use super::messages::Part;
use super::place::Place;
use super::templates::{
    ALL_WEBHOOKS_REMOVED, ALL_WEBHOOKS_REMOVED_ADVICE, FORMER_NULL, HEADERS_REMOVED, PAGING_ADVICE,
    PAGING_NAMES, RAISED, Shown, VALUES_REMOVED, template,
};
use super::{Guide, OperationKey, capitalize, is_deprecation, list, objects};
use crate::compare::AffectedOperation;
use crate::finding::Finding;
use crate::rule::Direction;
use crate::schema::proof::DocumentSide;
use crate::schema::value::display_value;
use crate::schema::view::SchemaView;

/// An entry of a guide.
#[derive(Default)]
pub(super) struct GuideEntry<'f> {
    pub findings: Vec<&'f Finding>,
    /// The changed object; empty if `change` names it.
    subject: String,
    pub change: String,
    /// What follows from the contracts.
    pub facts: String,
    /// What clients must do.
    pub advice: String,
    pub example: String,
    /// The affected operations, each with the location of the change.
    pub places: BTreeSet<(OperationKey, String)>,
    /// The kind of change in the summary.
    pub kind: &'static str,
}

/// What the findings of an entry have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    /// A header that responses no longer have.
    Headers,
    /// All webhooks.
    Webhooks,
    /// Members of one object.
    Object,
    /// Values of one object.
    Values,
    /// One change.
    Single,
}

impl GuideEntry<'_> {
    /// Returns the affected operations.
    pub(super) fn operations(&self) -> BTreeSet<OperationKey> {
        self.places.iter().map(|(operation, _)| operation.clone()).collect()
    }

    /// Returns the location that all places have in common. Only then, the title names it.
    pub(super) fn location(&self) -> Option<&str> {
        let mut locations = self.places.iter().map(|(_, location)| location.as_str());
        let first = locations.next().unwrap_or_default();
        locations.all(|location| location == first).then_some(first)
    }

    pub(super) fn title(&self) -> String {
        let location = self.location().unwrap_or_default();
        let is_verb = ["became ", "is ", "was "].iter().any(|verb| self.change.starts_with(verb));
        let (subject, change) = (self.subject.as_str(), self.change.as_str());
        let text = match (location, subject) {
            ("", "") => change.to_owned(),
            ("", _) => format!("{subject}{} {change}", if is_verb { "" } else { ":" }),
            (_, "") => format!("{location}: {change}"),
            _ if is_verb => format!("{location}: {subject} {change}"),
            _ => format!("{location}, {subject}: {change}"),
        };
        let ids: BTreeSet<String> = self.findings.iter().map(|finding| code(&finding.id)).collect();
        let ids = ids.into_iter().collect::<Vec<_>>().join(", ");
        format!("**{}** <sub>{ids}</sub>", capitalize(&text))
    }
}

impl<'n> Guide<'n> {
    /// Returns the entries about findings, in their order.
    pub(super) fn entries<'f>(&self, findings: &[&'f Finding]) -> Vec<GuideEntry<'f>> {
        let retyped = self.retyped(findings);
        let findings = findings.iter().copied().filter(|finding| !is_echo(finding, &retyped));
        let groups = group(findings.map(|finding| (self.key(finding), vec![finding])));
        // Headers of the same responses are one entry.
        let groups = group(groups.into_iter().map(|((subject, key), findings)| {
            let places = findings.iter().flat_map(|finding| &finding.operations);
            let places: BTreeSet<_> = places.map(|affected| (&affected.operation, &affected.part)).collect();
            let key = if subject == Subject::Headers { format!("{places:?}") } else { key };
            ((subject, key), findings)
        }));
        // So are entries with the same text.
        let mut entries: Vec<GuideEntry<'f>> = Vec::new();
        let mut indexes = HashMap::new();
        for ((subject, _), findings) in groups {
            let entry = self.entry(subject, findings);
            let text = [&entry.subject, &entry.change, &entry.facts, &entry.advice].map(String::clone);
            match indexes.entry((text, entry.findings[0].id.as_str())) {
                Entry::Occupied(index) => {
                    let other: &mut GuideEntry<'f> = &mut entries[*index.get()];
                    other.findings.extend(entry.findings);
                    other.places.extend(entry.places);
                }
                Entry::Vacant(index) => {
                    index.insert(entries.len());
                    entries.push(entry);
                }
            }
        }
        entries
    }

    /// Returns what the findings of an entry have in common.
    fn key(&self, finding: &Finding) -> (Subject, String) {
        let objects = finding.operations.iter().map(|affected| {
            let (object, _) = Place::object_of(finding, affected)?;
            Some(format!("{} {} {object:?}", finding.is_about_requests, affected.operation))
        });
        let objects = objects.collect::<Option<Vec<String>>>().filter(|objects| !objects.is_empty());
        if HEADERS_REMOVED.contains(&finding.id.as_str()) {
            (Subject::Headers, finding.details.to_lowercase())
        } else if finding.id == "webhook-removed" && !self.new_operations.values().any(|new| new.is_event) {
            (Subject::Webhooks, String::new())
        } else if let Some(objects) = objects {
            (Subject::Object, objects.concat())
        } else if is_about_values(finding) {
            (Subject::Values, format!("{}{:?}", finding.id, finding.operations))
        } else {
            (Subject::Single, finding.fingerprint.clone())
        }
    }

    /// Returns the places where a type was replaced by another one: the operation, the part and the steps.
    fn retyped<'f>(&self, findings: &[&'f Finding]) -> HashSet<(&'f str, &'f str, &'f [String])> {
        let mut places = HashSet::new();
        for finding in findings.iter().filter(|finding| finding.id.ends_with("type-changed")) {
            for affected in &finding.operations {
                let types = self.views(finding, affected).map(|views| views.map(|view| view.types));
                if types.is_some_and(|[before, after]| !before.overlaps(after)) {
                    places.insert((&*affected.operation, &*affected.part, &*affected.steps));
                }
            }
        }
        places
    }

    /// Returns the schemas in both documents at the place of a finding.
    fn views(&self, finding: &Finding, affected: &AffectedOperation) -> Option<[Rc<SchemaView<'n>>; 2]> {
        let sides = self.sides(&affected.operation, &affected.part)?;
        let examples = self.examples(direction(finding));
        let view = |side, part: Option<&Part<'n>>| examples.view_at(side, part?, &affected.steps);
        Some([
            view(DocumentSide::Base, sides.base.as_ref())?,
            view(DocumentSide::Revision, sides.revision.as_ref())?,
        ])
    }

    fn entry<'f>(&self, subject: Subject, findings: Vec<&'f Finding>) -> GuideEntry<'f> {
        let first = findings[0];
        let mut entry = GuideEntry { kind: self.kind(first), ..GuideEntry::default() };
        for finding in &findings {
            for affected in &finding.operations {
                let mut place = Place::of(finding, affected);
                if let Some((object, _)) = Place::object_of(finding, affected) {
                    place = object.member("");
                }
                entry.places.insert((self.operation_key(&affected.operation), place.location()));
            }
        }
        entry.findings = findings;
        match subject {
            Subject::Headers => {
                let names: BTreeSet<&str> = entry.findings.iter().map(|finding| &*finding.details).collect();
                let names: Vec<String> = names.into_iter().map(|name| code(&plain_text(name))).collect();
                let (these, are) =
                    if names.len() > 1 { ("these headers", "are") } else { ("this header", "is") };
                let headers = these.replace("these ", "the ").replace("this ", "the ");
                entry.change = format!("{headers} {} {are} no longer described", list(&names));
                entry.advice = self.fill(advice(first), first, these);
            }
            Subject::Webhooks => {
                entry.change = ALL_WEBHOOKS_REMOVED.to_owned();
                entry.advice = ALL_WEBHOOKS_REMOVED_ADVICE.to_owned();
            }
            Subject::Object => objects::describe(self, &mut entry),
            Subject::Values | Subject::Single => self.describe(&mut entry),
        }
        entry
    }

    /// Describes one change, or the removal of values.
    fn describe(&self, entry: &mut GuideEntry<'_>) {
        let finding = entry.findings[0];
        let template = template(&finding.id).unwrap_or(&RAISED);
        let affected = self.first_affected(finding);
        let place = affected.map(|affected| Place::of(finding, affected)).unwrap_or_default();
        let known = affected.and_then(|affected| self.by_name.get(&affected.operation));
        let whole = match known.map(|index| self.operations[*index].is_event) {
            Some(true) => "the event",
            Some(false) => "the operation",
            None => "this part of the API",
        };
        let what = place.subject(whole);
        let value = deprecated_value(finding);
        entry.change = match template.change.filter(|_| value.is_none()) {
            Some(change) => self.fill(change, finding, &what),
            None if is_about_values(finding) => removed_values(&entry.findings),
            None => escape(&finding.message.replacen("`: ", "` is ", usize::from(value.is_some()))),
        };
        let name = place.name().map_or_else(|| what[4..].to_owned(), |name| code(&plain_text(name)));
        let is_named = place == Place::default() && template.change.is_none() || entry.change.contains(&name);
        if !is_named {
            entry.subject = what.trim_start_matches("the field ").to_owned();
        }
        let is_paging = template.shown == Shown::Removed
            && !is_deprecation(finding)
            && place.name().is_some_and(|name| PAGING_NAMES.contains(&name));
        let advised =
            value.map_or_else(|| what.clone(), |value| format!("the value {} of {what}", code(value)));
        entry.advice = self.fill(if is_paging { PAGING_ADVICE } else { template.advice }, finding, &advised);
        entry.facts = affected.and_then(|affected| self.fact(finding, affected)).unwrap_or_default();
        let shown = if value.is_some() { Shown::Lines } else { template.shown };
        entry.example = self.example(finding, shown, affected, &place).unwrap_or_default();
    }

    /// Returns a sentence on what the contracts say about a change.
    fn fact(&self, finding: &Finding, affected: &AffectedOperation) -> Option<String> {
        let (what, values): (_, Vec<String>) = if finding.id.ends_with("-status-removed") {
            let statuses = self.sides(&affected.operation, "")?.new?.statuses();
            ("Success statuses", statuses.filter(|status| status.starts_with('2')).map(plain_text).collect())
        } else if is_about_values(finding) {
            let [_, view] = self.views(finding, affected)?;
            let values = view.entries("enum").filter_map(|entry| entry.value.items()).flatten();
            ("Values", values.map(shown_value).collect())
        } else {
            let [before, after] =
                self.views(finding, affected).filter(|_| finding.id.ends_with("-became-optional"))?;
            return (before.accepts_null && !after.accepts_null).then(|| FORMER_NULL.to_owned());
        };
        let values: Vec<String> = values.iter().map(|value| code(value)).collect();
        (!values.is_empty()).then(|| format!("{what} of the new contract: {}.", values.join(", ")))
    }

    /// Fills in a template.
    pub(super) fn fill(&self, text: &str, finding: &Finding, what: &str) -> String {
        let (since, sunset) = super::dates(&self.result.revision, finding.revision);
        text.replace("{since}", &since)
            .replace("{sunset}", &sunset)
            .replace("{what}", what)
            .replace("{What}", &capitalize(what))
    }
}

/// Joins the findings with the same key, in the order of the first ones.
fn group<'f>(
    findings: impl Iterator<Item = ((Subject, String), Vec<&'f Finding>)>,
) -> Vec<((Subject, String), Vec<&'f Finding>)> {
    let mut groups: Vec<((Subject, String), Vec<&Finding>)> = Vec::new();
    let mut indexes = HashMap::new();
    for (key, findings) in findings {
        let index = *indexes.entry(key.clone()).or_insert(groups.len());
        if index == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[index].1.extend(findings);
    }
    groups
}

/// Whether a finding only repeats that the type of its object, or of an object that contains it, was replaced.
fn is_echo(finding: &Finding, retyped: &HashSet<(&str, &str, &[String])>) -> bool {
    if !finding.is_about_schema {
        return false;
    }
    let own = ["-type-changed", "-became-", "deprecat", "sunset", "stability"];
    let is_own = own.iter().any(|part| finding.id.contains(part));
    let is_inside = |affected: &AffectedOperation| {
        let AffectedOperation { operation, part, steps, .. } = affected;
        (0..steps.len() + usize::from(!is_own)).any(|end| retyped.contains(&(operation, part, &steps[..end])))
    };
    !retyped.is_empty() && finding.operations.iter().all(is_inside)
}

/// Returns the advice of the template of a finding.
pub(super) fn advice(finding: &Finding) -> &'static str {
    template(&finding.id).unwrap_or(&RAISED).advice
}

/// Returns the value of an enum whose deprecation changed, as the message of the finding names it.
fn deprecated_value(finding: &Finding) -> Option<&str> {
    let (value, _) = finding.message.strip_prefix("the value `")?.split_once("`: ")?;
    Some(value)
}

fn is_about_values(finding: &Finding) -> bool {
    VALUES_REMOVED.iter().any(|end| finding.id.ends_with(end))
}

/// Returns the direction in which the values of a finding are sent.
pub(super) fn direction(finding: &Finding) -> Direction {
    if finding.is_about_requests { Direction::Request } else { Direction::Response }
}

/// Returns a value as clients send it.
fn shown_value(value: &Node) -> String {
    plain_text(&value.as_str().map_or_else(|| display_value(value), str::to_owned))
}

/// Returns the sentence about removed values.
fn removed_values(findings: &[&Finding]) -> String {
    let value = |finding: &&Finding| code(&shown_value(&value_of(&finding.details)));
    match findings.iter().map(value).collect::<Vec<_>>().as_slice() {
        [value] => format!("the value {value} was removed"),
        values => format!("the values {} were removed", list(values)),
    }
}
