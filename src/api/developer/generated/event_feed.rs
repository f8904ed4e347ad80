// Generated from openapi/developer-v1.yaml (sha256 7a234c3704539de2890798470f33b22697c47b081d77810b568ab801726ecb71), do not edit. Run `cargo xtask codegen`.

//! The operations of `event_feed`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::{Json, LineStream};
use contract_runtime::scalar::Timestamp;

/// The events of the workspace, in one order.
pub trait EventFeed: Service {
    /// List events
    ///
    /// Lists the events of the workspace in one order, oldest first, exactly as webhooks receive them. Store `pagination.cursor` of each response together with what you did with its events, and send it as `cursor` of the next request. A reader that follows the cursor receives every event exactly once: no event appears later at a position that a reader has passed.
    ///
    /// Without `cursor`, the list starts with the oldest stored event, or at `after`. The order is that of `sequence`: if one change was committed at least a millisecond before another one began, its events come first. It is not always the order of `created_at`, which is when the platform says that a change happened. Deliveries have the same `sequence` in the header `X-SVC-Sequence`. Test events are not in the list.
    ///
    /// Events are stored for 30 days, and a little longer. An older cursor returns 410, and the message contains the oldest cursor that is available. Cursors also work for `streamEvents`, and with other keys of the workspace.
    ///
    /// If too many requests for events are in progress, the response is an empty page with `has_more`: repeat the request with its cursor.
    fn list_events(
        &self,
        call: Call<Self::Caller>,
        request: ListEventsRequest,
    ) -> impl Future<Output = Result<ListEventsResponse, Self::Error>> + Send;
    /// Stream events
    ///
    /// Sends the events of the workspace as JSON lines, each when it happens. The order, the guarantees and the cursors are those of `listEvents`.
    ///
    /// - Each line has a `cursor`. Store it together with what you did with the event, and send it as `cursor` when you connect again: the stream continues after this line, without a gap and without duplicates.
    /// - The first line is sent at once, and afterwards at least one every 15 seconds. Without an event, `event` and `sequence` are null: a heartbeat, whose `cursor` is also valid. If nothing arrives for longer, connect again.
    /// - The stream ends after 10 minutes, and when the server restarts. Connect again: with 144 requests, a reader can follow the events of a whole day. If the key was revoked, the next request returns 401.
    /// - At most two streams of a key can be open at the same time, and 16 of a workspace. Another request returns 429.
    /// - A reader that reads nothing for 30 seconds is disconnected.
    ///
    /// `creator-api listen` is a client: it sends the events to a server on your machine, signed like deliveries.
    fn stream_events(
        &self,
        call: Call<Self::Caller>,
        request: StreamEventsRequest,
    ) -> impl Future<Output = Result<StreamEventsResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `listEvents`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListEventsRequest {
    /// The `cursor` of an earlier response of `listEvents` or line of `streamEvents`. The filters can differ from those of the earlier request.
    pub cursor: Option<String>,
    /// Maximum number of events.
    pub limit: i32,
    /// Number of seconds to wait for an event if there is none. The response is sent as soon as there is one, or without events when the time is over. With a filter, it can also be sent earlier without events, with `has_more`.
    pub wait: i32,
    /// Only events of this type.
    pub r#type: Option<schemas::EventType>,
    /// Only events that were recorded at or after this time, which must not be in the future. Without effect on a request with a later `cursor`.
    pub after: Option<Timestamp>,
    /// Id of a webhook: only events that were to be sent to it, and that no delivery to it has delivered by now. These are the events whose deliveries to it are pending, held or dead. Not included are events that it did not subscribe to or that did not meet its filter, events from before it was created, and deliveries that were deleted.
    pub undelivered_to: Option<String>,
    /// The `ETag` of an earlier response. If it still matches, the response is 304 without a body. An empty value matches nothing.
    pub if_none_match: Option<String>,
}

/// The responses of `listEvents`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListEventsResponse {
    /// The next events.
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
    Ok(Json<schemas::EventPage>),
    /// Nothing has changed since the response with this `ETag`. There is no body.
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
    /// The API key is missing, malformed, unknown, expired or revoked. The body is the same in all these cases, except for `request_id`.
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
    /// The key is valid, but does not have the scope that the operation requires, or may not be used from the client's address. Or the operation is for sandboxes or for ephemeral servers only.
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
    /// No record with this id exists in the workspace of the key.
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
    /// Events after the cursor are no longer stored. The message contains the oldest available cursor.
    #[oai(
        status = 410,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    Gone(Json<schemas::ErrorEnvelope>),
    /// The body, a parameter or a header failed validation. `error.details` lists the individual errors.
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
    /// The limit of the current minute or day is exhausted, or too many streams are open. Wait for the number of seconds in `Retry-After`.
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
    /// An internal server error. Retry the request with exponential backoff. Include `error.request_id` when you contact support.
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

impl OperationResponse for ListEventsResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
            304 => Some(Self::NotModified),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            404 => Some(Self::NotFound(Json::Serialized(parts.body?))),
            410 => Some(Self::Gone(Json::Serialized(parts.body?))),
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

/// The parameters and the body of a request of `streamEvents`.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEventsRequest {
    /// The `cursor` of an earlier response of `listEvents` or line of `streamEvents`. The filters can differ from those of the earlier request.
    pub cursor: Option<String>,
    /// Without `cursor`, also send the events that were recorded in this number of seconds before the request. At most 2,592,000 (30 days). Without effect on a request with a cursor.
    pub since: i32,
    /// Only events of this type.
    pub r#type: Option<schemas::EventType>,
}

/// The responses of `streamEvents`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum StreamEventsResponse {
    /// One line for each event and each heartbeat.
    #[oai(
        status = 200,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    Ok(LineStream<schemas::EventLine>),
    /// The API key is missing, malformed, unknown, expired or revoked. The body is the same in all these cases, except for `request_id`.
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
    /// The key is valid, but does not have the scope that the operation requires, or may not be used from the client's address. Or the operation is for sandboxes or for ephemeral servers only.
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
    /// Events after the cursor are no longer stored. The message contains the oldest available cursor.
    #[oai(
        status = 410,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String"),
        header(name = "X-RateLimit-Limit", ty = "i32"),
        header(name = "X-RateLimit-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Reset", ty = "i64"),
        header(name = "X-RateLimit-Daily-Limit", ty = "i32"),
        header(name = "X-RateLimit-Daily-Remaining", ty = "i32"),
        header(name = "X-RateLimit-Daily-Reset", ty = "i64")
    )]
    Gone(Json<schemas::ErrorEnvelope>),
    /// The body, a parameter or a header failed validation. `error.details` lists the individual errors.
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
    /// The limit of the current minute or day is exhausted, or too many streams are open. Wait for the number of seconds in `Retry-After`.
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
    /// An internal server error. Retry the request with exponential backoff. Include `error.request_id` when you contact support.
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

impl OperationResponse for StreamEventsResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(LineStream::from_bytes(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            410 => Some(Self::Gone(Json::Serialized(parts.body?))),
            422 => Some(Self::UnprocessableEntity(Json::Serialized(parts.body?))),
            429 => Some(Self::TooManyRequests(Json::Serialized(parts.body?))),
            500 => Some(Self::InternalServerError(Json::Serialized(parts.body?))),
            _ => None,
        }
    }
    fn into_parts(self) -> ResponseParts {
        match self {
            Self::Ok(_) => {
                ResponseParts {
                    status: 200,
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
