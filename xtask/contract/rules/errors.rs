//! Every operation documents the errors that every operation can answer with, and each error has a body of JSON.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Media, Operation};

/// No key, wrong scope, bad request, exhausted limit, our own fault.
const EVERYWHERE: [u16; 5] = [401, 403, 422, 429, 500];
/// A body that is too large, and one of another media type.
const WITH_BODY: [u16; 2] = [413, 415];

/// Judges every operation.
pub(super) fn judge(document: &Document, findings: &mut Vec<Diagnostic>) {
    for operation in &document.operations {
        let documented =
            |status: &&u16| operation.responses.iter().any(|response| response.status == **status);
        let with_body = operation.body.iter().flat_map(|_| &WITH_BODY);
        let missing: Vec<_> = EVERYWHERE
            .iter()
            .chain(with_body)
            .filter(|status| !documented(status))
            .map(u16::to_string)
            .collect();
        if !missing.is_empty() {
            findings.push(Diagnostic::error(
                Code::UndocumentedErrorStatus,
                operation.span,
                format!("`{}` can answer {} and does not say so", operation.id.text, missing.join(", ")),
                "add the shared responses of `components.responses` to the operation",
            ));
        }
        bodies(operation, findings);
    }
}

/// Whoever finds an error answers with the one envelope, so no error may have another body or none.
fn bodies(operation: &Operation, findings: &mut Vec<Diagnostic>) {
    for response in operation.responses.iter().filter(|it| it.whole && it.status >= 400) {
        if response.content.as_ref().map(|content| content.media) == Some(Media::Json) {
            continue;
        }
        findings.push(Diagnostic::error(
            Code::UndocumentedErrorStatus,
            response.span,
            format!("the {} of `{}` has no body of JSON", response.status, operation.id.text),
            "refer to a shared response with the envelope that every error has",
        ));
    }
}
