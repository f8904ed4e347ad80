//! `Idempotency-Key`: the first answer, again.

use std::time::Duration;

use serde_json::json;

use crate::support::TestApp;

const STUDENTS: &str = "/api/v1/students";

#[tokio::test]
async fn the_first_answer_is_repeated_byte_for_byte() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let ada = json!({"email": "ada@example.com"});

    let first = key.post_once(STUDENTS, "k-1", &ada).await.assert_status(201);
    app.clock.advance(Duration::from_secs(60));
    let again = key.post_once(STUDENTS, "k-1", &ada).await.assert_status(201);

    assert_eq!(first.body, again.body);
    assert_eq!(first.header("location"), again.header("location"));
    assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), ("", "true"));
    assert_ne!(first.header("x-request-id"), again.header("x-request-id"));
    assert_eq!(app.events_of("student.created").await.len(), 1);
}

#[tokio::test]
async fn a_refusal_by_the_operation_is_repeated_too() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let ada = json!({"email": "ada@example.com"});
    key.post(STUDENTS, ada.clone()).await.assert_status(201);

    let first = key.post_once(STUDENTS, "k-1", &ada).await;
    first.assert_faults_at(&["body /email"]);
    let again = key.post_once(STUDENTS, "k-1", &ada).await;
    assert_eq!(first.body, again.body);
    assert_eq!(again.header("idempotent-replayed"), "true");
}

#[tokio::test]
async fn another_body_or_operation_under_the_same_key_is_refused() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.full_key().await;
    key.post_once(STUDENTS, "k-1", &json!({"email": "ada@example.com"})).await.assert_status(201);

    let other = key.post_once(STUDENTS, "k-1", &json!({"email": "bob@example.com"})).await;
    other.assert_faults_at(&["header Idempotency-Key"]);
    let pair =
        json!({"studentId": workspace.student("eve").await, "courseId": workspace.course("rust", 1).await});
    let other = key.post_once("/api/v1/enrollments", "k-1", &pair).await;
    other.assert_faults_at(&["header Idempotency-Key"]);
    // Another API key of the workspace has its own.
    let second = workspace.full_key().await;
    second.post_once(STUDENTS, "k-1", &json!({"email": "bob@example.com"})).await.assert_status(201);
}

#[tokio::test]
async fn a_refusal_of_the_form_is_not_kept() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    key.post_once(STUDENTS, "k-1", &json!({"mail": "ada@example.com"})).await.assert_status(422);
    key.post_once(STUDENTS, "k-1", &json!({"email": "ada@example.com"})).await.assert_status(201);
}

#[tokio::test]
async fn a_key_is_free_again_after_a_day() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    key.post_once(STUDENTS, "k-1", &json!({"email": "ada@example.com"})).await.assert_status(201);

    app.clock.advance(Duration::from_secs(24 * 3600));
    key.post_once(STUDENTS, "k-1", &json!({"email": "bob@example.com"})).await.assert_status(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_at_once_under_one_key_have_one_effect() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let ada = json!({"email": "ada@example.com", "name": "Ada"});

    let calls = (0..20).map(|_| key.post_once(STUDENTS, "k-1", &ada));
    let answers = futures_util::future::join_all(calls).await;
    let first = answers.iter().find(|answer| answer.status == 201).expect("one of them created").clone();
    for answer in &answers {
        match answer.status {
            201 => assert_eq!(answer.body, first.body),
            409 => assert_eq!(answer.code(), "invalid_request"),
            other => panic!("{other}: {}", String::from_utf8_lossy(&answer.body)),
        }
    }
    assert_eq!(
        answers.iter().filter(|a| a.status == 201 && a.header("idempotent-replayed").is_empty()).count(),
        1
    );
    assert_eq!(app.events_of("student.created").await.len(), 1);
}

#[tokio::test]
async fn a_malformed_key_is_refused() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let long = "k".repeat(256);
    for bad in ["", "two words", &long] {
        let answer = key.post_once(STUDENTS, bad, &json!({"email": "ada@example.com"})).await;
        answer.assert_faults_at(&["header Idempotency-Key"]);
    }
    key.post_once(STUDENTS, &"k".repeat(255), &json!({"email": "ada@example.com"})).await.assert_status(201);
}
