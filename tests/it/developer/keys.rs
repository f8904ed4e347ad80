//! `getCurrentKey`, and keys with the scopes of the Developer API.

use domain::workspaces::Quota;
use serde_json::{Value, json};

use super::WEBHOOKS;
use crate::support::TestApp;
use crate::support::browser::{first_match, html};

const ME: &str = "/developer/v1/me";

#[tokio::test]
async fn a_key_can_read_what_it_may_do() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let quota = Quota { per_minute: Some(90), per_day: None };
    let expires_at = app.clock.now() + jiff::SignedDuration::from_hours(24);
    let key = workspace.key_with_quota("read:students write:webhooks", quota, Some(expires_at)).await;

    let me = key.get(ME).await.assert_status(200).json();
    assert_eq!(me["id"], key.id);
    assert_eq!(me["prefix"], key.secret[..12]);
    assert_eq!(
        (&me["name"], &me["scopes"]),
        (&json!("billing"), &json!(["read:students", "write:webhooks"]))
    );
    assert_eq!(me["limits"], json!({"per_minute": 90, "per_day": 1000}));
    assert_eq!(me["workspace"], json!({"id": workspace.id.to_string(), "mode": "live", "name": "acme"}));
    assert_eq!(
        (&me["created_at"], &me["expires_at"]),
        (&json!("2026-03-02T10:00:30.000Z"), &json!("2026-03-03T10:00:30.000Z"))
    );
    assert!(!me.to_string().contains(&key.secret));
}

#[tokio::test]
async fn a_key_of_the_dashboard_can_have_the_new_scopes() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.owner_browser().await;
    let path = "/dashboard/developer/keys/new";
    let fields =
        [("name", "Zapier"), ("scopes", "read:webhooks"), ("scopes", "write:webhooks"), ("expires", "")];
    let created = browser.submit(path, path, &fields).await.assert_status(200);
    let secret = first_match(&html(&created), "(svc_live_[0-9A-Za-z]{38})");
    let key = app.key_with_secret(String::new(), secret);
    let me: Value = key.get(ME).await.assert_status(200).json();
    assert_eq!(me["scopes"], json!(["read:webhooks", "write:webhooks"]));
    key.get(WEBHOOKS).await.assert_status(200);
    // A key with old scopes only works as before.
    let old = workspace.key("read:courses").await;
    old.get("/api/v1/courses").await.assert_status(200);
    assert_eq!(
        old.get(WEBHOOKS).await.assert_status(403).message(),
        "This key does not have the scope `read:webhooks`."
    );
}
