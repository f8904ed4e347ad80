//! Converts the responses of operations to and from status, headers and body.
//!
//! Generated response enums implement [`OperationResponse`]. A service can therefore store a response and repeat it
//! later, and convert an error to the variant that the contract documents for its status.

use std::str::FromStr;

use bytes::Bytes;
use poem::Response;
pub use poem::http::StatusCode;
use poem::http::{HeaderName, HeaderValue, header};

use super::contract::JSON;

/// The parts of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseParts {
    /// The status code.
    pub status: u16,
    /// The headers that the operation sets (`Location`, `Link`), without the headers that all responses have.
    pub headers: Vec<(&'static str, String)>,
    /// The body. `None` if the response has no body.
    pub body: Option<Bytes>,
}

impl ResponseParts {
    /// Returns the value of the first header with this name, ignoring case.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers
            .iter()
            .find(|(header, _)| header.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.clone())
    }

    /// Converts the parts to a response. A body without a `Content-Type` header is JSON. A header that is not valid in
    /// HTTP is left out.
    pub fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = Response::builder().status(status).finish();
        if self.body.is_some() {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
        }
        for (name, value) in self.headers {
            if let (Ok(name), Ok(value)) = (HeaderName::from_str(name), HeaderValue::from_str(&value)) {
                response.headers_mut().insert(name, value);
            }
        }
        response.set_body(self.body.unwrap_or_default());
        response
    }
}

/// The responses of an operation, one variant for each status that the contract documents.
pub trait OperationResponse: Sized {
    /// Creates the variant for these parts. Returns `None` when the contract does not document the status for this
    /// operation, or when the body or a required header is missing or malformed.
    fn from_parts(parts: ResponseParts) -> Option<Self>;

    /// Returns the parts of the response. The parts of a stream have no body.
    fn into_parts(self) -> ResponseParts;
}
