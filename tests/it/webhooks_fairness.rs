//! Workspaces beside each other: what one has to be sent neither delays the others nor makes their writes wait.

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

use crate::support::{Endpoint, Receiver, TestApp, done};

/// How long a story waits for what runs beside it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a workspace may have of a worker's 2,048 places.
const SHARE: usize = 512;

/// Waits until this holds.
async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("not in time: {what}"));
}

/// Connections to an endpoint that takes them and never answers: those that are open, and the most that were.
#[derive(Default)]
struct Hanging {
    open: AtomicUsize,
    peak: AtomicUsize,
}

impl Hanging {
    async fn start() -> (Arc<Self>, Receiver) {
        let hanging = Arc::new(Self::default());
        let shared = Arc::clone(&hanging);
        let receiver = Receiver::start(move |mut stream| {
            let hanging = Arc::clone(&shared);
            async move {
                let open = 1 + hanging.open.fetch_add(1, Ordering::SeqCst);
                hanging.peak.fetch_max(open, Ordering::SeqCst);
                let mut rest = Vec::new();
                drop(stream.read_to_end(&mut rest).await);
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
async fn endpoints_of_one_workspace_that_hang_leave_the_places_of_the_others() {
    let app = TestApp::start_beside_receivers().await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    let (hanging, receiver) = Hanging::start().await;
    for _ in 0..50 {
        acme.subscribe_to(receiver.url("http", "127.0.0.1").to_string(), &["student.created"]).await;
    }
    let endpoint = Endpoint::start().await;
    globex.subscribe_at(&endpoint, &["student.created"]).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = tokio::spawn(app.worker().run(async { drop(stopped.await) }, Duration::ZERO));
    // More than all places of a worker; both ways to them, from the commit and from the queue.
    for number in 0..45 {
        acme.student(&format!("s-{number}")).await;
    }
    until("the workspace has its share", async || hanging.open() >= SHARE * 3 / 4).await;
    globex.student("ada").await;
    until("the other workspace's delivery", async || endpoint.sent().len() == 1).await;
    assert!(hanging.open() >= SHARE / 2, "it came while the others hang: {}", hanging.open());
    // It is not for want of deliveries: they wait in the queue. The other's may not be recorded yet.
    let waiting = webhook_deliveries::queue::counts(app.app.db.read(), app.clock.now_ms()).await.unwrap();
    assert!(waiting.pending > 2_048 && waiting.in_flight <= SHARE as i64 + 1, "{waiting:?}");
    drop(stop);
    worker.await.unwrap();
    let peak = hanging.peak.load(Ordering::SeqCst);
    // One that timed out may be closed a moment later than the next is opened.
    assert!((SHARE * 3 / 4..=SHARE * 3 / 2).contains(&peak), "{peak} at once");
    assert_eq!(webhook_attempts::in_workspace(globex.id.uuid()).count(app.app.db.read()).await.unwrap(), 1);
}

#[tokio::test]
async fn an_event_that_many_subscriptions_want_reaches_each_of_them_once() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "200")]).await;
    let acme = app.workspace("acme").await;
    let mut all = Vec::new();
    for _ in 0..150 {
        all.push(acme.subscribe(&["student.created"]).await.0);
    }
    acme.student("ada").await;
    let happened = app.clock.now_ms();
    let rows = async || {
        let rows = webhook_deliveries::in_workspace(acme.id.uuid());
        rows.count(app.app.db.read()).await.unwrap()
    };
    let batch = if app.has_many_writers() { 64 } else { 8 };
    assert_eq!(rows().await, batch, "the write of the event makes no more");

    // What happens before the rest is written: others are made, paused, deleted and changed.
    app.clock.advance(Duration::from_secs(5));
    let (late, _) = acme.subscribe(&["student.created"]).await;
    let (paused, deleted, changed, dropping) = (all[100], all[101], all[102], all[103]);
    done(&app, async |write| webhooks::pause(write, acme.id, paused).await).await.unwrap();
    done(&app, async |write| webhooks::pause(write, acme.id, dropping).await).await.unwrap();
    let drop_held = webhooks::Held::Drop;
    let enable = async |write: &mut foundation::database::Write| {
        webhooks::enable(&app.app, write, acme.id, dropping, drop_held).await
    };
    assert_eq!(done(&app, enable).await.unwrap().moved, 1, "what is still to be written is dropped, too");
    done(&app, async |write| webhooks::delete(write, acme.id, deleted).await).await.unwrap();
    let change = webhooks::SubscriptionChange { url: None, event_types: Some(vec!["order.paid".to_owned()]) };
    let edit = async |write: &mut foundation::database::Write| {
        webhooks::edit(&app.app, write, acme.id, changed, change).await
    };
    done(&app, edit).await.unwrap();

    // Each batch is whole: whoever is killed after one, another goes on.
    assert!(fan_out(&app.app, &mut None).await.unwrap());
    let deleted_in_it = u64::from(batch == 64);
    assert_eq!(rows().await, 2 * batch - deleted_in_it);
    while fan_out(&app.app, &mut None).await.unwrap() {}
    assert_eq!(rows().await, 148);
    assert!(acme.deliveries(dropping).await.is_empty());
    for of in all.into_iter().filter(|of| ![deleted, dropping].contains(of)) {
        let deliveries = acme.deliveries(of).await;
        let [one] = &deliveries[..] else { panic!("one delivery: {deliveries:?}") };
        let held = of == paused;
        assert_eq!(one.state, if held { DeliveryState::Held } else { DeliveryState::Pending });
        let row = webhook_deliveries::by_id(app.app.db.read(), one.id.uuid()).await.unwrap().unwrap();
        assert_eq!(row.next_attempt_at, (!held).then_some(happened), "it is due since then");
    }
    assert!(acme.deliveries(late).await.is_empty(), "what happened before it was made");
}

#[tokio::test]
async fn workspaces_take_turns_with_events_that_many_subscriptions_want() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "300")]).await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    for _ in 0..260 {
        acme.subscribe(&["student.created"]).await;
    }
    let mut last: Option<SubscriptionId> = None;
    for _ in 0..70 {
        last = Some(globex.subscribe(&["student.created"]).await.0);
    }
    acme.student("ada").await;
    acme.student("bob").await;
    globex.student("eve").await;
    let mut order = Vec::new();
    let mut turn = None;
    while fan_out(&app.app, &mut turn).await.unwrap() {
        order.push(turn == Some(acme.id.uuid()));
    }
    // Of acme's two events 196 or 252 deliveries are left each, of the other's event 6 or 62.
    let (batches, of_other) = if app.has_many_writers() { (8, 1) } else { (64, 8) };
    assert_eq!(order.iter().filter(|acme| **acme).count(), batches);
    let others = order[..2 * of_other].iter().filter(|acme| !**acme).count();
    assert_eq!(others, of_other, "every second batch is the other's: {order:?}");
    assert_eq!(globex.deliveries(last.unwrap()).await.len(), 1);
}

#[tokio::test]
async fn a_fan_out_that_fails_for_one_workspace_does_not_delay_the_others() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "300")]).await;
    // The ids of workspaces ascend: the first one's turn comes first.
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    for _ in 0..65 {
        acme.subscribe(&["student.created"]).await;
        globex.subscribe(&["student.created"]).await;
    }
    acme.student("ada").await;
    globex.student("eve").await;
    refuse_deliveries(&app, acme.id.uuid()).await;
    let mut turn = None;
    assert!(fan_out(&app.app, &mut turn).await.is_err());
    assert!(fan_out(&app.app, &mut turn).await.unwrap());
    assert_eq!(turn, Some(globex.id.uuid()));
    let rows = webhook_deliveries::in_workspace(globex.id.uuid());
    let two_batches = if app.has_many_writers() { 65 } else { 16 };
    assert_eq!(rows.count(app.app.db.read()).await.unwrap(), two_batches);
    assert!(fan_out(&app.app, &mut turn).await.is_err(), "acme's event is kept");
}

/// Lets the database refuse new deliveries of this workspace.
async fn refuse_deliveries(app: &TestApp, workspace: uuid::Uuid) {
    let statement = if app.has_many_writers() {
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
