//! Both versions at the same time: they read and write the same records, with the same keys, limits and idempotency keys.

use serde_json::{Value, json};

use super::generated::operations as v2;
use super::{after_restart, release_v2};
use crate::support::conformance::ContractValidator;
use crate::support::{TestApp, TestKey, course_data};

/// Sends a request to v2, and checks that its contract documents the body.
async fn get_v2(contract: &ContractValidator, key: &TestKey, id: &str, path: &str) -> Value {
    let body = key.get(path).await.assert_status(200).json();
    let operation = v2::OPERATIONS.iter().find(|operation| operation.id == id).expect("an operation of v2");
    let path = operation.path.replace('/', "~1");
    let schema = format!("/paths/{path}/get/responses/200/content/application~1json/schema");
    assert_eq!(contract.errors(&schema, &body), [""; 0], "{id}: {body}");
    body
}

#[tokio::test]
async fn each_version_reads_and_changes_what_the_other_one_wrote() {
    let app = release_v2(TestApp::start().await).await;
    let contract = ContractValidator::fetch_contract(&app, "v2").await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    let course = acme.course("rust", 2).await;

    let ada = json!({"email": "ada@example.com", "name": "Ada", "metadata": [{"key": "crm", "value": "7"}]});
    let created = key.post_idempotent("/api/v2/students", "ada", &ada).await.assert_status(201);
    let ada = created.json()["id"].as_str().expect("an id").to_owned();
    assert_eq!(created.header("location"), format!("/api/v2/students/{ada}"));
    let in_v1 = key.get(&format!("/api/v1/students/{ada}")).await.assert_status(200).json();
    assert_eq!((&in_v1["name"], &in_v1["metadata"]), (&json!("Ada"), &json!({"crm": "7"})));

    // An email that v2 would not accept from clients.
    let bob = json!({"email": "bob@localhost", "metadata": {"crm": "8"}});
    let bob = key.post("/api/v1/students", bob).await.assert_status(201).json();
    let bob = bob["id"].as_str().expect("an id").to_owned();
    let in_v2 = get_v2(&contract, &key, "getStudent", &format!("/api/v2/students/{bob}")).await;
    assert_eq!((&in_v2["email"], &in_v2["name"]), (&json!("bob@localhost"), &Value::Null));
    assert_eq!(in_v2["metadata"], json!([{"key": "crm", "value": "8"}]));
    let created = app.events_of_type("student.created").await;
    let created: Vec<&Value> = created.iter().map(|event| &event["data"]["id"]).collect();
    assert_eq!(created, [&json!(ada), &json!(bob)], "one event for each");

    let enrollment = json!({"student_id": bob, "course_id": course});
    let enrolled = key.post_idempotent("/api/v2/enrollments", "bob", &enrollment).await.assert_status(200);
    let enrollment = json!({"studentId": bob, "courseId": course});
    let existing = key.post("/api/v1/enrollments", enrollment).await.assert_status(200).json();
    assert_eq!(existing["id"], enrolled.json()["id"]);
    assert_eq!(app.events_of_type("enrollment.created").await.len(), 1);

    let order = json!({
        "key": "o1", "number": "o1", "student": ada, "currency": "EUR", "tax_amount": 19,
        "items": [{"course": "rust", "unit_amount": 100}],
    });
    acme.change("order.pay", order).await;
    let listed = get_v2(&contract, &key, "listOrders", "/api/v2/orders?currency=EUR").await;
    let amounts = json!({
        "currency": "EUR", "subtotal": 100, "discount": 0, "tax": 19, "total": 119, "refunded": 0,
    });
    assert_eq!(listed["items"][0]["amounts"], amounts);
    let order = listed["items"][0]["id"].as_str().expect("an id");
    assert_eq!(
        get_v2(&contract, &key, "getOrder", &format!("/api/v2/orders/{order}")).await,
        listed["items"][0]
    );
    let in_v1 = key.get(&format!("/api/v1/orders/{order}")).await.assert_status(200).json();
    assert_eq!((&in_v1["total_amount"], &in_v1["studentId"]), (&json!(119), &json!(ada)));

    let listed = get_v2(&contract, &key, "listCourses", "/api/v2/courses").await;
    let detail = get_v2(&contract, &key, "getCourse", &format!("/api/v2/courses/{course}")).await;
    assert_eq!((&detail["slug"], detail.get("url")), (&listed["items"][0]["slug"], None));
    let first = get_v2(&contract, &key, "listStudents", "/api/v2/students?limit=1").await;
    let cursor = first["next_cursor"].as_str().expect("a second page");
    let path = format!("/api/v2/students?limit=1&cursor={cursor}");
    let second = get_v2(&contract, &key, "listStudents", &path).await;
    assert_eq!((&first["items"][0]["id"], &second["items"][0]["id"]), (&json!(bob), &json!(ada)));
    assert_eq!(second.get("next_cursor"), None);
}

#[tokio::test]
async fn v2_refuses_what_v1_still_accepts() {
    let app = release_v2(TestApp::start().await).await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_all_scopes().await;
    let student = acme.student("ada").await;
    acme.change("course.upsert", course_data("draft", "draft", 1)).await;
    let draft = app.course_id(&acme, "draft").await;
    let unknown = "crs_01k424mh00e2mbrajjfteg1k8f";

    for query in ["limit=51", "sort=-updated_at", "created_after=2026-01-01T00:00:00Z"] {
        key.get(&format!("/api/v1/orders?{query}")).await.assert_status(200);
        let name = query.split('=').next().expect("a name");
        key.get(&format!("/api/v2/orders?{query}")).await.assert_errors_at(&[&format!("query {name}")]);
    }
    let by_course = format!("courseId={unknown}");
    key.get(&format!("/api/v1/students?{by_course}")).await.assert_status(200);
    key.get(&format!("/api/v2/students?{by_course}")).await.assert_errors_at(&["query courseId"]);
    let summary = "analytics/summary";
    key.get(&format!("/api/v1/{summary}")).await.assert_status(200);
    assert_eq!(key.get(&format!("/api/v2/{summary}")).await.assert_status(404).code(), "not_found");

    let bob = json!({"email": "bob@localhost"});
    key.post("/api/v2/students", bob.clone()).await.assert_errors_at(&[
        "header Idempotency-Key",
        "body /name",
        "body /email",
    ]);
    key.post("/api/v1/students", bob).await.assert_status(201);

    for (course, v1_status) in [(unknown, 404), ("draft", 404), (&*draft, 422)] {
        let body = json!({"student_id": student, "course_id": course});
        let refused = key.post_idempotent("/api/v2/enrollments", course, &body).await;
        refused.assert_errors_at(&["body /course_id"]);
        let replayed = key.post_idempotent("/api/v2/enrollments", course, &body).await;
        assert_eq!((replayed.header("idempotent-replayed"), &replayed.body), ("true", &refused.body));
        let body = json!({"studentId": student, "courseId": course});
        let refused = key.post("/api/v1/enrollments", body).await.assert_status(v1_status);
        assert_eq!(refused.error_locations(), ["body /courseId"]);
    }
}

#[tokio::test]
async fn keys_limits_and_idempotency_keys_are_shared() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key_with_default_quota("read:courses write:students").await;
    let ada = json!({"email": "ada@example.com", "name": "Ada"});
    let created = key.post_idempotent("/api/v1/students", "ada", &ada).await.assert_status(201);

    // A client that repeats its request after the release gets the response from before it.
    let app = release_v2(app).await;
    let key = after_restart(&app, &key);
    let repeated = key.post_idempotent("/api/v1/students", "ada", &ada).await.assert_status(201);
    assert_eq!((repeated.header("idempotent-replayed"), &repeated.body), ("true", &created.body));
    let other_version = key.post_idempotent("/api/v2/students", "ada", &ada).await;
    other_version.assert_errors_at(&["header Idempotency-Key"]);

    let remaining = async |path: &str| -> u32 {
        let response = key.get(path).await.assert_status(200);
        response.header("x-ratelimit-remaining").parse().expect("a number")
    };
    let (first, second) = (remaining("/api/v1/courses").await, remaining("/api/v2/courses").await);
    assert_eq!(first - second, 1);
    assert_eq!(key.get("/api/v2/students").await.assert_status(403).code(), "forbidden");
}
