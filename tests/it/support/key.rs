//! An API key, as an integration uses it.

use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use super::TestResponse;

/// An API key and the server that accepts it.
#[derive(Debug, Clone)]
pub struct TestKey {
    pub secret: String,
    /// The key's id; empty if the test does not know it.
    pub id: String,
    pub base_url: String,
    pub http: reqwest::Client,
}

impl TestKey {
    /// Builds a request with this key.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.secret)
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

    /// Posts a JSON body with an `Idempotency-Key` header.
    pub async fn post_idempotent(&self, path: &str, idempotency_key: &str, body: &Value) -> TestResponse {
        send(self.request(Method::POST, path).header("idempotency-key", idempotency_key).json(body)).await
    }

    /// Reads a list page by page and returns all of its items.
    pub async fn list_all(&self, path: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut next = path.to_owned();
        loop {
            let page = self.get(&next).await.assert_status(200);
            items.extend(page.json()["data"].as_array().expect("`data` is a list").clone());
            let Some(cursor) = page.cursor() else { return items };
            let separator = if path.contains('?') { '&' } else { '?' };
            next = format!("{path}{separator}cursor={cursor}");
        }
    }
}

/// Sends a request and reads the response.
pub async fn send(request: RequestBuilder) -> TestResponse {
    TestResponse::read(request.send().await.expect("the server responds")).await
}

/// Returns a random key that does not exist, but has a valid form and checksum.
pub fn well_formed_unknown_key() -> String {
    well_formed_unknown_secret("svc_live_")
}

/// Returns a random secret with this prefix that does not exist, but has a valid form and checksum.
pub fn well_formed_unknown_secret(prefix: &str) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let random_character = |_| char::from(ALPHABET[rand::random_range(0..ALPHABET.len())]);
    let prefix = format!("{prefix}{}", (0..32).map(random_character).collect::<String>());
    let mut remaining_value = crc32fast::hash(prefix.as_bytes()) as usize;
    let mut checksum = ['0'; 6];
    for digit in checksum.iter_mut().rev() {
        *digit = char::from(ALPHABET[remaining_value % ALPHABET.len()]);
        remaining_value /= ALPHABET.len();
    }
    prefix + &checksum.iter().collect::<String>()
}
