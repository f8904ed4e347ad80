//! The contract as the generator understands it: operations, webhooks and schemas, each with its place.
//!
//! Owns the shapes. [`super::read`] fills them; nothing here judges.

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
}

impl Document {
    /// The schema under a name of `components.schemas`.
    pub fn schema(&self, name: &str) -> Option<&Schema> {
        self.schemas.iter().find(|schema| schema.name.text == name).map(|schema| &schema.schema)
    }

    /// The schema that another one stands for, once its references are followed.
    ///
    /// # Panics
    /// Never for a document that was read without findings: its references resolve and do not turn in circles.
    pub fn resolve<'a>(&'a self, schema: &'a Schema) -> &'a Schema {
        let mut here = schema;
        while let Shape::Reference(name) = &here.shape {
            here = self.schema(name).expect("references were resolved when the contract was read");
        }
        here
    }

    /// Every property of an object, those of its base first.
    pub fn properties<'a>(&'a self, object: &'a ObjectShape) -> Vec<&'a Property> {
        let base = object.base.as_ref().and_then(|base| self.schema(base));
        let mut properties = match base.map(|base| &self.resolve(base).shape) {
            Some(Shape::Object(base)) => self.properties(base),
            _ => Vec::new(),
        };
        properties.extend(&object.properties);
        properties
    }
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
    pub fn from_key(key: &str) -> Option<Self> {
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

/// A media type and what it holds.
#[derive(Debug)]
pub struct Content {
    /// The media type.
    pub media_type: Text,
    /// What it holds.
    pub schema: Schema,
}

/// A response of an operation.
#[derive(Debug)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// When it is the answer.
    pub description: String,
    /// Its headers, in document order.
    pub headers: Vec<Header>,
    /// Its body, when it has one.
    pub content: Option<Content>,
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
    /// One line on when it is sent.
    pub summary: Option<String>,
    /// Its body.
    pub content: Content,
}

/// A schema under its name.
#[derive(Debug)]
pub struct NamedSchema {
    /// The name.
    pub name: Text,
    /// The schema.
    pub schema: Schema,
}

/// A schema.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Where it stands.
    pub span: Span,
    /// The JSON pointer to it.
    pub pointer: String,
    /// Whether `null` is a value of it.
    pub nullable: bool,
    /// What it means.
    pub description: Option<String>,
    /// Whether it is going away.
    pub deprecated: bool,
    /// Its default.
    pub default: Option<Node>,
    /// Its kind, with what belongs to that.
    pub shape: Shape,
}

/// The kinds of schemas.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A schema of `components.schemas`.
    Reference(Text),
    /// An object with named properties.
    Object(ObjectShape),
    /// An object with keys of the caller's choice.
    Map(MapShape),
    /// A list.
    Array(ArrayShape),
    /// A string.
    String(StringShape),
    /// A string out of a list.
    Enum(EnumShape),
    /// A whole number.
    Integer(NumberShape),
    /// A number.
    Number(NumberShape),
    /// `true` or `false`.
    Boolean,
}

/// An object with named properties.
#[derive(Clone, Debug, Default)]
pub struct ObjectShape {
    /// The object of `components.schemas` whose properties come first (`allOf`).
    pub base: Option<Text>,
    /// Its own properties, in document order.
    pub properties: Vec<Property>,
    /// Whether other properties are refused.
    pub closed: bool,
}

/// A property of an object.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name.
    pub name: Text,
    /// Whether it must be there.
    pub required: bool,
    /// What it may be.
    pub schema: Schema,
}

/// An object with keys of the caller's choice.
#[derive(Clone, Debug)]
pub struct MapShape {
    /// What each value may be.
    pub values: Box<Schema>,
    /// `minProperties`.
    pub min_properties: Option<u64>,
    /// `maxProperties`.
    pub max_properties: Option<u64>,
}

/// A list.
#[derive(Clone, Debug)]
pub struct ArrayShape {
    /// What each item may be.
    pub items: Box<Schema>,
    /// `minItems`.
    pub min_items: Option<u64>,
    /// `maxItems`.
    pub max_items: Option<u64>,
    /// `uniqueItems`.
    pub unique_items: bool,
}

/// A string.
#[derive(Clone, Debug, Default)]
pub struct StringShape {
    /// `format`.
    pub format: Option<Text>,
    /// `pattern`.
    pub pattern: Option<Text>,
    /// `minLength`.
    pub min_length: Option<u64>,
    /// `maxLength`.
    pub max_length: Option<u64>,
}

impl StringShape {
    /// Whether it is a time, which Rust knows by a type of its own.
    pub fn is_time(&self) -> bool {
        self.format.as_deref() == Some("date-time")
    }
}

/// A string out of a list.
#[derive(Clone, Debug)]
pub struct EnumShape {
    /// The values, in document order; one for `const`.
    pub values: Vec<Text>,
}

/// A number.
#[derive(Clone, Debug, Default)]
pub struct NumberShape {
    /// `format`.
    pub format: Option<Text>,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: Option<f64>,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: Option<f64>,
    /// `multipleOf`.
    pub multiple_of: Option<f64>,
}
