//! The delivery worker: all event types, several workers, pauses, secret rotations, hanging endpoints, and shutdown.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ::webhooks::maintenance;
use domain::outbox::EVENT_TYPES;
use domain::webhooks::{self, SubscriptionChange};
use entity::webhook_deliveries::{self, StoredDeliveryOrigin};
use foundation::id::Delivery;
use futures_util::future::join_all;
use secrecy::ExposeSecret as _;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Semaphore, oneshot};

use crate::support::conformance::ContractValidator;
use crate::support::{
    Endpoint, Receiver, TestApp, TestSubscription, in_transaction, outage, read_request, wait_until,
};

/// The shutdown timeout of a worker, and the maximum time that a test waits for the worker to stop.
const TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn every_event_type_is_delivered_as_in_the_contract() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    workspace.subscribe_endpoint(&endpoint, EVENT_TYPES).await;
    crate::support::events::cause_all_events(&workspace, &workspace.key_with_all_scopes().await).await;
    while app.deliver_due().await > 0 {}

    let requests = endpoint.requests();
    assert_eq!(requests.len(), app.events().await.len(), "each event is sent once");
    let event_types: BTreeSet<&str> = requests.iter().map(|request| request.header("x-svc-event")).collect();
    assert_eq!(event_types, EVENT_TYPES.iter().copied().collect());
    let contract = ContractValidator::fetch(&app).await;
    for request in &requests {
        let event = request.event();
        let event_type = request.header("x-svc-event");
        assert_eq!(event["type"], event_type);
        let schema = ContractValidator::event_schema(event_type);
        assert_eq!(contract.errors(&schema, &event), [""; 0], "{event:#}");
        let header_errors = contract.webhook_header_errors(event_type, &request.headers);
        assert_eq!(header_errors, [""; 0], "{:#?}", request.headers);
    }
}

#[tokio::test]
async fn a_paused_subscription_holds_deliveries_until_it_is_enabled() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    workspace.student("before").await;
    subscription.pause().await;
    workspace.student("meanwhile").await;
    assert_eq!(app.deliver_due().await, 0);
    assert_eq!(subscription.delivery_states().await, ["held 0", "held 0"]);
    subscription.enable().await;
    workspace.student("after").await;
    while app.deliver_due().await > 0 {}
    let ids: BTreeSet<String> =
        endpoint.requests().iter().map(|request| request.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), 3);
    assert_eq!(subscription.delivery_states().await, ["delivered 1"; 3]);
}

#[tokio::test]
async fn after_a_rotation_both_secrets_sign_until_the_old_one_expires() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let mut write = app.begin_write().await;
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
    let requests = endpoint.requests();
    let now = app.clock.now().as_second();
    assert!(
        requests[0].is_signed(&subscription.secret, now - 3600) && requests[0].is_signed(&newer, now - 3600)
    );
    assert!(!requests[1].is_signed(&subscription.secret, now) && requests[1].is_signed(&newer, now));
    // The Standard Webhooks library computes the same signature. It reads the system clock, so the test does not call
    // its `verify`.
    let standard = standardwebhooks::Webhook::new(&newer).unwrap();
    let timestamp = requests[0].header("webhook-timestamp").parse().unwrap();
    let signature = standard.sign(requests[0].header("webhook-id"), timestamp, &requests[0].body).unwrap();
    let signatures: Vec<&str> = requests[0].header("webhook-signature").split(' ').collect();
    assert_eq!((signatures.len(), signatures[0]), (2, signature.as_str()));
    assert_eq!(requests[1].header("webhook-signature").split(' ').count(), 1);
}

#[tokio::test]
async fn several_workers_send_each_delivery_once() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    for number in 0..100 {
        workspace.student(&format!("s-{number}")).await;
    }
    let (first, second) = (app.worker(), app.worker());
    let (first, second) = tokio::join!(first.deliver_due(), second.deliver_due());
    assert_eq!(first.unwrap() + second.unwrap(), 100);
    let ids: BTreeSet<String> =
        endpoint.requests().iter().map(|request| request.header("webhook-id").to_owned()).collect();
    assert_eq!((ids.len(), endpoint.requests().len()), (100, 100));
    assert_eq!(subscription.delivery_states().await, vec!["delivered 1"; 100]);
}

#[tokio::test]
async fn a_delivery_that_waits_for_a_slot_uses_the_current_url_and_secret() {
    let app = TestApp::start_with_local_webhooks().await;
    // Sends no response until the barrier opens, and then 410.
    let barrier = Arc::new(Semaphore::new(0));
    let slow = {
        let barrier = Arc::clone(&barrier);
        Receiver::start(move |mut stream| {
            let barrier = Arc::clone(&barrier);
            async move {
                read_request(&mut stream).await;
                barrier.acquire().await.expect("the barrier stays open").forget();
                let response = b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                stream.write_all(response).await.expect("the worker reads");
            }
        })
        .await
    };
    let workspace = app.workspace("acme").await;
    let subscription =
        workspace.subscribe_url(slow.url("http", "127.0.0.1").into(), &["student.created"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, TIMEOUT));
    for number in 0..70 {
        workspace.student(&format!("s-{number}")).await;
    }
    wait_until("64 requests are in flight", async || slow.connections() == 64).await;
    wait_until("the others are leased", async || {
        webhooks::queue_status(&app.app).await.unwrap().in_flight == 70
    })
    .await;

    let new_endpoint = Endpoint::start().await;
    let change = SubscriptionChange { url: Some(new_endpoint.url()), ..SubscriptionChange::default() };
    in_transaction(&app, async |write| {
        webhooks::edit(&app.app, write, workspace.id, subscription.id, change).await
    })
    .await
    .unwrap();
    let seal = app.seal();
    let rotated = in_transaction(&app, async |write| {
        webhooks::rotate(&app.app, write, &seal, workspace.id, subscription.id, Duration::ZERO).await
    });
    let newer = rotated.await.unwrap().secret.expose_secret().to_owned();
    // Longer than the worker caches a target: the URL and the secrets of a subscription.
    tokio::time::sleep(Duration::from_millis(300)).await;
    barrier.add_permits(64);
    wait_until("all are sent to the new URL", async || new_endpoint.requests().len() == 70).await;
    let now = app.clock.now().as_second();
    for request in new_endpoint.requests() {
        assert!(request.is_signed(&newer, now) && !request.is_signed(&subscription.secret, now));
    }
    let count = async |expected: &str| {
        subscription.delivery_states().await.iter().filter(|state| *state == expected).count()
    };
    wait_until("those that waited took one attempt", async || count("delivered 1").await == 6).await;
    wait_until("those that failed took two attempts", async || count("delivered 2").await == 64).await;
    assert_eq!(slow.connections(), 64);
    assert_eq!(subscription.reload().await.failing_since, None, "failures of the old URL do not count");
    stop.send(()).unwrap();
    tokio::time::timeout(TIMEOUT, running).await.expect("the worker stops").unwrap();
}

#[tokio::test]
async fn a_running_worker_is_woken_by_a_commit_and_stops_after_recording() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, TIMEOUT));
    let key = workspace.key_with_all_scopes().await;
    key.post("/api/v1/students", json!({"email": "ada@example.com"})).await.assert_status(201);
    wait_until("the delivery arrives and is recorded", async || {
        subscription.delivery_states().await == ["delivered 1"]
    })
    .await;
    workspace.student("grace").await;
    wait_until("the second arrives", async || endpoint.requests().len() == 2).await;
    stop.send(()).unwrap();
    tokio::time::timeout(TIMEOUT, running).await.expect("the worker stops").unwrap();
    assert_eq!(subscription.delivery_states().await, ["delivered 1", "delivered 1"]);
}

/// Inserts a delivery that sends the first one again, as another process would: without a wake signal.
async fn resend_from_another_process(subscription: &TestSubscription<'_>) {
    let (app, workspace) = (subscription.workspace.app, subscription.workspace.id);
    let first = subscription.deliveries().await[0].id.uuid();
    let write = app.begin_write().await;
    let deliveries = webhook_deliveries::in_workspace(workspace.uuid());
    let first = deliveries.by_id(write.conn(), first).await.unwrap().unwrap();
    let id = app.app.ids.next::<Delivery>(app.clock.now()).uuid();
    let resent = first.new_copy(id, StoredDeliveryOrigin::Replay, true, write.now_ms());
    deliveries.insert(write.conn(), resent).await.unwrap();
    write.commit().await.unwrap();
}

#[tokio::test]
async fn a_delivery_from_another_process_is_sent_under_constant_load() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    let (busy, quiet) = (app.workspace("busy").await, app.workspace("quiet").await);
    busy.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let subscription = quiet.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, TIMEOUT));
    quiet.upsert_student("ada").await;
    wait_until("the first is delivered", async || subscription.delivery_states().await == ["delivered 1"])
        .await;

    let load = join_all((0..8).map(async |client| {
        for number in 0.. {
            busy.upsert_student(&format!("s-{client}-{number}")).await;
        }
    }));
    let resend = async {
        wait_until("the load is running", async || endpoint.requests().len() > 50).await;
        resend_from_another_process(&subscription).await;
        wait_until("it is delivered", async || subscription.delivery_states().await == ["delivered 1"; 2])
            .await;
    };
    tokio::select! { _ = load => {} () = resend => {} }
    stop.send(()).unwrap();
    tokio::time::timeout(TIMEOUT, running).await.expect("the worker stops").unwrap();
}

#[tokio::test]
async fn a_new_delivery_is_pre_leased_to_the_running_worker() {
    let app = TestApp::start_with_local_webhooks().await;
    let hanging_receiver = crate::support::Receiver::start(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let workspace = app.workspace("acme").await;
    let url = hanging_receiver.url("http", "127.0.0.1").into();
    let subscription = workspace.subscribe_url(url, &["student.created"]).await;
    let in_flight = async || webhooks::queue_status(&app.app).await.unwrap().in_flight;
    workspace.student("before-the-worker").await;
    assert_eq!(in_flight().await, 0);
    let (stop, stopped) = oneshot::channel::<()>();
    let timeout = Duration::from_millis(100);
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, timeout));
    wait_until("the worker is running", async || hanging_receiver.connections() == 1).await;
    for number in 0..40 {
        workspace.student(&format!("s-{number}")).await;
        if number < 32 {
            assert!(in_flight().await >= number + 2, "the delivery is pre-leased");
        }
    }
    stop.send(()).unwrap();
    tokio::time::timeout(TIMEOUT, running).await.expect("the worker stops").unwrap();
    assert_eq!(subscription.delivery_states().await, vec!["pending 0"; 41]);
    assert_eq!(in_flight().await, 0, "all leases are released");
}

#[tokio::test]
async fn a_worker_releases_hanging_deliveries_at_its_shutdown_timeout() {
    let app = TestApp::start_with_local_webhooks().await;
    let hanging_receiver = crate::support::Receiver::start(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let workspace = app.workspace("acme").await;
    let subscription =
        workspace.subscribe_url(hanging_receiver.url("http", "127.0.0.1").into(), &["student.created"]).await;
    workspace.student("ada").await;
    let (stop, stopped) = oneshot::channel::<()>();
    let running =
        tokio::spawn(app.worker().run(async move { drop(stopped.await) }, Duration::from_millis(100)));
    wait_until("the delivery is in flight", async || hanging_receiver.connections() == 1).await;
    stop.send(()).unwrap();
    tokio::time::timeout(TIMEOUT, running).await.expect("the worker stops").unwrap();
    assert_eq!(subscription.delivery_states().await, ["pending 0"]);
    let queue = webhooks::queue_status(&app.app).await.unwrap();
    assert_eq!((queue.pending, queue.in_flight), (1, 0), "the lease is released");
}

#[tokio::test]
async fn the_metrics_show_the_queue() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with([204, 500, 404]);
    let workspace = app.workspace("acme").await;
    workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
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

    // The queue is read at most once a second. Without a database the values are NaN, not the previous ones.
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
async fn a_failing_endpoint_does_not_delay_others() {
    let app = TestApp::start_with_local_webhooks().await;
    let (healthy, failing) = (Endpoint::start().await, Endpoint::start().await);
    failing.always_respond_with(500);
    let workspace = app.workspace("acme").await;
    workspace.subscribe_endpoint(&failing, &["student.created"]).await;
    let healthy_subscription = workspace.subscribe_endpoint(&healthy, &["student.created"]).await;
    for number in 0..20 {
        workspace.student(&format!("s-{number}")).await;
    }
    assert_eq!(app.deliver_due().await, 40);
    assert_eq!(healthy_subscription.delivery_states().await, vec!["delivered 1"; 20]);
    assert!(healthy_subscription.reload().await.failing_since.is_none());
}

#[tokio::test]
async fn settled_deliveries_are_pruned_after_thirty_days_and_held_ones_are_not() {
    const DAY: Duration = Duration::from_secs(86_400);
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with([204, 404]);
    let workspace = app.workspace("acme").await;
    let subscription = workspace.subscribe_endpoint(&endpoint, &["student.created"]).await;
    // One after the other, since deliveries that are due together are sent at the same time.
    for student in ["delivered", "dead"] {
        workspace.student(student).await;
        app.deliver_due().await;
    }
    subscription.pause().await;
    workspace.student("held").await;

    app.clock.advance(30 * DAY - Duration::from_secs(1));
    maintenance::prune(&app.app).await.unwrap();
    assert_eq!(subscription.delivery_states().await, ["delivered 1", "dead 1", "held 0"]);
    assert_eq!(app.events().await.len(), 3);
    app.clock.advance(Duration::from_millis(1001));
    maintenance::prune(&app.app).await.unwrap();
    assert_eq!(subscription.delivery_states().await, ["held 0"]);
    // The event feed needs events a little longer.
    assert_eq!(app.events().await.len(), 3);
    app.clock.advance(Duration::from_secs(2 * 3_600));
    maintenance::prune(&app.app).await.unwrap();
    assert_eq!(app.events().await.len(), 1, "the event of the held delivery remains");
    subscription.enable().await;
    assert_eq!(app.deliver_due().await, 1);
}

#[tokio::test]
async fn a_hanging_endpoint_does_not_delay_others_and_its_deliveries_are_released() {
    const STUDENTS: usize = 80;
    let app = TestApp::start_with_local_webhooks().await;
    let healthy = Endpoint::start().await;
    let hanging_receiver = crate::support::Receiver::start(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let workspace = app.workspace("acme").await;
    let url = hanging_receiver.url("http", "127.0.0.1").into();
    let hanging_subscription = workspace.subscribe_url(url, &["student.created"]).await;
    let healthy_subscription = workspace.subscribe_endpoint(&healthy, &["student.created"]).await;
    for number in 0..STUDENTS {
        workspace.student(&format!("s-{number}")).await;
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let timeout = Duration::from_millis(100);
    let running = tokio::spawn(app.worker().run(async move { drop(stopped.await) }, timeout));
    wait_until("all are delivered to the other endpoint", async || {
        healthy_subscription.delivery_states().await == vec!["delivered 1"; STUDENTS]
    })
    .await;
    let queue = webhooks::queue_status(&app.app).await.unwrap();
    assert!((1..=256).contains(&queue.in_flight), "{queue:?}");
    assert!(
        (1..=64).contains(&hanging_receiver.connections()),
        "{} requests at once",
        hanging_receiver.connections()
    );
    stop.send(()).unwrap();
    tokio::time::timeout(TIMEOUT, running).await.expect("the worker stops").unwrap();
    assert_eq!(hanging_subscription.delivery_states().await, vec!["pending 0"; STUDENTS]);
    assert_eq!(webhooks::queue_status(&app.app).await.unwrap().in_flight, 0);
}
