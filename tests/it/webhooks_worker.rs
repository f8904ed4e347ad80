//! The worker as a whole: all kinds of events, several workers, pauses, rotations, a stop and a kill.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ::webhooks::upkeep;
use domain::outbox::KINDS;
use domain::webhooks::{self, SubscriptionChange};
use entity::webhook_deliveries::{self, Origin};
use foundation::id::Delivery;
use futures_util::future::join_all;
use secrecy::ExposeSecret as _;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Semaphore, oneshot};

use crate::conformance::Contract;
use crate::outage;
use crate::support::{Endpoint, Receiver, Subscribed, TestApp, done, request};

/// How long a story waits for what runs beside it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until this holds.
async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("not in time: {what}"));
}

#[tokio::test]
async fn every_type_of_event_arrives_as_the_contract_says() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    workspace.subscribe_at(&endpoint, KINDS).await;
    crate::events::everything(&workspace, &workspace.full_key().await).await;
    while app.deliver_due().await > 0 {}

    let sent = endpoint.sent();
    assert_eq!(sent.len(), app.events().await.len(), "each event once");
    let kinds: BTreeSet<&str> = sent.iter().map(|sent| sent.header("x-svc-event")).collect();
    assert_eq!(kinds, KINDS.iter().copied().collect());
    let contract = Contract::of(&app).await;
    for sent in &sent {
        let event = sent.event();
        assert_eq!(event["type"], sent.header("x-svc-event"));
        let schema = Contract::event_schema(sent.header("x-svc-event"));
        assert_eq!(contract.faults(&schema, &event), [""; 0], "{event:#}");
        let kind = sent.header("x-svc-event");
        assert_eq!(contract.webhook_header_faults(kind, &sent.headers), [""; 0], "{:#?}", sent.headers);
    }
}

#[tokio::test]
async fn a_pause_holds_and_enabling_sends_in_order() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    workspace.student("before").await;
    subscription.pause().await;
    workspace.student("meanwhile").await;
    assert_eq!(app.deliver_due().await, 0);
    assert_eq!(subscription.standing().await, ["held 0", "held 0"]);
    subscription.enable().await;
    workspace.student("after").await;
    while app.deliver_due().await > 0 {}
    let ids: BTreeSet<String> =
        endpoint.sent().iter().map(|sent| sent.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(subscription.standing().await, ["delivered 1"; 3]);
}

#[tokio::test]
async fn a_rotation_signs_with_both_secrets_until_the_old_one_ends() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    let mut write = app.write().await;
    let overlap = Duration::from_secs(3600);
    let rotated =
        webhooks::rotate(&app.app, &mut write, &app.seal(), workspace.id, subscription.id, overlap).await;
    let newer = rotated.unwrap().secret.expose_secret().to_owned();
    write.commit().await.unwrap();

    workspace.student("ada").await;
    app.deliver_due().await;
    app.clock.advance(Duration::from_secs(3600));
    workspace.student("grace").await;
    app.deliver_due().await;
    let sent = endpoint.sent();
    let now = app.clock.now().as_second();
    assert!(sent[0].is_signed(&subscription.secret, now - 3600) && sent[0].is_signed(&newer, now - 3600));
    assert!(!sent[1].is_signed(&subscription.secret, now) && sent[1].is_signed(&newer, now));
    // The published library agrees; its own look at the clock is left out, since the story's stands still.
    let standard = standardwebhooks::Webhook::new(&newer).unwrap();
    let stamp = sent[0].header("webhook-timestamp").parse().unwrap();
    let signature = standard.sign(sent[0].header("webhook-id"), stamp, &sent[0].body).unwrap();
    let signatures: Vec<&str> = sent[0].header("webhook-signature").split(' ').collect();
    assert_eq!((signatures.len(), signatures[0]), (2, signature.as_str()));
    assert_eq!(sent[1].header("webhook-signature").split(' ').count(), 1);
}

#[tokio::test]
async fn several_workers_send_each_delivery_once() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    for number in 0..100 {
        workspace.student(&format!("s-{number}")).await;
    }
    let (one, other) = (app.worker(), app.worker());
    let (one, other) = tokio::join!(one.deliver_due(), other.deliver_due());
    assert_eq!(one.unwrap() + other.unwrap(), 100);
    let ids: BTreeSet<String> =
        endpoint.sent().iter().map(|sent| sent.header("webhook-id").to_owned()).collect();
    assert_eq!((ids.len(), endpoint.sent().len()), (100, 100));
    assert_eq!(subscription.standing().await, vec!["delivered 1"; 100]);
}

#[tokio::test]
async fn what_waits_for_its_turn_goes_where_its_subscription_wants_it_by_then() {
    let app = TestApp::start_beside_receivers().await;
    // It answers nobody until it is told to, and is being torn down then.
    let gate = Arc::new(Semaphore::new(0));
    let slow = {
        let gate = Arc::clone(&gate);
        Receiver::start(move |mut stream| {
            let gate = Arc::clone(&gate);
            async move {
                request(&mut stream).await;
                gate.acquire().await.expect("it stays open").forget();
                let answer = b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                stream.write_all(answer).await.expect("the worker listens");
            }
        })
        .await
    };
    let workspace = app.workspace("acme").await;
    let subscription =
        workspace.subscribe_to(slow.url("http", "127.0.0.1").into(), &["student.created"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, PATIENCE));
    for number in 0..70 {
        workspace.student(&format!("s-{number}")).await;
    }
    until("64 are under way", async || slow.connections() == 64).await;
    until("the rest waits", async || webhooks::queue(&app.app).await.unwrap().in_flight == 70).await;

    let moved = Endpoint::start().await;
    let change = SubscriptionChange { url: Some(moved.url()), event_types: None };
    done(&app, async |write| webhooks::edit(&app.app, write, workspace.id, subscription.id, change).await)
        .await
        .unwrap();
    let seal = app.seal();
    let rotated = done(&app, async |write| {
        webhooks::rotate(&app.app, write, &seal, workspace.id, subscription.id, Duration::ZERO).await
    });
    let newer = rotated.await.unwrap().secret.expose_secret().to_owned();
    // Longer than the worker believes what it knew when it took them.
    tokio::time::sleep(Duration::from_millis(300)).await;
    gate.add_permits(64);
    until("all arrive where they are wanted", async || moved.sent().len() == 70).await;
    let now = app.clock.now().as_second();
    for sent in moved.sent() {
        assert!(sent.is_signed(&newer, now) && !sent.is_signed(&subscription.secret, now));
    }
    let standing =
        async |how: &str| subscription.standing().await.iter().filter(|standing| *standing == how).count();
    until("what waited took one attempt", async || standing("delivered 1").await == 6).await;
    until("what was refused took another", async || standing("delivered 2").await == 64).await;
    assert_eq!(slow.connections(), 64);
    assert_eq!(subscription.shown().await.failing_since, None, "the old address says nothing of the new one");
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, running).await.expect("it stops").unwrap();
}

#[tokio::test]
async fn a_running_worker_is_woken_and_stops_with_nothing_in_hand() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, PATIENCE));
    let key = workspace.full_key().await;
    key.post("/api/v1/students", json!({"email": "ada@example.com"})).await.assert_status(201);
    until("the delivery arrives and is recorded", async || subscription.standing().await == ["delivered 1"])
        .await;
    workspace.student("grace").await;
    until("the second arrives", async || endpoint.sent().len() == 2).await;
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, running).await.expect("it stops").unwrap();
    assert_eq!(subscription.standing().await, ["delivered 1", "delivered 1"]);
}

/// Writes a delivery that sends the first one again, as another process may: nobody here is told.
async fn one_more_by_another_process(subscription: &Subscribed<'_>) {
    let (app, workspace) = (subscription.workspace.app, subscription.workspace.id);
    let first = subscription.deliveries().await[0].id.uuid();
    let write = app.write().await;
    let deliveries = webhook_deliveries::in_workspace(workspace.uuid());
    let first = deliveries.by_id(write.conn(), first).await.unwrap().unwrap();
    let id = app.app.ids.next::<Delivery>(app.clock.now()).uuid();
    let more = first.again(id, Origin::Replay, true, write.now_ms());
    deliveries.insert(write.conn(), more).await.unwrap();
    write.commit().await.unwrap();
}

#[tokio::test]
async fn what_another_process_committed_is_found_under_a_steady_load() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    let (busy, quiet) = (app.workspace("busy").await, app.workspace("quiet").await);
    busy.subscribe_at(&endpoint, &["student.created"]).await;
    let subscription = quiet.subscribe_at(&endpoint, &["student.created"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, PATIENCE));
    quiet.student_by_change("ada").await;
    until("the first arrives", async || subscription.standing().await == ["delivered 1"]).await;

    let load = join_all((0..8).map(async |client| {
        for number in 0.. {
            busy.student_by_change(&format!("s-{client}-{number}")).await;
        }
    }));
    let found = async {
        until("the load runs", async || endpoint.sent().len() > 50).await;
        one_more_by_another_process(&subscription).await;
        until("it is found", async || subscription.standing().await == ["delivered 1"; 2]).await;
    };
    tokio::select! { _ = load => {} () = found => {} }
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, running).await.expect("it stops").unwrap();
}

#[tokio::test]
async fn what_was_just_committed_is_in_the_worker_s_hand_already() {
    let app = TestApp::start_beside_receivers().await;
    let hangs = crate::support::Receiver::start(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let workspace = app.workspace("acme").await;
    let url = hangs.url("http", "127.0.0.1").into();
    let subscription = workspace.subscribe_to(url, &["student.created"]).await;
    let in_hand = async || webhooks::queue(&app.app).await.unwrap().in_flight;
    workspace.student("nobody-is-there").await;
    assert_eq!(in_hand().await, 0);
    let (stop, stopped) = oneshot::channel::<()>();
    let patience = Duration::from_millis(100);
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, patience));
    until("the worker is there", async || hangs.connections() == 1).await;
    for number in 0..40 {
        workspace.student(&format!("s-{number}")).await;
        if number < 32 {
            assert!(in_hand().await >= number + 2, "it is born leased");
        }
    }
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, running).await.expect("it stops").unwrap();
    assert_eq!(subscription.standing().await, vec!["pending 0"; 41]);
    assert_eq!(in_hand().await, 0, "all is given back");
}

#[tokio::test]
async fn a_worker_that_may_not_wait_gives_back_what_hangs() {
    let app = TestApp::start_beside_receivers().await;
    let hangs = crate::support::Receiver::start(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let workspace = app.workspace("acme").await;
    let subscription =
        workspace.subscribe_to(hangs.url("http", "127.0.0.1").into(), &["student.created"]).await;
    workspace.student("ada").await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running =
        tokio::spawn(app.worker().run(async move { drop(stopped.await) }, Duration::from_millis(100)));
    until("it is in hand", async || hangs.connections() == 1).await;
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, running).await.expect("it stops").unwrap();
    assert_eq!(subscription.standing().await, ["pending 0"]);
    let queue = webhooks::queue(&app.app).await.unwrap();
    assert_eq!((queue.pending, queue.in_flight), (1, 0), "nobody has to wait for the lease to end");
}

#[tokio::test]
async fn the_operator_sees_the_queue_in_the_metrics() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    endpoint.answers([204, 500, 404]);
    let workspace = app.workspace("acme").await;
    workspace.subscribe_at(&endpoint, &["student.created"]).await;
    for number in 0..3 {
        workspace.student(&format!("s-{number}")).await;
    }
    app.deliver_due().await;
    let page = app.get("/metrics").await;
    let page = String::from_utf8_lossy(&page.body).into_owned();
    for line in [
        "webhook_deliveries{state=\"pending\"} 1",
        "webhook_deliveries{state=\"dead\"} 1",
        "webhook_attempts_total{outcome=\"delivered\"}",
        "webhook_attempt_seconds_bucket",
        "webhook_oldest_due_seconds 0",
    ] {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }

    // A look is good for a second. What cannot be looked at is not known, and not what it was.
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    let outage = outage::begin(&app).await;
    let page = app.get("/metrics").await;
    let page = String::from_utf8_lossy(&page.body).into_owned();
    for line in ["webhook_deliveries{state=\"pending\"} NaN", "webhook_oldest_due_seconds NaN"] {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }
    outage.end(&app).await;
}

#[tokio::test]
async fn one_endpoint_that_fails_takes_no_turn_of_the_others() {
    let app = TestApp::start_beside_receivers().await;
    let (healthy, failing) = (Endpoint::start().await, Endpoint::start().await);
    failing.always_answers(500);
    let workspace = app.workspace("acme").await;
    workspace.subscribe_at(&failing, &["student.created"]).await;
    let good = workspace.subscribe_at(&healthy, &["student.created"]).await;
    for number in 0..20 {
        workspace.student(&format!("s-{number}")).await;
    }
    assert_eq!(app.deliver_due().await, 40);
    assert_eq!(good.standing().await, vec!["delivered 1"; 20]);
    assert!(good.shown().await.failing_since.is_none());
}

#[tokio::test]
async fn the_log_is_kept_for_thirty_days_and_what_waits_for_ever() {
    const DAY: Duration = Duration::from_secs(86_400);
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    endpoint.answers([204, 404]);
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_at(&endpoint, &["student.created"]).await;
    workspace.student("delivered").await;
    workspace.student("dead").await;
    app.deliver_due().await;
    subscription.pause().await;
    workspace.student("held").await;

    app.clock.advance(30 * DAY - Duration::from_secs(1));
    upkeep::prune(&app.app).await.unwrap();
    assert_eq!(subscription.standing().await, ["delivered 1", "dead 1", "held 0"]);
    assert_eq!(app.events().await.len(), 3);
    app.clock.advance(Duration::from_millis(1001));
    upkeep::prune(&app.app).await.unwrap();
    assert_eq!(subscription.standing().await, ["held 0"]);
    app.clock.advance(Duration::from_secs(1));
    upkeep::prune(&app.app).await.unwrap();
    assert_eq!(app.events().await.len(), 1, "what is held is still told");
    subscription.enable().await;
    assert_eq!(app.deliver_due().await, 1);
}

#[tokio::test]
async fn an_endpoint_that_hangs_holds_up_nobody_else_and_is_given_back() {
    const MANY: usize = 80;
    let app = TestApp::start_beside_receivers().await;
    let healthy = Endpoint::start().await;
    let hangs = crate::support::Receiver::start(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let workspace = app.workspace("acme").await;
    let url = hangs.url("http", "127.0.0.1").into();
    let hung = workspace.subscribe_to(url, &["student.created"]).await;
    let good = workspace.subscribe_at(&healthy, &["student.created"]).await;
    for number in 0..MANY {
        workspace.student(&format!("s-{number}")).await;
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let patience = Duration::from_millis(100);
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, patience));
    until("all is delivered to the other one", async || good.standing().await == vec!["delivered 1"; MANY])
        .await;
    let queue = webhooks::queue(&app.app).await.unwrap();
    assert!((1..=256).contains(&queue.in_flight), "{queue:?}");
    assert!((1..=64).contains(&hangs.connections()), "{} requests at once", hangs.connections());
    stop.send(()).unwrap();
    tokio::time::timeout(PATIENCE, running).await.expect("it stops").unwrap();
    assert_eq!(hung.standing().await, vec!["pending 0"; MANY]);
    assert_eq!(webhooks::queue(&app.app).await.unwrap().in_flight, 0);
}
