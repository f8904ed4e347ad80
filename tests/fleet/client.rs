//! HTTP requests of an API client.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The time limit for a response. Longer than any guarantee, so that slow responses are measured.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// The result of one request.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// A status below 400, with the body.
    Success(Value),
    /// 429.
    Limited,
    /// 409: the first request with the same `Idempotency-Key` is still running.
    Running,
    /// A 500 with the code `internal_error`, as the contract defines it.
    InternalError,
    /// Any other response, with its status and the beginning of its body.
    Unexpected(String),
    /// The connection broke, or no connection was possible, or the load balancer reports one of both.
    NoResponse(String),
}

/// A response and its duration.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub outcome: Outcome,
    pub duration: Duration,
}

impl Exchange {
    /// Returns the body of a successful response.
    ///
    /// # Errors
    /// Returns an error when the request failed.
    pub fn body(self) -> Result<Value> {
        match self.outcome {
            Outcome::Success(body) => Ok(body),
            other => bail!("expected a successful response, found {other:?}"),
        }
    }

    pub fn is_success(&self) -> bool {
        matches!(self.outcome, Outcome::Success(_))
    }
}

/// A client with an API key. Clones share its connections.
#[derive(Debug, Clone)]
pub struct ApiClient {
    http: reqwest::Client,
    key: String,
}

impl ApiClient {
    /// Creates a client without connections.
    ///
    /// # Errors
    /// Returns an error when the TLS library cannot be used.
    pub fn new(key: &str) -> Result<Self> {
        let http = reqwest::Client::builder().no_proxy().timeout(RESPONSE_TIMEOUT).build()?;
        Ok(Self { http, key: key.to_owned() })
    }

    /// Sends a GET request. `url` is the URL of a server with a path.
    pub async fn get(&self, url: &str) -> Exchange {
        self.send(self.http.get(url)).await
    }

    /// Creates a student. Requests with the same `idempotency_key` create one student.
    pub async fn create_student(&self, server: &str, email: &str, idempotency_key: &str) -> Exchange {
        let request = self.http.post(format!("{server}/api/v1/students"));
        let body = serde_json::json!({"email": email, "name": "A Student"});
        self.send(request.header("Idempotency-Key", idempotency_key).json(&body)).await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Exchange {
        let start = Instant::now();
        let outcome = match self.response(request).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::NoResponse(format!("{error:#}")),
        };
        Exchange { outcome, duration: start.elapsed() }
    }

    async fn response(&self, request: reqwest::RequestBuilder) -> Result<Outcome> {
        let response = request.bearer_auth(&self.key).send().await.context("no response")?;
        let status = response.status().as_u16();
        let body = response.bytes().await.context("an incomplete response")?;
        let json = serde_json::from_slice::<Value>(&body);
        let code = json.as_ref().ok().and_then(|json| json["error"]["code"].as_str().map(str::to_owned));
        Ok(match (status, code.as_deref(), json) {
            (200..400, _, Ok(json)) => Outcome::Success(json),
            (429, _, _) => Outcome::Limited,
            (409, _, _) => Outcome::Running,
            (500, Some("internal_error"), _) => Outcome::InternalError,
            // The load balancer responds with HTML, the server always with JSON.
            (502..=504, _, Err(_)) => Outcome::NoResponse(format!("{status} of the load balancer")),
            _ => {
                let text = String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned();
                Outcome::Unexpected(format!("{status}: {text}"))
            }
        })
    }
}

/// Returns the status of `/readyz` or another page without a key; `None` without a response.
pub async fn status(http: &reqwest::Client, url: &str) -> Option<u16> {
    let response = http.get(url).timeout(Duration::from_secs(3)).send().await.ok()?;
    Some(response.status().as_u16())
}
