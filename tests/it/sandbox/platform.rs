//! The Platform API leaves sandboxes out, unless their mode is asked for.

use std::time::Duration;

use serde_json::{Value, json};

use super::{KEY, events};
use crate::support::TestApp;
use crate::support::platform::{NDJSON, platform_token};

const EVENTS: &str = "/platform/v1/events";

/// Returns the email addresses of the students in events.
fn emails(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["event"]["data"]["email"].as_str()).collect()
}

#[tokio::test]
async fn the_event_feed_contains_sandboxes_in_the_mode_test_only() {
    let app = TestApp::start().await;
    let live = app.workspace("acme").await;
    let sandbox = super::create(&app).await;
    let key = sandbox.key("write:students").await;
    key.post("/api/v1/students", json!({"email": "test@example.com"})).await.assert_status(201);
    live.upsert_student("live").await;
    let token = platform_token(&app, "read:events").await;
    for limit in [1, 7, 1000] {
        let of_live = events(&app, &token, &format!("{EVENTS}?limit={limit}")).await;
        assert_eq!(emails(&of_live), ["live@example.com"]);
        let explicit = events(&app, &token, &format!("{EVENTS}?limit={limit}&mode=live")).await;
        assert_eq!(explicit, of_live);
    }
    let of_test = events(&app, &token, &format!("{EVENTS}?limit=300&mode=test")).await;
    assert!(of_test.len() > 300, "{}", of_test.len());
    assert!(of_test.iter().all(|event| event["event"]["workspace_id"] == sandbox.id.to_string()));
    assert_eq!(emails(&of_test).last(), Some(&"test@example.com"));
    let filter = format!("workspace_id={}", sandbox.id);
    assert_eq!(events(&app, &token, &format!("{EVENTS}?{filter}")).await, [Value::Null; 0]);
    let of_sandbox = events(&app, &token, &format!("{EVENTS}?mode=test&limit=1000&{filter}")).await;
    assert_eq!(of_sandbox, of_test);
    token.get(&format!("{EVENTS}?mode=other")).await.assert_status(422);
}

#[tokio::test]
async fn a_page_examines_a_limited_number_of_events_that_it_leaves_out() {
    let app = TestApp::start().await;
    let sandbox = super::create(&app).await;
    app.clock.advance(Duration::from_millis(1));
    let write = app.begin_write().await;
    let (now, workspace) = (write.now_ms(), sandbox.id.uuid());
    let event = |_| entity::events::Model {
        id: app.app.ids.next::<foundation::id::Event>(app.clock.now()).uuid(),
        workspace_id: workspace,
        event_type: "student.created".to_owned(),
        created_at: now,
        body: b"{}".to_vec(),
        traceparent: None,
        is_test: false,
    };
    let rows = (0..11_000).map(event).collect();
    entity::events::in_workspace(workspace)
        .insert_many(write.conn(), rows)
        .await
        .expect("the rows are inserted");
    write.commit().await.expect("the commit succeeds");
    app.clock.advance(Duration::from_millis(1));
    app.workspace("acme").await.upsert_student("live").await;
    app.clock.advance(Duration::from_millis(1));
    let token = platform_token(&app, "read:events").await;
    let page = token.get(EVENTS).await.assert_status(200).json();
    assert_eq!((&page["data"], &page["pagination"]["has_more"]), (&json!([]), &json!(true)));
    assert_eq!(emails(&events(&app, &token, &format!("{EVENTS}?limit=100")).await), ["live@example.com"]);
}

#[tokio::test]
async fn imports_change_sandboxes_in_the_mode_test_only() {
    let app = TestApp::start().await;
    super::create(&app).await;
    let token = platform_token(&app, "write:changes").await;
    let line = |workspace: &str, change: &str, data: &Value| {
        let id = format!("c-{}", app.next_change_number());
        json!({"change": change, "id": id, "workspace": workspace, "at": "2026-03-01T09:00:00Z", "data": data}).to_string()
    };
    let import = async |parameters: &str, line: String| {
        let request = token.request(reqwest::Method::POST, &format!("/platform/v1/changes{parameters}"));
        let response = crate::support::send(request.header("content-type", NDJSON).body(line)).await;
        let result = response.assert_status(200).json();
        let message = result["errors"][0]["message"].as_str().unwrap_or_default().to_owned();
        let field = result["errors"][0]["field"].as_str().unwrap_or_default().to_owned();
        (result["result"].as_str().expect("a result").to_owned(), field, message)
    };
    let student = json!({"key": "ada", "email": "ada@example.com"});
    for (workspace, parameters, expected) in [
        (KEY, "", "has the mode `test`"),
        (KEY, "?mode=live", "has the mode `test`"),
        ("acme", "?mode=test", "has the mode `live`"),
    ] {
        let (result, field, message) = import(parameters, line(workspace, "student.upsert", &student)).await;
        assert_eq!((&*result, &*field), ("rejected", "workspace"), "{workspace} {parameters}: {message}");
        assert!(message.contains(expected), "{message}");
    }
    for (workspace, parameters) in [(KEY, "?mode=test"), ("acme", "")] {
        assert_eq!(import(parameters, line(workspace, "student.upsert", &student)).await.0, "applied");
    }
    for (parameters, key) in [("", KEY), ("?mode=test", KEY), ("?mode=test", "globex")] {
        let data = json!({"key": key, "name": "Acme", "owner_email": "eve@acme.example"});
        let (result, field, message) = import(parameters, line(key, "workspace.upsert", &data)).await;
        assert_eq!((&*result, &*field), ("rejected", "data/key"), "{parameters}: {message}");
        let expected = if parameters.is_empty() { "that of a test workspace" } else { "without the mode" };
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn a_change_of_a_group_follows_a_reset_of_the_sandbox() {
    let app = TestApp::start().await;
    super::create(&app).await;
    let mut importer = feed::Importer::new(app.app.clone(), domain::workspaces::Mode::Test);
    super::import(&app, &mut importer, &["one", "two"]).await;
    let sandbox = super::reset(&app).await;
    super::import(&app, &mut importer, &["three", "four"]).await;
    let key = sandbox.key("read:students").await;
    for (email, count) in [("one", 0), ("three", 1)] {
        let found = key.get(&format!("/api/v1/students?email={email}%40example.com")).await.ids();
        assert_eq!(found.len(), count, "{email}");
    }
}

#[tokio::test]
async fn a_dashboard_link_leads_to_no_sandbox() {
    let app = TestApp::start().await;
    let sandbox = super::create(&app).await;
    let token = platform_token(&app, "write:dashboard_links").await;
    for workspace in [KEY, &sandbox.id.to_string()] {
        let body = json!({"workspace": workspace, "email": "ada@acme.example"});
        token.post("/platform/v1/dashboard-links", body).await.assert_errors_at(&["body /workspace"]);
    }
    let users = entity::users::in_workspace(sandbox.id.uuid()).list(app.app.db.read()).await;
    assert_eq!(users.expect("the query succeeds"), []);
}
