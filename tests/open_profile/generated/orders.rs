// Generated from tests/open_profile/contract.yaml (sha256 e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef), do not edit. Run `cargo xtask codegen`.

//! The operations of `Orders`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::{Json, Text};

/// The operations of `Orders`.
pub trait Orders: Service {
    /// listOrders
    fn list_orders(
        &self,
        call: Call<Self::Caller>,
        request: ListOrdersRequest,
    ) -> impl Future<Output = Result<ListOrdersResponse, Self::Error>> + Send;
    /// replaceOrder
    fn replace_order(
        &self,
        call: Call<Self::Caller>,
        request: ReplaceOrderRequest,
    ) -> impl Future<Output = Result<ReplaceOrderResponse, Self::Error>> + Send;
    /// getJournal
    fn get_journal(
        &self,
        call: Call<Self::Caller>,
        request: GetJournalRequest,
    ) -> impl Future<Output = Result<GetJournalResponse, Self::Error>> + Send;
    /// deleteFromJournal
    fn delete_from_journal(
        &self,
        call: Call<Self::Caller>,
        request: DeleteFromJournalRequest,
    ) -> impl Future<Output = Result<DeleteFromJournalResponse, Self::Error>> + Send;
    /// writeJournal
    fn write_journal(
        &self,
        call: Call<Self::Caller>,
        request: WriteJournalRequest,
    ) -> impl Future<Output = Result<WriteJournalResponse, Self::Error>> + Send;
    /// addToJournal
    fn add_to_journal(
        &self,
        call: Call<Self::Caller>,
        request: AddToJournalRequest,
    ) -> impl Future<Output = Result<AddToJournalResponse, Self::Error>> + Send;
    /// editJournal
    fn edit_journal(
        &self,
        call: Call<Self::Caller>,
        request: EditJournalRequest,
    ) -> impl Future<Output = Result<EditJournalResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `listOrders`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListOrdersRequest {
    /// Also the credential.
    pub api_key: String,
    /// `client`.
    pub client: Option<String>,
}

/// The responses of `listOrders`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListOrdersResponse {
    /// The parameters.
    #[oai(status = 200)]
    Ok(Json<Vec<String>>),
}

impl OperationResponse for ListOrdersResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
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
        }
    }
}

/// The parameters and the body of a request of `replaceOrder`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplaceOrderRequest {
    /// The request body.
    pub body: schemas::Order,
}

/// The responses of `replaceOrder`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ReplaceOrderResponse {
    /// The order.
    #[oai(status = 200)]
    Ok(Json<schemas::Order>),
}

impl OperationResponse for ReplaceOrderResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
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
        }
    }
}

/// The parameters and the body of a request of `getJournal`.
#[derive(Debug, Clone, PartialEq)]
pub struct GetJournalRequest {}

/// The responses of `getJournal`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum GetJournalResponse {
    /// The credential.
    #[oai(status = 200)]
    Ok(Text),
}

impl OperationResponse for GetJournalResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Text(String::from_utf8(parts.body?.into()).ok()?))),
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
        }
    }
}

/// The parameters and the body of a request of `deleteFromJournal`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteFromJournalRequest {
    /// The request body.
    pub body: schemas::DeleteFromJournalBody,
}

/// The responses of `deleteFromJournal`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum DeleteFromJournalResponse {
    /// The page.
    #[oai(status = 200)]
    Ok(Json<i64>),
}

impl OperationResponse for DeleteFromJournalResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
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
        }
    }
}

/// The parameters and the body of a request of `writeJournal`.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteJournalRequest {
    /// The request body.
    pub body: String,
}

/// The responses of `writeJournal`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum WriteJournalResponse {
    /// The text.
    #[oai(status = 200, content_type = "text/plain; charset=utf-8")]
    Ok(Text),
}

impl OperationResponse for WriteJournalResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Text(String::from_utf8(parts.body?.into()).ok()?))),
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
        }
    }
}

/// The parameters and the body of a request of `addToJournal`.
#[derive(Debug, Clone, PartialEq)]
pub struct AddToJournalRequest {
    /// The request body.
    pub body: schemas::AddToJournalBody,
}

/// The responses of `addToJournal`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum AddToJournalResponse {
    /// The page.
    #[oai(status = 200, content_type = "Application/JSON; charset=utf-8")]
    Ok(Json<i64>),
}

impl OperationResponse for AddToJournalResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
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
        }
    }
}

/// The parameters and the body of a request of `editJournal`.
#[derive(Debug, Clone, PartialEq)]
pub struct EditJournalRequest {
    /// The request body.
    pub body: serde_json::Value,
}

/// The responses of `editJournal`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum EditJournalResponse {
    /// The value.
    #[oai(status = 200)]
    Ok(Json<serde_json::Value>),
}

impl OperationResponse for EditJournalResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
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
        }
    }
}
