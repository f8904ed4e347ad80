//! The errors of the package.

use std::fmt::{self, Display};
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use progenitor_client::Error as GeneratedError;

use crate::client::retry_after;
use crate::types::{self, ErrorDetail, ErrorEnvelope};

/// The error of a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An argument that cannot be used, such as an API key with a line break.
    Configuration(String),
    /// No complete response arrived: the connection failed, was cut, or was too slow.
    Connection(reqwest::Error),
    /// The response is a success, but its body is not the JSON of the contract.
    InvalidResponse(String),
    /// The API responded with an error.
    Api(Box<ApiError>),
}

/// An error that the API responded with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApiError {
    /// The status of the response.
    pub status: u16,
    /// The code, such as `not_found`. `None` if the body is not an error of the API, such as the page of a proxy.
    pub code: Option<String>,
    /// A message for people.
    pub message: String,
    /// The id of the request, for the support.
    pub request_id: Option<String>,
    /// The individual errors in the request.
    pub details: Vec<ErrorDetail>,
    /// The time of `Retry-After`.
    pub retry_after: Option<Duration>,
}

impl From<GeneratedError<ErrorEnvelope>> for Error {
    fn from(error: GeneratedError<ErrorEnvelope>) -> Self {
        match error {
            GeneratedError::InvalidRequest(message) | GeneratedError::Custom(message) => {
                Self::Configuration(message)
            }
            GeneratedError::CommunicationError(error)
            | GeneratedError::InvalidUpgrade(error)
            | GeneratedError::ResponseBodyError(error) => Self::Connection(error),
            GeneratedError::InvalidResponsePayload(_, error) => Self::InvalidResponse(error.to_string()),
            GeneratedError::ErrorResponse(response) => {
                let (status, headers) = (response.status(), response.headers().clone());
                Self::Api(Box::new(ApiError::new(status, &headers, Some(response.into_inner().error))))
            }
            GeneratedError::UnexpectedResponse(response) => {
                let error = response.extensions().get::<ErrorEnvelope>().map(|body| body.error.clone());
                Self::Api(Box::new(ApiError::new(response.status(), response.headers(), error)))
            }
        }
    }
}

impl ApiError {
    fn new(status: StatusCode, headers: &HeaderMap, error: Option<types::Error>) -> Self {
        let error = error.filter(|error| !error.code.is_empty());
        let id = headers.get("x-request-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        let (code, message, id, details) = match error {
            Some(error) => {
                (Some(error.code.to_string()), error.message, Some(error.request_id), error.details)
            }
            None => (None, format!("the server responded with status {status}"), id, Vec::new()),
        };
        let (status, retry_after) = (status.as_u16(), retry_after(headers));
        Self { status, code, message, request_id: id, details, retry_after }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Configuration(message) => f.write_str(message),
            Self::Connection(error) => write!(f, "no response: {error}"),
            Self::InvalidResponse(message) => write!(f, "the body of the response is invalid: {message}"),
            Self::Api(error) => f.write_str(&error.message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Connection(error) = self { Some(error) } else { None }
    }
}
