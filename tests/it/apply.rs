//! Changes of the change feed: each is applied once, completely or not at all, and only to its workspace.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::support::{TestApp, TestWorkspace};

const STUDENTS: &str = "/api/v1/students";

/// Returns changes of several types for a workspace, with fixed ids.
fn sample_changes(workspace: &str) -> Vec<Value> {
    let changes = [
        ("workspace.upsert", json!({"key": workspace, "name": workspace, "owner_email": "o@example.com"})),
        ("course.upsert", crate::support::course_data("rust", "published", 2)),
        ("student.upsert", json!({"key": "ada", "email": "ada@example.com"})),
        ("student.upsert", json!({"key": "bob", "email": "bob@example.com"})),
        ("enrollment.grant", json!({"student": "ada", "course": "rust"})),
        ("progress.record", json!({"student": "ada", "course": "rust", "lesson": "rust-1"})),
        (
            "order.pay",
            json!({"key": "o1", "number": "1", "student": "bob", "currency": "EUR", "items": [{"course": "rust", "unit_amount": 100}]}),
        ),
        ("order.refund", json!({"order": "o1"})),
        ("student.upsert", json!({"key": "ada", "email": "ada@example.com", "name": "Ada"})),
        ("student.delete", json!({"student": "bob"})),
    ];
    changes
        .into_iter()
        .enumerate()
        .map(|(n, (change, data))| {
            let at = format!("2026-03-01T10:00:{n:02}Z");
            json!({"change": change, "id": format!("s-{n}"), "workspace": workspace, "at": at, "data": data})
        })
        .collect()
}

/// Returns the changes in the format of the change feed, one per line.
fn lines(changes: &[Value]) -> String {
    changes.iter().map(|change| format!("{change}\n")).collect()
}

/// Returns the courses, students and orders of a workspace as the API shows them, with ids and recording times masked.
async fn visible_state(workspace: &TestWorkspace<'_>) -> Value {
    let key = workspace.key_with_all_scopes().await;
    let mut records = Vec::new();
    for list in ["courses", "students", "orders"] {
        records.extend(key.list_all(&format!("/api/v1/{list}?sort=created_at")).await);
    }
    crate::support::masked_ids::mask_ids(&Value::Array(records))
}

fn types(events: &[Value]) -> Vec<Value> {
    events.iter().map(|event| event["type"].clone()).collect()
}

#[tokio::test]
async fn applying_a_stream_again_changes_nothing() {
    let app = TestApp::start().await;
    let stream = lines(&sample_changes("acme"));
    let (first, _) = app.try_apply(&stream).await;
    assert_eq!((first.applied, first.repeated, first.rejected), (10, 0, 0));
    let workspace = app.workspace("acme").await;
    let before = (visible_state(&workspace).await, app.events().await);

    let (repeated, _) = app.try_apply(&stream).await;
    assert_eq!((repeated.applied, repeated.repeated, repeated.rejected), (0, 10, 0));
    // A repeated change is also recognized within one stream, and if its record was changed in the meantime.
    let twice = lines(&[sample_changes("acme")[2].clone(), sample_changes("acme")[2].clone()]);
    assert_eq!(app.try_apply(&twice).await.0.repeated, 2);
    assert_eq!((visible_state(&workspace).await, app.events().await), before);
}

#[tokio::test]
async fn a_truncated_stream_applied_again_has_the_same_result() {
    let uninterrupted = TestApp::start().await;
    uninterrupted.try_apply(&lines(&sample_changes("acme"))).await;
    let expected =
        (visible_state(&uninterrupted.workspace("acme").await).await, types(&uninterrupted.events().await));

    for cut in [1, 3, 6, 9] {
        let app = TestApp::start().await;
        let changes = sample_changes("acme");
        // The last line is truncated.
        let last_line = changes[cut].to_string();
        let truncated = format!("{}{}", lines(&changes[..cut]), &last_line[..last_line.len() / 2]);
        let (first, _) = app.try_apply(&truncated).await;
        assert_eq!((first.applied, first.rejected), (cut as u64, 1));
        let (second, _) = app.try_apply(&lines(&changes)).await;
        assert_eq!((second.applied, second.repeated, second.rejected), (10 - cut as u64, cut as u64, 0));
        assert_eq!(
            (visible_state(&app.workspace("acme").await).await, types(&app.events().await)),
            expected,
            "cut at {cut}"
        );
    }
}

#[tokio::test]
async fn an_invalid_line_is_reported_with_its_number_and_the_rest_is_applied() {
    let app = TestApp::start().await;
    app.workspace("acme").await;
    let valid_line = |n: usize| {
        let data = json!({"key": format!("s{n}"), "email": format!("s{n}@example.com")});
        json!({"change": "student.upsert", "id": format!("g-{n}"), "workspace": "acme", "at": "2026-03-01T10:00:00Z", "data": data})
            .to_string()
    };
    let line_with = |name: &str, value: Value| {
        let mut line: Value = serde_json::from_str(&valid_line(9)).unwrap();
        line["id"] = json!("bad");
        match name.strip_prefix("data/") {
            Some(field) => line["data"][field] = value,
            None => line[name] = value,
        }
        line.to_string()
    };
    let stream = [
        valid_line(1),
        String::new(),
        "nonsense".to_owned(),
        valid_line(2),
        "[]".to_owned(),
        "{}".to_owned(),
        line_with("color", json!("red")),
        line_with("data/color", json!("red")),
        line_with("data/emial", json!("x")),
        line_with("change", json!("student.create")),
        line_with("workspace", json!("nowhere")),
        line_with("at", json!("2026-03-01T10:00:00")),
        line_with("at", json!("2026-03-02T11:00:00Z")),
        line_with("at", json!(7)),
        line_with("data/email", json!("no at sign")),
        line_with("data/email", json!("S1@example.com")),
        line_with("data/tags", json!(vec!["x"; 21])),
        line_with("data", json!(null)),
        valid_line(9).replace(r#""id""#, r#""id":"twice","id""#),
        valid_line(3),
        "   ".to_owned(),
        valid_line(4),
    ];
    let (outcome, rejects) = app.try_apply(&stream.join("\n")).await;
    assert_eq!((outcome.applied, outcome.rejected), (4, 16));
    assert_json_snapshot!(rejects);
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    assert_eq!(key.get(STUDENTS).await.ids().len(), 4);
}

#[tokio::test]
async fn a_rejected_change_writes_nothing_and_can_be_applied_when_corrected() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    workspace.course("rust", 1).await;
    workspace.student("ada").await;
    let before = app.events().await.len();
    let mut pay = sample_changes("acme").remove(6);
    pay["data"]["student"] = json!("ada");
    // The first item would create an enrollment; the course of the second item does not exist.
    pay["data"]["items"] =
        json!([{"course": "rust", "unit_amount": 1}, {"course": "gone", "unit_amount": 1}]);

    let (outcome, rejects) = app.try_apply(&pay.to_string()).await;
    assert_eq!((outcome.rejected, rejects.len()), (1, 1));
    assert!(key.get("/api/v1/orders").await.ids().is_empty());
    assert_eq!(key.get(STUDENTS).await.json()["data"][0]["enrollments"], json!([]));
    assert_eq!(app.events().await.len(), before);

    pay["data"]["items"] = json!([{"course": "rust", "unit_amount": 1}]);
    assert_eq!(app.try_apply(&pay.to_string()).await.0.applied, 1);
    assert_eq!(key.get("/api/v1/orders").await.ids().len(), 1);
}

#[tokio::test]
async fn a_rejected_change_does_not_affect_others_of_its_batch() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let student = |n: usize, email: String| {
        workspace.build_change(
            "2026-03-01T10:00:00Z",
            "student.upsert",
            json!({"key": format!("s{n}"), "email": email}),
        )
    };
    // Every fifth change has the email address of the change before it.
    let changes: Vec<Value> = (0..100)
        .map(|n| student(n, format!("s{}@example.com", if n % 5 == 4 { n - 1 } else { n })))
        .collect();
    let (outcome, rejects) = app.try_apply(&lines(&changes)).await;
    assert_eq!((outcome.applied, outcome.rejected), (80, 20));
    assert!(rejects[0].starts_with("line 5 (") && rejects[19].starts_with("line 100 ("), "{rejects:?}");
    assert_eq!(app.events_of_type("student.created").await.len(), 80);
}

#[tokio::test]
async fn a_change_of_a_workspace_is_invisible_in_another() {
    let app = TestApp::start().await;
    let globex = app.workspace("globex").await;
    let empty = visible_state(&globex).await;
    app.try_apply(&lines(&sample_changes("acme"))).await;
    assert_eq!(visible_state(&globex).await, empty);

    // Another workspace can use the same ids, keys, email addresses, slugs and numbers.
    let (outcome, rejects) = app.try_apply(&lines(&sample_changes("globex"))).await;
    assert_eq!((outcome.applied, outcome.rejected), (10, 0), "{rejects:?}");
    let acme = app.workspace("acme").await;
    assert_eq!(visible_state(&globex).await, visible_state(&acme).await);

    // A change cannot refer to records of another workspace, neither by key nor by id.
    let ada = acme.key_with_all_scopes().await.get(STUDENTS).await.ids().remove(0);
    let before = visible_state(&acme).await;
    for name in ["eve", &ada] {
        let delete = globex.build_change("2026-03-01T11:00:00Z", "student.delete", json!({"student": name}));
        assert_eq!(app.try_apply(&delete.to_string()).await.1.len(), 1, "{name}");
    }
    let grant = globex.build_change(
        "2026-03-01T11:00:00Z",
        "enrollment.grant",
        json!({"student": ada, "course": "rust"}),
    );
    assert_eq!(app.try_apply(&grant.to_string()).await.1.len(), 1);
    assert_eq!(visible_state(&acme).await, before);
}
