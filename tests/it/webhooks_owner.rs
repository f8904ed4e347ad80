//! Tests, edits and inspects subscriptions as their owner.

use std::time::Duration;

use domain::Error;
use domain::outbox::EVENT_TYPES;
use domain::page::{PageRequest, TimeSpan};
use domain::webhooks::{self, DeliveryFilter, DeliveryState, SubscriptionChange};
use entity::webhook_deliveries::StoredDeliveryOrigin;
use entity::webhook_deliveries::queue::DeliveryTransition;
use insta::assert_snapshot;

use crate::support::{Endpoint, TestApp, in_transaction};
use crate::webhooks_subscriptions::refusal;

const CREATED: &[&str] = &["student.created"];

#[tokio::test]
async fn a_test_can_send_any_event_type() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    let to = &app.app;
    let test = async |kind| {
        in_transaction(&app, async |write| webhooks::test(to, write, acme.id, of, kind).await).await
    };
    assert_eq!(test(Some("order.paid")).await.unwrap().event_type, "order.paid");
    assert_eq!(
        refusal(test(Some("order.payed")).await),
        "event_type: `order.payed` is not an event type; did you mean `order.paid`?"
    );
}

#[tokio::test]
async fn an_edit_sends_pending_deliveries_to_the_new_url_and_resets_its_health() {
    let app = TestApp::start_beside_receivers().await;
    let (before, after) = (Endpoint::start().await, Endpoint::start().await);
    before.always_answers(500);
    let acme = app.workspace("acme").await;
    let subscription = acme.subscribe_at(&before, CREATED).await;
    acme.student("ada").await;
    app.deliver_due().await;
    assert!(subscription.reload().await.failing_since.is_some());
    let change = |url: &str, kinds: &[&str]| SubscriptionChange {
        url: Some(url.to_owned()),
        event_types: Some(kinds.iter().map(|&kind| kind.to_owned()).collect()),
    };
    let edit = async |change| {
        let to = &app.app;
        in_transaction(&app, async |write| webhooks::edit(to, write, acme.id, subscription.id, change).await)
            .await
    };
    let edited = edit(change(&after.url(), &["student.deleted", "student.created"])).await.unwrap();
    assert!(edited.changed);
    let edited = edited.record;
    assert_eq!((edited.url.as_str(), edited.failing_since), (after.url().as_str(), None));
    assert_eq!(edited.event_types, ["student.created", "student.deleted"], "in the contract's order");
    assert_eq!(subscription.reload().await, edited);
    app.clock.advance(Duration::from_secs(60));
    let repeated = edit(change(&after.url(), &["student.created", "student.deleted"])).await.unwrap();
    assert_eq!((repeated.changed, repeated.record), (false, edited), "not even `updated_at` changes");
    assert_eq!(app.deliver_due().await, 1);
    assert_eq!((before.sent().len(), after.sent().len()), (1, 1));

    edit(SubscriptionChange { url: None, event_types: Some(vec!["order.paid".to_owned()]) }).await.unwrap();
    acme.student("grace").await;
    assert_eq!(app.deliver_due().await, 0, "the subscription no longer includes students");
    let rejected = refusal(edit(change("https://ada:secret@hooks.example/", &["student.creatd"])).await);
    assert_snapshot!(rejected, @"url: must not contain a user or password; receivers verify the signature instead; event_types/0: `student.creatd` is not an event type; did you mean `student.created`?");
    assert_eq!(subscription.reload().await.url, after.url(), "nothing of it is stored");
}

#[tokio::test]
async fn a_delivery_shows_all_requests_and_responses() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    endpoint.answers([503, 204]);
    let acme = app.workspace("acme").await;
    let subscription = acme.subscribe_at(&endpoint, CREATED).await;
    acme.student("ada").await;
    app.deliver_due().await;
    let of = subscription.deliveries().await[0].id;
    let first = webhooks::delivery_detail(&app.app, acme.id, of).await.unwrap();
    assert_eq!((first.delivery.state, first.messages.len()), (DeliveryState::Pending, 1));
    assert_eq!(first.delivery.next_attempt_at, Some(app.clock.now() + Duration::from_secs(60)));
    app.clock.advance(Duration::from_secs(60));
    app.deliver_due().await;

    let detail = webhooks::delivery_detail(&app.app, acme.id, of).await.unwrap();
    let sent = endpoint.sent();
    assert_eq!(detail.delivery, subscription.deliveries().await[0]);
    assert_eq!((detail.messages.len(), detail.delivery.attempts.len(), sent.len()), (2, 2, 2));
    for (messages, sent) in detail.messages.iter().zip(&sent) {
        assert_eq!(detail.body, sent.body, "the exact bytes");
        for name in ["x-svc-signature", "x-svc-delivery", "webhook-id", "webhook-signature", "content-type"] {
            assert_eq!(messages.request_headers[name], sent.header(name));
        }
    }
    let failed = detail.messages[0].response.as_ref().unwrap();
    assert_eq!((failed.headers["content-length"].as_str(), failed.body.as_slice()), ("2", &b"ok"[..]));
    assert_eq!(detail.messages[1].response.as_ref().unwrap().body, b"");
    let globex = app.workspace("globex").await;
    assert_eq!(
        refusal(webhooks::delivery_detail(&app.app, globex.id, of).await),
        format!("no delivery {of} in this workspace")
    );
}

#[tokio::test]
async fn deliveries_are_filtered_by_state_type_and_time() {
    let app = TestApp::start_beside_receivers().await;
    let endpoint = Endpoint::start().await;
    endpoint.answers([204, 404, 500]);
    let acme = app.workspace("acme").await;
    let subscription = acme.subscribe_at(&endpoint, EVENT_TYPES).await;
    for name in ["delivered", "dead", "again"] {
        acme.student(name).await;
        app.deliver_due().await;
        app.clock.advance(Duration::from_secs(1));
    }
    let all = subscription.deliveries().await;
    let found = async |filter: DeliveryFilter| {
        let page = webhooks::deliveries(
            &app.app,
            acme.id,
            subscription.id,
            &filter,
            PageRequest::newest_first(None, 10),
        )
        .await
        .unwrap();
        page.items.into_iter().map(|delivery| delivery.id).collect::<Vec<_>>()
    };
    let of = |state| DeliveryFilter { state: Some(state), ..DeliveryFilter::default() };
    assert_eq!(found(of(DeliveryState::Delivered)).await, [all[0].id]);
    assert_eq!(found(of(DeliveryState::Dead)).await, [all[1].id]);
    assert_eq!(found(of(DeliveryState::Pending)).await, [all[2].id]);
    assert_eq!(found(of(DeliveryState::Held)).await, []);
    let kind = |kind: &str| DeliveryFilter { event_type: Some(kind.to_owned()), ..DeliveryFilter::default() };
    assert_eq!(found(kind("student.created")).await.len(), 3);
    assert_eq!(found(kind("order.paid")).await, []);
    let created = TimeSpan { from: Some(all[1].created_at), to: Some(all[2].created_at) };
    assert_eq!(found(DeliveryFilter { created, ..DeliveryFilter::default() }).await, [all[1].id]);
    let to = &app.app;
    assert!(
        webhooks::deliveries(
            to,
            acme.id,
            subscription.id,
            &kind("order.payed"),
            PageRequest::newest_first(None, 10)
        )
        .await
        .is_err()
    );
}

#[tokio::test]
async fn the_deliveries_of_a_deleted_subscription_are_deleted_in_batches() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (of, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    let rows = entity::webhook_deliveries::in_workspace(acme.id.uuid());
    let row =
        entity::webhook_deliveries::by_id(app.app.db.read(), acme.deliveries(of).await[0].id.uuid()).await;
    let row = row.unwrap().unwrap();
    let write = app.write().await;
    let more = (0..1_200)
        .map(|number| row.send_again(uuid::Uuid::from_u128(number), StoredDeliveryOrigin::Resend, true, 1));
    rows.insert_many(write.conn(), more.collect()).await.unwrap();
    write.commit().await.unwrap();

    in_transaction(&app, async |write| webhooks::delete(write, acme.id, of).await).await.unwrap();
    let left = async || rows.count(app.app.db.read()).await.unwrap();
    assert_eq!(left().await, 701, "one batch is deleted in the same transaction");
    assert!(matches!(webhooks::find(&app.app, of).await, Err(Error::NotFound(_))));
    assert_eq!(webhooks::list(&app.app, acme.id).await.unwrap(), []);
    assert_eq!(app.settle_due(Some(204), DeliveryTransition::Delivered).await, 0, "nothing is sent");
    acme.student("bob").await;
    ::webhooks::maintenance::run_once(&app.app).await.unwrap();
    assert_eq!(left().await, 0);
    let subscriptions = entity::webhook_subscriptions::in_workspace(acme.id.uuid());
    assert_eq!(subscriptions.count(app.app.db.read()).await.unwrap(), 0);
}
