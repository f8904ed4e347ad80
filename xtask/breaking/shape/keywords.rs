//! What OpenAPI says that must stand under which keyword.
//!
//! Owns the tables; it never reads a document. Keywords that are not named here may have any shape.

/// What a part of a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Document,
    Info,
    Paths,
    Components,
    Item,
    Operation,
    Parameter,
    Header,
    Body,
    Response,
    Media,
    Encoding,
    Callback,
    Link,
    Requirement,
    Scheme,
    Flows,
    Flow,
    Server,
    Variable,
    Schema,
    Discriminator,
}

/// What must stand under a keyword.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A part.
    One(Part),
    /// A list of parts.
    List(Part),
    /// Parts by names that someone chose.
    Named(Part),
    /// Responses by their statuses, and extensions among them.
    Statuses,
    Text,
    /// Strings by names that someone chose.
    Texts,
    Flag,
    Number,
    /// A number, or a boolean as in 3.0.
    Limit,
    /// A list of strings.
    Words,
    /// Lists of strings by names that someone chose.
    NamedWords,
    /// Whatever, by names that someone chose.
    NamedValues,
    /// A list of whatever.
    Values,
    /// The name of a JSON type, or a list of names.
    Type,
}

use Shape::{
    Flag, Limit, List, Named, NamedValues, NamedWords, Number, One, Statuses, Text, Texts, Type, Values,
    Words,
};

/// Keywords with what must stand under them.
pub(super) type Keywords = &'static [(&'static str, Shape)];

const DOCUMENT: Keywords = &[
    ("info", One(Part::Info)),
    ("paths", One(Part::Paths)),
    ("webhooks", Named(Part::Item)),
    ("components", One(Part::Components)),
    ("security", List(Part::Requirement)),
    ("servers", List(Part::Server)),
    ("tags", Values),
];
const COMPONENTS: Keywords = &[
    ("schemas", Named(Part::Schema)),
    ("responses", Named(Part::Response)),
    ("parameters", Named(Part::Parameter)),
    ("requestBodies", Named(Part::Body)),
    ("headers", Named(Part::Header)),
    ("securitySchemes", Named(Part::Scheme)),
    ("links", Named(Part::Link)),
    ("callbacks", Named(Part::Callback)),
    ("pathItems", Named(Part::Item)),
];
const ITEM: Keywords = &[
    ("get", One(Part::Operation)),
    ("put", One(Part::Operation)),
    ("post", One(Part::Operation)),
    ("delete", One(Part::Operation)),
    ("options", One(Part::Operation)),
    ("head", One(Part::Operation)),
    ("patch", One(Part::Operation)),
    ("trace", One(Part::Operation)),
    ("parameters", List(Part::Parameter)),
    ("servers", List(Part::Server)),
];
const OPERATION: Keywords = &[
    ("operationId", Text),
    ("tags", Words),
    ("parameters", List(Part::Parameter)),
    ("requestBody", One(Part::Body)),
    ("responses", Statuses),
    ("callbacks", Named(Part::Callback)),
    ("security", List(Part::Requirement)),
    ("servers", List(Part::Server)),
    ("deprecated", Flag),
];
const PARAMETER: Keywords = &[
    ("name", Text),
    ("in", Text),
    ("required", Flag),
    ("schema", One(Part::Schema)),
    ("content", Named(Part::Media)),
    ("style", Text),
    ("explode", Flag),
    ("allowReserved", Flag),
    ("allowEmptyValue", Flag),
    ("deprecated", Flag),
];
const BODY: Keywords = &[("required", Flag), ("content", Named(Part::Media))];
const RESPONSE: Keywords =
    &[("headers", Named(Part::Header)), ("content", Named(Part::Media)), ("links", Named(Part::Link))];
const MEDIA: Keywords = &[("schema", One(Part::Schema)), ("encoding", Named(Part::Encoding))];
const ENCODING: Keywords = &[
    ("headers", Named(Part::Header)),
    ("contentType", Text),
    ("style", Text),
    ("explode", Flag),
    ("allowReserved", Flag),
];
const SCHEME: Keywords = &[
    ("type", Text),
    ("scheme", Text),
    ("in", Text),
    ("name", Text),
    ("openIdConnectUrl", Text),
    ("flows", One(Part::Flows)),
];
const FLOWS: Keywords = &[
    ("implicit", One(Part::Flow)),
    ("password", One(Part::Flow)),
    ("clientCredentials", One(Part::Flow)),
    ("authorizationCode", One(Part::Flow)),
];
const FLOW: Keywords = &[
    ("authorizationUrl", Text),
    ("tokenUrl", Text),
    ("refreshUrl", Text),
    // What a scope is for may be left out.
    ("scopes", NamedValues),
];
const SERVER: Keywords = &[("url", Text), ("variables", Named(Part::Variable))];
const VARIABLE: Keywords = &[("enum", Values)];
const SCHEMA: Keywords = &[
    ("type", Type),
    ("properties", Named(Part::Schema)),
    ("patternProperties", Named(Part::Schema)),
    ("dependentSchemas", Named(Part::Schema)),
    ("$defs", Named(Part::Schema)),
    ("additionalProperties", One(Part::Schema)),
    ("unevaluatedProperties", One(Part::Schema)),
    ("propertyNames", One(Part::Schema)),
    ("items", One(Part::Schema)),
    ("unevaluatedItems", One(Part::Schema)),
    ("contains", One(Part::Schema)),
    ("contentSchema", One(Part::Schema)),
    ("not", One(Part::Schema)),
    ("if", One(Part::Schema)),
    ("then", One(Part::Schema)),
    ("else", One(Part::Schema)),
    ("allOf", List(Part::Schema)),
    ("anyOf", List(Part::Schema)),
    ("oneOf", List(Part::Schema)),
    ("prefixItems", List(Part::Schema)),
    ("required", Words),
    ("dependentRequired", NamedWords),
    ("discriminator", One(Part::Discriminator)),
    ("enum", Values),
    ("format", Text),
    ("pattern", Text),
    ("minimum", Number),
    ("maximum", Number),
    ("exclusiveMinimum", Limit),
    ("exclusiveMaximum", Limit),
    ("multipleOf", Number),
    ("minLength", Number),
    ("maxLength", Number),
    ("minItems", Number),
    ("maxItems", Number),
    ("minContains", Number),
    ("maxContains", Number),
    ("minProperties", Number),
    ("maxProperties", Number),
    ("uniqueItems", Flag),
    ("nullable", Flag),
    ("readOnly", Flag),
    ("writeOnly", Flag),
    ("deprecated", Flag),
];
const DISCRIMINATOR: Keywords = &[("propertyName", Text), ("mapping", Texts)];

impl Part {
    /// The keywords that are looked at.
    pub(super) const fn keywords(self) -> Keywords {
        match self {
            Self::Document => DOCUMENT,
            Self::Components => COMPONENTS,
            Self::Item => ITEM,
            Self::Operation => OPERATION,
            Self::Parameter | Self::Header => PARAMETER,
            Self::Body => BODY,
            Self::Response => RESPONSE,
            Self::Media => MEDIA,
            Self::Encoding => ENCODING,
            Self::Scheme => SCHEME,
            Self::Flows => FLOWS,
            Self::Flow => FLOW,
            Self::Server => SERVER,
            Self::Variable => VARIABLE,
            Self::Schema => SCHEMA,
            Self::Discriminator => DISCRIMINATOR,
            Self::Info | Self::Paths | Self::Callback | Self::Link | Self::Requirement => &[],
        }
    }

    /// What stands under every key, where the keys are no keywords.
    pub(super) const fn each(self) -> Option<Shape> {
        match self {
            Self::Paths | Self::Callback => Some(One(Self::Item)),
            Self::Requirement => Some(Words),
            _ => None,
        }
    }

    /// Keywords without which the part cannot be told from others.
    pub(super) const fn needed(self) -> &'static [&'static str] {
        match self {
            Self::Parameter => &["name", "in"],
            Self::Server => &["url"],
            _ => &[],
        }
    }
}
