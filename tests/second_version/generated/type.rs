// Generated from tests/second_version/contract.yaml (sha256 b7b39e6d9d1e2d70ee707eb0fb4e07ea3e9d5e9280ffc50d55b64c9d112e904d), do not edit. Run `cargo xtask codegen`.

//! The operations of `type`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::{Bytes, Json, LineStream, Lines, Text};

/// The operations of `type`.
pub trait Type: Service {
    /// pay
    fn pay(
        &self,
        call: Call<Self::Caller>,
        request: PayRequest,
    ) -> impl Future<Output = Result<PayResponse, Self::Error>> + Send;
    /// note
    fn note(
        &self,
        call: Call<Self::Caller>,
        request: NoteRequest,
    ) -> impl Future<Output = Result<NoteResponse, Self::Error>> + Send;
    /// importNotes
    fn import_notes(
        &self,
        call: Call<Self::Caller>,
        request: ImportNotesRequest,
    ) -> impl Future<Output = Result<ImportNotesResponse, Self::Error>> + Send;
    /// upload
    fn upload(
        &self,
        call: Call<Self::Caller>,
        request: UploadRequest,
    ) -> impl Future<Output = Result<UploadResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `pay`.
#[derive(Debug, Clone, PartialEq)]
pub struct PayRequest {
    /// The request body.
    pub body: schemas::Payment,
}

/// The responses of `pay`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum PayResponse {
    /// The payment again, with what it was for.
    #[oai(status = 200)]
    Ok(Json<schemas::PayOkBody>),
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::Error>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::Error>),
    /// An error.
    #[oai(status = 413)]
    PayloadTooLarge(Json<schemas::Error>),
    /// An error.
    #[oai(status = 415)]
    UnsupportedMediaType(Json<schemas::Error>),
    /// An error.
    #[oai(status = 422)]
    UnprocessableEntity(Json<schemas::Error>),
    /// An error.
    #[oai(status = 429)]
    TooManyRequests(Json<schemas::Error>),
    /// An error.
    #[oai(status = 500)]
    InternalServerError(Json<schemas::Error>),
}

impl OperationResponse for PayResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Serialized(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            413 => Some(Self::PayloadTooLarge(Json::Serialized(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Serialized(parts.body?))),
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
            Self::PayloadTooLarge(body) => {
                ResponseParts {
                    status: 413,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnsupportedMediaType(body) => {
                ResponseParts {
                    status: 415,
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

/// The parameters and the body of a request of `note`.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteRequest {
    /// The request body.
    pub body: String,
}

/// The responses of `note`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum NoteResponse {
    /// The note in capitals.
    #[oai(status = 200)]
    Ok(Text),
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::Error>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::Error>),
    /// An error.
    #[oai(status = 413)]
    PayloadTooLarge(Json<schemas::Error>),
    /// An error.
    #[oai(status = 415)]
    UnsupportedMediaType(Json<schemas::Error>),
    /// An error.
    #[oai(status = 422)]
    UnprocessableEntity(Json<schemas::Error>),
    /// An error.
    #[oai(status = 429)]
    TooManyRequests(Json<schemas::Error>),
    /// An error.
    #[oai(status = 500)]
    InternalServerError(Json<schemas::Error>),
}

impl OperationResponse for NoteResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Text(String::from_utf8(parts.body?.into()).ok()?))),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            413 => Some(Self::PayloadTooLarge(Json::Serialized(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Serialized(parts.body?))),
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
            Self::PayloadTooLarge(body) => {
                ResponseParts {
                    status: 413,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnsupportedMediaType(body) => {
                ResponseParts {
                    status: 415,
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

/// The parameters and the body of a request of `importNotes`.
#[derive(Debug)]
pub struct ImportNotesRequest {
    /// The request body.
    pub body: Lines<schemas::ImportNotesBody>,
}

/// The responses of `importNotes`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ImportNotesResponse {
    /// One line for each note, until one is not valid.
    #[oai(status = 200)]
    Ok(LineStream<schemas::ImportNotesOkBody>),
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::Error>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::Error>),
    /// An error.
    #[oai(status = 415)]
    UnsupportedMediaType(Json<schemas::Error>),
    /// An error.
    #[oai(status = 422)]
    UnprocessableEntity(Json<schemas::Error>),
    /// An error.
    #[oai(status = 429)]
    TooManyRequests(Json<schemas::Error>),
    /// An error.
    #[oai(status = 500)]
    InternalServerError(Json<schemas::Error>),
}

impl OperationResponse for ImportNotesResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(LineStream::from_bytes(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Serialized(parts.body?))),
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
            Self::UnsupportedMediaType(body) => {
                ResponseParts {
                    status: 415,
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

/// The parameters and the body of a request of `upload`.
#[derive(Debug, Clone, PartialEq)]
pub struct UploadRequest {
    /// The request body.
    pub body: bytes::Bytes,
}

/// The responses of `upload`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum UploadResponse {
    /// The bytes, last one first.
    #[oai(status = 200)]
    Ok(Bytes),
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::Error>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::Error>),
    /// An error.
    #[oai(status = 413)]
    PayloadTooLarge(Json<schemas::Error>),
    /// An error.
    #[oai(status = 415)]
    UnsupportedMediaType(Json<schemas::Error>),
    /// An error.
    #[oai(status = 422)]
    UnprocessableEntity(Json<schemas::Error>),
    /// An error.
    #[oai(status = 429)]
    TooManyRequests(Json<schemas::Error>),
    /// An error.
    #[oai(status = 500)]
    InternalServerError(Json<schemas::Error>),
}

impl OperationResponse for UploadResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Bytes(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            413 => Some(Self::PayloadTooLarge(Json::Serialized(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Serialized(parts.body?))),
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
            Self::PayloadTooLarge(body) => {
                ResponseParts {
                    status: 413,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnsupportedMediaType(body) => {
                ResponseParts {
                    status: 415,
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
