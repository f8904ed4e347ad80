//! The Developer API: webhooks, their deliveries, and events, through HTTP.

mod coverage;
mod deliveries;
mod event_feed;
mod event_stream;
mod idempotency;
mod keys;
mod limits;
mod listen;
mod rotation;
mod sandbox;
mod webhooks;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestKey, TestResponse, send};

const WEBHOOKS: &str = "/developer/v1/webhooks";
const DELIVERIES: &str = "/developer/v1/deliveries";
const EVENTS: &str = "/developer/v1/events";
const SANDBOX_EVENTS: &str = "/developer/v1/sandbox/events";
const SANDBOX_CLOCK: &str = "/developer/v1/sandbox/clock";
const EVENT_STREAM: &str = "/developer/v1/events/stream";

/// Returns a valid body of `createWebhook` without optional fields.
fn new_webhook() -> Value {
    json!({"url": "https://hooks.example/new", "event_types": ["student.created"]})
}

/// Creates a webhook, and returns the response.
async fn create(key: &TestKey, body: Value) -> Value {
    key.post(WEBHOOKS, body).await.assert_status(201).json()
}

/// Returns the path of a webhook.
fn path_of(webhook: &Value) -> String {
    format!("{WEBHOOKS}/{}", webhook["id"].as_str().expect("an id"))
}

async fn patch(key: &TestKey, path: &str, body: Value) -> TestResponse {
    send(key.request(Method::PATCH, path).json(&body)).await
}

async fn delete(key: &TestKey, path: &str) -> TestResponse {
    send(key.request(Method::DELETE, path)).await
}
