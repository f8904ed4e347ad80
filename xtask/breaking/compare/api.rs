//! Compares the roots of the documents: security schemes, paths, webhooks, removed schemas and unknown keywords.
//!
//! Paths are matched regardless of the names of their parameters.

use std::collections::{BTreeSet, HashMap};

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matching::match_by_key;
use super::operations::{self, PathItem, compare_unknown_keywords};
use super::{Comparison, OperationPath, Positions, lifecycle, security_schemes, servers};
use crate::rule::{Inverse, Level, Rule};
use crate::schema::value;
use crate::shape::keywords::ObjectKind;

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("webhook-added", Inverse::Of("webhook-removed")),
    Rule::error(
        "webhook-removed",
        Inverse::Of("webhook-added"),
        "Receivers no longer receive the event.",
        "Keep sending the event, and mark it `deprecated` with an `x-sunset` date.",
    ),
    Rule::info("api-schema-removed", Inverse::None("an added schema is not reported")),
];

/// Compares the two documents, except for the schemas, which are queued.
pub(crate) fn compare(comparison: &mut Comparison<'_>) {
    security_schemes::compare(comparison);
    compare_paths(comparison);
    compare_webhooks(comparison);
    report_removed_schemas(comparison);
    compare_root_keywords(comparison);
}

/// Root keywords that are compared elsewhere or do not affect clients.
const KNOWN_KEYWORDS: [&str; 8] = [
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

/// Reports changes of unknown keywords at the root and in the components.
fn compare_root_keywords(comparison: &mut Comparison<'_>) {
    let (base, revision) = (&comparison.base.document.root, &comparison.revision.document.root);
    let start_of = |node: &Node| Span { start: node.span.start, end: node.span.start };
    let is_known = |key: &str| KNOWN_KEYWORDS.contains(&key) || key == "jsonSchemaDialect";
    compare_unknown_keywords(
        comparison,
        &OperationPath::of("the document"),
        base,
        revision,
        (start_of(base), start_of(revision)),
        is_known,
    );
    let (before, after) = (base.entry("components"), revision.entry("components"));
    let empty_mapping = Node::without_span(Value::Mapping(Vec::new()));
    let node =
        |entry: Option<&'_ Entry>| entry.map_or_else(|| empty_mapping.clone(), |entry| entry.value.clone());
    let span = |entry: Option<&Entry>, root| entry.map_or_else(|| start_of(root), |entry| entry.key.span);
    let positions = (span(before, base), span(after, revision));
    compare_unknown_keywords(
        comparison,
        &OperationPath::of("components"),
        &node(before),
        &node(after),
        positions,
        |key| ObjectKind::SECTIONS.contains(&key),
    );
}

/// Returns the entries of a root keyword and its position. Without the keyword, the position is the start of the
/// document.
fn root_entries<'n>(root: &'n Node, key: &str) -> (&'n [Entry], Span) {
    let entry = root.entry(key);
    let entries = entry.and_then(|entry| entry.value.entries()).unwrap_or_default();
    (entries, entry.map_or(Span { start: root.span.start, end: root.span.start }, |entry| entry.key.span))
}

fn compare_paths<'n>(comparison: &mut Comparison<'n>) {
    let (base, base_span) = root_entries(&comparison.base.document.root, "paths");
    let (revision, revision_span) = root_entries(&comparison.revision.document.root, "paths");
    // All other keys are paths: validation rejects keys that do not begin with `/`.
    let is_path = |entry: &&Entry| !entry.key.text.starts_with("x-");
    let mut remaining: Vec<&'n Entry> = revision.iter().filter(is_path).collect();
    let mut unmatched = Vec::new();
    let mut pairs: Vec<(&'n Entry, Option<&'n Entry>)> = Vec::new();
    let (base_root, revision_root) = (&comparison.base.document.root, &comparison.revision.document.root);
    let has_same_servers = match (base_root.get("servers"), revision_root.get("servers")) {
        (Some(before), Some(after)) => value::is_equal(before, after),
        _ => true,
    };
    let addresses_after: HashMap<&str, BTreeSet<String>> = if has_same_servers {
        HashMap::new()
    } else {
        let of_entry =
            |entry: &&'n Entry| (entry.key.text.as_str(), servers::addresses(revision_root, &entry.key.text));
        remaining.iter().map(of_entry).collect()
    };
    // Equal paths are matched first, then paths that differ only in the names of their parameters. If the servers
    // changed, paths with a common address are matched before both, because a prefix can move from the servers to the
    // paths.
    for before in base.iter().filter(is_path) {
        let addresses = servers::addresses(base_root, &before.key.text);
        let is_same_address = |after: &&Entry| {
            addresses_after.get(after.key.text.as_str()).is_some_and(|after| !after.is_disjoint(&addresses))
        };
        let is_same_path = |after: &&Entry| after.key.text == before.key.text;
        match remaining.iter().position(is_same_address).or_else(|| remaining.iter().position(is_same_path)) {
            Some(index) => pairs.push((before, Some(remaining.remove(index)))),
            None => unmatched.push(before),
        }
    }
    for before in unmatched {
        let template = without_parameter_names(&before.key.text);
        let index = remaining.iter().position(|after| without_parameter_names(&after.key.text) == template);
        pairs.push((before, index.map(|index| remaining.remove(index))));
    }
    for (before, after) in pairs {
        let before = PathItem::new(&comparison.base, before, false);
        let after = after.map(|after| PathItem::new(&comparison.revision, after, false));
        operations::compare(
            comparison,
            Some(&before),
            after.as_ref(),
            Positions::new(before.span, revision_span),
        );
    }
    for entry in remaining {
        let after = PathItem::new(&comparison.revision, entry, false);
        operations::compare(comparison, None, Some(&after), Positions::new(base_span, after.span));
    }
}

/// Removes the names of path parameters: `/a/{id}/b` becomes `/a/{}/b`.
pub(crate) fn without_parameter_names(path: &str) -> String {
    let mut template = String::new();
    let mut inside_braces = false;
    for letter in path.chars() {
        match letter {
            '{' => inside_braces = true,
            '}' => inside_braces = false,
            _ if inside_braces => continue,
            _ => {}
        }
        template.push(letter);
    }
    template
}

fn compare_webhooks(comparison: &mut Comparison<'_>) {
    let (base, base_span) = root_entries(&comparison.base.document.root, "webhooks");
    let (revision, revision_span) = root_entries(&comparison.revision.document.root, "webhooks");
    let webhooks = match_by_key(base, revision, |entry| &entry.key.text);
    for (before, after) in webhooks.common {
        let (before, after) =
            (PathItem::new(&comparison.base, before, true), PathItem::new(&comparison.revision, after, true));
        operations::compare(comparison, Some(&before), Some(&after), Positions::new(before.span, after.span));
    }
    for entry in webhooks.removed {
        let before = PathItem::new(&comparison.base, entry, true);
        let before_span = before.span;
        let message = format!("the webhook `{}` was removed", entry.key.text);
        let announced = lifecycle::is_removal_announced([before], comparison.today);
        let level = if announced { Level::Info } else { Level::Error };
        let positions = Positions::new(before_span, revision_span);
        let operation_path = OperationPath::of(&entry.key.text);
        comparison.report_with_level(
            level,
            "webhook-removed",
            &operation_path,
            positions,
            &entry.key.text,
            message,
        );
    }
    for entry in webhooks.added {
        let message = format!("the webhook `{}` was added", entry.key.text);
        let positions = Positions::new(base_span, entry.key.span);
        comparison.report(
            "webhook-added",
            &OperationPath::of(&entry.key.text),
            positions,
            &entry.key.text,
            message,
        );
    }
}

fn report_removed_schemas(comparison: &mut Comparison<'_>) {
    let base = comparison.base.section("schemas");
    let components = comparison.base.document.root.get("components");
    let section = components.and_then(|components| components.get("schemas")).map(|section| section.span);
    let revision_span = root_entries(&comparison.revision.document.root, "components").1;
    // A schema that was read from a file, or from a definition in another schema, is not part of the section.
    let is_declared = |entry: &&Entry| {
        section.is_some_and(|section| (section.start..section.end).contains(&entry.key.span.start))
    };
    for entry in base.iter().filter(is_declared) {
        if comparison.revision.component("schemas", &entry.key.text).is_none() {
            let message = format!("the schema `{}` was removed from the components", entry.key.text);
            let positions = Positions::new(entry.key.span, revision_span);
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
