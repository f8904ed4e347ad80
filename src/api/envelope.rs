//! Serializes errors as the error envelope of the contract.
//!
//! Assigns each field error to a part of the request and summarizes all of them in one sentence. The cause of a 500 is
//! never part of the response; it is logged with the request id.

use std::borrow::Cow;

use bytes::Bytes;
use poem::{Body, Response};
use serde::Serialize;
use serde::ser::SerializeStruct;

use super::call::Call;
use super::error::ApiError;
use contract_runtime::contract::JSON;
use contract_runtime::contract::Operation;
use contract_runtime::response::ResponseParts;
use contract_runtime::validate::{RequestPart, UNKNOWN_PARAMETER, Violation, Violations};

impl ApiError {
    /// Logs the cause of a 500, and converts the domain's field errors into details of the response. Without an
    /// operation, every field error is assigned to the body.
    fn prepare_response(&mut self, operation: Option<&Operation>, request_id: &str) {
        if let Some(cause) = self.cause.take() {
            tracing::error!(request.id = request_id, error = %format!("{cause:#}"), "the request failed");
        }
        if !self.field_errors.is_empty() {
            let field_errors = std::mem::take(&mut self.field_errors);
            self.details = field_errors.into_iter().map(|error| violation(error, operation)).collect();
            self.message = match self.details.as_slice() {
                [violation] if !is_predicate(&violation.message) => to_sentence(&violation.message).into(),
                _ => summary(&self.details),
            };
        }
    }

    /// Serializes the envelope.
    fn body(&self, request_id: &str, public_url: &str) -> Bytes {
        let envelope = ErrorEnvelope { error: ErrorBody { error: self, request_id, public_url } };
        serde_json::to_vec(&envelope).unwrap_or_default().into()
    }

    /// Converts an error that did not come from an operation into a response, with the error's additional header.
    pub fn into_response(mut self, request_id: &str, public_url: &str) -> Response {
        self.prepare_response(None, request_id);
        let mut response = Response::builder()
            .status(self.status)
            .content_type(JSON)
            .body(Body::from_bytes(self.body(request_id, public_url)));
        if let Some((name, value)) = self.header.take() {
            response.headers_mut().insert(name, value);
        }
        response
    }

    /// Converts the error of an operation of v1 into the parts of the response.
    pub fn into_parts(self, call: &Call) -> ResponseParts {
        if let Some(seconds) = self.retry_after {
            call.set_retry_after(seconds);
        }
        self.into_parts_of(call.operation, &call.request_id, &call.state.settings.public_url)
    }

    /// Converts an operation's error into the parts of the response. The error's additional header is left out, except
    /// for `Retry-After`.
    pub(crate) fn into_parts_of(
        mut self,
        operation: &Operation,
        request_id: &str,
        public_url: &str,
    ) -> ResponseParts {
        self.prepare_response(Some(operation), request_id);
        let body = self.body(request_id, public_url);
        let retry_after = self.retry_after.map(|seconds| ("Retry-After", seconds.to_string()));
        let headers = retry_after.into_iter().collect();
        ResponseParts { status: self.status.as_u16(), headers, body: Some(body) }
    }
}

/// Returns a sentence for all violations: the violation itself if there is exactly one, otherwise their number.
pub(super) fn summary(violations: &Violations) -> Cow<'static, str> {
    let [violation] = violations.as_slice() else {
        let all_in_body = violations.iter().all(|violation| violation.part == RequestPart::Body);
        let location = if all_in_body { "body" } else { "request" };
        return format!("The {location} has {} errors.", violations.len()).into();
    };
    match (violation.part, violation.field.as_str()) {
        (RequestPart::Query, field) if violation.message == UNKNOWN_PARAMETER => {
            format!("Unknown parameter `{field}`.").into()
        }
        (RequestPart::Body, "") => format!("The body {}.", violation.message).into(),
        (_, field) => format!("`{field}` {}.", violation.message).into(),
    }
}

/// Returns whether a message is a predicate, that is, the end of a sentence that begins with the field's name.
fn is_predicate(message: &str) -> bool {
    ["must ", "is ", "are ", "has ", "holds ", "contains ", "names ", "does ", "was ", "lies "]
        .iter()
        .any(|verb| message.starts_with(verb))
}

/// Capitalizes the first letter of a message and adds a period.
fn to_sentence(message: &str) -> String {
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

/// Converts a field error of the domain into a violation. Assigns it to the operation's parameter with the name of the
/// field or, if there is no such parameter, to the body.
fn violation(error: domain::FieldError, operation: Option<&Operation>) -> Violation {
    let parameter = operation
        .and_then(|operation| operation.parameters.iter().find(|parameter| parameter.name == error.field));
    match parameter {
        Some(parameter) => {
            Violation { part: parameter.location.into(), field: error.field, message: error.message }
        }
        None => {
            Violation { part: RequestPart::Body, field: format!("/{}", error.field), message: error.message }
        }
    }
}

#[derive(Serialize)]
struct ErrorEnvelope<'a> {
    error: ErrorBody<'a>,
}

/// The `error` object of the envelope.
struct ErrorBody<'a> {
    error: &'a ApiError,
    request_id: &'a str,
    public_url: &'a str,
}

impl Serialize for ErrorBody<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let code = self.error.code.as_str();
        let mut fields = serializer.serialize_struct("Error", 6)?;
        fields.serialize_field("code", code)?;
        fields.serialize_field("message", &self.error.message)?;
        if let Some(seconds) = self.error.retry_after {
            fields.serialize_field("retryAfterSeconds", &seconds)?;
        }
        fields.serialize_field("request_id", self.request_id)?;
        fields.serialize_field("doc_url", &format_args!("{}/docs/errors#{code}", self.public_url))?;
        if !self.error.details.is_empty() {
            let details: Vec<ErrorDetail<'_>> = self.error.details.iter().map(ErrorDetail::from).collect();
            fields.serialize_field("details", &details)?;
        }
        fields.end()
    }
}

/// An item of `details`.
#[derive(Serialize)]
struct ErrorDetail<'a> {
    r#in: &'static str,
    field: &'a str,
    message: &'a str,
}

impl<'a> From<&'a Violation> for ErrorDetail<'a> {
    fn from(violation: &'a Violation) -> Self {
        let part = match violation.part {
            RequestPart::Body => "body",
            RequestPart::Query => "query",
            RequestPart::Path => "path",
            RequestPart::Header => "header",
            RequestPart::Cookie => "cookie",
        };
        Self { r#in: part, field: &violation.field, message: &violation.message }
    }
}
