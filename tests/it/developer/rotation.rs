//! `rotateCurrentKey`: two secrets of one key, and when each is valid.

use std::time::Duration;

use api::developer::generated::operations::ROTATE_CURRENT_KEY;
use domain::keys;
use domain::requests::RequestFilter;
use domain::roles::Role;
use domain::workspaces::Quota;
use entity::mails::Model;
use jiff::SignedDuration;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};

use crate::support::conformance::{ContractValidator, assert_error};
use crate::support::members::{audit_entries, member_browser};
use crate::support::{TestApp, TestKey, TestWorkspace, in_transaction, well_formed_unknown_key};

const ME: &str = "/developer/v1/me";
const ROTATE: &str = "/developer/v1/keys/rotate";
const COURSES: &str = "/api/v1/courses";
const SCOPES: &str = "write:keys read:courses";

fn overlap(seconds: i64) -> Value {
    json!({"overlap_seconds": seconds})
}

/// Returns the key with the new secret of a rotation.
fn with_new_secret(app: &TestApp, key: &TestKey, rotated: &Value) -> TestKey {
    app.key_with_secret(key.id.clone(), rotated["secret"].as_str().expect("a secret").to_owned())
}

/// Rotates a key, and returns it with the new secret.
async fn rotate(app: &TestApp, key: &TestKey, overlap_seconds: i64) -> TestKey {
    let rotated = key.post(ROTATE, overlap(overlap_seconds)).await.assert_status(200).json();
    with_new_secret(app, key, &rotated)
}

/// Returns the mails about rotations.
async fn mails(workspace: &TestWorkspace<'_>) -> Vec<Model> {
    workspace.mails().await.into_iter().filter(|mail| mail.kind == "key_rotated").collect()
}

async fn revoke(workspace: &TestWorkspace<'_>, key: &TestKey) {
    let (app, id) = (workspace.app, key.id.parse().unwrap());
    let revoked = in_transaction(app, async |write| keys::revoke(&app.app, write, None, id).await).await;
    assert!(revoked.expect("a revocation").changed);
}

#[tokio::test]
async fn both_secrets_belong_to_the_same_key_until_the_overlap_ends() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let old = acme.key_with_default_quota(SCOPES).await;
    let rotated = old.post(ROTATE, overlap(3_600)).await.assert_status(200);
    assert_eq!(rotated.header("cache-control"), "private, no-store");
    let rotated = rotated.json();
    assert_eq!(rotated["key_id"], old.id);
    assert_eq!(rotated["old_secret_expires_at"], "2026-03-02T11:00:30.000Z");
    let new = with_new_secret(&app, &old, &rotated);
    assert_ne!(new.secret, old.secret);

    for key in [&old, &new] {
        let me = key.get(ME).await.assert_status(200).json();
        assert_eq!((&me["id"], &me["prefix"]), (&json!(old.id), &json!(new.secret[..12])));
    }
    for (key, remaining) in [(&old, "56"), (&new, "55"), (&old, "54")] {
        let response = key.get(COURSES).await.assert_status(200);
        assert_eq!(response.header("x-ratelimit-remaining"), remaining, "the secrets share the limits");
    }
    let log = app.log(acme.id, RequestFilter::default()).await;
    assert!(log.len() == 6 && log.iter().all(|entry| entry.key.to_string() == old.id), "{log:?}");

    app.clock.advance(Duration::from_millis(3_599_999));
    old.get(COURSES).await.assert_status(200);
    app.clock.advance(Duration::from_millis(1));
    old.get(COURSES).await.assert_status(401);
    new.get(COURSES).await.assert_status(200);
    let app = app.restart().await;
    app.key_with_secret(String::new(), old.secret.clone()).get(COURSES).await.assert_status(401);
    app.key_with_secret(String::new(), new.secret.clone()).get(COURSES).await.assert_status(200);
}

#[tokio::test]
async fn a_use_of_either_secret_is_a_use_of_the_key() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let old = acme.key(SCOPES).await;
    let new = rotate(&app, &old, 3_600).await;
    let last_used = async || {
        keys::flush_uses(&app.app).await.unwrap();
        keys::list(&app.app, acme.id).await.unwrap()[0].last_used_at
    };
    for (key, seconds, status) in [(&old, 60, 200), (&new, 60, 200), (&old, 3_480, 401)] {
        let before = last_used().await;
        app.clock.advance(Duration::from_secs(seconds));
        key.get(COURSES).await.assert_status(status);
        let expected = if status == 200 { Some(app.clock.now()) } else { before };
        assert_eq!(last_used().await, expected, "an ended secret is not a use");
    }
}

#[tokio::test]
async fn a_third_secret_is_rejected_until_the_old_one_has_ended() {
    let app = TestApp::start().await;
    let contract = ContractValidator::fetch_contract(&app, "developer-v1").await;
    let first = app.workspace("acme").await.key(SCOPES).await;
    let second = rotate(&app, &first, 60).await;
    for key in [&first, &second] {
        let conflict = key.post(ROTATE, overlap(0)).await;
        let message = assert_error(&conflict, 409, "invalid_request");
        insta::allow_duplicates! {
            insta::assert_snapshot!(message, @"The key has two valid secrets; the old one ends at 2026-03-02T10:01:30.000Z.");
        }
        contract.assert_documents(&ROTATE_CURRENT_KEY, &conflict);
    }
    // Like all rejections that depend on the state, it is repeated.
    second.post_idempotent(ROTATE, "k-1", &overlap(0)).await.assert_status(409);
    app.clock.advance(Duration::from_secs(60));
    let repeated = second.post_idempotent(ROTATE, "k-1", &overlap(0)).await.assert_status(409);
    assert_eq!(repeated.header("idempotent-replayed"), "true");
    contract.assert_documents(&ROTATE_CURRENT_KEY, &repeated);

    let third = rotate(&app, &second, 0).await;
    first.get(COURSES).await.assert_status(401);
    second.get(COURSES).await.assert_status(401);
    rotate(&app, &third, 0).await.get(COURSES).await.assert_status(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_ten_rotations_at_once_one_succeeds() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key(SCOPES).await;
    let other = app.workspace("acme").await.key(SCOPES).await;
    // Without an overlap, a secret that has just ended can still be in use.
    for (key, seconds) in [(key, 60), (other, 0)] {
        let calls = (0..10).map(|_| key.post(ROTATE, overlap(seconds)));
        let responses = futures_util::future::join_all(calls).await;
        let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| [200, 401, 409].contains(status)), "{statuses:?}");
    }
}

#[tokio::test]
async fn a_lost_answer_is_repeated_with_either_secret() {
    let app = TestApp::start().await;
    let old = app.workspace("acme").await.key(SCOPES).await;
    let first = old.post_idempotent(ROTATE, "k-1", &overlap(60)).await.assert_status(200);
    let new = with_new_secret(&app, &old, &first.json());
    for key in [&old, &new] {
        let repeat = key.post_idempotent(ROTATE, "k-1", &overlap(60)).await.assert_status(200);
        assert_eq!((&repeat.body, repeat.header("idempotent-replayed")), (&first.body, "true"));
    }
    let reused = new.post_idempotent(ROTATE, "k-1", &overlap(61)).await;
    reused.assert_errors_at(&["header Idempotency-Key"]);

    let sql = Statement::from_string(app.app.db.backend(), "SELECT body FROM idempotency_records");
    let rows = app.app.db.read().query_all_raw(sql).await.expect("the query succeeds");
    for row in rows {
        let body: Vec<u8> = row.try_get("", "body").expect("a body");
        assert!(!body.windows(9).any(|part| part == b"svc_live_"), "the secret is not stored as text");
    }
    app.clock.advance(Duration::from_secs(60));
    old.post_idempotent(ROTATE, "k-1", &overlap(60)).await.assert_status(401);
    let repeat = new.post_idempotent(ROTATE, "k-1", &overlap(60)).await.assert_status(200);
    assert_eq!(repeat.body, first.body);
}

#[tokio::test]
async fn revoking_a_key_ends_both_secrets_in_all_processes() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (old, other) = (acme.key(SCOPES).await, acme.key(SCOPES).await);
    let new = rotate(&app, &old, 3_600).await;
    rotate(&app, &other, 3_600).await;
    for key in [&old, &new] {
        key.get(COURSES).await.assert_status(200);
    }
    let process = app.other_process().await;
    for key in [&old, &new] {
        let principal = keys::authenticate(&process, &key.secret).await.unwrap().expect("a valid secret");
        assert_eq!(principal.key.to_string(), old.id);
    }
    revoke(&acme, &old).await;
    app.clock.advance(Duration::from_secs(2));
    for key in [&old, &new] {
        key.get(COURSES).await.assert_status(401);
        assert_eq!(keys::authenticate(&process, &key.secret).await.unwrap(), None);
    }
    other.get(COURSES).await.assert_status(200);
}

#[tokio::test]
async fn a_rotation_takes_effect_in_other_processes_within_two_seconds() {
    let app = TestApp::start().await;
    let old = app.workspace("acme").await.key(SCOPES).await;
    let process = app.other_process().await;
    let is_valid = async |key: &TestKey| keys::authenticate(&process, &key.secret).await.unwrap().is_some();
    assert!(is_valid(&old).await);
    let new = rotate(&app, &old, 0).await;
    assert!(is_valid(&new).await);
    app.clock.advance(Duration::from_secs(2));
    assert!(!is_valid(&old).await);

    // Also if a client address has exhausted its limit, so that only keys are read that exist.
    let exhausted =
        async |secret: &str| keys::authenticate_limited(&process, secret, || false).await.unwrap().is_some();
    assert!(!exhausted(&well_formed_unknown_key()).await);
    let newest = rotate(&app, &new, 3_600).await;
    app.clock.advance(Duration::from_secs(2));
    assert!(exhausted(&new.secret).await && exhausted(&newest.secret).await);
    let started_later = app.other_process().await;
    for secret in [&new.secret, &newest.secret] {
        assert!(keys::authenticate_limited(&started_later, secret, || false).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn the_networks_and_the_expiry_of_the_key_apply_to_both_secrets() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let expires_at = app.clock.now() + SignedDuration::from_secs(60);
    let old = acme.key_with_quota(SCOPES, Quota::default(), Some(expires_at)).await;
    let rotated = old.post(ROTATE, json!({})).await.assert_status(200).json();
    assert_eq!(rotated["old_secret_expires_at"], "2026-03-02T10:01:30.000Z", "not longer than the key");
    let new = with_new_secret(&app, &old, &rotated);
    let set_networks = async |networks: &[&str]| {
        let networks: Vec<_> = networks.iter().map(|network| network.parse().unwrap()).collect();
        let id = old.id.parse().unwrap();
        let set =
            in_transaction(&app, async |write| keys::set_networks(&app.app, write, id, &networks).await);
        set.await.expect("a change");
    };
    set_networks(&["192.0.2.0/24"]).await;
    for key in [&old, &new] {
        assert_error(&key.get(COURSES).await, 403, "forbidden");
        assert_error(&key.post(ROTATE, overlap(0)).await, 403, "forbidden");
    }
    set_networks(&[]).await;
    app.clock.advance(Duration::from_secs(59));
    for (seconds, status) in [(0, 200), (1, 401)] {
        app.clock.advance(Duration::from_secs(seconds));
        for key in [&old, &new] {
            key.get(COURSES).await.assert_status(status);
        }
    }
}

#[tokio::test]
async fn the_owners_are_notified_and_the_rotation_is_in_the_audit_log() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    for (email, role) in [("second@acme.example", Role::Owner), ("dev@acme.example", Role::Developer)] {
        member_browser(&acme, email, &[role]).await;
    }
    let key = acme.key(SCOPES).await;
    let new = rotate(&app, &key, 86_400).await;
    let mails = mails(&acme).await;
    let mut recipients: Vec<&str> = mails.iter().map(|mail| mail.recipient.as_str()).collect();
    recipients.sort_unstable();
    assert_eq!(recipients, ["owner@acme.example", "second@acme.example"]);
    let mail = &mails[0];
    assert_eq!(mail.subject, "The secret of an API key was rotated");
    for text in [&mail.text_body, &mail.html_body] {
        assert!(text.contains(&new.secret[..12]) && text.contains("127.0.0.1"), "{text}");
        assert!(!text.contains(&new.secret) && !text.contains(&key.secret), "{text}");
    }
    assert_eq!(
        audit_entries(&acme).await[0],
        "API key billing Rotated the secret of an API key billing (the old secret ends at 2026-03-03T10:00:30.000Z)"
    );
    // Nobody is notified of a repeated or rejected request.
    key.post(ROTATE, overlap(0)).await.assert_status(409);
    assert_eq!(self::mails(&acme).await.len(), 2);
}

#[tokio::test]
async fn invalid_rotations_change_nothing() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key(SCOPES).await;
    for (body, location) in [
        (overlap(-1), "body /overlap_seconds"),
        (overlap(604_801), "body /overlap_seconds"),
        (json!({"overlap_seconds": "60"}), "body /overlap_seconds"),
        (json!({"overlap": 60}), "body /overlap"),
    ] {
        key.post(ROTATE, body).await.assert_errors_at(&[location]);
    }
    key.get(COURSES).await.assert_status(200);
    assert!(mails(&acme).await.is_empty());
    let other = acme.key("read:courses write:webhooks").await;
    let message = assert_error(&other.post(ROTATE, overlap(0)).await, 403, "forbidden");
    assert_eq!(message, "This key does not have the scope `write:keys`.");
    rotate(&app, &key, 604_800).await;
}
