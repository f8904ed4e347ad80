//! Tests that each change is applied completely or not at all, and only once, and that invalid lines do not stop the import.

use serde_json::json;

use super::{FeedFixture, line};
use crate::{ApplyOptions, ApplyOutcome};

const AT: &str = "2026-05-01T10:00:00Z";

fn school() -> String {
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
    for server in FeedFixture::all().await {
        let text = school() + &(0..400).map(student).collect::<String>() + &order(7, "c-1");
        let (first, reasons) = server.apply(&text).await;
        assert_eq!((first, reasons.len()), (ApplyOutcome { applied: 403, repeated: 0, rejected: 0 }, 0));
        let events = server.count("events").await;
        let (again, _) = server.apply(&text).await;
        assert_eq!(again, ApplyOutcome { applied: 0, repeated: 403, rejected: 0 });
        assert_eq!((server.count("events").await, server.count("orders").await), (events, 1));
    }
}

#[tokio::test]
async fn a_change_that_occurs_twice_in_a_stream_is_applied_once() {
    for server in FeedFixture::all().await {
        let (outcome, _) = server.apply(&(school() + &student(1) + &student(1))).await;
        assert_eq!(outcome, ApplyOutcome { applied: 3, repeated: 1, rejected: 0 });
    }
}

#[tokio::test]
async fn invalid_lines_are_reported_and_saved_and_the_rest_is_applied() {
    for server in FeedFixture::all().await {
        let text = school()
            + "not json\n\r\n"
            + &student(1)
            + &order(2, "c-1")
            + &order(1, "c-9")
            + &student(2)
            + &line("later", "student.delete", "2026-06-02T00:00:00Z", json!({"student": "s-1"}))
            + &order(1, "c-1");
        let (mut reasons, mut rejected) = (Vec::new(), Vec::new());
        let options = ApplyOptions {
            rejected: Box::new(|reject| reasons.push(reject.to_string())),
            rejects: Some(Box::new(&mut rejected)),
            ..ApplyOptions::default()
        };
        let outcome = crate::apply(&server.app, text.as_bytes(), options).await.unwrap();
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
        let rejected = String::from_utf8(rejected).unwrap();
        assert_eq!(rejected.lines().count(), 4);
        // The stream created the missing student later, so the rejected lines can be applied now, except the invalid ones.
        let (outcome, _) = server.apply(&rejected).await;
        assert_eq!(outcome, ApplyOutcome { applied: 1, repeated: 1, rejected: 2 });
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_saved_completely() {
    for server in FeedFixture::all().await {
        let long = format!("{{\"note\": \"{}\"}}", "x".repeat(3 << 20));
        let text = school() + "not json\n" + &long + "\n" + &student(1) + "not json either";
        let (mut reasons, mut rejected) = (Vec::new(), Vec::new());
        let options = ApplyOptions {
            rejected: Box::new(|reject| reasons.push(reject.line)),
            rejects: Some(Box::new(&mut rejected)),
            ..ApplyOptions::default()
        };
        let outcome = crate::apply(&server.app, text.as_bytes(), options).await.unwrap();
        assert_eq!(outcome, ApplyOutcome { applied: 3, repeated: 0, rejected: 3 });
        assert_eq!(reasons, [3, 4, 6]);
        assert!(String::from_utf8(rejected).unwrap() == format!("not json\n{long}\nnot json either\n"));
    }
}

#[tokio::test]
async fn a_rejected_change_leaves_no_trace() {
    for server in FeedFixture::all().await {
        server.apply(&(school() + &student(1))).await;
        let (events, students) = (server.count("events").await, server.count("students").await);
        let (outcome, _) = server.apply(&(order(1, "c-9") + &order(3, "c-1"))).await;
        assert_eq!(outcome, ApplyOutcome { applied: 0, repeated: 0, rejected: 2 });
        assert_eq!((server.count("events").await, server.count("students").await), (events, students));
        assert_eq!(server.count("applied_changes").await, 3);
        assert_eq!(server.count("revenue_rollups").await, 0);
    }
}

#[tokio::test]
async fn two_concurrent_streams_apply_each_change_once() {
    for server in FeedFixture::all().await {
        server.apply(&school()).await;
        let text: String = (0..300).map(student).collect();
        let (one, two) = tokio::join!(server.apply(&text), server.apply(&text));
        assert_eq!((one.1, two.1), (Vec::<String>::new(), Vec::new()));
        assert_eq!((one.0.applied + two.0.applied, one.0.repeated + two.0.repeated), (300, 300));
        assert_eq!(server.count("students").await, 300);
    }
}

#[tokio::test]
async fn the_changes_of_a_slow_stream_are_applied_as_they_arrive() {
    let server = FeedFixture::sqlite().await;
    let (mut pipe, reader) = tokio::io::duplex(1 << 16);
    let app = server.app.clone();
    let applying = tokio::spawn(async move {
        crate::apply(&app, tokio::io::BufReader::new(reader), ApplyOptions::default()).await
    });
    tokio::io::AsyncWriteExt::write_all(&mut pipe, school().as_bytes()).await.unwrap();
    for _ in 0..100 {
        if server.count("courses").await == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(server.count("courses").await, 1, "while the stream is still open");
    drop(pipe);
    assert_eq!(applying.await.unwrap().unwrap().applied, 2);
}
