//! Subscriptions: which events become deliveries, which deliveries are held, which secrets sign, and which changes are
//! rejected.

use std::time::Duration;

use domain::Error;
use domain::audit::Actor;
use domain::page::PageRequest;
use domain::webhooks::{
    self, Delivery, DeliveryOrigin, DeliveryState, HeldAction, NewSubscription, SubscriptionState,
};
use entity::webhook_deliveries::queue::DeliveryTransition;
use foundation::database::Write;
use foundation::id::{DeliveryId, SubscriptionId};
use insta::{assert_json_snapshot, assert_snapshot};
use secrecy::ExposeSecret;
use serde_json::json;

use crate::support::conformance::ContractValidator;
use crate::support::members::audit_entries;
use crate::support::{START, TestApp, TestWorkspace, error_message, in_transaction, skip, wait_until};

const CREATED: &[&str] = &["student.created"];

fn states(deliveries: &[Delivery]) -> Vec<DeliveryState> {
    deliveries.iter().map(|delivery| delivery.state).collect()
}

async fn pause(workspace: &TestWorkspace<'_>, subscription_id: SubscriptionId) {
    let paused = in_transaction(workspace.app, async |write| {
        webhooks::pause(write, workspace.id, subscription_id).await
    })
    .await;
    assert_eq!(paused.unwrap().record.state, SubscriptionState::Paused);
}

async fn enable(workspace: &TestWorkspace<'_>, subscription_id: SubscriptionId, held: HeldAction) {
    let app = &workspace.app.app;
    let enabled =
        async |write: &mut Write| webhooks::enable(app, write, workspace.id, subscription_id, held).await;
    let enabled = in_transaction(workspace.app, enabled).await.unwrap();
    assert!(enabled.changed);
    let enabled = enabled.subscription;
    assert_eq!((enabled.state, enabled.failing_since), (SubscriptionState::Enabled, None));
}

#[tokio::test]
async fn an_event_creates_a_delivery_for_each_subscription_to_its_type() {
    let app = TestApp::start().await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    let (first, _) = acme.subscribe(CREATED).await;
    let (second, _) = acme.subscribe(&["order.paid", "student.created"]).await;
    let (other, _) = acme.subscribe(&["order.paid"]).await;
    let (foreign, _) = globex.subscribe(CREATED).await;
    let notified = app.app.fast_path().wake_signal().notified();

    let key = acme.key_with_all_scopes().await;
    let ada = json!({"email": "ada@example.com"});
    key.post("/api/v1/students", ada.clone()).await.assert_status(201);
    tokio::time::timeout(Duration::from_secs(20), notified).await.expect("the commit notifies the worker");
    key.post("/api/v1/students", ada).await.assert_status(422);

    let event = app.events_of_type("student.created").await.remove(0)["id"].clone();
    for subscription in [first, second] {
        let deliveries = acme.deliveries(subscription).await;
        assert_eq!(
            (deliveries.len(), deliveries[0].event.to_string()),
            (1, event.as_str().unwrap().to_owned())
        );
        let Delivery { state, origin, next_attempt_at, .. } = &deliveries[0];
        assert_eq!((*state, *origin), (DeliveryState::Pending, DeliveryOrigin::Event));
        assert_eq!(*next_attempt_at, Some(START.parse().unwrap()));
    }
    assert_eq!(acme.deliveries(other).await, []);
    assert_eq!(globex.deliveries(foreign).await, []);
    let listed: Vec<_> = webhooks::list(&app.app, acme.id).await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(listed, [other, second, first], "newest first");
}

#[tokio::test]
async fn events_during_a_pause_are_sent_once_the_subscription_is_enabled() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    pause(&acme, subscription_id).await;
    acme.student("bob").await;
    assert_eq!(states(&acme.deliveries(subscription_id).await), [DeliveryState::Held, DeliveryState::Held]);
    assert_eq!(app.settle_due(Some(200), DeliveryTransition::Delivered).await, 0);

    app.clock.advance(Duration::from_secs(60));
    enable(&acme, subscription_id, HeldAction::Send).await;
    let deliveries = acme.deliveries(subscription_id).await;
    assert_eq!(states(&deliveries), [DeliveryState::Pending, DeliveryState::Pending]);
    assert_eq!(deliveries[0].next_attempt_at, Some(app.clock.now()));
    assert_eq!(app.settle_due(Some(200), DeliveryTransition::Delivered).await, 2);
    let attempts = &acme.deliveries(subscription_id).await[0].attempts;
    assert_eq!((attempts.len(), attempts[0].status, attempts[0].number), (1, Some(200), 1));
}

#[tokio::test]
async fn held_deliveries_can_be_dropped_when_a_subscription_is_enabled() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    app.settle_due(Some(200), DeliveryTransition::Delivered).await;
    acme.student("bob").await;
    app.settle_due(None, DeliveryTransition::Retry(app.clock.now_ms() + 60_000)).await;
    pause(&acme, subscription_id).await;
    acme.student("eve").await;
    enable(&acme, subscription_id, HeldAction::Drop).await;
    assert_eq!(states(&acme.deliveries(subscription_id).await), [DeliveryState::Delivered]);
    acme.student("mia").await;
    assert_eq!(app.settle_due(Some(200), DeliveryTransition::Delivered).await, 1);
}

#[tokio::test]
async fn enabling_a_disabled_subscription_resets_its_health() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    let disable = async || {
        in_transaction(&app, async |write| {
            entity::webhook_subscriptions::set_failing(write.conn(), subscription_id.uuid(), 7).await?;
            webhooks::disable(write, subscription_id).await
        })
        .await
        .unwrap()
    };
    assert!(disable().await, "this call disabled it");
    assert!(!disable().await);
    let disabled = webhooks::get(&app.app, acme.id, subscription_id).await.unwrap();
    assert_eq!((disabled.state, disabled.disabled_at), (SubscriptionState::Disabled, Some(app.clock.now())));
    assert!(disabled.failing_since.is_some());
    assert_eq!(states(&acme.deliveries(subscription_id).await), [DeliveryState::Held]);
    let pause =
        in_transaction(&app, async |write| webhooks::pause(write, acme.id, subscription_id).await).await;
    assert!(error_message(pause).ends_with("is disabled: nothing is sent until it is enabled"));
    enable(&acme, subscription_id, HeldAction::Send).await;
    assert_eq!(app.settle_due(Some(200), DeliveryTransition::Delivered).await, 1);
}

/// Inserts copies of the only delivery of a subscription.
async fn insert_copies(workspace: &TestWorkspace<'_>, subscription_id: SubscriptionId, count: usize) {
    let app = workspace.app;
    let rows = entity::webhook_deliveries::in_workspace(workspace.id.uuid());
    let first = workspace.deliveries(subscription_id).await[0].id.uuid();
    let write = app.begin_write().await;
    let first = rows.by_id(write.conn(), first).await.unwrap().unwrap();
    let copy = |_| entity::webhook_deliveries::Model {
        id: app.app.ids.next::<foundation::id::Delivery>(app.clock.now()).uuid(),
        ..first.clone()
    };
    rows.insert_many(write.conn(), (0..count).map(copy).collect()).await.unwrap();
    write.commit().await.unwrap();
}

#[tokio::test]
async fn a_long_queue_is_held_released_and_dropped_in_batches() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    insert_copies(&acme, subscription_id, 2500).await;
    let held_count = async || {
        let all = states(&acme.deliveries(subscription_id).await);
        all.iter().filter(|state| **state == DeliveryState::Held).count()
    };

    pause(&acme, subscription_id).await;
    assert_eq!(held_count().await, 1000, "the first batch");
    assert_eq!(
        app.settle_due(Some(200), DeliveryTransition::Delivered).await,
        0,
        "nothing is sent, although some deliveries are not held yet"
    );
    while webhooks::align_deliveries(&app.app).await.unwrap() {}
    assert_eq!(held_count().await, 2501);
    enable(&acme, subscription_id, HeldAction::Send).await;
    assert_eq!(held_count().await, 1501);
    while webhooks::align_deliveries(&app.app).await.unwrap() {}
    assert_eq!(held_count().await, 0);
    pause(&acme, subscription_id).await;
    let drop_all = async |dropped: &mut dyn FnMut(u64)| {
        let operator = Actor::operator();
        webhooks::enable_in_batches(&app.app, acme.id, subscription_id, HeldAction::Drop, &operator, dropped)
            .await
            .unwrap()
    };
    let mut progress = Vec::new();
    let enabled = drop_all(&mut |so_far| progress.push(so_far)).await;
    assert_eq!(
        (enabled.changed, enabled.released_or_dropped, progress),
        (true, 2501, vec![1000, 2000, 2501])
    );
    let repeated = drop_all(&mut |_| unreachable!("nothing is held")).await;
    assert_eq!((repeated.changed, repeated.released_or_dropped), (false, 0));
    let entries = audit_entries(&acme).await;
    let expected = "command line Enabled a webhook https://hooks.example/acme, 2501 deliveries dropped";
    assert_eq!(entries[0], expected, "{entries:?}");
    assert_eq!(entries.iter().filter(|line| line.contains("Dropped held deliveries")).count(), 1);
}

#[tokio::test]
async fn the_deliveries_of_a_deleted_subscription_are_not_found() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    insert_copies(&acme, subscription_id, 600).await;
    let ids: Vec<_> = acme.deliveries(subscription_id).await.iter().map(|row| row.id.uuid()).collect();
    in_transaction(&app, async |write| webhooks::delete(write, acme.id, subscription_id).await)
        .await
        .unwrap();
    // They are deleted in batches.
    let rows = entity::webhook_deliveries::in_workspace(acme.id.uuid());
    let remaining = rows.by_ids(app.app.db.read(), &ids).await.unwrap();
    let delivery = DeliveryId::from_uuid(remaining.first().expect("a row").id);
    let (key, path) = (acme.key_with_all_scopes().await, format!("/developer/v1/deliveries/{delivery}"));
    key.get(&path).await.assert_status(404);
    key.post(&format!("{path}/replay"), json!({})).await.assert_status(404);
}

#[tokio::test]
async fn concurrent_processes_delete_a_subscription_only_after_all_its_deliveries() {
    let app = TestApp::start().await;
    if !app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    insert_copies(&acme, subscription_id, 1_200).await;
    let remaining = async || {
        let rows = entity::webhook_deliveries::in_workspace(acme.id.uuid());
        rows.count(app.app.db.read()).await.unwrap()
    };
    in_transaction(&app, async |write| webhooks::delete(write, acme.id, subscription_id).await)
        .await
        .unwrap();
    assert_eq!(remaining().await, 701);

    // Another process deletes the next batch.
    let other_write = app.begin_write().await;
    assert_eq!(
        entity::webhook_deliveries::delete_batch(other_write.conn(), subscription_id.uuid(), 500)
            .await
            .unwrap(),
        500
    );
    let purge = tokio::spawn({
        let app = app.app.clone();
        async move { webhooks::purge_deleted(&app).await.unwrap() }
    });
    wait_until("the purge waits for the other process", async || {
        assert!(!purge.is_finished(), "the purge waits for the other process");
        app.has_blocked_session().await
    })
    .await;
    other_write.commit().await.unwrap();
    assert!(purge.await.unwrap(), "more deliveries remain");
    assert_eq!(remaining().await, 201, "the subscription was not deleted with them");
    while webhooks::purge_deleted(&app.app).await.unwrap() {}
    assert_eq!(remaining().await, 0);
    assert!(
        entity::webhook_subscriptions::by_id(app.app.db.read(), subscription_id.uuid())
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_held_deliveries_stops_when_the_subscription_is_enabled_meanwhile() {
    let mut app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    pause(&acme, subscription_id).await;
    acme.upsert_student("ada").await;
    insert_copies(&acme, subscription_id, 1500).await;
    let enable_meanwhile = |_| {
        let enabled = enable(&acme, subscription_id, HeldAction::Send);
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(enabled));
    };
    let operator = Actor::operator();
    let dropped = webhooks::enable_in_batches(
        &app.app,
        acme.id,
        subscription_id,
        HeldAction::Drop,
        &operator,
        enable_meanwhile,
    )
    .await;
    let dropped = dropped.unwrap();
    assert_eq!((dropped.changed, dropped.released_or_dropped), (false, 1000));
    assert_eq!(states(&acme.deliveries(subscription_id).await), [DeliveryState::Pending; 501]);
    assert_eq!(
        audit_entries(&acme).await[0],
        "command line Dropped held deliveries https://hooks.example/acme"
    );
    app.stop().await;
}

#[tokio::test]
async fn old_secrets_sign_until_their_overlap_ends() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, first) = acme.subscribe(CREATED).await;
    let rotate = async |overlap| {
        let rotated = async |write: &mut Write| {
            webhooks::rotate(&app.app, write, &app.seal(), acme.id, subscription_id, overlap).await
        };
        in_transaction(&app, rotated).await.map(|rotated| rotated.secret.expose_secret().to_owned())
    };
    let active = async || {
        let seal = app.seal();
        let conn = app.app.db.read();
        let mut active = webhooks::active_secrets(conn, &seal, &[subscription_id.uuid()], app.clock.now_ms())
            .await
            .unwrap();
        let secrets = active.remove(&subscription_id.uuid()).unwrap_or_default();
        secrets.iter().map(|secret| secret.expose_secret().to_owned()).collect::<Vec<_>>()
    };
    let hour = Duration::from_secs(3600);
    assert_eq!(active().await, [first.as_str()]);
    let second = rotate(24 * hour).await.unwrap();
    assert_eq!(active().await, [second.clone(), first.clone()], "newest first");
    app.clock.advance(24 * hour - Duration::from_millis(1));
    assert_eq!(active().await, [second.clone(), first]);
    app.clock.advance(Duration::from_millis(1));
    assert_eq!(active().await, [second]);

    let mut newest = String::new();
    for _ in 0..4 {
        newest = rotate(168 * hour).await.unwrap();
    }
    assert_eq!(active().await.len(), 5);
    assert_snapshot!(error_message(rotate(168 * hour).await), @"overlap: would leave 5 older secrets active; rotate without an overlap, or wait until some expire");
    assert_snapshot!(error_message(rotate(169 * hour).await), @"overlap: must be 0 to 7 days");
    assert_eq!(active().await[0], newest);
    let last = rotate(Duration::ZERO).await.unwrap();
    assert_eq!(active().await, [last], "the older secrets expire immediately");
}

#[tokio::test]
async fn secrets_are_encrypted_and_bound_to_their_subscription() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, secret) = acme.subscribe(CREATED).await;
    let (other, _) = acme.subscribe(CREATED).await;
    let conn = app.app.db.read();
    let stored = entity::webhook_secrets::active(conn, &[subscription_id.uuid()], 0).await.unwrap().remove(0);
    assert!(
        !stored.ciphertext.windows(6).any(|part| part == b"whsec_") && stored.ciphertext.len() > secret.len()
    );

    // A ciphertext that was copied to another subscription cannot be decrypted.
    let write = app.begin_write().await;
    let moved = entity::webhook_secrets::Model {
        id: uuid::Uuid::from_u128(1),
        subscription_id: other.uuid(),
        ..stored
    };
    entity::webhook_secrets::in_workspace(acme.id.uuid()).insert(write.conn(), moved).await.unwrap();
    write.commit().await.unwrap();
    let active =
        webhooks::active_secrets(conn, &app.seal(), &[other.uuid()], app.clock.now_ms()).await.unwrap();
    assert_eq!(active[&other.uuid()].len(), 1);
}

#[tokio::test]
async fn an_invalid_subscription_is_rejected_with_all_errors() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let try_create = async |url: &str, event_types: &[&str]| {
        let new = NewSubscription {
            url: url.to_owned(),
            event_types: event_types.iter().map(|&event_type| event_type.to_owned()).collect(),
            description: None,
        };
        let create =
            async |write: &mut Write| webhooks::create(&app.app, write, &app.seal(), acme.id, new).await;
        error_message(in_transaction(&app, create).await)
    };
    let rejected = [
        try_create("http://hooks.example/", CREATED).await,
        try_create("https://169.254.169.254/latest", CREATED).await,
        try_create("https://ada:secret@hooks.example/#x", &[]).await,
        try_create("hooks.example", &["student.creatd", "order.paid", "order.paid"]).await,
    ];
    assert_json_snapshot!(rejected);
    assert_eq!(webhooks::list(&app.app, acme.id).await.unwrap(), []);
}

#[tokio::test]
async fn a_workspace_cannot_exceed_the_limit_of_subscriptions() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "2")]).await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    let try_create = async || {
        let new = NewSubscription {
            url: "https://hooks.example/".to_owned(),
            event_types: vec!["order.paid".to_owned()],
            description: None,
        };
        let create =
            async |write: &mut Write| webhooks::create(&app.app, write, &app.seal(), acme.id, new).await;
        in_transaction(&app, create).await.map(|(subscription, _)| subscription.id)
    };
    acme.subscribe(CREATED).await;
    // Both begin with one subscription; only one of them creates the second.
    let (first, second) = tokio::join!(try_create(), try_create());
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    let created = first.as_ref().or(second.as_ref()).ok().copied().expect("one of them succeeds");
    assert_eq!(
        error_message(try_create().await),
        "subscriptions: are limited to 2 in a workspace, and this one has 2; delete one, or ask the operator of this \
         server to raise --max-subscriptions-per-workspace"
    );
    globex.subscribe(CREATED).await;

    // A deleted subscription does not count, although its deliveries are not deleted yet.
    acme.student("ada").await;
    in_transaction(&app, async |write| webhooks::delete(write, acme.id, created).await).await.unwrap();
    try_create().await.unwrap();
    error_message(try_create().await);
}

#[tokio::test]
async fn a_workspace_beyond_the_limit_keeps_its_subscriptions() {
    let app = TestApp::start_with(&[("max_subscriptions_per_workspace", "1")]).await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    let conn = app.app.db.read();
    let row = entity::webhook_subscriptions::by_id(conn, subscription_id.uuid()).await.unwrap().unwrap();
    let write = app.begin_write().await;
    let older = entity::webhook_subscriptions::Model { id: uuid::Uuid::from_u128(1), ..row };
    let scope = || entity::webhook_subscriptions::in_workspace(acme.id.uuid());
    scope().insert(write.conn(), older.clone()).await.unwrap();
    let event_types = ["student.created".to_owned()];
    entity::webhook_topics::insert(write.conn(), acme.id.uuid(), older.id, &event_types).await.unwrap();
    write.commit().await.unwrap();
    acme.student("ada").await;
    assert_eq!(acme.deliveries(SubscriptionId::from_uuid(older.id)).await.len(), 1);
    pause(&acme, subscription_id).await;
    assert_eq!(webhooks::list(&app.app, acme.id).await.unwrap().len(), 2);
}

#[tokio::test]
async fn webhooks_of_another_workspace_are_not_found() {
    let app = TestApp::start().await;
    let (acme, globex) = (app.workspace("acme").await, app.workspace("globex").await);
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    app.settle_due(Some(410), DeliveryTransition::Dead).await;
    let dead = acme.deliveries(subscription_id).await[0].id;
    let (app, domain_app) = (&app, &app.app);
    let other = globex.id;
    let day = Duration::from_secs(86_400);
    let messages = [
        error_message(webhooks::get(domain_app, other, subscription_id).await),
        error_message(
            webhooks::deliveries(
                domain_app,
                other,
                subscription_id,
                &Default::default(),
                PageRequest::newest_first(None, 10),
            )
            .await,
        ),
        error_message(
            in_transaction(app, async |write| webhooks::pause(write, other, subscription_id).await).await,
        ),
        error_message(
            in_transaction(app, async |write| {
                webhooks::enable(domain_app, write, other, subscription_id, HeldAction::Drop).await
            })
            .await,
        ),
        error_message(
            webhooks::enable_in_batches(
                domain_app,
                other,
                subscription_id,
                HeldAction::Drop,
                &Actor::operator(),
                |_| (),
            )
            .await,
        ),
        error_message(
            in_transaction(app, async |write| {
                webhooks::rotate(domain_app, write, &app.seal(), other, subscription_id, day).await
            })
            .await,
        ),
        error_message(
            in_transaction(app, async |write| {
                webhooks::send_test(domain_app, write, other, subscription_id, None).await
            })
            .await,
        ),
        error_message(
            in_transaction(app, async |write| webhooks::delete(write, other, subscription_id).await).await,
        ),
    ];
    let absent = format!("no webhook {subscription_id} in this workspace");
    assert!(messages.iter().all(|message| *message == absent), "{messages:?}");
    let resent =
        in_transaction(app, async |write| webhooks::send_again(domain_app, write, other, &[dead]).await)
            .await;
    assert_eq!(error_message(resent), format!("no delivery {dead} in this workspace"));
    assert_eq!(
        webhooks::dead_deliveries(
            domain_app,
            other,
            &Default::default(),
            PageRequest::newest_first(None, 10)
        )
        .await
        .unwrap()
        .items,
        []
    );
    assert_eq!(acme.deliveries(subscription_id).await.len(), 1);
}

#[tokio::test]
async fn a_test_sends_the_contract_s_example_to_one_subscription() {
    let app = TestApp::start().await;
    let contract = ContractValidator::fetch(&app).await;
    let acme = app.workspace("acme").await;
    for event_type in domain::outbox::EVENT_TYPES {
        let (subscription_id, _) = acme.subscribe(&[event_type]).await;
        let (other, _) = acme.subscribe(&[event_type]).await;
        let delivery = in_transaction(&app, async |write| {
            webhooks::send_test(&app.app, write, acme.id, subscription_id, None).await
        })
        .await
        .unwrap();
        assert_eq!(
            (delivery.origin, delivery.event_type.as_str(), delivery.state),
            (DeliveryOrigin::Test, *event_type, DeliveryState::Pending)
        );
        let event = app.events().await.pop().unwrap();
        assert_eq!(event["id"], delivery.event.to_string());
        assert_eq!(
            (&event["type"], &event["workspace_id"]),
            (&json!(event_type), &json!(acme.id.to_string()))
        );
        assert_eq!(event["created_at"], "2026-03-02T10:00:30.000Z");
        assert_eq!(
            contract.errors(&ContractValidator::event_schema(event_type), &event),
            Vec::<String>::new(),
            "{event}"
        );
        assert_eq!(acme.deliveries(other).await, []);
    }
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    pause(&acme, subscription_id).await;
    let test = in_transaction(&app, async |write| {
        webhooks::send_test(&app.app, write, acme.id, subscription_id, None).await
    })
    .await;
    assert!(error_message(test).ends_with("is not enabled, so nothing can be sent; enable it first"));
}

#[tokio::test]
async fn deleting_a_subscription_deletes_its_deliveries() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    app.settle_due(Some(500), DeliveryTransition::Retry(app.clock.now_ms() + 1)).await;
    in_transaction(&app, async |write| webhooks::delete(write, acme.id, subscription_id).await)
        .await
        .unwrap();
    assert!(matches!(webhooks::find(&app.app, subscription_id).await, Err(Error::NotFound(_))));
    acme.student("bob").await;
    assert_eq!(
        entity::webhook_deliveries::in_workspace(acme.id.uuid()).count(app.app.db.read()).await.unwrap(),
        0
    );
    assert_eq!(app.events_of_type("student.created").await.len(), 2, "the events remain");
}
