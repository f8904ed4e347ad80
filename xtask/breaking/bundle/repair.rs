//! Repairs minor errors of documents, and rewrites keywords that the comparison reads in another notation.

use contract::diagnostic::{Code, Diagnostic};
use contract::node::{Entry, Node, SpannedString, Value};

use crate::document::component_of;
use crate::shape::keywords::ObjectKind;

/// The keyword that replaces `$ref` if the reference is compared as text. No rule covers it, so each change is
/// reported.
const UNRESOLVED_REFERENCE: &str = "$ref (unresolved)";
/// The keyword that replaces a boolean `required`, which schemas do not have.
const BOOLEAN_REQUIRED: &str = "required (boolean)";

/// Whether a document contains something that must be repaired, or a reference whose target is not a component. Can be
/// true for other documents too.
pub(super) fn is_needed(node: &Node) -> bool {
    match &node.value {
        Value::Sequence(items) => items.iter().any(is_needed),
        Value::Mapping(entries) => {
            entries.iter().any(|entry| match (entry.key.text.as_str(), &entry.value.value) {
                ("$ref", Value::String(text)) => !is_component(text),
                ("$dynamicRef" | "$recursiveRef" | "itemSchema", _)
                | ("required", Value::Bool(_))
                | ("items", Value::Sequence(_))
                | ("responses" | "content", Value::Null) => true,
                ("mapping", Value::Mapping(targets)) => {
                    targets
                    .iter()
                    .filter_map(|entry| entry.value.as_str())
                    .any(|text| text.contains(['/', '.', '#']) && !is_component(text))
                    // A property can have the same name.
                    || is_needed(&entry.value)
                }
                _ => is_needed(&entry.value),
            })
        }
        _ => false,
    }
}

fn is_component(reference: &str) -> bool {
    component_of(reference).is_some_and(|(section, _)| ObjectKind::SECTIONS.contains(&section))
}

/// Repairs the keywords of an object, and reports each repair as a warning.
pub(super) fn object(node: &mut Node, kind: ObjectKind, diagnostics: &mut Vec<Diagnostic>) {
    let Value::Mapping(entries) = &mut node.value else { return };
    for entry in entries.iter_mut() {
        let Entry { key, value } = entry;
        let problem = match (kind, key.text.as_str(), &value.value) {
            (ObjectKind::Operation, "responses", Value::Null)
            | (
                ObjectKind::Response | ObjectKind::RequestBody | ObjectKind::Parameter | ObjectKind::Header,
                "content",
                Value::Null,
            ) => {
                value.value = Value::Mapping(Vec::new());
                ("is null; it is read as an empty mapping", "write `{}`, or remove it")
            }
            (ObjectKind::Schema, "required", Value::Bool(_)) => {
                BOOLEAN_REQUIRED.clone_into(&mut key.text);
                warn(
                    diagnostics,
                    key,
                    "`required` is a boolean; it is compared as a value without meaning",
                    "list the property in `required` of the object that contains it",
                );
                continue;
            }
            (ObjectKind::Schema, "items", Value::Sequence(_)) => {
                "prefixItems".clone_into(&mut key.text);
                warn(
                    diagnostics,
                    key,
                    "`items` is a list; it is read as `prefixItems`",
                    "write `prefixItems`, or one schema for all items",
                );
                continue;
            }
            _ => continue,
        };
        let message = format!("`{}` {}", key.text, problem.0);
        warn(diagnostics, key, &message, problem.1);
    }
    if kind == ObjectKind::MediaType {
        replace_item_schema(node);
    }
}

fn warn(diagnostics: &mut Vec<Diagnostic>, key: &SpannedString, message: &str, help: &str) {
    diagnostics.push(Diagnostic::warning(Code::WrongType, key.span, message, help));
}

/// Replaces `itemSchema` of OpenAPI 3.2 by an equal `schema`: that of a list. If both exist, `itemSchema` stays and is
/// compared as text.
fn replace_item_schema(node: &mut Node) {
    if node.get("schema").is_some() {
        return;
    }
    let Value::Mapping(entries) = &mut node.value else { return };
    if let Some(Entry { key, value }) = entries.iter_mut().find(|entry| entry.key.text == "itemSchema") {
        let item =
            Entry { key: SpannedString { text: "items".to_owned(), span: key.span }, value: value.clone() };
        let type_name = SpannedString { text: "type".to_owned(), span: key.span };
        let list = Node { span: value.span, value: Value::String("array".to_owned()) };
        value.value = Value::Mapping(vec![Entry { key: type_name, value: list }, item]);
        "schema".clone_into(&mut key.text);
    }
}

/// Keeps a reference that cannot be resolved as a keyword whose text is compared.
pub(super) fn keep_literally(entry: &mut Entry, diagnostics: &mut Vec<Diagnostic>) {
    let message = format!("`{}` cannot be resolved; its text is compared, not its target", entry.key.text);
    diagnostics.push(Diagnostic::warning(
        Code::UnresolvedRef,
        entry.key.span,
        message,
        "refer to a component with `$ref`, so that changes of the target are found",
    ));
    if entry.key.text == "$ref" {
        UNRESOLVED_REFERENCE.clone_into(&mut entry.key.text);
    }
}
