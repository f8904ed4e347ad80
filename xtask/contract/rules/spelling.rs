//! Spelling: the names of parameters and properties are in snake_case, except for those that the conventions list.

use heck::ToSnakeCase;

use super::schema_locations;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, ParameterLocation};
use crate::node::{Node, SpannedString};

/// Checks the names of parameters and properties, except for `exceptions`. Header names are not checked.
pub(super) fn check(
    root: &Node,
    document: &Document,
    exceptions: &[&str],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for parameter in document.operations.iter().flat_map(|operation| &operation.parameters) {
        if parameter.location != ParameterLocation::Header {
            check_name("parameter", &parameter.name, exceptions, diagnostics);
        }
    }
    for location in schema_locations::find(root) {
        let properties = location.schema.get("properties").and_then(Node::entries);
        for property in properties.unwrap_or_default() {
            check_name("property", &property.key, exceptions, diagnostics);
        }
    }
}

fn check_name(kind: &str, name: &SpannedString, exceptions: &[&str], diagnostics: &mut Vec<Diagnostic>) {
    let snake = name.to_snake_case();
    let is_reported = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.code == Code::Spelling && diagnostic.span == name.span);
    if is_reported || exceptions.contains(&&**name) || (**name == *snake && !snake.is_empty()) {
        return;
    }
    if snake.is_empty() {
        let message = format!("the {kind} `{}` has neither a letter nor a digit", name.text);
        let help = "give it a name in snake_case";
        diagnostics.push(Diagnostic::error(Code::Spelling, name.span, message, help));
        return;
    }
    let mut help = format!("write `{snake}`");
    if !exceptions.is_empty() {
        let exceptions: Vec<_> = exceptions.iter().map(|name| format!("`{name}`")).collect();
        help += &format!("; exceptions are {}", exceptions.join(", "));
    }
    let message = format!("the {kind} `{}` is not in snake_case", name.text);
    diagnostics.push(Diagnostic::error(Code::Spelling, name.span, message, help));
}
