//! Validates requests against the contract.
//!
//! Parses query strings, headers and bodies and validates them with the schemas of the contract, which are compiled
//! once at startup. All violations of a request are reported together. Validation needs no database.

mod body;
pub mod conformance;
mod date_time;
pub mod deprecation;
pub(crate) mod header_values;
mod known_fields;
mod message;
mod number_bounds;
mod parameter_value;
pub mod query;
mod read_only;
pub mod schemas;
mod walk;

use std::borrow::Cow;

use super::contract::ParameterLocation;
pub use body::BodyValidator;
pub use message::{DescribePattern, UNKNOWN_PARAMETER};

/// A part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    /// The path.
    Path,
    /// The query string.
    Query,
    /// The headers.
    Header,
    /// The cookies.
    Cookie,
    /// The body.
    Body,
}

impl From<ParameterLocation> for RequestPart {
    fn from(location: ParameterLocation) -> Self {
        match location {
            ParameterLocation::Path => Self::Path,
            ParameterLocation::Query => Self::Query,
            ParameterLocation::Header => Self::Header,
            ParameterLocation::Cookie => Self::Cookie,
        }
    }
}

/// A violation of the contract in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The part of the request that contains the violation.
    pub part: RequestPart,
    /// The name of the parameter or header, or the JSON pointer (RFC 6901) into the body. Empty for the whole body or
    /// the whole query string.
    pub field: String,
    /// What is wrong. The end of a sentence that begins with the field.
    pub message: String,
}

/// All violations of a request. Validation reports them in the order path, query, headers, cookies, body.
pub type Violations = Vec<Violation>;

/// Shortens a string that the client sent to at most 64 characters and `...`, for use in a message.
pub fn shorten(text: &str) -> Cow<'_, str> {
    const MAX_CHARACTERS: usize = 64;
    match text.char_indices().nth(MAX_CHARACTERS) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
    }
}
