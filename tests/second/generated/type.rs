// Generated from tests/second/contract.yaml (sha256 e3a43ab80e6d5ab832cc98eed45d56e1447e4c20cc7c831644561023b3683b9f), do not edit. Run `cargo xtask codegen`.

//! The operations of `type`.

use super::schemas;
use contract_runtime::answer::{Answer, Parts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::{Bytes, Json, Text};

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
    /// upload
    fn upload(
        &self,
        call: Call<Self::Caller>,
        request: UploadRequest,
    ) -> impl Future<Output = Result<UploadResponse, Self::Error>> + Send;
}

/// What `pay` is called with.
#[derive(Debug, Clone, PartialEq)]
pub struct PayRequest {
    /// The body.
    pub body: schemas::Payment,
}

/// The answers of `pay`.
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

impl Answer for PayResponse {
    fn from_parts(parts: Parts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Json::Ready(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Ready(parts.body?))),
            403 => Some(Self::Forbidden(Json::Ready(parts.body?))),
            413 => Some(Self::PayloadTooLarge(Json::Ready(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Ready(parts.body?))),
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
            Self::PayloadTooLarge(body) => {
                Parts {
                    status: 413,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnsupportedMediaType(body) => {
                Parts {
                    status: 415,
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

/// What `note` is called with.
#[derive(Debug, Clone, PartialEq)]
pub struct NoteRequest {
    /// The body.
    pub body: String,
}

/// The answers of `note`.
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

impl Answer for NoteResponse {
    fn from_parts(parts: Parts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Text(String::from_utf8(parts.body?.into()).ok()?))),
            401 => Some(Self::Unauthorized(Json::Ready(parts.body?))),
            403 => Some(Self::Forbidden(Json::Ready(parts.body?))),
            413 => Some(Self::PayloadTooLarge(Json::Ready(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Ready(parts.body?))),
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
            Self::PayloadTooLarge(body) => {
                Parts {
                    status: 413,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnsupportedMediaType(body) => {
                Parts {
                    status: 415,
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

/// What `upload` is called with.
#[derive(Debug, Clone, PartialEq)]
pub struct UploadRequest {
    /// The body.
    pub body: bytes::Bytes,
}

/// The answers of `upload`.
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

impl Answer for UploadResponse {
    fn from_parts(parts: Parts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(Bytes(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Ready(parts.body?))),
            403 => Some(Self::Forbidden(Json::Ready(parts.body?))),
            413 => Some(Self::PayloadTooLarge(Json::Ready(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Ready(parts.body?))),
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
            Self::PayloadTooLarge(body) => {
                Parts {
                    status: 413,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::UnsupportedMediaType(body) => {
                Parts {
                    status: 415,
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
