//! Creates clients, and sends their requests with retries and idempotency keys.

use std::time::{Duration, SystemTime};

use http::HeaderValue;
use progenitor_client::{ClientHooks, ClientInfo, OperationInfo};
use reqwest::{Request, Response};
use ring::rand::{SecureRandom, SystemRandom};

use crate::{Client, Error, types::ErrorEnvelope};

/// The longest delay without `Retry-After`.
const LONGEST_BACKOFF: Duration = Duration::from_secs(8);
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The options of a client.
#[derive(Clone, Debug)]
pub struct Options {
    /// The time limit of one attempt.
    pub timeout: Duration,
    /// How often a request is repeated after 408, 409, 429, a 5xx or a failed connection.
    pub max_retries: u32,
    /// The delay before the first retry. It doubles with each retry.
    pub base_delay: Duration,
    /// If `Retry-After` is longer, the error is returned at once.
    pub max_delay: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let [timeout, max_delay] = [30, 60].map(Duration::from_secs);
        Self { timeout, max_retries: 4, base_delay: Duration::from_millis(500), max_delay }
    }
}

/// Creates a client for the URL of a server, without `/api/v1`.
///
/// # Errors
/// Returns [`Error::Configuration`] when the key is empty or contains a character that a header cannot contain.
pub fn connect(base_url: &str, api_key: &str, options: Options) -> Result<Client, Error> {
    if api_key.is_empty() || !api_key.bytes().all(|byte| byte.is_ascii_graphic()) {
        let message = "the API key is empty or contains a character that a header cannot contain";
        return Err(Error::Configuration(message.to_owned()));
    }
    let configuration = |error: &dyn std::fmt::Display| Error::Configuration(error.to_string());
    let bearer = HeaderValue::from_str(&format!("Bearer {api_key}"));
    let mut bearer = bearer.map_err(|error| configuration(&error))?;
    bearer.set_sensitive(true);
    let headers = http::HeaderMap::from_iter([(http::header::AUTHORIZATION, bearer)]);
    let agent = concat!("creator-api-client-rust/", env!("CARGO_PKG_VERSION"));
    let http = reqwest::Client::builder().user_agent(agent).default_headers(headers).timeout(options.timeout);
    // A redirected POST would become a GET, whose response looks like a success.
    let http = http.redirect(reqwest::redirect::Policy::none());
    let http = http.build().map_err(|error| configuration(&error))?;
    Ok(Client::new_with_client(base_url.trim_end_matches('/'), http, options))
}

impl ClientHooks<Options> for Client {
    /// Sends a request until it succeeds or must not be repeated.
    async fn exec(&self, mut request: Request, _: &OperationInfo) -> reqwest::Result<Response> {
        let options = self.inner();
        // One key for all attempts: the server creates a record at most once.
        if request.method() == http::Method::POST && !request.headers().contains_key(IDEMPOTENCY_KEY) {
            let key: String = random::<16>().iter().map(|byte| format!("{byte:02x}")).collect();
            let key = HeaderValue::from_str(&key).expect("hexadecimal digits are a header value");
            request.headers_mut().insert(IDEMPOTENCY_KEY, key);
        }
        for retries in 0.. {
            let is_last = retries >= options.max_retries;
            let attempt = request.try_clone().expect("the bodies of this API are not streams");
            let wait = match send(self.client(), attempt).await {
                Ok(response) if is_last || !is_retried(response.status()) => return Ok(response),
                Ok(response) => {
                    let wait = retry_after(response.headers()).unwrap_or_default();
                    if wait > options.max_delay {
                        return Ok(response);
                    }
                    wait
                }
                Err(error) if is_last => return Err(error),
                Err(_) => Duration::ZERO,
            };
            tokio::time::sleep(wait.saturating_add(backoff(retries, options.base_delay))).await;
        }
        unreachable!("the last attempt returns")
    }
}

/// Sends a request once and reads the whole body, so that a connection that is cut in the body is noticed.
async fn send(client: &reqwest::Client, request: Request) -> reqwest::Result<Response> {
    let response = client.execute(request).await?;
    let (status, headers) = (response.status(), response.headers().clone());
    let mut response = http::Response::new(response.bytes().await?);
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    if status.as_u16() >= 400 {
        if let Ok(envelope) = serde_json::from_slice::<ErrorEnvelope>(response.body()) {
            // The generated code does not parse the body if the operation does not list the status.
            response.extensions_mut().insert(envelope);
        } else {
            // The page of a proxy: without an envelope, the generated code would not return the status.
            *response.body_mut() = bytes::Bytes::from_static(
                br#"{ "error": { "code": "", "message": "", "request_id": "", "doc_url": "" } }"#,
            );
        }
    }
    Ok(response.into())
}

fn is_retried(status: http::StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 409 | 429 | 500 | 502 | 503 | 504)
}

/// Returns the time of `Retry-After`, which is a number of seconds or a date.
pub(crate) fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let value = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = SystemTime::from(chrono::DateTime::parse_from_rfc2822(value).ok()?);
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Returns a random delay between half and the whole of the current backoff, so that clients do not retry together.
fn backoff(retries: u32, base_delay: Duration) -> Duration {
    let backoff = base_delay.saturating_mul(2_u32.saturating_pow(retries)).min(LONGEST_BACKOFF);
    backoff.mul_f64(0.5 + f64::from(random::<1>()[0]) / 510.0)
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system has random numbers");
    bytes
}
