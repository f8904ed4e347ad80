//! The response outside of the API to a request that its connection refused.

use poem::{Request, Response};

use super::page;
use web::access::LogSubject;
use web::rejection::Rejection;

/// The response as plain text, with a line in the log; `None` when the request is not refused.
pub(super) fn response(request: &Request) -> Option<Response> {
    let rejection = *request.extensions().get::<Rejection>()?;
    let Rejection { status, message } = rejection;
    // There may be thousands of these; the connections' own log line counts them.
    if rejection != Rejection::BUSY {
        web::access::of(request).set(LogSubject::Refused { reason: message });
    }
    Some(page::plain(status, message))
}
