//! API keys on the dashboard: creation, revocation, and isolation from other workspaces.

use domain::workspaces::Quota;

use crate::support::browser::{csrf_token, html};
use crate::support::members::audit_entries;
use crate::support::{TestApp, TestResponse};

const KEYS: &str = "/dashboard/developer";
const NEW: &str = "/dashboard/developer/keys/new";

fn revoke_path(id: &str) -> String {
    format!("/dashboard/developer/keys/{id}/revoke")
}

/// Returns the secret and the id of the key that a page shows.
fn secret_and_id(page: &TestResponse) -> (String, String) {
    let page = html(page);
    let find =
        |pattern: &str| regex::Regex::new(pattern).unwrap().find(&page).expect(pattern).as_str().to_owned();
    (find("svc_live_[A-Za-z0-9]{38}"), find("key_[a-z0-9]{26}"))
}

#[tokio::test]
async fn a_key_is_shown_once_and_works_until_it_is_revoked() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.owner_browser().await;
    assert!(html(&browser.get(KEYS).await).contains("No API keys yet"));

    let fields = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "30"), ("per_minute", "7")];
    let created = browser.submit(NEW, NEW, &fields).await.assert_status(200);
    assert_eq!(created.header("cache-control"), "no-store");
    let (secret, id) = secret_and_id(&created);
    let key = app.key_with_secret(id.clone(), secret.clone());
    let response = key.get("/api/v1/courses").await.assert_status(200);
    assert_eq!(response.header("x-ratelimit-limit"), "7");
    key.get("/api/v1/students").await.assert_status(403);
    for path in [KEYS, NEW, "/dashboard/settings/audit"] {
        assert!(!html(&browser.get(path).await).contains(&secret), "{path} shows the secret again");
    }
    let list = html(&browser.get(KEYS).await);
    assert!(list.contains(&format!("{}...{}", &secret[..12], &secret[43..])), "{list}");

    let path = revoke_path(&id);
    assert!(html(&browser.get(&path).await).contains("Revoke CRM?"));
    browser.submit(&path, &path, &[]).await.assert_status(303);
    assert!(html(&browser.get(KEYS).await).contains("was revoked."));
    key.get("/api/v1/courses").await.assert_status(401);
    assert_eq!(
        audit_entries(&workspace).await[..2],
        ["owner@acme.example Revoked an API key CRM", "owner@acme.example Created an API key CRM"]
    );
}

#[tokio::test]
async fn a_key_works_only_from_its_networks() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let create = async |networks: &str| {
        let fields = [("name", "CRM"), ("scopes", "read:courses"), ("expires", ""), ("networks", networks)];
        browser.submit(NEW, NEW, &fields).await
    };
    for (networks, status) in [("192.0.2.0/24,\u{a0}2001:db8::/32", 403), ("192.0.2.0/24 127.0.0.1", 200)] {
        let (secret, id) = secret_and_id(&create(networks).await.assert_status(200));
        let key = app.key_with_secret(id, secret);
        let response = key.get("/api/v1/courses").await.assert_status(status);
        assert_eq!(response.header("x-ratelimit-remaining"), "59", "the request counts");
    }
    let list = html(&browser.get(KEYS).await);
    assert!(list.contains("<code>192.0.2.0/24</code> <code>127.0.0.1/32</code>"), "{list}");
    assert_eq!(
        audit_entries(&app.workspace("acme").await).await[0],
        "owner@acme.example Created an API key CRM (may be used from 192.0.2.0/24, 127.0.0.1/32)"
    );
    for (networks, message) in [
        ("everywhere", "must be networks such as 203.0.113.0/24"),
        ("127.0.0.0/33", "must be networks such as 203.0.113.0/24"),
        (&"127.0.0.1 ".repeat(21), "must have at most 20 networks"),
    ] {
        let page = html(&create(networks).await.assert_status(422));
        assert!(page.contains(message), "{networks}: {page}");
    }
}

#[tokio::test]
async fn the_list_shows_the_calls_of_each_key_today() {
    let app = TestApp::start().await;
    let quota = Quota { per_minute: None, per_day: Some(10_000) };
    let key = app.workspace("acme").await.key_with_quota("read:courses", quota, None).await;
    for _ in 0..2 {
        key.get("/api/v1/courses").await.assert_status(200);
    }
    // The rate limiter saves its counts when the server stops.
    let app = app.restart().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let list = html(&browser.get(KEYS).await);
    assert!(list.contains("data-label=\"Daily quota used\">2 of 10,000</td>"), "{list}");
}

#[tokio::test]
async fn resubmitting_a_form_creates_no_second_key() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.owner_browser().await;
    let token = csrf_token(&browser.get(NEW).await);
    let fields = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "")];
    // After an error, the same form with the same token can be submitted again.
    browser.post(NEW, &token, &fields[..1]).await.assert_status(422);

    let (first, second) =
        tokio::join!(browser.post(NEW, &token, &fields), browser.post(NEW, &token, &fields));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "the second click creates nothing");
    let reloaded = browser.post(NEW, &token, &fields).await.assert_status(409);
    let page = html(&reloaded);
    assert!(page.contains("Form already submitted") && !page.contains("svc_live_"), "{page}");
    let count = entity::api_keys::in_workspace(workspace.id.uuid()).count(app.app.db.read()).await.unwrap();
    assert_eq!(count, 1);
    let created = audit_entries(&workspace)
        .await
        .into_iter()
        .filter(|line| line.contains("Created an API key"))
        .count();
    assert_eq!(created, 1);

    browser.submit(NEW, NEW, &fields).await.assert_status(200);
}

#[tokio::test]
async fn errors_of_a_key_are_shown_at_their_fields() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let cases = [
        (vec![("name", ""), ("scopes", "read:courses")], "Name must have 1 to 200 characters."),
        (vec![("name", "x")], "Scopes must have at least one scope."),
        (vec![("name", "x"), ("scopes", "read:everything")], "Scopes must be among the listed scopes."),
        (
            vec![("name", "x"), ("scopes", "read:courses"), ("per_day", "0")],
            "Requests per day must be at least 1.",
        ),
        (
            vec![("name", "x"), ("scopes", "read:courses"), ("per_minute", "many")],
            "Requests per minute must be a whole number of at most 2,147,483,647.",
        ),
        (
            vec![("name", "x"), ("scopes", "read:courses"), ("expires", "31")],
            "Expiry must be one of the listed",
        ),
    ];
    for (fields, message) in cases {
        let page = html(&browser.submit(NEW, NEW, &fields).await.assert_status(422));
        assert!(page.contains(message), "{message}: {page}");
    }
    // Valid input is kept.
    let page = html(&browser.submit(NEW, NEW, &[("name", ""), ("scopes", "read:orders")]).await);
    assert!(page.contains("value=\"read:orders\" checked"), "{page}");
}

#[tokio::test]
async fn a_key_created_on_the_dashboard_never_exceeds_the_workspace_quota() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.owner_browser().await;
    let fields = |minute: &'static str, day: &'static str| {
        [
            ("name", "CRM"),
            ("scopes", "read:courses"),
            ("per_minute", minute),
            ("per_day", day),
            ("expires", ""),
        ]
    };
    let rejected = browser.submit(NEW, NEW, &fields("2147483647", "2147483647")).await.assert_status(422);
    let page = html(&rejected);
    assert!(page.contains("At most 60, the workspace quota.") && page.contains("At most 1,000,"), "{page}");
    for message in [
        "Requests per minute must be at most 60, the quota of the workspace; the operator of this server can raise it.",
        "Requests per day must be at most 1000, the quota of the workspace; the operator of this server can raise it.",
    ] {
        assert!(page.contains(message), "{page}");
    }

    let created = browser.submit(NEW, NEW, &fields("60", "500")).await;
    let (secret, id) = secret_and_id(&created.assert_status(200));
    let key = app.key_with_secret(id, secret);
    let limits = async || {
        let response = key.get("/api/v1/courses").await.assert_status(200);
        ["x-ratelimit-limit", "x-ratelimit-daily-limit"].map(|name| response.header(name).to_owned())
    };
    assert_eq!(limits().await, ["60", "500"]);
    // The operator lowers the workspace quota: it limits the key, and the pages show it.
    workspace.set_quota(Quota { per_minute: Some(5), per_day: Some(40) }).await;
    assert_eq!(limits().await, ["5", "40"]);
    let list = html(&browser.get(KEYS).await);
    assert!(list.contains(" of 40</td>"), "{list}");
    assert!(html(&browser.get(NEW).await).contains("At most 5, the workspace quota."));
    // After raising it again, the key's own quota applies.
    workspace.set_quota(Quota { per_minute: Some(5_000), per_day: None }).await;
    assert_eq!(limits().await, ["60", "500"]);
}

#[tokio::test]
async fn keys_of_other_workspaces_are_not_found() {
    let app = TestApp::start().await;
    let theirs = app.workspace("theirs").await;
    let key = theirs.key("read:courses").await;
    let browser = app.workspace("ours").await.owner_browser().await;
    let path = revoke_path(&key.id);
    let foreign = browser.get(&path).await.assert_status(404);
    let absent = browser.get(&revoke_path("key_01h2xcejqtf2nbrexx3vqjhp41")).await.assert_status(404);
    let page_text = |response: &TestResponse| {
        regex::Regex::new("value=\"[^\"]+\"").unwrap().replace_all(&html(response), "").into_owned()
    };
    assert_eq!(page_text(&foreign), page_text(&absent), "a foreign key looks like an absent one");
    browser.get(&revoke_path("nonsense")).await.assert_status(404);

    let token = csrf_token(&browser.get(KEYS).await);
    browser
        .post(&path, &token, &[("key", &key.id), ("workspace", &theirs.id.to_string())])
        .await
        .assert_status(404);
    key.get("/api/v1/courses").await.assert_status(200);
    assert!(audit_entries(&theirs).await.is_empty());

    let their_id = theirs.id.to_string();
    // A form that contains the id of another workspace creates a key in the user's workspace.
    let fields = [("name", "CRM"), ("scopes", "read:courses"), ("workspace", &*their_id)];
    browser.submit(NEW, NEW, &[&fields[..], &[("expires", "")]].concat()).await.assert_status(200);
    let count = entity::api_keys::in_workspace(theirs.id.uuid()).count(app.app.db.read()).await.unwrap();
    assert_eq!(count, 1);
}

#[tokio::test]
async fn a_key_is_revoked_once_from_two_tabs() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:courses").await;
    let browser = workspace.owner_browser().await;
    let path = revoke_path(&key.id);
    let (first_token, second_token) =
        (csrf_token(&browser.get(&path).await), csrf_token(&browser.get(&path).await));
    let (first, second) =
        tokio::join!(browser.post(&path, &first_token, &[]), browser.post(&path, &second_token, &[]));
    assert_eq!((first.status, second.status), (303, 303));
    let late = browser.post(&path, &second_token, &[]).await.assert_status(303);
    assert_eq!(late.header("location"), KEYS);
    assert!(html(&browser.get(KEYS).await).contains("is already revoked"));
    browser.get(&path).await.assert_status(303);
    let revoked = audit_entries(&workspace).await.into_iter().filter(|line| line.contains("Revoked")).count();
    assert_eq!(revoked, 1);
    key.get("/api/v1/courses").await.assert_status(401);
}

#[tokio::test]
async fn the_audit_log_is_paginated() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.owner_browser().await;
    for n in 0..30 {
        let name = format!("Key-{n:02}.");
        let fields = [("name", &*name), ("scopes", "read:courses"), ("expires", "")];
        browser.submit(NEW, NEW, &fields).await.assert_status(200);
    }
    let first = html(&browser.get("/dashboard/settings/audit").await);
    assert!(first.contains("Key-29.") && !first.contains("Key-04."), "{first}");
    let next = regex::Regex::new("href=\"(/dashboard/settings/audit\\?after=[^\"]+)\"").unwrap();
    let second = html(&browser.get(&next.captures(&first).expect("a next page")[1]).await);
    assert!(
        second.contains("Key-04.") && second.contains("Key-00.") && !second.contains("Key-05."),
        "{second}"
    );
    assert!(second.contains("First page") && !second.contains("Next page"));
    // The log of another workspace contains none of the entries.
    let other = app.workspace("other").await.owner_browser().await;
    assert!(!html(&other.get(&next.captures(&first).unwrap()[1]).await).contains("Key-"));
}
