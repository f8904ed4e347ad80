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
    let base: Vec<&Entry> = base.iter().filter(is_path).collect();
    let mut remaining = RemainingPaths::of(revision.iter().filter(is_path).collect());
    let (base_root, revision_root) = (&comparison.base.document.root, &comparison.revision.document.root);
    let mut matched: Vec<Option<&'n Entry>> = vec![None; base.len()];
    for key in path_keys(base_root, revision_root) {
        remaining.index_by(|path| key.all(revision_root, path));
        for (before, after) in base.iter().zip(&mut matched).filter(|(_, after)| after.is_none()) {
            *after = remaining.take(&key.all(base_root, &before.key.text));
        }
    }
    for (before, after) in base.into_iter().zip(matched) {
        let before = PathItem::new(&comparison.base, before, false);
        let after = after.map(|after| PathItem::new(&comparison.revision, after, false));
        operations::compare(
            comparison,
            Some(&before),
            after.as_ref(),
            Positions::new(before.span, revision_span),
        );
    }
    for entry in remaining.into_entries() {
        let after = PathItem::new(&comparison.revision, entry, false);
        operations::compare(comparison, None, Some(&after), Positions::new(base_span, after.span));
    }
}

/// What a path of the base and the same path of the revision have in common.
#[derive(Clone, Copy)]
enum PathKey {
    /// The path itself.
    Path,
    /// The path without the names of its parameters.
    Template,
    /// An address: the URL of a server and the path.
    Address {
        /// Whether the scheme and the host are left out.
        without_host: bool,
    },
}

impl PathKey {
    /// Returns the keys of a path in a document.
    fn all(self, root: &Node, path: &str) -> BTreeSet<String> {
        match self {
            Self::Path => BTreeSet::from([path.to_owned()]),
            Self::Template => BTreeSet::from([without_parameter_names(path)]),
            Self::Address { without_host } => servers::addresses(root, path, without_host),
        }
    }
}

/// Returns the keys by which paths are matched, one after the other. If the servers changed, a prefix can have moved
/// between the servers and the paths.
fn path_keys(base: &Node, revision: &Node) -> Vec<PathKey> {
    let (servers_before, servers_after) = (servers::of_document(base), servers::of_document(revision));
    // Without servers, the host is that of the document.
    let address = PathKey::Address { without_host: servers_before.is_none() || servers_after.is_none() };
    match (servers_before, servers_after) {
        (None, None) => vec![PathKey::Path, PathKey::Template],
        (Some(before), Some(after)) if value::is_equal(before, after) => {
            vec![PathKey::Path, PathKey::Template]
        }
        // The first servers only document the URL that clients already use.
        (None, Some(_)) => vec![PathKey::Path, address, PathKey::Template],
        (Some(_), _) => vec![address, PathKey::Path, PathKey::Template],
    }
}

/// The paths of the revision that are not matched yet.
struct RemainingPaths<'n> {
    entries: Vec<Option<&'n Entry>>,
    /// The indexes of the paths by their keys.
    by_key: HashMap<String, Vec<usize>>,
}

impl<'n> RemainingPaths<'n> {
    fn of(entries: Vec<&'n Entry>) -> Self {
        Self { entries: entries.into_iter().map(Some).collect(), by_key: HashMap::new() }
    }

    /// Indexes the remaining paths by their keys.
    fn index_by(&mut self, keys_of: impl Fn(&str) -> BTreeSet<String>) {
        self.by_key.clear();
        // The first of several paths with a key is the last in the list.
        for (index, entry) in self.entries.iter().enumerate().rev() {
            for key in entry.map(|entry| keys_of(&entry.key.text)).unwrap_or_default() {
                self.by_key.entry(key).or_default().push(index);
            }
        }
    }

    /// Removes the first path with one of the keys and returns it.
    fn take(&mut self, keys: &BTreeSet<String>) -> Option<&'n Entry> {
        let mut found = None;
        for key in keys {
            let Some(indexes) = self.by_key.get_mut(key) else { continue };
            while found.is_none()
                && let Some(index) = indexes.pop()
            {
                found = self.entries[index].take();
            }
        }
        found
    }

    fn into_entries(self) -> impl Iterator<Item = &'n Entry> {
        self.entries.into_iter().flatten()
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
