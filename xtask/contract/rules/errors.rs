//! Error responses: every operation documents the statuses that any operation can return, and each error has a JSON
//! body.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, MediaType, Operation};

/// Invalid key, missing scope, invalid request, exceeded rate limit, internal error.
const EVERYWHERE: [u16; 5] = [401, 403, 422, 429, 500];
/// Body too large, and unsupported media type.
const WITH_BODY: [u16; 2] = [413, 415];

/// Checks every operation.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
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
            diagnostics.push(Diagnostic::error(
                Code::UndocumentedErrorStatus,
                operation.span,
                format!(
                    "`{}` does not document the error responses {}",
                    operation.id.text,
                    missing.join(", ")
                ),
                "add the shared responses of `components.responses`",
            ));
        }
        check_bodies(operation, diagnostics);
    }
}

/// Reports errors without a JSON body: all errors share one envelope.
fn check_bodies(operation: &Operation, diagnostics: &mut Vec<Diagnostic>) {
    for response in operation.responses.iter().filter(|response| response.complete && response.status >= 400)
    {
        if response.content.as_ref().map(|content| content.media_type) == Some(MediaType::Json) {
            continue;
        }
        diagnostics.push(Diagnostic::error(
            Code::UndocumentedErrorStatus,
            response.span,
            format!("the {} response of `{}` has no JSON body", response.status, operation.id.text),
            "reference a shared response with the error envelope",
        ));
    }
}
