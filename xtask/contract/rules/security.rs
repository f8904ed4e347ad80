//! Keys are sent in one way: who calls is found out before which operation is called.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::Document;

/// Judges the scheme of every operation.
pub(super) fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    let Some(first) = document.operations.first() else { return };
    let other = document.operations.iter().find(|operation| operation.scheme.text != first.scheme.text);
    let Some(other) = other else { return };
    let message = format!("keys are sent as `{}` and as `{}`", first.scheme.text, other.scheme.text);
    let help = "name one scheme at all operations: keys are judged before the operation is known";
    findings.push(
        Diagnostic::error(Code::UnsupportedKeyword, other.scheme.span, message, help)
            .related(first.scheme.span, "the first operation's"),
    );
}
