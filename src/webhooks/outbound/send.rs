//! One attempt: a signed request, and what came of it.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Method, Response};
use tokio::time::{Instant, timeout_at};
use url::Url;
use uuid::Uuid;

use super::client::Client;
use super::failure::{self, Failure};
use super::{resolver, retry_after};
use crate::sign::{self, SigningKey};

/// What an attempt may take from the first step to the last: connecting, sending, head and body of the answer.
pub const DEADLINE: Duration = Duration::from_secs(15);
/// Bytes of an answer's body that are read and kept, as they came.
pub const BODY_KEPT_BYTES: usize = 16 * 1024;
/// Bytes of an answer's headers that are kept.
const HEADERS_KEPT_BYTES: usize = 16 * 1024;

/// What is sent, to whom, and signed with what.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The workspace whose event it is: each has a share of the name look-ups.
    pub workspace: Uuid,
    /// Where it goes.
    pub url: &'a Url,
    /// The event, as in the body.
    pub event_id: &'a str,
    /// Its type, as in the body.
    pub event_type: &'a str,
    /// The delivery; the same over its attempts.
    pub delivery_id: &'a str,
    /// The bytes that are signed and sent.
    pub body: Bytes,
    /// The live secrets, newest first.
    pub keys: &'a [SigningKey],
    /// When this attempt is made, in Unix seconds.
    pub now: i64,
    /// What it may take; [`DEADLINE`] outside of tests.
    pub deadline: Duration,
}

/// What came of an attempt.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The headers that were sent.
    pub request_headers: BTreeMap<String, String>,
    /// The answer, or why there is none.
    pub result: Result<Answer, Failure>,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers, 16 KiB of them at most; those of one name in one value, with commas between them.
    pub headers: BTreeMap<String, String>,
    /// The first 16 KiB of its body, not decoded: as much as came in time and before the connection broke.
    pub body: Vec<u8>,
    /// How long the receiver asks to be left alone, 24 hours at most.
    pub retry_after: Option<Duration>,
}

/// What an outcome means for the delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// 2xx.
    Delivered,
    /// No answer, 408, 429 or 5xx: worth another try.
    Retry,
    /// Any other status, redirects among them: another try would change nothing.
    Dead,
}

impl Outcome {
    /// What this means for the delivery. Only the status counts, never the body of the answer.
    pub fn verdict(&self) -> Verdict {
        match &self.result {
            Err(_) => Verdict::Retry,
            Ok(answer) => match answer.status {
                200..=299 => Verdict::Delivered,
                408 | 429 | 500..=599 => Verdict::Retry,
                _ => Verdict::Dead,
            },
        }
    }
}

/// Makes one attempt. It ends within the request's deadline, whatever the receiver does.
pub async fn send(client: &Client, request: Request<'_>) -> Outcome {
    let ends = Instant::now() + request.deadline;
    let headers = headers(&request);
    let request_headers = shown(&headers);
    let result = match answer(client, &request, headers, ends).await {
        Ok(response) => Ok(read(response, request.now, ends).await),
        Err(failure) => Err(failure),
    };
    Outcome { request_headers, result }
}

/// The head of the answer.
async fn answer(
    client: &Client,
    request: &Request<'_>,
    headers: HeaderMap,
    ends: Instant,
) -> Result<Response, Failure> {
    let client = client.toward(request.url)?;
    let mut message = reqwest::Request::new(Method::POST, request.url.clone());
    *message.headers_mut() = headers;
    *message.body_mut() = Some(request.body.clone().into());
    let answer = resolver::on_behalf_of(request.workspace, client.execute(message));
    match timeout_at(ends, answer).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => {
            let failure = failure::of(&error);
            let error = anyhow::Error::new(error.without_url());
            tracing::debug!(%failure, error = format!("{error:#}"), "a webhook had no answer");
            Err(failure)
        }
        Err(_) => Err(Failure::Timeout),
    }
}

/// The answer with the beginning of its body. The status stands already: a body that breaks off, drips or never ends
/// changes nothing.
async fn read(mut response: Response, now: i64, ends: Instant) -> Answer {
    let mut body = Vec::new();
    let whole = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = BODY_KEPT_BYTES - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                // What is left unread takes its connection along.
                break;
            }
        }
    };
    // Late or not, what came is kept.
    let _ = timeout_at(ends, whole).await;
    Answer {
        status: response.status().as_u16(),
        headers: shown(response.headers()),
        body,
        retry_after: retry_after::of(response.headers(), now),
    }
}

/// Exactly what the contract lists (seed 6, Standard Webhooks); what HTTP itself needs is the client's to add.
fn headers(request: &Request<'_>) -> HeaderMap {
    const SIGNATURE: HeaderName = HeaderName::from_static("x-svc-signature");
    const EVENT: HeaderName = HeaderName::from_static("x-svc-event");
    const DELIVERY: HeaderName = HeaderName::from_static("x-svc-delivery");
    const ID: HeaderName = HeaderName::from_static("webhook-id");
    const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
    const STANDARD_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
    const AGENT: HeaderValue = HeaderValue::from_static(concat!("creator-api/", env!("CARGO_PKG_VERSION")));

    let Request { event_id, event_type, delivery_id, body, keys, now, .. } = request;
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, AGENT);
    headers.insert(TIMESTAMP, HeaderValue::from(*now));
    for (name, text) in [
        (SIGNATURE, sign::svc(keys, *now, body)),
        (EVENT, (*event_type).to_owned()),
        (DELIVERY, (*delivery_id).to_owned()),
        (ID, (*event_id).to_owned()),
        (STANDARD_SIGNATURE, sign::standard(keys, event_id, *now, body)),
    ] {
        // Ids, types and signatures are ASCII; an event type from elsewhere is not sent rather than split a header.
        headers.extend(HeaderValue::try_from(text).ok().map(|value| (name, value)));
    }
    headers
}

/// Headers as text, the first 16 KiB of them.
fn shown(headers: &HeaderMap) -> BTreeMap<String, String> {
    let mut room = HEADERS_KEPT_BYTES;
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let Some(left) = room.checked_sub(name.as_str().len() + value.len()) else { break };
        room = left;
        all.entry(name.as_str().to_owned())
            .and_modify(|text| {
                text.push_str(", ");
                text.push_str(&value);
            })
            .or_insert_with(|| value.into_owned());
    }
    all
}
