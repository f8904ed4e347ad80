//! The form of an error: the seed's envelope, with the fields that the contract adds.
//!
//! Gives each fault its place in the request, and sums them up in one sentence. Never shows the cause of a 500: that
//! goes to the log, under the request's id.

use std::borrow::Cow;

use bytes::Bytes;
use poem::{Body, Response};
use serde::Serialize;
use serde::ser::SerializeStruct;

use super::call::Call;
use super::error::ApiError;
use contract_runtime::answer::Parts;
use contract_runtime::contract::JSON;
use contract_runtime::contract::Operation;
use contract_runtime::validate::{Fault, Faults, Part, UNKNOWN_PARAMETER};

impl ApiError {
    /// Gives the domain's faults their place in a request of this operation, and logs the cause of a 500.
    fn settle(&mut self, operation: Option<&Operation>, request_id: &str) {
        if let Some(cause) = self.cause.take() {
            tracing::error!(request.id = request_id, error = %format!("{cause:#}"), "the request failed");
        }
        if !self.unplaced.is_empty() {
            let unplaced = std::mem::take(&mut self.unplaced);
            self.details = unplaced.into_iter().map(|fault| place(fault, operation)).collect();
            self.message = match self.details.as_slice() {
                [one] if !goes_on(&one.message) => sentence(&one.message).into(),
                _ => summary(&self.details),
            };
        }
    }

    /// The envelope's bytes.
    fn body(&self, request_id: &str, public_url: &str) -> Bytes {
        let envelope = Envelope { error: Shown { error: self, request_id, public_url } };
        serde_json::to_vec(&envelope).unwrap_or_default().into()
    }

    /// The response, outside of any operation's own answers.
    pub fn into_response(mut self, request_id: &str, public_url: &str) -> Response {
        self.settle(None, request_id);
        let mut response = Response::builder()
            .status(self.status)
            .content_type(JSON)
            .body(Body::from_bytes(self.body(request_id, public_url)));
        if let Some((name, value)) = self.header.take() {
            response.headers_mut().insert(name, value);
        }
        response
    }

    /// The response to a call, taken apart.
    pub fn into_parts(mut self, call: &Call) -> Parts {
        self.settle(Some(call.operation), &call.request_id);
        Parts {
            status: self.status.as_u16(),
            headers: Vec::new(),
            body: Some(self.body(&call.request_id, &call.front.settings.public_url)),
        }
    }
}

/// The message above the details.
pub(super) fn summary(faults: &Faults) -> Cow<'static, str> {
    let one = match faults.as_slice() {
        [one] => one,
        many if many.iter().all(|fault| fault.place == Part::Body) => {
            return format!("The body has {} faults.", many.len()).into();
        }
        many => return format!("The request has {} faults.", many.len()).into(),
    };
    match (one.place, one.field.as_str()) {
        (Part::Query, field) if one.message == UNKNOWN_PARAMETER => {
            format!("There is no parameter `{field}`.").into()
        }
        (Part::Body, "") => format!("The body {}.", one.message).into(),
        (_, field) => format!("`{field}` {}.", one.message).into(),
    }
}

/// Whether a message is the end of a sentence that begins with its field.
fn goes_on(message: &str) -> bool {
    ["must ", "is ", "are ", "has ", "holds ", "names ", "does ", "was ", "lies "]
        .iter()
        .any(|verb| message.starts_with(verb))
}

/// A message as a sentence of its own.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

/// A fault of the domain where the request has its field: a parameter of that name, or else the body.
fn place(fault: domain::Fault, operation: Option<&Operation>) -> Fault {
    let parameter = operation
        .and_then(|operation| operation.parameters.iter().find(|parameter| parameter.name == fault.field));
    match parameter {
        Some(parameter) => {
            Fault { place: parameter.place.into(), field: fault.field, message: fault.message }
        }
        None => Fault { place: Part::Body, field: format!("/{}", fault.field), message: fault.message },
    }
}

#[derive(Serialize)]
struct Envelope<'a> {
    error: Shown<'a>,
}

/// An error as the envelope shows it.
struct Shown<'a> {
    error: &'a ApiError,
    request_id: &'a str,
    public_url: &'a str,
}

impl Serialize for Shown<'_> {
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
            let details: Vec<Detail<'_>> = self.error.details.iter().map(Detail::from).collect();
            fields.serialize_field("details", &details)?;
        }
        fields.end()
    }
}

/// A fault as the envelope shows it.
#[derive(Serialize)]
struct Detail<'a> {
    r#in: &'static str,
    field: &'a str,
    message: &'a str,
}

impl<'a> From<&'a Fault> for Detail<'a> {
    fn from(fault: &'a Fault) -> Self {
        let part = match fault.place {
            Part::Body => "body",
            Part::Query => "query",
            Part::Path => "path",
            Part::Header => "header",
            Part::Cookie => "cookie",
        };
        Self { r#in: part, field: &fault.field, message: &fault.message }
    }
}
