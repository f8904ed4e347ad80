//! The contract for people and programs: Swagger UI, and the documents themselves, byte for byte.

use std::sync::Arc;

use poem::http::{HeaderValue, StatusCode, header};
use poem::{Body, Request, Response};
use utoipa_swagger_ui::{Config, Url};

use super::page;
use crate::api::generated::document;
use crate::api::middleware::{Coding, etag};

/// What Swagger UI needs: its own scripts; styles and images that it writes into the page itself.
const SWAGGER_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Swagger UI over the contract.
pub(super) struct Docs {
    config: Arc<Config<'static>>,
}

impl Docs {
    pub(super) fn new() -> Self {
        let config = Config::new([Url::new(document::TITLE, "/openapi/v1.json")])
            .persist_authorization(true)
            .try_it_out_enabled(true)
            .display_operation_id(true)
            .display_request_duration(true)
            .deep_linking(true)
            .default_model_rendering("model")
            .validator_url("none");
        Self { config: Arc::new(config) }
    }

    /// One of Swagger UI's files; the page itself for the empty name.
    pub(super) fn swagger(&self, file: &str) -> Response {
        match utoipa_swagger_ui::serve(file, Arc::clone(&self.config)) {
            Ok(Some(found)) => {
                let cache = if file.is_empty() || file.ends_with("initializer.js") {
                    "no-cache"
                } else {
                    "public, max-age=3600"
                };
                let mut response = Response::builder()
                    .content_type(&found.content_type)
                    .header(header::CACHE_CONTROL, cache)
                    .body(Body::from_vec(found.bytes.into_owned()));
                if found.gzpipped {
                    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                }
                page::guard(response, SWAGGER_POLICY)
            }
            Ok(None) => page::not_found(),
            Err(error) => {
                tracing::error!(%error, file, "Swagger UI could not be served");
                page::plain(StatusCode::INTERNAL_SERVER_ERROR, "Swagger UI could not be served.\n")
            }
        }
    }
}

/// One of the contract's documents.
pub(super) struct Document {
    text: &'static str,
    media_type: &'static str,
}

impl Document {
    /// The document behind a file's name.
    pub(super) fn named(file: &str) -> Option<Self> {
        let (text, media_type) = match file {
            "v1.yaml" => (document::YAML, "application/yaml; charset=utf-8"),
            "v1.json" => (document::JSON, "application/json"),
            "v1.openapi-3.0.json" => (document::OPENAPI_3_0_JSON, "application/json"),
            _ => return None,
        };
        Some(Self { text, media_type })
    }

    /// The document, or 304 when the caller holds it.
    pub(super) async fn response(&self, request: &Request) -> Response {
        let tag = HeaderValue::from_str(&format!("W/\"{}\"", &document::SHA256[..32]))
            .unwrap_or(HeaderValue::from_static("W/\"v1\""));
        let response = Response::builder()
            .header(header::CACHE_CONTROL, "public, no-cache")
            .header(header::VARY, "accept-encoding")
            .header(header::ETAG, tag.clone());
        if etag::is_held(request.headers(), &tag) {
            return response.status(StatusCode::NOT_MODIFIED).finish();
        }
        let body = bytes::Bytes::from_static(self.text.as_bytes());
        let response = response.content_type(self.media_type);
        let packed = match Coding::wanted(request.headers()) {
            Some(coding) => coding.apply(&body).await.map(|packed| (coding, packed)),
            None => None,
        };
        let response = match packed {
            Some((coding, packed)) => response.header(header::CONTENT_ENCODING, coding.name()).body(packed),
            None => response.body(body),
        };
        page::guard(response, "default-src 'none'; frame-ancestors 'none'")
    }
}
