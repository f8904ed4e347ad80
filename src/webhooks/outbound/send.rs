//! One attempt: sends a signed request and returns the outcome.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Method, Response};
use tokio::time::{Instant, timeout_at};
use url::Url;
use uuid::Uuid;

use super::client::WebhookClient;
use super::failure::{self, AttemptFailure};
use super::{resolver, retry_after};
use crate::sign::{self, SigningKey};

/// The time limit of an attempt: connecting, sending, and reading the head and the body of the response.
pub const DEADLINE: Duration = Duration::from_secs(15);
/// Bytes of a response's body that are read and stored, without decoding.
pub const BODY_KEPT_BYTES: usize = 16 * 1024;
/// Bytes of a response's headers that are stored.
const HEADERS_KEPT_BYTES: usize = 16 * 1024;

/// What an attempt sends.
#[derive(Debug, Clone)]
pub struct WebhookRequest<'a> {
    /// The event's workspace. Each workspace has a limit of concurrent DNS lookups.
    pub workspace: Uuid,
    /// Where the request goes.
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
    /// When this attempt is made, in Unix seconds.
    pub now: i64,
    /// The time limit; [`DEADLINE`] except in tests.
    pub deadline: Duration,
}

/// The outcome of an attempt.
#[derive(Debug, Clone)]
pub struct AttemptOutcome {
    /// The headers that were sent.
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
    /// The first 16 KiB of the body, not decoded, as far as received before the deadline.
    pub body: Vec<u8>,
    /// The delay that the receiver requests, at most 24 hours.
    pub retry_after: Option<Duration>,
}

/// What an outcome means for the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryVerdict {
    /// The status was 2xx.
    Delivered,
    /// There was no response, or the status was 408, 429 or 5xx: the delivery is retried.
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

/// Makes one attempt. It ends within the request's deadline, regardless of the receiver.
pub async fn send(client: &WebhookClient, request: WebhookRequest<'_>) -> AttemptOutcome {
    let ends = Instant::now() + request.deadline;
    let headers = headers(&request);
    let request_headers = to_strings(&headers);
    let result = match execute(client, &request, headers, ends).await {
        Ok(response) => Ok(read(response, request.now, ends).await),
        Err(failure) => Err(failure),
    };
    AttemptOutcome { request_headers, result }
}

/// Sends the request and returns the response once its head has arrived.
async fn execute(
    client: &WebhookClient,
    request: &WebhookRequest<'_>,
    headers: HeaderMap,
    ends: Instant,
) -> Result<Response, AttemptFailure> {
    let client = client.client_for(request.url)?;
    let mut message = reqwest::Request::new(Method::POST, request.url.clone());
    *message.headers_mut() = headers;
    *message.body_mut() = Some(request.body.clone().into());
    let response = resolver::on_behalf_of(request.workspace, client.execute(message));
    match timeout_at(ends, response).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => {
            let failure = failure::of(&error);
            let error = anyhow::Error::new(error.without_url());
            tracing::debug!(%failure, error = format!("{error:#}"), "webhook got no response");
            Err(failure)
        }
        Err(_) => Err(AttemptFailure::Timeout),
    }
}

/// Reads the beginning of the body. The status is known already, so that a body that breaks off, is slow or never ends does not
/// change the outcome.
async fn read(mut response: Response, now: i64, ends: Instant) -> EndpointResponse {
    let mut body = Vec::new();
    let read_body = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let space = BODY_KEPT_BYTES - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(space)]);
            if chunk.len() > space {
                // Dropping the unread rest closes the connection.
                break;
            }
        }
    };
    // On a timeout, the part that was received is stored.
    let _ = timeout_at(ends, read_body).await;
    EndpointResponse {
        status: response.status().as_u16(),
        headers: to_strings(response.headers()),
        body,
        retry_after: retry_after::of(response.headers(), now),
    }
}

/// Returns exactly the headers of the contract and of Standard Webhooks; the client adds those that HTTP itself requires.
fn headers(request: &WebhookRequest<'_>) -> HeaderMap {
    const SIGNATURE: HeaderName = HeaderName::from_static("x-svc-signature");
    const EVENT: HeaderName = HeaderName::from_static("x-svc-event");
    const DELIVERY: HeaderName = HeaderName::from_static("x-svc-delivery");
    const ID: HeaderName = HeaderName::from_static("webhook-id");
    const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
    const STANDARD_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
    const AGENT: HeaderValue = HeaderValue::from_static(concat!("creator-api/", env!("CARGO_PKG_VERSION")));

    let WebhookRequest { event_id, event_type, delivery_id, body, keys, now, .. } = request;
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, AGENT);
    headers.insert(TIMESTAMP, HeaderValue::from(*now));
    for (name, text) in [
        (SIGNATURE, sign::svc_signature(keys, *now, body)),
        (EVENT, (*event_type).to_owned()),
        (DELIVERY, (*delivery_id).to_owned()),
        (ID, (*event_id).to_owned()),
        (STANDARD_SIGNATURE, sign::standard_signature(keys, event_id, *now, body)),
    ] {
        // Ids, types and signatures are ASCII. A value that is not a valid header is omitted, so that it cannot inject one.
        headers.extend(HeaderValue::try_from(text).ok().map(|value| (name, value)));
    }
    headers
}

/// Returns headers as strings, up to 16 KiB.
fn to_strings(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut space = HEADERS_KEPT_BYTES;
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let Some(left) = space.checked_sub(name.as_str().len() + value.len()) else { break };
        space = left;
        all.entry(name.as_str().to_owned())
            .and_modify(|text| {
                text.push_str(", ");
                text.push_str(&value);
            })
            .or_insert_with(|| value.into_owned());
    }
    all
}
