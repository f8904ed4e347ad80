//! Validates the references of a document: each must have a target within the document, and no object may include
//! itself. Also rejects unsupported dialects of JSON Schema.
//!
//! Strings under `$ref` are references, except in examples, other data and extensions.

use std::collections::HashSet;

use contract::diagnostic::{Code, Diagnostic};
use contract::node::{Entry, Node, Value};
use contract::source::Span;
use contract::version::is_known_dialect;

use super::document::{IndexedDocument, decode_step};

/// The meaning of the keys of a mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    /// Keywords of OpenAPI or JSON Schema.
    Keywords,
    /// User-defined names. A name such as `example` is not a keyword here.
    Names,
}

/// Keywords whose values are data, which contains no references.
pub(crate) const DATA_KEYWORDS: [&str; 5] = ["example", "examples", "default", "enum", "const"];
/// Keywords whose value is a mapping with user-defined names.
const KEYWORDS_WITH_NAMES: [&str; 17] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
    "schemas",
    "responses",
    "parameters",
    "requestBodies",
    "headers",
    "securitySchemes",
    "links",
    "callbacks",
    "pathItems",
    "paths",
    "webhooks",
    "content",
];

/// Reports every unresolved, external or circular reference, and every unsupported dialect.
pub(crate) fn check(document: &IndexedDocument<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut including_nodes = Vec::new();
    walk(document, &document.document.root, KeyKind::Keywords, &mut including_nodes, diagnostics);
    report_cycles(document, &including_nodes, diagnostics);
}

/// Checks the keywords of a node and of all nodes in it. Collects the nodes that include others by `$ref` or `allOf`.
fn walk<'n>(
    document: &IndexedDocument<'n>,
    node: &'n Node,
    key_kind: KeyKind,
    including_nodes: &mut Vec<&'n Node>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    match &node.value {
        Value::Sequence(items) => {
            for item in items {
                walk(document, item, KeyKind::Keywords, including_nodes, diagnostics);
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                let key = entry.key.text.as_str();
                if key_kind == KeyKind::Keywords {
                    if DATA_KEYWORDS.contains(&key) || key.starts_with("x-") {
                        continue;
                    }
                    diagnostics.extend(check_keyword(document, entry));
                    if ["$ref", "allOf"].contains(&key) {
                        including_nodes.push(node);
                    }
                }
                let has_names = key_kind == KeyKind::Keywords && KEYWORDS_WITH_NAMES.contains(&key);
                let value_key_kind = if has_names { KeyKind::Names } else { KeyKind::Keywords };
                walk(document, &entry.value, value_key_kind, including_nodes, diagnostics);
            }
        }
        _ => {}
    }
}

/// Returns the nodes that a node includes directly, by `$ref` or `allOf`, each with the position of the inclusion.
fn inclusions<'n>(document: &IndexedDocument<'n>, node: &'n Node) -> Vec<(&'n Node, Span)> {
    let reference = node.get("$ref");
    let target = reference.and_then(|node| Some((document.resolve(node.as_str()?)?, node.span)));
    let parts = node.get("allOf").and_then(Node::items).unwrap_or_default();
    target.into_iter().chain(parts.iter().map(|part| (part, part.span))).collect()
}

/// Reports nodes that include themselves, directly or through other nodes. Alternatives (`oneOf`, `anyOf`) are not
/// followed, because in many documents an alternative refers to the schema that contains it.
///
/// The search is depth-first with an explicit stack, so that long chains do not overflow the call stack.
fn report_cycles<'n>(
    document: &IndexedDocument<'n>,
    including_nodes: &[&'n Node],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut finished: HashSet<*const Node> = HashSet::new();
    for start in including_nodes {
        if finished.contains(&std::ptr::from_ref(*start)) {
            continue;
        }
        let mut ancestors: HashSet<*const Node> = HashSet::from([std::ptr::from_ref(*start)]);
        let mut stack = vec![(*start, inclusions(document, start))];
        while let Some((node, pending_inclusions)) = stack.last_mut() {
            let Some((included, span)) = pending_inclusions.pop() else {
                finished.insert(*node);
                ancestors.remove(&std::ptr::from_ref(*node));
                stack.pop();
                continue;
            };
            if ancestors.contains(&std::ptr::from_ref(included)) {
                diagnostics.push(cycle(span));
            } else if !finished.contains(&std::ptr::from_ref(included)) {
                ancestors.insert(included);
                stack.push((included, inclusions(document, included)));
            }
        }
    }
}

fn cycle(span: Span) -> Diagnostic {
    Diagnostic::error(
        Code::CyclicRef,
        span,
        "circular reference: the target includes itself",
        "remove the reference; only subschemas, such as properties and `items`, can refer back",
    )
}

fn check_keyword(document: &IndexedDocument<'_>, entry: &Entry) -> Option<Diagnostic> {
    let text = entry.value.as_str()?;
    match entry.key.text.as_str() {
        "$ref" if !text.starts_with('#') => Some(Diagnostic::error(
            Code::ExternalRef,
            entry.value.span,
            format!("`{text}` refers to a document that is not a file"),
            "download it into the folder of the document, or bundle the documents, for example with `redocly bundle`",
        )),
        "$ref" if document.resolve(text).is_none() => Some(Diagnostic::error(
            Code::UnresolvedRef,
            entry.value.span,
            format!("`{text}` does not exist"),
            "define it, or correct the reference",
        )),
        "$schema" if !is_known_dialect(text) => Some(Diagnostic::error(
            Code::UnsupportedVersion,
            entry.value.span,
            "unsupported dialect of JSON Schema",
            "remove `$schema`: the default is the dialect of OpenAPI 3.1",
        )),
        _ => None,
    }
}

/// Returns the target of a reference within the document. Returns `None` if the reference is not a JSON pointer in a
/// fragment (`#/...`), or if its target does not exist.
pub(crate) fn target<'n>(root: &'n Node, reference: &str) -> Option<&'n Node> {
    let pointer = reference.strip_prefix('#')?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    pointer.split('/').skip(1).try_fold(root, |node, step| match &node.value {
        Value::Mapping(_) => node.get(&decode_step(step)),
        Value::Sequence(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Returns a node and the targets of its chain of references. A chain that leads back to itself ends before it repeats.
pub(crate) fn reference_chain<'n>(root: &'n Node, node: &'n Node) -> Vec<&'n Node> {
    let next = |node: &&'n Node| target(root, node.get("$ref")?.as_str()?);
    let mut visited = HashSet::new();
    let is_new = |node: &&'n Node| visited.insert(std::ptr::from_ref(*node));
    std::iter::successors(Some(node), next).take_while(is_new).collect()
}
