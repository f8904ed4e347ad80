//! Enrolling a student in a course through the API and by grants of the change feed.

use std::time::Duration;

use insta::assert_json_snapshot;
use serde_json::json;

use crate::support::{TestApp, course_data};

const ENROLLMENTS: &str = "/api/v1/enrollments";

#[tokio::test]
async fn the_first_call_enrolls_and_the_second_returns_the_same_enrollment() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let body =
        json!({"studentId": workspace.student("ada").await, "courseId": workspace.course("rust", 2).await});

    let first = key.post(ENROLLMENTS, body.clone()).await.assert_status(201).json();
    assert_json_snapshot!(first, {
        ".id" => "enr", ".studentId" => "stu", ".courseId" => "crs"
    });
    app.clock.advance(Duration::from_secs(5));
    let second = key.post(ENROLLMENTS, body).await.assert_status(200).json();
    assert_eq!(first, second);
    assert_eq!(app.events_of_type("enrollment.created").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_concurrent_calls_create_one_enrollment_and_one_event() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let body =
        json!({"studentId": workspace.student("ada").await, "courseId": workspace.course("rust", 2).await});

    let responses =
        futures_util::future::join_all((0..50).map(|_| key.post(ENROLLMENTS, body.clone()))).await;
    let created = responses.iter().filter(|response| response.status == 201).count();
    let existing = responses.iter().filter(|response| response.status == 200).count();
    assert_eq!((created, existing), (1, 49));
    let ids: std::collections::BTreeSet<String> =
        responses.iter().map(|response| response.json()["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(app.events_of_type("enrollment.created").await.len(), 1);
    let student = key.get("/api/v1/students").await.json();
    assert_eq!(student["data"][0]["progress"]["enrollments_total"], 1);
}

#[tokio::test]
async fn enrolling_after_a_revocation_reactivates_the_same_enrollment() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let body =
        json!({"studentId": workspace.student("ada").await, "courseId": workspace.course("rust", 2).await});
    let first = key.post(ENROLLMENTS, body.clone()).await.assert_status(201).json();

    workspace
        .change("enrollment.revoke", json!({"student": "ada", "course": "rust", "reason": "chargeback"}))
        .await;
    let revoked = key.get("/api/v1/students").await.json()["data"][0]["enrollments"][0].clone();
    assert_eq!(revoked["status"], "revoked");
    assert_eq!(revoked["revoked_at"], "2026-03-02T10:00:30.000Z");

    let repeat = key.post(ENROLLMENTS, body).await.assert_status(200).json();
    assert_eq!(repeat["id"], first["id"]);
    assert_eq!(repeat["status"], "active");
    assert!(repeat["revoked_at"].is_null());
    assert_eq!(app.events_of_type("enrollment.created").await.len(), 2);
}

#[tokio::test]
async fn an_enrollment_expires_at_its_end() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let (student, course) = (workspace.student("ada").await, workspace.course("rust", 2).await);

    let past = json!({"studentId": student, "courseId": course, "expires_at": "2026-03-02T10:00:30Z"});
    key.post(ENROLLMENTS, past).await.assert_errors_at(&["body /expires_at"]);

    let one_hour =
        json!({"studentId": student, "courseId": course, "expires_at": "2026-03-02T12:00:30+01:00"});
    let enrolled = key.post(ENROLLMENTS, one_hour).await.assert_status(201).json();
    assert_eq!(enrolled["expires_at"], "2026-03-02T11:00:30.000Z");
    app.clock.advance(Duration::from_millis(3_599_999));
    let active = key.get("/api/v1/students?enrollment_status=active").await;
    assert_eq!(active.ids(), [&*student]);

    app.clock.advance(Duration::from_millis(1));
    assert!(key.get("/api/v1/students?enrollment_status=active").await.ids().is_empty());
    let expired = key.get("/api/v1/students?enrollment_status=expired").await.json();
    assert_eq!(expired["data"][0]["enrollments"][0]["status"], "expired");
}

#[tokio::test]
async fn a_grant_of_the_change_feed_extends_access() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let body =
        json!({"studentId": workspace.student("ada").await, "courseId": workspace.course("rust", 2).await});
    let grant = async |end: Option<&str>| {
        app.clock.advance(Duration::from_secs(1));
        let mut data = json!({"student": "ada", "course": "rust"});
        if let Some(end) = end {
            data["expires_at"] = json!(end);
        }
        workspace.change("enrollment.grant", data).await;
        key.get("/api/v1/students").await.json()["data"][0].clone()
    };
    let first = grant(Some("2026-04-01T00:00:00Z")).await;
    let renewed = grant(Some("2026-05-01T00:00:00Z")).await;
    let (before, after) = (&first["enrollments"][0], &renewed["enrollments"][0]);
    assert_eq!((&after["id"], &after["enrolled_at"]), (&before["id"], &before["enrolled_at"]));
    assert_eq!(after["expires_at"], "2026-05-01T00:00:00.000Z");
    // Clients that sync by `updated_at` get the change.
    assert_eq!(after["updated_at"], "2026-03-02T10:00:32.000Z");
    assert_eq!(renewed["updated_at"], after["updated_at"]);
    // The same end, an earlier end, and a call of the API change nothing.
    assert_eq!(grant(Some("2026-05-01T02:00:00+02:00")).await, renewed);
    assert_eq!(grant(Some("2026-04-15T00:00:00Z")).await, renewed);
    let mut longer = body.clone();
    longer["expires_at"] = json!("2026-06-01T00:00:00Z");
    let enrolled = key.post(ENROLLMENTS, longer).await.assert_status(200).json();
    assert_eq!(&enrolled, after);
    assert_eq!(app.events_of_type("enrollment.created").await.len(), 1);

    // A late renewal does not limit purchased access.
    let items = [json!({"course": "rust", "unit_amount": 4900})];
    let order = json!({"key": "o1", "number": "1", "student": "ada", "currency": "EUR", "items": items});
    workspace.change("order.pay", order).await;
    let bought = grant(Some("2026-06-01T00:00:00Z")).await;
    assert!(bought["enrollments"][0]["expires_at"].is_null(), "{bought}");

    // Nor does it limit access that was granted without end before the purchase.
    workspace.student("bob").await;
    let grant_data = json!({"student": "bob", "course": "rust"});
    workspace.change("enrollment.grant", grant_data.clone()).await;
    let order = json!({"key": "o2", "number": "2", "student": "bob", "currency": "EUR", "items": items});
    workspace.change("order.pay", order).await;
    let late_grant = json!({"student": "bob", "course": "rust", "expires_at": "2026-06-01T00:00:00Z"});
    workspace.change("enrollment.grant", late_grant).await;
    let students = key.get("/api/v1/students?limit=2").await.json();
    for student in students["data"].as_array().unwrap() {
        assert!(student["enrollments"][0]["expires_at"].is_null(), "{student}");
    }
}

#[tokio::test]
async fn students_can_enroll_only_in_published_courses_of_the_workspace() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let student = workspace.student("ada").await;
    let published = workspace.course("rust", 1).await;
    let archived = workspace.course("old", 1).await;
    workspace.change("course.upsert", course_data("old", "archived", 1)).await;
    workspace.change("course.upsert", course_data("new", "draft", 1)).await;
    let draft = app.course_id(&workspace, "new").await;
    let foreign = app.workspace("globex").await.course("rust", 1).await;
    let foreign_student = app.workspace("globex").await.student("eve").await;

    let absent = "crs_01k424mh00e2mbrajjfteg1k8f";
    let body = |student: &str, course: &str| json!({"studentId": student, "courseId": course});
    for course in [absent, &foreign, "nonsense", "ord_01k424mh00e2mbrajjfteg1k8f"] {
        let response = key.post(ENROLLMENTS, body(&student, course)).await.assert_status(404);
        assert_eq!(response.code(), "not_found");
    }
    for course in [&archived, &draft] {
        key.post(ENROLLMENTS, body(&student, course)).await.assert_errors_at(&["body /courseId"]);
    }
    key.post(ENROLLMENTS, body(&foreign_student, &published)).await.assert_status(404);
    assert!(app.events_of_type("enrollment.created").await.is_empty());

    // The errors for an absent and a foreign id differ only in the id.
    let absent_message = key.post(ENROLLMENTS, body(&student, absent)).await.message();
    let foreign_message = key.post(ENROLLMENTS, body(&student, &foreign)).await.message();
    assert_eq!(absent_message.replace(absent, "ID"), foreign_message.replace(&foreign, "ID"));
    let order_message =
        key.post(ENROLLMENTS, body(&student, "ord_01k424mh00e2mbrajjfteg1k8f")).await.message();
    assert!(
        order_message.contains("is the id of an order; a course id begins with `crs_`"),
        "{order_message}"
    );
}
