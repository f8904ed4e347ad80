//! What every response of the API gets on its way out: `ETag` and 304, and the headers.

use std::sync::Arc;

use bytes::Bytes;
use poem::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use poem::{Body, Request, Response};

use super::{Seen, throttle};
use crate::error::ApiError;
use crate::front::Front;
use contract_runtime::contract::JSON;
use rate_limit::Standing;
use web::access::Access;
use web::compress::Compressible;
use web::etag;

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
const NO_STORE: HeaderValue = HeaderValue::from_static("private, no-store");
const NO_CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Headers that a response gets here, and those that hyper adds: room for all is made at once.
const HEADERS: usize = 16;

/// The conditions of a request that only reads.
pub(super) struct Conditions {
    reads: bool,
    tags: HeaderMap,
}

impl Conditions {
    /// Reads them off a request.
    pub(super) fn of(request: &Request) -> Self {
        let mut tags = HeaderMap::new();
        for tag in request.headers().get_all(header::IF_NONE_MATCH) {
            tags.append(header::IF_NONE_MATCH, tag.clone());
        }
        Self { reads: matches!(*request.method(), Method::GET | Method::HEAD), tags }
    }
}

/// A response of the API's own; one of the framework's becomes an error without words.
///
/// # Errors
/// When the response is the framework's.
pub(super) fn own(response: Response) -> Result<Response, ApiError> {
    let status = response.status();
    let json = response.content_type() == Some(JSON);
    if json || status.is_success() || status == StatusCode::NOT_MODIFIED {
        Ok(response)
    } else {
        Err(ApiError::from_status(status))
    }
}

/// Gives the response its tag and its headers.
pub(super) async fn finish(
    front: &Front,
    access: &Access,
    seen: &mut Seen,
    conditions: &Conditions,
    response: Response,
) -> Response {
    let (mut parts, body) = response.into_parts();
    let mut body = body.into_bytes().await.unwrap_or_default();
    let headers = &mut parts.headers;
    headers.reserve(HEADERS);
    if parts.status.is_client_error() || parts.status.is_server_error() {
        seen.error = Some(body.clone());
    }

    let own = seen.caller.as_ref().and_then(|caller| caller.tag());
    let tag = (conditions.reads && parts.status == StatusCode::OK).then(|| match (&seen.page, own) {
        (Some(page), _) => page.tag.clone(),
        (None, Some(own)) => own.clone(),
        (None, None) => etag::of(&body),
    });
    if let (Some(place), Some(tag)) = (seen.place.take(), &tag) {
        let link = headers.get(header::LINK).cloned();
        front.pages.keep(&front.app, place, body.clone(), tag.clone(), link);
    }
    if tag.as_ref().is_some_and(|tag| etag::is_held(&conditions.tags, tag)) {
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
    let standing = seen
        .standing
        .unwrap_or_else(|| Standing::fresh(front.settings.address_caps, front.app.clock.now_ms()));
    throttle::stamp(headers, &standing);
    if seen.caller.as_ref().is_some_and(|caller| caller.is_replayed()) {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    if let Some(deprecation) = &front.settings.deprecation {
        headers.insert(DEPRECATION, deprecation.since.clone());
        if let Some(sunset) = &deprecation.sunset {
            headers.insert(SUNSET, sunset.clone());
        }
        if let Some(link) = &deprecation.link {
            headers.append(header::LINK, link.clone());
        }
    }
    access.allow_compression(match &seen.page {
        Some(page) => Compressible::Kept(Arc::clone(&page.body)),
        None => Compressible::Once,
    });
    Response::from_parts(parts, Body::from_bytes(body))
}
