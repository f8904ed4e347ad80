//! Validates the references of a document: each must resolve within the document, and following them must end.
//!
//! References are the strings under `$ref` outside of examples.

use std::collections::HashSet;

use contract::diagnostic::{Code, Diagnostic};
use contract::node::{Entry, Node, Value};
use contract::source::Span;
use contract::version::is_known_dialect;

use super::document::{IndexedDocument, decode_step};

/// What the keys of a mapping are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    /// Keywords of OpenAPI or JSON Schema.
    Keywords,
    /// User-defined names; `example` is a name here.
    Names,
}

/// Keywords whose values are data, which contains no references.
const DATA: [&str; 5] = ["example", "examples", "default", "enum", "const"];
/// Keywords whose value is a mapping with user-defined names.
const NAMES: [&str; 17] = [
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
pub(crate) fn check(side: &IndexedDocument<'_>, findings: &mut Vec<Diagnostic>) {
    let mut including_nodes = Vec::new();
    walk(side, &side.document.root, KeyKind::Keywords, &mut including_nodes, findings);
    report_cycles(side, &including_nodes, findings);
}

fn walk<'n>(
    side: &IndexedDocument<'n>,
    node: &'n Node,
    inside: KeyKind,
    including_nodes: &mut Vec<&'n Node>,
    findings: &mut Vec<Diagnostic>,
) {
    match &node.value {
        Value::Sequence(items) => {
            for item in items {
                walk(side, item, KeyKind::Keywords, including_nodes, findings);
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                let key = entry.key.text.as_str();
                if inside == KeyKind::Keywords {
                    if DATA.contains(&key) || key.starts_with("x-") {
                        continue;
                    }
                    findings.extend(keyword(side, entry));
                    if ["$ref", "allOf"].contains(&key) {
                        including_nodes.push(node);
                    }
                }
                let names = inside == KeyKind::Keywords && NAMES.contains(&key);
                let inside = if names { KeyKind::Names } else { KeyKind::Keywords };
                walk(side, &entry.value, inside, including_nodes, findings);
            }
        }
        _ => {}
    }
}

/// Returns the nodes that a node includes directly, by `$ref` or `allOf`, each with the position of the inclusion.
fn inclusions<'n>(side: &IndexedDocument<'n>, node: &'n Node) -> Vec<(&'n Node, Span)> {
    let reference = node.get("$ref");
    let target = reference.and_then(|node| Some((side.resolve(node.as_str()?)?, node.span)));
    let parts = node.get("allOf").and_then(Node::items).unwrap_or_default();
    target.into_iter().chain(parts.iter().map(|part| (part, part.span))).collect()
}

/// Reports nodes that include themselves, because they have no meaning. Alternatives (`oneOf`, `anyOf`) are not followed: in
/// many documents a variant refers to the union that contains it.
fn report_cycles<'n>(
    side: &IndexedDocument<'n>,
    including_nodes: &[&'n Node],
    findings: &mut Vec<Diagnostic>,
) {
    let mut done: HashSet<*const Node> = HashSet::new();
    for start in including_nodes {
        if done.contains(&std::ptr::from_ref(*start)) {
            continue;
        }
        let mut open: HashSet<*const Node> = HashSet::from([std::ptr::from_ref(*start)]);
        let mut trail = vec![(*start, inclusions(side, start))];
        while let Some((node, left)) = trail.last_mut() {
            let Some((next, at)) = left.pop() else {
                done.insert(*node);
                open.remove(&std::ptr::from_ref(*node));
                trail.pop();
                continue;
            };
            if open.contains(&std::ptr::from_ref(next)) {
                findings.push(cycle(at));
            } else if !done.contains(&std::ptr::from_ref(next)) {
                open.insert(next);
                trail.push((next, inclusions(side, next)));
            }
        }
    }
}

fn cycle(at: Span) -> Diagnostic {
    Diagnostic::error(
        Code::CyclicRef,
        at,
        "circular reference: the target includes itself",
        "remove the reference; only properties and `items` can refer back",
    )
}

fn keyword(side: &IndexedDocument<'_>, entry: &Entry) -> Option<Diagnostic> {
    let text = entry.value.as_str()?;
    match entry.key.text.as_str() {
        "$ref" if !text.starts_with('#') => Some(Diagnostic::error(
            Code::ExternalRef,
            entry.value.span,
            format!("`{text}` refers to another document"),
            "bundle the documents into one, for example with `redocly bundle`",
        )),
        "$ref" if side.resolve(text).is_none() => Some(Diagnostic::error(
            Code::UnresolvedRef,
            entry.value.span,
            format!("`{text}` does not exist"),
            "define it, or correct the reference",
        )),
        "$dynamicRef" | "$recursiveRef" => Some(Diagnostic::error(
            Code::UnsupportedKeyword,
            entry.key.span,
            format!("`{}` depends on the referring schema and cannot be compared", entry.key.text),
            "refer to the schema with `$ref`",
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

/// Returns the target of a reference into this document.
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

/// Returns a node followed by the targets of its chain of references.
pub(crate) fn reference_chain<'n>(root: &'n Node, node: &'n Node) -> Vec<&'n Node> {
    let next = |node: &&'n Node| target(root, node.get("$ref")?.as_str()?);
    std::iter::successors(Some(node), next).take(64).collect()
}
