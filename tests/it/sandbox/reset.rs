//! A reset restores the demo data, and keeps keys, webhooks and the audit log.

use std::time::Duration;

use domain::workspaces::Mode;
use serde_json::{Value, json};

use crate::support::members::audit_entries;
use crate::support::{Endpoint, TestApp, TestKey};

/// Returns the email addresses of all students, sorted.
async fn emails(key: &TestKey) -> Vec<Value> {
    let students = key.list_all("/api/v1/students?limit=100").await;
    let mut emails: Vec<Value> = students.into_iter().map(|student| student["email"].clone()).collect();
    emails.sort_by_key(ToString::to_string);
    emails
}

#[tokio::test]
async fn a_reset_restores_the_demo_data_and_keeps_keys_and_webhooks() {
    let app = TestApp::start_with_local_webhooks().await;
    let sandbox = super::create(&app).await;
    let key = sandbox.key_with_all_scopes().await;
    let endpoint = Endpoint::start().await;
    let subscription = sandbox.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let (seeded, me) = (emails(&key).await, key.get("/developer/v1/me").await.json());
    let body = json!({"email": "new@example.com"});
    let created = key.post_idempotent("/api/v1/students", "one", &body).await.assert_status(201).json();
    key.post("/developer/v1/keys/rotate", json!({"overlap_seconds": 3600})).await.assert_status(200);
    assert_eq!((app.deliver_due().await, endpoint.requests().len()), (1, 1));

    let sandbox = super::reset(&app).await;
    assert_eq!(emails(&key).await, seeded);
    let path = format!("/api/v1/students/{}", created["id"].as_str().expect("an id"));
    key.get(&path).await.assert_status(404);
    let me_after = key.get("/developer/v1/me").await.json();
    assert_eq!([&me_after["id"], &me_after["workspace"]["name"]], [&me["id"], &me["workspace"]["name"]]);
    assert_eq!(me_after["workspace"]["id"], sandbox.id.to_string());
    assert_eq!(key.get("/developer/v1/webhooks").await.ids(), [subscription.id.to_string()]);
    assert!(key.get("/developer/v1/deliveries").await.ids().is_empty());
    let entries = audit_entries(&sandbox).await;
    assert!(entries.iter().any(|entry| entry.contains("Rotated the secret")), "{entries:?}");

    // The response of before would name a student that no longer exists.
    let again = key.post_idempotent("/api/v1/students", "one", &body).await.assert_status(201);
    assert_ne!(again.json()["id"], created["id"]);
    assert_eq!(again.header("idempotent-replayed"), "");
    assert_eq!(app.deliver_due().await, 1);
    let request = &endpoint.requests()[1];
    assert_eq!(request.event()["workspace_id"], sandbox.id.to_string());
    assert!(request.is_signed(&subscription.secret, app.clock.now().as_second()));
}

#[tokio::test]
async fn another_process_answers_from_the_new_data_at_once() {
    let app = TestApp::start().await;
    let key = super::create(&app).await.key("read:courses").await;
    let other = app.other_process().await;
    let workspace = async || {
        let principal = domain::keys::authenticate(&other, &key.secret).await.expect("a query");
        principal.map(|principal| principal.workspace)
    };
    assert!(workspace().await.is_some());
    let sandbox = super::reset(&app).await;
    assert_eq!(workspace().await, Some(sandbox.id));
    super::delete(&app).await;
    assert_eq!(workspace().await, None);
}

#[tokio::test]
async fn a_request_in_progress_at_a_reset_writes_to_the_new_data_or_nothing() {
    for idempotency_key in [None, Some("one")] {
        let app = TestApp::start().await;
        let key = super::create(&app).await.key_with_all_scopes().await;
        let write = super::begin_reset(&app).await;
        let body = json!({"email": "new@example.com"});
        let send = async || match idempotency_key {
            Some(idempotency_key) => key.post_idempotent("/api/v1/students", idempotency_key, &body).await,
            None => key.post("/api/v1/students", body.clone()).await,
        };
        let (created, ()) = tokio::join!(send(), super::commit_later(&app, write));
        let found = key.get("/api/v1/students?email=new%40example.com").await.ids();
        if created.status == 409 {
            assert!(created.json()["error"]["message"].as_str().unwrap().contains("Send it again"));
            assert!(found.is_empty());
            send().await.assert_status(201);
        } else {
            assert_eq!((created.status, found.len()), (201, 1), "{idempotency_key:?}");
        }
    }
}

#[tokio::test]
async fn an_import_in_progress_at_a_reset_changes_the_new_data() {
    let app = TestApp::start().await;
    let key = super::create(&app).await.key("read:students").await;
    let write = super::begin_reset(&app).await;
    let mut importer = feed::Importer::new(app.app.clone(), Mode::Test);
    tokio::join!(super::import(&app, &mut importer, &["one", "two"]), super::commit_later(&app, write));
    for email in ["one", "two"] {
        let found = key.get(&format!("/api/v1/students?email={email}%40example.com")).await.ids();
        assert_eq!(found.len(), 1, "{email}");
    }
}

#[tokio::test]
async fn an_open_stream_ends_when_the_sandbox_is_reset() {
    let app = TestApp::start().await;
    let key = super::create(&app).await.key("read:events").await;
    let request = key.request(reqwest::Method::GET, "/developer/v1/events/stream");
    let mut stream = request.send().await.expect("a response");
    stream.chunk().await.expect("a chunk").expect("the first line");
    super::reset(&app).await;
    app.clock.advance(Duration::from_secs(16));
    let end = tokio::time::timeout(Duration::from_secs(30), async {
        while let Some(chunk) = stream.chunk().await.expect("the response is complete") {
            assert!(!chunk.is_empty());
        }
    });
    end.await.expect("the stream ends");
}
