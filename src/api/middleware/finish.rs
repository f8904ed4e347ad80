//! Completes every response of the API: `ETag`, 304, and the common headers.

use std::sync::Arc;

use bytes::Bytes;
use poem::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use poem::{Body, Request, Response};

use super::{CallContext, throttle};
use crate::error::ApiError;
use crate::state::ApiState;
use contract_runtime::contract::JSON;
use contract_runtime::payload::Streamed;
use rate_limit::RateLimitStatus;
use web::compress::Compressible;
use web::etag;
use web::request_context::RequestContext;

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
/// The value of `Cache-Control` for responses that must not be stored.
pub(crate) const NO_STORE: HeaderValue = HeaderValue::from_static("private, no-store");
const NO_CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Maximum number of headers that this module and hyper add to a response. Space for them is reserved once.
const ADDED_HEADERS: usize = 16;

/// The method and the conditional headers of a request.
pub(super) struct Conditions {
    /// Whether the method is `GET` or `HEAD`. Other methods ignore `If-None-Match`.
    is_read: bool,
    /// The `If-None-Match` headers.
    if_none_match: HeaderMap,
}

impl Conditions {
    /// Reads the method and the conditional headers of a request.
    pub(super) fn from_request(request: &Request) -> Self {
        let mut if_none_match = HeaderMap::new();
        for value in request.headers().get_all(header::IF_NONE_MATCH) {
            if_none_match.append(header::IF_NONE_MATCH, value.clone());
        }
        Self { is_read: matches!(*request.method(), Method::GET | Method::HEAD), if_none_match }
    }
}

/// Returns the response unchanged if an operation created it.
///
/// # Errors
/// Returns an error if the HTTP framework created the response. Error responses of the framework are not JSON.
pub(crate) fn operation_response(response: Response) -> Result<Response, ApiError> {
    let status = response.status();
    let is_json = response.content_type() == Some(JSON);
    if is_json || status.is_success() || status == StatusCode::NOT_MODIFIED {
        Ok(response)
    } else {
        Err(ApiError::from_status(status))
    }
}

/// Adds the `ETag` and the common headers to a response. Replaces the response with 304 if the client has the current
/// one. Also stores the response in the cache if it has a slot, allows its compression, and keeps the body of an error
/// for the request log. A stream only gets the common headers.
pub(super) async fn finish(
    state: &ApiState,
    request_context: &RequestContext,
    call_context: &mut CallContext,
    conditions: &Conditions,
    mut response: Response,
) -> Response {
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    if let Some(deprecated) = call_context.deprecated.as_ref().filter(|_| !is_error) {
        deprecated.count(&state.app, &request_context.request_id);
    }
    if response.extensions().get::<Streamed>().is_some() {
        response.extensions_mut().insert(web::layer::Unbuffered);
        response.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
        set_common_headers(state, call_context, response.headers_mut());
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let mut body = body.into_bytes().await.unwrap_or_default();
    let headers = &mut parts.headers;
    headers.reserve(ADDED_HEADERS);
    if is_error {
        call_context.error_body = Some(body.clone());
    }

    if let Some(observation) = call_context.observation.take() {
        observation.finish(&request_context.request_id, parts.status, &body);
    }
    let operation_etag = call_context.caller.as_ref().and_then(|caller| caller.etag());
    let tag = (conditions.is_read && parts.status == StatusCode::OK).then(|| {
        match (&call_context.cached_response, operation_etag) {
            (Some(cached), _) => cached.etag.clone(),
            (None, Some(etag)) => etag.clone(),
            (None, None) => etag::compute(&body),
        }
    });
    if let (Some(slot), Some(tag)) = (call_context.response_slot.take(), &tag) {
        let link = headers.get(header::LINK).cloned();
        state.response_cache.insert(&state.app, slot, body.clone(), tag.clone(), link);
    }
    if tag.as_ref().is_some_and(|tag| etag::matches(&conditions.if_none_match, tag)) {
        parts.status = StatusCode::NOT_MODIFIED;
        headers.remove(header::CONTENT_TYPE);
        headers.remove(header::LINK);
        body = Bytes::new();
    }
    let cache_control = if tag.is_some() { NO_CACHE } else { NO_STORE };
    headers.insert(header::CACHE_CONTROL, cache_control);
    if let Some(tag) = tag {
        headers.insert(header::ETAG, tag);
    }
    set_common_headers(state, call_context, headers);
    request_context.allow_compression(match &call_context.cached_response {
        Some(cached) => Compressible::Cached(Arc::clone(&cached.body)),
        None => Compressible::Once,
    });
    Response::from_parts(parts, Body::from_bytes(body))
}

/// Sets the headers of all responses: the rate limit, when to retry, and whether the response is repeated or the API is deprecated.
fn set_common_headers(state: &ApiState, call_context: &CallContext, headers: &mut HeaderMap) {
    let rate_limit_status = call_context
        .rate_limit_status
        .unwrap_or_else(|| RateLimitStatus::unused(state.settings.address_limits, state.app.clock.now_ms()));
    throttle::set_headers(headers, &rate_limit_status);
    if call_context.caller.as_ref().is_some_and(|caller| caller.is_replayed()) {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    if let Some(seconds) = call_context.caller.as_ref().and_then(|caller| caller.retry_after()) {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
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
    if let Some(deprecated) = &call_context.deprecated {
        deprecated.set_headers(headers, &state.settings.public_url);
    }
}
