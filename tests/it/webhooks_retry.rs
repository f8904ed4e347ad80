//! Deliveries from the change to the outcome: sent at once, retried after a failure, dead in the end, held while paused.

use std::sync::Arc;
use std::time::Duration;

use domain::webhooks::{self, SubscriptionChange, SubscriptionState};
use foundation::database::Write;
use insta::assert_json_snapshot;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;

use crate::support::{Endpoint, Receiver, TestApp, in_transaction, request};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
const STUDENTS: &str = "/api/v1/students";

#[tokio::test]
async fn a_change_is_delivered_signed_with_all_headers() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    let key = workspace.full_key().await;
    key.post(STUDENTS, json!({"email": "ada@example.com"})).await.assert_status(201);

    assert_eq!(app.deliver_due().await, 1);
    let sent = &endpoint.sent()[0];
    assert_eq!(sent.body, app.bodies().await[0], "the stored bytes are sent");
    assert!(sent.is_signed(&subscription.secret, app.clock.now().as_second()));
    let event = sent.event();
    assert_eq!(event["type"], "student.created");
    assert_eq!(sent.header("x-svc-event"), "student.created");
    assert_eq!(sent.header("webhook-id"), event["id"]);
    assert_eq!(sent.header("webhook-timestamp"), app.clock.now().as_second().to_string());
    assert_eq!(sent.header("x-svc-delivery"), subscription.deliveries().await[0].id.to_string());
    assert_eq!(sent.header("content-type"), "application/json");
    assert_eq!(app.deliver_due().await, 0, "a delivered event is not sent again");
}

/// A receiver that sends this response after the second signal. It notifies the first one when a request arrives.
async fn receiver_with_late_response(response: &'static [u8]) -> (Receiver, Arc<Notify>, Arc<Notify>) {
    let (asked, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let both = (Arc::clone(&asked), Arc::clone(&go));
    let slow = Receiver::start(move |mut stream| {
        let (asked, go) = both.clone();
        async move {
            request(&mut stream).await;
            asked.notify_one();
            go.notified().await;
            stream.write_all(response).await.expect("the worker reads");
        }
    });
    (slow.await, asked, go)
}

#[tokio::test]
async fn a_failure_at_the_old_url_of_a_paused_subscription_is_held_for_the_new_url() {
    let app = TestApp::start_beside_receivers().await;
    let (old, asked, go) =
        receiver_with_late_response(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .await;
    let new = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let url = old.url("http", "127.0.0.1").into();
    let subscription = workspace.subscribe_to(url, &["student.created"]).await;
    workspace.student("ada").await;
    let edit_and_pause = async {
        asked.notified().await;
        let change = SubscriptionChange { url: Some(new.url()), event_types: None };
        let edited = async |write: &mut Write| {
            webhooks::edit(&app.app, write, workspace.id, subscription.id, change).await
        };
        in_transaction(&app, edited).await.expect("the edit succeeds");
        subscription.pause().await;
        go.notify_one();
    };
    tokio::join!(app.deliver_due(), edit_and_pause);
    assert_eq!(subscription.delivery_states().await, ["held 1"]);
    subscription.enable().await;
    assert_eq!(app.deliver_due().await, 1);
    assert_eq!((subscription.delivery_states().await, new.sent().len()), (vec!["delivered 2".to_owned()], 1));
}

#[tokio::test]
async fn a_delivery_that_fails_after_a_pause_is_held() {
    let app = TestApp::start_beside_receivers().await;
    let (slow, asked, go) =
        receiver_with_late_response(b"HTTP/1.1 500 Sorry\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .await;
    let workspace = app.workspace("acme").await;
    let url = slow.url("http", "127.0.0.1").into();
    let subscription = workspace.subscribe_to(url, &["student.created"]).await;
    workspace.student("ada").await;
    let pause = async {
        asked.notified().await;
        subscription.pause().await;
        go.notify_one();
    };
    tokio::join!(app.deliver_due(), pause);
    assert_eq!(subscription.delivery_states().await, ["held 1"]);

    app.clock.advance(MINUTE / 2);
    subscription.enable().await;
    assert_eq!(subscription.delivery_states().await, ["pending 1"]);
    assert_eq!(app.deliver_due().await, 0, "its delay continues");
    subscription.pause().await;
    subscription.enable().await;
    app.clock.advance(MINUTE / 2 - Duration::from_millis(1));
    assert_eq!(app.deliver_due().await, 0);
    app.clock.advance(Duration::from_millis(1));
    go.notify_one();
    assert_eq!(app.deliver_due().await, 1);
}

#[tokio::test]
async fn a_failed_delivery_is_dead_after_seven_attempts() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_answers(500);
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
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

    let sent = endpoint.sent();
    assert_eq!(sent.len(), 7);
    let ids: Vec<&str> = sent.iter().map(|sent| sent.header("x-svc-delivery")).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "the delivery's id stays the same");
    let stamps: Vec<i64> =
        sent.iter().map(|sent| sent.header("webhook-timestamp").parse().unwrap()).collect();
    let minutes: Vec<i64> = stamps.iter().map(|stamp| (stamp - stamps[0]) / 60).collect();
    assert_eq!(minutes, [0, 1, 6, 36, 156, 516, 1956]);
    for (sent, stamp) in sent.iter().zip(stamps) {
        assert!(sent.is_signed(&subscription.secret, stamp), "each attempt has a new signature");
    }
    assert_eq!(subscription.delivery_states().await, ["dead 7"]);
}

#[tokio::test]
async fn the_status_decides_the_state_of_the_delivery() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    let statuses =
        [200, 201, 204, 299, 301, 302, 307, 400, 401, 404, 408, 410, 422, 429, 500, 502, 503, 504, 599];
    endpoint.answers(statuses);
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
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    workspace.subscribe_at(&endpoint, &["student.created"]).await;
    workspace.student("ada").await;
    endpoint.answers_with(503, "retry-after: 90");
    endpoint.answers_with(429, "retry-after: 1");
    app.deliver_due().await;
    app.clock.advance(Duration::from_secs(89));
    assert_eq!(app.deliver_due().await, 0);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(app.deliver_due().await, 1);
    app.clock.advance(5 * MINUTE - Duration::from_secs(1));
    assert_eq!(app.deliver_due().await, 0);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(app.deliver_due().await, 1);
    assert_eq!(endpoint.sent().len(), 3);
}

#[tokio::test]
async fn a_subscription_is_disabled_after_seven_days_of_failures_without_a_success() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    endpoint.always_answers(500);
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    let fail = async |name: &str| {
        workspace.student(name).await;
        app.deliver_due().await;
    };

    fail("day-0").await;
    app.clock.advance(6 * DAY);
    endpoint.answers([204, 204]);
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
    let sent = endpoint.sent().len();
    workspace.student("held").await;
    app.clock.advance(DAY);
    assert_eq!(app.deliver_due().await, 0);
    endpoint.always_answers(204);
    subscription.enable().await;
    assert!(app.deliver_due().await > 0);
    assert!(endpoint.sent().len() > sent);
    let states = subscription.delivery_states().await;
    assert!(states.iter().all(|state| state.starts_with("delivered")), "{states:?}");
    assert_eq!(app.mails().await.len(), 2);
}

#[tokio::test]
async fn the_mail_of_a_disabled_subscription_links_to_the_server_if_its_url_is_known() {
    for (setting, address) in [
        (("public_url", "https://school.example/"), Some("https://school.example")),
        (("listen", "127.0.0.1:9090"), Some("http://127.0.0.1:9090")),
        (("listen", "127.0.0.1:0"), None),
        (("listen", "0.0.0.0:8080"), None),
        (("listen", "[::]:8080"), None),
    ] {
        let app = TestApp::start_with(&[("webhook_allow", "127.0.0.0/8"), setting]).await;
        let endpoint = Endpoint::start().await;
        endpoint.always_answers(500);
        let workspace = app.workspace("acme").await;
        let of = workspace.subscribe_at(&endpoint, &["student.created"]).await.id;
        for student in ["day-0", "day-7"] {
            workspace.student(student).await;
            app.deliver_due().await;
            app.clock.advance(7 * DAY);
        }
        let text = app.mails().await.remove(0).text_body;
        let command = format!("\n    creator-api webhooks enable {of}\n");
        match address {
            Some(address) => {
                let page = format!("\n    {address}/dashboard/developer/webhooks/{of}\n");
                assert!(text.contains(&page) && !text.contains(&command), "{setting:?}: {text}");
            }
            None => assert!(text.contains(&command) && !text.contains("/dashboard"), "{setting:?}: {text}"),
        }
    }
}

#[tokio::test]
async fn the_delivery_of_a_killed_worker_is_sent_after_its_lease_expires() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    workspace.student("ada").await;
    // A worker claims the delivery and is killed before it records a result.
    app.claim_and_crash().await;
    assert_eq!(app.deliver_due().await, 0, "the lease is still valid");
    app.clock.advance(MINUTE);
    assert_eq!(app.deliver_due().await, 1);
    assert_eq!(subscription.delivery_states().await, ["delivered 1"]);
}
