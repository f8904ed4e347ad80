//! What every response gets on its way out: envelope, `ETag` and 304, compression, and the headers.

use bytes::Bytes;
use poem::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use poem::{Body, Request, Response};

use super::compress::Coding;
use super::{Seen, etag, request_id, throttle};
use crate::error::ApiError;
use crate::front::Front;
use contract_runtime::payload::JSON;
use rate_limit::Standing;

const X_REQUEST_ID: HeaderName = HeaderName::from_static(request_id::HEADER);
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
const NO_STORE: HeaderValue = HeaderValue::from_static("private, no-store");
const NO_CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Headers that a response gets here, and those that hyper adds: room for all is made at once.
const HEADERS: usize = 16;

/// What the caller wants of the response's form.
pub(super) struct Wish {
    /// `HEAD`: all of it but the body.
    head: bool,
    /// `GET` or `HEAD`.
    reads: bool,
    coding: Option<Coding>,
    conditions: poem::http::HeaderMap,
}

impl Wish {
    /// Reads it off a request.
    pub(super) fn of(request: &Request) -> Self {
        let head = request.method() == Method::HEAD;
        let mut conditions = poem::http::HeaderMap::new();
        for tag in request.headers().get_all(header::IF_NONE_MATCH) {
            conditions.append(header::IF_NONE_MATCH, tag.clone());
        }
        Self {
            head,
            reads: head || request.method() == Method::GET,
            coding: Coding::wanted(request.headers()),
            conditions,
        }
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

/// Gives the response its final form.
pub(super) async fn finish(front: &Front, seen: &mut Seen, wish: &Wish, response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let mut body = body.into_bytes().await.unwrap_or_default();
    let headers = &mut parts.headers;
    headers.reserve(HEADERS);
    if parts.status.is_client_error() || parts.status.is_server_error() {
        seen.error = Some(body.clone());
    }

    let own = seen.caller.as_ref().and_then(|caller| caller.tag());
    let tag = (wish.reads && parts.status == StatusCode::OK).then(|| match (&seen.page, own) {
        (Some(page), _) => page.tag.clone(),
        (None, Some(own)) => own.clone(),
        (None, None) => etag::of(&body),
    });
    if let (Some(place), Some(tag)) = (seen.place.take(), &tag) {
        let link = headers.get(header::LINK).cloned();
        front.pages.keep(&front.app, place, body.clone(), tag.clone(), link);
    }
    if tag.as_ref().is_some_and(|tag| etag::is_held(&wish.conditions, tag)) {
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
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(coding) = wish.coding.filter(|_| !body.is_empty()) {
        let packed = match &seen.page {
            Some(page) => page.body.packed(coding).await,
            None => coding.apply(&body).await,
        };
        if let Some(packed) = packed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
            body = packed;
        }
    }

    if let Ok(id) = HeaderValue::from_str(seen.entry.request_id()) {
        headers.insert(X_REQUEST_ID, id);
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
    if wish.head && parts.status != StatusCode::NOT_MODIFIED {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        body = Bytes::new();
    }
    Response::from_parts(parts, Body::from_bytes(body))
}
