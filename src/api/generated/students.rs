// Generated from openapi/v1.yaml (sha256 b75fab985b3114554580d493e8648edd12dfeb887f31ee7195d3ce598b11c873), do not edit. Run `cargo xtask codegen`.

//! The operations of `students`.

use super::schemas;
use contract_runtime::answer::{Answer, Parts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;
use contract_runtime::scalar::Timestamp;

/// The people who take courses, with their progress and enrollment history.
pub trait Students: Service {
    /// List students with progress and enrollment history
    ///
    /// Lists the students of the workspace, page by page, each with `progress` and its whole `enrollments` history, newest first. With `courseId` and `enrollment_status` together, one enrollment has to meet both.
    fn list_students(
        &self,
        call: Call<Self::Caller>,
        request: ListStudentsRequest,
    ) -> impl Future<Output = Result<ListStudentsResponse, Self::Error>> + Send;
    /// Create a student
    ///
    /// Creates a student in the workspace and sends `student.created`. The email is unique in the workspace without regard to case; one that is taken is answered with 422 on `/email`. The student is enrolled in nothing yet; see `createEnrollment`.
    fn create_student(
        &self,
        call: Call<Self::Caller>,
        request: CreateStudentRequest,
    ) -> impl Future<Output = Result<CreateStudentResponse, Self::Error>> + Send;
}

/// What `listStudents` is called with.
#[derive(Debug, Clone, PartialEq)]
pub struct ListStudentsRequest {
    /// `pagination.cursor` of the page before. Leave it out for the first page. The filters and `sort` must be those of the first page.
    pub cursor: Option<String>,
    /// Greatest number of items of the page.
    pub limit: i32,
    /// Order of the list.
    pub sort: schemas::StudentSort,
    /// Only items with `created_at` at or after this time.
    pub created_after: Option<Timestamp>,
    /// Only items with `created_at` before this time.
    pub created_before: Option<Timestamp>,
    /// Only items with `updated_at` at or after this time. With `sort=updated_at` this is a complete delta sync.
    pub updated_after: Option<Timestamp>,
    /// Only items with `updated_at` before this time.
    pub updated_before: Option<Timestamp>,
    /// Only the student with this email. The whole address is compared, without regard to case.
    pub email: Option<String>,
    /// Only students with this `external_id`, compared exactly.
    pub external_id: Option<String>,
    /// Only students who have an enrollment in this course, whatever its status.
    pub course_id: Option<String>,
    /// Only students who have an enrollment with this status.
    pub enrollment_status: Option<schemas::EnrollmentStatus>,
    /// Only students who have this tag, compared exactly.
    pub tag: Option<String>,
    /// The `ETag` of an earlier response. When it still holds, the answer is 304 without a body.
    pub if_none_match: Option<String>,
}

/// The answers of `listStudents`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListStudentsResponse {
    /// A page of students.
    #[oai(
        status = 200,
        header(name = "ETag", ty = "String"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    Ok(
        Json<schemas::StudentList>,
        /// Address of the next page with `rel="next"`. Absent on the last page.
        #[oai(header = "Link")]
        Option<String>,
    ),
    /// Nothing has changed since the response whose `ETag` was sent. There is no body.
    #[oai(
        status = 304,
        header(name = "ETag", ty = "String"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    NotModified,
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

impl Answer for ListStudentsResponse {
    fn from_parts(parts: Parts) -> Option<Self> {
        match parts.status {
            200 => {
                let link = parts.header("Link");
                Some(Self::Ok(Json::Ready(parts.body?), link))
            }
            304 => Some(Self::NotModified),
            401 => Some(Self::Unauthorized(Json::Ready(parts.body?))),
            403 => Some(Self::Forbidden(Json::Ready(parts.body?))),
            422 => Some(Self::UnprocessableEntity(Json::Ready(parts.body?))),
            429 => Some(Self::TooManyRequests(Json::Ready(parts.body?))),
            500 => Some(Self::InternalServerError(Json::Ready(parts.body?))),
            _ => None,
        }
    }
    fn into_parts(self) -> Parts {
        match self {
            Self::Ok(body, link) => {
                Parts {
                    status: 200,
                    headers: [link.map(|value| ("Link", value))]
                        .into_iter()
                        .flatten()
                        .collect(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::NotModified => {
                Parts {
                    status: 304,
                    headers: Vec::new(),
                    body: None,
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

/// What `createStudent` is called with.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateStudentRequest {
    /// A key of your own making for this request, such as a UUID: visible ASCII characters. When the same request comes again with it within 24 hours, the first answer is repeated.
    pub idempotency_key: Option<String>,
    /// The body.
    pub body: schemas::NewStudent,
}

/// The answers of `createStudent`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum CreateStudentResponse {
    /// The student was created.
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
    Created(
        Json<schemas::Student>,
        /// The path that names the new student. Version 1 has no operation that reads it.
        #[oai(header = "Location")]
        String,
    ),
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

impl Answer for CreateStudentResponse {
    fn from_parts(parts: Parts) -> Option<Self> {
        match parts.status {
            201 => {
                let location = parts.header("Location")?;
                Some(Self::Created(Json::Ready(parts.body?), location))
            }
            401 => Some(Self::Unauthorized(Json::Ready(parts.body?))),
            403 => Some(Self::Forbidden(Json::Ready(parts.body?))),
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
            Self::Created(body, location) => {
                Parts {
                    status: 201,
                    headers: [Some(("Location", location))]
                        .into_iter()
                        .flatten()
                        .collect(),
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
