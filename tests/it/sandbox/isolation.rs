//! A key of the live workspace reaches nothing in the sandbox, and the other way around.

use reqwest::Method;
use serde_json::{Value, json};

use super::events;
use crate::support::{Endpoint, TestApp, TestKey, TestWorkspace, course_data, send, wait_until};

/// Creates a student through the API, and returns the response.
async fn create_student(key: &TestKey, email: &str) -> Value {
    key.post("/api/v1/students", json!({"email": email})).await.assert_status(201).json()
}

/// Returns the paths of a record of each kind that the key can read by id.
async fn paths(workspace: &TestWorkspace<'_>, key: &TestKey) -> Vec<String> {
    workspace.subscribe(&["student.created"]).await;
    create_student(key, "new@example.com").await;
    let mut paths = Vec::new();
    for list in [
        "/api/v1/courses",
        "/api/v1/students",
        "/api/v1/orders",
        "/developer/v1/webhooks",
        "/developer/v1/deliveries",
    ] {
        let ids = key.get(list).await.assert_status(200).ids();
        paths.push(format!("{list}/{}", ids.first().unwrap_or_else(|| panic!("{list} is empty"))));
    }
    paths
}

#[tokio::test]
async fn neither_key_reaches_the_records_of_the_other_workspace() {
    let app = TestApp::start().await;
    let live = app.workspace("acme").await;
    live.change("course.upsert", course_data("rust", "published", 1)).await;
    let ada = json!({"key": "ada", "email": "ada@acme.example"});
    live.change("student.upsert", ada).await;
    let items = json!([{"course": "rust", "unit_amount": 4900}]);
    let order = json!({"key": "o1", "number": "1", "student": "ada", "currency": "EUR", "items": items});
    live.change("order.pay", order).await;
    let sandbox = super::create(&app).await;
    let (live_key, test_key) = (live.key_with_all_scopes().await, sandbox.key_with_all_scopes().await);
    assert!(live_key.secret.starts_with("svc_live_") && test_key.secret.starts_with("svc_test_"));
    let sides = [(live, &live_key, &test_key), (sandbox, &test_key, &live_key)];
    for (workspace, own, other) in sides {
        let paths = paths(&workspace, own).await;
        for path in &paths {
            own.get(path).await.assert_status(200);
            assert_eq!(other.get(path).await.assert_status(404).code(), "not_found", "{path}");
        }
        let id = |index: usize| paths[index].rsplit('/').next().expect("an id");
        let enrollment = json!({"courseId": id(0), "studentId": id(1)});
        other.post("/api/v1/enrollments", enrollment).await.assert_status(404);
        let rotate = other.request(Method::POST, &format!("{}/rotate-secret", paths[3]));
        let events_of = format!("/developer/v1/events?undelivered_to={}", id(3));
        for request in [
            other.request(Method::DELETE, &paths[3]),
            other.request(Method::PATCH, &paths[3]).json(&json!({"rate": 5})),
            rotate.json(&json!({"overlap_seconds": 0})),
            other.request(Method::POST, &format!("{}/replay", paths[4])),
            other.request(Method::GET, &format!("{}/attempts", paths[4])),
            other.request(Method::GET, &events_of),
        ] {
            assert_eq!(send(request).await.assert_status(404).code(), "not_found");
        }
        let mut found = Vec::new();
        // The list ends before a running write, such as that of the request log.
        wait_until("the events can be read", async || {
            found = events(&app, own, "/developer/v1/events?limit=100").await;
            !found.is_empty()
        })
        .await;
        let is_own = |event: &Value| event["event"]["workspace_id"] == workspace.id.to_string();
        assert!(found.iter().all(is_own), "{found:?}");
    }
    let students = live_key.list_all("/api/v1/students").await;
    assert_eq!(students.len(), 2, "the demo data is in the sandbox only");
}

#[tokio::test]
async fn the_prefix_of_a_key_stays_when_it_is_rotated() {
    let app = TestApp::start().await;
    let key = super::create(&app).await.key("write:keys").await;
    let rotated = key.post("/developer/v1/keys/rotate", json!({"overlap_seconds": 0})).await;
    let secret = rotated.assert_status(200).json()["secret"].as_str().expect("a secret").to_owned();
    assert!(secret.starts_with("svc_test_") && secret.len() == 47, "{secret}");
    let mails = super::mails(&app).await;
    assert_eq!(mails, ["owner@acme.example key_rotated"], "the owner of the live workspace is notified");
}

#[tokio::test]
async fn deliveries_of_a_sandbox_say_so() {
    let app = TestApp::start_with_local_webhooks().await;
    let (live, sandbox) = (app.workspace("acme").await, super::create(&app).await);
    for (workspace, mode) in [(live, ""), (sandbox, "test")] {
        let endpoint = Endpoint::start().await;
        let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
        create_student(&workspace.key("write:students").await, "new@example.com").await;
        assert_eq!(app.deliver_due().await, 1);
        let requests = endpoint.requests();
        assert_eq!(requests[0].header("x-svc-mode"), mode);
        assert!(requests[0].is_signed(&subscription.secret, app.clock.now().as_second()));
    }
}
