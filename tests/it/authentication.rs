//! API keys: which requests are authenticated, and the error of all other requests.

use std::time::Duration;

use domain::keys;
use domain::workspaces::Quota;
use insta::assert_json_snapshot;
use reqwest::Method;

use crate::support::{TestApp, TestResponse, send};

const COURSES: &str = "/api/v1/courses";

#[tokio::test]
async fn the_authorization_scheme_is_case_insensitive() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:courses").await;

    for scheme in ["Bearer", "bearer", "BEARER"] {
        let request =
            app.request(Method::GET, COURSES).header("authorization", format!("{scheme} {}", key.secret));
        send(request).await.assert_status(200);
    }
}

#[tokio::test]
async fn every_request_without_a_valid_key_gets_the_same_error() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let valid_key = workspace.key("read:courses").await;

    let mut last_changed = valid_key.secret.clone();
    let last = last_changed.pop().expect("a secret is not empty");
    last_changed.push(if last == 'a' { 'b' } else { 'a' });
    let mut middle_changed = valid_key.secret.clone();
    let replacement = if &middle_changed[15..16] == "a" { "b" } else { "a" };
    middle_changed.replace_range(15..16, replacement);

    let headers = [
        format!("Basic {}", valid_key.secret),
        format!("Bearer {last_changed}"),
        format!("Bearer {middle_changed}"),
        format!("Bearer {} ", valid_key.secret.to_lowercase()),
        format!("Bearer  {}x", valid_key.secret),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        valid_key.secret.clone(),
        "Bearer svc_live_".to_owned(),
    ];
    let mut responses = vec![send(app.request(Method::GET, COURSES)).await];
    for header in &headers {
        responses.push(send(app.request(Method::GET, COURSES).header("authorization", header)).await);
    }
    let twice =
        app.request(Method::GET, COURSES).bearer_auth(&valid_key.secret).bearer_auth(&valid_key.secret);
    responses.push(send(twice).await);

    for response in &responses {
        assert_eq!(response.status, 401);
        assert_eq!(response.header("www-authenticate"), "Bearer");
        assert_eq!(without_request_id(response), without_request_id(&responses[0]));
    }
    assert_json_snapshot!(without_request_id(&responses[0]));
}

fn without_request_id(response: &TestResponse) -> serde_json::Value {
    let mut body = response.json();
    let id = body["error"]["request_id"].take();
    assert!(id.as_str().is_some_and(|id| id.starts_with("req_")), "{id}");
    body
}

#[tokio::test]
async fn a_revoked_key_is_rejected_immediately() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    key.get(COURSES).await.assert_status(200);

    let mut write = app.begin_write().await;
    let revoked =
        keys::revoke(&app.app, &mut write, Some(workspace.id), key.id.parse().unwrap()).await.unwrap();
    write.commit().await.unwrap();

    assert!(revoked.changed && revoked.record.revoked_at.is_some());
    key.get(COURSES).await.assert_status(401);
}

#[tokio::test]
async fn a_key_revoked_by_another_process_is_rejected_within_two_seconds() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    key.get(COURSES).await.assert_status(200);

    let other = app.other_process().await;
    let mut write = other.begin_write().await.unwrap();
    keys::revoke(&other, &mut write, None, key.id.parse().unwrap()).await.unwrap();
    write.commit().await.unwrap();

    app.clock.advance(Duration::from_millis(2_000));
    key.get(COURSES).await.assert_status(401);
}

#[tokio::test]
async fn a_key_is_rejected_from_its_expiry_on() {
    let app = TestApp::start().await;
    let expires_at = app.clock.now() + Duration::from_secs(60);
    let key =
        app.workspace("acme").await.key_with_quota("read:courses", Quota::default(), Some(expires_at)).await;

    app.clock.advance(Duration::from_millis(59_999));
    key.get(COURSES).await.assert_status(200);
    app.clock.advance(Duration::from_millis(1));
    key.get(COURSES).await.assert_status(401);
}

#[tokio::test]
async fn the_error_for_a_missing_scope_names_the_scope() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:courses").await;

    let response = key.get("/api/v1/students?limit=nonsense").await.assert_status(403);
    assert_eq!(response.code(), "forbidden");
    assert!(response.message().contains("`read:students`"), "{}", response.message());
}
