//! The keywords of each OpenAPI object and the types of their values.
//!
//! Keywords that are not listed may have any type, unless the object has user-defined keys.

/// The kind of an OpenAPI object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Document,
    Info,
    Paths,
    Components,
    PathItem,
    Operation,
    Parameter,
    Header,
    RequestBody,
    Response,
    MediaType,
    Encoding,
    Callback,
    Link,
    SecurityRequirement,
    SecurityScheme,
    OAuthFlows,
    OAuthFlow,
    Server,
    ServerVariable,
    Schema,
    Discriminator,
}

/// The type of a keyword's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueType {
    /// An object.
    Object(ObjectKind),
    /// A list of objects.
    ListOf(ObjectKind),
    /// A mapping from user-defined names to objects.
    MapOf(ObjectKind),
    /// A mapping from statuses to responses, which can also contain extensions.
    Responses,
    StringValue,
    /// A mapping from values of a property to names of schemas or references to schemas.
    DiscriminatorMapping,
    Boolean,
    Number,
    /// A number, or a boolean as in OpenAPI 3.0.
    NumberOrBoolean,
    /// A list of strings.
    StringList,
    /// A mapping from user-defined names to lists of strings.
    StringListMap,
    /// A mapping from user-defined names to any values.
    AnyMap,
    /// A list of any values.
    AnyList,
    /// The name of a JSON type, or a list of names.
    TypeNames,
}

use ValueType::{
    AnyList, AnyMap, Boolean, DiscriminatorMapping, ListOf, MapOf, Number, NumberOrBoolean, Object,
    Responses, StringList, StringListMap, StringValue, TypeNames,
};

/// Keywords with the types of their values.
pub(crate) type Keywords = &'static [(&'static str, ValueType)];

const DOCUMENT: Keywords = &[
    ("info", Object(ObjectKind::Info)),
    ("paths", Object(ObjectKind::Paths)),
    ("webhooks", MapOf(ObjectKind::PathItem)),
    ("components", Object(ObjectKind::Components)),
    ("security", ListOf(ObjectKind::SecurityRequirement)),
    ("servers", ListOf(ObjectKind::Server)),
    ("tags", AnyList),
];
const COMPONENTS: Keywords = &[
    ("schemas", MapOf(ObjectKind::Schema)),
    ("responses", MapOf(ObjectKind::Response)),
    ("parameters", MapOf(ObjectKind::Parameter)),
    ("requestBodies", MapOf(ObjectKind::RequestBody)),
    ("headers", MapOf(ObjectKind::Header)),
    ("securitySchemes", MapOf(ObjectKind::SecurityScheme)),
    ("links", MapOf(ObjectKind::Link)),
    ("callbacks", MapOf(ObjectKind::Callback)),
    ("pathItems", MapOf(ObjectKind::PathItem)),
    // OpenAPI 3.2.
    ("mediaTypes", MapOf(ObjectKind::MediaType)),
];
const PATH_ITEM: Keywords = &[
    ("get", Object(ObjectKind::Operation)),
    ("put", Object(ObjectKind::Operation)),
    ("post", Object(ObjectKind::Operation)),
    ("delete", Object(ObjectKind::Operation)),
    ("options", Object(ObjectKind::Operation)),
    ("head", Object(ObjectKind::Operation)),
    ("patch", Object(ObjectKind::Operation)),
    ("trace", Object(ObjectKind::Operation)),
    // OpenAPI 3.2.
    ("query", Object(ObjectKind::Operation)),
    ("additionalOperations", MapOf(ObjectKind::Operation)),
    ("parameters", ListOf(ObjectKind::Parameter)),
    ("servers", ListOf(ObjectKind::Server)),
];
const OPERATION: Keywords = &[
    ("operationId", StringValue),
    ("tags", StringList),
    ("parameters", ListOf(ObjectKind::Parameter)),
    ("requestBody", Object(ObjectKind::RequestBody)),
    ("responses", Responses),
    ("callbacks", MapOf(ObjectKind::Callback)),
    ("security", ListOf(ObjectKind::SecurityRequirement)),
    ("servers", ListOf(ObjectKind::Server)),
    ("deprecated", Boolean),
];
const PARAMETER: Keywords = &[
    ("name", StringValue),
    ("in", StringValue),
    ("required", Boolean),
    ("schema", Object(ObjectKind::Schema)),
    ("content", MapOf(ObjectKind::MediaType)),
    ("style", StringValue),
    ("explode", Boolean),
    ("allowReserved", Boolean),
    ("allowEmptyValue", Boolean),
    ("deprecated", Boolean),
];
const REQUEST_BODY: Keywords = &[("required", Boolean), ("content", MapOf(ObjectKind::MediaType))];
const RESPONSE: Keywords = &[
    ("headers", MapOf(ObjectKind::Header)),
    ("content", MapOf(ObjectKind::MediaType)),
    ("links", MapOf(ObjectKind::Link)),
];
const MEDIA_TYPE: Keywords = &[
    ("schema", Object(ObjectKind::Schema)),
    ("encoding", MapOf(ObjectKind::Encoding)),
    // OpenAPI 3.2.
    ("itemSchema", Object(ObjectKind::Schema)),
];
const ENCODING: Keywords = &[
    ("headers", MapOf(ObjectKind::Header)),
    ("contentType", StringValue),
    ("style", StringValue),
    ("explode", Boolean),
    ("allowReserved", Boolean),
];
const SECURITY_SCHEME: Keywords = &[
    ("type", StringValue),
    ("scheme", StringValue),
    ("in", StringValue),
    ("name", StringValue),
    ("openIdConnectUrl", StringValue),
    ("flows", Object(ObjectKind::OAuthFlows)),
];
const OAUTH_FLOWS: Keywords = &[
    ("implicit", Object(ObjectKind::OAuthFlow)),
    ("password", Object(ObjectKind::OAuthFlow)),
    ("clientCredentials", Object(ObjectKind::OAuthFlow)),
    ("authorizationCode", Object(ObjectKind::OAuthFlow)),
    // OpenAPI 3.2.
    ("deviceAuthorization", Object(ObjectKind::OAuthFlow)),
];
const OAUTH_FLOW: Keywords = &[
    ("authorizationUrl", StringValue),
    ("tokenUrl", StringValue),
    ("refreshUrl", StringValue),
    // OpenAPI 3.2.
    ("deviceAuthorizationUrl", StringValue),
    // The descriptions of scopes are not validated: some documents omit them.
    ("scopes", AnyMap),
];
const SERVER: Keywords = &[("url", StringValue), ("variables", MapOf(ObjectKind::ServerVariable))];
const SERVER_VARIABLE: Keywords = &[("enum", AnyList)];
const SCHEMA: Keywords = &[
    ("type", TypeNames),
    ("properties", MapOf(ObjectKind::Schema)),
    ("patternProperties", MapOf(ObjectKind::Schema)),
    ("dependentSchemas", MapOf(ObjectKind::Schema)),
    ("$defs", MapOf(ObjectKind::Schema)),
    ("definitions", MapOf(ObjectKind::Schema)),
    ("additionalProperties", Object(ObjectKind::Schema)),
    ("unevaluatedProperties", Object(ObjectKind::Schema)),
    ("propertyNames", Object(ObjectKind::Schema)),
    ("items", Object(ObjectKind::Schema)),
    ("unevaluatedItems", Object(ObjectKind::Schema)),
    ("contains", Object(ObjectKind::Schema)),
    ("contentSchema", Object(ObjectKind::Schema)),
    ("not", Object(ObjectKind::Schema)),
    ("if", Object(ObjectKind::Schema)),
    ("then", Object(ObjectKind::Schema)),
    ("else", Object(ObjectKind::Schema)),
    ("allOf", ListOf(ObjectKind::Schema)),
    ("anyOf", ListOf(ObjectKind::Schema)),
    ("oneOf", ListOf(ObjectKind::Schema)),
    ("prefixItems", ListOf(ObjectKind::Schema)),
    ("required", StringList),
    ("dependentRequired", StringListMap),
    ("discriminator", Object(ObjectKind::Discriminator)),
    ("enum", AnyList),
    ("format", StringValue),
    ("pattern", StringValue),
    ("minimum", Number),
    ("maximum", Number),
    ("exclusiveMinimum", NumberOrBoolean),
    ("exclusiveMaximum", NumberOrBoolean),
    ("multipleOf", Number),
    ("minLength", Number),
    ("maxLength", Number),
    ("minItems", Number),
    ("maxItems", Number),
    ("minContains", Number),
    ("maxContains", Number),
    ("minProperties", Number),
    ("maxProperties", Number),
    ("uniqueItems", Boolean),
    ("nullable", Boolean),
    ("readOnly", Boolean),
    ("writeOnly", Boolean),
    ("deprecated", Boolean),
];
const DISCRIMINATOR: Keywords = &[("propertyName", StringValue), ("mapping", DiscriminatorMapping)];

impl ObjectKind {
    /// The sections of the components to which references lead.
    pub(crate) const SECTIONS: [&str; 9] = [
        "schemas",
        "responses",
        "parameters",
        "requestBodies",
        "headers",
        "securitySchemes",
        "links",
        "callbacks",
        "pathItems",
    ];

    /// Returns the section of the components that contains objects of this kind.
    pub(crate) const fn section(self) -> Option<&'static str> {
        match self {
            Self::Schema => Some("schemas"),
            Self::Response => Some("responses"),
            Self::Parameter => Some("parameters"),
            Self::RequestBody => Some("requestBodies"),
            Self::Header => Some("headers"),
            Self::SecurityScheme => Some("securitySchemes"),
            Self::Link => Some("links"),
            Self::Callback => Some("callbacks"),
            Self::PathItem => Some("pathItems"),
            _ => None,
        }
    }

    /// Returns the keywords that are validated.
    pub(crate) const fn keywords(self) -> Keywords {
        match self {
            Self::Document => DOCUMENT,
            Self::Components => COMPONENTS,
            Self::PathItem => PATH_ITEM,
            Self::Operation => OPERATION,
            Self::Parameter | Self::Header => PARAMETER,
            Self::RequestBody => REQUEST_BODY,
            Self::Response => RESPONSE,
            Self::MediaType => MEDIA_TYPE,
            Self::Encoding => ENCODING,
            Self::SecurityScheme => SECURITY_SCHEME,
            Self::OAuthFlows => OAUTH_FLOWS,
            Self::OAuthFlow => OAUTH_FLOW,
            Self::Server => SERVER,
            Self::ServerVariable => SERVER_VARIABLE,
            Self::Schema => SCHEMA,
            Self::Discriminator => DISCRIMINATOR,
            Self::Info | Self::Paths | Self::Callback | Self::Link | Self::SecurityRequirement => &[],
        }
    }

    /// Returns the type of the values under user-defined keys, or `None` if values under unknown keys may have any
    /// type.
    pub(crate) const fn default_value_type(self) -> Option<ValueType> {
        match self {
            Self::Paths | Self::Callback => Some(Object(Self::PathItem)),
            Self::SecurityRequirement => Some(StringList),
            _ => None,
        }
    }

    /// Returns the keywords that must exist, because objects of this kind are matched by them.
    pub(crate) const fn required_keywords(self) -> &'static [&'static str] {
        match self {
            Self::Parameter => &["name", "in"],
            Self::Server => &["url"],
            _ => &[],
        }
    }
}
