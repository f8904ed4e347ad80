//! One attempt: sends a signed request and returns the outcome.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::ext::on_informational;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, Uri};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use url::Url;
use uuid::Uuid;

use super::client::{HttpClient, WebhookClient};
use super::failure::{self, AttemptFailure};
use super::{resolver, retry_after};
use crate::sign::{self, SigningKey};
use domain::event_feed;
use domain::webhooks::headers::MASK;
use domain::workspaces::Mode;

/// Maximum number of bytes of a response's body that are read and stored, without decoding.
pub const MAX_STORED_BODY_BYTES: usize = 16 * 1024;
/// Maximum number of bytes of a response's headers that are stored.
const MAX_STORED_HEADER_BYTES: usize = 16 * 1024;

/// Maximum number of interim responses (status 1xx) before the response.
const MAX_INTERIM_RESPONSES: usize = 8;

/// The request of an attempt.
#[derive(Debug, Clone)]
pub struct WebhookRequest<'a> {
    /// The event's workspace. Each workspace has a limit of concurrent DNS lookups.
    pub workspace: Uuid,
    /// The mode of the workspace.
    pub mode: Mode,
    /// The endpoint's URL.
    pub url: &'a Url,
    /// The event's id, as in the body.
    pub event_id: &'a str,
    /// The event's type, as in the body.
    pub event_type: &'a str,
    /// The delivery's id, the same for all its attempts.
    pub delivery_id: &'a str,
    /// The bytes that are signed and sent.
    pub body: Bytes,
    /// The keys of the unexpired secrets, newest first.
    pub keys: &'a [SigningKey],
    /// The Ed25519 keys that also sign, newest first.
    pub ed25519_keys: &'a [ed25519_dalek::SigningKey],
    /// The custom headers of the subscription. Their values are stored nowhere.
    pub custom_headers: &'a [(HeaderName, HeaderValue)],
    /// When this attempt is made, in Unix seconds.
    pub now: i64,
    /// The time limit of the attempt: [`ATTEMPT_TIMEOUT`], except in tests.
    pub timeout: Duration,
    /// The header `traceparent`; `None` if the attempt is not part of a recorded trace.
    pub traceparent: Option<String>,
}

/// The outcome of an attempt.
#[derive(Debug, Clone)]
pub struct AttemptOutcome {
    /// The headers of the request, without those that the client adds, and with masked values of custom ones. Empty if no
    /// request was created.
    pub request_headers: BTreeMap<String, String>,
    /// The response, or why there is none.
    pub result: Result<EndpointResponse, AttemptFailure>,
}

/// An endpoint's response.
#[derive(Debug, Clone)]
pub struct EndpointResponse {
    /// The status code.
    pub status: u16,
    /// The headers, at most 16 KiB. Repeated headers are joined with commas.
    pub headers: BTreeMap<String, String>,
    /// The first 16 KiB of the body, not decoded, as far as they were received within the time limit.
    pub body: Vec<u8>,
    /// The delay that the receiver requests, at most 24 hours.
    pub retry_after: Option<Duration>,
}

/// What an outcome means for the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryVerdict {
    /// The status was 2xx.
    Delivered,
    /// There was no response, or the status was 408, 429 or 5xx: the delivery is retried, unless no attempts are left.
    Retry,
    /// Any other status, including redirects: a retry would not help.
    Dead,
}

impl AttemptOutcome {
    /// Returns what this means for the delivery. Only the status counts, never the body of the response.
    pub fn verdict(&self) -> DeliveryVerdict {
        match &self.result {
            Err(_) => DeliveryVerdict::Retry,
            Ok(response) => match response.status {
                200..=299 => DeliveryVerdict::Delivered,
                408 | 429 | 500..=599 => DeliveryVerdict::Retry,
                _ => DeliveryVerdict::Dead,
            },
        }
    }
}

/// Makes one attempt. It ends within the request's time limit, however the receiver
/// behaves.
pub async fn send(client: &WebhookClient, request: WebhookRequest<'_>) -> AttemptOutcome {
    let ends_at = Instant::now() + request.timeout;
    let mut headers = headers(&request);
    let mut request_headers = to_strings(&headers);
    for (name, value) in request.custom_headers {
        headers.insert(name, value.clone());
        request_headers.insert(name.as_str().to_owned(), MASK.to_owned());
    }
    let WebhookRequest { workspace, now, .. } = request;
    let result = match prepare(client, &request, headers) {
        Ok((http_client, http_request)) => {
            let response = resolver::on_behalf_of(workspace, execute(http_client, http_request));
            match timeout_at(ends_at, response).await {
                Ok(Ok(response)) => Ok(read_response(response, now, ends_at).await),
                Ok(Err(failure)) => Err(failure),
                Err(_) => Err(AttemptFailure::Timeout),
            }
        }
        Err(failure) => Err(failure),
    };
    AttemptOutcome { request_headers, result }
}

/// Returns the HTTP client for a request, and the HTTP request.
fn prepare(
    client: &WebhookClient,
    request: &WebhookRequest<'_>,
    headers: HeaderMap,
) -> Result<(HttpClient, Request<Full<Bytes>>), AttemptFailure> {
    let http_client = client.client_for(request.url)?.clone();
    let mut http_request = Request::new(Full::new(request.body.clone()));
    *http_request.method_mut() = Method::POST;
    *http_request.uri_mut() = Uri::try_from(request.url.as_str()).map_err(|_| AttemptFailure::BadUrl)?;
    *http_request.headers_mut() = headers;
    http_request.headers_mut().insert(ACCEPT, HeaderValue::from_static("*/*"));
    Ok((http_client, http_request))
}

/// Sends the request and returns the response once its head has arrived.
async fn execute(
    client: HttpClient,
    mut request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, AttemptFailure> {
    // The library has no limit of interim responses; the stream limits their bytes.
    let (count, too_many) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (counter, notifier) = (Arc::clone(&count), Arc::clone(&too_many));
    on_informational(&mut request, move |_| {
        if counter.fetch_add(1, Ordering::Relaxed) == MAX_INTERIM_RESPONSES {
            notifier.notify_one();
        }
    });
    let result = tokio::select! {
        result = client.request(request) => result,
        () = too_many.notified() => return Err(AttemptFailure::InterimResponses),
    };
    if count.load(Ordering::Relaxed) > MAX_INTERIM_RESPONSES {
        return Err(AttemptFailure::InterimResponses);
    }
    result.map_err(|error| {
        let failure = failure::of(&error);
        let error = anyhow::Error::new(error);
        tracing::debug!(%failure, error = format!("{error:#}"), "webhook got no response");
        failure
    })
}

/// Reads the beginning of the body. The status is already known, so a body that is interrupted, slow or endless does
/// not change the outcome.
async fn read_response(response: Response<Incoming>, now: i64, ends_at: Instant) -> EndpointResponse {
    let (head, mut incoming) = response.into_parts();
    let mut body = Vec::new();
    let read_body = async {
        while let Some(Ok(frame)) = incoming.frame().await {
            let Ok(chunk) = frame.into_data() else { break };
            let space = MAX_STORED_BODY_BYTES - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(space)]);
            if chunk.len() > space {
                // The remaining bytes are not read, so dropping the response closes the connection.
                break;
            }
        }
    };
    // On a timeout, the part that was received is stored.
    let _ = timeout_at(ends_at, read_body).await;
    EndpointResponse {
        status: head.status.as_u16(),
        headers: to_strings(&head.headers),
        body,
        retry_after: retry_after::of(&head.headers, now),
    }
}

/// Returns exactly the headers of the contract and of Standard Webhooks, and `traceparent` if the trace is recorded.
/// Custom headers, `Accept`, `Host` and `Content-Length` are added later.
fn headers(request: &WebhookRequest<'_>) -> HeaderMap {
    const SIGNATURE: HeaderName = HeaderName::from_static("x-svc-signature");
    const EVENT: HeaderName = HeaderName::from_static("x-svc-event");
    const DELIVERY: HeaderName = HeaderName::from_static("x-svc-delivery");
    const SEQUENCE: HeaderName = HeaderName::from_static("x-svc-sequence");
    const MODE: HeaderName = HeaderName::from_static("x-svc-mode");
    const ID: HeaderName = HeaderName::from_static("webhook-id");
    const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
    const STANDARD_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
    const AGENT: HeaderValue = HeaderValue::from_static(concat!("creator-api/", env!("CARGO_PKG_VERSION")));

    const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

    let WebhookRequest { event_id, event_type, delivery_id, body, keys, ed25519_keys, now, .. } = request;
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, AGENT);
    headers.insert(TIMESTAMP, HeaderValue::from(*now));
    if request.mode == Mode::Test {
        headers.insert(MODE, HeaderValue::from_static("test"));
    }
    for (name, text) in [
        (SIGNATURE, sign::svc_signature(keys, *now, body)),
        (EVENT, (*event_type).to_owned()),
        (DELIVERY, (*delivery_id).to_owned()),
        (SEQUENCE, event_feed::sequence(event_id).to_owned()),
        (ID, (*event_id).to_owned()),
        (STANDARD_SIGNATURE, sign::standard_signature(keys, ed25519_keys, event_id, *now, body)),
    ] {
        // Ids, types and signatures are ASCII. A value that is not a valid header is omitted, so that it cannot inject
        // one.
        headers.extend(HeaderValue::try_from(text).ok().map(|value| (name, value)));
    }
    let traceparent = request.traceparent.as_deref().and_then(|text| HeaderValue::try_from(text).ok());
    headers.extend(traceparent.map(|value| (TRACEPARENT, value)));
    headers
}

/// Returns headers as strings, up to the first one with which they exceed 16 KiB in total.
fn to_strings(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut remaining = MAX_STORED_HEADER_BYTES;
    let mut strings: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let Some(left) = remaining.checked_sub(name.as_str().len() + value.len()) else { break };
        remaining = left;
        strings
            .entry(name.as_str().to_owned())
            .and_modify(|text| {
                text.push_str(", ");
                text.push_str(&value);
            })
            .or_insert_with(|| value.into_owned());
    }
    strings
}
