//! Delta sync with `sort=updated_at`: a client gets every change, even of rows that are committed late.

use std::time::Duration;

use domain::students::{self, NewStudent};
use serde_json::json;

use crate::support::{TestApp, wait_until};

#[tokio::test]
async fn a_row_that_is_committed_late_is_not_missed() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:students").await;
    let early = workspace.student("early").await;
    app.clock.advance(Duration::from_secs(1));
    let list = "/api/v1/students?sort=updated_at";
    assert_eq!(key.get(list).await.ids(), std::slice::from_ref(&early));

    // A write begins and stays open while time passes.
    let mut open_write = app.begin_write().await;
    let late = NewStudent { email: "late@example.com".to_owned(), ..NewStudent::default() };
    let late =
        students::create(&app.app, &mut open_write, workspace.id, app.clock.now(), late).await.unwrap();
    let late = late.summary.id.to_string();
    app.clock.advance(Duration::from_secs(1));

    // On PostgreSQL, another write begins and commits meanwhile. SQLite has one writer.
    if app.uses_postgres() {
        workspace.upsert_student("other").await;
    }
    app.clock.advance(Duration::from_secs(1));

    // The list contains only rows from before the open write began, even if later writes are already committed.
    let before = key.get(list).await.assert_status(200).ids();
    assert_eq!(before, std::slice::from_ref(&early));
    open_write.commit().await.unwrap();

    let after = key.get(list).await.assert_status(200).ids();
    assert_eq!(after[..2], [early, late]);
    assert_eq!(after.len(), if app.uses_postgres() { 3 } else { 2 });
}

#[tokio::test]
async fn a_changed_record_moves_to_the_end_of_the_delta() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let course = workspace.course("rust", 2).await;
    let ada = workspace.student("ada").await;
    app.clock.advance(Duration::from_secs(1));
    let bob = workspace.student("bob").await;
    app.clock.advance(Duration::from_secs(1));
    let list = "/api/v1/students?sort=updated_at";
    assert_eq!(key.get(list).await.ids(), [ada.clone(), bob.clone()]);

    let since = key.get(list).await.json()["data"][1]["updated_at"].as_str().unwrap().to_owned();
    // `updated_after` is inclusive, so bob is returned again.
    let delta = format!("{list}&updated_after={since}");

    key.post("/api/v1/enrollments", json!({"studentId": ada, "courseId": course})).await.assert_status(201);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(key.get(&delta).await.ids(), [bob.clone(), ada.clone()]);

    workspace.change("enrollment.grant", json!({"student": "bob", "course": "rust"})).await;
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(key.get(list).await.ids(), [ada.clone(), bob.clone()]);

    workspace
        .change("progress.record", json!({"student": "ada", "course": "rust", "lesson": "rust-1"}))
        .await;
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(key.get(list).await.ids(), [bob, ada]);
}

#[tokio::test]
async fn a_backdated_change_appears_at_the_end_of_the_delta() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let now = workspace.student("now").await;
    app.clock.advance(Duration::from_secs(1));
    let data = json!({"key": "old", "email": "old@example.com"});
    workspace.change_at("2024-01-01T00:00:00Z", "student.upsert", data).await;
    app.clock.advance(Duration::from_secs(1));

    let delta = "/api/v1/students?sort=updated_at";
    // The server may be writing the request log, and the delta ends before a running write.
    wait_until("the delta contains both", async || key.get(delta).await.ids().len() == 2).await;
    let page = key.get(delta).await.assert_status(200).json();
    assert_eq!(page["data"][0]["id"], now);
    assert_eq!(page["data"][1]["created_at"], "2024-01-01T00:00:00.000Z");
    assert_eq!(page["data"][1]["updated_at"], "2026-03-02T10:00:31.000Z");
}

#[tokio::test]
async fn a_clock_that_is_set_back_over_a_restart_hides_no_change() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let ada = workspace.student("ada").await;
    app.clock.advance(Duration::from_secs(1));
    let list = "/api/v1/students?sort=updated_at";
    let read = key.get(list).await.assert_status(200).json();
    assert_eq!(read["data"][0]["id"], ada);

    app.clock.set(app.clock.now() - Duration::from_secs(120));
    let app = app.restart().await;
    let key = app.key_with_secret(key.id.clone(), key.secret.clone());
    let bob =
        key.post("/api/v1/students", json!({"email": "bob@example.com"})).await.assert_status(201).json();

    // The client asks for changes since the last one that it knows. It need not wait until the clock has caught up.
    let delta = format!("{list}&updated_after={}", read["data"][0]["updated_at"].as_str().unwrap());
    let expected = [ada, bob["id"].as_str().unwrap().to_owned()];
    // The server may be writing the request log, and the delta ends before a running write.
    wait_until("the delta contains both", async || key.get(&delta).await.ids() == expected).await;
}
