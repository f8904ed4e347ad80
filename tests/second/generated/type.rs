// Generated from tests/second/contract.yaml (sha256 aa032c0ab21254017e0bc564370240675dd413c8491fee50aa92322661d895bd), do not edit. Run `cargo xtask codegen`.

//! The operations of `type`.

use super::schemas;
use api::answer::{Answer, Parts};
use api::call::Call;
use api::error::Reply;
use api::payload::{Bytes, Json, Text};

/// The operations of `type`.
pub trait Type: Send + Sync + 'static {
    /// pay
    fn pay(
        &self,
        call: Call,
        request: PayRequest,
    ) -> impl Future<Output = Reply<PayResponse>> + Send;
    /// note
    fn note(
        &self,
        call: Call,
        request: NoteRequest,
    ) -> impl Future<Output = Reply<NoteResponse>> + Send;
    /// upload
    fn upload(
        &self,
        call: Call,
        request: UploadRequest,
    ) -> impl Future<Output = Reply<UploadResponse>> + Send;
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
