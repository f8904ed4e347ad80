//! What the Developer API shares with v1: limits, headers, errors, the request log and cursors.

use domain::requests::RequestFilter;
use domain::workspaces::Quota;
use reqwest::Method;
use serde_json::json;

use super::{DELIVERIES, WEBHOOKS, new_webhook};
use crate::support::conformance::assert_error;
use crate::support::{TestApp, send};

#[tokio::test]
async fn requests_count_together_with_those_of_v1() {
    let app = TestApp::start().await;
    let quota = Quota { per_minute: Some(3), per_day: None };
    let key = app.workspace("acme").await.key_with_quota("read:courses read:webhooks", quota, None).await;
    let remaining =
        |response: &crate::support::TestResponse| response.header("x-ratelimit-remaining").to_owned();
    assert_eq!(remaining(&key.get("/api/v1/courses").await.assert_status(200)), "2");
    assert_eq!(remaining(&key.get(WEBHOOKS).await.assert_status(200)), "1");
    assert_eq!(remaining(&key.get("/developer/v1/me").await.assert_status(200)), "0");
    for path in [WEBHOOKS, "/api/v1/courses"] {
        assert_eq!(key.get(path).await.assert_status(429).header("retry-after"), "30");
    }
}

#[tokio::test]
async fn an_unknown_path_is_answered_as_in_v1() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let errors = async |path: &str| {
        let response = key.get(path).await;
        (
            response.status,
            response.code(),
            response.message(),
            response.header("x-ratelimit-limit").to_owned(),
        )
    };
    let of_v1 = errors("/api/v1/nothing").await;
    for path in ["/developer", "/developer/v1/nothing", "/developer/v2/webhooks", "//developer/v1/webhooks"] {
        assert_eq!(errors(path).await, of_v1, "{path}");
    }
    assert_eq!(app.get("/developer/v1/nothing").await.status, 401);
    let response = send(key.request(Method::PUT, WEBHOOKS)).await;
    assert_error(&response, 405, "invalid_request");
    assert_eq!(
        response.header("allow"),
        send(key.request(Method::PUT, "/api/v1/students")).await.header("allow")
    );
}

#[tokio::test]
async fn requests_are_in_the_request_log_without_secrets() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    key.post(WEBHOOKS, new_webhook()).await.assert_status(201);
    let log = app.log(workspace.id, RequestFilter::default()).await;
    assert_eq!(log.len(), 1);
    assert_eq!((log[0].operation.as_deref(), log[0].status), (Some("createWebhook"), 201));
    assert_eq!(log[0].headers["authorization"], "****");
}

#[tokio::test]
async fn a_cursor_belongs_to_its_list() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    for number in 0..3 {
        let url = format!("https://hooks.example/{number}");
        key.post(WEBHOOKS, json!({"url": url, "event_types": ["student.created"]})).await.assert_status(201);
        app.clock.advance(std::time::Duration::from_secs(1));
    }
    let all = key.list_all(WEBHOOKS).await;
    let pages = key.list_all(&format!("{WEBHOOKS}?limit=2")).await;
    assert_eq!(all, pages);
    let urls: Vec<&str> = all.iter().map(|webhook| webhook["url"].as_str().expect("a URL")).collect();
    assert_eq!(urls, ["https://hooks.example/2", "https://hooks.example/1", "https://hooks.example/0"]);
    let page = key.get(&format!("{WEBHOOKS}?limit=2")).await;
    let cursor = page.cursor().expect("a cursor");
    assert_eq!(page.header("link"), format!("<{WEBHOOKS}?limit=2&cursor={cursor}>; rel=\"next\""));
    key.get(&format!("{DELIVERIES}?cursor={cursor}")).await.assert_errors_at(&["query cursor"]);
    let other = app.workspace("globex").await.key_with_all_scopes().await;
    other.get(&format!("{WEBHOOKS}?cursor={cursor}")).await.assert_errors_at(&["query cursor"]);
}
