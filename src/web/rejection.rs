//! The reason why a connection rejects a request before it is routed.
//!
//! The connection inserts the [`Rejection`] into the request's extensions. The endpoint then responds with its status.

use poem::http::StatusCode;

/// The reason why a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejection {
    /// The status of the response.
    pub status: StatusCode,
    /// What is wrong and, where it is not obvious, what to do. The API includes it in the response unless the status
    /// is 500.
    pub message: &'static str,
}

impl Rejection {
    /// Too many connections are open, to the server or from the address of the client.
    pub const BUSY: Self = Self::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "Too many connections are open. Close some of them, or try again later.",
    );

    /// Creates a rejection with this status.
    pub const fn new(status: StatusCode, message: &'static str) -> Self {
        Self { status, message }
    }

    /// Creates a rejection of a request that is not well-formed HTTP, with status 400.
    pub const fn malformed(message: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
}
