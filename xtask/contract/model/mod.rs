//! The model of a contract: operations, webhooks and schemas, each with its span.
//!
//! `read` creates the model and `rules` validates it. The types of schemas are in `schema`.

mod schema;

pub use schema::*;

use std::collections::BTreeSet;

use super::node::{Node, SpannedString};
use super::source::Span;

/// The contract document.
#[derive(Debug)]
pub struct Document {
    /// `info.title`.
    pub title: String,
    /// `info.version`.
    pub version: String,
    /// The tags, in document order.
    pub tags: Vec<Tag>,
    /// The operations, in document order.
    pub operations: Vec<Operation>,
    /// The webhooks, in document order.
    pub webhooks: Vec<Webhook>,
    /// `components.schemas`, in document order.
    pub schemas: Vec<NamedSchema>,
    /// `components.securitySchemes`, in document order.
    pub security_schemes: Vec<SecurityScheme>,
}

impl Document {
    /// Returns the schema with this name in `components.schemas`.
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        self.schemas.iter().find(|schema| schema.name.text == name).map(|schema| &schema.schema)
    }

    /// Returns the schema after following its references. Returns `None` if a reference leads to an invalid schema or
    /// the references form a cycle.
    pub fn resolve<'a>(&'a self, schema: &'a Schema) -> Option<&'a Schema> {
        self.chain(schema).find(|schema| !matches!(schema.shape, Shape::Reference(_)))
    }

    /// Returns the shape of the schema after following its references.
    pub fn shape<'a>(&'a self, schema: &'a Schema) -> Option<&'a Shape> {
        Some(&self.resolve(schema)?.shape)
    }

    /// Returns whether the schema, or one that its references lead to, is nullable.
    pub fn is_nullable(&self, schema: &Schema) -> bool {
        self.chain(schema).any(|schema| schema.nullable)
    }

    /// Returns the default of the schema or, if it has none, of the first referenced schema with a default.
    pub fn default_of<'a>(&'a self, schema: &'a Schema) -> Option<&'a Node> {
        self.chain(schema).find_map(|schema| schema.default.as_ref())
    }

    /// Returns the schema and the schemas that its references lead to, in order. A chain longer than the number of
    /// schemas is a cycle and ends.
    fn chain<'a>(&'a self, schema: &'a Schema) -> impl Iterator<Item = &'a Schema> {
        let next = |schema: &&'a Schema| match &schema.shape {
            Shape::Reference(name) => self.schema(name),
            _ => None,
        };
        std::iter::successors(Some(schema), next).take(self.schemas.len() + 1)
    }

    /// Returns every property of an object, including those of its bases, in the order of its parts. The properties of
    /// a base that is extended twice are returned once.
    pub fn properties<'a>(&'a self, object: &'a ObjectShape) -> Vec<&'a Property> {
        let (mut properties, mut extended) = (Vec::new(), BTreeSet::new());
        let mut stack = vec![object.parts.iter()];
        while let Some(parts) = stack.last_mut() {
            match parts.next() {
                None => drop(stack.pop()),
                Some(ObjectPart::Own(own)) => properties.extend(own),
                Some(ObjectPart::Base(name)) => {
                    let base = self.schema(name).filter(|_| extended.insert(&name.text));
                    if let Some(Shape::Object(base)) = base.and_then(|base| self.shape(base)) {
                        stack.push(base.parts.iter());
                    }
                }
            }
        }
        properties
    }
}

/// A security scheme: how callers send their API keys.
#[derive(Debug)]
pub struct SecurityScheme {
    /// The name.
    pub name: SpannedString,
    /// Where requests contain the key.
    pub credential: Credential,
}

/// Where a request contains the API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// `Authorization: Bearer`.
    Bearer,
    /// `Authorization: Basic`, with the key as the user name.
    Basic,
    /// A custom header.
    Header(String),
    /// A cookie.
    Cookie(String),
}

/// A tag. The generator creates one trait and one file for each.
#[derive(Debug)]
pub struct Tag {
    /// The name.
    pub name: SpannedString,
    /// `description`.
    pub description: Option<String>,
}

/// An HTTP method that a contract can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// PUT.
    Put,
    /// POST.
    Post,
    /// DELETE.
    Delete,
    /// PATCH.
    Patch,
}

impl Method {
    /// Returns the method for a key of a path item.
    pub(crate) fn from_key(key: &str) -> Option<Self> {
        [Self::Get, Self::Put, Self::Post, Self::Delete, Self::Patch]
            .into_iter()
            .find(|method| method.key() == key)
    }

    /// Returns the key of the method in a path item.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Post => "post",
            Self::Delete => "delete",
            Self::Patch => "patch",
        }
    }
}

/// What a caller needs to call an operation.
#[derive(Debug)]
pub struct Access {
    /// The name of the security scheme.
    pub scheme: SpannedString,
    /// The scope that the key must have. `None` if any valid key may call the operation.
    pub scope: Option<SpannedString>,
}

/// An operation.
#[derive(Debug)]
pub struct Operation {
    /// `operationId`.
    pub id: SpannedString,
    /// The HTTP method.
    pub method: Method,
    /// The path template, with parameters in braces.
    pub path: SpannedString,
    /// The name of the only tag.
    pub tag: SpannedString,
    /// `summary`.
    pub summary: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `deprecated`.
    pub deprecated: bool,
    /// The security scheme and the scope. `None` in [`Profile::Open`](crate::Profile::Open), whose generated code reads
    /// `security` at run time.
    pub access: Option<Access>,
    /// The parameters, in document order.
    pub parameters: Vec<Parameter>,
    /// The request body, if any.
    pub body: Option<Body>,
    /// The responses, in document order.
    pub responses: Vec<Response>,
    /// The span of the method's key.
    pub span: Span,
}

/// Where a request contains a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterLocation {
    /// The path.
    Path,
    /// The query string.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// A parameter.
#[derive(Debug)]
pub struct Parameter {
    /// The name in requests.
    pub name: SpannedString,
    /// Where requests contain it.
    pub location: ParameterLocation,
    /// Whether a request without the parameter is rejected.
    pub required: bool,
    /// `description`.
    pub description: Option<String>,
    /// `deprecated`.
    pub deprecated: bool,
    /// `explode`: whether a list is sent as one parameter per item instead of one value with commas.
    pub explode: bool,
    /// The schema of its values.
    pub schema: Schema,
}

/// A request body with one media type.
#[derive(Debug)]
pub struct Body {
    /// Whether a request without a body is rejected.
    pub required: bool,
    /// The media type and schema.
    pub content: Content,
    /// The span of its key.
    pub span: Span,
}

/// The supported media types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// `application/json`.
    Json,
    /// `application/x-ndjson`: a stream of lines, each described by the schema.
    Lines,
    /// `text/plain`.
    Text,
    /// `application/octet-stream`.
    Bytes,
}

impl MediaType {
    /// Every supported media type.
    pub const ALL: [Self; 4] = [Self::Json, Self::Text, Self::Bytes, Self::Lines];

    /// Returns how the generated code handles a media type of a contract in [`Profile::Open`](crate::Profile::Open): JSON
    /// (`application/json` and types that end with `+json`), lines of JSON, plain text, or bytes.
    pub(crate) fn of_any(name: &str) -> Self {
        let essence = name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match &*essence {
            "text/plain" => Self::Text,
            "application/json" => Self::Json,
            "application/x-ndjson" => Self::Lines,
            _ if essence.ends_with("+json") => Self::Json,
            _ => Self::Bytes,
        }
    }

    /// Returns the name of the media type.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Lines => "application/x-ndjson",
            Self::Text => "text/plain",
            Self::Bytes => "application/octet-stream",
        }
    }
}

/// A media type with the schema of its values.
#[derive(Debug)]
pub struct Content {
    /// How the generated code handles the media type.
    pub media_type: MediaType,
    /// The media type as the contract names it.
    pub name: String,
    /// The span of its key.
    pub span: Span,
    /// The schema.
    pub schema: Schema,
}

impl Content {
    /// Returns whether the name is a range of media types, such as `image/*`. Only in
    /// [`Profile::Open`](crate::Profile::Open).
    pub fn is_range(&self) -> bool {
        self.name.contains('*')
    }
}

/// The status of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResponseStatus {
    /// One status code.
    Code(u16),
    /// All codes with this first digit, such as `4XX`. Only in [`Profile::Open`](crate::Profile::Open).
    Range(u16),
    /// All codes that no other response has. Only in [`Profile::Open`](crate::Profile::Open).
    Default,
}

impl ResponseStatus {
    /// Parses a key of `responses`.
    pub(crate) fn from_key(key: &str) -> Option<Self> {
        let digit = |key: &str| match key.as_bytes() {
            [digit @ b'1'..=b'5', b'X' | b'x', b'X' | b'x'] => Some(u16::from(digit - b'0')),
            _ => None,
        };
        match key {
            "default" => Some(Self::Default),
            _ => match digit(key) {
                Some(digit) => Some(Self::Range(digit)),
                None => key.parse().ok().filter(|code| (100..=599).contains(code)).map(Self::Code),
            },
        }
    }

    /// Returns the code, if there is only one.
    pub const fn code(self) -> Option<u16> {
        match self {
            Self::Code(code) => Some(code),
            Self::Range(_) | Self::Default => None,
        }
    }
}

impl std::fmt::Display for ResponseStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "{code}"),
            Self::Range(digit) => write!(f, "{digit}XX"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A response of an operation.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: ResponseStatus,
    /// The span of the status.
    pub span: Span,
    /// `description`.
    pub description: String,
    /// The headers, in document order.
    pub headers: Vec<Header>,
    /// The body, if any.
    pub content: Option<Content>,
    /// Whether the whole response was read. If not, a diagnostic was reported.
    pub complete: bool,
}

/// A response header.
#[derive(Debug)]
pub struct Header {
    /// The name.
    pub name: SpannedString,
    /// Whether every response with this status has the header.
    pub required: bool,
    /// `description`.
    pub description: Option<String>,
    /// `deprecated`.
    pub deprecated: bool,
    /// The schema of its values.
    pub schema: Schema,
}

/// A webhook: an event type and its body.
#[derive(Debug)]
pub struct Webhook {
    /// The event type.
    pub name: SpannedString,
    /// `operationId`.
    pub id: SpannedString,
    /// The tags, for documentation only.
    pub tags: Vec<SpannedString>,
    /// `summary`.
    pub summary: Option<String>,
    /// `deprecated`.
    pub deprecated: bool,
    /// The body.
    pub content: Content,
}
