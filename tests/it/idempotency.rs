//! The header `Idempotency-Key`: the first response is stored, and replayed for later requests with the same key.

use std::time::{Duration, Instant};

use domain::idempotency::{self, Claim};
use domain::students::{self, NewStudent};
use reqwest::Method;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::support::conformance::assert_error;
use crate::support::program::TestProgram;
use crate::support::{TestApp, skip, wait_until};

const STUDENTS: &str = "/api/v1/students";

#[tokio::test]
async fn the_first_response_is_replayed_byte_for_byte() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let ada = json!({"email": "ada@example.com"});

    let first = key.post_idempotent(STUDENTS, "k-1", &ada).await.assert_status(201);
    app.clock.advance(Duration::from_secs(60));
    let repeat = key.post_idempotent(STUDENTS, "k-1", &ada).await.assert_status(201);

    assert_eq!(first.body, repeat.body);
    assert_eq!(first.header("location"), repeat.header("location"));
    assert_eq!((first.header("idempotent-replayed"), repeat.header("idempotent-replayed")), ("", "true"));
    assert_ne!(first.header("x-request-id"), repeat.header("x-request-id"));
    assert_eq!(app.events_of_type("student.created").await.len(), 1);
}

#[tokio::test]
async fn an_error_of_the_operation_is_replayed() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let ada = json!({"email": "ada@example.com"});
    key.post(STUDENTS, ada.clone()).await.assert_status(201);

    let first = key.post_idempotent(STUDENTS, "k-1", &ada).await;
    first.assert_errors_at(&["body /email"]);
    let repeat = key.post_idempotent(STUDENTS, "k-1", &ada).await;
    assert_eq!(first.body, repeat.body);
    assert_eq!(repeat.header("idempotent-replayed"), "true");
}

#[tokio::test]
async fn another_body_or_operation_with_the_same_key_is_rejected() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    key.post_idempotent(STUDENTS, "k-1", &json!({"email": "ada@example.com"})).await.assert_status(201);

    let other = key.post_idempotent(STUDENTS, "k-1", &json!({"email": "bob@example.com"})).await;
    other.assert_errors_at(&["header Idempotency-Key"]);
    let pair =
        json!({"studentId": workspace.student("eve").await, "courseId": workspace.course("rust", 1).await});
    let other = key.post_idempotent("/api/v1/enrollments", "k-1", &pair).await;
    other.assert_errors_at(&["header Idempotency-Key"]);
    // Another API key of the workspace has its own idempotency keys.
    let second = workspace.key_with_all_scopes().await;
    second.post_idempotent(STUDENTS, "k-1", &json!({"email": "bob@example.com"})).await.assert_status(201);
}

#[tokio::test]
async fn a_response_that_an_earlier_release_has_stored_is_replayed() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let ada = json!({"email": "ada@example.com"});
    // Releases before the Developer API identified a request by its operation and its body.
    let digest = Sha256::new().chain_update("createStudent").chain_update([0]).chain_update(ada.to_string());
    let key_id = key.id.parse().expect("a key's id");
    let claim = idempotency::claim(&app.app, key_id, "k-1", digest.finalize().into()).await.expect("a claim");
    let Claim::Acquired(token) = claim else { panic!("{claim:?}") };
    let mut write = app.begin_write().await;
    let headers = [("Location", "/api/v1/students/stu_1")];
    idempotency::store_response(&mut write, &token, 201, &headers, b"{}")
        .await
        .expect("the response is stored");
    write.commit().await.expect("the commit succeeds");

    let repeat = key.post_idempotent(STUDENTS, "k-1", &ada).await.assert_status(201);
    assert_eq!((repeat.header("location"), repeat.body.as_slice()), (headers[0].1, &b"{}"[..]));
}

#[tokio::test]
async fn a_validation_error_is_not_stored() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    key.post_idempotent(STUDENTS, "k-1", &json!({"mail": "ada@example.com"})).await.assert_status(422);
    key.post_idempotent(STUDENTS, "k-1", &json!({"email": "ada@example.com"})).await.assert_status(201);
}

#[tokio::test]
async fn an_idempotency_key_can_be_reused_after_a_day() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    key.post_idempotent(STUDENTS, "k-1", &json!({"email": "ada@example.com"})).await.assert_status(201);

    app.clock.advance(Duration::from_secs(24 * 3600));
    key.post_idempotent(STUDENTS, "k-1", &json!({"email": "bob@example.com"})).await.assert_status(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_concurrent_requests_with_one_idempotency_key_have_one_effect() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let ada = json!({"email": "ada@example.com", "name": "Ada"});

    let calls = (0..20).map(|_| key.post_idempotent(STUDENTS, "k-1", &ada));
    let responses = futures_util::future::join_all(calls).await;
    let first = responses
        .iter()
        .find(|response| response.status == 201)
        .expect("one request creates the student")
        .clone();
    for response in &responses {
        match response.status {
            201 => assert_eq!(response.body, first.body),
            409 => assert_eq!(response.code(), "invalid_request"),
            other => panic!("{other}: {}", String::from_utf8_lossy(&response.body)),
        }
    }
    assert_eq!(
        responses
            .iter()
            .filter(|response| response.status == 201 && response.header("idempotent-replayed").is_empty())
            .count(),
        1
    );
    assert_eq!(app.events_of_type("student.created").await.len(), 1);
}

#[tokio::test]
async fn a_malformed_idempotency_key_is_rejected() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let long = "k".repeat(256);
    for invalid_key in ["", "two words", &long] {
        let response = key.post_idempotent(STUDENTS, invalid_key, &json!({"email": "ada@example.com"})).await;
        response.assert_errors_at(&["header Idempotency-Key"]);
    }
    key.post_idempotent(STUDENTS, &"k".repeat(255), &json!({"email": "ada@example.com"}))
        .await
        .assert_status(201);
}

#[tokio::test]
async fn an_idempotency_key_of_a_killed_server_can_be_used_again_within_15_seconds() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only: on SQLite, the key can be used again when its claim expires");
    }
    let secret = program.create_key("write:students").await;
    let workspace = program.app.workspace("acme").await.id;
    let mut killed = program.serve(&["serve", "--no-worker"]).await;
    let count = async |table: &str| {
        let db = &program.app.app.db;
        let sql = Statement::from_string(db.backend(), format!("SELECT count(*) AS rows FROM {table}"));
        let row = db.read().query_one_raw(sql).await.expect("the query succeeds");
        row.expect("a row").try_get::<i64>("", "rows").expect("a count")
    };
    wait_until("the first server has sent a heartbeat", async || count("processes").await == 1).await;
    // The request waits for a write that has inserted the same email address.
    let mut open_write = program.app.begin_write().await;
    let ada = NewStudent { email: "ada@example.com".to_owned(), ..NewStudent::default() };
    let now = program.app.clock.now();
    students::create(&program.app.app, &mut open_write, workspace, now, ada).await.expect("a student");
    let (key, body) = (killed.key(&program.app, &secret), json!({"email": "ada@example.com"}));
    let request =
        tokio::spawn(key.request(Method::POST, STUDENTS).header("idempotency-key", "k-1").json(&body).send());
    wait_until("the key is claimed", async || count("idempotency_records").await == 1).await;
    killed.signal("KILL").await;
    killed.wait_for_exit().await;
    let killed_at = Instant::now();
    request.await.expect("no panic").expect_err("the connection is closed");
    drop(open_write);

    let server = program.serve(&["serve", "--no-worker"]).await;
    let key = server.key(&program.app, &secret);
    loop {
        let response = key.post_idempotent(STUDENTS, "k-1", &body).await;
        if response.status == 201 {
            break;
        }
        assert_error(&response, 409, "invalid_request");
        assert!(killed_at.elapsed() < Duration::from_secs(15), "{:?}", killed_at.elapsed());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
