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
    };
    app.app.deprecations().declare("v1", [("/paths/courses".to_owned(), announcement)]);
}

/// Records a request of a key to `listCourses`.
async fn call(app: &TestApp, key: &TestKey) {
    let response = key.get("/api/v1/courses").await.assert_status(200);
    let caller = domain::keys::authenticate(&app.app, &key.secret).await.unwrap().expect("a valid key");
    let part = DeprecatedPart {
        contract: "v1".to_owned(),
        operation: "listCourses".to_owned(),
        pointer: "/paths/courses".to_owned(),
        name: String::new(),
    };
    let request_id = response.header("x-request-id");
    app.app.deprecations().count((caller.key, caller.workspace), app.clock.now_ms(), request_id, part);
    domain::requests::flush(&app.app).await.unwrap();
    deprecations::flush(&app.app).await.unwrap();
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
