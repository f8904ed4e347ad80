//! Deliveries from before a reset or a deletion are not sent afterwards, and do no harm.

use std::sync::Arc;
use std::time::Duration;

use entity::webhook_deliveries::queue::{self, QueueCounts};
use entity::webhook_subscriptions::{self, ActiveModel};
use foundation::id::SubscriptionId;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::sync::{Semaphore, mpsc, oneshot};
use webhooks::maintenance;

use crate::support::{Endpoint, Receiver, TestApp, TestKey, TestWorkspace, read_request, wait_until};

const DAY: Duration = Duration::from_hours(24);

async fn create_student(key: &TestKey, email: &str) {
    key.post("/api/v1/students", json!({"email": email})).await.assert_status(201);
}

/// A receiver that reports each request, and responds with 500 when the test lets it.
struct SlowReceiver {
    receiver: Receiver,
    arrived: mpsc::UnboundedReceiver<()>,
    /// A response needs a permit.
    respond: Arc<Semaphore>,
}

impl SlowReceiver {
    async fn start() -> Self {
        let (arrival, arrived) = mpsc::unbounded_channel();
        let respond = Arc::new(Semaphore::new(0));
        let may_respond = Arc::clone(&respond);
        let receiver = Receiver::start(move |mut stream| {
            let (arrival, respond) = (arrival.clone(), Arc::clone(&may_respond));
            async move {
                read_request(&mut stream).await;
                let _ = arrival.send(());
                respond.acquire().await.expect("the semaphore is open").forget();
                let response =
                    b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _ = stream.write_all(response).await;
            }
        })
        .await;
        Self { receiver, arrived, respond }
    }
}

/// Lets a subscription fail since eight days, so that the next failure disables it and notifies the owner.
async fn fail_for_days(workspace: &TestWorkspace<'_>, subscription: SubscriptionId) {
    let since = workspace.app.clock.now().as_millisecond() - 8 * DAY.as_millis() as i64;
    let changes = ActiveModel { failing_since: entity::Set(Some(since)), ..Default::default() };
    let write = workspace.app.begin_write().await;
    let rows = webhook_subscriptions::in_workspace(workspace.id.uuid());
    assert!(rows.update(write.conn(), subscription.uuid(), changes).await.expect("an update"));
    write.commit().await.expect("the commit succeeds");
}

#[tokio::test]
async fn nothing_that_happened_before_a_reset_is_sent_afterwards() {
    let app = TestApp::start_with_local_webhooks().await;
    let sandbox = super::create(&app).await;
    let key = sandbox.key("write:students").await;
    let endpoint = Endpoint::start().await;
    let subscription = sandbox.subscribe_endpoint(&endpoint, &["student.created"]).await;
    // One delivery is to be retried, one is leased by a worker that was killed, and one is due.
    endpoint.respond_with([500]);
    create_student(&key, "retried@example.com").await;
    assert_eq!(app.deliver_due().await, 1);
    create_student(&key, "leased@example.com").await;
    app.claim_and_crash().await;
    create_student(&key, "due@example.com").await;

    let sandbox = super::reset(&app).await;
    create_student(&key, "new@example.com").await;
    for _ in 0..3 {
        app.deliver_due().await;
        app.clock.advance(DAY);
    }
    let sent: Vec<_> =
        endpoint.requests().iter().map(|request| request.event()["data"]["email"].clone()).collect();
    assert_eq!(sent, ["retried@example.com", "new@example.com"]);
    assert_eq!(sandbox.deliveries(subscription.id).await.len(), 1);
    let deliveries = queue::counts(app.app.db.read(), 0).await.expect("counts");
    assert_eq!((deliveries.pending, deliveries.held, deliveries.dead), (0, 0, 0));
}

#[tokio::test]
async fn a_delivery_in_flight_at_a_reset_does_not_count_for_the_webhook() {
    let app = TestApp::start_with_local_webhooks().await;
    let sandbox = super::create(&app).await;
    let key = sandbox.key("write:students").await;
    let mut slow = SlowReceiver::start().await;
    let url = slow.receiver.url("http", "127.0.0.1").to_string();
    let subscription = sandbox.subscribe_url(url, &["student.created"]).await;
    fail_for_days(&sandbox, subscription.id).await;
    create_student(&key, "first@example.com").await;
    let worker = app.worker();
    let sending = tokio::spawn(async move { worker.deliver_due().await.expect("the deliveries are sent") });
    slow.arrived.recv().await.expect("a request");
    let sandbox = super::reset(&app).await;
    slow.respond.add_permits(1);
    assert_eq!(sending.await.expect("no panic"), 1);
    let webhook =
        domain::webhooks::get(&app.app, sandbox.id, subscription.id).await.expect("the webhook stays");
    assert_eq!(webhook.state.as_str(), "enabled");
    assert_eq!(super::mails(&app).await, [""; 0]);
    app.clock.advance(DAY);
    assert_eq!(app.deliver_due().await, 0, "it is not retried");

    // The failure of a later delivery counts.
    create_student(&key, "second@example.com").await;
    slow.respond.add_permits(1);
    app.deliver_due().await;
    assert_eq!(super::mails(&app).await, ["owner@acme.example webhook_disabled"]);
}

/// What ends a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Reset,
    Deleted,
}

/// Ends the sandbox while a worker delivers 70 events to a slow endpoint, which receives at most 64 requests at a time.
async fn assert_only_requests_in_flight_are_sent(end: End) {
    const EVENTS: usize = 70;
    const IN_FLIGHT: usize = 64;
    let app = TestApp::start_with_local_webhooks().await;
    let sandbox = super::create(&app).await;
    let key = sandbox.key("write:students").await;
    let mut slow = SlowReceiver::start().await;
    let url = slow.receiver.url("http", "127.0.0.1").to_string();
    let subscription = sandbox.subscribe_url(url, &["student.created"]).await;
    fail_for_days(&sandbox, subscription.id).await;
    for number in 0..EVENTS {
        create_student(&key, &format!("s{number}@example.com")).await;
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = app.worker();
    let running = tokio::spawn(worker.run(async move { drop(stopped.await) }, Duration::from_secs(10)));
    for _ in 0..IN_FLIGHT {
        slow.arrived.recv().await.expect("a request");
    }
    match end {
        End::Reset => drop(super::reset(&app).await),
        End::Deleted => {
            super::delete(&app).await;
            key.post("/api/v1/students", json!({"email": "late@example.com"})).await.assert_status(401);
        }
    }
    // A worker uses what it read of a webhook for 250 milliseconds.
    tokio::time::sleep(Duration::from_millis(300)).await;
    slow.respond.add_permits(2 * EVENTS);
    let unsettled = async || {
        let counts = queue::counts(app.app.db.read(), app.clock.now().as_millisecond()).await;
        counts.expect("the query succeeds")
    };
    wait_until("the attempts are recorded", async || unsettled().await.in_flight == 0).await;
    app.clock.advance(DAY);
    wait_until("no delivery is left", async || {
        maintenance::run_once(&app.app).await.expect("the jobs run");
        unsettled().await == QueueCounts::default()
    })
    .await;
    drop(stop);
    running.await.expect("no panic");
    assert!(slow.arrived.try_recv().is_err(), "{end:?}: nothing more is sent");
    assert_eq!(super::mails(&app).await, [""; 0], "{end:?}");
    assert_eq!(sandbox.mails().await.len(), 0, "{end:?}");
}

#[tokio::test]
async fn a_sandbox_that_is_reset_while_its_events_are_delivered_sends_nothing_more() {
    assert_only_requests_in_flight_are_sent(End::Reset).await;
}

#[tokio::test]
async fn a_sandbox_that_is_deleted_while_its_events_are_delivered_sends_nothing_more() {
    assert_only_requests_in_flight_are_sent(End::Deleted).await;
}
