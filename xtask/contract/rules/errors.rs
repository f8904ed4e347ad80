//! Error responses: every operation documents the statuses that any operation can return, and each error has the error
//! envelope as its body.

use super::envelope;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, MediaType, Operation};

/// The error statuses of every operation: invalid key, missing scope, invalid request, internal error. An operation without a
/// scope does not need the second one.
const COMMON_STATUSES: [u16; 4] = [401, 403, 422, 500];
/// The error status of every operation of a server with rate limits.
const RATE_LIMIT_STATUSES: [u16; 1] = [429];
/// Additional error statuses of operations with a request body: body too large, unsupported media type.
const BODY_STATUSES: [u16; 2] = [413, 415];

/// Checks every operation.
pub(super) fn check(document: &Document, has_rate_limits: bool, diagnostics: &mut Vec<Diagnostic>) {
    let rate_limit_statuses: &[u16] = if has_rate_limits { &RATE_LIMIT_STATUSES } else { &[] };
    for operation in &document.operations {
        let is_documented = |status: &&u16| {
            operation.responses.iter().any(|response| response.status.code() == Some(**status))
        };
        let has_scope = operation.access.as_ref().is_some_and(|access| access.scope.is_some());
        let body = operation.body.as_ref();
        let is_stream = body.is_some_and(|body| body.content.media_type == MediaType::Lines);
        let body_statuses = match body {
            None => &[],
            // The length of a stream is not limited.
            Some(_) if is_stream => &BODY_STATUSES[1..],
            Some(_) => &BODY_STATUSES[..],
        };
        let missing: Vec<_> = COMMON_STATUSES
            .iter()
            .chain(rate_limit_statuses)
            .chain(body_statuses)
            .filter(|status| !is_documented(status) && (has_scope || **status != 403))
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
        check_bodies(document, operation, diagnostics);
    }
}

/// Reports error responses without the JSON body that all errors share. Skips incomplete responses, which are
/// already reported.
fn check_bodies(document: &Document, operation: &Operation, diagnostics: &mut Vec<Diagnostic>) {
    for response in operation.responses.iter().filter(|response| response.complete) {
        if response.status.code().is_none_or(|code| code < 400) {
            continue;
        }
        if let Some(content) =
            response.content.as_ref().filter(|content| content.media_type == MediaType::Json)
        {
            envelope::check(document, operation, response, &content.schema, diagnostics);
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
