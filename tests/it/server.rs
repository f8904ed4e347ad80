//! What stands around the API: its documents, the health checks, an outage, the end of a version.

use api::error::Code;
use api::generated::document;
use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::json;

use crate::conformance::assert_error;
use crate::outage;
use crate::support::{TestApp, send};

#[tokio::test]
async fn the_contract_is_served_byte_for_byte() {
    let app = TestApp::start().await;
    let yaml = include_str!("../../openapi/v1.yaml");
    let json = include_str!("../../src/api/generated/v1.json");
    let twin = include_str!("../../src/api/generated/v1.openapi-3.0.json");
    let files = [
        ("v1.yaml", yaml, "application/yaml; charset=utf-8"),
        ("v1.json", json, "application/json"),
        ("v1.openapi-3.0.json", twin, "application/json"),
    ];
    for (name, text, media_type) in files {
        let path = format!("/openapi/{name}");
        let served = app.get(&path).await.assert_status(200);
        assert!(served.body == text.as_bytes(), "{name} is not the repository's file");
        assert_eq!(served.header("content-type"), media_type);

        let head = send(app.request(Method::HEAD, &path)).await.assert_status(200);
        assert_eq!((head.body.len(), head.header("content-length")), (0, text.len().to_string().as_str()));
        let held = app.request(Method::GET, &path).header("if-none-match", served.header("etag"));
        send(held).await.assert_status(304);
        let packed = app.request(Method::GET, &path).header("accept-encoding", "br");
        let packed = send(packed).await.assert_status(200);
        assert!(packed.header("content-encoding") == "br" && packed.body.len() < text.len() / 4);
    }
    assert_eq!(document::YAML, yaml);
    app.get("/openapi/v2.yaml").await.assert_status(404);
    app.get("/openapi/../Cargo.toml").await.assert_status(404);
}

#[tokio::test]
async fn swagger_ui_opens_on_the_contract() {
    let app = TestApp::start().await;
    let moved = app.get("/docs").await;
    assert_eq!((moved.status, moved.header("location")), (308, "/docs/"));
    assert_eq!(app.get("/").await.header("location"), "/docs/");

    let page = app.get("/docs/").await.assert_status(200);
    let html = String::from_utf8(page.body).unwrap();
    assert!(html.contains("swagger-ui"), "{html}");
    let initializer = app.get("/docs/swagger-initializer.js").await.assert_status(200);
    assert!(String::from_utf8_lossy(&initializer.body).contains("/openapi/v1.json"));
    for file in ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"] {
        assert!(html.contains(file), "{file}");
        assert!(app.get(&format!("/docs/{file}")).await.assert_status(200).body.len() > 1_000);
    }
    app.get("/docs/nothing.js").await.assert_status(404);
    app.get("/docs/%2e%2e/%2e%2e/Cargo.toml").await.assert_status(404);
    send(app.request(Method::POST, "/docs/")).await.assert_status(405);
}

#[tokio::test]
async fn every_error_leads_to_its_place_on_the_page_of_errors() {
    let app = TestApp::start().await;
    let page = app.get("/docs/errors").await.assert_status(200);
    assert!(page.header("content-type").starts_with("text/html"));
    let html = String::from_utf8(page.body).unwrap();
    for code in Code::ALL {
        assert!(html.contains(&format!("id=\"{}\"", code.as_str())), "{}", code.as_str());
    }
    let refused = app.get("/api/v1/courses").await;
    assert_eq!(refused.json()["error"]["doc_url"], "http://api.test/docs/errors#unauthorized");
    let app = TestApp::start_with(&[("public_url", "https://api.example.com/base/")]).await;
    let refused = app.get("/api/v1/courses").await;
    assert_eq!(refused.json()["error"]["doc_url"], "https://api.example.com/base/docs/errors#unauthorized");
}

#[tokio::test]
async fn a_server_that_can_answer_is_alive_and_ready() {
    let app = TestApp::start().await;
    for path in ["/healthz", "/readyz"] {
        app.get(path).await.assert_status(200);
        assert!(send(app.request(Method::HEAD, path)).await.assert_status(200).body.is_empty());
        send(app.request(Method::POST, path)).await.assert_status(405);
    }
}

#[tokio::test]
async fn an_outage_of_the_database_is_told_and_survived() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.full_key().await;
    key.get("/api/v1/courses").await.assert_status(200);
    let ada = serde_json::json!({"email": "ada@example.com"});

    let outage = outage::begin(&app).await;
    let mut answers = vec![key.get("/api/v1/students").await, key.get("/api/v1/analytics/summary").await];
    answers.push(key.post("/api/v1/students", ada.clone()).await);
    answers.push(key.post_once("/api/v1/students", "k-1", &ada).await);
    for answer in &answers {
        let message = assert_error(answer, 500, "internal_error");
        assert_eq!(message, "The server failed to answer this request.");
        let body = String::from_utf8_lossy(&answer.body).to_lowercase();
        for cause in ["sql", "table", "database", "connection", "courses", "students_gone"] {
            assert!(!body.contains(cause), "{body}");
        }
    }
    app.get("/healthz").await.assert_status(200);
    let unready = app.get("/readyz").await;
    assert_eq!(unready.status, 503);
    // What needs no database is answered.
    key.get("/api/v1/nothing").await.assert_status(404);
    app.get("/openapi/v1.json").await.assert_status(200);

    outage.end(&app).await;
    app.get("/readyz").await.assert_status(200);
    // Nothing was half-written, and the idempotency key is not spent on a 500.
    assert!(key.get("/api/v1/students").await.assert_status(200).ids().is_empty());
    let again = key.post_once("/api/v1/students", "k-1", &ada).await.assert_status(201);
    assert_eq!(again.header("idempotent-replayed"), "");
    assert_eq!(app.events_of("student.created").await.len(), 1);
}

#[tokio::test]
async fn a_key_that_cannot_be_looked_up_is_no_fault_of_the_caller() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let outage = outage::begin(&app).await;
    assert_error(&key.get("/api/v1/courses").await, 500, "internal_error");
    // One that is wrong in itself needs no database.
    let guess = send(app.request(Method::GET, "/api/v1/courses").bearer_auth("svc_live_guess")).await;
    assert_error(&guess, 401, "unauthorized");
    outage.end(&app).await;
    key.get("/api/v1/courses").await.assert_status(200);
}

#[tokio::test]
async fn every_operation_makes_do_with_one_connection() {
    // Only PostgreSQL tells: on SQLite, reads have connections beside that of the write.
    let app = TestApp::start_with(&[("database_max_connections", "1")]).await;
    let acme = app.workspace("acme").await;
    let (course, student) = (acme.course("ink", 2).await, acme.student("bob").await);
    let key = acme.full_key().await;
    let ada = json!({"email": "ada@example.com"});
    let pair = json!({"studentId": student, "courseId": course});
    for eve in [201, 422] {
        key.post_once("/api/v1/students", "ada", &ada).await.assert_status(201);
        key.post_once("/api/v1/enrollments", "pair", &pair).await.assert_status(201);
        key.post("/api/v1/students", json!({"email": "eve@example.com"})).await.assert_status(eve);
    }
    let lists = ["courses", "students", "orders", "analytics/summary"];
    for path in lists.map(str::to_owned).into_iter().chain([format!("courses/{course}")]) {
        key.get(&format!("/api/v1/{path}")).await.assert_status(200);
    }
}

#[tokio::test]
async fn a_full_disk_is_the_server_s_fault_and_costs_nothing_that_was_kept() {
    let app = TestApp::start().await;
    if app.has_many_writers() {
        // PostgreSQL's disk is its own affair, and cannot be filled for one database alone.
        return;
    }
    let key = app.workspace("acme").await.full_key().await;
    let new = |n: usize| serde_json::json!({"email": format!("s{n}@example.com"), "name": "x".repeat(200)});
    key.post("/api/v1/students", new(0)).await.assert_status(201);

    // The file may not grow any more.
    limit_pages(&app, "1").await;
    let mut made = 1;
    let refused = loop {
        let answer = key.post("/api/v1/students", new(made)).await;
        if answer.status != 201 {
            break answer;
        }
        made += 1;
        assert!(made < 10_000, "the disk is never full");
    };
    assert_error(&refused, 500, "internal_error");
    assert_eq!(key.all("/api/v1/students?limit=100").await.len(), made, "reading goes on");
    assert_eq!(app.events_of("student.created").await.len(), made);

    limit_pages(&app, "4294967294").await;
    key.post("/api/v1/students", new(made)).await.assert_status(201);
    assert_eq!(app.events_of("student.created").await.len(), made + 1);
}

/// Sets how many pages the SQLite file may have; fewer than it has means those it has.
async fn limit_pages(app: &TestApp, pages: &str) {
    let write = app.write().await;
    let pragma = format!("PRAGMA max_page_count = {pages}");
    write.conn().execute_unprepared(&pragma).await.expect("the limit is set");
    write.commit().await.expect("the limit is kept");
}

#[tokio::test]
async fn a_database_file_that_was_moved_away_makes_the_server_unready() {
    let app = TestApp::start().await;
    if app.has_many_writers() {
        // There is no file; the outage above is the same for PostgreSQL.
        return;
    }
    let (file, away) = (app.folder().join("creator-api.db"), app.folder().join("away.db"));
    std::fs::rename(&file, &away).unwrap();
    let unready = app.get("/readyz").await.assert_status(503);
    assert_eq!(String::from_utf8_lossy(&unready.body), "the database does not answer\n");
    app.get("/healthz").await.assert_status(200);
    std::fs::rename(&away, &file).unwrap();
    app.get("/readyz").await.assert_status(200);
}

#[tokio::test]
async fn a_version_with_an_end_says_so_on_every_answer() {
    let settings = [
        ("deprecation_at", "2026-03-01T00:00:00Z"),
        ("sunset_at", "2026-09-01T00:00:00Z"),
        ("deprecation_link", "https://docs.example.com/v2"),
    ];
    let app = TestApp::start_with(&settings).await;
    let workspace = app.workspace("acme").await;
    let key = workspace.full_key().await;
    for n in 0..2 {
        workspace.course(&format!("c{n}"), 1).await;
    }
    let paged = key.get("/api/v1/courses?limit=1").await.assert_status(200);
    let links: Vec<&str> = paged.headers.get_all("link").iter().map(|link| link.to_str().unwrap()).collect();
    assert_eq!(links.len(), 2, "{links:?}");
    assert!(links[0].ends_with("rel=\"next\""), "{links:?}");

    let held = key.request(Method::GET, "/api/v1/courses").header("if-none-match", "*");
    let answers = [
        paged,
        send(held).await.assert_status(304),
        key.get("/api/v1/nothing").await.assert_status(404),
        key.post("/api/v1/students", serde_json::json!({})).await.assert_status(422),
        app.get("/api/v1/courses").await.assert_status(401),
    ];
    for answer in answers {
        // 2026-03-01T00:00:00Z, and half a year later.
        assert_eq!(answer.header("deprecation"), "@1772323200");
        assert_eq!(answer.header("sunset"), "Tue, 01 Sep 2026 00:00:00 GMT");
        let links: Vec<&str> =
            answer.headers.get_all("link").iter().map(|link| link.to_str().unwrap()).collect();
        let told = links.iter().any(|link| {
            link.starts_with("<https://docs.example.com/v2>") && link.contains("rel=\"deprecation\"")
        });
        assert!(told, "{links:?}");
    }
}

#[tokio::test]
async fn a_version_without_an_end_says_nothing_of_one() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let answer = key.get("/api/v1/courses").await.assert_status(200);
    assert_eq!([answer.header("deprecation"), answer.header("sunset"), answer.header("link")], ["", "", ""]);
}
