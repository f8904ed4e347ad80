//! The states of a delivery: sent immediately, retried after a failure, dead-lettered after the last attempt, held
//! while paused.

use std::sync::Arc;
use std::time::Duration;

use domain::webhooks::{self, SubscriptionChange, SubscriptionState};
use foundation::database::Write;
use insta::assert_json_snapshot;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;

use crate::support::{Endpoint, Receiver, TestApp, in_transaction, read_request};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
const STUDENTS: &str = "/api/v1/students";

#[tokio::test]
async fn an_event_is_delivered_signed_with_all_headers() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let key = workspace.key_with_all_scopes().await;
    key.post(STUDENTS, json!({"email": "ada@example.com"})).await.assert_status(201);

    assert_eq!(app.deliver_due().await, 1);
    let request = &endpoint.requests()[0];
    assert_eq!(request.body, app.event_bodies().await[0], "the stored bytes are sent");
    assert!(request.is_signed(&subscription.secret, app.clock.now().as_second()));
    let event = request.event();
    assert_eq!(event["type"], "student.created");
    assert_eq!(request.header("x-svc-event"), "student.created");
    assert_eq!(request.header("webhook-id"), event["id"]);
    assert_eq!(request.header("webhook-timestamp"), app.clock.now().as_second().to_string());
    assert_eq!(request.header("x-svc-delivery"), subscription.deliveries().await[0].id.to_string());
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(app.deliver_due().await, 0, "a delivered event is not sent again");
}

/// Starts a receiver that notifies the first signal when a request arrives, and responds when the second signal is
/// notified.
async fn receiver_with_late_response(response: &'static [u8]) -> (Receiver, Arc<Notify>, Arc<Notify>) {
    let (arrived, respond) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = (Arc::clone(&arrived), Arc::clone(&respond));
    let slow = Receiver::start(move |mut stream| {
        let (arrived, respond) = signals.clone();
        async move {
            read_request(&mut stream).await;
            arrived.notify_one();
            respond.notified().await;
            stream.write_all(response).await.expect("the worker reads");
        }
    });
    (slow.await, arrived, respond)
}

#[tokio::test]
async fn a_failure_at_the_old_url_of_a_paused_subscription_is_held_for_the_new_url() {
    let app = TestApp::start_with_local_webhooks().await;
    let (old, arrived, respond) =
        receiver_with_late_response(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .await;
    let new = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let url = old.url("http", "127.0.0.1").into();
    let subscription = workspace.subscribe_url(url, &["student.created"]).await;
    workspace.student("ada").await;
    let edit_and_pause = async {
        arrived.notified().await;
        let change = SubscriptionChange { url: Some(new.url()), ..SubscriptionChange::default() };
        let edited = async |write: &mut Write| {
            webhooks::edit(&app.app, write, workspace.id, subscription.id, change).await
        };
        in_transaction(&app, edited).await.expect("the edit succeeds");
        subscription.pause().await;
        respond.notify_one();
    };
    tokio::join!(app.deliver_due(), edit_and_pause);
    assert_eq!(subscription.delivery_states().await, ["held 1"]);
    subscription.enable().await;
    assert_eq!(app.deliver_due().await, 1);
    assert_eq!(
        (subscription.delivery_states().await, new.requests().len()),
        (vec!["delivered 2".to_owned()], 1)
    );
}

#[tokio::test]
async fn a_delivery_that_fails_after_a_pause_is_held() {
    let app = TestApp::start_with_local_webhooks().await;
    let (slow, arrived, respond) =
        receiver_with_late_response(b"HTTP/1.1 500 Sorry\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .await;
    let workspace = app.workspace("acme").await;
    let url = slow.url("http", "127.0.0.1").into();
    let subscription = workspace.subscribe_url(url, &["student.created"]).await;
    workspace.student("ada").await;
    let pause = async {
        arrived.notified().await;
        subscription.pause().await;
        respond.notify_one();
    };
    tokio::join!(app.deliver_due(), pause);
    assert_eq!(subscription.delivery_states().await, ["held 1"]);

    app.clock.advance(MINUTE / 2);
    subscription.enable().await;
    assert_eq!(subscription.delivery_states().await, ["pending 1"]);
    assert_eq!(app.deliver_due().await, 0, "the delay of the retry continues");
    subscription.pause().await;
    subscription.enable().await;
    app.clock.advance(MINUTE / 2 - Duration::from_millis(1));
    assert_eq!(app.deliver_due().await, 0);
    app.clock.advance(Duration::from_millis(1));
    respond.notify_one();
    assert_eq!(app.deliver_due().await, 1);
}

#[tokio::test]
async fn deliveries_follow_the_clock_after_it_was_set_back_over_a_restart() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with([200, 500, 200]);
    let workspace = app.workspace("acme").await;
    workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let key = workspace.key_with_all_scopes().await;
    key.post(STUDENTS, json!({"email": "ada@example.com"})).await.assert_status(201);
    assert_eq!(app.deliver_due().await, 1);

    app.clock.set(app.clock.now() - HOUR);
    let app = app.restart().await;
    let key = app.key_with_secret(key.id.clone(), key.secret.clone());
    // Changes are recorded ahead of the clock now, but nothing is due later for that.
    key.post(STUDENTS, json!({"email": "bob@example.com"})).await.assert_status(201);
    assert_eq!(app.deliver_due().await, 1);
    app.clock.advance(MINUTE);
    assert_eq!(app.deliver_due().await, 1);
    assert_eq!(endpoint.requests().len(), 3);
}

#[tokio::test]
async fn a_failed_delivery_is_dead_after_seven_attempts() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(500);
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    workspace.student("ada").await;

    assert_eq!(app.deliver_due().await, 1);
    let delays = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 24 * HOUR];
    for (index, delay) in delays.into_iter().enumerate() {
        app.clock.advance(delay - Duration::from_millis(1));
        assert_eq!(app.deliver_due().await, 0, "attempt {} is not due yet", index + 2);
        app.clock.advance(Duration::from_millis(1));
        assert_eq!(app.deliver_due().await, 1, "attempt {} is due", index + 2);
    }
    app.clock.advance(30 * DAY);
    assert_eq!(app.deliver_due().await, 0);

    let requests = endpoint.requests();
    assert_eq!(requests.len(), 7);
    let ids: Vec<&str> = requests.iter().map(|request| request.header("x-svc-delivery")).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "the delivery's id stays the same");
    let timestamps: Vec<i64> =
        requests.iter().map(|request| request.header("webhook-timestamp").parse().unwrap()).collect();
    let minutes: Vec<i64> = timestamps.iter().map(|timestamp| (timestamp - timestamps[0]) / 60).collect();
    assert_eq!(minutes, [0, 1, 6, 36, 156, 516, 1956]);
    for (request, timestamp) in requests.iter().zip(timestamps) {
        assert!(request.is_signed(&subscription.secret, timestamp), "each attempt has a new signature");
    }
    assert_eq!(subscription.delivery_states().await, ["dead 7"]);
}

#[tokio::test]
async fn the_status_decides_the_state_of_the_delivery() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let statuses =
        [200, 201, 204, 299, 301, 302, 307, 400, 401, 404, 408, 410, 422, 429, 500, 502, 503, 504, 599];
    endpoint.respond_with(statuses);
    for number in 0..statuses.len() {
        workspace.student(&format!("s-{number}")).await;
        app.deliver_due().await;
    }
    let mut states: Vec<String> = subscription
        .deliveries()
        .await
        .iter()
        .map(|delivery| format!("{} {}", delivery.attempts[0].status.unwrap_or_default(), delivery.state))
        .collect();
    states.sort();
    assert_json_snapshot!(states);
}

#[tokio::test]
async fn retry_after_can_lengthen_a_delay_and_not_shorten_it() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    workspace.student("ada").await;
    endpoint.respond_with_header(503, "retry-after: 90");
    endpoint.respond_with_header(429, "retry-after: 1");
    app.deliver_due().await;
    app.clock.advance(Duration::from_secs(89));
    assert_eq!(app.deliver_due().await, 0);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(app.deliver_due().await, 1);
    app.clock.advance(5 * MINUTE - Duration::from_secs(1));
    assert_eq!(app.deliver_due().await, 0);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(app.deliver_due().await, 1);
    assert_eq!(endpoint.requests().len(), 3);
}

#[tokio::test]
async fn a_subscription_is_disabled_after_seven_days_of_failures_without_a_success() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_respond_with(500);
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let fail = async |name: &str| {
        workspace.student(name).await;
        app.deliver_due().await;
    };

    fail("day-0").await;
    app.clock.advance(6 * DAY);
    endpoint.respond_with([204, 204]);
    fail("day-6").await;
    assert_eq!(subscription.reload().await.state, SubscriptionState::Enabled);
    assert_eq!(app.mails().await.len(), 0, "nothing failed between day 0 and the success of day 6");

    app.clock.advance(DAY);
    fail("again-0").await;
    app.clock.advance(3 * DAY);
    fail("again-3").await;
    fail("again-3b").await;
    assert_eq!(app.mails().await.len(), 1, "one warning");
    app.clock.advance(4 * DAY - Duration::from_millis(1));
    fail("again-6").await;
    assert_eq!(subscription.reload().await.state, SubscriptionState::Enabled);
    app.clock.advance(Duration::from_millis(1));
    fail("again-7").await;
    assert_eq!(subscription.reload().await.state, SubscriptionState::Disabled);
    let mails = app.mails().await;
    assert_eq!(mails.len(), 2);
    assert_eq!(mails[1].recipient, "owner@acme.example");

    // Events are held until the owner has fixed the endpoint and enabled the subscription.
    let request_count = endpoint.requests().len();
    workspace.student("held").await;
    app.clock.advance(DAY);
    assert_eq!(app.deliver_due().await, 0);
    endpoint.always_respond_with(204);
    subscription.enable().await;
    assert!(app.deliver_due().await > 0);
    assert!(endpoint.requests().len() > request_count);
    let states = subscription.delivery_states().await;
    assert!(states.iter().all(|state| state.starts_with("delivered")), "{states:?}");
    assert_eq!(app.mails().await.len(), 2);
}

#[tokio::test]
async fn the_mail_of_a_disabled_subscription_links_to_the_server_if_its_url_is_known() {
    for (setting, base_url) in [
        (("public_url", "https://school.example/"), Some("https://school.example")),
        (("listen", "127.0.0.1:9090"), Some("http://127.0.0.1:9090")),
        (("listen", "127.0.0.1:0"), None),
        (("listen", "0.0.0.0:8080"), None),
        (("listen", "[::]:8080"), None),
    ] {
        let app = TestApp::start_with(&[("webhook_allow", "127.0.0.0/8"), setting]).await;
        let endpoint = Endpoint::start().await;
        endpoint.always_respond_with(500);
        let workspace = app.workspace("acme").await;
        let subscription_id = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await.id;
        for student in ["day-0", "day-7"] {
            workspace.student(student).await;
            app.deliver_due().await;
            app.clock.advance(7 * DAY);
        }
        let text = app.mails().await.remove(0).text_body;
        let command = format!("\n    creator-api webhooks enable {subscription_id}\n");
        match base_url {
            Some(base_url) => {
                let page = format!("\n    {base_url}/dashboard/developer/webhooks/{subscription_id}\n");
                assert!(text.contains(&page) && !text.contains(&command), "{setting:?}: {text}");
            }
            None => assert!(text.contains(&command) && !text.contains("/dashboard"), "{setting:?}: {text}"),
        }
    }
}

#[tokio::test]
async fn the_delivery_of_a_killed_worker_is_sent_after_its_lease_expires() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    workspace.student("ada").await;
    // A worker claims the delivery and is killed before it records a result.
    app.claim_and_crash().await;
    assert_eq!(app.deliver_due().await, 0, "the lease is still valid");
    app.clock.advance(MINUTE);
    assert_eq!(app.deliver_due().await, 1);
    assert_eq!(subscription.delivery_states().await, ["delivered 1"]);
}
