//! Subscriptions: what becomes a delivery, what is held, whose secrets sign, and what is refused.

use std::time::Duration;

use domain::audit::Actor;
use domain::page::PageRequest;
use domain::webhooks::{self, Delivery, DeliveryState, Held, NewSubscription, Origin, SubscriptionState};
use domain::{Error, Result};
use entity::webhook_deliveries::queue::Next;
use foundation::database::Write;
use foundation::id::SubscriptionId;
use insta::{assert_json_snapshot, assert_snapshot};
use sea_orm::ConnectionTrait as _;
use secrecy::ExposeSecret;
use serde_json::json;

use crate::conformance::Contract;
use crate::dashboard_keys::told;
use crate::support::{START, TestApp, Workspace, done};

const CREATED: &[&str] = &["student.created"];

/// What is wrong, as a person reads it.
pub fn refusal<T>(outcome: Result<T>) -> String {
    match outcome {
        Err(Error::Internal(cause)) => panic!("{cause:#}"),
        Err(error) => error.to_string(),
        Ok(_) => panic!("it was not refused"),
    }
}

fn states(deliveries: &[Delivery]) -> Vec<DeliveryState> {
    deliveries.iter().map(|delivery| delivery.state).collect()
}

async fn pause(workspace: &Workspace<'_>, of: SubscriptionId) {
    let paused = done(workspace.app, async |write| webhooks::pause(write, workspace.id, of).await).await;
    assert_eq!(paused.unwrap().record.state, SubscriptionState::Paused);
}

async fn enable(workspace: &Workspace<'_>, of: SubscriptionId, held: Held) {
    let app = &workspace.app.app;
    let enabled = async |write: &mut Write| webhooks::enable(app, write, workspace.id, of, held).await;
    let enabled = done(workspace.app, enabled).await.unwrap();
    assert!(enabled.changed);
    let enabled = enabled.subscription;
    assert_eq!((enabled.state, enabled.failing_since), (SubscriptionState::Enabled, None));
}

#[tokio::test]
async fn an_event_becomes_a_delivery_for_each_who_wants_it() {
    let app = TestApp::start().await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    let (first, _) = acme.subscribe(CREATED).await;
    let (second, _) = acme.subscribe(&["order.paid", "student.created"]).await;
    let (other, _) = acme.subscribe(&["order.paid"]).await;
    let (foreign, _) = globex.subscribe(CREATED).await;
    let woken = app.app.handoff().bell().heard();

    let key = acme.full_key().await;
    let ada = json!({"email": "ada@example.com"});
    key.post("/api/v1/students", ada.clone()).await.assert_status(201);
    tokio::time::timeout(Duration::from_secs(20), woken).await.expect("the worker is woken");
    key.post("/api/v1/students", ada).await.assert_status(422);

    let event = app.events_of("student.created").await.remove(0)["id"].clone();
    for subscription in [first, second] {
        let deliveries = acme.deliveries(subscription).await;
        assert_eq!(
            (deliveries.len(), deliveries[0].event.to_string()),
            (1, event.as_str().unwrap().to_owned())
        );
        let Delivery { state, origin, next_attempt_at, .. } = &deliveries[0];
        assert_eq!((*state, *origin), (DeliveryState::Pending, Origin::Event));
        assert_eq!(*next_attempt_at, Some(START.parse().unwrap()));
    }
    assert_eq!(acme.deliveries(other).await, []);
    assert_eq!(globex.deliveries(foreign).await, []);
    let listed: Vec<_> = webhooks::list(&app.app, acme.id).await.unwrap().iter().map(|one| one.id).collect();
    assert_eq!(listed, [other, second, first], "newest first");
}

#[tokio::test]
async fn what_happens_while_a_subscription_is_paused_is_sent_once_it_is_enabled() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    pause(&acme, of).await;
    acme.student("bob").await;
    assert_eq!(states(&acme.deliveries(of).await), [DeliveryState::Held, DeliveryState::Held]);
    assert_eq!(app.settle_due(Some(200), Next::Delivered).await, 0);

    app.clock.advance(Duration::from_secs(60));
    enable(&acme, of, Held::Send).await;
    let deliveries = acme.deliveries(of).await;
    assert_eq!(states(&deliveries), [DeliveryState::Pending, DeliveryState::Pending]);
    assert_eq!(deliveries[0].next_attempt_at, Some(app.clock.now()));
    assert_eq!(app.settle_due(Some(200), Next::Delivered).await, 2);
    let attempts = &acme.deliveries(of).await[0].attempts;
    assert_eq!((attempts.len(), attempts[0].status, attempts[0].number), (1, Some(200), 1));
}

#[tokio::test]
async fn what_was_held_is_dropped_when_the_owner_says_so() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    app.settle_due(Some(200), Next::Delivered).await;
    acme.student("bob").await;
    app.settle_due(None, Next::Retry(app.clock.now_ms() + 60_000)).await;
    pause(&acme, of).await;
    acme.student("eve").await;
    enable(&acme, of, Held::Drop).await;
    assert_eq!(states(&acme.deliveries(of).await), [DeliveryState::Delivered]);
    acme.student("mia").await;
    assert_eq!(app.settle_due(Some(200), Next::Delivered).await, 1);
}

#[tokio::test]
async fn a_disabled_subscription_is_enabled_with_a_clean_record() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    let disable = async || {
        done(&app, async |write| {
            entity::webhook_subscriptions::set_failing(write.conn(), of.uuid(), 7).await?;
            webhooks::disable(write, of).await
        })
        .await
        .unwrap()
    };
    assert!(disable().await, "it was this that disabled it");
    assert!(!disable().await);
    let disabled = webhooks::get(&app.app, acme.id, of).await.unwrap();
    assert_eq!((disabled.state, disabled.disabled_at), (SubscriptionState::Disabled, Some(app.clock.now())));
    assert!(disabled.failing_since.is_some());
    assert_eq!(states(&acme.deliveries(of).await), [DeliveryState::Held]);
    let pause = done(&app, async |write| webhooks::pause(write, acme.id, of).await).await;
    assert!(refusal(pause).ends_with("is disabled: nothing is sent until it is enabled"));
    enable(&acme, of, Held::Send).await;
    assert_eq!(app.settle_due(Some(200), Next::Delivered).await, 1);
}

/// More deliveries of a subscription, like its only one.
async fn copies(workspace: &Workspace<'_>, of: SubscriptionId, many: usize) {
    let app = workspace.app;
    let rows = entity::webhook_deliveries::in_workspace(workspace.id.uuid());
    let first = workspace.deliveries(of).await[0].id.uuid();
    let write = app.write().await;
    let first = rows.by_id(write.conn(), first).await.unwrap().unwrap();
    let copy = |_| entity::webhook_deliveries::Model {
        id: app.app.ids.next::<foundation::id::Delivery>(app.clock.now()).uuid(),
        ..first.clone()
    };
    rows.insert_many(write.conn(), (0..many).map(copy).collect()).await.unwrap();
    write.commit().await.unwrap();
}

#[tokio::test]
async fn a_long_queue_follows_its_subscription_in_batches() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    copies(&acme, of, 2500).await;
    let held = async || {
        let all = states(&acme.deliveries(of).await);
        all.iter().filter(|state| **state == DeliveryState::Held).count()
    };

    pause(&acme, of).await;
    assert_eq!(held().await, 1000, "the first batch");
    assert_eq!(app.settle_due(Some(200), Next::Delivered).await, 0, "nothing is sent all the same");
    while webhooks::align(&app.app).await.unwrap() {}
    assert_eq!(held().await, 2501);
    enable(&acme, of, Held::Send).await;
    assert_eq!(held().await, 1501);
    while webhooks::align(&app.app).await.unwrap() {}
    assert_eq!(held().await, 0);
    pause(&acme, of).await;
    let drop_all = async |dropped: &mut dyn FnMut(u64)| {
        let operator = Actor::operator();
        webhooks::enable_whole(&app.app, acme.id, of, Held::Drop, &operator, dropped).await.unwrap()
    };
    let mut gone = Vec::new();
    let enabled = drop_all(&mut |so_far| gone.push(so_far)).await;
    assert_eq!((enabled.changed, enabled.moved, gone), (true, 2501, vec![1000, 2000, 2501]));
    let again = drop_all(&mut |_| unreachable!("nothing is held")).await;
    assert_eq!((again.changed, again.moved), (false, 0));
    let entries = told(&acme).await;
    let hooks = "command line Enabled a webhook https://hooks.example/acme, 2501 deliveries dropped";
    assert_eq!(entries[0], hooks, "{entries:?}");
    assert_eq!(entries.iter().filter(|line| line.contains("Dropped what a webhook held")).count(), 1);
}

#[tokio::test]
async fn processes_that_delete_a_subscription_s_deliveries_leave_it_until_all_are_gone() {
    let app = TestApp::start().await;
    if !app.has_many_writers() {
        return;
    }
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    copies(&acme, of, 1_200).await;
    let left = async || {
        let rows = entity::webhook_deliveries::in_workspace(acme.id.uuid());
        rows.count(app.app.db.read()).await.unwrap()
    };
    done(&app, async |write| webhooks::delete(write, acme.id, of).await).await.unwrap();
    assert_eq!(left().await, 701);

    // Another process has the next of them in hand.
    let theirs = app.write().await;
    assert_eq!(entity::webhook_deliveries::erase(theirs.conn(), of.uuid(), 500).await.unwrap(), 500);
    let ours = tokio::spawn({
        let app = app.app.clone();
        async move { webhooks::erase(&app).await.unwrap() }
    });
    let waits =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let waits = sea_orm::Statement::from_string(app.app.db.backend(), waits);
    while app.app.db.read().query_one_raw(waits.clone()).await.unwrap().is_none() {
        assert!(!ours.is_finished(), "it goes on with what another has in hand");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    theirs.commit().await.unwrap();
    assert!(ours.await.unwrap(), "there is more");
    assert_eq!(left().await, 201, "none goes with the subscription");
    while webhooks::erase(&app.app).await.unwrap() {}
    assert_eq!(left().await, 0);
    assert!(entity::webhook_subscriptions::by_id(app.app.db.read(), of.uuid()).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_enables_a_subscription_while_its_queue_is_dropped_ends_that() {
    let mut app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    pause(&acme, of).await;
    acme.student_by_change("ada").await;
    copies(&acme, of, 1500).await;
    let meanwhile = |_| {
        let enabled = enable(&acme, of, Held::Send);
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(enabled));
    };
    let operator = Actor::operator();
    let dropped = webhooks::enable_whole(&app.app, acme.id, of, Held::Drop, &operator, meanwhile).await;
    let dropped = dropped.unwrap();
    assert_eq!((dropped.changed, dropped.moved), (false, 1000));
    assert_eq!(states(&acme.deliveries(of).await), [DeliveryState::Pending; 501]);
    assert_eq!(told(&acme).await[0], "command line Dropped what a webhook held https://hooks.example/acme");
    app.stop().await;
}

#[tokio::test]
async fn a_new_secret_signs_beside_the_old_one_for_a_while() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, first) = acme.subscribe(CREATED).await;
    let rotate = async |overlap| {
        let rotated = async |write: &mut Write| {
            webhooks::rotate(&app.app, write, &app.seal(), acme.id, of, overlap).await
        };
        done(&app, rotated).await.map(|rotated| rotated.secret.expose_secret().to_owned())
    };
    let live = async || {
        let seal = app.seal();
        let conn = app.app.db.read();
        let mut live = webhooks::live(conn, &seal, &[of.uuid()], app.clock.now_ms()).await.unwrap();
        let secrets = live.remove(&of.uuid()).unwrap_or_default();
        secrets.iter().map(|secret| secret.expose_secret().to_owned()).collect::<Vec<_>>()
    };
    let hour = Duration::from_secs(3600);
    assert_eq!(live().await, [first.as_str()]);
    let second = rotate(24 * hour).await.unwrap();
    assert_eq!(live().await, [second.clone(), first.clone()], "newest first");
    app.clock.advance(24 * hour - Duration::from_millis(1));
    assert_eq!(live().await, [second.clone(), first]);
    app.clock.advance(Duration::from_millis(1));
    assert_eq!(live().await, [second]);

    let mut newest = String::new();
    for _ in 0..4 {
        newest = rotate(168 * hour).await.unwrap();
    }
    assert_eq!(live().await.len(), 5);
    assert_snapshot!(refusal(rotate(168 * hour).await), @"overlap: would let 5 older secrets sign; rotate without an overlap, or wait until some end");
    assert_snapshot!(refusal(rotate(169 * hour).await), @"overlap: must be 0 to 7 days");
    assert_eq!(live().await[0], newest);
    let last = rotate(Duration::ZERO).await.unwrap();
    assert_eq!(live().await, [last], "the others ended at once");
}

#[tokio::test]
async fn no_secret_stands_in_the_database_in_clear_or_opens_elsewhere() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, secret) = acme.subscribe(CREATED).await;
    let (other, _) = acme.subscribe(CREATED).await;
    let conn = app.app.db.read();
    let kept = entity::webhook_secrets::live(conn, &[of.uuid()], 0).await.unwrap().remove(0);
    assert!(
        !kept.ciphertext.windows(6).any(|part| part == b"whsec_") && kept.ciphertext.len() > secret.len()
    );

    // A ciphertext put in another's place signs for nobody.
    let write = app.write().await;
    let moved = entity::webhook_secrets::Model {
        id: uuid::Uuid::from_u128(1),
        subscription_id: other.uuid(),
        ..kept
    };
    entity::webhook_secrets::in_workspace(acme.id.uuid()).insert(write.conn(), moved).await.unwrap();
    write.commit().await.unwrap();
    let live = webhooks::live(conn, &app.seal(), &[other.uuid()], app.clock.now_ms()).await.unwrap();
    assert_eq!(live[&other.uuid()].len(), 1);
}

#[tokio::test]
async fn a_subscription_that_cannot_work_is_refused_with_all_faults() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let try_new = async |url: &str, kinds: &[&str]| {
        let new = NewSubscription {
            url: url.to_owned(),
            event_types: kinds.iter().map(|&kind| kind.to_owned()).collect(),
        };
        let made =
            async |write: &mut Write| webhooks::create(&app.app, write, &app.seal(), acme.id, new).await;
        refusal(done(&app, made).await)
    };
    let refused = [
        try_new("http://hooks.example/", CREATED).await,
        try_new("https://169.254.169.254/latest", CREATED).await,
        try_new("https://ada:secret@hooks.example/#x", &[]).await,
        try_new("hooks.example", &["student.creatd", "order.paid", "order.paid"]).await,
    ];
    assert_json_snapshot!(refused);
    assert_eq!(webhooks::list(&app.app, acme.id).await.unwrap(), []);
}

#[tokio::test]
async fn a_workspace_has_no_more_subscriptions_than_the_limit() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "2")]).await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    let try_new = async || {
        let new = NewSubscription {
            url: "https://hooks.example/".to_owned(),
            event_types: vec!["order.paid".to_owned()],
        };
        let made =
            async |write: &mut Write| webhooks::create(&app.app, write, &app.seal(), acme.id, new).await;
        done(&app, made).await.map(|(made, _)| made.id)
    };
    acme.subscribe(CREATED).await;
    // Both see one when they begin; one of them is the second.
    let (one, other) = tokio::join!(try_new(), try_new());
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    let second = one.as_ref().or(other.as_ref()).ok().copied().expect("one of them");
    assert_eq!(
        refusal(try_new().await),
        "subscriptions: are limited to 2 in a workspace, and this one has 2; delete one, or ask the operator of this \
         server to raise --max-subscriptions-per-workspace"
    );
    globex.subscribe(CREATED).await;

    // What is deleted makes room at once, though its deliveries are still being deleted.
    acme.student("ada").await;
    done(&app, async |write| webhooks::delete(write, acme.id, second).await).await.unwrap();
    try_new().await.unwrap();
    refusal(try_new().await);
}

#[tokio::test]
async fn a_workspace_beyond_the_limit_keeps_its_subscriptions() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "1")]).await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    let conn = app.app.db.read();
    let row = entity::webhook_subscriptions::by_id(conn, of.uuid()).await.unwrap().unwrap();
    let write = app.write().await;
    let older = entity::webhook_subscriptions::Model { id: uuid::Uuid::from_u128(1), ..row };
    let scope = || entity::webhook_subscriptions::in_workspace(acme.id.uuid());
    scope().insert(write.conn(), older.clone()).await.unwrap();
    let wanted = ["student.created".to_owned()];
    entity::webhook_topics::insert(write.conn(), acme.id.uuid(), older.id, &wanted).await.unwrap();
    write.commit().await.unwrap();
    acme.student("ada").await;
    assert_eq!(acme.deliveries(SubscriptionId::from_uuid(older.id)).await.len(), 1);
    pause(&acme, of).await;
    assert_eq!(webhooks::list(&app.app, acme.id).await.unwrap().len(), 2);
}

#[tokio::test]
async fn nobody_reaches_into_another_workspace() {
    let app = TestApp::start().await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    let (of, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    app.settle_due(Some(410), Next::Dead).await;
    let dead = acme.deliveries(of).await[0].id;
    let (app, to) = (&app, &app.app);
    let there = globex.id;
    let day = Duration::from_secs(86_400);
    let tried = [
        refusal(webhooks::get(to, there, of).await),
        refusal(
            webhooks::deliveries(to, there, of, &Default::default(), PageRequest::newest(None, 10)).await,
        ),
        refusal(done(app, async |write| webhooks::pause(write, there, of).await).await),
        refusal(done(app, async |write| webhooks::enable(to, write, there, of, Held::Drop).await).await),
        refusal(webhooks::enable_whole(to, there, of, Held::Drop, &Actor::operator(), |_| ()).await),
        refusal(
            done(app, async |write| webhooks::rotate(to, write, &app.seal(), there, of, day).await).await,
        ),
        refusal(done(app, async |write| webhooks::test(to, write, there, of, None).await).await),
        refusal(done(app, async |write| webhooks::delete(write, there, of).await).await),
    ];
    let absent = format!("no webhook subscription {of} in this workspace");
    assert!(tried.iter().all(|said| *said == absent), "{tried:?}");
    let again = done(app, async |write| webhooks::send_again(to, write, there, &[dead]).await).await;
    assert_eq!(refusal(again), format!("no delivery {dead} in this workspace"));
    assert_eq!(
        webhooks::dead(to, there, &Default::default(), PageRequest::newest(None, 10)).await.unwrap().items,
        []
    );
    assert_eq!(acme.deliveries(of).await.len(), 1);
}

#[tokio::test]
async fn a_test_sends_the_contract_s_example_to_one_alone() {
    let app = TestApp::start().await;
    let contract = Contract::of(&app).await;
    let acme = app.workspace("acme").await;
    for kind in domain::outbox::KINDS {
        let (of, _) = acme.subscribe(&[kind]).await;
        let (other, _) = acme.subscribe(&[kind]).await;
        let made =
            done(&app, async |write| webhooks::test(&app.app, write, acme.id, of, None).await).await.unwrap();
        assert_eq!(
            (made.origin, made.event_type.as_str(), made.state),
            (Origin::Test, *kind, DeliveryState::Pending)
        );
        let event = app.events().await.pop().unwrap();
        assert_eq!(event["id"], made.event.to_string());
        assert_eq!((&event["type"], &event["workspace_id"]), (&json!(kind), &json!(acme.id.to_string())));
        assert_eq!(event["created_at"], "2026-03-02T10:00:30.000Z");
        assert_eq!(contract.faults(&Contract::event_schema(kind), &event), Vec::<String>::new(), "{event}");
        assert_eq!(acme.deliveries(other).await, []);
    }
    let (of, _) = acme.subscribe(CREATED).await;
    pause(&acme, of).await;
    let test = done(&app, async |write| webhooks::test(&app.app, write, acme.id, of, None).await).await;
    assert!(refusal(test).ends_with("is not enabled, so nothing would be sent; enable it first"));
}

#[tokio::test]
async fn a_deleted_subscription_takes_everything_with_it() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    app.settle_due(Some(500), Next::Retry(app.clock.now_ms() + 1)).await;
    done(&app, async |write| webhooks::delete(write, acme.id, of).await).await.unwrap();
    assert!(matches!(webhooks::find(&app.app, of).await, Err(Error::NotFound(_))));
    acme.student("bob").await;
    assert_eq!(
        entity::webhook_deliveries::in_workspace(acme.id.uuid()).count(app.app.db.read()).await.unwrap(),
        0
    );
    assert_eq!(app.events_of("student.created").await.len(), 2, "the events stay");
}
