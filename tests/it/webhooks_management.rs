//! What members of a workspace can do with subscriptions: send test events, edit, delete, and inspect deliveries.

use std::time::Duration;

use domain::Error;
use domain::outbox::EVENT_TYPES;
use domain::page::{PageRequest, TimeSpan};
use domain::webhooks::{self, DeliveryFilter, DeliveryState, SubscriptionChange};
use entity::webhook_deliveries::StoredDeliveryOrigin;
use entity::webhook_deliveries::queue::DeliveryTransition;
use insta::assert_snapshot;

use crate::support::{Endpoint, TestApp, error_message, in_transaction};

const CREATED: &[&str] = &["student.created"];

#[tokio::test]
async fn a_test_can_send_any_event_type() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    let domain_app = &app.app;
    let send_test = async |event_type| {
        in_transaction(&app, async |write| {
            webhooks::send_test(domain_app, write, acme.id, subscription_id, event_type).await
        })
        .await
    };
    assert_eq!(send_test(Some("order.paid")).await.unwrap().event_type, "order.paid");
    assert_eq!(
        error_message(send_test(Some("order.payed")).await),
        "event_type: `order.payed` is not an event type; did you mean `order.paid`?"
    );
}

#[tokio::test]
async fn an_edit_sends_pending_deliveries_to_the_new_url_and_resets_its_health() {
    let app = TestApp::start_with_local_webhooks().await;
    let (old_endpoint, new_endpoint) = (Endpoint::start().await, Endpoint::start().await);
    old_endpoint.always_respond_with(500);
    let acme = app.workspace("acme").await;
    let subscription = acme.subscribe_endpoint(&old_endpoint, CREATED).await;
    acme.student("ada").await;
    app.deliver_due().await;
    assert!(subscription.reload().await.failing_since.is_some());
    let change = |url: &str, event_types: &[&str]| SubscriptionChange {
        url: Some(url.to_owned()),
        event_types: Some(event_types.iter().map(|&event_type| event_type.to_owned()).collect()),
        description: None,
    };
    let edit = async |change| {
        let domain_app = &app.app;
        in_transaction(&app, async |write| {
            webhooks::edit(domain_app, write, acme.id, subscription.id, change).await
        })
        .await
    };
    let edited = edit(change(&new_endpoint.url(), &["student.deleted", "student.created"])).await.unwrap();
    assert!(edited.changed);
    let edited = edited.record;
    assert_eq!((edited.url.as_str(), edited.failing_since), (new_endpoint.url().as_str(), None));
    assert_eq!(edited.event_types, ["student.created", "student.deleted"], "in the contract's order");
    assert_eq!(subscription.reload().await, edited);
    app.clock.advance(Duration::from_secs(60));
    let repeated = edit(change(&new_endpoint.url(), &["student.created", "student.deleted"])).await.unwrap();
    assert_eq!((repeated.changed, repeated.record), (false, edited), "not even `updated_at` changes");
    assert_eq!(app.deliver_due().await, 1);
    assert_eq!((old_endpoint.requests().len(), new_endpoint.requests().len()), (1, 1));

    edit(SubscriptionChange { event_types: Some(vec!["order.paid".to_owned()]), ..Default::default() })
        .await
        .unwrap();
    acme.student("grace").await;
    assert_eq!(app.deliver_due().await, 0, "the subscription no longer includes students");
    let rejected =
        error_message(edit(change("https://ada:secret@hooks.example/", &["student.creatd"])).await);
    assert_snapshot!(rejected, @"url: must not contain a user or password; receivers verify the signature instead; event_types/0: `student.creatd` is not an event type; did you mean `student.created`?");
    assert_eq!(subscription.reload().await.url, new_endpoint.url(), "a rejected edit changes nothing");
}

#[tokio::test]
async fn a_delivery_shows_all_requests_and_responses() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with([503, 204]);
    let acme = app.workspace("acme").await;
    let subscription = acme.subscribe_endpoint(&endpoint, CREATED).await;
    acme.student("ada").await;
    app.deliver_due().await;
    let delivery_id = subscription.deliveries().await[0].id;
    let first = webhooks::delivery_detail(&app.app, acme.id, delivery_id).await.unwrap();
    assert_eq!((first.delivery.state, first.messages.len()), (DeliveryState::Pending, 1));
    assert_eq!(first.delivery.next_attempt_at, Some(app.clock.now() + Duration::from_secs(60)));
    app.clock.advance(Duration::from_secs(60));
    app.deliver_due().await;

    let detail = webhooks::delivery_detail(&app.app, acme.id, delivery_id).await.unwrap();
    let requests = endpoint.requests();
    assert_eq!(detail.delivery, subscription.deliveries().await[0]);
    assert_eq!((detail.messages.len(), detail.delivery.attempts.len(), requests.len()), (2, 2, 2));
    for (message, request) in detail.messages.iter().zip(&requests) {
        assert_eq!(detail.body, request.body, "the exact bytes");
        for name in ["x-svc-signature", "x-svc-delivery", "webhook-id", "webhook-signature", "content-type"] {
            assert_eq!(message.request_headers[name], request.header(name));
        }
    }
    let failed = detail.messages[0].response.as_ref().unwrap();
    assert_eq!((failed.headers["content-length"].as_str(), failed.body.as_slice()), ("2", &b"ok"[..]));
    assert_eq!(detail.messages[1].response.as_ref().unwrap().body, b"");
    let globex = app.workspace("globex").await;
    assert_eq!(
        error_message(webhooks::delivery_detail(&app.app, globex.id, delivery_id).await),
        format!("no delivery {delivery_id} in this workspace")
    );
}

#[tokio::test]
async fn deliveries_are_filtered_by_state_type_and_time() {
    let app = TestApp::start_with_local_webhooks().await;
    let endpoint = Endpoint::start().await;
    endpoint.respond_with([204, 404, 500]);
    let acme = app.workspace("acme").await;
    let subscription = acme.subscribe_endpoint(&endpoint, EVENT_TYPES).await;
    for name in ["delivered", "dead", "again"] {
        acme.student(name).await;
        app.deliver_due().await;
        app.clock.advance(Duration::from_secs(1));
    }
    let all = subscription.deliveries().await;
    let filtered_ids = async |filter: DeliveryFilter| {
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
    let in_state = |state| DeliveryFilter { state: Some(state), ..DeliveryFilter::default() };
    assert_eq!(filtered_ids(in_state(DeliveryState::Delivered)).await, [all[0].id]);
    assert_eq!(filtered_ids(in_state(DeliveryState::Dead)).await, [all[1].id]);
    assert_eq!(filtered_ids(in_state(DeliveryState::Pending)).await, [all[2].id]);
    assert_eq!(filtered_ids(in_state(DeliveryState::Held)).await, []);
    let of_type = |event_type: &str| DeliveryFilter {
        event_type: Some(event_type.to_owned()),
        ..DeliveryFilter::default()
    };
    assert_eq!(filtered_ids(of_type("student.created")).await.len(), 3);
    assert_eq!(filtered_ids(of_type("order.paid")).await, []);
    let created = TimeSpan { from: Some(all[1].created_at), to: Some(all[2].created_at) };
    assert_eq!(filtered_ids(DeliveryFilter { created, ..DeliveryFilter::default() }).await, [all[1].id]);
    let domain_app = &app.app;
    assert!(
        webhooks::deliveries(
            domain_app,
            acme.id,
            subscription.id,
            &of_type("order.payed"),
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
    let (subscription_id, _) = acme.subscribe(CREATED).await;
    acme.student("ada").await;
    let rows = entity::webhook_deliveries::in_workspace(acme.id.uuid());
    let row = entity::webhook_deliveries::by_id(
        app.app.db.read(),
        acme.deliveries(subscription_id).await[0].id.uuid(),
    )
    .await;
    let row = row.unwrap().unwrap();
    let write = app.begin_write().await;
    // The copies are due since 1 ms after the epoch.
    let copies = (0..1_200)
        .map(|number| row.new_copy(uuid::Uuid::from_u128(number), StoredDeliveryOrigin::Resend, true, 1));
    rows.insert_many(write.conn(), copies.collect()).await.unwrap();
    write.commit().await.unwrap();

    in_transaction(&app, async |write| webhooks::delete(write, acme.id, subscription_id).await)
        .await
        .unwrap();
    let remaining = async || rows.count(app.app.db.read()).await.unwrap();
    assert_eq!(remaining().await, 701, "one batch is deleted in the same transaction");
    assert!(matches!(webhooks::find(&app.app, subscription_id).await, Err(Error::NotFound(_))));
    assert_eq!(webhooks::list(&app.app, acme.id).await.unwrap(), []);
    assert_eq!(app.settle_due(Some(204), DeliveryTransition::Delivered).await, 0, "nothing is sent");
    acme.student("bob").await;
    ::webhooks::maintenance::run_once(&app.app).await.unwrap();
    assert_eq!(remaining().await, 0);
    let subscriptions = entity::webhook_subscriptions::in_workspace(acme.id.uuid());
    assert_eq!(subscriptions.count(app.app.db.read()).await.unwrap(), 0);
}
