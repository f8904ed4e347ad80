//! That the parts of a document are what OpenAPI says they are: a list where a list stands, a type that is one.
//!
//! What has another shape would be read as absent, and a promise that is not read cannot be broken. Keywords that are not
//! named here are compared as they stand. It never follows a reference: what is shared is looked at where it is written.

use super::schema::types::Types;
use crate::contract::node::{Entry, Node, Value};
use crate::contract::source::Span;
use crate::diagnostic::{Code, Diagnostic};

/// What a part of a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
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
}

/// What must stand under a keyword.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// A part.
    One(Part),
    /// A list of parts.
    List(Part),
    /// Parts by names that someone chose.
    Named(Part),
    Text,
    Flag,
    Number,
    /// A list of strings.
    Words,
    /// A list of whatever.
    Values,
    /// The name of a JSON type, or a list of names.
    Type,
}

use Shape::{Flag, List, Named, Number, One, Text, Type, Values, Words};

/// Keywords with what must stand under them.
type Keywords = &'static [(&'static str, Shape)];

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
    ("responses", Named(Part::Response)),
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
const FLOW: Keywords = &[("authorizationUrl", Text), ("tokenUrl", Text), ("refreshUrl", Text)];
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
    ("enum", Values),
    ("format", Text),
    ("pattern", Text),
    ("minimum", Number),
    ("maximum", Number),
    ("multipleOf", Number),
    ("minLength", Number),
    ("maxLength", Number),
    ("minItems", Number),
    ("maxItems", Number),
    ("minProperties", Number),
    ("maxProperties", Number),
    ("uniqueItems", Flag),
    ("nullable", Flag),
    ("readOnly", Flag),
    ("writeOnly", Flag),
    ("deprecated", Flag),
];

impl Part {
    const fn keywords(self) -> Keywords {
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
            Self::Info | Self::Paths | Self::Callback | Self::Link | Self::Requirement => &[],
        }
    }

    /// What stands under every key, where the keys are no keywords.
    const fn each(self) -> Option<Shape> {
        match self {
            Self::Paths | Self::Callback => Some(One(Self::Item)),
            Self::Requirement => Some(Words),
            _ => None,
        }
    }

    /// Keywords without which the part cannot be told from others.
    const fn needed(self) -> &'static [&'static str] {
        match self {
            Self::Parameter => &["name", "in"],
            Self::Server => &["url"],
            _ => &[],
        }
    }
}

/// Reports everything that is not what must stand at its place.
pub fn check(root: &Node, findings: &mut Vec<Diagnostic>) {
    let mut check = Check { findings };
    check.part(root, root.span, Part::Document);
    let top = Span { start: root.span.start, end: root.span.start };
    if !["paths", "webhooks", "components"].iter().any(|keyword| root.get(keyword).is_some()) {
        check.findings.push(Diagnostic::error(
            Code::MissingKeyword,
            top,
            "the document promises nothing: it has neither `paths` nor `webhooks` nor `components`",
            "name the whole contract; one without operations yet says `paths: {}`",
        ));
    }
}

struct Check<'a> {
    findings: &'a mut Vec<Diagnostic>,
}

impl Check<'_> {
    fn part(&mut self, node: &Node, at: Span, part: Part) {
        let Some(entries) = node.entries() else {
            if part != Part::Schema || !matches!(node.value, Value::Bool(_)) {
                let wanted = if part == Part::Schema { "a mapping or a boolean" } else { "a mapping" };
                self.wrong(node, at, wanted);
            }
            return;
        };
        if let Some(reference) = node.entry("$ref") {
            self.shape(reference, Text);
        } else {
            self.needed(node, at, part);
        }
        let keywords = part.keywords();
        for entry in entries {
            let key = entry.key.text.as_str();
            if key.starts_with("x-") || key == "$ref" {
                continue;
            }
            if part == Part::Paths && !key.starts_with('/') {
                self.findings.push(Diagnostic::error(
                    Code::UnknownKeyword,
                    entry.key.span,
                    format!("`{key}` is no path: a path begins with `/`"),
                    format!("write `/{key}`, or `x-{key}` when it is no path"),
                ));
            }
            let known = keywords.iter().find(|(keyword, _)| *keyword == key).map(|(_, shape)| *shape);
            if let Some(shape) = known.or(part.each()) {
                self.shape(entry, shape);
            }
        }
    }

    fn needed(&mut self, node: &Node, at: Span, part: Part) {
        for keyword in part.needed().iter().filter(|keyword| node.get(keyword).is_none()) {
            let what = format!("{part:?}").to_lowercase();
            self.findings.push(Diagnostic::error(
                Code::MissingKeyword,
                at,
                format!("a {what} without `{keyword}` cannot be told from others"),
                format!("add `{keyword}`"),
            ));
        }
    }

    fn shape(&mut self, entry: &Entry, shape: Shape) {
        let (node, at) = (&entry.value, entry.key.span);
        match shape {
            One(part) => self.part(node, at, part),
            List(part) => match node.items() {
                Some(items) => items.iter().for_each(|item| self.part(item, item.span, part)),
                None => self.wrong(node, at, "a list"),
            },
            Named(part) => self.named(node, at, part),
            Words => match node.items() {
                Some(items) => items.iter().filter(|item| item.as_str().is_none()).for_each(|item| {
                    self.wrong(item, item.span, "a string");
                }),
                None => self.wrong(node, at, "a list of strings"),
            },
            Type => match node.items() {
                Some(items) => items.iter().for_each(|item| self.word(item, item.span)),
                None => self.word(node, at),
            },
            Values if node.items().is_none() => self.wrong(node, at, "a list"),
            Text if node.as_str().is_none() => self.wrong(node, at, "a string"),
            Flag if !matches!(node.value, Value::Bool(_)) => self.wrong(node, at, "a boolean"),
            Number if !matches!(node.value, Value::Integer(_) | Value::Float(_)) => {
                self.wrong(node, at, "a number");
            }
            Values | Text | Flag | Number => {}
        }
    }

    fn named(&mut self, node: &Node, at: Span, part: Part) {
        let Some(entries) = node.entries() else {
            self.wrong(node, at, "a mapping");
            return;
        };
        // Only among responses an extension may stand; a header or a property may well be called so.
        let extension = |entry: &&Entry| part == Part::Response && entry.key.text.starts_with("x-");
        for entry in entries.iter().filter(|entry| !extension(entry)) {
            self.part(&entry.value, entry.key.span, part);
        }
    }

    fn word(&mut self, node: &Node, at: Span) {
        match node.as_str() {
            Some(word) if Types::is_word(word) => {}
            Some(word) => self.findings.push(Diagnostic::error(
                Code::WrongType,
                place(node, at),
                format!("`{word}` is no type"),
                "write string, number, integer, boolean, array, object or 'null'",
            )),
            None if matches!(node.value, Value::Null) => self.findings.push(Diagnostic::error(
                Code::WrongType,
                place(node, at),
                "the name of a type must stand here, this is null",
                "write 'null' in quotes when null is meant",
            )),
            None => self.wrong(node, at, "the name of a type"),
        }
    }

    fn wrong(&mut self, node: &Node, at: Span, wanted: &str) {
        self.findings.push(Diagnostic::error(
            Code::WrongType,
            place(node, at),
            format!("{wanted} must stand here, this is {}", node.value.kind()),
            "what has another shape would be read as absent, and its changes not be seen",
        ));
    }
}

/// Where a value stands; one that takes no room, where it is named.
fn place(node: &Node, at: Span) -> Span {
    if node.span.end > node.span.start { node.span } else { at }
}
