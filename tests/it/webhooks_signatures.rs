//! Ed25519 signatures: the published keys verify them through rotations, and they survive a rotation of the master key.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::Error;
use domain::webhooks::controls::ControlsChange;
use domain::webhooks::signing_keys::{self, Replacement};
use ed25519_dalek::{Signature, VerifyingKey};
use foundation::id::WorkspaceId;
use foundation::secret::{MasterKeys, Purpose, Seal};

use crate::support::{Endpoint, ReceivedRequest, TestApp, in_transaction};
use crate::webhooks_controls::runs_elsewhere;

const CREATED: &[&str] = &["student.created"];

/// Returns the parts of `webhook-signature` with this version.
fn signatures(request: &ReceivedRequest, version: &str) -> Vec<String> {
    let parts = request.header("webhook-signature").split(' ').filter_map(|part| part.split_once(','));
    parts.filter(|(name, _)| *name == version).map(|(_, signature)| signature.to_owned()).collect()
}

/// Returns the published keys.
async fn published(app: &TestApp, workspace: WorkspaceId) -> Vec<VerifyingKey> {
    // A server may serve keys that it has read before.
    app.clock.advance(Duration::from_secs(11));
    let response = app.get(&format!("/webhooks/{workspace}/jwks.json")).await.assert_status(200);
    assert_eq!(response.header("cache-control"), "public, max-age=300");
    let set: serde_json::Value = serde_json::from_slice(&response.body).expect("JSON");
    let key = |key: &serde_json::Value| {
        assert_eq!((&key["kty"], &key["crv"]), (&"OKP".into(), &"Ed25519".into()), "{key}");
        assert!(key["kid"].as_str().is_some_and(|id| id.starts_with("wsk_")) && key["d"].is_null(), "{key}");
        let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let x = engine.decode(key["x"].as_str().expect("a text")).expect("base64");
        VerifyingKey::from_bytes(x.as_slice().try_into().expect("32 bytes")).expect("a key")
    };
    set["keys"].as_array().expect("a list").iter().map(key).collect()
}

fn verifies(key: &VerifyingKey, request: &ReceivedRequest, signature: &str) -> bool {
    let (id, timestamp) = (request.header("webhook-id"), request.header("webhook-timestamp"));
    let signed = [format!("{id}.{timestamp}.").as_bytes(), &request.body].concat();
    let signature = Signature::from_slice(&STANDARD.decode(signature).expect("base64")).expect("64 bytes");
    key.verify_strict(&signed, &signature).is_ok()
}

#[tokio::test]
async fn ed25519_signatures_verify_with_the_published_keys_through_rotations() {
    let app = TestApp::start_with_local_webhooks().await;
    if runs_elsewhere(&app) {
        return;
    }
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_endpoint(&endpoint, CREATED).await;
    subscription.change(ControlsChange { ed25519: Some(true), ..Default::default() }).await.expect("valid");
    let mut number = 0;
    let mut request = async || {
        number += 1;
        acme.upsert_student(&format!("student-{number}")).await;
        app.deliver_due().await;
        endpoint.requests().pop().expect("a request")
    };
    let rotate = async |replacement| {
        let rotate = async |write: &mut foundation::database::Write| {
            signing_keys::rotate(&app.app, write, &app.seal(), acme.id, replacement).await
        };
        in_transaction(&app, rotate).await
    };
    let first = published(&app, acme.id).await.remove(0);
    assert_eq!(signatures(&request().await, "v1a"), [""; 0], "published, but not signing yet");
    app.clock.advance(Duration::from_mins(6));
    let signed = request().await;
    assert!(signed.is_signed(&subscription.secret, app.clock.now().as_second()));
    assert_eq!(signatures(&signed, "v1").len(), 1);
    assert!(verifies(&first, &signed, &signatures(&signed, "v1a")[0]));

    rotate(Replacement::Overlap(Duration::from_hours(1))).await.expect("a rotation");
    let second = published(&app, acme.id).await.remove(0);
    let signed = request().await;
    assert!(second != first && verifies(&first, &signed, &signatures(&signed, "v1a")[0]), "not signing yet");
    app.clock.advance(Duration::from_mins(6));
    let signed = request().await;
    let parts = signatures(&signed, "v1a");
    assert!(
        parts.len() == 2 && verifies(&second, &signed, &parts[0]) && verifies(&first, &signed, &parts[1])
    );
    app.clock.advance(Duration::from_hours(2));
    assert_eq!(published(&app, acme.id).await, [second]);
    assert_eq!(signatures(&request().await, "v1a").len(), 1);

    // A key that may have leaked is replaced at once, although there are as many keys as possible.
    let overlap = Replacement::Overlap(Duration::from_hours(7 * 24));
    for _ in 0..4 {
        rotate(overlap).await.expect("a rotation");
    }
    let Err(Error::Invalid(errors)) = rotate(overlap).await else { panic!("a sixth key") };
    assert!(errors[0].message.contains("would leave more than 5 keys"), "{errors:?}");
    rotate(Replacement::Immediate).await.expect("a rotation");
    let keys = published(&app, acme.id).await;
    let signed = request().await;
    let parts = signatures(&signed, "v1a");
    assert!(keys.len() == 1 && parts.len() == 1 && verifies(&keys[0], &signed, &parts[0]));

    let unknown = app.get("/webhooks/wks_01h2xcejqtf2nbrexx3vqjhp41/jwks.json").await.assert_status(200);
    assert_eq!(unknown.body, br#"{"keys":[]}"#);
    app.get("/webhooks/acme/jwks.json").await.assert_status(404);
}

#[tokio::test]
async fn headers_and_private_keys_survive_a_rotation_of_the_master_key() {
    let app = TestApp::start_with_local_webhooks().await;
    if runs_elsewhere(&app) {
        return;
    }
    let acme = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let subscription = acme.subscribe_endpoint(&endpoint, CREATED).await;
    let headers = Some(vec!["X-Key: value".to_owned()]);
    let change = ControlsChange { headers, ed25519: Some(true), ..Default::default() };
    subscription.change(change).await.expect("valid");
    app.clock.advance(Duration::from_mins(6));
    let old: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
    let new = "02".repeat(32);
    let keys = |text: &str| MasterKeys::parse(text, "the test").expect("keys");
    let rotation =
        domain::master_key::rotate(&app.app, &keys(&format!("{new}\n{old}"))).await.expect("a rotation");
    let changed: Vec<_> = rotation.tables.iter().map(|table| (table.table, table.changed)).collect();
    assert_eq!(
        changed,
        [("webhook_secrets", 1), ("webhook_keys", 1), ("webhook_subscriptions", 1), ("people", 0)]
    );
    let values = domain::master_key::encrypted_values(&app.app, &keys(&new)).await.expect("the values");
    assert_eq!((values.count, values.with_other_keys, values.unreadable), (3, 0, Vec::new()));
    let values = domain::master_key::encrypted_values(&app.app, &keys(&old)).await.expect("the values");
    assert_eq!(values.unreadable.len(), 3, "{:?}", values.unreadable);

    acme.upsert_student("ada").await;
    let seal = Seal::new(&keys(&new), Purpose::WebhookSecrets);
    let worker = ::webhooks::Worker::new(app.app.clone(), seal.into()).expect("a worker");
    worker.deliver_due().await.expect("the delivery is sent");
    let request = endpoint.requests().remove(0);
    assert_eq!(request.header("x-key"), "value");
    let key = published(&app, acme.id).await.remove(0);
    assert!(verifies(&key, &request, &signatures(&request, "v1a")[0]));
}
