//! Serves the API documentation: Swagger UI and the contract documents, byte for byte.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Body, Request, Response};
use utoipa_swagger_ui::{Config, Url};

use super::page;
use contract_runtime::contract::Contract;
use contract_runtime::contract::JSON;
use web::compress::{CachedBody, Compressible};
use web::etag;

/// The content security policy of Swagger UI: scripts from this server, inline styles, and images and fonts as data
/// URLs.
const SWAGGER_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Swagger UI and the contract documents.
pub(super) struct Docs {
    config: Arc<Config<'static>>,
    urls: Vec<Url<'static>>,
    documents: Vec<ContractDocument>,
}

impl Docs {
    /// Creates the documentation of one contract.
    pub(super) fn new(contract: &'static Contract) -> Self {
        let mut docs = Self { config: Arc::default(), urls: Vec::new(), documents: Vec::new() };
        docs.add(contract);
        docs
    }

    /// Adds the documents of a contract.
    pub(super) fn add(&mut self, contract: &'static Contract) {
        let name = contract.name;
        self.urls.push(Url::new(contract.title, contract.json_path));
        let config = Config::new(self.urls.clone())
            // A stored key could be read by every page of this server, also after the visitor has left.
            .persist_authorization(false)
            .try_it_out_enabled(true)
            .display_operation_id(true)
            .display_request_duration(true)
            .deep_linking(true)
            .default_model_rendering("model")
            .validator_url("none");
        self.config = Arc::new(config);
        self.documents.extend([
            ContractDocument::new(format!("{name}.yaml"), "application/yaml; charset=utf-8", contract.yaml),
            ContractDocument::new(format!("{name}.json"), JSON, contract.json),
            ContractDocument::new(format!("{name}.openapi-3.0.json"), JSON, contract.json_3_0),
        ]);
    }

    /// Returns the document with this file name.
    pub(super) fn document(&self, file: &str) -> Option<&ContractDocument> {
        self.documents.iter().find(|document| document.file == file)
    }

    /// Serves a file of Swagger UI. The empty name is the page itself.
    pub(super) fn swagger(&self, file: &str) -> Response {
        match utoipa_swagger_ui::serve(file, Arc::clone(&self.config)) {
            Ok(Some(swagger_file)) => {
                let cache = if file.is_empty() || file.ends_with("initializer.js") {
                    "no-cache"
                } else {
                    "public, max-age=3600"
                };
                let mut response = Response::builder()
                    .content_type(&swagger_file.content_type)
                    .header(header::CACHE_CONTROL, cache)
                    .body(match swagger_file.bytes {
                        Cow::Borrowed(bytes) => Body::from_bytes(Bytes::from_static(bytes)),
                        Cow::Owned(bytes) => Body::from_vec(bytes),
                    });
                if swagger_file.gzpipped {
                    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                }
                page::with_security_headers(response, SWAGGER_POLICY)
            }
            Ok(None) => page::not_found(),
            Err(error) => {
                tracing::error!(%error, file, "failed to serve Swagger UI");
                page::plain(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "Swagger UI is not available. Read the contract at /openapi/v1.yaml.\n",
                )
            }
        }
    }
}

/// A contract document. Its compressed forms are cached.
pub(super) struct ContractDocument {
    file: String,
    media_type: &'static str,
    body: Arc<CachedBody>,
    etag: HeaderValue,
}

impl ContractDocument {
    fn new(file: String, media_type: &'static str, text: &'static str) -> Self {
        let etag = etag::compute(text.as_bytes());
        let body = Arc::new(CachedBody::new(Bytes::from_static(text.as_bytes())));
        Self { file, media_type, body, etag }
    }

    /// Returns the document, or 304 if the client has the current version.
    pub(super) fn response(&self, request: &Request) -> Response {
        let response = Response::builder()
            .header(header::CACHE_CONTROL, "public, no-cache")
            .header(header::ETAG, self.etag.clone());
        web::request_context::of(request).allow_compression(Compressible::Cached(Arc::clone(&self.body)));
        if etag::matches(request.headers(), &self.etag) {
            response.status(StatusCode::NOT_MODIFIED).finish()
        } else {
            let response = response.content_type(self.media_type).body(self.body.plain().clone());
            page::with_security_headers(response, "default-src 'none'; frame-ancestors 'none'")
        }
    }
}
