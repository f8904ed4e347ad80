//! The migration guide: what the users of an API must change in their code, with examples.

mod examples;
mod messages;
mod templates;

use std::collections::{BTreeMap, HashMap};

use contract::node::{Node, Value};
use contract::plain_text::plain_text;
use contract::source::Span;

use self::examples::Examples;
use self::messages::{Operation, diff, operations};
use self::templates::{PAGING_ADVICE, PAGING_NAMES, RAISED, Shown};
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

/// The kind of a section, the indexes of its operations, and the names of other objects.
type SectionKey<'f> = (usize, Vec<usize>, Vec<&'f str>);

/// A guide that is being rendered.
struct Guide<'n> {
    result: &'n ComparisonResult,
    base: IndexedDocument<'n>,
    revision: IndexedDocument<'n>,
    /// The operations of the base, and then those that only the revision has.
    operations: Vec<Operation<'n>>,
    /// The index of each operation by its name in findings.
    by_name: HashMap<String, usize>,
    /// The operations of the revision.
    new_operations: Vec<Operation<'n>>,
    proofs: ProofCache<'n>,
}

impl<'n> Guide<'n> {
    fn new(result: &'n ComparisonResult) -> Self {
        let (base, revision) = (IndexedDocument::new(&result.base), IndexedDocument::new(&result.revision));
        let (operations, new_operations) = (operations(&base), operations(&revision));
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
        if findings.is_empty() {
            let further = if self.result.path_versions.is_some() { "further " } else { "" };
            return format!("{text}Clients of the old version need no {further}changes.\n");
        }
        let deprecations = findings.iter().filter(|finding| is_deprecation(finding)).count();
        let counts = [
            (findings.len() - deprecations, "change can break clients", "changes can break clients"),
            (deprecations, "deprecation is new", "deprecations are new"),
        ];
        let counts = counts.into_iter().filter(|(number, ..)| *number > 0);
        let counts: Vec<String> = counts.map(|(number, one, many)| count(number, one, many)).collect();
        text += &format!("{}. {INTRODUCTION}\n", counts.join(" and "));
        let mut sections: BTreeMap<SectionKey<'_>, Vec<&Finding>> = BTreeMap::new();
        for finding in findings {
            sections.entry(self.section(finding)).or_default().push(finding);
        }
        let mut last_kind = None;
        for ((kind, indexes, names), findings) in &sections {
            if last_kind.replace(kind) != Some(kind) {
                text += &format!("\n## {}\n", ["Operations", "Webhook events", "Other"][*kind]);
            }
            text += &self.heading(indexes, names);
            text.extend(findings.iter().map(|finding| self.change(finding)));
        }
        text
    }

    /// Returns the key by which a finding is grouped and sorted: the kind of section, the operations in the order of the
    /// contract, and the other objects.
    fn section<'f>(&self, finding: &'f Finding) -> SectionKey<'f> {
        let index = |affected: &&AffectedOperation| self.by_name.get(&affected.operation).copied();
        let mut indexes: Vec<usize> =
            finding.operations.iter().filter_map(|affected| index(&affected)).collect();
        indexes.sort_unstable();
        let others = finding.operations.iter().filter(|affected| index(affected).is_none());
        let others = others.map(|affected| affected.operation.as_str()).collect();
        let kind = indexes.first().map_or(2, |index| usize::from(self.operations[*index].is_event));
        (kind, indexes, others)
    }

    /// Returns the first of the affected operations in the order of the contract.
    fn first_affected<'f>(&self, finding: &'f Finding) -> Option<&'f AffectedOperation> {
        let index = |affected: &&AffectedOperation| self.by_name.get(&affected.operation);
        finding.operations.iter().min_by_key(|affected| index(affected).unwrap_or(&usize::MAX))
    }

    fn heading(&self, indexes: &[usize], others: &[&str]) -> String {
        let operation = |index: &usize| {
            let operation = &self.operations[*index];
            let method =
                if operation.is_event { String::new() } else { operation.method.to_uppercase() + " " };
            let id = operation.id.map(|id| format!(" ({})", code(&plain_text(id)))).unwrap_or_default();
            code(&plain_text(&(method + operation.path))) + &id
        };
        let names: Vec<String> =
            indexes.iter().map(operation).chain(others.iter().map(|name| code(name))).collect();
        match names.as_slice() {
            [] => "\n### Whole API\n".to_owned(),
            [name] => format!("\n### {name}\n"),
            [first, further @ ..] => {
                format!("\n### {first} and {} more\n\nAlso concerns {}.\n", further.len(), further.join(", "))
            }
        }
    }

    /// Renders one change.
    fn change(&self, finding: &Finding) -> String {
        let template = templates::template(&finding.id).unwrap_or(&RAISED);
        let affected = self.first_affected(finding);
        let place = Place::of(finding, affected);
        let known = affected.and_then(|affected| self.by_name.get(&affected.operation));
        let operation = known.map(|index| self.operations[*index]);
        let whole = match operation {
            Some(Operation { is_event: true, .. }) => "the event",
            Some(_) => "the operation",
            None => "this part of the API",
        };
        let (since, sunset) = dates(&self.result.revision, finding.revision);
        let fill = |text: &str| {
            let what = place.field().map_or_else(|| place.part(whole), |field| format!("the field {field}"));
            text.replace("{since}", &since)
                .replace("{sunset}", &sunset)
                .replace("{what}", &what)
                .replace("{What}", &capitalize(&what))
        };
        let change = template.change.map_or_else(|| escape(&finding.message), fill);
        let part = place.part(whole);
        let is_known = template.change.is_none() && (place.part.is_empty() || change.contains(&part[4..]));
        let change = match place.field() {
            Some(field) => format!("{}, field {field}: {change}", capitalize(&part)),
            None if is_known => capitalize(&change),
            None => format!("{}: {change}", capitalize(&part)),
        };
        let is_paging = template.shown == Shown::Removed
            && !is_deprecation(finding)
            && place.name().is_some_and(|name| PAGING_NAMES.contains(&name));
        let advice = fill(if is_paging { PAGING_ADVICE } else { template.advice });
        let example = self.example(finding, template.shown, operation, &place).unwrap_or_default();
        format!("\n**{change}** <sub>{}</sub>\n\n{example}{advice}\n", code(&finding.id))
    }

    /// Renders the example of a change, or else the changed lines of the contracts.
    fn example(
        &self,
        finding: &Finding,
        shown: Shown,
        operation: Option<Operation<'n>>,
        place: &Place,
    ) -> Option<String> {
        let message = operation.and_then(|operation| self.messages(finding, shown, operation, place));
        let (title, block) = match message {
            Some(block) => ("Example", block),
            None => ("Contract", self.contract_lines(finding)?),
        };
        Some(format!("{title}:\n\n{block}\n"))
    }

    fn messages(
        &self,
        finding: &Finding,
        shown: Shown,
        old: Operation<'n>,
        Place { part, steps }: &Place,
    ) -> Option<String> {
        let mut candidates = self.new_operations.iter();
        let new = candidates.clone().find(|new| new.has_address_of(&old));
        let new = new.or_else(|| candidates.find(|new| new.id.is_some() && new.id == old.id));
        let (base, revision) =
            (old.part(&self.base, part), new.and_then(|new| new.part(&self.revision, part)));
        match shown {
            Shown::Lines => None,
            Shown::Calls => {
                let Some(new) = new.filter(|_| !is_deprecation(finding)) else {
                    return diff(&old.call(&self.base)[..1], &[]);
                };
                diff(&old.call(&self.base), &new.call(&self.revision))
            }
            Shown::Statuses => {
                let after = new?.success_status()?;
                diff(&[format!("HTTP/1.1 {}", finding.details)], &[format!("HTTP/1.1 {after}")])
            }
            Shown::MediaTypes => {
                let header = |media_type: &str| format!("Content-Type: {media_type}");
                let before = finding.details.trim_start_matches('`').split('`').next()?;
                diff(&[header(before)], &[header(revision?.media_type?)])
            }
            Shown::Removed | Shown::Added | Shown::Replaced => {
                let direction =
                    if finding.is_about_requests { Direction::Request } else { Direction::Response };
                let examples = Examples::new(&self.base, &self.revision, &self.proofs, direction);
                let (before, after) = examples.before_and_after(
                    shown,
                    base.as_ref(),
                    revision.as_ref(),
                    steps,
                    &finding.details,
                )?;
                let lines = |value: Option<Node>| {
                    old.message(part, base.as_ref().or(revision.as_ref()), value.as_ref())
                };
                diff(&lines(before), &lines(after))
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
            let rest = document.source.text.get(span.start..).unwrap_or_default();
            let line = rest.lines().next().unwrap_or_default().trim_end();
            if is_absent || line.is_empty() { Vec::new() } else { vec![line.to_owned()] }
        };
        diff(
            &lines(&self.result.base, finding.base, is_inside(&new, &old)),
            &lines(&self.result.revision, finding.revision, is_inside(&old, &new)),
        )
    }
}

/// The place of a change in a message.
struct Place {
    /// The part, such as `body`, `query limit`, `200` or `200 header Link`; empty for the operation itself.
    part: String,
    /// The steps within the part.
    steps: Vec<String>,
}

impl Place {
    /// Returns the place of a finding. Parameters, headers and bodies that only one document has are in its details.
    fn of(finding: &Finding, affected: Option<&AffectedOperation>) -> Self {
        let Some(affected) = affected else {
            return Self { part: String::new(), steps: Vec::new() };
        };
        let (part, details) = (affected.part.as_str(), finding.details.as_str());
        let part = match finding.id.as_str() {
            "request-body-added-required" | "request-body-became-required" | "request-body-removed" => "body",
            "webhook-payload-removed" | "webhook-payload-became-optional" => "payload",
            "required-response-header-removed" | "optional-response-header-removed" => {
                &format!("{part} header {details}")
            }
            "new-required-request-parameter" | "new-required-request-default-parameter-to-existing-path" => {
                details
            }
            id if id.starts_with("request-parameter-removed") => details,
            _ => part,
        };
        Self { part: part.trim_start().to_owned(), steps: affected.steps.clone() }
    }

    /// Returns the name of the parameter, header or field, if it has one.
    fn name(&self) -> Option<&str> {
        self.steps.last().map(String::as_str).or_else(|| Some(self.part.split_once(' ')?.1))
    }

    /// Returns the part with an article, for example ``the query parameter `limit` ``.
    fn part(&self, whole: &str) -> String {
        let name = |name: &str| code(&plain_text(name));
        if let Some((status, header)) = self.part.split_once(" header ") {
            return format!("the header {} of response {}", name(header), plain_text(status));
        }
        match (self.part.as_str(), self.part.split_once(' ')) {
            ("", _) => whole.to_owned(),
            ("body", _) => "the request body".to_owned(),
            ("payload", _) => "the body of the event".to_owned(),
            (_, Some(("header", header))) => format!("the header {}", name(header)),
            (_, Some((location @ ("query" | "path" | "cookie"), parameter))) => {
                format!("the {location} parameter {}", name(parameter))
            }
            (part, Some(_)) => format!("the part {}", name(part)),
            (status, None) => format!("the body of response {}", plain_text(status)),
        }
    }

    /// Returns the path of the field within the part, for example `` `data[].title` ``.
    fn field(&self) -> Option<String> {
        let mut path = String::new();
        for step in self.steps.iter().filter(|step| !examples::is_alternative(step)) {
            path += if path.is_empty() || step.starts_with('[') { "" } else { "." };
            path += step;
        }
        (!path.is_empty()).then(|| code(&plain_text(&path)))
    }
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

/// Returns the innermost object with the keyword `deprecated` that contains a position.
fn deprecated_object(node: &Node, position: usize) -> Option<&Node> {
    let inner = match &node.value {
        Value::Mapping(entries) => {
            let contains = |start: usize, end: usize| start <= position && position < end;
            let mut containing = entries
                .iter()
                .filter(|entry| contains(entry.key.span.start, entry.key.span.end.max(entry.value.span.end)));
            containing.find_map(|entry| deprecated_object(&entry.value, position))
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
