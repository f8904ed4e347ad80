//! The keywords that each kind of OpenAPI object supports.
//!
//! This module lists the keywords of OpenAPI 3.1 that the generator supports, and those that it rejects. An unsupported
//! keyword is always reported, never ignored.

use super::node::Node;
use crate::diagnostic::{Code, Diagnostic};

/// A kind of OpenAPI object, with its keywords.
pub(crate) struct ObjectKind {
    /// The name with an article, for messages.
    pub name: &'static str,
    /// Keywords that the generator uses or copies to the served documents.
    supported_keywords: &'static [&'static str],
    /// Keywords that OpenAPI 3.1 defines and the generator rejects, each with a remedy.
    unsupported_keywords: &'static [(&'static str, &'static str)],
}

impl ObjectKind {
    /// Returns whether the generator supports a keyword.
    pub(crate) fn supports(&self, key: &str) -> bool {
        self.supported_keywords.contains(&key)
    }
}

const UNSUPPORTED: &str = "remove it; the generator does not support it";
/// The remedy for security schemes that issue tokens.
pub(crate) const USE_KEYS: &str = "use `http` or `apiKey`: the server does not issue tokens";
const USE_TOP_LEVEL_SERVERS: &str = "declare `servers` once, at the top level of the document";
const USE_COMPOSITION: &str = "use `properties`, `allOf` of objects, or `oneOf` with a discriminator";
const USE_POST: &str = "use `post`: events are sent with POST only";
const USE_ADDITIONAL_PROPERTIES: &str = "use `additionalProperties` with one schema or `false`";

/// The whole document.
pub(crate) const DOCUMENT: ObjectKind = ObjectKind {
    name: "the document",
    supported_keywords: &[
        "openapi",
        "info",
        "servers",
        "tags",
        "paths",
        "webhooks",
        "components",
        "externalDocs",
    ],
    unsupported_keywords: &[
        ("security", "declare the security scheme and the scope in each operation"),
        ("jsonSchemaDialect", "remove it: the dialect of OpenAPI 3.1 is the default"),
    ],
};
/// `info`.
pub(crate) const INFO: ObjectKind = ObjectKind {
    name: "`info`",
    supported_keywords: &[
        "title",
        "version",
        "summary",
        "description",
        "termsOfService",
        "contact",
        "license",
    ],
    unsupported_keywords: &[],
};
/// `info.contact`.
pub(crate) const CONTACT: ObjectKind = ObjectKind {
    name: "a contact",
    supported_keywords: &["name", "url", "email"],
    unsupported_keywords: &[],
};
/// `info.license`.
pub(crate) const LICENSE: ObjectKind = ObjectKind {
    name: "a license",
    supported_keywords: &["name", "identifier", "url"],
    unsupported_keywords: &[],
};
/// A server.
pub(crate) const SERVER: ObjectKind = ObjectKind {
    name: "a server",
    supported_keywords: &["url", "description"],
    unsupported_keywords: &[("variables", "write the whole URL")],
};
/// A tag.
pub(crate) const TAG: ObjectKind = ObjectKind {
    name: "a tag",
    supported_keywords: &["name", "description", "externalDocs"],
    unsupported_keywords: &[],
};
/// A link to an external document.
pub(crate) const EXTERNAL_DOCS: ObjectKind = ObjectKind {
    name: "external documentation",
    supported_keywords: &["url", "description"],
    unsupported_keywords: &[],
};
/// `components`.
pub(crate) const COMPONENTS: ObjectKind = ObjectKind {
    name: "`components`",
    supported_keywords: &[
        "schemas",
        "parameters",
        "headers",
        "responses",
        "requestBodies",
        "examples",
        "securitySchemes",
    ],
    unsupported_keywords: &[
        ("links", UNSUPPORTED),
        ("callbacks", "describe the events that the server sends in `webhooks`"),
        ("pathItems", "move the operations to `paths`"),
    ],
};
/// A path.
pub(crate) const PATH_ITEM: ObjectKind = ObjectKind {
    name: "a path",
    supported_keywords: &["get", "put", "post", "delete", "patch", "summary", "description", "parameters"],
    unsupported_keywords: &[
        ("$ref", "write the operations inline"),
        ("servers", USE_TOP_LEVEL_SERVERS),
        ("head", "remove it: each GET operation supports HEAD"),
        ("options", "remove it: the server handles OPTIONS"),
        ("trace", UNSUPPORTED),
    ],
};
/// A webhook.
pub(crate) const WEBHOOK: ObjectKind = ObjectKind {
    name: "a webhook",
    supported_keywords: &["post", "summary", "description", "parameters"],
    unsupported_keywords: &[
        ("$ref", "write the operation inline"),
        ("servers", USE_TOP_LEVEL_SERVERS),
        ("get", USE_POST),
        ("put", USE_POST),
        ("delete", USE_POST),
        ("patch", USE_POST),
        ("head", USE_POST),
        ("options", USE_POST),
        ("trace", USE_POST),
    ],
};
/// An operation.
pub(crate) const OPERATION: ObjectKind = ObjectKind {
    name: "an operation",
    supported_keywords: &[
        "operationId",
        "tags",
        "summary",
        "description",
        "externalDocs",
        "security",
        "parameters",
        "requestBody",
        "responses",
        "deprecated",
        "x-deprecated-at",
        "x-sunset",
        "x-removed-at-sunset",
        "x-brownouts",
        "x-replaced-by",
    ],
    unsupported_keywords: &[
        ("callbacks", "describe the events that the server sends in `webhooks`"),
        ("servers", USE_TOP_LEVEL_SERVERS),
    ],
};
/// A parameter.
pub(crate) const PARAMETER: ObjectKind = ObjectKind {
    name: "a parameter",
    supported_keywords: &[
        "name",
        "in",
        "description",
        "required",
        "deprecated",
        "x-deprecated-at",
        "x-sunset",
        "x-replaced-by",
        "style",
        "explode",
        "schema",
        "example",
        "examples",
    ],
    unsupported_keywords: &[
        ("allowReserved", UNSUPPORTED),
        ("allowEmptyValue", "remove it: the server rejects empty values"),
        ("content", "use `schema`"),
    ],
};
/// A response header.
pub(crate) const HEADER: ObjectKind = ObjectKind {
    name: "a header",
    supported_keywords: &[
        "description",
        "required",
        "deprecated",
        "x-deprecated-at",
        "x-sunset",
        "x-replaced-by",
        "schema",
        "example",
        "examples",
    ],
    unsupported_keywords: &[
        ("style", "remove it: scalars have only one serialization"),
        ("explode", "remove it: scalars have only one serialization"),
        ("content", "use `schema`"),
    ],
};
/// A request body.
pub(crate) const REQUEST_BODY: ObjectKind = ObjectKind {
    name: "a request body",
    supported_keywords: &["description", "required", "content"],
    unsupported_keywords: &[],
};
/// A media type object.
pub(crate) const MEDIA_TYPE: ObjectKind = ObjectKind {
    name: "a media type",
    supported_keywords: &["schema", "example", "examples"],
    unsupported_keywords: &[("encoding", "use `application/json`, which does not need it")],
};
/// An entry of `examples`.
pub(crate) const EXAMPLE: ObjectKind = ObjectKind {
    name: "an example",
    supported_keywords: &["summary", "description", "value"],
    unsupported_keywords: &[("externalValue", "write the value inline, so that it can be validated")],
};
/// A response.
pub(crate) const RESPONSE: ObjectKind = ObjectKind {
    name: "a response",
    supported_keywords: &["description", "headers", "content"],
    unsupported_keywords: &[("links", UNSUPPORTED)],
};
/// A security scheme.
pub(crate) const SECURITY_SCHEME: ObjectKind = ObjectKind {
    name: "a security scheme",
    supported_keywords: &["type", "description", "scheme", "bearerFormat", "name", "in"],
    unsupported_keywords: &[("flows", USE_KEYS), ("openIdConnectUrl", USE_KEYS)],
};
/// An entry of `x-deprecated-values`.
pub(crate) const DEPRECATED_VALUE: ObjectKind = ObjectKind {
    name: "a deprecated value",
    supported_keywords: &["x-deprecated-at", "x-sunset", "x-replaced-by"],
    unsupported_keywords: &[],
};
/// A schema.
pub(crate) const SCHEMA: ObjectKind = ObjectKind {
    name: "a schema",
    supported_keywords: &[
        "$ref",
        "type",
        "title",
        "description",
        "deprecated",
        "x-deprecated-at",
        "x-sunset",
        "x-replaced-by",
        "readOnly",
        "default",
        "example",
        "examples",
        "enum",
        "const",
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "properties",
        "required",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "oneOf",
        "anyOf",
        "allOf",
        "discriminator",
        "x-extensible-enum",
        "x-deprecated-values",
    ],
    unsupported_keywords: &[
        ("not", USE_COMPOSITION),
        ("if", USE_COMPOSITION),
        ("then", USE_COMPOSITION),
        ("else", USE_COMPOSITION),
        ("dependentRequired", USE_COMPOSITION),
        ("dependentSchemas", USE_COMPOSITION),
        ("prefixItems", "use `items` with one schema"),
        ("contains", "use `items` with one schema"),
        ("minContains", "use `items` with one schema"),
        ("maxContains", "use `items` with one schema"),
        ("unevaluatedItems", "use `items` with one schema"),
        ("patternProperties", USE_ADDITIONAL_PROPERTIES),
        ("writeOnly", "use a separate schema for requests"),
        ("nullable", "write `type: [string, 'null']`: `nullable` is an OpenAPI 3.0 keyword"),
        ("xml", UNSUPPORTED),
        ("externalDocs", "move the link to the description"),
        ("contentMediaType", UNSUPPORTED),
        ("contentEncoding", "use `format: byte` for base64"),
        ("contentSchema", UNSUPPORTED),
        ("$id", UNSUPPORTED),
        ("$schema", "remove it: the dialect of OpenAPI 3.1 is the default"),
        ("$anchor", UNSUPPORTED),
        ("$dynamicRef", "use `$ref`"),
        ("$dynamicAnchor", UNSUPPORTED),
        ("$vocabulary", UNSUPPORTED),
        ("$comment", "use a YAML comment"),
        ("$defs", "move the schema to `components.schemas`"),
    ],
};

/// A discriminator of a union.
pub(crate) const DISCRIMINATOR: ObjectKind = ObjectKind {
    name: "a discriminator",
    supported_keywords: &["propertyName", "mapping"],
    unsupported_keywords: &[],
};

/// Reports every key of a mapping that is not a supported keyword.
pub(crate) fn check(node: &Node, kind: &ObjectKind, diagnostics: &mut Vec<Diagnostic>) {
    for entry in node.entries().unwrap_or_default() {
        let key = &*entry.key;
        if kind.supports(key) {
            continue;
        }
        let unsupported_keyword = kind.unsupported_keywords.iter().find(|(name, _)| *name == key);
        let diagnostic = match unsupported_keyword {
            Some((_, help)) => {
                unsupported(entry.key.span, format!("`{key}` in {} is not supported", kind.name), help)
            }
            None if key.starts_with("x-") => unsupported(
                entry.key.span,
                format!("the extension `{key}` in {} is not supported", kind.name),
                "remove it: no tool reads it",
            ),
            None => Diagnostic::error(
                Code::UnknownKeyword,
                entry.key.span,
                format!("unknown keyword `{key}` in {}", kind.name),
                help(key, kind),
            ),
        };
        diagnostics.push(diagnostic);
    }
}

fn unsupported(span: super::source::Span, message: String, help: &str) -> Diagnostic {
    Diagnostic::error(Code::UnsupportedKeyword, span, message, help)
}

fn help(key: &str, kind: &ObjectKind) -> String {
    const MAX_LISTED: usize = 12;
    match nearest(key, kind.supported_keywords) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None if kind.supported_keywords.len() <= MAX_LISTED => {
            format!("supported keywords: {}", list(kind.supported_keywords))
        }
        None => "remove it, or correct the name".into(),
    }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the keyword with the smallest edit distance from `word`, ignoring case, if the distance is at most 2.
fn nearest<'a>(word: &str, keywords: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let (distance, keyword) =
        keywords.iter().map(|keyword| (distance(&word, &keyword.to_lowercase()), *keyword)).min()?;
    (distance <= 2).then_some(keyword)
}

/// Returns the Levenshtein distance between two strings.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
