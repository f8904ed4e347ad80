//! The response outside of the API to a request that its connection refused.

use poem::http::Method;
use poem::{Body, Request, Response};

use super::page;
use api::rejection::Rejection;

/// The response as plain text, with a line in the log; `None` when the request is not refused.
pub(super) fn response(request: &Request, request_id: &str) -> Option<Response> {
    let rejection = *request.extensions().get::<Rejection>()?;
    let Rejection { status, message } = rejection;
    // There may be thousands of these; the connections' own log line counts them.
    if rejection != Rejection::BUSY {
        tracing::info!(request.id = request_id, status = status.as_u16(), reason = message, "request");
    }
    let mut response = page::plain(status, message);
    if request.method() == Method::HEAD {
        response.set_body(Body::empty());
    }
    Some(response)
}
