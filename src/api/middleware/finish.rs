//! Completes every response of the API: `ETag`, 304, and the common headers.

use std::sync::Arc;

use bytes::Bytes;
use poem::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use poem::{Body, Request, Response};

use super::{CallContext, throttle};
use crate::error::ApiError;
use crate::state::ApiState;
use contract_runtime::contract::JSON;
use rate_limit::RateLimitStatus;
use web::compress::Compressible;
use web::etag;
use web::request_context::RequestContext;

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
const NO_STORE: HeaderValue = HeaderValue::from_static("private, no-store");
const NO_CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Number of headers that are added here and by hyper. Their space is reserved once.
const HEADERS: usize = 16;

/// The conditional headers of a request.
pub(super) struct Conditions {
    is_read: bool,
    etags: HeaderMap,
}

impl Conditions {
    /// Reads the conditional headers of a request.
    pub(super) fn of(request: &Request) -> Self {
        let mut etags = HeaderMap::new();
        for etag in request.headers().get_all(header::IF_NONE_MATCH) {
            etags.append(header::IF_NONE_MATCH, etag.clone());
        }
        Self { is_read: matches!(*request.method(), Method::GET | Method::HEAD), etags }
    }
}

/// Returns a response that an operation created, and converts an error response of the HTTP framework into an error.
///
/// # Errors
/// Returns an error if the HTTP framework created the response.
pub(super) fn operation_response(response: Response) -> Result<Response, ApiError> {
    let status = response.status();
    let json = response.content_type() == Some(JSON);
    if json || status.is_success() || status == StatusCode::NOT_MODIFIED {
        Ok(response)
    } else {
        Err(ApiError::from_status(status))
    }
}

/// Adds the `ETag` and the common headers to a response.
pub(super) async fn finish(
    state: &ApiState,
    access: &RequestContext,
    context: &mut CallContext,
    conditions: &Conditions,
    response: Response,
) -> Response {
    let (mut parts, body) = response.into_parts();
    let mut body = body.into_bytes().await.unwrap_or_default();
    let headers = &mut parts.headers;
    headers.reserve(HEADERS);
    if parts.status.is_client_error() || parts.status.is_server_error() {
        context.error = Some(body.clone());
    }

    let operation_etag = context.caller.as_ref().and_then(|caller| caller.etag());
    let tag = (conditions.is_read && parts.status == StatusCode::OK).then(|| {
        match (&context.page, operation_etag) {
            (Some(page), _) => page.etag.clone(),
            (None, Some(etag)) => etag.clone(),
            (None, None) => etag::of(&body),
        }
    });
    if let (Some(slot), Some(tag)) = (context.page_slot.take(), &tag) {
        let link = headers.get(header::LINK).cloned();
        state.page_cache.insert(&state.app, slot, body.clone(), tag.clone(), link);
    }
    if tag.as_ref().is_some_and(|tag| etag::matches(&conditions.etags, tag)) {
        parts.status = StatusCode::NOT_MODIFIED;
        headers.remove(header::CONTENT_TYPE);
        headers.remove(header::LINK);
        body = Bytes::new();
    }
    let cache = if tag.is_some() { NO_CACHE } else { NO_STORE };
    headers.insert(header::CACHE_CONTROL, cache);
    if let Some(tag) = tag {
        headers.insert(header::ETAG, tag);
    }
    let status = context
        .status
        .unwrap_or_else(|| RateLimitStatus::unused(state.settings.address_limits, state.app.clock.now_ms()));
    throttle::set_headers(headers, &status);
    if context.caller.as_ref().is_some_and(|caller| caller.is_replayed()) {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    if let Some(deprecation) = &state.settings.deprecation {
        headers.insert(DEPRECATION, deprecation.since.clone());
        if let Some(sunset) = &deprecation.sunset {
            headers.insert(SUNSET, sunset.clone());
        }
        if let Some(link) = &deprecation.link {
            headers.append(header::LINK, link.clone());
        }
    }
    access.allow_compression(match &context.page {
        Some(page) => Compressible::Cached(Arc::clone(&page.body)),
        None => Compressible::Once,
    });
    Response::from_parts(parts, Body::from_bytes(body))
}
