//! Tests that each change is applied completely or not at all, and only once, and that invalid lines do not stop the
//! import.

use serde_json::{Value, json};

use super::{FeedFixture, line};
use crate::{ApplyOptions, ApplyOutcome};

/// The time of all changes.
const AT: &str = "2026-05-01T10:00:00Z";

/// Returns the changes that create a workspace with one course.
fn workspace_with_course() -> String {
    let workspace = json!({"key": "acme", "name": "Acme", "owner_email": "ada@example.com"});
    let lessons = json!([{"key": "l-1", "title": "One", "type": "video"}]);
    let course = json!({"key": "c-1", "slug": "one", "title": "One", "status": "published",
        "modules": [{"key": "m-1", "title": "Part", "lessons": lessons}]});
    line("w", "workspace.upsert", AT, workspace) + &line("c", "course.upsert", AT, course)
}

fn student(number: u32) -> String {
    let data = json!({"key": format!("s-{number}"), "email": format!("s-{number}@example.com")});
    line(&format!("s-{number}"), "student.upsert", AT, data)
}

fn order(number: u32, course: &str) -> String {
    let data = json!({"key": format!("o-{number}"), "number": format!("A-{number}"), "student": format!("s-{number}"),
        "currency": "EUR", "items": [{"course": course, "unit_amount": 9900}]});
    line(&format!("o-{number}"), "order.pay", AT, data)
}

#[tokio::test]
async fn a_stream_that_is_applied_again_changes_nothing() {
    for fixture in FeedFixture::on_all_databases().await {
        let text = workspace_with_course() + &(0..400).map(student).collect::<String>() + &order(7, "c-1");
        let (first, reasons) = fixture.apply(&text).await;
        assert_eq!((first, reasons.len()), (ApplyOutcome { applied: 403, repeated: 0, rejected: 0 }, 0));
        let events = fixture.count("events").await;
        let (again, _) = fixture.apply(&text).await;
        assert_eq!(again, ApplyOutcome { applied: 0, repeated: 403, rejected: 0 });
        assert_eq!((fixture.count("events").await, fixture.count("orders").await), (events, 1));
    }
}

#[tokio::test]
async fn a_change_that_occurs_twice_in_a_stream_is_applied_once() {
    for fixture in FeedFixture::on_all_databases().await {
        let (outcome, _) = fixture.apply(&(workspace_with_course() + &student(1) + &student(1))).await;
        assert_eq!(outcome, ApplyOutcome { applied: 3, repeated: 1, rejected: 0 });
    }
}

#[tokio::test]
async fn invalid_lines_are_reported_and_saved_and_the_other_lines_are_applied() {
    for fixture in FeedFixture::on_all_databases().await {
        let text = workspace_with_course()
            + "not json\n\r\n"
            + &student(1)
            + &order(2, "c-1")
            + &order(1, "c-9")
            + &student(2)
            + &line("later", "student.delete", "2026-06-02T00:00:00Z", json!({"student": "s-1"}))
            + &order(1, "c-1");
        let (mut reasons, mut rejected_lines) = (Vec::new(), Vec::new());
        let options = ApplyOptions {
            on_rejected: Box::new(|rejected| reasons.push(rejected.to_string())),
            rejects_output: Some(Box::new(&mut rejected_lines)),
            ..ApplyOptions::default()
        };
        let outcome = crate::apply(&fixture.app, text.as_bytes(), options).await.unwrap();
        assert_eq!(outcome, ApplyOutcome { applied: 5, repeated: 0, rejected: 4 });
        assert_eq!(
            reasons,
            [
                "line 3: the line is not valid JSON at column 2: expected ident",
                "line 6 (o-2): data/student: no student s-2 in this workspace",
                "line 7 (o-1): data/items/0/course: no course c-9 in this workspace",
                "line 9 (later): at: is in the future: the server time is 2026-06-01T12:00:00Z",
            ]
        );
        let rejected_lines = String::from_utf8(rejected_lines).unwrap();
        assert_eq!(rejected_lines.lines().count(), 4);
        // The stream created the missing student later, so the rejected lines can be applied now, except the invalid
        // ones.
        let (outcome, _) = fixture.apply(&rejected_lines).await;
        assert_eq!(outcome, ApplyOutcome { applied: 1, repeated: 1, rejected: 2 });
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_saved_completely() {
    for fixture in FeedFixture::on_all_databases().await {
        let long = format!("{{\"note\": \"{}\"}}", "x".repeat(3 << 20));
        let text = workspace_with_course() + "not json\n" + &long + "\n" + &student(1) + "not json either";
        let (mut numbers, mut rejected_lines) = (Vec::new(), Vec::new());
        let options = ApplyOptions {
            on_rejected: Box::new(|rejected| numbers.push(rejected.line)),
            rejects_output: Some(Box::new(&mut rejected_lines)),
            ..ApplyOptions::default()
        };
        let outcome = crate::apply(&fixture.app, text.as_bytes(), options).await.unwrap();
        assert_eq!(outcome, ApplyOutcome { applied: 3, repeated: 0, rejected: 3 });
        assert_eq!(numbers, [3, 4, 6]);
        assert!(String::from_utf8(rejected_lines).unwrap() == format!("not json\n{long}\nnot json either\n"));
    }
}

#[tokio::test]
async fn a_rejected_change_leaves_no_trace() {
    for fixture in FeedFixture::on_all_databases().await {
        fixture.apply(&(workspace_with_course() + &student(1))).await;
        let (events, students) = (fixture.count("events").await, fixture.count("students").await);
        let (outcome, _) = fixture.apply(&(order(1, "c-9") + &order(3, "c-1"))).await;
        assert_eq!(outcome, ApplyOutcome { applied: 0, repeated: 0, rejected: 2 });
        assert_eq!((fixture.count("events").await, fixture.count("students").await), (events, students));
        assert_eq!(fixture.count("applied_changes").await, 3);
        assert_eq!(fixture.count("revenue_rollups").await, 0);
    }
}

#[tokio::test]
async fn two_concurrent_streams_apply_each_change_once() {
    for fixture in FeedFixture::on_all_databases().await {
        fixture.apply(&workspace_with_course()).await;
        let text: String = (0..300).map(student).collect();
        let (first, second) = tokio::join!(fixture.apply(&text), fixture.apply(&text));
        assert_eq!((first.1, second.1), (Vec::<String>::new(), Vec::new()));
        assert_eq!(first.0.applied + second.0.applied, 300);
        assert_eq!(first.0.repeated + second.0.repeated, 300);
        assert_eq!(fixture.count("students").await, 300);
    }
}

/// Applies the same 300 records in two concurrent streams, of which one is in reverse order. All changes must be applied.
async fn apply_in_two_streams(fixture: &FeedFixture, change: &str, data: impl Fn(u32) -> Value) {
    let lines = |stream: &str, numbers: Vec<u32>| -> String {
        numbers
            .into_iter()
            .map(|number| line(&format!("{change}-{stream}-{number}"), change, AT, data(number)))
            .collect()
    };
    let (first, second) = (lines("first", (0..300).collect()), lines("second", (0..300).rev().collect()));
    let (first, second) = tokio::join!(fixture.apply(&first), fixture.apply(&second));
    assert_eq!((first.1, second.1), (Vec::<String>::new(), Vec::new()));
    assert_eq!((first.0.applied, second.0.applied), (300, 300));
}

#[tokio::test]
async fn two_concurrent_streams_create_each_student_and_course_once() {
    for fixture in FeedFixture::on_all_databases().await {
        fixture.apply(&workspace_with_course()).await;
        let student =
            |number| json!({"key": format!("s-{number}"), "email": format!("s-{number}@example.com")});
        apply_in_two_streams(&fixture, "student.upsert", student).await;
        assert_eq!(fixture.count("students").await, 300);
        assert_eq!(fixture.count("events WHERE type = 'student.created'").await, 300);
        let course = |number| {
            let key = format!("k-{number}");
            json!({"key": key, "slug": key, "title": "Course", "status": "published"})
        };
        apply_in_two_streams(&fixture, "course.upsert", course).await;
        assert_eq!(fixture.count("courses WHERE key LIKE 'k-%'").await, 300);
    }
}

#[tokio::test]
async fn the_changes_of_a_slow_stream_are_applied_as_they_arrive() {
    let fixture = FeedFixture::sqlite().await;
    let (mut stream, reader) = tokio::io::duplex(1 << 16);
    let app = fixture.app.clone();
    let applying = tokio::spawn(async move {
        crate::apply(&app, tokio::io::BufReader::new(reader), ApplyOptions::default()).await
    });
    tokio::io::AsyncWriteExt::write_all(&mut stream, workspace_with_course().as_bytes()).await.unwrap();
    for _ in 0..100 {
        if fixture.count("courses").await == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(fixture.count("courses").await, 1, "while the stream is still open");
    drop(stream);
    assert_eq!(applying.await.unwrap().unwrap().applied, 2);
}
