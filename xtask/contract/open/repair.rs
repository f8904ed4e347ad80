//! Replaces schemas that cannot become Rust types.

use std::collections::BTreeMap;

use super::{AS_JSON, Notes, any};
use crate::diagnostic::{Code, Diagnostic};
use crate::node::{Node, Value};
use crate::rules::schema_locations;
use crate::source::Span;

const AS_TYPE: &str =
    "its value has the type without these keywords; requests are still validated against the schema";

/// Keywords that can be removed from a schema without a change of its JSON type.
const RESTRICTIONS: [&str; 3] = ["enum", "const", "default"];

/// Changes the innermost schema around each diagnostic: first it loses `enum`, `const` and `default`, then it allows any
/// value. Returns the diagnostics that are not about a schema; if there are any, the tree is unchanged.
pub(super) fn schemas(root: &mut Node, diagnostics: &[Diagnostic], notes: &mut Notes) -> Vec<Diagnostic> {
    let locations: Vec<(String, Span, Span)> = schema_locations::find(root)
        .into_iter()
        .filter(|location| !matches!(location.schema.value, Value::Bool(true)))
        .map(|location| (root.span_at(&location.pointer), location.schema.span, location.pointer))
        .map(|(key, node, pointer)| (pointer, key, node))
        .collect();
    let contains = |outer: Span, inner: Span| outer.start <= inner.start && inner.end <= outer.end;
    let (mut changes, mut errors) = (BTreeMap::new(), Vec::new());
    for diagnostic in diagnostics {
        let span = diagnostic.span;
        let around = locations.iter().filter(|(_, key, node)| contains(*node, span) || contains(*key, span));
        match around.max_by_key(|(pointer, ..)| pointer.matches('/').count()) {
            Some((pointer, ..)) if is_about_schema(diagnostic.code) => {
                changes.entry(union_around(pointer).to_owned()).or_insert(diagnostic);
            }
            _ => errors.push(diagnostic.clone()),
        }
    }
    if !errors.is_empty() {
        return errors;
    }
    // Inner schemas first: the pointer of an inner schema is longer, and is not valid in a replaced one.
    for (pointer, diagnostic) in changes.into_iter().rev() {
        let Some(schema) = pointer_mut(root, &pointer) else { continue };
        let has_scalar_type = schema.get("type").and_then(Node::as_str).is_some_and(|name| name != "object");
        match &mut schema.value {
            Value::Mapping(entries)
                if has_scalar_type && entries.iter().any(|item| RESTRICTIONS.contains(&&*item.key)) =>
            {
                entries.retain(|item| {
                    !RESTRICTIONS.contains(&&*item.key) && item.key.text != "x-extensible-enum"
                });
                notes.add(diagnostic.span, diagnostic.message.clone(), AS_TYPE);
            }
            _ => {
                *schema = any(schema.span);
                notes.add(diagnostic.span, diagnostic.message.clone(), AS_JSON);
            }
        }
    }
    Vec::new()
}

/// Returns the pointer of the outermost union that has the schema as a member, or else the schema's own. A union with a
/// member that allows any value has no Rust type.
fn union_around(pointer: &str) -> &str {
    let parent = pointer.rsplit_once('/').and_then(|(list, _)| list.rsplit_once('/'));
    match parent {
        Some((union, "oneOf" | "anyOf")) => union_around(union),
        _ => pointer,
    }
}

/// Returns whether a schema that allows any value is a substitute. Without the target of a reference or a pattern, the
/// server cannot validate requests.
const fn is_about_schema(code: Code) -> bool {
    !matches!(
        code,
        Code::ExternalRef | Code::UnresolvedRef | Code::BadPattern | Code::DuplicateKey | Code::Syntax
    )
}

fn pointer_mut<'n>(root: &'n mut Node, pointer: &str) -> Option<&'n mut Node> {
    pointer.split('/').skip(1).try_fold(root, |node, token| {
        let token = token.replace("~1", "/").replace("~0", "~");
        match &mut node.value {
            Value::Mapping(entries) => {
                entries.iter_mut().find(|item| item.key.text == token).map(|item| &mut item.value)
            }
            Value::Sequence(items) => items.get_mut(token.parse::<usize>().ok()?),
            _ => None,
        }
    })
}
