//! The list of students: filters, enrollment history and progress.

use std::time::Duration;

use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::support::masked_ids::mask_ids;
use crate::support::{TestApp, course_data};

const STUDENTS: &str = "/api/v1/students";

#[tokio::test]
async fn each_filter_finds_exactly_the_matching_students() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:students").await;
    let students = [
        json!({"key": "ada", "email": "Ada@Example.com", "external_id": "crm-1", "tags": ["vip", "a b&c"]}),
        json!({"key": "bob", "email": "bob+x@example.com", "external_id": "crm-1", "tags": ["VIP"]}),
        json!({"key": "eve", "email": "eve@example.com", "external_id": "crm-10"}),
    ];
    let mut ids = Vec::new();
    for student in students {
        workspace.change("student.upsert", student).await;
        ids.push(key.get(STUDENTS).await.ids().remove(0));
        app.clock.advance(Duration::from_secs(1));
    }
    let (ada, bob, eve) = (&ids[0], &ids[1], &ids[2]);

    let cases: [(&str, &[&String]); 12] = [
        ("email=ada%40example.com", &[ada]),
        ("email=ADA%40EXAMPLE.COM", &[ada]),
        ("email=bob%2Bx%40example.com", &[bob]),
        ("email=da%40example.com", &[]),
        ("external_id=crm-1", &[bob, ada]),
        ("external_id=CRM-1", &[]),
        ("tag=vip", &[ada]),
        ("tag=VIP", &[bob]),
        ("tag=a+b%26c", &[ada]),
        ("tag=vi%25", &[]),
        ("external_id=crm-1&tag=VIP", &[bob]),
        ("created_after=2026-03-02T10:00:31Z", &[eve, bob]),
    ];
    for (query, expected_ids) in cases {
        let read = key.get(&format!("{STUDENTS}?{query}")).await.assert_status(200).ids();
        assert_eq!(read.iter().collect::<Vec<_>>(), expected_ids, "{query}");
    }
}

#[tokio::test]
async fn course_and_status_must_match_the_same_enrollment() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:students").await;
    let (rust, go) = (workspace.course("rust", 1).await, workspace.course("go", 1).await);
    let ada = workspace.student("ada").await;
    app.clock.advance(Duration::from_secs(1));
    let bob = workspace.student("bob").await;
    let grant = |student: &str, course: &str| json!({"student": student, "course": course});
    workspace.change("enrollment.grant", grant("ada", "rust")).await;
    workspace.change("enrollment.grant", grant("ada", "go")).await;
    workspace.change("enrollment.revoke", grant("ada", "go")).await;
    workspace.change("enrollment.grant", grant("bob", "go")).await;
    let completion = json!({"student": "bob", "course": "go", "lesson": "go-1"});
    workspace.change("progress.record", completion).await;

    let cases: [(String, &[&String]); 9] = [
        (format!("courseId={rust}"), &[&ada]),
        (format!("courseId={go}"), &[&bob, &ada]),
        ("enrollment_status=active".to_owned(), &[&ada]),
        ("enrollment_status=revoked".to_owned(), &[&ada]),
        ("enrollment_status=completed".to_owned(), &[&bob]),
        ("enrollment_status=expired".to_owned(), &[]),
        (format!("courseId={rust}&enrollment_status=active"), &[&ada]),
        (format!("courseId={go}&enrollment_status=active"), &[]),
        (format!("courseId={go}&enrollment_status=revoked"), &[&ada]),
    ];
    for (query, expected_ids) in cases {
        let read = key.get(&format!("{STUDENTS}?{query}")).await.assert_status(200).ids();
        assert_eq!(read.iter().collect::<Vec<_>>(), expected_ids, "{query}");
    }
}

#[tokio::test]
async fn the_enrollment_history_is_complete_and_newest_first() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:students").await;
    workspace.student("ada").await;
    for name in ["one", "two", "three"] {
        workspace.course(name, 2).await;
    }
    // Not sorted by time.
    for (name, at) in [("two", "2026-02-02"), ("three", "2026-02-03"), ("one", "2026-02-01")] {
        let data = json!({"student": "ada", "course": name, "source": "import"});
        workspace.change_at(&format!("{at}T09:00:00Z"), "enrollment.grant", data).await;
    }
    let data = json!({"student": "ada", "course": "two", "reason": "chargeback"});
    workspace.change_at("2026-02-20T09:00:00Z", "enrollment.revoke", data).await;
    let data = json!({"student": "ada", "course": "three", "lesson": "three-2"});
    workspace.change_at("2026-02-21T09:00:00Z", "progress.record", data).await;
    workspace.course("four", 1).await;
    let data = json!({"student": "ada", "course": "four", "expires_at": "2026-03-01T00:00:00Z"});
    workspace.change_at("2026-02-04T09:00:00Z", "enrollment.grant", data).await;

    let page = key.get(STUDENTS).await.assert_status(200).json();
    assert_json_snapshot!(mask_ids(&page["data"][0]));
}

/// Returns the percentage and the status of Ada's only enrollment, and her average percentage.
async fn progress(key: &crate::support::TestKey) -> (Value, Value, Value) {
    let student = key.get(STUDENTS).await.assert_status(200).json()["data"][0].clone();
    let enrollment = &student["enrollments"][0];
    (
        enrollment["progress"]["percent_complete"].clone(),
        enrollment["status"].clone(),
        student["progress"]["average_percent_complete"].clone(),
    )
}

#[tokio::test]
async fn progress_is_rounded_down_and_100_only_when_complete() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:students").await;
    workspace.student("ada").await;
    workspace.course("long", 201).await;
    workspace.change("enrollment.grant", json!({"student": "ada", "course": "long"})).await;

    let at = app.clock.now().to_string();
    let lesson = |n: usize| {
        let data = json!({"student": "ada", "course": "long", "lesson": format!("long-{n}")});
        workspace.build_change(&at, "progress.record", data)
    };
    let all_but_one: Vec<Value> = (1..=200).map(lesson).collect();
    app.apply(&all_but_one[..1]).await;
    assert_eq!(progress(&key).await, (json!(0), json!("active"), json!(0)));
    app.apply(&all_but_one[1..3]).await;
    assert_eq!(progress(&key).await, (json!(1), json!("active"), json!(1)));
    app.apply(&all_but_one[3..]).await;
    assert_eq!(progress(&key).await, (json!(99), json!("active"), json!(99)));
    // A lesson counts once.
    app.apply(&[lesson(7), lesson(8)]).await;
    assert_eq!(progress(&key).await, (json!(99), json!("active"), json!(99)));
    app.apply(&[lesson(201)]).await;
    assert_eq!(progress(&key).await, (json!(100), json!("completed"), json!(100)));

    // The course gets more lessons, so not every lesson is completed any more.
    workspace.change("course.upsert", course_data("long", "published", 202)).await;
    assert_eq!(progress(&key).await, (json!(99), json!("active"), json!(99)));
    workspace.change("course.upsert", course_data("long", "published", 100)).await;
    assert_eq!(progress(&key).await, (json!(100), json!("completed"), json!(100)));
}

#[tokio::test]
async fn the_average_excludes_revoked_enrollments() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:students").await;
    workspace.student("ada").await;
    assert_eq!(
        key.get(STUDENTS).await.json()["data"][0]["progress"]["average_percent_complete"],
        Value::Null
    );
    for (name, completed_lessons) in [("one", 1), ("two", 2), ("three", 3)] {
        workspace.course(name, 3).await;
        workspace.change("enrollment.grant", json!({"student": "ada", "course": name})).await;
        for lesson in 1..=completed_lessons {
            let data = json!({"student": "ada", "course": name, "lesson": format!("{name}-{lesson}")});
            workspace.change("progress.record", data).await;
        }
    }
    // 33, 66 and 100.
    let student_progress = key.get(STUDENTS).await.json()["data"][0]["progress"].clone();
    assert_eq!(student_progress["average_percent_complete"], 66);
    workspace.change("enrollment.revoke", json!({"student": "ada", "course": "three"})).await;
    let student_progress = key.get(STUDENTS).await.json()["data"][0]["progress"].clone();
    assert_json_snapshot!(student_progress, @r#"
    {
      "average_percent_complete": 49,
      "enrollments_active": 2,
      "enrollments_completed": 0,
      "enrollments_total": 3,
      "last_activity_at": "2026-03-02T10:00:30.000Z"
    }
    "#);
}

#[tokio::test]
async fn a_course_without_lessons_is_never_completed() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:students").await;
    workspace.student("ada").await;
    workspace.course("empty", 0).await;
    workspace.change("enrollment.grant", json!({"student": "ada", "course": "empty"})).await;
    assert_eq!(progress(&key).await, (json!(0), json!("active"), json!(0)));
}

#[tokio::test]
async fn deleting_a_student_deletes_the_history() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let course = workspace.course("rust", 1).await;
    let ada = workspace.student("ada").await;
    key.post("/api/v1/enrollments", json!({"studentId": ada, "courseId": course})).await.assert_status(201);

    workspace.change("student.delete", json!({"student": "ada"})).await;
    assert!(key.get(STUDENTS).await.ids().is_empty());
    assert!(key.get(&format!("{STUDENTS}?courseId={course}")).await.ids().is_empty());
    let repeat = key.post("/api/v1/enrollments", json!({"studentId": ada, "courseId": course})).await;
    repeat.assert_status(404);
    let events = app.events().await;
    assert_json_snapshot!(mask_ids(&events.last().unwrap()["data"]), @r#"
    {
      "deleted_at": "2026-03-02T10:00:30.000Z",
      "email": "ada@example.com",
      "external_id": null,
      "id": "stu_1"
    }
    "#);
    assert!(app.events_of_type("enrollment.revoked").await.is_empty());
}
