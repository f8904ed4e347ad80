// Generated from tests/it/rehearsal/v2.yaml (sha256 ed84963bdcaa9cb541f49980fa61eddaf2358629fad989072505beb9c4c6a3fa), do not edit. Run `cargo xtask codegen`.

//! The operations of `orders`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;
use contract_runtime::scalar::Timestamp;

/// Orders with their receipts, refunds and entitlements.
pub trait Orders: Service {
    /// List orders with receipts and entitlement history
    fn list_orders(
        &self,
        call: Call<Self::Caller>,
        request: ListOrdersRequest,
    ) -> impl Future<Output = Result<ListOrdersResponse, Self::Error>> + Send;
    /// Retrieve an order
    fn get_order(
        &self,
        call: Call<Self::Caller>,
        request: GetOrderRequest,
    ) -> impl Future<Output = Result<GetOrderResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `listOrders`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListOrdersRequest {
    /// `next_cursor` of the previous page. Omit it to get the first page.
    pub cursor: Option<String>,
    /// `limit`.
    pub limit: i32,
    /// `sort`.
    pub sort: schemas::ListSort,
    /// `updated_after`.
    pub updated_after: Option<Timestamp>,
    /// `student_id`.
    pub student_id: Option<String>,
    /// `course_id`.
    pub course_id: Option<String>,
    /// `status`.
    pub status: Option<schemas::OrderStatus>,
    /// `currency`.
    pub currency: Option<String>,
    /// `number`.
    pub number: Option<String>,
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
}

/// The responses of `listOrders`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListOrdersResponse {
    /// A page of orders.
    #[oai(status = 200)]
    Ok(
        Json<schemas::OrderList>,
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

impl OperationResponse for ListOrdersResponse {
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

/// The parameters and the body of a request of `getOrder`.
#[derive(Debug, Clone, PartialEq)]
pub struct GetOrderRequest {
    /// `id`.
    pub id: String,
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
}

/// The responses of `getOrder`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum GetOrderResponse {
    /// The order.
    #[oai(status = 200)]
    Ok(Json<schemas::Order>),
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

impl OperationResponse for GetOrderResponse {
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
