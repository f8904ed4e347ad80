//! A response taken apart into status, headers and bytes, and put together again.
//!
//! Generated response enums implement [`Answer`], so that a service can store a response and repeat it, and an error
//! becomes the variant that the contract documents for its status.

use bytes::Bytes;

/// One response, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// The status code.
    pub status: u16,
    /// The headers that belong to this answer alone (`Location`, `Link`), not those set on every answer.
    pub headers: Vec<(&'static str, String)>,
    /// The body's bytes; `None` when the answer has no body.
    pub body: Option<Bytes>,
}

impl Parts {
    /// The value of one header.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.clone())
    }
}

/// A closed set of responses, one for each status the contract documents.
pub trait Answer: Sized {
    /// The variant for these parts; `None` when the contract documents no such status here.
    fn from_parts(parts: Parts) -> Option<Self>;

    /// The response, taken apart.
    fn into_parts(self) -> Parts;
}
