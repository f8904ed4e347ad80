//! Errors as the API tells them: one closed type, made HTTP last.
//!
//! Owns the six codes of the seed and the statuses they travel under; [`super::envelope`] owns their form.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use poem::http::{HeaderValue, StatusCode, header};

use super::envelope::summary;
use contract_runtime::contract::{Credential, Operation};
use contract_runtime::router::Refusal;
use contract_runtime::validate::{Fault, Faults, Part};
use domain::error::Missing;
use domain::retry::Conflict;
use web::rejection::Rejection;

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

/// The message of every 500, which does not tell the cause.
const INTERNAL: &str = "The server failed to answer this request.";

/// Why a call was refused or failed.
#[derive(Debug)]
pub struct ApiError(Box<Problem>);

/// What there is to say about an error.
#[derive(Debug)]
pub struct Problem {
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
    pub(super) unplaced: Vec<domain::Fault>,
}

impl Deref for ApiError {
    type Target = Problem;

    fn deref(&self) -> &Problem {
        &self.0
    }
}

impl DerefMut for ApiError {
    fn deref_mut(&mut self) -> &mut Problem {
        &mut self.0
    }
}

/// What a handler returns.
pub type Reply<T> = Result<T, ApiError>;

impl ApiError {
    fn new(status: StatusCode, code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Problem {
            status,
            code,
            message: message.into(),
            details: Vec::new(),
            retry_after: None,
            header: None,
            cause: None,
            unplaced: Vec::new(),
        }))
    }

    fn with_detail(mut self, place: Part, field: &str, message: impl Into<String>) -> Self {
        self.details.push(Fault { place, field: field.to_owned(), message: message.into() });
        self
    }

    /// 401: no valid key. The answer is the same whatever is wrong with it.
    pub fn unauthorized(credential: Credential) -> Self {
        let mut error =
            Self::new(StatusCode::UNAUTHORIZED, Code::Unauthorized, "The API key is missing or not valid.");
        error.header = Some((header::WWW_AUTHENTICATE, credential.challenge()));
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

    /// 413: the body is larger than the cap. The rest of it is not read, so the connection is closed.
    pub fn too_large(cap: usize) -> Self {
        let mut error = Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            Code::InvalidRequest,
            format!("The request body is larger than {cap} bytes."),
        );
        error.header = Some((header::CONNECTION, HeaderValue::from_static("close")));
        error
    }

    /// The connection refused the request.
    pub fn rejected(rejection: Rejection) -> Self {
        match rejection.status {
            StatusCode::INTERNAL_SERVER_ERROR => Self::new(rejection.status, Code::InternalError, INTERNAL),
            status => Self::new(status, Code::InvalidRequest, rejection.message),
        }
    }

    /// 415: a header says that the body is something else than what the operation takes.
    fn wrong_media(media_type: &str, field: &str, message: String) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::InvalidRequest,
            format!("The request body must be sent as {media_type}."),
        )
        .with_detail(Part::Header, field, message)
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
        let mut error = Self::new(StatusCode::INTERNAL_SERVER_ERROR, Code::InternalError, INTERNAL);
        error.cause = Some(cause);
        error
    }

    /// 500: the operation fails with a status that the contract does not document for it.
    pub fn undocumented(operation: &Operation, status: u16) -> Self {
        Self::internal(anyhow::anyhow!("{} does not document the status {status}", operation.id))
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
}

impl Conflict for ApiError {
    fn is_conflict(&self) -> bool {
        self.cause.as_ref().is_some_and(Conflict::is_conflict)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::MediaType { expected, header, message } => Self::wrong_media(expected, header, message),
            Refusal::Invalid(faults) => Self::invalid(faults),
        }
    }
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
