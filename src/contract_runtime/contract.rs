//! What the contract says about one operation, as static data.
//!
//! The tables are generated (`generated/operations.rs`); this file owns their shape and nothing else.

/// The media type of JSON.
pub const JSON: &str = "application/json";
/// The media type of texts.
pub const TEXT: &str = "text/plain";
/// The media type of bytes.
pub const BYTES: &str = "application/octet-stream";

/// A contract, as the server serves it.
#[derive(Debug, Clone, Copy)]
pub struct Contract {
    /// The name of its version: `v1`.
    pub stem: &'static str,
    /// Its title.
    pub title: &'static str,
    /// As it was written, in YAML.
    pub yaml: &'static str,
    /// As JSON.
    pub json: &'static str,
    /// The path under which that is served.
    pub json_path: &'static str,
    /// As JSON, in OpenAPI 3.0.
    pub json_3_0: &'static str,
    /// Its operations.
    pub operations: &'static [&'static Operation],
    /// Where callers put their keys.
    pub credential: Credential,
}

/// Where callers put their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `Authorization: Basic`, with the key as the user's name and no password.
    Basic,
    /// A header of this name.
    Header(&'static str),
    /// A cookie of this name.
    Cookie(&'static str),
}

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
    /// Path, query, header and cookie parameters, in document order.
    pub parameters: &'static [Parameter],
    /// The request body, when it takes one.
    pub body: Option<Body>,
    /// The documented statuses.
    pub statuses: &'static [u16],
}

impl Operation {
    /// Whether a parameter of the query is a list that is given item by item.
    pub fn is_repeated(&self, name: &str) -> bool {
        let repeated =
            |parameter: &Parameter| matches!(parameter.kind, ParameterKind::List(_, Split::Repeated));
        let mut query = self.parameters.iter().filter(|parameter| parameter.place == Place::Query);
        query.any(|parameter| parameter.name == name && repeated(parameter))
    }
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
    /// In a cookie.
    Cookie,
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
    /// Several of one kind.
    List(&'static ParameterKind, Split),
}

/// How the items of a list are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Each has the parameter's name before it: `tag=a&tag=b`.
    Repeated,
    /// By commas, in one value: `tags=a,b`.
    Commas,
}

/// The request body of an operation. A request without it is refused.
#[derive(Debug)]
pub struct Body {
    /// The one media type taken.
    pub media_type: &'static str,
    /// JSON pointer to its schema inside the contract's JSON.
    pub schema: &'static str,
}
