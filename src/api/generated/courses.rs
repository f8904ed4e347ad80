// Generated from openapi/v1.yaml (sha256 b75fab985b3114554580d493e8648edd12dfeb887f31ee7195d3ce598b11c873), do not edit. Run `cargo xtask codegen`.

//! The operations of `courses`.

use super::schemas;
use contract_runtime::answer::{Answer, Parts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;
use contract_runtime::scalar::Timestamp;

/// Published courses, with their modules and the metadata of their lessons.
pub trait Courses: Service {
    /// List published courses
    ///
    /// Lists the published courses of the workspace, page by page. Drafts and archived courses are not listed. The modules of a course are part of `getCourse` only.
    fn list_courses(
        &self,
        call: Call<Self::Caller>,
        request: ListCoursesRequest,
    ) -> impl Future<Output = Result<ListCoursesResponse, Self::Error>> + Send;
    /// Fetch one course
    ///
    /// Fetches a published or archived course with its modules and the metadata of their lessons. A draft is answered with 404, as if it did not exist.
    fn get_course(
        &self,
        call: Call<Self::Caller>,
        request: GetCourseRequest,
    ) -> impl Future<Output = Result<GetCourseResponse, Self::Error>> + Send;
}

/// What `listCourses` is called with.
#[derive(Debug, Clone, PartialEq)]
pub struct ListCoursesRequest {
    /// `pagination.cursor` of the page before. Leave it out for the first page. The filters and `sort` must be those of the first page.
    pub cursor: Option<String>,
    /// Greatest number of items of the page.
    pub limit: i32,
    /// Order of the list.
    pub sort: schemas::CourseSort,
    /// Only items with `created_at` at or after this time.
    pub created_after: Option<Timestamp>,
    /// Only items with `created_at` before this time.
    pub created_before: Option<Timestamp>,
    /// Only items with `updated_at` at or after this time. With `sort=updated_at` this is a complete delta sync.
    pub updated_after: Option<Timestamp>,
    /// Only items with `updated_at` before this time.
    pub updated_before: Option<Timestamp>,
    /// Only the course with this slug.
    pub slug: Option<String>,
    /// Only courses in this language, a BCP 47 tag. The whole tag is compared, without regard to case: `en` does not find `en-GB`.
    pub language: Option<String>,
    /// The `ETag` of an earlier response. When it still holds, the answer is 304 without a body.
    pub if_none_match: Option<String>,
}

/// The answers of `listCourses`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListCoursesResponse {
    /// A page of courses.
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
        Json<schemas::CourseList>,
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

impl Answer for ListCoursesResponse {
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

/// What `getCourse` is called with.
#[derive(Debug, Clone, PartialEq)]
pub struct GetCourseRequest {
    /// Id of the course. One that does not resolve in the workspace of the key is 404, whether it is malformed, of another kind, absent or of another workspace.
    pub id: String,
    /// The `ETag` of an earlier response. When it still holds, the answer is 304 without a body.
    pub if_none_match: Option<String>,
}

/// The answers of `getCourse`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum GetCourseResponse {
    /// The course.
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
    Ok(Json<schemas::CourseDetail>),
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

impl Answer for GetCourseResponse {
    fn from_parts(parts: Parts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Ready(parts.body?))),
            304 => Some(Self::NotModified),
            401 => Some(Self::Unauthorized(Json::Ready(parts.body?))),
            403 => Some(Self::Forbidden(Json::Ready(parts.body?))),
            404 => Some(Self::NotFound(Json::Ready(parts.body?))),
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
            Self::NotFound(body) => {
                Parts {
                    status: 404,
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
