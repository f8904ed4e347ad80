//! Deprecated parts of the API: what the dashboard shows to workspaces that use them, and the mails to their owners.

use std::time::Duration;

use domain::deprecations::{self, Announcement, DeprecatedPart};
use entity::mails::Model;

use crate::support::browser::html;
use crate::support::{TestApp, TestKey};

const DAY: Duration = Duration::from_secs(86_400);

/// Declares that `listCourses` is deprecated.
fn declare(app: &TestApp, sunset: &str) {
    let announcement = Announcement {
        since: Some("2026-02-01".parse().unwrap()),
        sunset: Some(sunset.parse().unwrap()),
        replacement: Some("Use <listProducts>.".to_owned()),
        is_removed: false,
    };
    app.app.deprecations().declare("v1", [("/paths/courses".to_owned(), announcement)]);
}

/// Records a request of a key to `listCourses`.
async fn call(app: &TestApp, key: &TestKey) {
    call_operation(app, key, "listCourses").await;
}

/// Records a request of a key to an operation that uses what [`declare`] declares.
async fn call_operation(app: &TestApp, key: &TestKey, operation: &str) {
    let response = key.get("/api/v1/courses").await.assert_status(200);
    count(app, key, operation, app.clock.now_ms(), response.header("x-request-id")).await;
    domain::requests::flush(&app.app).await.unwrap();
    deprecations::flush(&app.app).await.unwrap();
}

async fn count(app: &TestApp, key: &TestKey, operation: &str, received_ms: i64, request_id: &str) {
    let caller = domain::keys::authenticate(&app.app, &key.secret).await.unwrap().expect("a valid key");
    let part = DeprecatedPart {
        contract: "v1".to_owned(),
        operation: operation.to_owned(),
        pointer: "/paths/courses".to_owned(),
        name: String::new(),
    };
    app.app.deprecations().count((caller.key, caller.workspace), received_ms, request_id, part);
}

async fn revoke(app: &TestApp, key: &TestKey) {
    let mut write = app.begin_write().await;
    domain::keys::revoke(&app.app, &mut write, None, key.id.parse().unwrap()).await.unwrap();
    write.commit().await.unwrap();
}

/// Queues the mails that are due, and returns those about deprecations.
async fn mails(app: &TestApp) -> Vec<Model> {
    deprecations::notify(&app.app).await.unwrap();
    let mails = app.workspace("acme").await.mails().await;
    mails.into_iter().filter(|mail| mail.kind == "deprecated").collect()
}

#[tokio::test]
async fn the_overview_shows_what_the_workspace_uses() {
    let app = TestApp::start().await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    declare(&app, "2026-12-31");
    call(&app, &acme.key_with_all_scopes().await).await;
    let page = html(&acme.owner_browser().await.get("/dashboard").await);
    let text = "The operation listCourses is deprecated and can stop working on 2026-12-31. Use &#60;listProducts&#62;.";
    assert!(page.contains(text) && page.contains("View the last request"), "{page}");
    let (_, link) = page.split_once("/dashboard/developer/logs?request=").expect("a link");
    let link = format!("/dashboard/developer/logs?request={}", link.split('"').next().unwrap());
    let entry = acme.owner_browser().await.get(&link).await.assert_status(303);
    assert!(entry.header("location").starts_with("/dashboard/developer/logs/log_"), "{entry:?}");
    assert!(!html(&other.owner_browser().await.get("/dashboard").await).contains("listCourses"));

    // Not used for 30 days, and the request log does not contain the request any more.
    app.clock.advance(29 * DAY);
    deprecations::prune(&app.app).await.unwrap();
    let page = html(&acme.owner_browser().await.get("/dashboard").await);
    assert!(page.contains(text) && page.contains("View the changelog"), "{page}");
    app.clock.advance(DAY);
    assert!(!html(&acme.owner_browser().await.get("/dashboard").await).contains(text));
}

#[tokio::test]
async fn what_is_no_longer_deprecated_is_not_shown() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    declare(&app, "2026-12-31");
    call(&app, &acme.key_with_all_scopes().await).await;
    // The next release of the server has a contract without the mark.
    let app = app.restart().await;
    assert!(deprecations::recent(&app.app, None).await.unwrap().is_empty());
    assert!(mails(&app).await.is_empty());
    declare(&app, "2026-12-31");
    assert_eq!(deprecations::recent(&app.app, None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_owner_gets_a_mail_at_the_first_use_and_before_the_sunset() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    declare(&app, "2026-12-31");
    assert!(mails(&app).await.is_empty(), "nobody uses it");
    call(&app, &key).await;
    assert_eq!((mails(&app).await.len(), mails(&app).await.len()), (1, 1), "one mail, once");
    let mail = mails(&app).await.remove(0);
    assert_eq!(mail.subject, "Your integrations use deprecated parts of the API");
    assert!(mail.text_body.contains("2026-12-31"), "{}", mail.text_body);
    assert!(mail.html_body.contains("Use &lt;listProducts&gt;."), "{}", mail.html_body);

    // The sunset is moved: the reminders are those of the new date.
    let in_days = |days: i64| (app.clock.now() + jiff::SignedDuration::from_hours(24 * days)).to_string();
    declare(&app, &in_days(40)[..10]);
    assert_eq!(mails(&app).await.len(), 1);
    for (days, expected) in [(10, 2), (1, 2), (22, 3), (6, 4), (1, 4), (1, 4)] {
        app.clock.advance(DAY * days);
        call(&app, &key).await;
        assert_eq!(mails(&app).await.len(), expected, "{days} days later");
    }
    let mut subjects: Vec<String> = mails(&app).await.into_iter().map(|mail| mail.subject).collect();
    subjects.sort();
    let reminder = |left: &str| format!("Your integrations can stop working in {left}");
    assert_eq!(subjects[..2], [reminder("1 day"), reminder("30 days")]);
}

#[tokio::test]
async fn operations_that_share_a_schema_are_announced_each() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    declare(&app, "2026-12-31");
    call_operation(&app, &key, "listCourses").await;
    assert_eq!(mails(&app).await.len(), 1);
    call_operation(&app, &key, "getCourse").await;
    let mails = mails(&app).await;
    assert_eq!(mails.len(), 2);
    assert_eq!(mails.iter().filter(|mail| mail.text_body.contains("The operation getCourse")).count(), 1);
}

#[tokio::test]
async fn a_revoked_key_concerns_nobody() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (revoked, used) = (acme.key_with_all_scopes().await, acme.key_with_all_scopes().await);
    declare(&app, "2026-12-31");
    call(&app, &revoked).await;
    call(&app, &used).await;
    let keys = async || deprecations::recent(&app.app, None).await.unwrap().remove(0).keys.len();
    assert_eq!(keys().await, 2);
    revoke(&app, &revoked).await;
    assert_eq!(keys().await, 1);
    revoke(&app, &used).await;
    assert!(deprecations::recent(&app.app, None).await.unwrap().is_empty());
    assert!(mails(&app).await.is_empty());
}

#[tokio::test]
async fn a_late_flush_does_not_replace_the_last_request() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    declare(&app, "2026-12-31");
    let now = app.clock.now_ms();
    for (received_ms, request_id) in [(now, "req_b"), (now - 1_000, "req_a"), (now - 1_000, "req_a")] {
        count(&app, &key, "listCourses", received_ms, request_id).await;
        deprecations::flush(&app.app).await.unwrap();
    }
    let uses = deprecations::recent(&app.app, None).await.unwrap().remove(0).keys.remove(0);
    assert_eq!((uses.requests, uses.last_at.as_millisecond()), (3, now));
    assert_eq!(uses.request_id.as_deref(), Some("req_b"));
}

#[tokio::test]
async fn a_workspace_that_begins_late_gets_one_mail_for_all_reminders() {
    let app = TestApp::start().await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    let tomorrow = (app.clock.now() + jiff::SignedDuration::from_hours(24)).to_string();
    declare(&app, &tomorrow[..10]);
    call(&app, &acme.key_with_all_scopes().await).await;
    assert_eq!(mails(&app).await.len(), 1);
    assert!(other.mails().await.iter().all(|mail| mail.kind != "deprecated"), "it does not use it");
    // After the sunset, no mail is sent.
    app.clock.advance(DAY);
    call(&app, &other.key_with_all_scopes().await).await;
    assert_eq!(mails(&app).await.len(), 1);
    assert!(other.mails().await.iter().all(|mail| mail.kind != "deprecated"));
}
