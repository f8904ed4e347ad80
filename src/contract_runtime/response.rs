//! Converts the responses of operations to and from status, headers and body.
//!
//! Generated response enums implement [`OperationResponse`]. A service can store a response and repeat it later, and convert an
//! error to the variant that the contract documents for its status.

use bytes::Bytes;

/// The parts of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseParts {
    /// The status code.
    pub status: u16,
    /// The headers that the operation sets (`Location`, `Link`), without those of every response.
    pub headers: Vec<(&'static str, String)>,
    /// The body. `None` if the response has no body.
    pub body: Option<Bytes>,
}

impl ResponseParts {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.clone())
    }
}

/// The responses of an operation, one variant for each status that the contract documents.
pub trait OperationResponse: Sized {
    /// Creates the variant for these parts. Returns `None` when the contract does not document the status for this operation.
    fn from_parts(parts: ResponseParts) -> Option<Self>;

    /// Returns the parts of the response.
    fn into_parts(self) -> ResponseParts;
}
