//! What the contract says about one operation, as static data.
//!
//! The tables are generated (`generated/operations.rs`); this file owns their shape and nothing else.

/// One operation of the contract.
#[derive(Debug)]
pub struct Operation {
    /// Its `operationId`.
    pub id: &'static str,
    /// The method, in upper case.
    pub method: &'static str,
    /// The whole path, parameters in braces: `/api/v1/courses/{id}`.
    pub path: &'static str,
    /// Its tag.
    pub tag: &'static str,
    /// The scope a key needs.
    pub scope: Option<&'static str>,
    /// Path, query and header parameters, in document order.
    pub parameters: &'static [Parameter],
    /// The request body, when it takes one.
    pub body: Option<Body>,
    /// The documented statuses.
    pub statuses: &'static [u16],
}

/// One parameter of an operation.
#[derive(Debug)]
pub struct Parameter {
    /// Its name as it is sent.
    pub name: &'static str,
    /// Where it is sent.
    pub place: Place,
    /// Whether a request without it is refused.
    pub required: bool,
    /// JSON pointer to its schema inside the contract's JSON.
    pub schema: &'static str,
    /// How its text is read before the schema judges it.
    pub kind: ParameterKind,
}

/// Where a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the path.
    Path,
    /// In the query string.
    Query,
    /// As a header.
    Header,
}

/// The JSON type that a parameter's text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Taken as it is.
    String,
    /// A whole number in decimal digits.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
}

/// The request body of an operation.
#[derive(Debug)]
pub struct Body {
    /// Whether a request without a body is refused.
    pub required: bool,
    /// The one media type taken.
    pub media_type: &'static str,
    /// JSON pointer to its schema inside the contract's JSON.
    pub schema: &'static str,
}

/// Ties an operation's marker type to its description.
pub trait Describes {
    /// The description.
    const OPERATION: &'static Operation;
}
