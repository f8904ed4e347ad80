//! API keys: all operations use the same security scheme, because the server authenticates before routing.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::Document;

/// Checks the security scheme of every operation.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let Some(first) = document.operations.first() else { return };
    let other = document.operations.iter().find(|operation| operation.scheme.text != first.scheme.text);
    let Some(other) = other else { return };
    let message = format!(
        "operations use different security schemes: `{}` and `{}`",
        first.scheme.text, other.scheme.text
    );
    let help = "use one scheme in all operations: the server authenticates before routing";
    diagnostics.push(
        Diagnostic::error(Code::UnsupportedKeyword, other.scheme.span, message, help)
            .with_related(first.scheme.span, "first operation"),
    );
}
