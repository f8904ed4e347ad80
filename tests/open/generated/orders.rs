// Generated from tests/open/contract.yaml (sha256 f2079aca1ff6178ccf58e54ab75b552fddb5539f0ae3a2e4142e9003118f5472), do not edit. Run `cargo xtask codegen`.

//! The operations of `Orders`.

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
    /// getJournal
    fn get_journal(
        &self,
        call: Call<Self::Caller>,
        request: GetJournalRequest,
    ) -> impl Future<Output = Result<GetJournalResponse, Self::Error>> + Send;
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
            200 => Some(Self::Ok(Json::Ready(parts.body?))),
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
