// Generated from tests/open_profile/contract.yaml (sha256 e45e821c32f875d53d482be9d999431e885ca8dd36d2236214724844bae428ef), do not edit. Run `cargo xtask codegen`.

//! The operations of `Operations API`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts, StatusCode};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::{Json, LineStream, Lines, NoBody, TypedBytes};

/// The name of a generated module.
pub trait OperationsApi: Service {
    /// A list with the security of the document
    fn get_tools(
        &self,
        call: Call<Self::Caller>,
        request: GetToolsRequest,
    ) -> impl Future<Output = Result<GetToolsResponse, Self::Error>> + Send;
    /// createTool
    fn create_tool(
        &self,
        call: Call<Self::Caller>,
        request: CreateToolRequest,
    ) -> impl Future<Output = Result<CreateToolResponse, Self::Error>> + Send;
    /// listToolNames
    fn list_tool_names(
        &self,
        call: Call<Self::Caller>,
        request: ListToolNamesRequest,
    ) -> impl Future<Output = Result<ListToolNamesResponse, Self::Error>> + Send;
    /// importTools
    fn import_tools(
        &self,
        call: Call<Self::Caller>,
        request: ImportToolsRequest,
    ) -> impl Future<Output = Result<ImportToolsResponse, Self::Error>> + Send;
    /// checkTools
    fn check_tools(
        &self,
        call: Call<Self::Caller>,
        request: CheckToolsRequest,
    ) -> impl Future<Output = Result<CheckToolsResponse, Self::Error>> + Send;
    /// addNote
    fn add_note(
        &self,
        call: Call<Self::Caller>,
        request: AddNoteRequest,
    ) -> impl Future<Output = Result<AddNoteResponse, Self::Error>> + Send;
    /// attach
    fn attach(
        &self,
        call: Call<Self::Caller>,
        request: AttachRequest,
    ) -> impl Future<Output = Result<AttachResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `GetTools`.
#[derive(Debug, Clone, PartialEq)]
pub struct GetToolsRequest {
    /// `pageSize`.
    pub page_size: i64,
    /// `minRating`.
    pub min_rating: Option<i64>,
    /// `shade`.
    pub shade: Option<schemas::GetToolsShade>,
    /// `makers`.
    pub makers: Option<Vec<String>>,
    /// `colorCode`.
    pub color_code: Option<String>,
}

/// The responses of `GetTools`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum GetToolsResponse {
    /// The tools.
    #[oai(status = 200, content_type = "application/vnd.workshop+json")]
    Ok(
        Json<Vec<schemas::Tool>>,
        /// X-Total
        #[oai(header = "X-Total")]
        i64,
    ),
    /// A problem.
    #[oai(status_range = "4XX", content_type = "application/problem+json")]
    Status4xx(
        /// The status.
        StatusCode,
        Json<schemas::Problem>,
    ),
    /// Another status without a body.
    Default(
        /// The status.
        StatusCode,
        NoBody,
    ),
}

impl OperationResponse for GetToolsResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => {
                let x_total = parts.header("X-Total")?.parse().ok()?;
                Some(Self::Ok(Json::Serialized(parts.body?), x_total))
            }
            400..=499 => {
                Some(
                    Self::Status4xx(
                        StatusCode::from_u16(parts.status).ok()?,
                        Json::Serialized(parts.body?),
                    ),
                )
            }
            _ => Some(Self::Default(StatusCode::from_u16(parts.status).ok()?, NoBody)),
        }
    }
    fn into_parts(self) -> ResponseParts {
        match self {
            Self::Ok(body, x_total) => {
                ResponseParts {
                    status: 200,
                    headers: [Some(("X-Total", x_total.to_string()))]
                        .into_iter()
                        .flatten()
                        .collect(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::Status4xx(status, body) => {
                ResponseParts {
                    status: status.as_u16(),
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::Default(status, NoBody) => {
                ResponseParts {
                    status: status.as_u16(),
                    headers: Vec::new(),
                    body: None,
                }
            }
        }
    }
}

/// The parameters and the body of a request of `createTool`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateToolRequest {
    /// The request body.
    pub body: schemas::NewTool,
}

/// The responses of `createTool`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum CreateToolResponse {
    /// The tool.
    #[oai(status = 201)]
    Created(Json<schemas::Tool>),
    /// A problem.
    #[oai(status = 409, content_type = "application/problem+json")]
    Conflict(Json<schemas::Problem>),
}

impl OperationResponse for CreateToolResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            201 => Some(Self::Created(Json::Serialized(parts.body?))),
            409 => Some(Self::Conflict(Json::Serialized(parts.body?))),
            _ => None,
        }
    }
    fn into_parts(self) -> ResponseParts {
        match self {
            Self::Created(body) => {
                ResponseParts {
                    status: 201,
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
        }
    }
}

/// The parameters and the body of a request of `listToolNames`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListToolNamesRequest {}

/// The responses of `listToolNames`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListToolNamesResponse {
    /// One line for each tool.
    #[oai(status = 200)]
    Ok(LineStream<String>),
}

impl OperationResponse for ListToolNamesResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(LineStream::from_bytes(parts.body?))),
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
        }
    }
}

/// The parameters and the body of a request of `importTools`.
#[derive(Debug)]
pub struct ImportToolsRequest {
    /// The request body.
    pub body: Lines<schemas::NewTool>,
}

/// The responses of `importTools`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ImportToolsResponse {
    /// One line for each line of the request.
    #[oai(status = 200)]
    Ok(LineStream<schemas::ImportToolsOkBody>),
}

impl OperationResponse for ImportToolsResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(LineStream::from_bytes(parts.body?))),
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
        }
    }
}

/// The parameters and the body of a request of `checkTools`.
#[derive(Debug)]
pub struct CheckToolsRequest {
    /// The request body.
    pub body: Lines<schemas::NewTool>,
}

/// The responses of `checkTools`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum CheckToolsResponse {
    /// The names of the tools, until one cannot be checked.
    #[oai(status = 200)]
    Ok(LineStream<String>),
}

impl OperationResponse for CheckToolsResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(LineStream::from_bytes(parts.body?))),
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
        }
    }
}

/// The parameters and the body of a request of `addNote`.
#[derive(Debug, Clone, PartialEq)]
pub struct AddNoteRequest {
    /// `toolId`.
    pub tool_id: String,
    /// The request body.
    pub body: Option<schemas::AddNoteBody>,
}

/// The responses of `addNote`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum AddNoteResponse {
    /// The note.
    #[oai(status = 200)]
    Ok(Json<std::collections::BTreeMap<String, serde_json::Value>>),
}

impl OperationResponse for AddNoteResponse {
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

/// The parameters and the body of a request of `attach`.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachRequest {
    /// `toolId`.
    pub tool_id: String,
    /// The request body.
    pub body: Option<bytes::Bytes>,
}

/// The responses of `attach`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum AttachResponse {
    /// The image.
    #[oai(status = 200)]
    Ok(TypedBytes),
    /// There was no image.
    #[oai(status = 204)]
    NoContent,
}

impl OperationResponse for AttachResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => {
                Some(
                    Self::Ok(TypedBytes {
                        media_type: parts.header("Content-Type")?,
                        bytes: parts.body?,
                    }),
                )
            }
            204 => Some(Self::NoContent),
            _ => None,
        }
    }
    fn into_parts(self) -> ResponseParts {
        match self {
            Self::Ok(body) => {
                ResponseParts {
                    status: 200,
                    headers: [Some(("Content-Type", body.media_type.clone()))]
                        .into_iter()
                        .flatten()
                        .collect(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::NoContent => {
                ResponseParts {
                    status: 204,
                    headers: Vec::new(),
                    body: None,
                }
            }
        }
    }
}
