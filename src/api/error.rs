//! Errors as the API tells them: one closed type, made HTTP last.
//!
//! Owns the six codes of the seed, the statuses they travel under and the envelope. Never shows the cause of a
//! 500, and never a secret.

use std::borrow::Cow;

use bytes::Bytes;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Body, Response};
use serde::Serialize;
use serde::ser::SerializeStruct;

use super::answer::{Answer, Parts};
use super::call::Call;
use super::contract::Operation;
use super::payload::JSON;
use super::validate::{Fault, Faults, Part, message};
use crate::domain;
use crate::domain::error::Missing;

/// The machine-readable codes (seed 7); there are no others in v1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// No valid key.
    Unauthorized,
    /// The key lacks the scope.
    Forbidden,
    /// The id or path does not resolve.
    NotFound,
    /// A bucket is exhausted.
    RateLimited,
    /// The request is not what the contract says.
    InvalidRequest,
    /// The server's own fault.
    InternalError,
}

impl Code {
    /// All codes, in the seed's order.
    pub const ALL: &'static [Self] = &[
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::RateLimited,
        Self::InvalidRequest,
        Self::InternalError,
    ];

    /// The code as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::RateLimited => "rate_limited",
            Self::InvalidRequest => "invalid_request",
            Self::InternalError => "internal_error",
        }
    }
}

/// Why a call was refused or failed.
#[derive(Debug)]
pub struct ApiError {
    /// The status it travels under.
    pub status: StatusCode,
    /// What kind of error it is.
    pub code: Code,
    /// One sentence for people.
    pub message: Cow<'static, str>,
    /// The single faults, when they can be named.
    pub details: Faults,
    /// Seconds to wait; on 429 alone.
    pub retry_after: Option<i64>,
    /// A header that belongs to this error: `Allow` on 405, `WWW-Authenticate` on 401.
    pub header: Option<(header::HeaderName, HeaderValue)>,
    /// Why the server failed, for the log alone.
    pub cause: Option<anyhow::Error>,
    /// Faults that the domain named by field, before they have their place in the request.
    unplaced: Vec<domain::Fault>,
}

/// What a handler returns.
pub type Reply<T> = Result<T, ApiError>;

impl ApiError {
    fn new(status: StatusCode, code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            details: Vec::new(),
            retry_after: None,
            header: None,
            cause: None,
            unplaced: Vec::new(),
        }
    }

    fn with_detail(mut self, place: Part, field: &str, message: impl Into<String>) -> Self {
        self.details.push(Fault { place, field: field.to_owned(), message: message.into() });
        self
    }

    /// 401: no valid key. The answer is the same whatever is wrong with it.
    pub fn unauthorized() -> Self {
        let mut error =
            Self::new(StatusCode::UNAUTHORIZED, Code::Unauthorized, "The API key is missing or not valid.");
        error.header = Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
        error
    }

    /// 403: the key lacks this scope.
    pub fn forbidden(scope: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, Code::Forbidden, format!("This key lacks the scope `{scope}`."))
    }

    /// 404: there is no such path.
    pub fn no_such_path() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            Code::NotFound,
            "There is nothing at this path; `/docs` lists the operations.",
        )
    }

    /// 404: an id does not resolve.
    pub fn not_found(missing: &Missing) -> Self {
        let message = match missing {
            Missing::Record { noun, .. } => format!("No such {noun} in this workspace."),
            // No request names a workspace; its key does.
            Missing::Workspace { .. } => "There is no such workspace.".to_owned(),
            Missing::NotAnId(error) => format!("{error}."),
        };
        Self::new(StatusCode::NOT_FOUND, Code::NotFound, message)
    }

    /// 404 for an id in the body, which the detail points at.
    pub fn not_found_in_body(field: &str, missing: &Missing) -> Self {
        let why = match missing {
            Missing::Record { .. } | Missing::Workspace { .. } => {
                "does not resolve in this workspace".to_owned()
            }
            Missing::NotAnId(error) => format!("is not such an id: {error}"),
        };
        Self::not_found(missing).with_detail(Part::Body, &format!("/{field}"), why)
    }

    /// 405: the path has other methods.
    pub fn wrong_method(allow: HeaderValue) -> Self {
        let methods = allow.to_str().unwrap_or_default().to_owned();
        let mut error = Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            Code::InvalidRequest,
            format!("This path takes the methods {methods}. Methods are case-sensitive."),
        );
        error.header = Some((header::ALLOW, allow));
        error
    }

    /// 408: the body did not arrive in time.
    pub fn too_slow() -> Self {
        let mut error = Self::new(
            StatusCode::REQUEST_TIMEOUT,
            Code::InvalidRequest,
            "The request body did not arrive in time.",
        );
        error.header = Some((header::CONNECTION, HeaderValue::from_static("close")));
        error
    }

    /// 409: the first request under this idempotency key is still running.
    pub fn key_in_use() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            Code::InvalidRequest,
            "A request with this idempotency key is still running.",
        )
        .with_detail(Part::Header, "Idempotency-Key", "is in use by a request that is still running")
    }

    /// 422: the idempotency key was used with another request.
    pub fn key_reused() -> Self {
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            Code::InvalidRequest,
            "This idempotency key was used with another request.",
        )
        .with_detail(Part::Header, "Idempotency-Key", "was used with another request")
    }

    /// 413: the body is larger than the cap.
    pub fn too_large(cap: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            Code::InvalidRequest,
            format!("The request body is larger than {cap} bytes."),
        )
    }

    /// 415: a header says that the body is something else than JSON.
    pub fn not_json(field: &str, must: &str) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::InvalidRequest,
            "The request body must be sent as application/json.",
        )
        .with_detail(Part::Header, field, must)
    }

    /// 422: the request is not what the contract says. `faults` holds at least one.
    pub fn invalid(faults: Faults) -> Self {
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, Code::InvalidRequest, summary(&faults));
        error.details = faults;
        error
    }

    /// 422 with one fault of a query parameter.
    pub fn invalid_query(name: &str, message: &str) -> Self {
        Self::invalid(vec![Fault { place: Part::Query, field: name.to_owned(), message: message.to_owned() }])
    }

    /// 429: a bucket is exhausted.
    pub fn rate_limited(message: String, retry_after: i64) -> Self {
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, Code::RateLimited, message);
        error.retry_after = Some(retry_after);
        error.header = Some((header::RETRY_AFTER, HeaderValue::from(retry_after)));
        error
    }

    /// 500: the server's own fault.
    pub fn internal(cause: anyhow::Error) -> Self {
        let mut error = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            Code::InternalError,
            "The server failed to answer this request.",
        );
        error.cause = Some(cause);
        error
    }

    /// The framework refused with this status; it has no words of its own here.
    pub fn from_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::no_such_path(),
            status if status.is_client_error() => {
                Self::new(status, Code::InvalidRequest, "The request cannot be understood.")
            }
            _ => Self::internal(anyhow::anyhow!("the framework answered {status}")),
        }
    }

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
        if let Some((name, value)) = self.header {
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
            body: Some(self.body(&call.request_id, call.public_url())),
        }
    }
}

/// The response for a handler's reply; an error becomes the variant documented for its status.
///
/// # Panics
/// When the contract documents neither the status nor 500; the caller's middleware answers a panic with 500.
pub fn answer<T: Answer>(call: &Call, reply: Reply<T>) -> T {
    let error = match reply {
        Ok(answer) => return answer,
        Err(error) => error,
    };
    let status = error.status;
    T::from_parts(error.into_parts(call))
        .or_else(|| {
            let cause = anyhow::anyhow!("{} does not document the status {status}", call.operation.id);
            T::from_parts(ApiError::internal(cause).into_parts(call))
        })
        .expect("every operation documents 500")
}

impl From<domain::Error> for ApiError {
    fn from(error: domain::Error) -> Self {
        match error {
            domain::Error::NotFound(missing) => Self::not_found(&missing),
            domain::Error::Invalid(faults) => {
                let mut error = Self::invalid(Vec::new());
                error.unplaced = faults;
                error
            }
            domain::Error::Internal(cause) => Self::internal(cause),
        }
    }
}

/// The message above the details.
fn summary(faults: &Faults) -> Cow<'static, str> {
    let one = match faults.as_slice() {
        [one] => one,
        many if many.iter().all(|fault| fault.place == Part::Body) => {
            return format!("The body has {} faults.", many.len()).into();
        }
        many => return format!("The request has {} faults.", many.len()).into(),
    };
    match (one.place, one.field.as_str()) {
        (Part::Query, field) if one.message == message::UNKNOWN_PARAMETER => {
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
            fields.serialize_field("details", &self.error.details)?;
        }
        fields.end()
    }
}

impl Serialize for Fault {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = match self.place {
            Part::Body => "body",
            Part::Query => "query",
            Part::Path => "path",
            Part::Header => "header",
        };
        let mut fields = serializer.serialize_struct("ErrorDetail", 3)?;
        fields.serialize_field("in", place)?;
        fields.serialize_field("field", &self.field)?;
        fields.serialize_field("message", &self.message)?;
        fields.end()
    }
}
