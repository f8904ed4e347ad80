//! The contract documents, health checks, database outages, and deprecated versions.

use api::error::ApiErrorCode;
use api::generated::document;
use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::json;

use crate::support::conformance::assert_error;
use crate::support::{TestApp, outage, send, skip};

#[tokio::test]
async fn the_contract_is_served_byte_for_byte() {
    let app = TestApp::start().await;
    let yaml = include_str!("../../openapi/v1.yaml");
    let json = include_str!("../../src/api/generated/v1.json");
    let downgraded = include_str!("../../src/api/generated/v1.openapi-3.0.json");
    let for_clients = include_str!("../../src/api/generated/v1.clients.json");
    let for_clients_3_0 = include_str!("../../src/api/generated/v1.clients.openapi-3.0.json");
    let files = [
        ("v1.yaml", yaml, "application/yaml; charset=utf-8"),
        ("v1.json", json, "application/json"),
        ("v1.openapi-3.0.json", downgraded, "application/json"),
        ("v1.clients.json", for_clients, "application/json"),
        ("v1.clients.openapi-3.0.json", for_clients_3_0, "application/json"),
    ];
    for (name, text, media_type) in files {
        let path = format!("/openapi/{name}");
        let served = app.get(&path).await.assert_status(200);
        assert!(served.body == text.as_bytes(), "{name} is not the repository's file");
        assert_eq!(served.header("content-type"), media_type);

        let head = send(app.request(Method::HEAD, &path)).await.assert_status(200);
        assert_eq!((head.body.len(), head.header("content-length")), (0, text.len().to_string().as_str()));
        let conditional_request =
            app.request(Method::GET, &path).header("if-none-match", served.header("etag"));
        send(conditional_request).await.assert_status(304);
        let compressed = app.request(Method::GET, &path).header("accept-encoding", "br");
        let compressed = send(compressed).await.assert_status(200);
        assert!(compressed.header("content-encoding") == "br" && compressed.body.len() < text.len() / 4);
    }
    assert_eq!(document::YAML, yaml);
    app.get("/openapi/v2.yaml").await.assert_status(404);
    app.get("/openapi/../Cargo.toml").await.assert_status(404);
}

#[tokio::test]
async fn the_root_leads_to_the_documentation() {
    let app = TestApp::start().await;
    let redirect = app.get("/").await;
    assert_eq!((redirect.status, redirect.header("location")), (308, "/docs/"));
    for path in ["/docs/reference", "/docs/reference/developer", "/docs/reference/platform"] {
        let page = app.get(path).await.assert_status(200);
        assert!(String::from_utf8_lossy(&page.body).contains("swagger-ui"), "{path}");
    }
}

#[tokio::test]
async fn every_error_links_to_its_section_of_the_error_page() {
    let app = TestApp::start().await;
    let page = app.get("/docs/errors").await.assert_status(200);
    assert!(page.header("content-type").starts_with("text/html"));
    let html = String::from_utf8(page.body).unwrap();
    for code in ApiErrorCode::ALL {
        assert!(html.contains(&format!("id=\"{}\"", code.as_str())), "{}", code.as_str());
    }
    let rejected = app.get("/api/v1/courses").await;
    assert_eq!(rejected.json()["error"]["doc_url"], "http://api.test/docs/errors#unauthorized");
    let app = TestApp::start_with(&[("public_url", "https://api.example.com/base/")]).await;
    let rejected = app.get("/api/v1/courses").await;
    assert_eq!(rejected.json()["error"]["doc_url"], "https://api.example.com/base/docs/errors#unauthorized");
}

#[tokio::test]
async fn a_running_server_is_alive_and_ready() {
    let app = TestApp::start().await;
    for path in ["/healthz", "/readyz"] {
        app.get(path).await.assert_status(200);
        assert!(send(app.request(Method::HEAD, path)).await.assert_status(200).body.is_empty());
        send(app.request(Method::POST, path)).await.assert_status(405);
    }
}

#[tokio::test]
async fn the_server_reports_a_database_outage_and_recovers() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    key.get("/api/v1/courses").await.assert_status(200);
    let ada = serde_json::json!({"email": "ada@example.com"});

    let outage = outage::begin(&app).await;
    let mut responses = vec![key.get("/api/v1/students").await, key.get("/api/v1/analytics/summary").await];
    responses.push(key.post("/api/v1/students", ada.clone()).await);
    responses.push(key.post_idempotent("/api/v1/students", "k-1", &ada).await);
    for response in &responses {
        let message = assert_error(response, 500, "internal_error");
        assert_eq!(message, "The server encountered an internal error.");
        let body = String::from_utf8_lossy(&response.body).to_lowercase();
        for cause in ["sql", "table", "database", "connection", "courses", "students_gone"] {
            assert!(!body.contains(cause), "{body}");
        }
    }
    app.get("/healthz").await.assert_status(200);
    let unready = app.get("/readyz").await;
    assert_eq!(unready.status, 503);
    // Requests that need no database succeed.
    key.get("/api/v1/nothing").await.assert_status(404);
    app.get("/openapi/v1.json").await.assert_status(200);

    outage.end(&app).await;
    app.get("/readyz").await.assert_status(200);
    // Nothing was partially written, and a 500 does not use up the idempotency key.
    assert!(key.get("/api/v1/students").await.assert_status(200).ids().is_empty());
    let repeat = key.post_idempotent("/api/v1/students", "k-1", &ada).await.assert_status(201);
    assert_eq!(repeat.header("idempotent-replayed"), "");
    assert_eq!(app.events_of_type("student.created").await.len(), 1);
}

#[tokio::test]
async fn a_failed_key_lookup_is_a_server_error() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let outage = outage::begin(&app).await;
    assert_error(&key.get("/api/v1/courses").await, 500, "internal_error");
    // An invalid key needs no database.
    let guess = send(app.request(Method::GET, "/api/v1/courses").bearer_auth("svc_live_guess")).await;
    assert_error(&guess, 401, "unauthorized");
    outage.end(&app).await;
    key.get("/api/v1/courses").await.assert_status(200);
}

#[tokio::test]
async fn every_operation_works_with_one_database_connection() {
    // This can fail on PostgreSQL only. On SQLite, reads and writes use separate connections.
    let app = TestApp::start_with(&[("database_max_connections", "1")]).await;
    let acme = app.workspace("acme").await;
    let (course, student) = (acme.course("ink", 2).await, acme.student("bob").await);
    let key = acme.key_with_all_scopes().await;
    let ada = json!({"email": "ada@example.com"});
    let enrollment = json!({"studentId": student, "courseId": course});
    for second_status in [201, 422] {
        key.post_idempotent("/api/v1/students", "ada", &ada).await.assert_status(201);
        key.post_idempotent("/api/v1/enrollments", "enrollment", &enrollment).await.assert_status(201);
        key.post("/api/v1/students", json!({"email": "eve@example.com"})).await.assert_status(second_status);
    }
    let lists = ["courses", "students", "orders", "analytics/summary"];
    for path in lists.map(str::to_owned).into_iter().chain([format!("courses/{course}")]) {
        key.get(&format!("/api/v1/{path}")).await.assert_status(200);
    }
}

#[tokio::test]
async fn a_full_disk_is_a_server_error_and_loses_no_data() {
    let app = TestApp::start().await;
    if app.uses_postgres() {
        return skip("SQLite only: on PostgreSQL, a test cannot limit the size of one database");
    }
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let new = |n: usize| serde_json::json!({"email": format!("s{n}@example.com"), "name": "x".repeat(200)});
    key.post("/api/v1/students", new(0)).await.assert_status(201);

    // The file cannot grow any more.
    set_max_pages(&app, "1").await;
    let mut count = 1;
    let rejected = loop {
        let response = key.post("/api/v1/students", new(count)).await;
        if response.status != 201 {
            break response;
        }
        count += 1;
        assert!(count < 10_000, "the disk is not full yet");
    };
    assert_error(&rejected, 500, "internal_error");
    assert_eq!(key.list_all("/api/v1/students?limit=100").await.len(), count, "reads still work");
    assert_eq!(app.events_of_type("student.created").await.len(), count);

    set_max_pages(&app, "4294967294").await;
    key.post("/api/v1/students", new(count)).await.assert_status(201);
    assert_eq!(app.events_of_type("student.created").await.len(), count + 1);
}

/// Sets the maximum number of pages of the SQLite file. A value below the current size keeps the current size.
async fn set_max_pages(app: &TestApp, pages: &str) {
    let write = app.begin_write().await;
    let pragma = format!("PRAGMA max_page_count = {pages}");
    write.conn().execute_unprepared(&pragma).await.expect("the limit is set");
    write.commit().await.expect("the limit is committed");
}

#[tokio::test]
async fn the_server_is_unready_while_its_database_file_is_moved() {
    let app = TestApp::start().await;
    if app.uses_postgres() {
        return skip(
            "SQLite only: a PostgreSQL database is not a file of the server. Its outage is tested above",
        );
    }
    let (file, moved) = (app.folder().join("creator-api.db"), app.folder().join("moved.db"));
    std::fs::rename(&file, &moved).unwrap();
    let unready = app.get("/readyz").await.assert_status(503);
    assert_eq!(String::from_utf8_lossy(&unready.body), "the database is not available\n");
    app.get("/healthz").await.assert_status(200);
    std::fs::rename(&moved, &file).unwrap();
    app.get("/readyz").await.assert_status(200);
}

#[tokio::test]
async fn a_deprecated_version_sends_deprecation_headers() {
    let settings = [
        ("deprecation_at", "2026-03-01T00:00:00Z"),
        ("sunset_at", "2026-09-01T00:00:00Z"),
        ("deprecation_link", "https://docs.example.com/v2"),
    ];
    let app = TestApp::start_with(&settings).await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    for n in 0..2 {
        workspace.course(&format!("c{n}"), 1).await;
    }
    let paged = key.get("/api/v1/courses?limit=1").await.assert_status(200);
    let links: Vec<&str> = paged.headers.get_all("link").iter().map(|link| link.to_str().unwrap()).collect();
    assert_eq!(links.len(), 2, "{links:?}");
    assert!(links[0].ends_with("rel=\"next\""), "{links:?}");

    let conditional_request = key.request(Method::GET, "/api/v1/courses").header("if-none-match", "*");
    let responses = [
        paged,
        send(conditional_request).await.assert_status(304),
        key.get("/api/v1/nothing").await.assert_status(404),
        key.post("/api/v1/students", serde_json::json!({})).await.assert_status(422),
        app.get("/api/v1/courses").await.assert_status(401),
    ];
    for response in responses {
        // 2026-03-01T00:00:00Z, and half a year later.
        assert_eq!(response.header("deprecation"), "@1772323200");
        assert_eq!(response.header("sunset"), "Tue, 01 Sep 2026 00:00:00 GMT");
        let links: Vec<&str> =
            response.headers.get_all("link").iter().map(|link| link.to_str().unwrap()).collect();
        let has_link = links.iter().any(|link| {
            link.starts_with("<https://docs.example.com/v2>") && link.contains("rel=\"deprecation\"")
        });
        assert!(has_link, "{links:?}");
    }
}

#[tokio::test]
async fn a_current_version_sends_no_deprecation_headers() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let response = key.get("/api/v1/courses").await.assert_status(200);
    assert_eq!(
        [response.header("deprecation"), response.header("sunset"), response.header("link")],
        ["", "", ""]
    );
}

#[tokio::test]
async fn the_icon_is_served_at_the_path_that_browsers_request() {
    let app = TestApp::start().await;
    let icon = app.get("/favicon.ico").await.assert_status(200);
    assert_eq!(icon.header("content-type"), "image/svg+xml");
    assert!(icon.body.starts_with(b"<svg"));
}
