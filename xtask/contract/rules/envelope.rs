//! The error envelope: the bodies of error responses have the form that this server sends.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, ObjectShape, Operation, Response, Schema, Shape};

/// The property of the body that contains the error.
const ERROR: &str = "error";
/// The properties of every error, all strings.
const REQUIRED: [&str; 4] = ["code", "message", "request_id", "doc_url"];
/// The properties of some errors.
const OPTIONAL: [&str; 2] = ["retryAfterSeconds", "details"];

/// Reports an error response whose body is not the envelope. A shared response is reported once.
pub(super) fn check(
    document: &Document,
    operation: &Operation,
    response: &Response,
    schema: &Schema,
    diagnostics: &mut Vec<Diagnostic>,
) {
    // An invalid schema is already reported.
    if document.resolve(schema).is_none() {
        return;
    }
    let Err(problem) = check_body(document, schema) else { return };
    let is_reported =
        |reported: &Diagnostic| reported.code == Code::ErrorEnvelope && reported.span == schema.span;
    if diagnostics.iter().any(is_reported) {
        return;
    }
    let message = format!(
        "the {} response of `{}` does not have the error envelope of this server: {problem}",
        response.status, operation.id.text
    );
    let help = "require `error` with the strings `code`, `message`, `request_id` and `doc_url`, and allow `details` and \
                `retryAfterSeconds`; `codegen --profile open` accepts other error bodies";
    diagnostics.push(
        Diagnostic::error(Code::ErrorEnvelope, schema.span, message, help)
            .with_related(operation.id.span, "this operation"),
    );
}

/// Checks that the bodies that the server sends are valid, and that the schema describes them.
fn check_body(document: &Document, schema: &Schema) -> Result<(), String> {
    let body = object(document, schema, "the body")?;
    let error = require(document, body, ERROR)?;
    reject_others(document, body, &[ERROR])?;
    let error = object(document, error, "`error`")?;
    for name in REQUIRED {
        let schema = require(document, error, name)?;
        if !matches!(document.shape(schema), Some(Shape::String(_) | Shape::Enum(_))) {
            return Err(format!("`{name}` is not a string"));
        }
    }
    reject_others(document, error, &REQUIRED)?;
    for property in document.properties(error) {
        let is_valid = match (&*property.name.text, document.shape(&property.schema)) {
            ("retryAfterSeconds", shape) => matches!(shape, Some(Shape::Integer(_))),
            ("details", shape) => matches!(shape, Some(Shape::Array(_))),
            _ => true,
        };
        if !is_valid {
            return Err(format!("`{}` has another type", property.name.text));
        }
    }
    let is_declared =
        |name: &&str| document.properties(error).iter().any(|property| property.name.text == **name);
    match OPTIONAL.iter().find(|name| error.closed && !is_declared(name)) {
        Some(name) => Err(format!("`{name}` is not allowed")),
        None => Ok(()),
    }
}

/// Returns the shape of a schema that must be an object with properties.
fn object<'a>(document: &'a Document, schema: &'a Schema, subject: &str) -> Result<&'a ObjectShape, String> {
    match document.shape(schema) {
        Some(Shape::Object(object)) => Ok(object),
        _ => Err(format!("{subject} is not an object with properties")),
    }
}

/// Returns the schema of a property that must be required.
fn require<'a>(document: &'a Document, object: &'a ObjectShape, name: &str) -> Result<&'a Schema, String> {
    let mut properties = document.properties(object).into_iter();
    let property = properties.find(|property| property.name.text == name && property.required);
    property.map(|property| &property.schema).ok_or_else(|| format!("`{name}` is not required"))
}

/// Rejects a required property that the server does not send.
fn reject_others(document: &Document, object: &ObjectShape, sent: &[&str]) -> Result<(), String> {
    let mut properties = document.properties(object).into_iter();
    match properties.find(|property| property.required && !sent.contains(&&*property.name.text)) {
        Some(other) => Err(format!("the server does not send `{}`", other.name.text)),
        None => Ok(()),
    }
}
