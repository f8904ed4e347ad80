//! Events: each event type occurs with the documented body, and changes without effect create no events.

use std::collections::BTreeSet;
use std::time::Duration;

use api::generated::events::EVENT_TYPES;
use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::support::conformance::ContractValidator;
use crate::support::events::cause_all_events;
use crate::support::masked_ids::mask_ids;
use crate::support::{TestApp, course_data};

/// Returns the types of these events.
fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().expect("an event has a type")).collect()
}

#[tokio::test]
async fn each_event_type_occurs_with_the_documented_body() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    cause_all_events(&workspace, &key).await;

    let events = app.events().await;
    let contract = ContractValidator::fetch(&app).await;
    for event in &events {
        let event_type = event["type"].as_str().expect("an event has a type");
        let errors = contract.errors(&ContractValidator::event_schema(event_type), event);
        assert_eq!(errors, [""; 0], "{event:#}");
        assert_eq!(event["workspace_id"], workspace.id.to_string());
    }
    let occurring_types: BTreeSet<&str> = types(&events).into_iter().collect();
    assert_eq!(
        occurring_types,
        EVENT_TYPES.iter().copied().collect(),
        "every event type of the contract occurs, and no other"
    );
    let ids: BTreeSet<&str> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), events.len());

    assert_json_snapshot!(types(&events), @r#"
    [
      "course.published",
      "course.published",
      "student.created",
      "student.updated",
      "enrollment.created",
      "certificate.issued",
      "order.paid",
      "enrollment.created",
      "order.refunded",
      "order.refunded",
      "enrollment.revoked",
      "live_session.started",
      "live_session.ended",
      "recording.ready",
      "course.archived",
      "student.deleted"
    ]
    "#);
    assert_json_snapshot!(mask_ids(&Value::Array(events)));
}

#[tokio::test]
async fn a_change_without_effect_creates_no_event() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let ada = json!({"key": "ada", "email": "ada@example.com", "name": "Ada", "tags": ["vip"]});
    workspace.change("student.upsert", ada.clone()).await;
    workspace.course("rust", 1).await;
    let grant = json!({"student": "ada", "course": "rust"});
    workspace.change("enrollment.grant", grant.clone()).await;
    let before = (app.events().await.len(), key.get("/api/v1/students").await.body);

    app.clock.advance(Duration::from_secs(1));
    workspace.change("student.upsert", ada).await;
    workspace.change("student.upsert", json!({"key": "ada", "email": "ada@example.com"})).await;
    workspace.change("course.upsert", course_data("rust", "published", 1)).await;
    workspace.change("enrollment.grant", grant).await;
    assert_eq!((app.events().await.len(), key.get("/api/v1/students").await.body), before);

    // Progress changes the student's record, but is no `student.updated`.
    workspace
        .change("progress.record", json!({"student": "ada", "course": "rust", "lesson": "rust-1"}))
        .await;
    assert_eq!(app.events().await.len(), before.0);
}

#[tokio::test]
async fn an_update_event_names_the_changed_fields() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let changes = [
        (json!({"email": "Ada@example.com"}), json!(["email"])),
        (json!({"name": "Ada"}), json!(["name"])),
        (json!({"external_id": "crm-1", "tags": ["b", "a"]}), json!(["external_id", "tags"])),
        (json!({"tags": ["a", "b"], "metadata": {"k": "v"}}), json!(["tags", "metadata"])),
        (json!({"name": null, "metadata": {}}), json!(["name", "metadata"])),
    ];
    workspace.student("ada").await;
    for (fields, changed) in changes {
        let mut data = json!({"key": "ada", "email": "Ada@example.com"});
        data.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        workspace.change("student.upsert", data).await;
        let event = app.events().await.pop().unwrap();
        assert_eq!((&event["type"], &event["data"]["changed"]), (&json!("student.updated"), &changed));
    }
}

#[tokio::test]
async fn a_rejected_change_creates_no_event() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let rust = workspace.course("rust", 1).await;
    let ada = workspace.student("ada").await;
    workspace.student("bob").await;
    let before = app.events().await.len();

    key.post("/api/v1/students", json!({"email": "ADA@example.com"})).await.assert_status(422);
    let body = json!({"studentId": ada, "courseId": rust, "expires_at": "2020-01-01T00:00:00Z"});
    key.post("/api/v1/enrollments", body).await.assert_status(422);
    let rejected = [
        ("student.upsert", json!({"key": "eve", "email": "ada@example.com"})),
        ("student.upsert", json!({"key": "bob", "email": "Ada@example.com"})),
        ("student.delete", json!({"student": "eve"})),
        ("course.upsert", course_data("rust-2", "open", 1)),
        ("course.upsert", json!({"key": "other", "slug": "rust", "title": "Rust", "status": "published"})),
        ("enrollment.grant", json!({"student": "ada", "course": "go"})),
        ("enrollment.revoke", json!({"student": "ada", "course": "rust"})),
        ("progress.record", json!({"student": "ada", "course": "rust", "lesson": "rust-1"})),
        ("certificate.issue", json!({"student": "ada", "course": "rust"})),
        ("order.refund", json!({"order": "o1"})),
        ("live_session.start", json!({"live_session": "l1"})),
        (
            "recording.ready",
            json!({"key": "r", "live_session": "l1", "duration_seconds": 1, "size_bytes": 1, "content_type": "video/mp4"}),
        ),
    ];
    let mut reasons = Vec::new();
    for (change, data) in rejected {
        let change = workspace.build_change("2026-03-02T10:00:00Z", change, data);
        reasons.extend(app.try_apply(&change.to_string()).await.1);
    }
    assert_json_snapshot!(reasons);
    assert_eq!(app.events().await.len(), before);
}

#[tokio::test]
async fn a_live_session_starts_once_and_ends_once() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let session = json!({"live_session": "l1"});
    workspace.change("live_session.upsert", json!({"key": "l1", "title": "Office hour"})).await;
    let recording = |key: &str| json!({"key": key, "live_session": "l1", "title": "Best of", "duration_seconds": 0, "size_bytes": 0, "content_type": "audio/ogg"});
    let steps = [
        ("live_session.end", session.clone(), false),
        ("recording.ready", recording("r0"), false),
        ("live_session.start", session.clone(), true),
        ("live_session.start", session.clone(), false),
        ("live_session.end", session.clone(), true),
        ("live_session.end", session.clone(), false),
        ("live_session.start", session, false),
        ("recording.ready", recording("r1"), true),
        ("recording.ready", recording("r1"), false),
        ("recording.ready", recording("r2"), true),
    ];
    for (index, (change, data, is_applied)) in steps.into_iter().enumerate() {
        let change = workspace.build_change("2026-03-02T10:00:00Z", change, data);
        let rejects = app.try_apply(&change.to_string()).await.1;
        assert_eq!(rejects.is_empty(), is_applied, "step {index}: {rejects:?}");
    }
    let events = app.events().await;
    assert_eq!(
        types(&events),
        ["live_session.started", "live_session.ended", "recording.ready", "recording.ready"]
    );
}
