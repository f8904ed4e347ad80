// Generated from tests/open_profile/contract.yaml (sha256 e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef), do not edit. Run `cargo xtask codegen`.

//! The operations of `default`.

use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Bytes;

/// The operations of `default`.
pub trait Default: Service {
    /// A public operation without a tag
    fn get_status(
        &self,
        call: Call<Self::Caller>,
        request: GetStatusRequest,
    ) -> impl Future<Output = Result<GetStatusResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `get-status`.
#[derive(Debug, Clone, PartialEq)]
pub struct GetStatusRequest {}

/// The responses of `get-status`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum GetStatusResponse {
    /// The status.
    #[oai(status = 200, content_type = "text/csv")]
    Ok(Bytes),
}

impl OperationResponse for GetStatusResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Bytes(parts.body?))),
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
