//! The contract for people and programs: Swagger UI, and the documents themselves, byte for byte.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Body, Request, Response};
use utoipa_swagger_ui::{Config, Url};

use super::page;
use contract_runtime::contract::Contract;
use contract_runtime::contract::JSON;
use web::compress::{Compressible, Packable};
use web::etag;

/// What Swagger UI needs: its own scripts; styles and images that it writes into the page itself.
const SWAGGER_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Swagger UI over the contract, and the contract itself.
pub(super) struct Docs {
    config: Arc<Config<'static>>,
    urls: Vec<Url<'static>>,
    documents: Vec<Document>,
}

impl Docs {
    pub(super) fn new(contract: &'static Contract) -> Self {
        let mut docs = Self { config: Arc::default(), urls: Vec::new(), documents: Vec::new() };
        docs.add(contract);
        docs
    }

    /// Adds the documents of a contract.
    pub(super) fn add(&mut self, contract: &'static Contract) {
        let stem = contract.stem;
        self.urls.push(Url::new(contract.title, contract.json_path));
        let config = Config::new(self.urls.clone())
            .persist_authorization(true)
            .try_it_out_enabled(true)
            .display_operation_id(true)
            .display_request_duration(true)
            .deep_linking(true)
            .default_model_rendering("model")
            .validator_url("none");
        self.config = Arc::new(config);
        self.documents.extend([
            Document::new(format!("{stem}.yaml"), "application/yaml; charset=utf-8", contract.yaml),
            Document::new(format!("{stem}.json"), JSON, contract.json),
            Document::new(format!("{stem}.openapi-3.0.json"), JSON, contract.json_3_0),
        ]);
    }

    /// The document behind a file's name.
    pub(super) fn document(&self, file: &str) -> Option<&Document> {
        self.documents.iter().find(|document| document.file == file)
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
                    .body(match found.bytes {
                        Cow::Borrowed(bytes) => Body::from_bytes(Bytes::from_static(bytes)),
                        Cow::Owned(bytes) => Body::from_vec(bytes),
                    });
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

/// One of the contract's documents, packed once.
pub(super) struct Document {
    file: String,
    media_type: &'static str,
    body: Arc<Packable>,
    tag: HeaderValue,
}

impl Document {
    fn new(file: String, media_type: &'static str, text: &'static str) -> Self {
        let tag = etag::of(text.as_bytes());
        let body = Arc::new(Packable::new(Bytes::from_static(text.as_bytes())));
        Self { file, media_type, body, tag }
    }

    /// The document, or 304 when the caller holds it.
    pub(super) fn response(&self, request: &Request) -> Response {
        let response = Response::builder()
            .header(header::CACHE_CONTROL, "public, no-cache")
            .header(header::ETAG, self.tag.clone());
        web::access::of(request).allow_compression(Compressible::Kept(Arc::clone(&self.body)));
        if etag::is_held(request.headers(), &self.tag) {
            response.status(StatusCode::NOT_MODIFIED).finish()
        } else {
            let response = response.content_type(self.media_type).body(self.body.plain().clone());
            page::guard(response, "default-src 'none'; frame-ancestors 'none'")
        }
    }
}
