// Generated from tests/it/rehearsal/v2.yaml (sha256 ed84963bdcaa9cb541f49980fa61eddaf2358629fad989072505beb9c4c6a3fa), do not edit. Run `cargo xtask codegen`.

//! The operations of `students`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;
use contract_runtime::scalar::Timestamp;

/// Students with their progress and enrollment history.
pub trait Students: Service {
    /// List students with progress and enrollment history
    fn list_students(
        &self,
        call: Call<Self::Caller>,
        request: ListStudentsRequest,
    ) -> impl Future<Output = Result<ListStudentsResponse, Self::Error>> + Send;
    /// Create a student
    fn create_student(
        &self,
        call: Call<Self::Caller>,
        request: CreateStudentRequest,
    ) -> impl Future<Output = Result<CreateStudentResponse, Self::Error>> + Send;
    /// Retrieve a student
    fn get_student(
        &self,
        call: Call<Self::Caller>,
        request: GetStudentRequest,
    ) -> impl Future<Output = Result<GetStudentResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `listStudents`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListStudentsRequest {
    /// `next_cursor` of the previous page. Omit it to get the first page.
    pub cursor: Option<String>,
    /// `limit`.
    pub limit: i32,
    /// `sort`.
    pub sort: schemas::ListSort,
    /// `updated_after`.
    pub updated_after: Option<Timestamp>,
    /// `email`.
    pub email: Option<String>,
    /// `external_id`.
    pub external_id: Option<String>,
    /// `course_id`.
    pub course_id: Option<String>,
    /// `enrollment_status`.
    pub enrollment_status: Option<schemas::EnrollmentStatus>,
    /// `tag`.
    pub tag: Option<String>,
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
}

/// The responses of `listStudents`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListStudentsResponse {
    /// A page of students.
    #[oai(status = 200)]
    Ok(
        Json<schemas::StudentList>,
        /// URL of the next page with `rel="next"`. Absent on the last page.
        #[oai(header = "Link")]
        Option<String>,
    ),
    /// Nothing has changed since the response with this `ETag`. There is no body.
    #[oai(status = 304)]
    NotModified,
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::ErrorEnvelope>),
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

impl OperationResponse for ListStudentsResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => {
                let link = parts.header("Link");
                Some(Self::Ok(Json::Serialized(parts.body?), link))
            }
            304 => Some(Self::NotModified),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            422 => Some(Self::UnprocessableEntity(Json::Serialized(parts.body?))),
            429 => Some(Self::TooManyRequests(Json::Serialized(parts.body?))),
            500 => Some(Self::InternalServerError(Json::Serialized(parts.body?))),
            _ => None,
        }
    }
    fn into_parts(self) -> ResponseParts {
        match self {
            Self::Ok(body, link) => {
                ResponseParts {
                    status: 200,
                    headers: [link.map(|value| ("Link", value))]
                        .into_iter()
                        .flatten()
                        .collect(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::NotModified => {
                ResponseParts {
                    status: 304,
                    headers: Vec::new(),
                    body: None,
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

/// The parameters and the body of a request of `createStudent`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateStudentRequest {
    /// `Idempotency-Key`.
    pub idempotency_key: String,
    /// The request body.
    pub body: schemas::NewStudent,
}

/// The responses of `createStudent`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum CreateStudentResponse {
    /// The student was created.
    #[oai(status = 201)]
    Created(
        Json<schemas::Student>,
        /// Location
        #[oai(header = "Location")]
        String,
    ),
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

impl OperationResponse for CreateStudentResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            201 => {
                let location = parts.header("Location")?;
                Some(Self::Created(Json::Serialized(parts.body?), location))
            }
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
            Self::Created(body, location) => {
                ResponseParts {
                    status: 201,
                    headers: [Some(("Location", location))]
                        .into_iter()
                        .flatten()
                        .collect(),
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

/// The parameters and the body of a request of `getStudent`.
#[derive(Debug, Clone, PartialEq)]
pub struct GetStudentRequest {
    /// `id`.
    pub id: String,
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
}

/// The responses of `getStudent`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum GetStudentResponse {
    /// The student.
    #[oai(status = 200)]
    Ok(Json<schemas::Student>),
    /// Nothing has changed since the response with this `ETag`. There is no body.
    #[oai(status = 304)]
    NotModified,
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::ErrorEnvelope>),
    /// An error.
    #[oai(status = 404)]
    NotFound(Json<schemas::ErrorEnvelope>),
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

impl OperationResponse for GetStudentResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
            304 => Some(Self::NotModified),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            404 => Some(Self::NotFound(Json::Serialized(parts.body?))),
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
            Self::NotModified => {
                ResponseParts {
                    status: 304,
                    headers: Vec::new(),
                    body: None,
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
            Self::NotFound(body) => {
                ResponseParts {
                    status: 404,
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
