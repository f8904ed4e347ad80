//! API keys: all operations use the same security scheme, because the server authenticates before routing.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::Document;

/// Checks the security scheme of every operation.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    let mut schemes =
        document.operations.iter().filter_map(|operation| Some(&operation.access.as_ref()?.scheme));
    let Some(first) = schemes.next() else { return };
    let Some(other) = schemes.find(|scheme| scheme.text != first.text) else { return };
    let message = format!("operations use different security schemes: `{}` and `{}`", first.text, other.text);
    let help = "use one scheme in all operations: the server authenticates before routing";
    diagnostics.push(
        Diagnostic::error(Code::UnsupportedKeyword, other.span, message, help)
            .with_related(first.span, "first operation"),
    );
}
