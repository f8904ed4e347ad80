// Generated from tests/second_version/contract.yaml (sha256 b7b39e6d9d1e2d70ee707eb0fb4e07ea3e9d5e9280ffc50d55b64c9d112e904d), do not edit. Run `cargo xtask codegen`.

//! The operations of `things`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;
use contract_runtime::scalar::{Date, Timestamp};

/// What can be listed.
pub trait Things: Service {
    /// List things
    ///
    /// Lists things \<sorted\>, as \[asked\].
    ///
    /// - one
    /// - two
    ///
    /// Deprecated in the contract.
    fn list_things(
        &self,
        call: Call<Self::Caller>,
        request: ListThingsRequest,
    ) -> impl Future<Output = Result<ListThingsResponse, Self::Error>> + Send;
    /// Make a thing
    fn create_thing(
        &self,
        call: Call<Self::Caller>,
        request: CreateThingRequest,
    ) -> impl Future<Output = Result<CreateThingResponse, Self::Error>> + Send;
    /// labelThing
    fn label_thing(
        &self,
        call: Call<Self::Caller>,
        request: LabelThingRequest,
    ) -> impl Future<Output = Result<LabelThingResponse, Self::Error>> + Send;
    /// Change what is sent and leave the rest alone
    fn change_thing(
        &self,
        call: Call<Self::Caller>,
        request: ChangeThingRequest,
    ) -> impl Future<Output = Result<ChangeThingResponse, Self::Error>> + Send;
    /// deleteThing
    fn delete_thing(
        &self,
        call: Call<Self::Caller>,
        request: DeleteThingRequest,
    ) -> impl Future<Output = Result<DeleteThingResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `listThings`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListThingsRequest {
    /// `X-Trace`.
    pub x_trace: Option<String>,
    /// The reader's theme.
    pub theme: Option<schemas::ListThingsTheme>,
    /// How many.
    pub limit: i32,
    /// `ratio`.
    pub ratio: Option<f64>,
    /// `exact`.
    pub exact: f32,
    /// `only_open`.
    pub only_open: bool,
    /// `label`.
    pub label: String,
    /// `sort`.
    pub sort: schemas::ListThingsSort,
    /// `since`.
    pub since: Option<Timestamp>,
    /// `day`.
    pub day: Option<Date>,
    /// `level`.
    pub level: Option<schemas::Level>,
    /// `tag`.
    pub tag: Option<Vec<String>>,
    /// `ids`.
    pub ids: Option<Vec<i32>>,
    /// `kinds`.
    pub kinds: Vec<schemas::Kind>,
    /// `X-Marks`.
    pub x_marks: Option<Vec<i64>>,
}

/// The responses of `listThings`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ListThingsResponse {
    /// A list.
    #[oai(status = 200)]
    Ok(
        Json<Vec<schemas::Thing>>,
        /// The next page.
        #[oai(header = "Link")]
        Option<String>,
        /// X-Total
        #[oai(header = "X-Total")]
        i64,
        /// X-Old
        #[oai(header = "X-Old", deprecated)]
        String,
    ),
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::Error>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::Error>),
    /// An error.
    #[oai(status = 410)]
    Gone(Json<schemas::Error>),
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

impl OperationResponse for ListThingsResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => {
                let link = parts.header("Link");
                let x_total = parts.header("X-Total")?.parse().ok()?;
                let x_old = parts.header("X-Old")?;
                Some(Self::Ok(Json::Serialized(parts.body?), link, x_total, x_old))
            }
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
            Self::Ok(body, link, x_total, x_old) => {
                ResponseParts {
                    status: 200,
                    headers: [
                        link.map(|value| ("Link", value)),
                        Some(("X-Total", x_total.to_string())),
                        Some(("X-Old", x_old)),
                    ]
                        .into_iter()
                        .flatten()
                        .collect(),
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

/// The parameters and the body of a request of `createThing`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateThingRequest {
    /// `X-Trace`.
    pub x_trace: Option<String>,
    /// `theme`.
    pub theme: String,
    /// The request body.
    pub body: schemas::NewThing,
}

/// The responses of `createThing`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum CreateThingResponse {
    /// Made.
    #[oai(status = 201)]
    Created(
        Json<schemas::LargeThing>,
        /// Location
        #[oai(header = "Location")]
        String,
    ),
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

impl OperationResponse for CreateThingResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            201 => {
                let location = parts.header("Location")?;
                Some(Self::Created(Json::Serialized(parts.body?), location))
            }
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
            Self::Created(body, location) => {
                ResponseParts {
                    status: 201,
                    headers: [Some(("Location", location))]
                        .into_iter()
                        .flatten()
                        .collect(),
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

/// The parameters and the body of a request of `labelThing`.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelThingRequest {
    /// `id`.
    pub id: i64,
    /// `kind`.
    pub kind: schemas::Kind,
    /// The request body.
    pub body: schemas::LabelThingBody,
}

/// The responses of `labelThing`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum LabelThingResponse {
    /// Done.
    #[oai(status = 204)]
    NoContent(
        /// Location
        #[oai(header = "Location")]
        String,
    ),
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::Error>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::Error>),
    /// An error.
    #[oai(status = 404)]
    NotFound(Json<schemas::Error>),
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

impl OperationResponse for LabelThingResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            204 => {
                let location = parts.header("Location")?;
                Some(Self::NoContent(location))
            }
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            404 => Some(Self::NotFound(Json::Serialized(parts.body?))),
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
            Self::NoContent(location) => {
                ResponseParts {
                    status: 204,
                    headers: [Some(("Location", location))]
                        .into_iter()
                        .flatten()
                        .collect(),
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

/// The parameters and the body of a request of `changeThing`.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeThingRequest {
    /// `id`.
    pub id: i64,
    /// `kind`.
    pub kind: schemas::Kind,
    /// The request body.
    pub body: schemas::ThingPatch,
}

/// The responses of `changeThing`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ChangeThingResponse {
    /// What was sent.
    #[oai(status = 200)]
    Ok(Json<schemas::ChangeThingOkBody>),
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

impl OperationResponse for ChangeThingResponse {
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

/// The parameters and the body of a request of `deleteThing`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteThingRequest {
    /// `id`.
    pub id: i64,
    /// `kind`.
    pub kind: schemas::Kind,
}

/// The responses of `deleteThing`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum DeleteThingResponse {
    /// Soon.
    #[oai(status = 202)]
    Accepted,
    /// An error.
    #[oai(status = 401)]
    Unauthorized(Json<schemas::Error>),
    /// An error.
    #[oai(status = 403)]
    Forbidden(Json<schemas::Error>),
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

impl OperationResponse for DeleteThingResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            202 => Some(Self::Accepted),
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
            Self::Accepted => {
                ResponseParts {
                    status: 202,
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
