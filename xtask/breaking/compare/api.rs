//! Compares the root of the documents: paths, webhooks, components, tags and version.
//!
//! Paths match regardless of the names of their parameters.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matching::by_key;
use super::operations::{self, PathItem, compare_unknown_keywords};
use super::{Comparison, OperationPath, Positions, lifecycle, security};
use crate::rule::{Inverse, Level, Rule};
use crate::schema::value;

const NO_INVERSE: Inverse = Inverse::None("an increased version is not reported");

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("webhook-added", Inverse::Of("webhook-removed")),
    Rule::error(
        "webhook-removed",
        Inverse::Of("webhook-added"),
        "Receivers no longer receive the event.",
        "Keep sending the event, and mark it `deprecated` with an `x-sunset` date.",
    ),
    Rule::info("api-schema-removed", Inverse::None("an added schema that is not used is not reported")),
    Rule::info("api-version-not-bumped", NO_INVERSE),
    Rule::info("api-version-decreased", NO_INVERSE),
    Rule::info("api-major-version-not-bumped", NO_INVERSE),
];

/// Compares the two documents.
pub(crate) fn compare(comparison: &mut Comparison<'_>) {
    security::compare_components(comparison);
    paths(comparison);
    webhooks(comparison);
    removed_schemas(comparison);
    compare_root_keywords(comparison);
}

/// Root keywords that are compared elsewhere or do not affect clients.
const KNOWN: [&str; 8] = [
    "openapi",
    "info",
    "servers",
    "security",
    "paths",
    "webhooks",
    "components",
    // Descriptions of tags; the tags of each operation are compared with the operation.
    "tags",
];
/// The sections of the components.
const SECTIONS: [&str; 9] = [
    "schemas",
    "responses",
    "parameters",
    "requestBodies",
    "headers",
    "securitySchemes",
    "links",
    "callbacks",
    "pathItems",
];

/// Reports changes of unknown keywords at the root and in the components.
fn compare_root_keywords(comparison: &mut Comparison<'_>) {
    let (base, revision) = (&comparison.base.document.root, &comparison.revision.document.root);
    let head = |node: &Node| Span { start: node.span.start, end: node.span.start };
    let known = |key: &str| KNOWN.contains(&key) || key == "jsonSchemaDialect";
    compare_unknown_keywords(
        comparison,
        &OperationPath::of("the document"),
        base,
        revision,
        (head(base), head(revision)),
        known,
    );
    let (before, after) = (base.entry("components"), revision.entry("components"));
    let nothing = Node::without_span(Value::Mapping(Vec::new()));
    let node = |entry: Option<&'_ Entry>| entry.map_or_else(|| nothing.clone(), |entry| entry.value.clone());
    let at = |entry: Option<&Entry>, root| entry.map_or_else(|| head(root), |entry| entry.key.span);
    let positions = (at(before, base), at(after, revision));
    compare_unknown_keywords(
        comparison,
        &OperationPath::of("components"),
        &node(before),
        &node(after),
        positions,
        |key| SECTIONS.contains(&key),
    );
}

/// Returns the entries of a root keyword and its position.
fn top<'n>(root: &'n Node, key: &str) -> (&'n [Entry], Span) {
    let entry = root.entry(key);
    let entries = entry.and_then(|entry| entry.value.entries()).unwrap_or_default();
    (entries, entry.map_or(Span { start: root.span.start, end: root.span.start }, |entry| entry.key.span))
}

fn paths(comparison: &mut Comparison<'_>) {
    let (base, base_at) = top(&comparison.base.document.root, "paths");
    let (revision, revision_at) = top(&comparison.revision.document.root, "paths");
    // All other keys are paths: validation rejects keys that do not begin with `/`.
    let is_path = |entry: &&Entry| !entry.key.text.starts_with("x-");
    let mut left: Vec<&Entry> = revision.iter().filter(is_path).collect();
    let exact: Vec<&Entry> = base.iter().filter(is_path).collect();
    let mut others = Vec::new();
    let mut pairs: Vec<(&Entry, Option<&Entry>)> = Vec::new();
    for entry in exact {
        match left.iter().position(|other| other.key.text == entry.key.text) {
            Some(at) => pairs.push((entry, Some(left.remove(at)))),
            None => others.push(entry),
        }
    }
    for entry in others {
        let same = left.iter().position(|other| template(&other.key.text) == template(&entry.key.text));
        pairs.push((entry, same.map(|at| left.remove(at))));
    }
    for (before, after) in pairs {
        let before = PathItem::new(&comparison.base, before, false);
        let after = after.map(|after| PathItem::new(&comparison.revision, after, false));
        operations::compare(
            comparison,
            Some(&before),
            after.as_ref(),
            Positions::new(before.at, revision_at),
        );
    }
    for entry in left {
        let after = PathItem::new(&comparison.revision, entry, false);
        operations::compare(comparison, None, Some(&after), Positions::new(base_at, after.at));
    }
}

/// Removes the names of path parameters: `/a/{id}/b` becomes `/a/{}/b`.
pub(crate) fn template(path: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for letter in path.chars() {
        match letter {
            '{' => inside = true,
            '}' => inside = false,
            _ if inside => continue,
            _ => {}
        }
        text.push(letter);
    }
    text
}

fn webhooks(comparison: &mut Comparison<'_>) {
    let (base, base_at) = top(&comparison.base.document.root, "webhooks");
    let (revision, revision_at) = top(&comparison.revision.document.root, "webhooks");
    let webhooks = by_key(base, revision, |entry| &entry.key.text);
    for (before, after) in webhooks.common {
        let (before, after) =
            (PathItem::new(&comparison.base, before, true), PathItem::new(&comparison.revision, after, true));
        operations::compare(comparison, Some(&before), Some(&after), Positions::new(before.at, after.at));
    }
    for entry in webhooks.removed {
        let before = PathItem::new(&comparison.base, entry, true);
        let message = format!("the webhook `{}` was removed", entry.key.text);
        let announced = before.operations().all(|(_, operation)| {
            matches!(
                lifecycle::removal_status(&operation.value, comparison.today),
                lifecycle::RemovalStatus::Announced
            )
        });
        let level = if announced { Level::Info } else { Level::Error };
        let positions = Positions::new(before.at, revision_at);
        let at = OperationPath::of(&entry.key.text);
        comparison.report_with_level(level, "webhook-removed", &at, positions, &entry.key.text, message);
    }
    for entry in webhooks.added {
        let message = format!("the webhook `{}` was added", entry.key.text);
        let positions = Positions::new(base_at, entry.key.span);
        comparison.report(
            "webhook-added",
            &OperationPath::of(&entry.key.text),
            positions,
            &entry.key.text,
            message,
        );
    }
}

fn removed_schemas(comparison: &mut Comparison<'_>) {
    let base = comparison.base.section("schemas");
    let revision_at = top(&comparison.revision.document.root, "components").1;
    for entry in base {
        if comparison.revision.component("schemas", &entry.key.text).is_none() {
            let message = format!("the schema `{}` was removed from the components", entry.key.text);
            let positions = Positions::new(entry.key.span, revision_at);
            comparison.report(
                "api-schema-removed",
                &OperationPath::of("components"),
                positions,
                &entry.key.text,
                message,
            );
        }
    }
}

/// Checks whether the version of the API was increased as required by the changes found.
pub(crate) fn check_version(comparison: &mut Comparison<'_>) {
    let version = |root: &Node| {
        let entry = root.get("info").and_then(|info| info.entry("version"));
        entry.map(|entry| {
            let text = entry.value.as_str().map(str::to_owned);
            // A version without quotes is parsed as a number.
            (text.unwrap_or_else(|| value::display_value(&entry.value)), entry.key.span)
        })
    };
    let (Some((before, base)), Some((after, revision))) =
        (version(&comparison.base.document.root), version(&comparison.revision.document.root))
    else {
        return;
    };
    let positions = Positions::new(base, revision);
    let at: Rc<OperationPath> = OperationPath::of("info");
    let breaks = comparison.changes().iter().any(|change| change.level == Level::Error);
    let numbers = |version: &str| -> Vec<u64> {
        version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
    };
    if before == after {
        if !comparison.changes().is_empty() {
            comparison.report(
                "api-version-not-bumped",
                &at,
                positions,
                &after,
                format!("version {after} was not increased"),
            );
        }
    } else if numbers(&after) < numbers(&before) {
        comparison.report(
            "api-version-decreased",
            &at,
            positions,
            &after,
            format!("the version decreased from {before} to {after}"),
        );
    }
    if breaks && numbers(&before).first() == numbers(&after).first() {
        let message = format!("breaking changes, but {after} has the same major version as {before}");
        comparison.report("api-major-version-not-bumped", &at, positions, &after, message);
    }
}
