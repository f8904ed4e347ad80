//! Errors of the API. Every failed call is an [`ApiError`], which [`super::envelope`] converts into an HTTP response. This file
//! defines the error codes of the contracts and their statuses.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::{Deref, DerefMut};

use poem::http::{HeaderValue, StatusCode, header};

use super::envelope::summary;
use super::generated::schemas::ErrorCode;
use super::platform::generated::schemas::ErrorCode as PlatformErrorCode;
use contract_runtime::contract::{Credential, Operation};
use contract_runtime::router::CallError;
use contract_runtime::validate::{RequestPart, Violation, Violations};
use domain::error::NotFound;
use domain::retry::Conflict;
use web::rejection::Rejection;

/// The machine-readable error codes of v1 and the Platform API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApiErrorCode {
    /// The request has no valid API key.
    Unauthorized,
    /// The API key does not have the required scope, or may not be used from the client's address.
    Forbidden,
    /// The id or path does not exist.
    NotFound,
    /// A rate limit is exhausted.
    RateLimited,
    /// The request is invalid, or conflicts with another request. The status is more specific: 501, 505, or any 4xx
    /// status that has no code of its own.
    InvalidRequest,
    /// The server failed or has too many open connections.
    InternalError,
    /// The events after a cursor are no longer stored. Only in the Platform API and the Developer API.
    CursorExpired,
    /// The server is busy or shutting down. Only in the Platform API.
    Unavailable,
}

impl ApiErrorCode {
    /// All codes: those of v1, then those that v1 does not have.
    pub const ALL: &'static [Self] = &[
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::RateLimited,
        Self::InvalidRequest,
        Self::InternalError,
        Self::CursorExpired,
        Self::Unavailable,
    ];

    /// Returns the code as it appears in responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => ErrorCode::Unauthorized.as_str(),
            Self::Forbidden => ErrorCode::Forbidden.as_str(),
            Self::NotFound => ErrorCode::NotFound.as_str(),
            Self::RateLimited => ErrorCode::RateLimited.as_str(),
            Self::InvalidRequest => ErrorCode::InvalidRequest.as_str(),
            Self::InternalError => ErrorCode::InternalError.as_str(),
            Self::CursorExpired => PlatformErrorCode::CursorExpired.as_str(),
            Self::Unavailable => PlatformErrorCode::Unavailable.as_str(),
        }
    }
}

/// The message of every 500. It does not reveal the cause.
const INTERNAL_MESSAGE: &str = "The server encountered an internal error.";

/// Why a call was rejected or failed.
#[derive(Debug)]
pub struct ApiError(Box<ErrorFields>);

/// The fields of an [`ApiError`].
#[derive(Debug)]
pub struct ErrorFields {
    /// The status of the response.
    pub status: StatusCode,
    /// The machine-readable code.
    pub code: ApiErrorCode,
    /// The message for people: one or two sentences.
    pub message: Cow<'static, str>,
    /// The errors in individual parts of the request. Empty if the error does not concern a certain part.
    pub details: Violations,
    /// The number of seconds to wait before the next request, which the body contains. Set on 429 and 503 only.
    pub retry_after: Option<i64>,
    /// An additional header of the response, such as `Allow` on 405 or `WWW-Authenticate` on 401.
    pub header: Option<(header::HeaderName, HeaderValue)>,
    /// Why the server failed. It is logged, but not part of the response.
    pub cause: Option<anyhow::Error>,
    /// Field errors of the domain that are not yet assigned to a part of the request.
    pub(super) field_errors: Vec<domain::FieldError>,
}

impl Deref for ApiError {
    type Target = ErrorFields;

    fn deref(&self) -> &ErrorFields {
        &self.0
    }
}

impl DerefMut for ApiError {
    fn deref_mut(&mut self) -> &mut ErrorFields {
        &mut self.0
    }
}

/// The result of a handler.
pub type Reply<T> = Result<T, ApiError>;

impl ApiError {
    fn new(status: StatusCode, code: ApiErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(ErrorFields {
            status,
            code,
            message: message.into(),
            details: Vec::new(),
            retry_after: None,
            header: None,
            cause: None,
            field_errors: Vec::new(),
        }))
    }

    fn with_detail(mut self, part: RequestPart, field: &str, message: impl Into<String>) -> Self {
        self.details.push(Violation { part, field: field.to_owned(), message: message.into() });
        self
    }

    /// 401: the request has no valid API key. The response does not reveal whether the key is missing, unknown, expired
    /// or revoked.
    pub fn unauthorized(credential: Credential) -> Self {
        let mut error = Self::new(
            StatusCode::UNAUTHORIZED,
            ApiErrorCode::Unauthorized,
            "The API key is missing or not valid.",
        );
        error.header = Some((header::WWW_AUTHENTICATE, credential.challenge()));
        error
    }

    /// 401: the request has no valid platform token.
    pub fn invalid_platform_token(credential: Credential) -> Self {
        let mut error = Self::unauthorized(credential);
        error.message = "The platform token is missing or not valid.".into();
        error
    }

    /// 403: the platform token does not have this scope.
    pub fn forbidden_platform_token(scope: &str) -> Self {
        let mut error = Self::forbidden(scope);
        error.message = format!("This token does not have the scope `{scope}`.").into();
        error
    }

    /// 410: events after a cursor are no longer stored. `oldest` is the oldest cursor that is available.
    pub fn cursor_expired(oldest: &str) -> Self {
        Self::new(
            StatusCode::GONE,
            ApiErrorCode::CursorExpired,
            format!(
                "Events after this cursor are no longer stored. Omit `cursor` to start with the oldest stored event, or use \
                 `{oldest}`."
            ),
        )
        .with_detail(RequestPart::Query, "cursor", "has expired")
    }

    /// 410: a deprecated operation does not work any more or, with a number of seconds to wait, for a short time. Not `not_found`,
    /// on which clients delete their copies of records. The time to wait is only in the header, as the contract defines.
    pub fn removed(message: String, retry_after: Option<i64>) -> Self {
        let mut error = Self::new(StatusCode::GONE, ApiErrorCode::InvalidRequest, message);
        error.header = retry_after.map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds)));
        error
    }

    /// 503: the server is busy. `retry_after` is the number of seconds to wait.
    pub fn unavailable(message: &'static str, retry_after: i64) -> Self {
        let mut error = Self::new(StatusCode::SERVICE_UNAVAILABLE, ApiErrorCode::Unavailable, message);
        error.retry_after = Some(retry_after);
        error.header = Some((header::RETRY_AFTER, HeaderValue::from(retry_after)));
        error
    }

    /// 403: the API key does not have this scope.
    pub fn forbidden(scope: &str) -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            ApiErrorCode::Forbidden,
            format!("This key does not have the scope `{scope}`."),
        )
    }

    /// 403: the API key may not be used from this client address.
    pub fn forbidden_address(client: IpAddr) -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            ApiErrorCode::Forbidden,
            format!("This key may not be used from the address {client}."),
        )
    }

    /// 403: the operation is not for this workspace or this server. The message says what it is for.
    pub fn forbidden_operation(message: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, ApiErrorCode::Forbidden, message)
    }

    /// 404: no operation has this path.
    pub fn unknown_path() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            ApiErrorCode::NotFound,
            "No operation has this path; see `/docs` for the list of operations.",
        )
    }

    /// 404: a record or the workspace does not exist, or an id is malformed.
    pub fn not_found(missing: &NotFound) -> Self {
        let message = match missing {
            NotFound::Record { noun, .. } => format!("No such {noun} in this workspace."),
            // Without "in this workspace", since the workspace itself does not exist.
            NotFound::Workspace { .. } | NotFound::OtherMode { .. } => {
                "The workspace does not exist.".to_owned()
            }
            NotFound::NotAnId(error) => format!("{error}."),
        };
        Self::new(StatusCode::NOT_FOUND, ApiErrorCode::NotFound, message)
    }

    /// 404: an id in the body does not exist or is malformed. The detail names its field.
    pub fn not_found_in_body(field: &str, missing: &NotFound) -> Self {
        let reason = match missing {
            NotFound::Record { .. } => "does not exist in this workspace".to_owned(),
            NotFound::Workspace { .. } | NotFound::OtherMode { .. } => "does not exist".to_owned(),
            NotFound::NotAnId(error) => format!("is not a valid id: {error}"),
        };
        Self::not_found(missing).with_detail(RequestPart::Body, &format!("/{field}"), reason)
    }

    /// 405: the path does not support the method. `allow` lists the methods that it supports.
    pub fn method_not_allowed(allow: HeaderValue) -> Self {
        let methods = allow.to_str().unwrap_or_default().to_owned();
        let mut error = Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            ApiErrorCode::InvalidRequest,
            format!("This path supports the methods {methods}. Methods are case-sensitive."),
        );
        error.header = Some((header::ALLOW, allow));
        error
    }

    /// 408: the body did not arrive in time. The connection is closed.
    pub fn body_timeout() -> Self {
        let mut error = Self::new(
            StatusCode::REQUEST_TIMEOUT,
            ApiErrorCode::InvalidRequest,
            "The request body did not arrive in time.",
        );
        error.header = Some((header::CONNECTION, HeaderValue::from_static("close")));
        error
    }

    /// 409: the first request under this idempotency key is still running.
    pub fn idempotency_key_in_use() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            ApiErrorCode::InvalidRequest,
            "A request with this idempotency key is still running.",
        )
        .with_detail(
            RequestPart::Header,
            "Idempotency-Key",
            "is in use by a request that is still running",
        )
    }

    /// 409: the state of the record does not allow the operation.
    pub fn conflict(message: String) -> Self {
        Self::new(StatusCode::CONFLICT, ApiErrorCode::InvalidRequest, message)
    }

    /// 422: the idempotency key was used with a different request.
    pub fn idempotency_key_reused() -> Self {
        Self::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            ApiErrorCode::InvalidRequest,
            "This idempotency key was used with a different request.",
        )
        .with_detail(RequestPart::Header, "Idempotency-Key", "was used with a different request")
    }

    /// 413: the body is larger than the limit. The rest of it is not read, so the connection is closed.
    pub fn body_too_large(max_bytes: usize) -> Self {
        let mut error = Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            ApiErrorCode::InvalidRequest,
            format!("The request body is larger than {max_bytes} bytes."),
        );
        error.header = Some((header::CONNECTION, HeaderValue::from_static("close")));
        error
    }

    /// Creates the error of a request that the connection rejected before it reached the API. The status is that of the
    /// rejection.
    pub fn rejected(rejection: Rejection) -> Self {
        match rejection.status {
            StatusCode::INTERNAL_SERVER_ERROR => {
                Self::new(rejection.status, ApiErrorCode::InternalError, INTERNAL_MESSAGE)
            }
            status => Self::new(status, ApiErrorCode::InvalidRequest, rejection.message),
        }
    }

    /// 415: the operation does not support the media type or encoding that a header declares.
    fn unsupported_media_type(media_type: &str, field: &str, message: String) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ApiErrorCode::InvalidRequest,
            format!("The request body must be sent as {media_type}."),
        )
        .with_detail(RequestPart::Header, field, message)
    }

    /// 422: the request does not conform to the contract, or the domain rejects a value. `violations` is empty only if
    /// `field_errors` is set afterward.
    pub fn invalid(violations: Violations) -> Self {
        let mut error =
            Self::new(StatusCode::UNPROCESSABLE_ENTITY, ApiErrorCode::InvalidRequest, summary(&violations));
        error.details = violations;
        error
    }

    /// 422: a query parameter is invalid.
    pub fn invalid_query(name: &str, message: &str) -> Self {
        Self::invalid(vec![Violation {
            part: RequestPart::Query,
            field: name.to_owned(),
            message: message.to_owned(),
        }])
    }

    /// 429: a rate limit is exhausted. `retry_after` is the number of seconds to wait.
    pub fn rate_limited(message: String, retry_after: i64) -> Self {
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, ApiErrorCode::RateLimited, message);
        error.retry_after = Some(retry_after);
        error.header = Some((header::RETRY_AFTER, HeaderValue::from(retry_after)));
        error
    }

    /// 500: the server failed.
    pub fn internal(cause: anyhow::Error) -> Self {
        let mut error =
            Self::new(StatusCode::INTERNAL_SERVER_ERROR, ApiErrorCode::InternalError, INTERNAL_MESSAGE);
        error.cause = Some(cause);
        error
    }

    /// 500: the operation returned a status that the contract does not document for it.
    pub fn undocumented(operation: &Operation, status: u16) -> Self {
        Self::internal(anyhow::anyhow!("{} does not document the status {status}", operation.id))
    }

    /// Creates the error for a status that the HTTP framework returned. A status that is not 4xx becomes 500.
    pub fn from_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::unknown_path(),
            status if status.is_client_error() => {
                Self::new(status, ApiErrorCode::InvalidRequest, "The request is invalid.")
            }
            _ => Self::internal(anyhow::anyhow!("the framework returned the status {status}")),
        }
    }
}

impl Conflict for ApiError {
    fn is_conflict(&self) -> bool {
        self.cause.as_ref().is_some_and(Conflict::is_conflict)
    }
}

impl From<CallError> for ApiError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::MediaType { expected, header, message } => {
                Self::unsupported_media_type(expected, header, message)
            }
            CallError::Invalid(violations) => Self::invalid(violations),
        }
    }
}

impl From<domain::Error> for ApiError {
    fn from(error: domain::Error) -> Self {
        match error {
            domain::Error::NotFound(missing) => Self::not_found(&missing),
            domain::Error::Invalid(violations) => {
                let mut error = Self::invalid(Vec::new());
                error.field_errors = violations;
                error
            }
            domain::Error::Internal(cause) => Self::internal(cause),
        }
    }
}
