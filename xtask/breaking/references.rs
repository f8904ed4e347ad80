//! That every reference of a document leads somewhere in it.
//!
//! Owns which strings are references at all: those under `$ref`, outside of examples; and that following them ends.

use std::collections::HashSet;

use contract::diagnostic::{Code, Diagnostic};
use contract::node::{Entry, Node, Value};
use contract::source::Span;
use contract::version::is_known_dialect;

use super::document::{Side, step_of};

/// What the key of a mapping leads into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Keywords.
    Keywords,
    /// Names that someone chose; `example` is a name here.
    Names,
}

/// Keywords whose values are data.
const DATA: [&str; 5] = ["example", "examples", "default", "enum", "const"];
/// Keywords whose keys are names.
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

/// Reports every reference that leads nowhere, out of the document or round in a circle, and every dialect that is not
/// understood.
pub(crate) fn check(side: &Side<'_>, findings: &mut Vec<Diagnostic>) {
    let mut joints = Vec::new();
    walk(side, &side.document.root, Inside::Keywords, &mut joints, findings);
    circles(side, &joints, findings);
}

fn walk<'n>(
    side: &Side<'n>,
    node: &'n Node,
    inside: Inside,
    joints: &mut Vec<&'n Node>,
    findings: &mut Vec<Diagnostic>,
) {
    match &node.value {
        Value::Sequence(items) => {
            for item in items {
                walk(side, item, Inside::Keywords, joints, findings);
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                let key = entry.key.text.as_str();
                if inside == Inside::Keywords {
                    if DATA.contains(&key) || key.starts_with("x-") {
                        continue;
                    }
                    findings.extend(keyword(side, entry));
                    if ["$ref", "allOf"].contains(&key) {
                        joints.push(node);
                    }
                }
                let names = inside == Inside::Keywords && NAMES.contains(&key);
                let inside = if names { Inside::Names } else { Inside::Keywords };
                walk(side, &entry.value, inside, joints, findings);
            }
        }
        _ => {}
    }
}

/// What a thing is made of in the very place where it stands, each with the place that says so.
fn made_of<'n>(side: &Side<'n>, node: &'n Node) -> Vec<(&'n Node, Span)> {
    let reference = node.get("$ref");
    let target = reference.and_then(|node| Some((side.resolve(node.as_str()?)?, node.span)));
    let parts = node.get("allOf").and_then(Node::items).unwrap_or_default();
    target.into_iter().chain(parts.iter().map(|part| (part, part.span))).collect()
}

/// Reports what is made of itself: nothing can be said of it. Alternatives are left alone, since many documents let a
/// variant name the union that it is one of.
fn circles<'n>(side: &Side<'n>, joints: &[&'n Node], findings: &mut Vec<Diagnostic>) {
    let mut done: HashSet<*const Node> = HashSet::new();
    for start in joints {
        if done.contains(&std::ptr::from_ref(*start)) {
            continue;
        }
        let mut open: HashSet<*const Node> = HashSet::from([std::ptr::from_ref(*start)]);
        let mut trail = vec![(*start, made_of(side, start))];
        while let Some((node, left)) = trail.last_mut() {
            let Some((next, at)) = left.pop() else {
                done.insert(*node);
                open.remove(&std::ptr::from_ref(*node));
                trail.pop();
                continue;
            };
            if open.contains(&std::ptr::from_ref(next)) {
                findings.push(circle(at));
            } else if !done.contains(&std::ptr::from_ref(next)) {
                open.insert(next);
                trail.push((next, made_of(side, next)));
            }
        }
    }
}

fn circle(at: Span) -> Diagnostic {
    Diagnostic::error(
        Code::CyclicRef,
        at,
        "the reference leads round in a circle: what it names is made of itself",
        "say there what it is; within a property or `items` it may refer back",
    )
}

fn keyword(side: &Side<'_>, entry: &Entry) -> Option<Diagnostic> {
    let text = entry.value.as_str()?;
    match entry.key.text.as_str() {
        "$ref" if !text.starts_with('#') => Some(Diagnostic::error(
            Code::ExternalRef,
            entry.value.span,
            format!("`{text}` leads into another document"),
            "bundle the documents into one first, for example with `redocly bundle`",
        )),
        "$ref" if side.resolve(text).is_none() => Some(Diagnostic::error(
            Code::UnresolvedRef,
            entry.value.span,
            format!("`{text}` leads nowhere"),
            "add what it names, or correct the name",
        )),
        "$dynamicRef" | "$recursiveRef" => Some(Diagnostic::error(
            Code::UnsupportedKeyword,
            entry.key.span,
            format!("`{}` depends on who refers to the schema; it cannot be compared", entry.key.text),
            "refer to the schema by `$ref`",
        )),
        "$schema" if !is_known_dialect(text) => Some(Diagnostic::error(
            Code::UnsupportedVersion,
            entry.value.span,
            "the dialect of JSON Schema is not one that is understood",
            "leave `$schema` out: the dialect of OpenAPI 3.1 is the default",
        )),
        _ => None,
    }
}

/// The node that a reference into this document names.
pub(crate) fn target<'n>(root: &'n Node, reference: &str) -> Option<&'n Node> {
    let pointer = reference.strip_prefix('#')?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    pointer.split('/').skip(1).try_fold(root, |node, step| match &node.value {
        Value::Mapping(_) => node.get(&step_of(step)),
        Value::Sequence(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A thing, and what its references lead to, one after another.
pub(crate) fn texts<'n>(root: &'n Node, node: &'n Node) -> Vec<&'n Node> {
    let next = |node: &&'n Node| target(root, node.get("$ref")?.as_str()?);
    std::iter::successors(Some(node), next).take(64).collect()
}
