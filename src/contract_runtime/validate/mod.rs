//! Is a request what the contract says?
//!
//! Owns the reading of queries, headers and bodies and their judgement by the contract's own schemas, compiled
//! once at start. All faults of a request are found together and written for people. Never looks anything up.

mod date_time;
mod message;
pub mod query;
mod read;
pub mod schemas;
pub(crate) mod texts;
mod widths;

use std::borrow::Cow;

use super::contract::Place;
pub use message::{DescribePattern, UNKNOWN_PARAMETER};

/// A part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
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

impl From<Place> for Part {
    fn from(place: Place) -> Self {
        match place {
            Place::Path => Self::Path,
            Place::Query => Self::Query,
            Place::Header => Self::Header,
            Place::Cookie => Self::Cookie,
        }
    }
}

/// One thing wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The part of the request.
    pub place: Part,
    /// The parameter's or header's name, or the JSON pointer into the body.
    pub field: String,
    /// What is wrong: the end of a sentence that begins with the field.
    pub message: String,
}

/// Everything wrong with a request, in the order path, query, headers, cookies, body.
pub type Faults = Vec<Fault>;

/// A text of the caller's, cut to a length that fits a message.
pub fn shorten(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    match text.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
    }
}
