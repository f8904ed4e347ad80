//! Defines the static tables that describe a contract and its operations. The tables are generated
//! (`generated/operations.rs`).

/// The media type of JSON.
pub const JSON: &str = "application/json";
/// The media type of JSON values in lines, which are read and written one after the other.
pub const NDJSON: &str = "application/x-ndjson";
/// The media type of plain text.
pub const TEXT: &str = "text/plain";
/// The media type of binary data.
pub const BYTES: &str = "application/octet-stream";

/// How bodies of a media type are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    /// One JSON value: `application/json`, or a type that ends with `+json`.
    Json,
    /// One JSON value in each line.
    Lines,
    /// Text in UTF-8.
    Text,
    /// Bytes without a schema: all other types.
    Bytes,
}

impl BodyFormat {
    /// Returns the format of a media type. Its case and its parameters do not matter.
    pub(crate) fn of(media_type: &str) -> Self {
        let essence = essence(media_type).to_ascii_lowercase();
        match &*essence {
            JSON => Self::Json,
            NDJSON => Self::Lines,
            TEXT => Self::Text,
            _ if essence.ends_with("+json") => Self::Json,
            _ => Self::Bytes,
        }
    }
}

/// Returns a media type without its parameters.
pub(crate) fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// A contract and its operations.
#[derive(Debug, Clone, Copy)]
pub struct Contract {
    /// The name of the contract, such as `v1`. The names of the generated JSON files start with it.
    pub name: &'static str,
    /// The title of the API.
    pub title: &'static str,
    /// The source document in YAML.
    pub yaml: &'static str,
    /// The source document converted to JSON.
    pub json: &'static str,
    /// The path where the server serves `json`.
    pub json_path: &'static str,
    /// The document converted to OpenAPI 3.0, as JSON.
    pub json_3_0: &'static str,
    /// The document for client generators, in which extensible enums of responses and events are strings.
    pub clients_json: &'static str,
    /// The document for client generators, converted to OpenAPI 3.0.
    pub clients_json_3_0: &'static str,
    /// The operations.
    pub operations: &'static [&'static Operation],
    /// Where clients send their key.
    pub credential: Credential,
}

/// Where clients send their key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// `Authorization: Basic`, with the key as the user name and an empty password.
    Basic,
    /// A header with this name.
    Header(&'static str),
    /// A cookie with this name.
    Cookie(&'static str),
    /// Not one place for all operations: see [`Route::security`](crate::router::Route::security).
    None,
}

/// One operation of the contract.
#[derive(Debug)]
pub struct Operation {
    /// The `operationId`.
    pub id: &'static str,
    /// The method in upper case.
    pub method: &'static str,
    /// The full path, with parameters in braces: `/api/v1/courses/{id}`.
    pub path: &'static str,
    /// The tag.
    pub tag: &'static str,
    /// The scope that a key needs. `None` if any valid key may call the operation.
    pub scope: Option<&'static str>,
    /// Path, query, header and cookie parameters, in document order.
    pub parameters: &'static [Parameter],
    /// The request body, if the operation has one.
    pub body: Option<Body>,
    /// The documented response statuses.
    pub statuses: &'static [u16],
}

impl Operation {
    /// Returns whether the operation reads its request body line by line.
    pub fn is_streamed(&self) -> bool {
        self.body.as_ref().is_some_and(|body| BodyFormat::of(body.media_type) == BodyFormat::Lines)
    }

    /// Returns whether a query parameter is a list whose name is repeated for each item.
    pub fn is_repeated(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| {
            parameter.location == ParameterLocation::Query
                && parameter.name == name
                && matches!(parameter.kind, ParameterKind::List(_, ListStyle::Repeated))
        })
    }
}

/// One parameter of an operation.
#[derive(Debug)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// Where the parameter is sent.
    pub location: ParameterLocation,
    /// Whether requests without the parameter are rejected.
    pub required: bool,
    /// The JSON pointer to the schema in the contract's JSON.
    pub schema: &'static str,
    /// How the string value is converted to JSON before it is validated.
    pub kind: ParameterKind,
}

/// Where a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterLocation {
    /// In the path.
    Path,
    /// In the query string.
    Query,
    /// As a header.
    Header,
    /// In a cookie.
    Cookie,
}

/// The JSON type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// A string.
    String,
    /// An integer in decimal digits, with a minus sign if it is negative.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list of items of one kind.
    List(&'static ParameterKind, ListStyle),
}

/// How the items of a list are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListStyle {
    /// The parameter's name is repeated for each item: `tag=a&tag=b`.
    Repeated,
    /// One value contains all items, separated by commas: `tags=a,b`.
    Commas,
}

/// The request body of an operation. Requests without it are rejected, unless the contract's JSON says that the body is
/// not required.
#[derive(Debug)]
pub struct Body {
    /// The media type that the operation accepts.
    pub media_type: &'static str,
    /// The JSON pointer to the schema in the contract's JSON.
    pub schema: &'static str,
}
