// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! The operations of `event_feed`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;
use contract_runtime::scalar::Timestamp;

/// The events of all workspaces, in one order.
pub trait EventFeed: Service {
    /// List events
    ///
    /// Lists the events of all workspaces, except sandboxes, in one total order, oldest first. Store `pagination.cursor` of each response together with what you did with its events, and send it as `cursor` of the next request. A reader that follows the cursor receives every event exactly once: no event appears later at a position that a reader has passed.
    ///
    /// Without `cursor`, the list starts with the oldest stored event, or at `after`. The order is that of `sequence`: if one change was committed at least a millisecond before another one began, its events come first. It is not always the order of `created_at`, which is when the platform says that a change happened.
    ///
    /// The list also contains the events of changes that the platform imported.
    ///
    /// Events are stored for 30 days, and a little longer. An older cursor returns 410, and the message contains the oldest cursor that is available.
    fn list_events(
        &self,
        call: Call<Self::Caller>,
        request: ListEventsRequest,
    ) -> impl Future<Output = Result<ListEventsResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `listEvents`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListEventsRequest {
    /// `pagination.cursor` of the previous response. The filters can differ from those of the previous request.
    pub cursor: Option<String>,
    /// Maximum number of events.
    pub limit: i32,
    /// Number of seconds to wait for an event if there is none. The response is sent as soon as there is one, or without events when the time is over. It can also be sent earlier without events, with `has_more`, if many events were left out.
    pub wait: i32,
    /// Only events of this type.
    pub r#type: Option<schemas::ListEventsType>,
    /// Only events of this workspace.
    pub workspace_id: Option<String>,
    /// Only events of workspaces with this mode: `live`, or `test` for sandboxes.
    pub mode: schemas::ListEventsMode,
    /// Only events that were recorded at or after this time, which must not be in the future. Without effect on a request with a later `cursor`.
    pub after: Option<Timestamp>,
}

/// The responses of `listEvents`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListEventsResponse {
    /// The next events.
    #[oai(
        status = 200,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    Ok(Json<schemas::EventPage>),
    /// The token is missing, malformed, unknown, expired or revoked.
    #[oai(
        status = 401,
        header(name = "WWW-Authenticate", ty = "String"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    Unauthorized(Json<schemas::ErrorEnvelope>),
    /// The token is valid, but does not have the scope that the operation requires.
    #[oai(
        status = 403,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    Forbidden(Json<schemas::ErrorEnvelope>),
    /// Events after the cursor are no longer stored. The message contains the oldest available cursor.
    #[oai(
        status = 410,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    Gone(Json<schemas::ErrorEnvelope>),
    /// A parameter or the body failed validation. `error.details` lists the individual errors.
    #[oai(
        status = 422,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    UnprocessableEntity(Json<schemas::ErrorEnvelope>),
    /// An internal server error. Retry the request with exponential backoff.
    #[oai(
        status = 500,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    InternalServerError(Json<schemas::ErrorEnvelope>),
    /// Too many imports, requests for events or connections are open, or the server is shutting down.
    #[oai(
        status = 503,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    ServiceUnavailable(
        Json<schemas::ErrorEnvelope>,
        /// Seconds to wait before the next request.
        #[oai(header = "Retry-After")]
        i32,
    ),
}

impl OperationResponse for ListEventsResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            410 => Some(Self::Gone(Json::Serialized(parts.body?))),
            422 => Some(Self::UnprocessableEntity(Json::Serialized(parts.body?))),
            500 => Some(Self::InternalServerError(Json::Serialized(parts.body?))),
            503 => {
                let retry_after = parts.header("Retry-After")?.parse().ok()?;
                Some(
                    Self::ServiceUnavailable(Json::Serialized(parts.body?), retry_after),
                )
            }
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
            Self::Gone(body) => {
                ResponseParts {
                    status: 410,
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
            Self::InternalServerError(body) => {
                ResponseParts {
                    status: 500,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::ServiceUnavailable(body, retry_after) => {
                ResponseParts {
                    status: 503,
                    headers: [Some(("Retry-After", retry_after.to_string()))]
                        .into_iter()
                        .flatten()
                        .collect(),
                    body: Some(body.into_bytes()),
                }
            }
        }
    }
}
