//! Changes from the platform: each applied once, wholly or not at all, in its own workspace.

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::support::{TestApp, Workspace};

const STUDENTS: &str = "/api/v1/students";

/// Some life in a workspace, as lines with ids of their own.
fn story(workspace: &str) -> Vec<Value> {
    let changes = [
        ("workspace.upsert", json!({"key": workspace, "name": workspace, "owner_email": "o@example.com"})),
        ("course.upsert", crate::support::course("rust", "published", 2)),
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

fn lines(changes: &[Value]) -> String {
    changes.iter().map(|change| format!("{change}\n")).collect()
}

/// All that a workspace shows, ids and recording times aside.
async fn shown(workspace: &Workspace<'_>) -> Value {
    let key = workspace.full_key().await;
    let mut all = Vec::new();
    for list in ["courses", "students", "orders"] {
        all.extend(key.all(&format!("/api/v1/{list}?sort=created_at")).await);
    }
    crate::masks::masked(&Value::Array(all))
}

fn types(events: &[Value]) -> Vec<Value> {
    events.iter().map(|event| event["type"].clone()).collect()
}

#[tokio::test]
async fn a_stream_applied_again_changes_nothing() {
    let app = TestApp::start().await;
    let stream = lines(&story("acme"));
    let (first, _) = app.try_apply(&stream).await;
    assert_eq!((first.applied, first.repeated, first.rejected), (10, 0, 0));
    let workspace = app.workspace("acme").await;
    let before = (shown(&workspace).await, app.events().await);

    let (again, _) = app.try_apply(&stream).await;
    assert_eq!((again.applied, again.repeated, again.rejected), (0, 10, 0));
    // Even in one stream, and even when what it says has changed since.
    let twice = lines(&[story("acme")[2].clone(), story("acme")[2].clone()]);
    assert_eq!(app.try_apply(&twice).await.0.repeated, 2);
    assert_eq!((shown(&workspace).await, app.events().await), before);
}

#[tokio::test]
async fn a_stream_cut_short_anywhere_ends_as_if_it_had_not_been() {
    let whole = TestApp::start().await;
    whole.try_apply(&lines(&story("acme"))).await;
    let expected = (shown(&whole.workspace("acme").await).await, types(&whole.events().await));

    for cut in [1, 3, 6, 9] {
        let app = TestApp::start().await;
        let story = story("acme");
        // The last line arrives in half.
        let half = story[cut].to_string();
        let torn = format!("{}{}", lines(&story[..cut]), &half[..half.len() / 2]);
        let (first, _) = app.try_apply(&torn).await;
        assert_eq!((first.applied, first.rejected), (cut as u64, 1));
        let (rest, _) = app.try_apply(&lines(&story)).await;
        assert_eq!((rest.applied, rest.repeated, rest.rejected), (10 - cut as u64, cut as u64, 0));
        assert_eq!(
            (shown(&app.workspace("acme").await).await, types(&app.events().await)),
            expected,
            "cut at {cut}"
        );
    }
}

#[tokio::test]
async fn a_bad_line_is_told_with_its_number_and_the_rest_goes_on() {
    let app = TestApp::start().await;
    app.workspace("acme").await;
    let good = |n: usize| {
        let data = json!({"key": format!("s{n}"), "email": format!("s{n}@example.com")});
        json!({"change": "student.upsert", "id": format!("g-{n}"), "workspace": "acme", "at": "2026-03-01T10:00:00Z", "data": data})
            .to_string()
    };
    let with = |name: &str, value: Value| {
        let mut line: Value = serde_json::from_str(&good(9)).unwrap();
        line["id"] = json!("bad");
        match name.strip_prefix("data/") {
            Some(field) => line["data"][field] = value,
            None => line[name] = value,
        }
        line.to_string()
    };
    let stream = [
        good(1),
        String::new(),
        "nonsense".to_owned(),
        good(2),
        "[]".to_owned(),
        "{}".to_owned(),
        with("colour", json!("red")),
        with("data/colour", json!("red")),
        with("data/emial", json!("x")),
        with("change", json!("student.create")),
        with("workspace", json!("nowhere")),
        with("at", json!("2026-03-01T10:00:00")),
        with("at", json!("2026-03-02T11:00:00Z")),
        with("at", json!(7)),
        with("data/email", json!("no at sign")),
        with("data/email", json!("S1@example.com")),
        with("data/tags", json!(vec!["x"; 21])),
        with("data", json!(null)),
        good(9).replace(r#""id""#, r#""id":"twice","id""#),
        good(3),
        "   ".to_owned(),
        good(4),
    ];
    let (outcome, rejects) = app.try_apply(&stream.join("\n")).await;
    assert_eq!((outcome.applied, outcome.rejected), (4, 16));
    assert_json_snapshot!(rejects);
    let key = app.workspace("acme").await.full_key().await;
    assert_eq!(key.get(STUDENTS).await.ids().len(), 4);
}

#[tokio::test]
async fn a_refused_change_leaves_no_trace_and_may_come_again_corrected() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.full_key().await;
    workspace.course("rust", 1).await;
    workspace.student("ada").await;
    let before = app.events().await.len();
    let mut pay = story("acme").remove(6);
    pay["data"]["student"] = json!("ada");
    // The first item would enrol; the second names nothing.
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
async fn a_refused_change_among_good_ones_takes_nothing_with_it() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let student = |n: usize, email: String| {
        workspace.line(
            "2026-03-01T10:00:00Z",
            "student.upsert",
            json!({"key": format!("s{n}"), "email": email}),
        )
    };
    // Every fifth asks for the email of the one before.
    let changes: Vec<Value> = (0..100)
        .map(|n| student(n, format!("s{}@example.com", if n % 5 == 4 { n - 1 } else { n })))
        .collect();
    let (outcome, rejects) = app.try_apply(&lines(&changes)).await;
    assert_eq!((outcome.applied, outcome.rejected), (80, 20));
    assert!(rejects[0].starts_with("line 5 (") && rejects[19].starts_with("line 100 ("), "{rejects:?}");
    assert_eq!(app.events_of("student.created").await.len(), 80);
}

#[tokio::test]
async fn a_change_of_a_workspace_is_invisible_in_another() {
    let app = TestApp::start().await;
    let globex = app.workspace("globex").await;
    let nothing = shown(&globex).await;
    app.try_apply(&lines(&story("acme"))).await;
    assert_eq!(shown(&globex).await, nothing);

    // The same ids, keys, emails, slugs and numbers are free there.
    let (outcome, rejects) = app.try_apply(&lines(&story("globex"))).await;
    assert_eq!((outcome.applied, outcome.rejected), (10, 0), "{rejects:?}");
    let acme = app.workspace("acme").await;
    assert_eq!(shown(&globex).await, shown(&acme).await);

    // What one names by key or id, the other does not have.
    let ada = acme.full_key().await.get(STUDENTS).await.ids().remove(0);
    let before = shown(&acme).await;
    for name in ["eve", &ada] {
        let delete = globex.line("2026-03-01T11:00:00Z", "student.delete", json!({"student": name}));
        assert_eq!(app.try_apply(&delete.to_string()).await.1.len(), 1, "{name}");
    }
    let grant =
        globex.line("2026-03-01T11:00:00Z", "enrollment.grant", json!({"student": ada, "course": "rust"}));
    assert_eq!(app.try_apply(&grant.to_string()).await.1.len(), 1);
    assert_eq!(shown(&acme).await, before);
}
