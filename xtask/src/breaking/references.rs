//! That every reference of a document leads somewhere in it.
//!
//! Owns which strings are references at all: those under `$ref`, outside of examples. It never follows one further.

use super::document::{Side, step_of};
use crate::contract::node::{Entry, Node, Value};
use crate::contract::version::is_known_dialect;
use crate::diagnostic::{Code, Diagnostic};

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

/// Reports every reference that leads nowhere, or out of the document, and every dialect that is not understood.
pub fn check(side: &Side<'_>, findings: &mut Vec<Diagnostic>) {
    walk(side, &side.document.root, Inside::Keywords, findings);
}

fn walk(side: &Side<'_>, node: &Node, inside: Inside, findings: &mut Vec<Diagnostic>) {
    match &node.value {
        Value::Sequence(items) => {
            for item in items {
                walk(side, item, Inside::Keywords, findings);
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
                }
                let names = inside == Inside::Keywords && NAMES.contains(&key);
                walk(side, &entry.value, if names { Inside::Names } else { Inside::Keywords }, findings);
            }
        }
        _ => {}
    }
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
pub fn target<'n>(root: &'n Node, reference: &str) -> Option<&'n Node> {
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
