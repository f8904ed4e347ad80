//! Events and time for tests: `createSandboxEvent`, and `advanceSandboxClock`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::outbox::EVENT_TYPES;
use foundation::clock::Clock;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use super::event_feed::read_count;
use super::{DELIVERIES, EVENTS, SANDBOX_CLOCK, SANDBOX_EVENTS, create, path_of};
use crate::support::conformance::assert_error;
use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{Endpoint, Receiver, TestApp, TestKey, TestResponse, read_request, time, wait_until};

const DAY: u64 = 86_400;

/// Makes an event of this type happen, and returns the response.
async fn cause(key: &TestKey, event_type: &str) -> Value {
    key.post(SANDBOX_EVENTS, json!({"type": event_type})).await.assert_status(201).json()
}

/// Returns the types of the other events of a response.
fn other_types(created: &Value) -> Vec<&str> {
    let others = created["other_events"].as_array().expect("a list");
    others.iter().map(|other| other["event"]["type"].as_str().expect("a type")).collect()
}

/// Returns the status of a request of v1 for the record of an event of this type.
async fn read_record(key: &TestKey, event_type: &str, data: &Value) -> Option<u16> {
    let text = |pointer: &str| data.pointer(pointer).and_then(Value::as_str).expect("an id").to_owned();
    let path = match event_type.split('.').next().expect("a record") {
        "student" => format!("students/{}", text("/id")),
        "enrollment" => format!("students/{}", text("/student/id")),
        "order" => format!("orders/{}", text("/id")),
        "course" => format!("courses/{}", text("/id")),
        // The others exist only in events.
        _ => return None,
    };
    Some(key.get(&format!("/api/v1/{path}")).await.status)
}

#[tokio::test]
async fn an_event_of_each_type_is_listed_delivered_and_readable() {
    let app = TestApp::start_with_local_webhooks().await;
    app.workspace("acme").await.upsert_course("ink", 3).await;
    let acme = app.sandbox("acme").await;
    let endpoint = Endpoint::start().await;
    acme.subscribe_endpoint(&endpoint, EVENT_TYPES).await;
    let key = acme.key_with_all_scopes().await;
    app.clock.advance(Duration::from_millis(1));
    let start = app.clock.now();
    let mut expected = Vec::new();
    for event_type in EVENT_TYPES {
        let created = cause(&key, event_type).await;
        let event = &created["event"];
        assert_eq!(
            (&event["type"], &event["workspace_id"]),
            (&json!(event_type), &json!(acme.id.to_string()))
        );
        let status = read_record(&key, event_type, &event["data"]).await;
        let deleted = (*event_type == "student.deleted").then_some(404);
        assert!(status.is_none() || status == Some(deleted.unwrap_or(200)), "{event_type}: {status:?}");
        let is_new = event_type.starts_with("course.");
        assert_eq!(
            other_types(&created).contains(&"course.published"),
            is_new && *event_type != "course.published"
        );
        let mut items = created["other_events"].as_array().expect("a list").clone();
        items.push(json!({"sequence": created["sequence"], "event": event}));
        items.sort_by_key(|item| item["sequence"].as_str().map(str::to_owned));
        expected.extend(items);
        app.clock.advance(Duration::from_millis(1));
    }
    let listed = read_count(&key, &format!("limit=100&after={start}"), expected.len()).await;
    assert_eq!(listed, expected);
    app.deliver_due().await;
    let requests = endpoint.requests();
    assert!(requests.iter().all(|request| request.header("x-svc-mode") == "test"));
    let received: BTreeSet<String> = requests.iter().map(|request| request.event().to_string()).collect();
    assert_eq!(received, expected.iter().map(|item| item["event"].to_string()).collect());
}

#[tokio::test]
async fn an_empty_sandbox_gets_a_course() {
    let app = TestApp::start().await;
    let key = app.sandbox("acme").await.key_with_all_scopes().await;
    let certificate = cause(&key, "certificate.issued").await;
    assert_eq!(other_types(&certificate), ["course.published", "student.created", "enrollment.created"]);
    let verification_url = certificate["event"]["data"]["verification_url"].as_str();
    assert!(verification_url.is_some_and(|url| url.contains("/certificates/")), "{certificate}");
    // The course is used again.
    let refunded = cause(&key, "order.refunded").await;
    let others = ["student.created", "order.paid", "enrollment.created", "enrollment.revoked"];
    assert_eq!(other_types(&refunded), others);
    let order = &refunded["event"]["data"];
    assert_eq!((&order["total_amount"], &order["refunded_amount"]), (&json!(4900), &json!(4900)));
    let recording = cause(&key, "recording.ready").await;
    assert_eq!(other_types(&recording), ["live_session.started", "live_session.ended"]);
    assert_eq!(recording["event"]["data"]["duration_seconds"], 2700);
}

#[tokio::test]
async fn only_a_key_of_a_sandbox_makes_events_happen() {
    let app = TestApp::start().await;
    let (live, sandbox) = (app.workspace("acme").await, app.sandbox("acme-test").await);
    let key = live.key_with_all_scopes().await;
    let refused = key.post_idempotent(SANDBOX_EVENTS, "k-1", &json!({"type": "order.paid"})).await;
    let message = assert_error(&refused, 403, "forbidden");
    assert!(message.contains("begins with `svc_test_`"), "{message}");

    let key = sandbox.key("write:webhooks").await;
    for (body, message) in [
        (json!({"type": "order.sent"}), "body /type: must be one of `student.created`, "),
        (json!({"type": 1}), "body /type: must be a string"),
        (json!({}), "body /type: is required"),
        (json!({"type": "order.paid", "test": true}), "body /test: is not a field of this body"),
    ] {
        let refused = key.post(SANDBOX_EVENTS, body).await.assert_status(422);
        assert!(refused.errors()[0].starts_with(message), "{:?}", refused.errors());
    }
    assert_error(&sandbox.key("read:webhooks").await.post(SANDBOX_EVENTS, json!({})).await, 403, "forbidden");
    assert!(app.events().await.is_empty());
}

#[tokio::test]
async fn a_repeated_request_changes_nothing_and_concurrent_ones_do_not_conflict() {
    let app = TestApp::start().await;
    let key = app.sandbox("acme").await.key_with_all_scopes().await;
    let body = json!({"type": "order.paid"});
    let first = key.post_idempotent(SANDBOX_EVENTS, "k-1", &body).await.assert_status(201);
    let count = app.events().await.len();
    let repeat = key.post_idempotent(SANDBOX_EVENTS, "k-1", &body).await.assert_status(201);
    assert_eq!((first.body, repeat.header("idempotent-replayed")), (repeat.body.clone(), "true"));
    assert_eq!(app.events().await.len(), count);

    let created = join_all((0..12).map(|_| cause(&key, "order.refunded"))).await;
    let ids: BTreeSet<&str> = created.iter().filter_map(|created| created["event"]["id"].as_str()).collect();
    assert_eq!((ids.len(), app.events_of_type("order.paid").await.len()), (12, 13));
    assert_eq!(key.list_all("/api/v1/orders?limit=5").await.len(), 13);
}

async fn advance(key: &TestKey, seconds: u64) -> TestResponse {
    key.post(SANDBOX_CLOCK, json!({"advance_seconds": seconds})).await
}

#[tokio::test]
async fn the_clock_advances_once_for_each_request_and_within_limits() {
    let app = TestApp::start_adjustable(&[]).await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let before = app.clock.now();
    let body = json!({"advance_seconds": 90 * DAY});
    let first = key.post_idempotent(SANDBOX_CLOCK, "k-1", &body).await.assert_status(200);
    let now = before + Duration::from_secs(90 * DAY);
    assert_eq!(first.json()["advanced_seconds"], 90 * DAY);
    assert_eq!(time(&first.json()["now"]), now);
    let repeat = key.post_idempotent(SANDBOX_CLOCK, "k-1", &body).await.assert_status(200);
    assert_eq!((repeat.body, app.clock.now()), (first.body, now));

    for seconds in [json!(0), json!(-60), json!(90 * DAY + 1), json!(1_000_000_000_000_i64), json!(1.5)] {
        let refused = key.post(SANDBOX_CLOCK, json!({"advance_seconds": seconds})).await;
        refused.assert_errors_at(&["body /advance_seconds"]);
    }
    for total in [180, 270, 360] {
        let advanced = advance(&key, 90 * DAY).await.assert_status(200).json();
        assert_eq!(advanced["advanced_seconds"], total * DAY);
    }
    let refused = advance(&key, 7 * DAY).await;
    let limit = "body /advance_seconds: must be at most 518400: the clock can be advanced by 31622400 seconds in total";
    assert!(refused.errors()[0].starts_with(limit), "{:?}", refused.errors());
    assert_eq!(advance(&key, 6 * DAY).await.assert_status(200).json()["advanced_seconds"], 366 * DAY);
    advance(&key, 1).await.assert_errors_at(&["body /advance_seconds"]);
}

#[tokio::test]
async fn the_clock_of_an_ordinary_server_cannot_be_advanced() {
    let app = TestApp::start().await;
    let (key, before) = (app.sandbox("acme").await.key_with_all_scopes().await, app.clock.now());
    let message = assert_error(&advance(&key, 60).await, 403, "forbidden");
    assert!(message.contains("`creator-api serve --ephemeral`"), "{message}");
    assert_eq!(app.clock.now(), before);
}

#[tokio::test]
async fn a_delivery_in_progress_is_not_sent_again_when_the_clock_advances() {
    let app = TestApp::start_adjustable(&[]).await;
    let acme = app.workspace("acme").await;
    acme.subscribe(&["student.created"]).await;
    acme.upsert_student("ada").await;
    app.claim_and_crash().await;
    let key = acme.key_with_all_scopes().await;
    advance(&key, DAY).await.assert_status(200);
    assert_eq!(app.deliver_due().await, 0, "its lease is still valid");
    app.clock.advance(Duration::from_secs(60));
    assert_eq!(app.deliver_due().await, 1);
}

/// Starts a server with `--ephemeral`, and returns its key, which has limits that no test exhausts.
async fn start_ephemeral(program: &TestProgram) -> (ServerProcess, TestKey) {
    let limits = ["--default-per-minute", "100000", "--default-per-day", "1000000"];
    let arguments = [&["serve", "--ephemeral", "--listen", "127.0.0.1:0"][..], &limits].concat();
    let mut server = program.start_server(program.command(&arguments)).await;
    let mut line = String::new();
    server.stdout.read_line(&mut line).await.expect("stdout can be read");
    let key = server.key(&program.app, line.trim().strip_prefix("API key ").expect("a key"));
    (server, key)
}

/// Waits until the only delivery of the type has this number of attempts.
async fn wait_for_attempts(key: &TestKey, event_type: &str, attempts: u64) {
    let path = format!("{DELIVERIES}?event_type={event_type}");
    wait_until(&format!("{attempts} attempts"), async || {
        let deliveries = key.get(&path).await.assert_status(200).json();
        assert!(deliveries["data"].as_array().is_some_and(|list| list.len() == 1), "{deliveries}");
        deliveries["data"][0]["attempts"] == attempts
    })
    .await;
}

#[tokio::test]
async fn a_webhook_is_retried_and_disabled_after_seven_days_that_pass_in_seconds() {
    let program = TestProgram::new().await;
    let (server, key) = start_ephemeral(&program).await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(500);
    let webhook = create(&key, json!({"url": endpoint.url(), "event_types": ["certificate.issued"]})).await;
    let started = Instant::now();
    cause(&key, "certificate.issued").await;
    wait_for_attempts(&key, "certificate.issued", 1).await;
    for (delay, attempts) in [(60, 2), (300, 3), (1800, 4), (7200, 5), (21_600, 6)] {
        advance(&key, delay).await.assert_status(200);
        wait_for_attempts(&key, "certificate.issued", attempts).await;
    }
    let state = async || key.get(&path_of(&webhook)).await.assert_status(200).json()["state"].clone();
    assert_eq!(state().await, "enabled");
    let advanced = advance(&key, 7 * DAY).await.assert_status(200).json();
    assert_eq!(advanced["advanced_seconds"], 30_960 + 7 * DAY);
    wait_until("the webhook is disabled", async || state().await == "disabled").await;
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());

    let requests = endpoint.requests();
    assert_eq!(requests.len(), 7);
    let (secret, now) = (webhook["secret"].as_str().expect("a secret"), Clock::system().now().as_second());
    assert!(requests.iter().all(|request| request.is_signed(secret, now)), "receivers accept the signatures");
    let events = key.get(&format!("{EVENTS}?type=certificate.issued")).await.assert_status(200).json();
    assert!(!events["data"].as_array().expect("a list").is_empty());
    assert_eq!(server.stop().await, Some(0));

    let server = program.serve(&["serve"]).await;
    let key = server.key(&program.app, &program.create_key("write:webhooks").await);
    assert_error(&advance(&key, 60).await, 403, "forbidden");
}

#[tokio::test]
async fn an_attempt_that_runs_while_the_clock_advances_is_recorded_and_the_only_one() {
    let program = TestProgram::new().await;
    let (server, key) = start_ephemeral(&program).await;
    let (arrived, released) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = (Arc::clone(&arrived), Arc::clone(&released));
    let receiver = Receiver::start(move |mut stream| {
        let (arrived, released) = signals.clone();
        async move {
            read_request(&mut stream).await;
            arrived.notify_one();
            released.notified().await;
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await;
        }
    })
    .await;
    let url = receiver.url("http", "127.0.0.1").to_string();
    create(&key, json!({"url": url, "event_types": ["certificate.issued"]})).await;
    cause(&key, "certificate.issued").await;
    arrived.notified().await;
    advance(&key, DAY).await.assert_status(200);
    // The worker has claimed what is due: the delivery of another event arrives.
    cause(&key, "certificate.issued").await;
    arrived.notified().await;
    released.notify_one();
    released.notify_one();
    wait_until("both are delivered", async || {
        released.notify_one();
        let path = format!("{DELIVERIES}?event_type=certificate.issued&state=delivered");
        key.get(&path).await.assert_status(200).ids().len() == 2
    })
    .await;
    assert_eq!(receiver.connections(), 2, "each delivery was sent once");
    assert_eq!(server.stop().await, Some(0));
}
