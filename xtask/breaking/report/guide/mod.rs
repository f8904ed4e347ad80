//! The migration guide: what the users of an API must change in their code, with examples.

mod diff;
mod entries;
mod examples;
mod messages;
mod objects;
mod place;
mod templates;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use contract::node::{Node, Value};
use contract::plain_text::plain_text;
use contract::source::Span;

use self::diff::diff;
use self::entries::{GuideEntry, direction};
use self::examples::Examples;
use self::messages::{Operation, Part, operations};
use self::place::Place;
use self::templates::{NOTICED, OTHER_CHANGES, SECTIONS, SUMMARY, Shown, UNCHANGED};
use super::markdown::{code, escape};
use super::{ComparisonResult, count};
use crate::compare::AffectedOperation;
use crate::document::{IndexedDocument, OpenApiDocument};
use crate::finding::Finding;
use crate::path_version::PathVersions;
use crate::policies::VERSION_RULES;
use crate::rule::{Direction, Level};
use crate::schema::proof::ProofCache;

#[cfg(test)]
pub(crate) use self::templates::template;

const INTRODUCTION: &str =
    "Lines that begin with `-` are from before the change, lines that begin with `+` from after it.";

/// The maximum length of the names in a heading.
const MAX_HEADING: usize = 200;

/// Renders the migration guide as Markdown.
pub(crate) fn render(result: &ComparisonResult) -> String {
    Guide::new(result).render()
}

/// Whether a finding concerns the users of the API: it can break a client, announces this, or is the end of what was
/// deprecated.
fn concerns_users(finding: &Finding) -> bool {
    let is_breaking = finding.level > Level::Info && !VERSION_RULES.contains(&finding.id.as_str());
    is_breaking || is_deprecation(finding) || finding.id.ends_with("removed-with-deprecation")
}

fn is_deprecation(finding: &Finding) -> bool {
    finding.id.contains("deprecated")
}

/// The index of an operation in the old contract, and its name. Other objects come last.
type OperationKey = (usize, String);

/// An operation with its counterpart, and a part of their messages.
struct Sides<'n> {
    old: Operation<'n>,
    new: Option<Operation<'n>>,
    base: Option<Part<'n>>,
    revision: Option<Part<'n>>,
}

/// A guide that is being rendered.
struct Guide<'n> {
    result: &'n ComparisonResult,
    base: IndexedDocument<'n>,
    revision: IndexedDocument<'n>,
    /// The operations of the base, and then those that only the revision has.
    operations: Vec<Operation<'n>>,
    /// The index of each operation by its name in findings.
    by_name: HashMap<String, usize>,
    /// The operations of the revision, by [`Operation::key`] and by their ids.
    new_operations: HashMap<String, Operation<'n>>,
    proofs: ProofCache<'n>,
}

impl<'n> Guide<'n> {
    fn new(result: &'n ComparisonResult) -> Self {
        let (base, revision) = (IndexedDocument::new(&result.base), IndexedDocument::new(&result.revision));
        let mut new_operations = HashMap::new();
        for operation in operations(&revision) {
            for key in operation.id.map(str::to_owned).into_iter().chain([operation.key()]) {
                new_operations.entry(key).or_insert(operation);
            }
        }
        let operations = operations(&base);
        let mut by_name = HashMap::new();
        for (index, operation) in operations.iter().enumerate() {
            by_name.entry(operation.name()).or_insert(index);
            if operation.is_event {
                by_name.entry(plain_text(operation.path)).or_insert(index);
            }
        }
        Self { result, base, revision, operations, by_name, new_operations, proofs: ProofCache::default() }
    }

    fn render(&self) -> String {
        let findings: Vec<&Finding> =
            self.result.findings.iter().filter(|finding| concerns_users(finding)).collect();
        let version = |document: &OpenApiDocument, key| {
            let value = document.root.get("info").and_then(|info| info.get(key)).and_then(Node::as_str);
            escape(&plain_text(value.unwrap_or("?")))
        };
        let (old, new) = (&self.result.base, &self.result.revision);
        let mut text = format!(
            "# {}: migration from {} to {}\n\n",
            version(new, "title"),
            version(old, "version"),
            version(new, "version")
        );
        if let Some(PathVersions { base, revision }) = &self.result.path_versions {
            text += &format!(
                "All paths begin with {} instead of {}. Examples show the new paths.\n\n",
                code(revision),
                code(base)
            );
        }
        let entries = self.entries(&findings);
        if entries.is_empty() {
            let further = if self.result.path_versions.is_some() { "further " } else { "" };
            return format!("{text}Clients of the old version need no {further}changes.\n") + &self.others();
        }
        let deprecations = entries.iter().filter(|entry| is_deprecation(entry.findings[0])).count();
        let counts = [
            (entries.len() - deprecations, "change can break clients", "changes can break clients"),
            (deprecations, "deprecation is new", "deprecations are new"),
        ];
        let counts = counts.into_iter().filter(|(number, ..)| *number > 0);
        let counts: Vec<String> = counts.map(|(number, one, many)| count(number, one, many)).collect();
        text += &format!("{}. {INTRODUCTION}\n\n{}", counts.join(" and "), self.summary(&entries));
        let mut sections: BTreeMap<(usize, BTreeSet<OperationKey>), Vec<&GuideEntry<'_>>> = BTreeMap::new();
        for entry in &entries {
            let operations = entry.operations();
            sections.entry((self.section(&operations), operations)).or_default().push(entry);
        }
        let mut last_section = None;
        for ((section, operations), entries) in &sections {
            if last_section.replace(section) != Some(section) {
                text += &format!("\n## {}\n", SECTIONS[*section]);
            }
            text += &self.heading(operations);
            let mut last_advice = "";
            for entry in entries {
                text += &format!("\n{}\n", entry.title());
                let locations =
                    if entry.location().is_none() { self.locations(entry) } else { String::new() };
                // The same advice is not repeated.
                let advice = if last_advice == entry.advice { "" } else { &entry.advice };
                last_advice = &entry.advice;
                for paragraph in [&locations, entry.example.trim_end(), &entry.facts, advice] {
                    if !paragraph.is_empty() {
                        text += &format!("\n{paragraph}\n");
                    }
                }
            }
        }
        text + &self.others()
    }

    /// Renders the number of entries of each kind, with the operations concerned.
    fn summary(&self, entries: &[GuideEntry<'_>]) -> String {
        let mut kinds: BTreeMap<&str, (usize, BTreeSet<OperationKey>)> = BTreeMap::new();
        for entry in entries {
            let (number, operations) = kinds.entry(entry.kind).or_default();
            *number += 1;
            operations.extend(entry.operations());
        }
        let row = |(kind, (number, operations)): (&str, (usize, _))| {
            // A pipe would end the cell, even within code.
            format!("| {kind} | {number} | {} |\n", self.names(&operations).replace('|', "\\|"))
        };
        SUMMARY.to_owned() + &kinds.into_iter().map(row).collect::<String>() + UNCHANGED
    }

    fn operation_key(&self, name: &str) -> OperationKey {
        let index = self.by_name.get(name);
        index.map_or((usize::MAX, name.to_owned()), |index| (*index, self.operations[*index].label()))
    }

    /// Returns the names of operations and other objects, or that they are all that the new contract still has.
    fn names(&self, operations: &BTreeSet<OperationKey>) -> String {
        for (is_event, all) in [(false, "all operations"), (true, "all webhook events")] {
            let is_expected = |(_, operation): &(usize, &Operation<'n>)| {
                operation.is_event == is_event && (is_event || self.counterpart(operation).is_some())
            };
            let expected = self.operations.iter().enumerate().filter(is_expected);
            if operations.len() > 1 && expected.map(|(index, _)| index).eq(operations.iter().map(|key| key.0))
            {
                return all.to_owned();
            }
        }
        list(&operations.iter().map(|(_, name)| code(name)).collect::<Vec<_>>())
    }

    /// Returns the places of an entry: the operations, each with the locations in it.
    fn locations(&self, entry: &GuideEntry<'_>) -> String {
        let mut by_operation: BTreeMap<&OperationKey, Vec<&str>> = BTreeMap::new();
        for (operation, location) in &entry.places {
            by_operation.entry(operation).or_default().push(location);
        }
        let mut groups: BTreeMap<String, BTreeSet<OperationKey>> = BTreeMap::new();
        for (operation, locations) in by_operation {
            let has_field = locations.iter().any(|location| location.contains(','));
            let locations = match locations.as_slice() {
                statuses if statuses.len() > 1 && !has_field => {
                    format!("responses {}", statuses.join(", ").replace("response ", ""))
                }
                locations => locations.join("; "),
            };
            groups.entry(locations).or_default().insert(operation.clone());
        }
        let mut groups: Vec<(String, BTreeSet<OperationKey>)> = groups.into_iter().collect();
        groups.sort_by(|left, right| left.1.cmp(&right.1));
        if let [(locations, _)] = groups.as_slice() {
            return format!("In {locations}.");
        }
        let group = |(locations, operations): &_| format!("{} ({locations})", self.names(operations));
        format!("In {}.", groups.iter().map(group).collect::<Vec<_>>().join("; ")).replace(" ()", "")
    }

    /// Returns the list of changes that break no client, although clients may notice them.
    fn others(&self) -> String {
        let noticed = |finding: &&Finding| NOTICED.contains(&finding.id.as_str()) && !concerns_users(finding);
        let line = |finding: &Finding| {
            let operations =
                finding.operations.iter().map(|affected| self.operation_key(&affected.operation));
            format!("- {}: {}.\n", self.names(&operations.collect()), escape(&finding.message))
        };
        let lines: String = self.result.findings.iter().filter(noticed).map(line).collect();
        if lines.is_empty() { lines } else { format!("\n## {OTHER_CHANGES}\n\n{lines}") }
    }

    /// Returns the index of the section about operations.
    fn section(&self, operations: &BTreeSet<OperationKey>) -> usize {
        let first = operations.first().and_then(|(index, _)| self.operations.get(*index));
        match first {
            None => 3,
            Some(first) if first.is_event => 2,
            Some(_) => usize::from(operations.len() == 1),
        }
    }

    /// Returns the kind of a change in the summary.
    fn kind(&self, finding: &Finding) -> &'static str {
        let affected = self.first_affected(finding);
        let place = affected.map(|affected| Place::of(finding, affected)).unwrap_or_default();
        let known = affected.and_then(|affected| self.by_name.get(&affected.operation));
        match (place.part.as_str(), known) {
            _ if is_deprecation(finding) => "Deprecations",
            (_, None) => "API",
            (_, Some(index)) if self.operations[*index].is_event => "Webhook events",
            ("", _) => "Whole operations",
            ("body", _) => "Request bodies",
            (part, _) if part.contains(" header ") => "Response headers",
            (part, _) if part.contains(' ') => "Parameters",
            _ => "Response bodies",
        }
    }

    /// Returns the first of the affected operations in the order of the contract.
    fn first_affected<'f>(&self, finding: &'f Finding) -> Option<&'f AffectedOperation> {
        let index = |affected: &&AffectedOperation| self.by_name.get(&affected.operation);
        finding.operations.iter().min_by_key(|affected| index(affected).unwrap_or(&usize::MAX))
    }

    fn heading(&self, operations: &BTreeSet<OperationKey>) -> String {
        let only = operations.first().filter(|_| operations.len() == 1);
        let name = match only.and_then(|(index, _)| self.operations.get(*index)) {
            Some(operation) => {
                let address =
                    if operation.is_event { operation.path.to_owned() } else { operation.address() };
                let id = operation.id.map(|id| format!(" ({})", code(&plain_text(id)))).unwrap_or_default();
                code(&plain_text(&address)) + &id
            }
            None => match capitalize(&self.names(operations)) {
                names if names.len() > MAX_HEADING => format!("{} operations\n\n{names}.", operations.len()),
                names => names,
            },
        };
        format!("\n### {name}\n")
    }

    /// Returns an operation with its counterpart, and a part of their messages.
    fn sides(&self, name: &str, part: &str) -> Option<Sides<'n>> {
        let old = self.operations[*self.by_name.get(name)?];
        let new = self.counterpart(&old);
        let (base, revision) =
            (old.part(&self.base, part), new.and_then(|new| new.part(&self.revision, part)));
        Some(Sides { old, new, base, revision })
    }

    /// Returns the operation of the revision that replaces one of the base.
    fn counterpart(&self, old: &Operation<'n>) -> Option<Operation<'n>> {
        let of_id = || self.new_operations.get(old.id?);
        self.new_operations.get(&old.key()).or_else(of_id).copied()
    }

    fn examples(&self, direction: Direction) -> Examples<'_, 'n> {
        Examples::new(&self.base, &self.revision, &self.proofs, direction)
    }

    /// Renders the example of a change, or else the changed lines of the contracts.
    fn example(
        &self,
        finding: &Finding,
        shown: Shown,
        affected: Option<&AffectedOperation>,
        place: &Place,
    ) -> Option<String> {
        if shown == Shown::Nothing {
            return None;
        }
        let sides = affected.and_then(|affected| self.sides(&affected.operation, &place.part));
        let message = sides.and_then(|sides| self.messages(finding, shown, &sides, place));
        message.or_else(|| self.contract_lines(finding))
    }

    fn messages(
        &self,
        finding: &Finding,
        shown: Shown,
        Sides { old, new, base, revision }: &Sides<'n>,
        Place { part, steps }: &Place,
    ) -> Option<String> {
        match shown {
            Shown::Nothing | Shown::Lines => None,
            Shown::Calls => {
                let Some(new) = new.filter(|_| !is_deprecation(finding)) else {
                    return diff(&old.call(&self.base)[..1], &[]);
                };
                diff(&old.call(&self.base), &new.call(&self.revision))
            }
            Shown::Statuses => {
                let after = new.as_ref()?.statuses().find(|status| status.starts_with('2'))?;
                diff(&[format!("HTTP/1.1 {}", finding.details)], &[format!("HTTP/1.1 {after}")])
            }
            Shown::MediaTypes => {
                let header = |media_type: &str| format!("Content-Type: {media_type}");
                let before = finding.details.trim_start_matches('`').split('`').next()?;
                diff(&[header(before)], &[header(revision.as_ref()?.media_type?)])
            }
            Shown::Removed | Shown::Added | Shown::Replaced | Shown::Rejected | Shown::Bound(_) => {
                // The details of findings about values are the value.
                let is_value = finding.id.contains("-value-");
                let details = if is_value { finding.details.as_str() } else { "" };
                let (before, after) = self.examples(direction(finding)).before_and_after(
                    shown,
                    base.as_ref(),
                    revision.as_ref(),
                    steps,
                    details,
                )?;
                let lines = |value: Option<Node>| {
                    old.message(part, base.as_ref().or(revision.as_ref()), value.as_ref())
                };
                match shown {
                    // The request without the value would have another meaning.
                    Shown::Rejected if steps.is_empty() => diff(&lines(before), &[]),
                    _ => diff(&lines(before), &lines(after)),
                }
            }
        }
    }

    /// Returns the lines of the contracts at the positions of a finding. A contract that lacks the object has none.
    fn contract_lines(&self, finding: &Finding) -> Option<String> {
        let (old, new) = (self.base.path_of(finding.base), self.revision.path_of(finding.revision));
        let is_inside = |inner: &str, outer: &str| {
            inner.len() > outer.len() && (outer.is_empty() || inner.starts_with(&format!("{outer}.")))
        };
        let lines = |document: &OpenApiDocument, span: Span, is_absent: bool| {
            let end = entry_end(&document.root, span).unwrap_or(document.source.text.len());
            let entry = document.source.text.get(span.start..end.max(span.start)).unwrap_or_default();
            let line = entry.lines().next().unwrap_or_default().trim_end();
            if is_absent || line.is_empty() { Vec::new() } else { vec![line.to_owned()] }
        };
        diff(
            &lines(&self.result.base, finding.base, is_inside(&new, &old)),
            &lines(&self.result.revision, finding.revision, is_inside(&old, &new)),
        )
    }
}

/// Joins names, for example "a, b and c".
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// Returns the end of the entry whose key is at a position, or of the value there.
fn entry_end(node: &Node, span: Span) -> Option<usize> {
    let entries = node.entries().unwrap_or_default().iter();
    let mut ends = entries.map(|entry| match entry.key.span == span {
        true => Some(entry.value.span.end),
        false => entry_end(&entry.value, span),
    });
    let in_items = || node.items()?.iter().find_map(|item| entry_end(item, span));
    if node.span == span { Some(span.end) } else { ends.find_map(|end| end).or_else(in_items) }
}

/// Begins a sentence with a text.
fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().to_string() + characters.as_str()).unwrap_or_default()
}

/// Returns the date since which an object is deprecated, and when its support ends, as parts of a sentence.
fn dates(document: &OpenApiDocument, span: Span) -> (String, String) {
    let object = deprecated_object(&document.root, span.start);
    let date = |key| object?.get(key)?.as_str().map(|date| escape(&plain_text(date)));
    let since = date("x-deprecated-at").map(|date| format!(" since {date}")).unwrap_or_default();
    let sunset = date("x-sunset").map(|date| format!("ends on {date}"));
    (since, sunset.unwrap_or_else(|| "ends on a day that is not announced".to_owned()))
}

/// Returns the innermost object with the keyword `deprecated`, or the entry of a deprecated value, that contains a position.
fn deprecated_object(node: &Node, position: usize) -> Option<&Node> {
    let inner = match &node.value {
        Value::Mapping(entries) => {
            let contains = |start: usize, end: usize| start <= position && position < end;
            let mut containing = entries
                .iter()
                .filter(|entry| contains(entry.key.span.start, entry.key.span.end.max(entry.value.span.end)));
            containing.find_map(|entry| match &*entry.key.text {
                "x-deprecated-values" => {
                    let values = entry.value.entries().unwrap_or_default().iter();
                    let mut of_value =
                        values.filter(|value| contains(value.key.span.start, value.value.span.end));
                    of_value.next().map(|value| &value.value)
                }
                _ => deprecated_object(&entry.value, position),
            })
        }
        Value::Sequence(items) => {
            let mut containing =
                items.iter().filter(|item| item.span.start <= position && position < item.span.end);
            containing.find_map(|item| deprecated_object(item, position))
        }
        _ => None,
    };
    inner.or_else(|| node.get("deprecated").map(|_| node))
}
