//! Events of every type.

use std::time::Duration;

use serde_json::json;

use super::{TestKey, TestWorkspace, course_data};

/// Causes an event of every type in a workspace, through the API and the change feed.
pub async fn cause_all_events(workspace: &TestWorkspace<'_>, key: &TestKey) {
    workspace.change("course.upsert", course_data("rust", "draft", 1)).await;
    let mut rust = course_data("rust", "published", 1);
    rust["url"] = json!("https://academy.example.com/rust");
    workspace.change("course.upsert", rust).await;
    let rust = workspace.app.course_id(workspace, "rust").await;
    let ink = workspace.course("ink", 2).await;

    let ada = json!({"email": "ada@example.com", "name": "Ada Osei", "tags": ["vip"]});
    let ada = key.post("/api/v1/students", ada).await.assert_status(201).json()["id"].clone();
    workspace.app.clock.advance(Duration::from_secs(1));
    let renamed = json!({"key": "ada", "email": "ada@example.com", "name": "Ada M. Osei", "tags": []});
    workspace.change("student.upsert", renamed).await;

    let body = json!({"studentId": ada, "courseId": rust});
    key.post("/api/v1/enrollments", body).await.assert_status(201);
    let completion = json!({"student": "ada", "course": "rust", "lesson": "rust-1"});
    workspace.change("progress.record", completion).await;
    workspace
        .change("certificate.issue", json!({"student": ada, "course": "rust", "number": "2026-00042"}))
        .await;

    let items = json!([{"course": ink, "unit_amount": 4900}]);
    let pay = json!({"key": "o1", "number": "1", "student": "ada", "currency": "EUR", "items": items});
    workspace.change("order.pay", pay).await;
    workspace.change("order.refund", json!({"order": "o1", "amount": 900, "reason": "Goodwill"})).await;
    workspace.change("order.refund", json!({"order": "o1"})).await;

    let session = json!({"key": "l1", "title": "Office hour", "course": "rust", "scheduled_at": "2026-03-02T10:00:00Z"});
    workspace.change("live_session.upsert", session).await;
    workspace.change("live_session.start", json!({"live_session": "l1"})).await;
    workspace.app.clock.advance(Duration::from_secs(90));
    workspace.change("live_session.end", json!({"live_session": "l1"})).await;
    let recording = json!({
        "key": "r1", "live_session": "l1", "duration_seconds": 88, "size_bytes": 5_000_000_000_i64, "content_type": "video/mp4",
    });
    workspace.change("recording.ready", recording).await;
    workspace.change("course.upsert", course_data("ink", "archived", 2)).await;
    workspace.change("student.delete", json!({"student": "ada"})).await;
}
