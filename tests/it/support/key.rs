//! An API key, as an integration uses it.

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use super::TestResponse;

/// A key and the server that it belongs to.
#[derive(Debug, Clone)]
pub struct Key {
    pub secret: String,
    pub id: String,
    pub base: String,
    pub http: reqwest::Client,
}

impl Key {
    /// Builds a request with this key.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.secret)
    }

    pub async fn get(&self, path: &str) -> TestResponse {
        send(self.request(Method::GET, path)).await
    }

    pub async fn head(&self, path: &str) -> TestResponse {
        send(self.request(Method::HEAD, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> TestResponse {
        send(self.request(Method::POST, path).json(&body)).await
    }

    /// Posts raw bytes with the JSON media type.
    pub async fn post_bytes(&self, path: &str, body: impl Into<reqwest::Body>) -> TestResponse {
        send(self.request(Method::POST, path).header("content-type", "application/json").body(body)).await
    }

    /// Posts with an idempotency key.
    pub async fn post_once(&self, path: &str, idempotency_key: &str, body: &Value) -> TestResponse {
        send(self.request(Method::POST, path).header("idempotency-key", idempotency_key).json(body)).await
    }

    /// Returns every item of a list, page by page.
    pub async fn all(&self, path: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut next = path.to_owned();
        loop {
            let page = self.get(&next).await.assert_status(200);
            items.extend(page.json()["data"].as_array().expect("a page has data").clone());
            let Some(cursor) = page.cursor() else { return items };
            let glue = if path.contains('?') { '&' } else { '?' };
            next = format!("{path}{glue}cursor={cursor}");
        }
    }
}

/// Sends a request and reads the response.
pub async fn send(request: RequestBuilder) -> TestResponse {
    TestResponse::read(request.send().await.expect("the server answers")).await
}

/// Returns an unknown key of the right form and with the right checksum.
pub fn invented_key() -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let letter = |_| char::from(ALPHABET[rand::random_range(0..ALPHABET.len())]);
    let head = format!("svc_live_{}", (0..32).map(letter).collect::<String>());
    let mut rest = crc32fast::hash(head.as_bytes()) as usize;
    let mut checksum = ['0'; 6];
    for digit in checksum.iter_mut().rev() {
        *digit = char::from(ALPHABET[rest % ALPHABET.len()]);
        rest /= ALPHABET.len();
    }
    head + &checksum.iter().collect::<String>()
}
