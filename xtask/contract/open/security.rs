//! Checks the form of `security`. The server reads it at run time: a malformed requirement would admit every caller.

use crate::diagnostic::{Code, Diagnostic};
use crate::node::{Entry, Node, Value};
use crate::source::Span;

/// The expected form, as the remedy of all errors.
const FORM: &str = "write a list of mappings from schemes of `components.securitySchemes` to lists of scopes, such as \
    `- oauth: [read]`; an empty list makes the operation public";

/// Returns the errors of the requirements of the document and of all operations.
pub(super) fn errors(root: &Node) -> Vec<Diagnostic> {
    let schemes = root.pointer("/components/securitySchemes").and_then(Node::entries).unwrap_or_default();
    let paths = root.get("paths").and_then(Node::entries).unwrap_or_default();
    let operations = paths
        .iter()
        .flat_map(|path| path.value.entries().unwrap_or_default())
        .map(|operation| &operation.value);
    let mut errors = Vec::new();
    for node in std::iter::once(root).chain(operations) {
        if let Some(security) = node.get("security") {
            check_alternatives(security, schemes, &mut errors);
        }
    }
    errors
}

fn check_alternatives(security: &Node, schemes: &[Entry], errors: &mut Vec<Diagnostic>) {
    let Some(alternatives) = security.items() else {
        return errors.push(error(security.span, "`security` is not a list"));
    };
    for alternative in alternatives {
        let Some(requirements) = alternative.entries() else {
            errors.push(error(alternative.span, "a security requirement is not a mapping"));
            continue;
        };
        for requirement in requirements {
            if !schemes.iter().any(|scheme| scheme.key.text == requirement.key.text) {
                let message = format!("the security scheme `{}` is not declared", requirement.key.text);
                errors.push(error(requirement.key.span, message));
            }
            let is_list = requirement.value.items().is_some_and(|scopes| scopes.iter().all(is_text));
            if !is_list {
                errors.push(error(
                    requirement.value.span,
                    "the scopes of a security requirement are not a list of strings",
                ));
            }
        }
    }
}

fn is_text(node: &Node) -> bool {
    matches!(node.value, Value::String(_))
}

fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::Syntax, span, message, FORM)
}
