//! Samples of requests: they contain what the operation requires, and examples of responses fit them.

use serde_json::Value;

use super::{text, unescape};
use crate::support::TestApp;

/// Returns the operations of the contracts: the path of the page, and the operation.
fn operations() -> Vec<(String, Value)> {
    let contracts = [
        ("/docs", api::generated::document::JSON),
        ("/docs/developer", api::developer::generated::document::JSON),
        ("/docs/platform", api::platform::generated::document::JSON),
    ];
    let mut operations = Vec::new();
    for (folder, document) in contracts {
        let contract: Value = serde_json::from_str(document).expect("JSON");
        for item in contract["paths"].as_object().expect("paths").values() {
            for operation in item.as_object().expect("an item").values() {
                if let Some(id) = operation["operationId"].as_str() {
                    operations.push((format!("{folder}/operations/{id}"), operation.clone()));
                }
            }
        }
    }
    operations
}

/// Returns the request of the first sample of a page.
fn sample(html: &str) -> Value {
    let (_, rest) = html.split_once("data-sample=\"").expect("a sample");
    let (json, _) = rest.split_once('"').expect("an attribute");
    serde_json::from_str(&unescape(json)).expect("JSON")
}

/// Returns the example of the response that a page shows beside the sample, unless it consists of lines.
fn response(html: &str) -> Value {
    let (_, rest) = html.split_once("<code class=\"language-json\">").unwrap_or_default();
    serde_json::from_str(&unescape(rest.split("</code>").next().unwrap_or_default())).unwrap_or_default()
}

#[tokio::test]
async fn samples_contain_the_body_and_the_idempotency_key() {
    let app = TestApp::start().await;
    for (path, operation) in operations() {
        let html = text(&app, &path).await;
        let sample = sample(&html);
        if operation["requestBody"]["required"] == true {
            assert!(!sample["body"].is_null(), "{path} has no body");
            let is_lines = operation["requestBody"]["content"].get("application/x-ndjson").is_some();
            let options = if is_lines { "--data-raw '{" } else { "-d '{" };
            assert!(unescape(&html).contains(options), "{path}");
        }
        let has_key = operation["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|parameter| parameter["$ref"] == "#/components/parameters/IdempotencyKey");
        assert_eq!(sample["headers"].get("Idempotency-Key").is_some(), has_key, "{path}");
        let is_stream = operation["responses"]["200"]["content"].get("application/x-ndjson").is_some();
        assert_eq!(sample["stream"], is_stream, "{path}");
        assert_eq!(unescape(&html).contains("curl -N "), is_stream, "{path}");
    }
}

#[tokio::test]
async fn the_example_of_a_response_is_that_to_the_sample() {
    let app = TestApp::start().await;
    let mut count = 0;
    for (path, _) in operations() {
        let html = text(&app, &path).await;
        let (sample, response) = (sample(&html), response(&html));
        for (name, sent) in sample["body"].as_object().into_iter().flatten() {
            // Times are normalized, and values of headers are secret.
            let is_same = |received: &Value| received == sent || name.ends_with("_at") || name == "headers";
            assert!(response.get(name).is_none_or(is_same), "{path}: {name}");
            count += usize::from(response.get(name).is_some());
        }
    }
    assert!(count > 10, "{count}");
}
