//! Every operation documents the errors that every operation can answer with.

use crate::contract::model::Document;
use crate::diagnostic::{Code, Diagnostic};

/// No key, wrong scope, bad request, exhausted limit, our own fault.
const EVERYWHERE: [u16; 5] = [401, 403, 422, 429, 500];

/// Judges every operation.
pub fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    for operation in &document.operations {
        let documented =
            |status: &&u16| operation.responses.iter().any(|response| response.status == **status);
        let missing: Vec<_> =
            EVERYWHERE.iter().filter(|status| !documented(status)).map(u16::to_string).collect();
        if !missing.is_empty() {
            findings.push(Diagnostic::error(
                Code::UndocumentedErrorStatus,
                operation.span,
                format!("`{}` can answer {} and does not say so", operation.id.text, missing.join(", ")),
                "add the shared responses of `components.responses` to the operation",
            ));
        }
    }
}
