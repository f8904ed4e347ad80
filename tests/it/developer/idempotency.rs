//! The header `Idempotency-Key`: stored secrets are encrypted, and a key belongs to one path.

use reqwest::Method;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};

use super::{DELIVERIES, WEBHOOKS, create, new_webhook, path_of};
use crate::support::{TestApp, TestKey, TestResponse, send};

async fn send_once(key: &TestKey, method: Method, path: &str, body: Option<Value>) -> TestResponse {
    let request = key.request(method, path).header("idempotency-key", "k-1");
    send(body.iter().fold(request, |request, body| request.json(body))).await
}

/// Returns the stored bodies of responses.
async fn stored_bodies(app: &TestApp) -> Vec<Vec<u8>> {
    let db = &app.app.db;
    let sql = Statement::from_string(db.backend(), "SELECT body FROM idempotency_records");
    let rows = db.read().query_all_raw(sql).await.expect("the query succeeds");
    rows.iter().map(|row| row.try_get("", "body").expect("a body")).collect()
}

#[tokio::test]
async fn a_lost_answer_is_repeated_with_the_same_secret() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let first = key.post_idempotent(WEBHOOKS, "k-1", &new_webhook()).await.assert_status(201);
    let repeat = key.post_idempotent(WEBHOOKS, "k-1", &new_webhook()).await.assert_status(201);
    assert_eq!((&first.body, first.header("location")), (&repeat.body, repeat.header("location")));
    assert_eq!(repeat.header("idempotent-replayed"), "true");
    assert_eq!(key.get(WEBHOOKS).await.ids().len(), 1);

    let rotate = format!("{}/rotate-secret", path_of(&first.json()));
    let first = key.post_idempotent(&rotate, "k-2", &json!({})).await.assert_status(200);
    let repeat = key.post_idempotent(&rotate, "k-2", &json!({})).await.assert_status(200);
    assert_eq!(first.body, repeat.body);
    assert!(first.json()["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")));

    let stored = stored_bodies(&app).await;
    assert_eq!(stored.len(), 2);
    for body in stored {
        assert!(!body.windows(6).any(|part| part == b"whsec_"), "the secret is not stored as text");
    }
    let restarted = app.restart().await;
    let key = restarted.key_with_secret(String::new(), key.secret.clone());
    assert_eq!(key.post_idempotent(&rotate, "k-2", &json!({})).await.assert_status(200).body, first.body);
}

#[tokio::test]
async fn a_key_is_rejected_for_another_webhook_method_or_operation() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let (first, second) = (create(&key, new_webhook()).await, create(&key, new_webhook()).await);
    let rotate = |webhook: &Value| format!("{}/rotate-secret", path_of(webhook));
    send_once(&key, Method::POST, &rotate(&first), Some(json!({}))).await.assert_status(200);
    for (method, path, body) in [
        (Method::POST, rotate(&second), Some(json!({}))),
        (Method::POST, format!("{}/test", path_of(&first)), Some(json!({}))),
        (Method::PATCH, path_of(&first), Some(json!({}))),
        (Method::DELETE, path_of(&first), None),
        (Method::POST, "/api/v1/students".to_owned(), Some(json!({"email": "ada@example.com"}))),
    ] {
        let reused = send_once(&key, method, &path, body).await;
        reused.assert_errors_at(&["header Idempotency-Key"]);
    }
    assert_eq!(key.get(WEBHOOKS).await.ids().len(), 2);
}

#[tokio::test]
async fn every_write_takes_effect_once() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    let webhook = create(&key, new_webhook()).await;
    let path = path_of(&webhook);
    let twice = async |method: Method, path: &str, body: Option<Value>, idempotency_key: &str| {
        let call = || {
            let request = key.request(method.clone(), path).header("idempotency-key", idempotency_key);
            send(body.iter().fold(request, |request, body| request.json(body)))
        };
        let (first, repeat) = (call().await, call().await);
        assert_eq!((first.status, &first.body), (repeat.status, &repeat.body));
        assert_eq!(repeat.header("idempotent-replayed"), "true");
        first
    };
    twice(Method::POST, &format!("{path}/test"), Some(json!({})), "k-1").await.assert_status(201);
    assert_eq!(key.get(DELIVERIES).await.ids().len(), 1);
    twice(Method::PATCH, &path, Some(json!({"rate": 5})), "k-2").await.assert_status(200);
    // A rejection that depends on the state is repeated, too.
    let delivery = key.get(DELIVERIES).await.ids().remove(0);
    twice(Method::POST, &format!("{DELIVERIES}/{delivery}/replay"), None, "k-3").await.assert_status(422);
    twice(Method::DELETE, &path, None, "k-4").await.assert_status(204);
    assert_eq!(key.get(WEBHOOKS).await.ids().len(), 0);
}
