//! Each change wholly or not at all, each once, and bad lines in nobody's way.

use serde_json::json;

use super::{Place, line};
use crate::{Options, Outcome};

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
    for place in Place::all().await {
        let text = school() + &(0..400).map(student).collect::<String>() + &order(7, "c-1");
        let (first, reasons) = place.apply(&text).await;
        assert_eq!((first, reasons.len()), (Outcome { applied: 403, repeated: 0, rejected: 0 }, 0));
        let events = place.count("events").await;
        let (again, _) = place.apply(&text).await;
        assert_eq!(again, Outcome { applied: 0, repeated: 403, rejected: 0 });
        assert_eq!((place.count("events").await, place.count("orders").await), (events, 1));
    }
}

#[tokio::test]
async fn a_change_that_stands_twice_in_a_stream_is_applied_once() {
    for place in Place::all().await {
        let (outcome, _) = place.apply(&(school() + &student(1) + &student(1))).await;
        assert_eq!(outcome, Outcome { applied: 3, repeated: 1, rejected: 0 });
    }
}

#[tokio::test]
async fn bad_lines_are_named_and_kept_and_the_rest_goes_on() {
    for place in Place::all().await {
        let text = school()
            + "not json\n\r\n"
            + &student(1)
            + &order(2, "c-1")
            + &order(1, "c-9")
            + &student(2)
            + &line("later", "student.delete", "2026-06-02T00:00:00Z", json!({"student": "s-1"}))
            + &order(1, "c-1");
        let (mut reasons, mut kept) = (Vec::new(), Vec::new());
        let options = Options {
            rejected: Box::new(|reject| reasons.push(reject.to_string())),
            rejects: Some(Box::new(&mut kept)),
            ..Options::default()
        };
        let outcome = crate::apply(&place.app, text.as_bytes(), options).await.unwrap();
        assert_eq!(outcome, Outcome { applied: 5, repeated: 0, rejected: 4 });
        assert_eq!(
            reasons,
            [
                "line 3: the line is not valid JSON at column 2: expected ident",
                "line 6 (o-2): data/student: no student s-2 in this workspace",
                "line 7 (o-1): data/items/0/course: no course c-9 in this workspace",
                "line 9 (later): at: lies in the future: the server's clock says 2026-06-01T12:00:00Z",
            ]
        );
        let kept = String::from_utf8(kept).unwrap();
        assert_eq!(kept.lines().count(), 4);
        // What was missing came later in the stream: the kept lines can be applied now, but for the broken ones.
        let (outcome, _) = place.apply(&kept).await;
        assert_eq!(outcome, Outcome { applied: 1, repeated: 1, rejected: 2 });
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_is_kept_whole() {
    for place in Place::all().await {
        let long = format!("{{\"note\": \"{}\"}}", "x".repeat(3 << 20));
        let text = school() + "not json\n" + &long + "\n" + &student(1) + "not json either";
        let (mut reasons, mut kept) = (Vec::new(), Vec::new());
        let options = Options {
            rejected: Box::new(|reject| reasons.push(reject.line)),
            rejects: Some(Box::new(&mut kept)),
            ..Options::default()
        };
        let outcome = crate::apply(&place.app, text.as_bytes(), options).await.unwrap();
        assert_eq!(outcome, Outcome { applied: 3, repeated: 0, rejected: 3 });
        assert_eq!(reasons, [3, 4, 6]);
        assert!(String::from_utf8(kept).unwrap() == format!("not json\n{long}\nnot json either\n"));
    }
}

#[tokio::test]
async fn a_refused_change_leaves_no_trace() {
    for place in Place::all().await {
        place.apply(&(school() + &student(1))).await;
        let (events, students) = (place.count("events").await, place.count("students").await);
        let (outcome, _) = place.apply(&(order(1, "c-9") + &order(3, "c-1"))).await;
        assert_eq!(outcome, Outcome { applied: 0, repeated: 0, rejected: 2 });
        assert_eq!((place.count("events").await, place.count("students").await), (events, students));
        assert_eq!(place.count("applied_changes").await, 3);
        assert_eq!(place.count("revenue_rollups").await, 0);
    }
}

#[tokio::test]
async fn two_streams_at_once_apply_each_change_once() {
    for place in Place::all().await {
        place.apply(&school()).await;
        let text: String = (0..300).map(student).collect();
        let (one, two) = tokio::join!(place.apply(&text), place.apply(&text));
        assert_eq!((one.1, two.1), (Vec::<String>::new(), Vec::new()));
        assert_eq!((one.0.applied + two.0.applied, one.0.repeated + two.0.repeated), (300, 300));
        assert_eq!(place.count("students").await, 300);
    }
}

#[tokio::test]
async fn a_slow_stream_is_applied_as_it_comes() {
    let place = Place::sqlite().await;
    let (mut pipe, reader) = tokio::io::duplex(1 << 16);
    let app = place.app.clone();
    let applying = tokio::spawn(async move {
        crate::apply(&app, tokio::io::BufReader::new(reader), Options::default()).await
    });
    tokio::io::AsyncWriteExt::write_all(&mut pipe, school().as_bytes()).await.unwrap();
    for _ in 0..100 {
        if place.count("courses").await == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(place.count("courses").await, 1, "while the stream is open still");
    drop(pipe);
    assert_eq!(applying.await.unwrap().unwrap().applied, 2);
}
