//! Fairness between workspaces: the deliveries of one neither delay those of others nor block their writes.
//!
//! The transaction of an event creates its first deliveries, and fan-out creates the others in batches. A pre-leased
//! delivery is leased to the running worker by the transaction that creates it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::outbox::fan_out;
use domain::webhooks::{self, DeliveryState};
use entity::{webhook_attempts, webhook_deliveries};
use foundation::id::SubscriptionId;
use sea_orm::ConnectionTrait as _;
use tokio::io::AsyncReadExt as _;
use tokio::sync::oneshot;

use crate::support::{Endpoint, Receiver, TestApp, in_transaction, wait_until};

/// The number of a worker's 2,048 slots that one workspace may use beside others.
const WORKSPACE_SLOTS: usize = 512;
/// The number of slots that a workspace may use while no other workspace uses any.
const LONE_WORKSPACE_SLOTS: usize = 1_536;

/// Counts the connections to an endpoint that accepts them and never responds: the open ones, and their maximum so far.
#[derive(Default)]
struct HangingConnections {
    open: AtomicUsize,
    peak: AtomicUsize,
}

impl HangingConnections {
    /// Starts the endpoint.
    async fn start() -> (Arc<Self>, Receiver) {
        let hanging = Arc::new(Self::default());
        let shared = Arc::clone(&hanging);
        let receiver = Receiver::start(move |mut stream| {
            let hanging = Arc::clone(&shared);
            async move {
                let open = 1 + hanging.open.fetch_add(1, Ordering::SeqCst);
                hanging.peak.fetch_max(open, Ordering::SeqCst);
                let mut bytes = Vec::new();
                drop(stream.read_to_end(&mut bytes).await);
                hanging.open.fetch_sub(1, Ordering::SeqCst);
            }
        });
        (hanging, receiver.await)
    }

    fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hanging_endpoints_of_one_workspace_leave_slots_for_others() {
    let app = TestApp::start_with_local_webhooks().await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    let (hanging, receiver) = HangingConnections::start().await;
    for _ in 0..50 {
        acme.subscribe_url(receiver.url("http", "127.0.0.1").to_string(), &["student.created"]).await;
    }
    let endpoint = Endpoint::start().await;
    globex.subscribe_endpoint(&endpoint, &["student.created"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(app.worker().run(async { drop(stopped.await) }, Duration::ZERO));
    // More deliveries than a worker has slots, both pre-leased and claimed from the queue.
    for number in 0..45 {
        acme.student(&format!("s-{number}")).await;
    }
    wait_until("the workspace uses most of its slots", async || hanging.open() >= WORKSPACE_SLOTS * 3 / 4)
        .await;
    globex.student("ada").await;
    wait_until("the other workspace's delivery", async || endpoint.requests().len() == 1).await;
    assert!(
        hanging.open() >= WORKSPACE_SLOTS / 2,
        "the delivery is sent while the others hang: {}",
        hanging.open()
    );
    // The other deliveries wait in the queue. The attempt for globex may not be recorded yet.
    let queue = webhook_deliveries::queue::counts(app.app.db.read(), app.clock.now_ms()).await.unwrap();
    assert!(queue.pending > 2_048 && queue.in_flight <= LONE_WORKSPACE_SLOTS as i64 + 1, "{queue:?}");
    drop(stop);
    worker.await.unwrap();
    let peak = hanging.peak.load(Ordering::SeqCst);
    assert!((WORKSPACE_SLOTS * 3 / 4..=LONE_WORKSPACE_SLOTS).contains(&peak), "{peak} at once");
    assert_eq!(webhook_attempts::in_workspace(globex.id.uuid()).count(app.app.db.read()).await.unwrap(), 1);
}

#[tokio::test]
async fn an_event_with_many_subscriptions_has_one_delivery_for_each() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "200")]).await;
    let acme = app.workspace("acme").await;
    let mut subscription_ids = Vec::new();
    for _ in 0..150 {
        subscription_ids.push(acme.subscribe(&["student.created"]).await.0);
    }
    acme.student("ada").await;
    let event_at = app.clock.now_ms();
    let row_count = async || {
        let rows = webhook_deliveries::in_workspace(acme.id.uuid());
        rows.count(app.app.db.read()).await.unwrap()
    };
    let batch_size = if app.uses_postgres() { 64 } else { 8 };
    assert_eq!(row_count().await, batch_size, "the event's own transaction creates one batch");

    // Before the other deliveries are written, subscriptions are created, paused, deleted and changed.
    app.clock.advance(Duration::from_secs(5));
    let (late, _) = acme.subscribe(&["student.created"]).await;
    let (paused, deleted, changed, dropping) =
        (subscription_ids[100], subscription_ids[101], subscription_ids[102], subscription_ids[103]);
    in_transaction(&app, async |write| webhooks::pause(write, acme.id, paused).await).await.unwrap();
    in_transaction(&app, async |write| webhooks::pause(write, acme.id, dropping).await).await.unwrap();
    let drop_held = webhooks::HeldAction::Drop;
    let enable = async |write: &mut foundation::database::Write| {
        webhooks::enable(&app.app, write, acme.id, dropping, drop_held).await
    };
    assert_eq!(
        in_transaction(&app, enable).await.unwrap().released_or_dropped,
        1,
        "deliveries that are not written yet are dropped, too"
    );
    in_transaction(&app, async |write| webhooks::delete(write, acme.id, deleted).await).await.unwrap();
    let change = webhooks::SubscriptionChange {
        event_types: Some(vec!["order.paid".to_owned()]),
        ..Default::default()
    };
    let edit = async |write: &mut foundation::database::Write| {
        webhooks::edit(&app.app, write, acme.id, changed, change).await
    };
    in_transaction(&app, edit).await.unwrap();

    // Each batch is one transaction: after a kill, another process continues.
    assert!(fan_out(&app.app, &mut None).await.unwrap());
    let deleted_in_batch = u64::from(batch_size == 64);
    assert_eq!(row_count().await, 2 * batch_size - deleted_in_batch);
    while fan_out(&app.app, &mut None).await.unwrap() {}
    assert_eq!(row_count().await, 148);
    assert!(acme.deliveries(dropping).await.is_empty());
    for subscription_id in
        subscription_ids.into_iter().filter(|subscription_id| ![deleted, dropping].contains(subscription_id))
    {
        let deliveries = acme.deliveries(subscription_id).await;
        let [delivery] = &deliveries[..] else { panic!("one delivery: {deliveries:?}") };
        let is_held = subscription_id == paused;
        assert_eq!(delivery.state, if is_held { DeliveryState::Held } else { DeliveryState::Pending });
        let row = webhook_deliveries::by_id(app.app.db.read(), delivery.id.uuid()).await.unwrap().unwrap();
        assert_eq!(
            row.next_attempt_at,
            (!is_held).then_some(event_at),
            "the delivery is due since the event"
        );
    }
    assert!(acme.deliveries(late).await.is_empty(), "the event is older than the subscription");
}

#[tokio::test]
async fn fan_outs_of_several_workspaces_alternate() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "300")]).await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    for _ in 0..260 {
        acme.subscribe(&["student.created"]).await;
    }
    let mut last_subscription: Option<SubscriptionId> = None;
    for _ in 0..70 {
        last_subscription = Some(globex.subscribe(&["student.created"]).await.0);
    }
    acme.student("ada").await;
    acme.student("bob").await;
    globex.student("eve").await;
    // For each batch, whether it belongs to acme.
    let mut is_acme_batch = Vec::new();
    let mut last_workspace = None;
    while fan_out(&app.app, &mut last_workspace).await.unwrap() {
        is_acme_batch.push(last_workspace == Some(acme.id.uuid()));
    }
    // 196 or 252 deliveries are left of each of acme's two events, and 6 or 62 of globex's event.
    let (acme_batches, globex_batches) = if app.uses_postgres() { (8, 1) } else { (64, 8) };
    assert_eq!(is_acme_batch.iter().filter(|is_acme| **is_acme).count(), acme_batches);
    let early_batches = is_acme_batch[..2 * globex_batches].iter().filter(|is_acme| !**is_acme).count();
    assert_eq!(early_batches, globex_batches, "every second batch belongs to globex: {is_acme_batch:?}");
    assert_eq!(globex.deliveries(last_subscription.unwrap()).await.len(), 1);
}

#[tokio::test]
async fn a_failing_fan_out_of_one_workspace_does_not_delay_others() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "300")]).await;
    // The ids of workspaces ascend, so acme comes first.
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    for _ in 0..65 {
        acme.subscribe(&["student.created"]).await;
        globex.subscribe(&["student.created"]).await;
    }
    acme.student("ada").await;
    globex.student("eve").await;
    reject_deliveries(&app, acme.id.uuid()).await;
    let mut last_workspace = None;
    assert!(fan_out(&app.app, &mut last_workspace).await.is_err());
    assert!(fan_out(&app.app, &mut last_workspace).await.unwrap());
    assert_eq!(last_workspace, Some(globex.id.uuid()));
    let rows = webhook_deliveries::in_workspace(globex.id.uuid());
    let two_batches = if app.uses_postgres() { 65 } else { 16 };
    assert_eq!(rows.count(app.app.db.read()).await.unwrap(), two_batches);
    assert!(fan_out(&app.app, &mut last_workspace).await.is_err(), "acme's fan-out remains");
}

/// Makes the database reject new deliveries of this workspace.
async fn reject_deliveries(app: &TestApp, workspace: uuid::Uuid) {
    let statement = if app.uses_postgres() {
        format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON webhook_deliveries FOR EACH ROW
            WHEN (NEW.workspace_id = '{workspace}') EXECUTE FUNCTION refuse()"
        )
    } else {
        format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON webhook_deliveries WHEN NEW.workspace_id = X'{}'
            BEGIN SELECT RAISE(ABORT, 'refused'); END",
            workspace.simple()
        )
    };
    let write = app.app.begin_write().await.unwrap();
    write.conn().execute_unprepared(&statement).await.unwrap();
    write.commit().await.unwrap();
}
