// Generated from tests/it/rehearsal/v2.yaml (sha256 ed84963bdcaa9cb541f49980fa61eddaf2358629fad989072505beb9c4c6a3fa), do not edit. Run `cargo xtask codegen`.

//! The operations of `courses`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;
use contract_runtime::scalar::Timestamp;

/// Published courses with their modules and lesson metadata.
pub trait Courses: Service {
    /// List published courses
    fn list_courses(
        &self,
        call: Call<Self::Caller>,
        request: ListCoursesRequest,
    ) -> impl Future<Output = Result<ListCoursesResponse, Self::Error>> + Send;
    /// Retrieve a course
    fn get_course(
        &self,
        call: Call<Self::Caller>,
        request: GetCourseRequest,
    ) -> impl Future<Output = Result<GetCourseResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `listCourses`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListCoursesRequest {
    /// `next_cursor` of the previous page. Omit it to get the first page.
    pub cursor: Option<String>,
    /// `limit`.
    pub limit: i32,
    /// `sort`.
    pub sort: schemas::ListSort,
    /// `updated_after`.
    pub updated_after: Option<Timestamp>,
    /// `slug`.
    pub slug: Option<String>,
    /// `language`.
    pub language: Option<String>,
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
}

/// The responses of `listCourses`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListCoursesResponse {
    /// A page of courses.
    #[oai(status = 200)]
    Ok(
        Json<schemas::CourseList>,
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

impl OperationResponse for ListCoursesResponse {
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

/// The parameters and the body of a request of `getCourse`.
#[derive(Debug, Clone, PartialEq)]
pub struct GetCourseRequest {
    /// `id`.
    pub id: String,
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
}

/// The responses of `getCourse`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum GetCourseResponse {
    /// The course.
    #[oai(status = 200)]
    Ok(Json<schemas::CourseDetail>),
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

impl OperationResponse for GetCourseResponse {
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
