// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! The operations of `dashboard_links`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::Json;

/// Links that sign a person in to the dashboard.
pub trait DashboardLinks: Service {
    /// Create a sign-in link to the dashboard
    ///
    /// Returns a link that signs a person in to the dashboard of a workspace, so that the platform's own pages can have a button "Developer settings". The link is valid once and for 60 seconds: create it when the person chooses the button, and redirect the browser to it at once. It stops working when the person sets a password or signs out sessions.
    ///
    /// A person who is not a member of the workspace becomes one, even if the workspace removed this person before. `role` states what the new member may do; by default, a member manages API keys, webhooks, courses, students and orders. Call this operation only with email addresses that you have verified: the person can also switch to the other workspaces of this address.
    ///
    /// If the browser is signed in as another person, a page asks for confirmation first.
    fn create_dashboard_link(
        &self,
        call: Call<Self::Caller>,
        request: CreateDashboardLinkRequest,
    ) -> impl Future<Output = Result<CreateDashboardLinkResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `createDashboardLink`.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateDashboardLinkRequest {
    /// The request body.
    pub body: schemas::NewDashboardLink,
}

/// The responses of `createDashboardLink`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum CreateDashboardLinkResponse {
    /// The link was created.
    #[oai(
        status = 201,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    Created(Json<schemas::DashboardLink>),
    /// The token is missing, malformed, unknown, expired or revoked.
    #[oai(
        status = 401,
        header(name = "WWW-Authenticate", ty = "String"),
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    Unauthorized(Json<schemas::ErrorEnvelope>),
    /// The token is valid, but does not have the scope that the operation requires.
    #[oai(
        status = 403,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    Forbidden(Json<schemas::ErrorEnvelope>),
    /// The workspace does not exist.
    #[oai(
        status = 404,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    NotFound(Json<schemas::ErrorEnvelope>),
    /// The request body is larger than 256 KiB (262,144 bytes).
    #[oai(
        status = 413,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    PayloadTooLarge(Json<schemas::ErrorEnvelope>),
    /// The body does not have the documented media type, or has an encoding that is not supported.
    #[oai(
        status = 415,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    UnsupportedMediaType(Json<schemas::ErrorEnvelope>),
    /// A parameter or the body failed validation. `error.details` lists the individual errors.
    #[oai(
        status = 422,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    UnprocessableEntity(Json<schemas::ErrorEnvelope>),
    /// An internal server error. Retry the request with exponential backoff.
    #[oai(
        status = 500,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    InternalServerError(Json<schemas::ErrorEnvelope>),
}

impl OperationResponse for CreateDashboardLinkResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            201 => Some(Self::Created(Json::Serialized(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            404 => Some(Self::NotFound(Json::Serialized(parts.body?))),
            413 => Some(Self::PayloadTooLarge(Json::Serialized(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Serialized(parts.body?))),
            422 => Some(Self::UnprocessableEntity(Json::Serialized(parts.body?))),
            500 => Some(Self::InternalServerError(Json::Serialized(parts.body?))),
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
