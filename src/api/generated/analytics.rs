// Generated from openapi/v1.yaml (sha256 b75fab985b3114554580d493e8648edd12dfeb887f31ee7195d3ce598b11c873), do not edit. Run `cargo xtask codegen`.

//! The operations of `analytics`.

use super::schemas;
use contract_runtime::answer::{Answer, Parts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;
use contract_runtime::scalar::Timestamp;

/// Aggregate revenue and completion metrics over a window of time.
pub trait Analytics: Service {
    /// Read aggregate revenue and completion metrics
    ///
    /// Sums up what happened in the workspace from `from` up to `to`.
    ///
    /// - Revenue is given apart for each currency. `gross_amount` is the sum of `total_amount` over the orders whose `paid_at` lies in the window, `refunded_amount` the sum of the refunds whose own `created_at` does, and `net_amount` the first less the second. They equal the sums over `listOrders`, to the minor unit.
    /// - `students.total` counts the students created before `to`; `enrollments.active` counts the enrollments created before `to` that are active now.
    /// - `completion` looks at the cohort of the enrollments created in the window, and at how far they have come by now.
    /// - With `courseId`, orders that hold an item of that course count with their whole amount, refunds of such orders likewise, and everything else counts for that course only. A course that does not exist gives zeros.
    /// - Without `from` and `to` the window is the last 30 days, up to the time of the request.
    fn get_analytics_summary(
        &self,
        call: Call<Self::Caller>,
        request: GetAnalyticsSummaryRequest,
    ) -> impl Future<Output = Result<GetAnalyticsSummaryResponse, Self::Error>> + Send;
}

/// What `getAnalyticsSummary` is called with.
#[derive(Debug, Clone, PartialEq)]
pub struct GetAnalyticsSummaryRequest {
    /// Begin of the window, inclusive. Give both `from` and `to`, or neither.
    pub from: Option<Timestamp>,
    /// End of the window, exclusive. It is later than `from`, by 366 days at most.
    pub to: Option<Timestamp>,
    /// IANA time zone in which days, weeks and months of `series` begin, such as `Europe/Berlin`.
    pub timezone: String,
    /// Only what concerns this course.
    pub course_id: Option<String>,
    /// Length of the points of `series`. Without it `series` is empty.
    pub interval: Option<schemas::Interval>,
    /// The `ETag` of an earlier response. When it still holds, the answer is 304 without a body.
    pub if_none_match: Option<String>,
}

/// The answers of `getAnalyticsSummary`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum GetAnalyticsSummaryResponse {
    /// The summary.
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
    Ok(Json<schemas::AnalyticsSummary>),
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

impl Answer for GetAnalyticsSummaryResponse {
    fn from_parts(parts: Parts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Ready(parts.body?))),
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
