//! `Idempotency-Key`: the first response is stored and replayed.

use std::time::Duration;

use serde_json::json;

use crate::support::TestApp;

const STUDENTS: &str = "/api/v1/students";

#[tokio::test]
async fn the_first_response_is_replayed_byte_for_byte() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let ada = json!({"email": "ada@example.com"});

    let first = key.post_once(STUDENTS, "k-1", &ada).await.assert_status(201);
    app.clock.advance(Duration::from_secs(60));
    let repeat = key.post_once(STUDENTS, "k-1", &ada).await.assert_status(201);

    assert_eq!(first.body, repeat.body);
    assert_eq!(first.header("location"), repeat.header("location"));
    assert_eq!((first.header("idempotent-replayed"), repeat.header("idempotent-replayed")), ("", "true"));
    assert_ne!(first.header("x-request-id"), repeat.header("x-request-id"));
    assert_eq!(app.events_of("student.created").await.len(), 1);
}

#[tokio::test]
async fn an_error_of_the_operation_is_replayed() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let ada = json!({"email": "ada@example.com"});
    key.post(STUDENTS, ada.clone()).await.assert_status(201);

    let first = key.post_once(STUDENTS, "k-1", &ada).await;
    first.assert_errors_at(&["body /email"]);
    let repeat = key.post_once(STUDENTS, "k-1", &ada).await;
    assert_eq!(first.body, repeat.body);
    assert_eq!(repeat.header("idempotent-replayed"), "true");
}

#[tokio::test]
async fn another_body_or_operation_with_the_same_key_is_rejected() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.full_key().await;
    key.post_once(STUDENTS, "k-1", &json!({"email": "ada@example.com"})).await.assert_status(201);

    let other = key.post_once(STUDENTS, "k-1", &json!({"email": "bob@example.com"})).await;
    other.assert_errors_at(&["header Idempotency-Key"]);
    let pair =
        json!({"studentId": workspace.student("eve").await, "courseId": workspace.course("rust", 1).await});
    let other = key.post_once("/api/v1/enrollments", "k-1", &pair).await;
    other.assert_errors_at(&["header Idempotency-Key"]);
    // Another API key of the workspace has its own idempotency keys.
    let second = workspace.full_key().await;
    second.post_once(STUDENTS, "k-1", &json!({"email": "bob@example.com"})).await.assert_status(201);
}

#[tokio::test]
async fn a_validation_error_is_not_stored() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    key.post_once(STUDENTS, "k-1", &json!({"mail": "ada@example.com"})).await.assert_status(422);
    key.post_once(STUDENTS, "k-1", &json!({"email": "ada@example.com"})).await.assert_status(201);
}

#[tokio::test]
async fn a_key_can_be_reused_after_a_day() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    key.post_once(STUDENTS, "k-1", &json!({"email": "ada@example.com"})).await.assert_status(201);

    app.clock.advance(Duration::from_secs(24 * 3600));
    key.post_once(STUDENTS, "k-1", &json!({"email": "bob@example.com"})).await.assert_status(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_concurrent_requests_with_one_key_have_one_effect() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let ada = json!({"email": "ada@example.com", "name": "Ada"});

    let calls = (0..20).map(|_| key.post_once(STUDENTS, "k-1", &ada));
    let responses = futures_util::future::join_all(calls).await;
    let first =
        responses.iter().find(|response| response.status == 201).expect("one of them created").clone();
    for response in &responses {
        match response.status {
            201 => assert_eq!(response.body, first.body),
            409 => assert_eq!(response.code(), "invalid_request"),
            other => panic!("{other}: {}", String::from_utf8_lossy(&response.body)),
        }
    }
    assert_eq!(
        responses.iter().filter(|a| a.status == 201 && a.header("idempotent-replayed").is_empty()).count(),
        1
    );
    assert_eq!(app.events_of("student.created").await.len(), 1);
}

#[tokio::test]
async fn a_malformed_key_is_rejected() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let long = "k".repeat(256);
    for bad in ["", "two words", &long] {
        let response = key.post_once(STUDENTS, bad, &json!({"email": "ada@example.com"})).await;
        response.assert_errors_at(&["header Idempotency-Key"]);
    }
    key.post_once(STUDENTS, &"k".repeat(255), &json!({"email": "ada@example.com"})).await.assert_status(201);
}
