//! The response to a request that was rejected at the HTTP level, outside of the API.

use poem::{Request, Response};

use web::public_response;
use web::rejection::Rejection;
use web::request_context::LogSubject;

/// Returns the plain-text response, or `None` if the request was not rejected. The access log contains the rejection,
/// unless it is [`Rejection::BUSY`].
pub(super) fn response(request: &Request) -> Option<Response> {
    let rejection = *request.extensions().get::<Rejection>()?;
    let Rejection { status, message } = rejection;
    // Requests beyond the connection limits can be numerous. They are counted in one log line per second instead.
    if rejection != Rejection::BUSY {
        web::request_context::of(request).set_log_subject(LogSubject::Rejected { reason: message });
    }
    Some(public_response::plain(status, message))
}
