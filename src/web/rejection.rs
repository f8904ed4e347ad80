//! Refusals that are decided before a request reaches the router, by the connection that it arrived on.
//!
//! A connection puts the [`Rejection`] into the request's extensions; the API and the pages answer with it.

use poem::http::StatusCode;

/// Why a request is refused: a status and a sentence for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejection {
    /// The status of the response.
    pub status: StatusCode,
    /// One sentence that names the fault and the remedy; the API shows it unless the status is 500.
    pub message: &'static str,
}

impl Rejection {
    /// The server has no free connection for this request.
    pub const BUSY: Self = Self::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "Too many connections are open. Close some of them, or try again later.",
    );

    /// A rejection with this status.
    pub const fn new(status: StatusCode, message: &'static str) -> Self {
        Self { status, message }
    }

    /// 400: the request is not well-formed HTTP.
    pub const fn malformed(message: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
}
