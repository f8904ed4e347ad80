//! Validates bodies, and the lines of bodies.

use std::collections::BTreeMap;
use std::sync::Arc;

use jsonschema::Validator;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::message::{self, DescribePattern, Messages};
use super::schemas::{self, SchemaCompiler};
use super::{RequestPart, Violation, Violations};
use crate::contract::BodyFormat;
use crate::json::{self as strict_json, MAX_ERRORS};
use crate::payload::convert;
use crate::reference;

/// Validates bodies against a schema of a contract.
#[derive(Debug)]
pub struct BodyValidator {
    schema: BodySchema,
    messages: Arc<Messages>,
}

/// The compiled schema of a body.
#[derive(Debug)]
enum BodySchema {
    Single(Box<Validator>),
    /// The validators of the members of a union by the value of its discriminator. A body is validated against one member, which
    /// is faster than `oneOf`, and the violations are those of this member.
    Union {
        discriminator: String,
        members: BTreeMap<String, Validator>,
    },
}

impl BodyValidator {
    /// Compiles the schema at a JSON pointer of a contract's JSON.
    ///
    /// # Errors
    /// Returns an error when the document is not JSON, the pointer does not resolve or the schema cannot be compiled.
    pub fn new(document: &str, pointer: &str, describe_pattern: DescribePattern) -> anyhow::Result<Self> {
        let document = schemas::read_document(document)?;
        Self::compile(&SchemaCompiler::new(&document, describe_pattern)?, pointer)
    }

    /// Compiles the schema at a JSON pointer.
    pub(super) fn compile(compiler: &SchemaCompiler<'_>, pointer: &str) -> anyhow::Result<Self> {
        let document = compiler.document;
        let schema = document.pointer(pointer).and_then(|schema| reference::resolve(document, schema));
        let schema = match schema.and_then(|schema| union_members(schema.as_object()?)) {
            None => BodySchema::Single(Box::new(compiler.compile(pointer)?)),
            Some((discriminator, members)) => {
                let members =
                    members.map(|(value, pointer)| Ok((value.to_owned(), compiler.compile(pointer)?)));
                let members = members.collect::<anyhow::Result<_>>()?;
                BodySchema::Union { discriminator: discriminator.to_owned(), members }
            }
        };
        Ok(Self { schema, messages: Arc::clone(&compiler.messages) })
    }

    /// Parses a JSON body, validates it, and converts it to the type of its schema.
    ///
    /// # Errors
    /// Returns the violations, whose fields are JSON pointers into the body.
    pub fn read<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, Violations> {
        let value = self.parse(BodyFormat::Json, body)?;
        convert(value)
            .map_err(|error| vec![violation(String::new(), format!("cannot be converted: {error}"))])
    }

    /// Parses and validates a body in this format.
    pub(super) fn parse(&self, format: BodyFormat, body: &[u8]) -> Result<Value, Violations> {
        let value = parse(format, body).map_err(|errors| {
            errors.into_iter().map(|error| violation(error.pointer, error.message)).collect::<Violations>()
        })?;
        let validator = self.validator_of(&value).map_err(|violation| vec![violation])?;
        if validator.is_valid(&value) {
            return Ok(value);
        }
        let errors = validator.iter_errors(&value);
        let described = errors.flat_map(|error| self.messages.describe(&error)).take(MAX_ERRORS);
        Err(described.map(|(field, message)| violation(field, message)).collect())
    }

    /// Returns the validator for a body.
    pub(super) fn validator_of(&self, body: &Value) -> Result<&Validator, Violation> {
        let (discriminator, members) = match &self.schema {
            BodySchema::Single(validator) => return Ok(validator),
            BodySchema::Union { discriminator, members } => (discriminator, members),
        };
        let Some(fields) = body.as_object() else {
            return Err(violation(String::new(), "must be an object".to_owned()));
        };
        let value = fields.get(discriminator);
        value.and_then(Value::as_str).and_then(|value| members.get(value)).ok_or_else(|| {
            let message = match value {
                None => "is required".to_owned(),
                Some(_) => message::one_of(members.keys()),
            };
            violation(format!("/{}", strict_json::escape(discriminator)), message)
        })
    }
}

/// Returns the discriminator of a union, and the value and the JSON pointer of each member. Returns `None` if the schema is not a
/// union, or if another keyword also restricts its values.
fn union_members(schema: &Map<String, Value>) -> Option<(&str, impl Iterator<Item = (&str, &str)>)> {
    const KEYWORDS: [&str; 3] = ["oneOf", "discriminator", "description"];
    let discriminator = schema.get("discriminator")?;
    let mapping = discriminator.get("mapping")?.as_object()?;
    let is_union = schema.keys().all(|key| KEYWORDS.contains(&&**key));
    let members =
        mapping.iter().filter_map(|(value, target)| Some((&**value, target.as_str()?.strip_prefix('#')?)));
    let all_are_local = schema.get("oneOf")?.as_array()?.len() == members.clone().count();
    (is_union && all_are_local).then_some((discriminator.get("propertyName")?.as_str()?, members))
}

fn violation(field: String, message: String) -> Violation {
    Violation { part: RequestPart::Body, field, message }
}

/// Converts a body in this format to the JSON value that its schema describes.
pub(super) fn parse(format: BodyFormat, body: &[u8]) -> Result<Value, Vec<strict_json::SyntaxError>> {
    let error =
        |message: &str| strict_json::SyntaxError { pointer: String::new(), message: message.to_owned() };
    match format {
        BodyFormat::Text => {
            let text = std::str::from_utf8(body).map_err(|_| vec![error("is not valid UTF-8")])?;
            if text.contains('\0') {
                return Err(vec![error("must not contain the character NUL (U+0000)")]);
            }
            Ok(Value::String(text.to_owned()))
        }
        BodyFormat::Json | BodyFormat::Lines | BodyFormat::Bytes => strict_json::parse(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r##"{ "shape": {
        "oneOf": [{ "$ref": "#/circle" }, { "$ref": "#/square" }],
        "discriminator": { "propertyName": "kind", "mapping": { "circle": "#/circle", "square": "#/square" } }
    },
    "circle": {
        "type": "object", "required": ["kind", "radius"], "additionalProperties": false,
        "properties": { "kind": { "const": "circle" }, "radius": { "type": "integer" }, "label": { "$ref": "#/label" } }
    },
    "square": {
        "type": "object", "required": ["kind", "width"], "unevaluatedProperties": false,
        "properties": { "kind": { "const": "square" }, "width": { "type": "integer" } },
        "allOf": [{ "$ref": "#/named" }]
    },
    "named": { "properties": { "name": { "type": "string" } } },
    "label": { "oneOf": [
        { "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } },
        { "type": "null" }
    ] } }"##;

    fn errors(body: &str) -> Vec<String> {
        let validator = BodyValidator::new(DOCUMENT, "/shape", |_| None).unwrap();
        let violations = validator.parse(BodyFormat::Json, body.as_bytes()).err().unwrap_or_default();
        violations.into_iter().map(|violation| format!("{} {}", violation.field, violation.message)).collect()
    }

    #[test]
    fn a_member_of_a_union_is_validated_by_the_value_of_its_discriminator() {
        assert_eq!(errors(r#"{"kind": "circle", "radius": 1, "label": null}"#), [""; 0]);
        assert_eq!(errors(r#"{"kind": "square", "width": 1, "name": "a"}"#), [""; 0]);
        assert_eq!(errors(r#"{"kind": "circle", "radius": "1"}"#), ["/radius must be an integer"]);
        assert_eq!(errors(r#"{"kind": "square"}"#), ["/width is required"]);
        assert_eq!(errors("{}"), ["/kind is required"]);
        for unknown in [r#""oval""#, "7", "null"] {
            let body = format!(r#"{{"kind": {unknown}}}"#);
            assert_eq!(errors(&body), ["/kind must be one of `circle`, `square`"]);
        }
        assert_eq!(errors("[]"), [" must be an object"]);
    }

    #[test]
    fn the_similar_field_is_suggested_for_a_misspelled_one() {
        let circle = |field: &str| errors(&format!(r#"{{"kind": "circle", "radius": 1, "{field}": 1}}"#));
        assert_eq!(circle("raduis"), ["/raduis is not a field of this body; did you mean `radius`?"]);
        assert_eq!(circle("color"), ["/color is not a field of this body"]);
        let square = errors(r#"{"kind": "square", "width": 1, "nmae": "a"}"#);
        assert_eq!(square, ["/nmae is not a field of this body; did you mean `name`?"]);
    }

    #[test]
    fn the_errors_of_a_nullable_object_are_those_of_the_object() {
        let label = |label: &str| errors(&format!(r#"{{"kind": "circle", "radius": 1, "label": {label}}}"#));
        assert_eq!(label("{}"), ["/label/text is required"]);
        assert_eq!(label("7"), ["/label must be an object or null"]);
    }
}
