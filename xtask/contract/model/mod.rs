//! The contract as the generator understands it: operations, webhooks and schemas, each with its place.
//!
//! Owns the shapes; those of schemas stand in `schema`. [`super::read`] fills them; nothing here judges.

mod schema;

pub use schema::*;

use std::collections::BTreeSet;

use super::node::{Node, Text};
use super::source::Span;

/// Everything that the contract says.
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
    pub schemes: Vec<Scheme>,
}

impl Document {
    /// The schema under a name of `components.schemas`.
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        self.schemas.iter().find(|schema| schema.name.text == name).map(|schema| &schema.schema)
    }

    /// The schema that another one stands for, once its references are followed. `None` when one of them leads to a schema
    /// that was refused, or in a circle.
    pub fn resolve<'a>(&'a self, schema: &'a Schema) -> Option<&'a Schema> {
        self.chain(schema).find(|schema| !matches!(schema.shape, Shape::Reference(_)))
    }

    /// The shape of the schema that another one stands for.
    pub fn shape<'a>(&'a self, schema: &'a Schema) -> Option<&'a Shape> {
        Some(&self.resolve(schema)?.shape)
    }

    /// The default of a schema, or of what it stands for.
    pub fn default_of<'a>(&'a self, schema: &'a Schema) -> Option<&'a Node> {
        self.chain(schema).find_map(|schema| schema.default.as_ref())
    }

    /// A schema and those that its references lead to, one after another. A chain that is longer than there are schemas
    /// leads in a circle, and ends.
    fn chain<'a>(&'a self, schema: &'a Schema) -> impl Iterator<Item = &'a Schema> {
        let next = |schema: &&'a Schema| match &schema.shape {
            Shape::Reference(name) => self.schema(name),
            _ => None,
        };
        std::iter::successors(Some(schema), next).take(self.schemas.len() + 1)
    }

    /// Every property of an object, in the order of its parts. What two of its parts extend is there once.
    pub fn properties<'a>(&'a self, object: &'a ObjectShape) -> Vec<&'a Property> {
        let (mut properties, mut extended) = (Vec::new(), BTreeSet::new());
        let mut open = vec![object.parts.iter()];
        while let Some(parts) = open.last_mut() {
            match parts.next() {
                None => drop(open.pop()),
                Some(ObjectPart::Own(own)) => properties.extend(own),
                Some(ObjectPart::Base(name)) => {
                    let base = self.schema(name).filter(|_| extended.insert(&name.text));
                    if let Some(Shape::Object(base)) = base.and_then(|base| self.shape(base)) {
                        open.push(base.parts.iter());
                    }
                }
            }
        }
        properties
    }
}

/// A security scheme: how callers send their keys.
#[derive(Debug)]
pub struct Scheme {
    /// Its name.
    pub name: Text,
    /// Where the key stands.
    pub credential: Credential,
}

/// Where a key stands in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// `Authorization: Bearer`.
    Bearer,
    /// `Authorization: Basic`, as the user's name.
    Basic,
    /// In a header of its own.
    Header(String),
    /// In a cookie.
    Cookie(String),
}

/// A tag: one trait and one file of generated code.
#[derive(Debug)]
pub struct Tag {
    /// Its name.
    pub name: Text,
    /// What belongs to it.
    pub description: Option<String>,
}

/// A method of HTTP that a contract may use.
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
    /// The method that a key of a path names.
    pub(crate) fn from_key(key: &str) -> Option<Self> {
        [Self::Get, Self::Put, Self::Post, Self::Delete, Self::Patch]
            .into_iter()
            .find(|method| method.key() == key)
    }

    /// As it is written in the contract.
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

/// An operation.
#[derive(Debug)]
pub struct Operation {
    /// `operationId`.
    pub id: Text,
    /// Its method.
    pub method: Method,
    /// Its path, parameters in braces.
    pub path: Text,
    /// Its first tag.
    pub tag: Text,
    /// One line on what it does.
    pub summary: Option<String>,
    /// Everything else on it.
    pub description: Option<String>,
    /// Whether it is going away.
    pub deprecated: bool,
    /// The security scheme of its keys.
    pub scheme: Text,
    /// The scope that a key needs.
    pub scope: Text,
    /// Its parameters, in document order.
    pub parameters: Vec<Parameter>,
    /// Its body, when it takes one.
    pub body: Option<Body>,
    /// Its responses, in document order.
    pub responses: Vec<Response>,
    /// Where its method stands.
    pub span: Span,
}

/// Where a parameter is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the path.
    Path,
    /// In the query string.
    Query,
    /// As a header.
    Header,
    /// In a cookie.
    Cookie,
}

/// A parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Its name as it is sent.
    pub name: Text,
    /// Where it is sent.
    pub location: Location,
    /// Whether a request without it is refused.
    pub required: bool,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it is going away.
    pub deprecated: bool,
    /// Whether a list is sent as one value for each item, and not as one value with commas.
    pub explode: bool,
    /// What it may be.
    pub schema: Schema,
}

/// A request body: one media type.
#[derive(Debug)]
pub struct Body {
    /// Whether a request without it is refused.
    pub required: bool,
    /// Its media type and schema.
    pub content: Content,
    /// Where it is named.
    pub span: Span,
}

/// The media types that have a payload of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `application/json`.
    Json,
    /// `text/plain`.
    Text,
    /// `application/octet-stream`.
    Bytes,
}

impl Media {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Json, Self::Text, Self::Bytes];

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Text => "text/plain",
            Self::Bytes => "application/octet-stream",
        }
    }
}

/// A media type and what it holds.
#[derive(Debug)]
pub struct Content {
    /// The media type.
    pub media: Media,
    /// Where it is named.
    pub span: Span,
    /// What it holds.
    pub schema: Schema,
}

/// A response of an operation.
#[derive(Debug)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Where that is named.
    pub span: Span,
    /// When it is the answer.
    pub description: String,
    /// Its headers, in document order.
    pub headers: Vec<Header>,
    /// Its body, when it has one.
    pub content: Option<Content>,
    /// False when some of it could not be read, which was reported.
    pub whole: bool,
}

/// A response header.
#[derive(Debug)]
pub struct Header {
    /// Its name.
    pub name: Text,
    /// Whether the response always has it.
    pub required: bool,
    /// What it says.
    pub description: Option<String>,
    /// Whether it is going away.
    pub deprecated: bool,
    /// What it may be.
    pub schema: Schema,
}

/// A webhook: one type of event and its body.
#[derive(Debug)]
pub struct Webhook {
    /// The event type.
    pub name: Text,
    /// `operationId`.
    pub id: Text,
    /// Its tags, for readers.
    pub tags: Vec<Text>,
    /// One line on when it is sent.
    pub summary: Option<String>,
    /// Whether it is going away.
    pub deprecated: bool,
    /// Its body.
    pub content: Content,
}
