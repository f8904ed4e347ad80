//! Rotation and changes of API keys on the dashboard.

use std::time::Duration;

use domain::keys;
use domain::roles::Role;
use domain::workspaces::Quota;
use regex::Regex;

use crate::support::browser::{csrf_token, first_match, html};
use crate::support::members::{audit_entries, member_browser};
use crate::support::{Browser, TestApp, TestKey, TestResponse, in_transaction};

const KEYS: &str = "/dashboard/developer";
const COURSES: &str = "/api/v1/courses";

/// Returns the path of a form about a key.
fn path(key: &TestKey, form: &str) -> String {
    format!("{KEYS}/keys/{}/{form}", key.id)
}

/// Loads and submits a form about a key.
async fn submit(browser: &Browser<'_>, key: &TestKey, form: &str, fields: &[(&str, &str)]) -> TestResponse {
    let page = browser.get(&path(key, form)).await;
    if page.status != 200 {
        return browser.submit(KEYS, &path(key, form), fields).await;
    }
    send_loaded(browser, key, form, &page, fields).await
}

/// Submits a form about a key that was loaded earlier, with the version of the key that it contains.
async fn send_loaded(
    browser: &Browser<'_>,
    key: &TestKey,
    form: &str,
    page: &TestResponse,
    fields: &[(&str, &str)],
) -> TestResponse {
    let text = html(page);
    let version = Regex::new("name=\"version\" value=\"([^\"]*)\"").expect("a valid pattern");
    let version = version.captures(&text).map(|captures| captures[1].to_owned());
    let version = version.as_deref().map(|version| ("version", version));
    let fields: Vec<_> = fields.iter().copied().chain(version).collect();
    browser.post(&path(key, form), &csrf_token(page), &fields).await
}

/// Returns the part of a secret that the list shows.
fn masked(key: &TestKey) -> String {
    format!("{}...{}", &key.secret[..12], &key.secret[43..])
}

#[tokio::test]
async fn a_rotated_key_has_two_secrets_until_the_old_one_is_ended() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let old = acme.key("read:courses").await;
    let browser = acme.owner_browser().await;
    let form = html(&browser.get(&path(&old, "rotate")).await.assert_status(200));
    assert!(form.contains("Rotate billing?"), "{form}");
    let invalid = submit(&browser, &old, "rotate", &[("overlap", "169")]).await.assert_status(422);
    assert!(html(&invalid).contains("Overlap must be one of the listed values."));

    let rotated = submit(&browser, &old, "rotate", &[("overlap", "24")]).await.assert_status(200);
    assert_eq!(rotated.header("cache-control"), "no-store");
    let page = html(&rotated);
    assert!(page.contains("API key rotated") && page.contains("The old secret is valid until"), "{page}");
    let new = app.key_with_secret(old.id.clone(), first_match(&page, "(svc_live_[0-9A-Za-z]{38})"));
    for key in [&old, &new] {
        key.get(COURSES).await.assert_status(200);
    }
    let list = html(&browser.get(KEYS).await);
    assert!(list.contains(&masked(&old)) && list.contains(&masked(&new)), "{list}");
    assert!(list.contains("old secret, ends <time datetime=\"2026-03-03T10:00:30.000Z\""), "{list}");
    assert!(!list.contains(&new.secret) && !list.contains("/rotate\""), "{list}");
    submit(&browser, &old, "rotate", &[("overlap", "0")]).await.assert_status(303);
    let list = html(&browser.get(KEYS).await);
    assert!(list.contains("has two valid secrets; the old one ends at 2026-03-03T10:00:30.000Z."), "{list}");

    assert!(
        html(&browser.get(&path(&old, "end-old-secret")).await).contains("End the old secret of billing?")
    );
    submit(&browser, &old, "end-old-secret", &[]).await.assert_status(303);
    let list = html(&browser.get(KEYS).await);
    assert!(
        list.contains("The old secret of \u{201c}billing\u{201d} ended.") && !list.contains(&masked(&old))
    );
    old.get(COURSES).await.assert_status(401);
    new.get(COURSES).await.assert_status(200);
    submit(&browser, &old, "end-old-secret", &[]).await.assert_status(303);
    assert!(html(&browser.get(KEYS).await).contains("has no old secret."));

    let rotated = submit(&browser, &old, "rotate", &[("overlap", "0")]).await.assert_status(200);
    assert!(html(&rotated).contains("The old secret has ended."));
    new.get(COURSES).await.assert_status(401);
    assert_eq!(
        audit_entries(&acme).await[..3],
        [
            "owner@acme.example Rotated the secret of an API key billing (the old secret ended)",
            "owner@acme.example Ended the old secret of an API key billing",
            "owner@acme.example Rotated the secret of an API key billing (the old secret ends at 2026-03-03T10:00:30.000Z)",
        ]
    );
}

#[tokio::test]
async fn a_key_is_edited_and_the_audit_log_names_the_changes() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:courses read:orders").await;
    let browser = acme.owner_browser().await;
    let form = html(&browser.get(&path(&key, "edit")).await.assert_status(200));
    assert!(form.contains("value=\"billing\"") && form.contains("value=\"read:orders\" checked"), "{form}");
    assert!(form.contains("<option value=\"keep\" selected>Unchanged: never</option>"), "{form}");
    let scopes = [("scopes", "read:courses"), ("scopes", "read:orders")];
    let unchanged = [&scopes[..], &[("name", "billing"), ("expires", "keep")]].concat();
    submit(&browser, &key, "edit", &unchanged).await.assert_status(303);
    assert!(html(&browser.get(KEYS).await).contains("No changes."));

    key.get("/api/v1/students").await.assert_status(403);
    let fields = [
        ("name", "CRM"),
        ("scopes", "read:courses"),
        ("scopes", "write:students"),
        ("scopes", "read:students"),
        ("expires", "7"),
        ("networks", "127.0.0.0/8"),
    ];
    submit(&browser, &key, "edit", &fields).await.assert_status(303);
    assert!(html(&browser.get(KEYS).await).contains("\u{201c}CRM\u{201d} was changed."));
    key.get("/api/v1/students").await.assert_status(200);
    key.get("/api/v1/orders").await.assert_status(403);
    let form = html(&browser.get(&path(&key, "edit")).await);
    assert!(
        form.contains("Unchanged: 2026-03-09 10:00:30") && form.contains("value=\"127.0.0.0/8\""),
        "{form}"
    );

    let fields = [("name", "CRM"), scopes[0], ("expires", ""), ("networks", "192.0.2.0/24")];
    submit(&browser, &key, "edit", &fields).await.assert_status(303);
    key.get(COURSES).await.assert_status(403);
    let fields = [("name", "CRM"), scopes[0], ("expires", "keep"), ("networks", "")];
    submit(&browser, &key, "edit", &fields).await.assert_status(303);
    key.get(COURSES).await.assert_status(200);
    assert_eq!(
        audit_entries(&acme).await[..3],
        [
            "owner@acme.example Changed an API key CRM (may be used from everywhere)",
            "owner@acme.example Changed an API key CRM (expires never; may be used from 192.0.2.0/24; scopes -read:students -write:students)",
            "owner@acme.example Changed an API key CRM (expires 2026-03-09T10:00:30.000Z; may be used from 127.0.0.0/8; was named billing; scopes +read:students +write:students -read:orders)",
        ]
    );
}

#[tokio::test]
async fn an_old_form_restores_nothing_that_was_changed_since() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:courses read:orders").await;
    let (owner, ada) =
        (acme.owner_browser().await, member_browser(&acme, "ada@acme.example", &[Role::Developer]).await);
    let old = ada.get(&path(&key, "edit")).await.assert_status(200);
    let reduced =
        [("name", "billing"), ("scopes", "read:courses"), ("expires", "30"), ("networks", "127.0.0.0/8")];
    submit(&owner, &key, "edit", &reduced).await.assert_status(303);

    let both = [("scopes", "read:courses"), ("scopes", "read:orders")];
    let renamed = [&both[..], &[("name", "CRM"), ("expires", "keep"), ("networks", "")]].concat();
    // An invalid field does not make the form newer.
    let invalid = [&both[..], &[("name", ""), ("expires", "keep"), ("networks", "")]].concat();
    let invalid = send_loaded(&ada, &key, "edit", &old, &invalid).await.assert_status(422);
    for loaded in [&old, &invalid] {
        let page = send_loaded(&ada, &key, "edit", loaded, &renamed).await.assert_status(422);
        let text = html(&page);
        assert!(
            text.contains("This key was changed after this page was loaded. Nothing was saved."),
            "{text}"
        );
        assert!(text.contains("value=\"billing\"") && text.contains("value=\"127.0.0.0/8\""), "{text}");
        assert!(!text.contains("value=\"read:orders\" checked"), "{text}");
    }
    key.get("/api/v1/orders").await.assert_status(403);

    // The page with the current values saves changes.
    let page = send_loaded(&ada, &key, "edit", &old, &renamed).await.assert_status(422);
    let fields =
        [("name", "CRM"), ("scopes", "read:courses"), ("expires", "keep"), ("networks", "127.0.0.0/8")];
    send_loaded(&ada, &key, "edit", &page, &fields).await.assert_status(303);
    // What the form asks for is already true.
    send_loaded(&ada, &key, "edit", &old, &fields).await.assert_status(303);
    assert!(html(&ada.get(KEYS).await).contains("No changes."));
    assert_eq!(
        audit_entries(&acme).await.iter().filter(|entry| entry.contains("Changed an API key")).count(),
        2
    );
}

#[tokio::test]
async fn invalid_changes_are_shown_at_their_fields() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:courses").await;
    let browser = acme.owner_browser().await;
    let valid = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "keep"), ("networks", "")];
    for (field, value, message) in [
        ("name", "", "Name must have 1 to 200 characters."),
        ("scopes", "read:everything", "Scopes must be among the listed scopes."),
        ("expires", "31", "Expiry must be one of the listed values."),
        ("networks", "everywhere", "must be networks such as 203.0.113.0/24"),
    ] {
        let fields = valid.map(|(name, kept)| (name, if name == field { value } else { kept }));
        let page = html(&submit(&browser, &key, "edit", &fields).await.assert_status(422));
        assert!(page.contains(message) && page.contains("Unchanged: never"), "{message}: {page}");
    }
    let page = html(&submit(&browser, &key, "edit", &[("name", "x"), ("expires", "keep")]).await);
    assert!(page.contains("Scopes must have at least one scope."), "{page}");
    let entries = audit_entries(&acme).await;
    assert!(!entries.iter().any(|entry| entry.contains("API key")), "{entries:?}");
}

#[tokio::test]
async fn a_revoked_or_expired_key_is_not_changed() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let revoked = acme.key("read:courses").await;
    let expires_at = app.clock.now() + Duration::from_secs(60);
    let expired = acme.key_with_quota("read:courses", Quota::default(), Some(expires_at)).await;
    let browser = acme.owner_browser().await;
    // The old secret of a revoked key ends, too.
    submit(&browser, &revoked, "rotate", &[("overlap", "24")]).await.assert_status(200);
    let id = revoked.id.parse().unwrap();
    let change = in_transaction(&app, async |write| keys::revoke(&app.app, write, None, id).await);
    change.await.expect("a revocation");
    revoked.get(COURSES).await.assert_status(401);
    app.clock.advance(Duration::from_secs(60));
    let edit = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "30")];
    for key in [&revoked, &expired] {
        for (form, fields) in [("edit", &edit[..]), ("rotate", &[("overlap", "24")])] {
            submit(&browser, key, form, fields).await.assert_status(303);
            let list = html(&browser.get(KEYS).await);
            assert!(list.contains("\u{201c}billing\u{201d} is revoked or expired."), "{form}: {list}");
            assert!(!list.contains("old secret, ends"), "{list}");
        }
        key.get(COURSES).await.assert_status(401);
    }
}

#[tokio::test]
async fn viewers_and_other_workspaces_change_no_keys() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:courses").await;
    let edit = [("name", "CRM"), ("scopes", "read:orders"), ("expires", "keep")];
    let forms: [(&str, &[(&str, &str)]); 3] =
        [("edit", &edit), ("rotate", &[("overlap", "0")]), ("end-old-secret", &[])];
    let viewer = member_browser(&acme, "viewer@acme.example", &[Role::Viewer]).await;
    let stranger = app.workspace("globex").await.owner_browser().await;
    let list = html(&viewer.get(KEYS).await.assert_status(200));
    assert!(list.contains("billing") && !list.contains("/keys/"), "{list}");
    for (browser, status) in [(&viewer, 403), (&stranger, 404)] {
        let token = csrf_token(&browser.get("/dashboard/settings").await.assert_status(200));
        for (form, fields) in forms {
            browser.get(&path(&key, form)).await.assert_status(status);
            browser.post(&path(&key, form), &token, fields).await.assert_status(status);
        }
    }
    key.get(COURSES).await.assert_status(200);
    let entries = audit_entries(&acme).await;
    assert!(!entries.iter().any(|entry| entry.contains("API key")), "{entries:?}");
}
