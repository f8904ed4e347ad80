// Generated from openapi/platform-v1.yaml (sha256 857a310c17289eb902ed46acd7f9d0589fa6055246ab259957699bbeea99b713), do not edit. Run `cargo xtask codegen`.

//! The operations of `changes`.

use super::schemas;
use contract_runtime::response::{OperationResponse, ResponseParts};
use contract_runtime::call::Call;
use contract_runtime::service::Service;
use contract_runtime::payload::{Json, LineStream, Lines};

/// Changes of the platform, such as new courses, students and orders.
pub trait Changes: Service {
    /// Import changes
    ///
    /// Applies changes, one per line, and responds with one line per change, in the same order. The response begins before the request ends: send and read at the same time. The length of the body is not limited; a line has at most 256 KiB (262,144 bytes).
    ///
    /// - A result is sent only after its change is committed. If the connection fails, send the lines again from the first one without a result. The `id` of a change makes this safe: a change that was applied is a `duplicate`.
    /// - A rejected change does not affect the others, even if its line is too long or not JSON, or its kind is unknown. Correct it and send it with the same `id`.
    /// - The server reads further lines only when you have read the results of earlier ones. A client that sends the whole body before it reads the response must send small bodies, of at most 64 KiB.
    /// - The import ends early if you do not read results for 30 seconds or send no change for 30 seconds, if the body cannot be decompressed, if the token is revoked or expires, if the server shuts down, or if the database fails. The server then closes the connection without the last chunk of the response.
    /// - Check that the last result is that of your last line that is not empty. To a client behind a proxy that speaks HTTP/1.0, an incomplete response looks complete.
    /// - `creator-api import` on the server's machine applies the same changes from a file.
    /// - The body can be compressed: `Content-Encoding: gzip`.
    fn import_changes(
        &self,
        call: Call<Self::Caller>,
        request: ImportChangesRequest,
    ) -> impl Future<Output = Result<ImportChangesResponse, Self::Error>> + Send;
}

/// The parameters and the body of a request of `importChanges`.
#[derive(Debug)]
pub struct ImportChangesRequest {
    /// Only check the form of each line, and apply nothing. The result of a valid line is `valid`.
    pub dry_run: bool,
    /// The mode of the workspaces. Changes of a workspace with another mode are rejected. With `test`, the changes are those of sandboxes, and `workspace.upsert` is rejected.
    pub mode: schemas::ImportChangesMode,
    /// The request body.
    pub body: Lines<schemas::Change>,
}

/// The responses of `importChanges`.
#[derive(Debug, poem_openapi::ApiResponse)]
pub enum ImportChangesResponse {
    /// One result per change, in the order of the lines.
    #[oai(
        status = 200,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    Ok(LineStream<schemas::ChangeResult>),
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
    /// Too many imports, requests for events or connections are open, or the server is shutting down.
    #[oai(
        status = 503,
        header(name = "Cache-Control", ty = "String"),
        header(name = "X-Request-Id", ty = "String")
    )]
    ServiceUnavailable(
        Json<schemas::ErrorEnvelope>,
        /// Seconds to wait before the next request.
        #[oai(header = "Retry-After")]
        i32,
    ),
}

impl OperationResponse for ImportChangesResponse {
    fn from_parts(parts: ResponseParts) -> Option<Self> {
        match parts.status {
            200 => Some(Self::Ok(LineStream::from_bytes(parts.body?))),
            401 => Some(Self::Unauthorized(Json::Serialized(parts.body?))),
            403 => Some(Self::Forbidden(Json::Serialized(parts.body?))),
            415 => Some(Self::UnsupportedMediaType(Json::Serialized(parts.body?))),
            422 => Some(Self::UnprocessableEntity(Json::Serialized(parts.body?))),
            500 => Some(Self::InternalServerError(Json::Serialized(parts.body?))),
            503 => {
                let retry_after = parts.header("Retry-After")?.parse().ok()?;
                Some(
                    Self::ServiceUnavailable(Json::Serialized(parts.body?), retry_after),
                )
            }
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
            Self::InternalServerError(body) => {
                ResponseParts {
                    status: 500,
                    headers: Vec::new(),
                    body: Some(body.into_bytes()),
                }
            }
            Self::ServiceUnavailable(body, retry_after) => {
                ResponseParts {
                    status: 503,
                    headers: [Some(("Retry-After", retry_after.to_string()))]
                        .into_iter()
                        .flatten()
                        .collect(),
                    body: Some(body.into_bytes()),
                }
            }
        }
    }
}
