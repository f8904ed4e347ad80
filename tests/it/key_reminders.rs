//! Mails to owners about API keys that expire soon or are not used.

use std::time::Duration;

use domain::keys::{self, KeyChange};
use domain::scope::Scopes;
use domain::workspaces::Quota;
use entity::mails::Model;
use jiff::SignedDuration;

use crate::support::{TestApp, TestKey, TestWorkspace};

const DAY: Duration = Duration::from_secs(86_400);

/// Creates a key that expires after this number of days.
async fn expiring_key(workspace: &TestWorkspace<'_>, days: i64) -> TestKey {
    let expires_at = workspace.app.clock.now() + SignedDuration::from_hours(24 * days);
    workspace.key_with_quota("read:courses", Quota::default(), Some(expires_at)).await
}

/// Queues the mails that are due, and returns those of a workspace of one kind.
async fn mails(app: &TestApp, workspace: &'static str, kind: &str) -> Vec<Model> {
    keys::remind(&app.app).await.unwrap();
    let mails = app.workspace(workspace).await.mails().await;
    mails.into_iter().filter(|mail| mail.kind == kind).collect()
}

#[tokio::test]
async fn owners_are_reminded_30_7_and_1_days_before_a_key_expires() {
    let app = TestApp::start().await;
    let (acme, other) = (app.workspace("acme").await, app.workspace("other").await);
    let first = expiring_key(&acme, 40).await;
    expiring_key(&other, 365).await;
    let sent = async || mails(&app, "acme", "keys_expire").await;
    assert!(sent().await.is_empty());
    for (days, expected) in [(10, 1), (0, 1), (22, 1), (1, 2), (6, 3), (1, 3)] {
        app.clock.advance(DAY * days);
        assert_eq!(sent().await.len(), expected, "{days} days later");
    }
    let mail = sent().await.remove(0);
    assert_eq!(mail.subject, "Your API keys expire soon");
    let prefix = &first.secret[..12];
    assert!(mail.text_body.contains(prefix) && !mail.text_body.contains(&first.secret), "{}", mail.text_body);
    assert!(mails(&app, "other", "keys_expire").await.is_empty());
}

#[tokio::test]
async fn a_mail_is_about_all_keys_of_the_workspace_that_are_due() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    // Who creates a key for five or thirty days knows when it expires.
    for days in [5, 30, 31, 32, 33] {
        expiring_key(&acme, days).await;
    }
    let revoked = expiring_key(&acme, 32).await;
    let mut write = app.begin_write().await;
    keys::revoke(&app.app, &mut write, None, revoked.id.parse().unwrap()).await.unwrap();
    write.commit().await.unwrap();
    app.clock.advance(DAY * 2);
    let sent = mails(&app, "acme", "keys_expire").await;
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].text_body.matches("Expires").count(), 2, "{}", sent[0].text_body);
    app.clock.advance(DAY * 2);
    let sent = mails(&app, "acme", "keys_expire").await;
    assert_eq!(sent.len(), 2, "about the last day of the first key, and about the last key");
}

#[tokio::test]
async fn a_key_whose_expiry_was_changed_has_new_reminders() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = expiring_key(&acme, 10).await.id.parse().unwrap();
    let sent = async || mails(&app, "acme", "keys_expire").await.len();
    app.clock.advance(DAY * 5);
    assert_eq!(sent().await, 1, "7 days before the first expiry");
    let expires_in = async |days: i64| {
        let change = KeyChange {
            name: "billing".to_owned(),
            scopes: Scopes::v1(),
            expires_at: Some(app.clock.now() + SignedDuration::from_hours(24 * days)),
            networks: Vec::new(),
        };
        let mut write = app.begin_write().await;
        keys::edit(&app.app, &mut write, acme.id, key, change).await.unwrap();
        write.commit().await.unwrap();
    };
    expires_in(90).await;
    for (days, expected) in [(0, 1), (59, 1), (1, 2), (23, 3)] {
        app.clock.advance(DAY * days);
        assert_eq!(sent().await, expected, "{days} days later");
    }
    // Who chooses a new expiry in five days knows it.
    expires_in(5).await;
    for (days, expected) in [(0, 3), (4, 4)] {
        app.clock.advance(DAY * days);
        assert_eq!(sent().await, expected, "{days} days later");
    }
}

#[tokio::test]
async fn owners_get_a_weekly_mail_about_keys_that_are_not_used() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (used, unused) = (acme.key("read:courses").await, acme.key("read:courses").await);
    let sent = async || mails(&app, "acme", "keys_unused").await;
    app.clock.advance(DAY * 59);
    used.get("/api/v1/courses").await.assert_status(200);
    keys::flush_uses(&app.app).await.unwrap();
    for (days, expected) in [(1, 0), (1, 1), (6, 1), (1, 2), (1, 2)] {
        app.clock.advance(DAY * days);
        assert_eq!(sent().await.len(), expected, "{days} days later");
    }
    let mail = sent().await.remove(0);
    let (named, other) = (&unused.secret[unused.secret.len() - 4..], &used.secret[used.secret.len() - 4..]);
    assert!(mail.text_body.contains(named) && !mail.text_body.contains(other), "{}", mail.text_body);
    assert!(mail.text_body.contains("never"), "{}", mail.text_body);
    unused.get("/api/v1/courses").await.assert_status(200);
    keys::flush_uses(&app.app).await.unwrap();
    app.clock.advance(DAY * 30);
    assert_eq!(sent().await.len(), 2);
}

#[tokio::test]
async fn a_key_that_is_used_again_causes_no_second_mail_in_the_week() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let used = acme.key("read:courses").await;
    app.clock.advance(DAY);
    acme.key("read:courses").await;
    app.clock.advance(DAY * 60);
    assert_eq!(mails(&app, "acme", "keys_unused").await.len(), 1);
    used.get("/api/v1/courses").await.assert_status(200);
    keys::flush_uses(&app.app).await.unwrap();
    for (days, expected) in [(1, 1), (5, 1), (1, 2)] {
        app.clock.advance(DAY * days);
        assert_eq!(mails(&app, "acme", "keys_unused").await.len(), expected, "{days} days later");
    }
}
