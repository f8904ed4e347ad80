//! A text that is sent repeatedly: its media type, its entity tag, and its compressed forms.

use std::sync::Arc;

use bytes::Bytes;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Request, Response};
use web::compress::{CachedBody, Compressible};
use web::etag;
use web::public_response::with_security_headers;

/// A text with its response headers. It is compressed once per coding.
#[derive(Debug)]
pub(crate) struct Document {
    media_type: &'static str,
    policy: &'static str,
    body: Arc<CachedBody>,
    etag: HeaderValue,
}

impl Document {
    /// Creates a document. `policy` is its content security policy.
    pub(crate) fn new(media_type: &'static str, policy: &'static str, text: impl Into<Bytes>) -> Self {
        let text = text.into();
        let etag = etag::compute(&text);
        Self { media_type, policy, body: Arc::new(CachedBody::new(text)), etag }
    }

    /// Returns the document with this status, or 304 if the status is 200 and the client has the current version.
    pub(crate) fn response(&self, request: &Request, status: StatusCode) -> Response {
        let builder = Response::builder();
        web::request_context::of(request).allow_compression(Compressible::Cached(Arc::clone(&self.body)));
        if status != StatusCode::OK {
            let response = builder.status(status).header(header::CACHE_CONTROL, "no-store");
            return with_security_headers(
                response.content_type(self.media_type).body(self.body.plain().clone()),
                self.policy,
            );
        }
        let builder =
            builder.header(header::CACHE_CONTROL, "public, no-cache").header(header::ETAG, self.etag.clone());
        if etag::matches(request.headers(), &self.etag) {
            return builder.status(StatusCode::NOT_MODIFIED).finish();
        }
        with_security_headers(
            builder.content_type(self.media_type).body(self.body.plain().clone()),
            self.policy,
        )
    }
}
