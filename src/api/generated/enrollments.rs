// Generated from openapi/v1.yaml (sha256 b75fab985b3114554580d493e8648edd12dfeb887f31ee7195d3ce598b11c873), do not edit. Run `cargo xtask codegen`.

//! The operations of `enrollments`.

use super::schemas;
use contract_runtime::answer::{Answer, Parts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;

/// The links of students to courses.
pub trait Enrollments: Service {
    /// Enrol a student in a course
    ///
    /// Enrols a student of the workspace in a published course. Idempotent on the pair (`studentId`, `courseId`): repeating the pair never creates a second enrollment.
    ///
    /// - The first time it answers 201 and sends `enrollment.created`.
    /// - While the enrollment is `active` or `completed`, the same pair answers 200 with the enrollment as it is. The request changes nothing, its `expires_at` included, and sends no event.
    /// - An enrollment that is `revoked` or `expired` is made active again under the same id, with the `expires_at` of the request. It answers 200, and `enrollment.created` is sent again, since access is back.
    ///
    /// A student or a course that does not resolve is 404. A course that is not published is 422 on `/courseId`, and an `expires_at` that has passed is 422 on `/expires_at`.
    fn create_enrollment(
        &self,
        call: Call<Self::Caller>,
        request: CreateEnrollmentRequest,
    ) -> impl Future<Output = Result<CreateEnrollmentResponse, Self::Error>> + Send;
}

/// What `createEnrollment` is called with.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateEnrollmentRequest {
    /// A key of your own making for this request, such as a UUID: visible ASCII characters. When the same request comes again with it within 24 hours, the first answer is repeated.
    pub idempotency_key: Option<String>,
    /// The body.
    pub body: schemas::NewEnrollment,
}

/// The answers of `createEnrollment`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum CreateEnrollmentResponse {
    /// The pair had an enrollment already; this is it, made active again if it was revoked or expired.
    #[oai(
        status = 200,
        header(name = "Idempotent-Replayed", ty = "Option<String>"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    Ok(Json<schemas::Enrollment>),
    /// The enrollment was created.
    #[oai(
        status = 201,
        header(name = "Idempotent-Replayed", ty = "Option<String>"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    Created(Json<schemas::Enrollment>),
    /// The API key is missing, malformed, unknown, expired or revoked. The body is the same in all these cases, `request_id` aside.
    #[oai(
        status = 401,
        header(name = "WWW-Authenticate", ty = "String"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    Unauthorized(Json<schemas::ErrorEnvelope>),
    /// The key is valid, but lacks the scope that the operation needs.
    #[oai(
        status = 403,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    Forbidden(Json<schemas::ErrorEnvelope>),
    /// An id does not resolve in the workspace of the key.
    #[oai(
        status = 404,
        header(name = "Idempotent-Replayed", ty = "Option<String>"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    NotFound(Json<schemas::ErrorEnvelope>),
    /// A request with the same `Idempotency-Key` is still running. Wait a second and repeat it.
    #[oai(
        status = 409,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    Conflict(Json<schemas::ErrorEnvelope>),
    /// The request body is larger than 256 KiB (262,144 bytes).
    #[oai(
        status = 413,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    PayloadTooLarge(Json<schemas::ErrorEnvelope>),
    /// The request body is not declared as `application/json`.
    #[oai(
        status = 415,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    UnsupportedMediaType(Json<schemas::ErrorEnvelope>),
    /// The body, a parameter or a header failed validation. `error.details` names each fault.
    #[oai(
        status = 422,
        header(name = "Idempotent-Replayed", ty = "Option<String>"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    UnprocessableEntity(Json<schemas::ErrorEnvelope>),
    /// The bucket of the minute or of the day is exhausted. Wait for `Retry-After` seconds.
    #[oai(
        status = 429,
        header(name = "Retry-After", ty = "i32"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    TooManyRequests(Json<schemas::ErrorEnvelope>),
    /// A fault of the server. Repeat the request with exponential backoff; `error.request_id` finds the cause in the log.
    #[oai(
        status = 500,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    InternalServerError(Json<schemas::ErrorEnvelope>),
}

impl Answer for CreateEnrollmentResponse {
    fn from_parts(parts: Parts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Ready(parts.body?))),
            201 => Some(Self::Created(Json::Ready(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Ready(parts.body?))),
            403 => Some(Self::Forbidden(Json::Ready(parts.body?))),
            404 => Some(Self::NotFound(Json::Ready(parts.body?))),
            409 => Some(Self::Conflict(Json::Ready(parts.body?))),
            413 => Some(Self::PayloadTooLarge(Json::Ready(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Ready(parts.body?))),
            422 => Some(Self::UnprocessableEntity(Json::Ready(parts.body?))),
            429 => Some(Self::TooManyRequests(Json::Ready(parts.body?))),
            500 => Some(Self::InternalServerError(Json::Ready(parts.body?))),
            _ => None,
        }
    }
    fn into_parts(self) -> Parts {
        match self {
            Self::Ok(body) => {
                Parts {
                    status: 200,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::Created(body) => {
                Parts {
                    status: 201,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::Unauthorized(body) => {
                Parts {
                    status: 401,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::Forbidden(body) => {
                Parts {
                    status: 403,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::NotFound(body) => {
                Parts {
                    status: 404,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::Conflict(body) => {
                Parts {
                    status: 409,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::PayloadTooLarge(body) => {
                Parts {
                    status: 413,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnsupportedMediaType(body) => {
                Parts {
                    status: 415,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnprocessableEntity(body) => {
                Parts {
                    status: 422,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::TooManyRequests(body) => {
                Parts {
                    status: 429,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::InternalServerError(body) => {
                Parts {
                    status: 500,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
        }
    }
}
