//! Streams: the server does not store the response of a stream, so it cannot repeat it for an idempotency key.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, MediaType, Operation, ParameterLocation};

/// The header whose repeated use returns the stored response.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Reports operations that stream a body and have an idempotency key.
pub(super) fn check(document: &Document, diagnostics: &mut Vec<Diagnostic>) {
    for operation in &document.operations {
        let Some(stream) = stream(operation) else { continue };
        let key = operation.parameters.iter().find(|parameter| {
            parameter.location == ParameterLocation::Header
                && parameter.name.eq_ignore_ascii_case(IDEMPOTENCY_KEY)
        });
        let Some(key) = key else { continue };
        let message = format!("`{}` has a stream as its body and an idempotency key", operation.id.text);
        let help = "remove the parameter, and let an id in each line make it safe to send the line again";
        diagnostics.push(
            Diagnostic::error(Code::UnsupportedKeyword, key.name.span, message, help)
                .with_related(stream, "the stream"),
        );
    }
}

/// Returns the place of the first body of an operation that is a stream.
fn stream(operation: &Operation) -> Option<crate::source::Span> {
    let body = operation.body.iter().map(|body| &body.content);
    let responses = operation.responses.iter().filter_map(|response| response.content.as_ref());
    let mut streams = body.chain(responses).filter(|content| content.media_type == MediaType::Lines);
    streams.next().map(|content| content.span)
}
