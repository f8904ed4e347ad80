// Generated from tests/it/rehearsal/v2.yaml (sha256 ed84963bdcaa9cb541f49980fa61eddaf2358629fad989072505beb9c4c6a3fa), do not edit. Run `cargo xtask codegen`.

//! The operations of `enrollments`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;

/// Enrollments of students in courses.
pub trait Enrollments: Service {
    /// Enroll a student in a course
    fn create_enrollment(
        &self,
        call: Call<Self::Caller>,
        request: CreateEnrollmentRequest,
    ) -> impl Future<Output = Result<CreateEnrollmentResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `createEnrollment`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateEnrollmentRequest {
    /// `Idempotency-Key`.
    pub idempotency_key: String,
    /// The request body.
    pub body: schemas::NewEnrollment,
}

/// The responses of `createEnrollment`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum CreateEnrollmentResponse {
    /// The enrollment, which is new, existed before, or gives access again.
    #[oai(status = 200)]
    Ok(Json<schemas::Enrollment>),
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 409)]
    Conflict(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 413)]
    PayloadTooLarge(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 415)]
    UnsupportedMediaType(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 422)]
    UnprocessableEntity(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 429)]
    TooManyRequests(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 500)]
    InternalServerError(Json<schemas::ErrorEnvelope>),
}

impl OperationResponse for CreateEnrollmentResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            409 => Some(Self::Conflict(Json::Serialized(parts.body?))),
            413 => Some(Self::PayloadTooLarge(Json::Serialized(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Serialized(parts.body?))),
            422 => Some(Self::UnprocessableEntity(Json::Serialized(parts.body?))),
            429 => Some(Self::TooManyRequests(Json::Serialized(parts.body?))),
            500 => Some(Self::InternalServerError(Json::Serialized(parts.body?))),
            _ => None,
        }
    }
    fn into_parts(self) -> ResponseParts {
        match self {
            Self::Ok(body) => {
                ResponseParts {
                    status: 200,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::Unauthorized(body) => {
                ResponseParts {
                    status: 401,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::Forbidden(body) => {
                ResponseParts {
                    status: 403,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::Conflict(body) => {
                ResponseParts {
                    status: 409,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::PayloadTooLarge(body) => {
                ResponseParts {
                    status: 413,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnsupportedMediaType(body) => {
                ResponseParts {
                    status: 415,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnprocessableEntity(body) => {
                ResponseParts {
                    status: 422,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::TooManyRequests(body) => {
                ResponseParts {
                    status: 429,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::InternalServerError(body) => {
                ResponseParts {
                    status: 500,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
        }
    }
}
