//! Verifies webhook requests and parses their events.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;

use crate::types;

include!(concat!(env!("OUT_DIR"), "/events.rs"));

/// How much the time of a request can differ from the clock, in seconds.
const TOLERANCE_SECONDS: i64 = 300;

/// An event. `id` is the same in every delivery of the event.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Event {
    pub id: String,
    pub event_type: String,
    /// Whether the event is a test event from the dashboard. Its data is fictional, so do not process it.
    pub test: bool,
    pub body: EventBody,
}

/// Why a webhook request was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerificationError {
    /// A header is missing or malformed.
    Malformed,
    /// The time of the request is more than 5 minutes ago.
    TooOld,
    /// The time of the request is more than 5 minutes in the future.
    TooNew,
    /// No signature matches a secret.
    NoMatch,
    /// The body is not an event.
    InvalidBody,
    /// There is no secret, or a secret is malformed.
    InvalidSecret,
}

impl std::fmt::Display for VerificationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the webhook request was rejected: {self:?}")
    }
}

impl std::error::Error for VerificationError {}

/// Verifies a webhook request at the time `now`, and returns its event.
///
/// `raw_body` is the body as it arrived: JSON that was parsed and serialized again has other bytes. `header` returns the
/// value of a header by its lowercase name. `secrets` are the signing secret, or several while a secret is rotated.
///
/// # Errors
/// Returns an error when the request must be rejected.
pub fn verify<'h>(
    raw_body: &[u8],
    header: impl Fn(&str) -> Option<&'h str>,
    secrets: &[&str],
    now: SystemTime,
) -> Result<Event, VerificationError> {
    verify_signature(raw_body, header, secrets, now)?;
    let parse = || {
        let body: serde_json::Value = serde_json::from_slice(raw_body).ok()?;
        let text = |name: &str| body[name].as_str().map(str::to_owned);
        let (id, event_type) = (text("id")?, text("type").filter(|_| body["data"].is_object())?);
        let test = body["test"] == true;
        Some(Event { id, test, body: EventBody::new(&event_type, body).ok()?, event_type })
    };
    parse().ok_or(VerificationError::InvalidBody)
}

/// Verifies the signature of a webhook request: `X-SVC-Signature` or, without it, that of Standard Webhooks.
///
/// # Errors
/// Returns an error when the request must be rejected.
pub fn verify_signature<'h>(
    raw_body: &[u8],
    header: impl Fn(&str) -> Option<&'h str>,
    secrets: &[&str],
    now: SystemTime,
) -> Result<(), VerificationError> {
    let keys: Option<Vec<_>> = secrets.iter().map(|secret| Some((*secret, decode_secret(secret)?))).collect();
    let keys = keys.filter(|keys| !keys.is_empty()).ok_or(VerificationError::InvalidSecret)?;
    let svc_signature = header("x-svc-signature");
    let signed = svc_signature.map_or_else(|| standard_webhooks(header), from_svc_signature)?;
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let age = i64::try_from(now).unwrap_or(i64::MAX) - signed.time;
    if age.abs() > TOLERANCE_SECONDS {
        return Err(if age > 0 { VerificationError::TooOld } else { VerificationError::TooNew });
    }
    let content = [signed.prefix.as_bytes(), b".", raw_body].concat();
    let mut is_valid = false;
    for (secret, decoded) in &keys {
        let key = if svc_signature.is_some() { secret.as_bytes() } else { decoded };
        let key = hmac::Key::new(hmac::HMAC_SHA256, key);
        is_valid |= signed.signatures.iter().any(|tag| hmac::verify(&key, &content, tag).is_ok());
    }
    if is_valid { Ok(()) } else { Err(VerificationError::NoMatch) }
}

/// Returns the bytes of a secret, at least one: anybody can sign with an empty key.
fn decode_secret(secret: &str) -> Option<Vec<u8>> {
    STANDARD.decode(secret.strip_prefix("whsec_")?).ok().filter(|bytes| !bytes.is_empty())
}

struct Signed {
    time: i64,
    /// What is signed before the body.
    prefix: String,
    signatures: Vec<Vec<u8>>,
}

fn from_svc_signature(header: &str) -> Result<Signed, VerificationError> {
    let pairs: Vec<(&str, &str)> = header.split(',').filter_map(|part| part.split_once('=')).collect();
    let values = |name: &'static str| pairs.iter().filter(move |pair| pair.0 == name).map(|pair| pair.1);
    let times: Vec<&str> = values("t").collect();
    let [time] = times[..] else { return Err(VerificationError::Malformed) };
    let signatures = values("v1").filter_map(from_lowercase_hex).collect();
    Ok(Signed { time: parse_time(time)?, prefix: time.to_owned(), signatures })
}

fn standard_webhooks<'h>(header: impl Fn(&str) -> Option<&'h str>) -> Result<Signed, VerificationError> {
    let required = |name| header(name).ok_or(VerificationError::Malformed);
    let (id, time) = (required("webhook-id")?, required("webhook-timestamp")?);
    let signatures = required("webhook-signature")?.split(' ').filter_map(|part| part.strip_prefix("v1,"));
    let signatures = signatures.filter_map(|text| STANDARD.decode(text).ok()).collect();
    Ok(Signed { time: parse_time(time)?, prefix: format!("{id}.{time}"), signatures })
}

fn parse_time(text: &str) -> Result<i64, VerificationError> {
    let is_number = (1..=15).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number).ok_or(VerificationError::Malformed)
}

fn from_lowercase_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let byte = |pair: &[u8]| u8::try_from(digit(pair[0])? * 16 + digit(*pair.get(1)?)?).ok();
    text.as_bytes().chunks(2).map(byte).collect()
}
