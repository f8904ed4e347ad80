//! The metrics of each kind of process are those of the reference, and no client determines a label.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use foundation::telemetry::metrics::{METRICS, MetricKind, ProcessKind};
use reqwest::header::HeaderValue;
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};
use serde_json::json;

use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{Endpoint, skip, wait_until};

/// Metrics that a test does not see: they depend on a shared limit store, or on failures.
const CONDITIONAL: [&str; 2] = ["rate_limit_store_available", "rate_limit_store_duration_seconds"];

/// A scraped page: the type of each metric, and the values of each label.
#[derive(Debug, Default)]
struct Scrape {
    types: BTreeMap<String, String>,
    labels: BTreeMap<(String, String), BTreeSet<String>>,
    text: String,
}

async fn scrape(program: &TestProgram, process: &ServerProcess) -> Scrape {
    let response = program.app.http.get(format!("{}/metrics", process.base_url)).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = response.text().await.unwrap();
    let mut scrape = Scrape { text: text.clone(), ..Scrape::default() };
    for line in text.lines() {
        if let Some(declaration) = line.strip_prefix("# TYPE ") {
            let (name, kind) = declaration.split_once(' ').unwrap();
            scrape.types.insert(name.to_owned(), kind.to_owned());
        }
        let Some((name, labels)) = line.split_once('{') else { continue };
        let name =
            ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
        let (labels, _) = labels.rsplit_once('}').unwrap();
        for label in labels.split("\",") {
            let (label, value) = label.split_once("=\"").unwrap();
            if label != "le" {
                let values = scrape.labels.entry((name.to_owned(), label.to_owned())).or_default();
                values.insert(value.trim_end_matches('"').to_owned());
            }
        }
    }
    scrape
}

/// Asserts that a scrape contains the metrics of the reference and no others, with their types and label values.
fn assert_complete(scrape: &Scrape, process: ProcessKind) {
    let expected =
        METRICS.iter().filter(|metric| metric.is_in(process) && !CONDITIONAL.contains(&metric.name));
    for metric in expected {
        let kind = scrape.types.get(metric.name);
        // A histogram without values has no lines.
        assert!(
            kind.is_some_and(|kind| kind == metric.kind.name())
                || kind.is_none() && metric.kind == MetricKind::Histogram,
            "{}: {kind:?} in\n{}",
            metric.name,
            scrape.text
        );
    }
    for name in scrape.types.keys() {
        let metric = METRICS.iter().find(|metric| metric.name == name);
        assert!(metric.is_some_and(|metric| metric.is_in(process)), "{name} is not in the reference");
    }
    for ((name, label), values) in &scrape.labels {
        let metric = METRICS.iter().find(|metric| metric.name == name).unwrap();
        let declared = metric.labels.iter().find(|(declared, _)| declared == label);
        let (_, declared) = declared.unwrap_or_else(|| panic!("{name} has an undeclared label {label}"));
        assert!(
            declared.is_empty() || values.iter().all(|value| declared.contains(&value.as_str())),
            "{name} {label}: {values:?}"
        );
    }
}

#[tokio::test]
async fn each_kind_of_process_has_the_metrics_of_the_reference() {
    let program = TestProgram::new().await;
    let secret = program.create_key("read:courses,write:students").await;
    let server = program.serve(&["serve", "--no-worker"]).await;
    let worker = program.serve(&["worker", "--metrics-listen", "127.0.0.1:0"]).await;
    let key = server.key(&program.app, &secret);
    key.get("/api/v1/courses").await.assert_status(200);
    key.get("/api/v1/orders").await.assert_status(403);
    key.get("/api/v1/students/stu_x").await.assert_status(403);
    key.get("/api/v1/courses?limit=x").await.assert_status(422);
    key.post("/api/v1/students", json!({"email": "ada@example.com"})).await.assert_status(201);
    server.key(&program.app, "svc_live_unknown").get("/api/v1/courses").await.assert_status(401);

    let of_server = scrape(&program, &server).await;
    assert_complete(&of_server, ProcessKind::Server);
    for line in [
        "http_server_request_duration_seconds_count{operation=\"listCourses\",status=\"2xx\"} 1",
        "http_server_request_duration_seconds_count{operation=\"listCourses\",status=\"4xx\"} 2",
        "http_server_request_duration_seconds_count{operation=\"listOrders\",status=\"4xx\"} 1",
        "http_server_request_duration_seconds_count{operation=\"getStudent\",status=\"4xx\"} 1",
        "http_server_request_duration_seconds_count{operation=\"createStudent\",status=\"2xx\"} 1",
        "api_rejected_requests_total{reason=\"unauthorized\"} 1",
        "api_rejected_requests_total{reason=\"forbidden\"} 2",
        "api_rejected_requests_total{reason=\"day_limit\"} 0",
        "events_appended_total 1",
        "http_server_active_requests 1",
    ] {
        assert!(of_server.text.lines().any(|found| found == line), "{line} is not in\n{}", of_server.text);
    }
    let of_worker = scrape(&program, &worker).await;
    assert_complete(&of_worker, ProcessKind::Worker);
    let newest = migration::MIGRATIONS.last().expect("a migration").name;
    let schema_version = format!("database_schema_version {}", newest[1..5].trim_start_matches('0'));
    assert!(of_worker.text.lines().any(|line| line == schema_version), "{}", of_worker.text);
    assert!(of_worker.types.contains_key("database_call_duration_seconds"), "{}", of_worker.text);
    assert_eq!((server.stop().await, worker.stop().await), (Some(0), Some(0)));
}

#[tokio::test]
async fn the_demo_has_the_metrics_of_the_reference() {
    let program = TestProgram::new().await;
    let demo = program.serve(&["demo"]).await;
    let secret = program.create_key("write:students").await;
    let receiver = Endpoint::start().await;
    let url = receiver.url();
    let create = ["webhooks", "create", "--workspace", "acme", "--url", &url, "--event", "student.created"];
    let mut create = program.command(&create);
    create.env("CREATOR_API_WEBHOOK_ALLOW", "127.0.0.0/8");
    let created = program.run_command(create).await;
    assert_eq!(created.code, Some(0), "{created:?}");
    let key = demo.key(&program.app, &secret);
    key.post("/api/v1/students", json!({"email": "ada@example.com"})).await.assert_status(201);
    let has_delivered = async || {
        let text = scrape(&program, &demo).await.text;
        let prefix = "webhook_attempts_total{outcome=\"delivered\"} ";
        text.lines().find_map(|line| line.strip_prefix(prefix)).is_some_and(|count| count != "0")
    };
    wait_until("the demo has sent a webhook", has_delivered).await;
    let of_demo = scrape(&program, &demo).await;
    assert_complete(&of_demo, ProcessKind::Server);
    assert!(of_demo.types.contains_key("webhook_attempt_seconds"), "{}", of_demo.text);
    assert_eq!(demo.stop().await, Some(0));
}

#[tokio::test]
async fn no_client_determines_a_label() {
    let program = TestProgram::new().await;
    let server = program.serve(&["serve", "--no-worker"]).await;
    let http = &program.app.http;
    for path in ["/api/v1/injected", "/injected", "/dashboard/injected", "/api/v9/injected"] {
        let request = http.get(format!("{}{path}?injected=1", server.base_url));
        let request =
            request.header("user-agent", "injected").header("host", HeaderValue::from_static("injected"));
        request.bearer_auth("svc_live_injected").send().await.unwrap();
        let method = reqwest::Method::from_bytes(b"INJECTED").unwrap();
        http.request(method, format!("{}{path}", server.base_url)).send().await.unwrap();
    }
    let scrapes = futures_util::future::join_all((0..50).map(|_| scrape(&program, &server))).await;
    for scrape in scrapes {
        assert_complete(&scrape, ProcessKind::Server);
        assert!(!scrape.text.to_lowercase().contains("injected"), "{}", scrape.text);
    }
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn the_metrics_of_the_process_are_served_while_the_database_is_slow() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only: reads of SQLite do not wait for locks");
    }
    let server = program.serve(&["serve", "--no-worker"]).await;
    let before = scrape(&program, &server).await.text;
    assert!(before.contains("\ndatabase_available 1\n"), "{before}");
    let other = sea_orm::Database::connect(program.app.database_url()).await.unwrap();
    let lock = other.begin().await.unwrap();
    lock.execute_unprepared("LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE").await.unwrap();
    // The gauges are reused for one second.
    let is_read = async || {
        let start = Instant::now();
        let during = scrape(&program, &server).await.text;
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert!(during.contains("\ndatabase_available 1\n"), "{during}");
        start.elapsed() > Duration::from_millis(400)
    };
    wait_until("the server reads the gauges of the locked table", is_read).await;
    lock.rollback().await.unwrap();
    assert_eq!(server.stop().await, Some(0));
}
