//! Which keywords may stand where.
//!
//! Owns the profile of OpenAPI 3.1 that the generator understands, and the list of those it knows of and refuses, so that
//! nothing is dropped in silence. It never reads what stands under a keyword.

use super::node::Node;
use crate::diagnostic::{Code, Diagnostic};

/// A kind of object of OpenAPI, with its keywords.
pub(crate) struct Kind {
    /// Its name, with an article, for messages.
    pub name: &'static str,
    /// What is generated, or carried over into the served documents.
    supported: &'static [&'static str],
    /// What OpenAPI 3.1 allows here and the generator refuses, with what to do instead.
    refused: &'static [(&'static str, &'static str)],
}

const NO_USE: &str = "leave it out; nothing in the profile needs it";
/// Why schemes that hand out tokens are refused.
pub(crate) const NO_TOKENS: &str = "the server knows keys and hands out no tokens: use `http` or `apiKey`";
const ONE_SERVER: &str = "name the servers once, at the top of the document";
const SPLIT: &str =
    "say what a value is with `properties`, `allOf` of objects, or `oneOf` of shapes that can be told apart";
const BY_POST: &str = "write `post`: events are sent by POST alone";
const CLOSED: &str = "use `additionalProperties` with one schema, or `false`";

/// The whole document.
pub(crate) const DOCUMENT: Kind = Kind {
    name: "the document",
    supported: &["openapi", "info", "servers", "tags", "paths", "webhooks", "components", "externalDocs"],
    refused: &[
        ("security", "name the scheme and the scope at each operation"),
        ("jsonSchemaDialect", "leave it out: the dialect is that of OpenAPI 3.1"),
    ],
};
/// `info`.
pub(crate) const INFO: Kind = Kind {
    name: "`info`",
    supported: &["title", "version", "summary", "description", "termsOfService", "contact", "license"],
    refused: &[],
};
/// `info.contact`.
pub(crate) const CONTACT: Kind =
    Kind { name: "a contact", supported: &["name", "url", "email"], refused: &[] };
/// `info.license`.
pub(crate) const LICENSE: Kind =
    Kind { name: "a licence", supported: &["name", "identifier", "url"], refused: &[] };
/// A server.
pub(crate) const SERVER: Kind = Kind {
    name: "a server",
    supported: &["url", "description"],
    refused: &[("variables", "write the whole URL")],
};
/// A tag.
pub(crate) const TAG: Kind =
    Kind { name: "a tag", supported: &["name", "description", "externalDocs"], refused: &[] };
/// A link to a document elsewhere.
pub(crate) const EXTERNAL_DOCS: Kind =
    Kind { name: "external documentation", supported: &["url", "description"], refused: &[] };
/// `components`.
pub(crate) const COMPONENTS: Kind = Kind {
    name: "`components`",
    supported: &[
        "schemas",
        "parameters",
        "headers",
        "responses",
        "requestBodies",
        "examples",
        "securitySchemes",
    ],
    refused: &[
        ("links", NO_USE),
        ("callbacks", "describe what the server sends under `webhooks`"),
        ("pathItems", "write the operation under `paths`"),
    ],
};
/// A path.
pub(crate) const PATH_ITEM: Kind = Kind {
    name: "a path",
    supported: &["get", "put", "post", "delete", "patch", "summary", "description", "parameters"],
    refused: &[
        ("$ref", "write the operations here"),
        ("servers", ONE_SERVER),
        ("head", "leave it out: HEAD works wherever GET does"),
        ("options", "leave it out: the server answers OPTIONS by itself"),
        ("trace", NO_USE),
    ],
};
/// A webhook.
pub(crate) const WEBHOOK: Kind = Kind {
    name: "a webhook",
    supported: &["post", "summary", "description", "parameters"],
    refused: &[
        ("$ref", "write the operation here"),
        ("servers", ONE_SERVER),
        ("get", BY_POST),
        ("put", BY_POST),
        ("delete", BY_POST),
        ("patch", BY_POST),
        ("head", BY_POST),
        ("options", BY_POST),
        ("trace", BY_POST),
    ],
};
/// An operation.
pub(crate) const OPERATION: Kind = Kind {
    name: "an operation",
    supported: &[
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
        "x-sunset",
    ],
    refused: &[("callbacks", "describe what the server sends under `webhooks`"), ("servers", ONE_SERVER)],
};
/// A parameter.
pub(crate) const PARAMETER: Kind = Kind {
    name: "a parameter",
    supported: &[
        "name",
        "in",
        "description",
        "required",
        "deprecated",
        "x-sunset",
        "style",
        "explode",
        "schema",
        "example",
        "examples",
    ],
    refused: &[
        ("allowReserved", NO_USE),
        ("allowEmptyValue", "give the parameter a schema that takes what is meant"),
        ("content", "use `schema`"),
    ],
};
/// A response header.
pub(crate) const HEADER: Kind = Kind {
    name: "a header",
    supported: &["description", "required", "deprecated", "x-sunset", "schema", "example", "examples"],
    refused: &[
        ("style", "leave it out: scalars have one form only"),
        ("explode", "leave it out: scalars have one form only"),
        ("content", "use `schema`"),
    ],
};
/// A request body.
pub(crate) const REQUEST_BODY: Kind =
    Kind { name: "a request body", supported: &["description", "required", "content"], refused: &[] };
/// What stands under a media type.
pub(crate) const MEDIA_TYPE: Kind = Kind {
    name: "a media type",
    supported: &["schema", "example", "examples"],
    refused: &[("encoding", "use `application/json`, which needs none")],
};
/// One of several examples.
pub(crate) const EXAMPLE: Kind = Kind {
    name: "an example",
    supported: &["summary", "description", "value"],
    refused: &[("externalValue", "write the value here, so that it can be checked")],
};
/// A response.
pub(crate) const RESPONSE: Kind = Kind {
    name: "a response",
    supported: &["description", "headers", "content"],
    refused: &[("links", NO_USE)],
};
/// A security scheme.
pub(crate) const SECURITY_SCHEME: Kind = Kind {
    name: "a security scheme",
    supported: &["type", "description", "scheme", "bearerFormat", "name", "in"],
    refused: &[("flows", NO_TOKENS), ("openIdConnectUrl", NO_TOKENS)],
};
/// A schema.
pub(crate) const SCHEMA: Kind = Kind {
    name: "a schema",
    supported: &[
        "$ref",
        "type",
        "title",
        "description",
        "deprecated",
        "x-sunset",
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
    ],
    refused: &[
        ("not", SPLIT),
        ("if", SPLIT),
        ("then", SPLIT),
        ("else", SPLIT),
        ("dependentRequired", SPLIT),
        ("dependentSchemas", SPLIT),
        ("prefixItems", "use `items` with one schema"),
        ("contains", "use `items` with one schema"),
        ("minContains", "use `items` with one schema"),
        ("maxContains", "use `items` with one schema"),
        ("unevaluatedItems", "use `items` with one schema"),
        ("patternProperties", CLOSED),
        ("writeOnly", "give requests a schema of their own"),
        ("nullable", "that is OpenAPI 3.0; write `type: [string, 'null']`"),
        ("xml", NO_USE),
        ("externalDocs", "write the link into the description"),
        ("contentMediaType", NO_USE),
        ("contentEncoding", "write `format: byte` for base64"),
        ("contentSchema", NO_USE),
        ("$id", NO_USE),
        ("$schema", "leave it out: the dialect is that of OpenAPI 3.1"),
        ("$anchor", NO_USE),
        ("$dynamicRef", "use `$ref`"),
        ("$dynamicAnchor", NO_USE),
        ("$vocabulary", NO_USE),
        ("$comment", "use a comment of YAML"),
        ("$defs", "name the schema under `components.schemas`"),
    ],
};

/// What tells the members of a union apart.
pub(crate) const DISCRIMINATOR: Kind =
    Kind { name: "a discriminator", supported: &["propertyName", "mapping"], refused: &[] };

/// Reports every key of a mapping that may not stand there.
pub(crate) fn check(node: &Node, kind: &Kind, findings: &mut Vec<Diagnostic>) {
    for entry in node.entries().unwrap_or_default() {
        let key = &*entry.key;
        if kind.supported.contains(&key) {
            continue;
        }
        let refused = kind.refused.iter().find(|(name, _)| *name == key);
        let finding = match refused {
            Some((_, help)) => {
                unsupported(entry.key.span, format!("`{key}` of {} is not supported", kind.name), help)
            }
            None if key.starts_with("x-") => unsupported(
                entry.key.span,
                format!("the extension `{key}` of {} is not supported", kind.name),
                "leave it out: an extension that nothing reads says nothing",
            ),
            None => Diagnostic::error(
                Code::UnknownKeyword,
                entry.key.span,
                format!("{} has no keyword `{key}`", kind.name),
                help(key, kind),
            ),
        };
        findings.push(finding);
    }
}

fn unsupported(span: super::source::Span, message: String, help: &str) -> Diagnostic {
    Diagnostic::error(Code::UnsupportedKeyword, span, message, help)
}

fn help(key: &str, kind: &Kind) -> String {
    const FEW: usize = 12;
    match nearest(key, kind.supported) {
        Some(near) => format!("did you mean `{near}`?"),
        None if kind.supported.len() <= FEW => format!("it takes {}", listed(kind.supported)),
        None => "leave it out: what nothing understands is refused, not dropped in silence".into(),
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The known word that is fewest edits away, when they are few.
fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let near =
        known.iter().map(|name| (distance(&word.to_lowercase(), &name.to_lowercase()), *name)).min()?;
    (near.0 <= 2).then_some(near.1)
}

/// The number of characters to insert, delete or replace between two words.
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
