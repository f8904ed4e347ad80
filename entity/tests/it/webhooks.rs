//! Webhooks: rows are stored unchanged, the subscriptions to an event are found, and old rows are pruned. Times are
//! milliseconds since the epoch.

use entity::webhook_deliveries::{
    DeadRowFilter, DeliveryRowFilter, StoredDeliveryOrigin, StoredDeliveryState,
};
use entity::webhook_subscriptions::{StoredSubscriptionState, Subscriber};
use entity::{
    InWorkspace, Keyset, Set, SpanMs, StringList, StringMap, events, webhook_attempts, webhook_deliveries,
    webhook_fanouts, webhook_replays, webhook_secrets, webhook_subscriptions, webhook_topics,
};
use sea_orm::{DatabaseConnection, DbBackend};

use crate::support::{OURS, THEIRS, databases, id};
use crate::tables::assert_stored_in_workspace;

/// Returns a subscription to `order.paid`.
pub(crate) fn subscription(number: u128) -> webhook_subscriptions::Model {
    webhook_subscriptions::Model {
        id: id(number),
        workspace_id: OURS,
        url: format!("https://example.com/{number}"),
        event_types: StringList(vec!["order.paid".to_owned()]),
        state: StoredSubscriptionState::Enabled,
        failing_since: None,
        warned_at: None,
        disabled_at: None,
        deleted_at: None,
        created_at: 1,
        updated_at: 2,
        filters: None,
        headers: None,
        rate: None,
        ed25519: false,
        outage_since: None,
        recovered_at: None,
        offered_from: None,
        description: None,
    }
}

pub(crate) fn event(number: u128) -> events::Model {
    let body = format!(r#"{{"id":"{number}"}}"#).into_bytes();
    let event_type = "order.paid".to_owned();
    let traceparent = None;
    events::Model {
        id: id(number),
        workspace_id: OURS,
        event_type,
        created_at: 70,
        body,
        traceparent,
        is_test: false,
    }
}

/// Returns a delivery of event 500 that is due immediately.
pub(crate) fn delivery(number: u128, subscription: u128, now: i64) -> webhook_deliveries::Model {
    webhook_deliveries::Model::new(id(number), id(subscription), &event(500), true, now)
}

/// Returns a dead delivery.
fn dead(number: u128, at: i64) -> webhook_deliveries::Model {
    webhook_deliveries::Model {
        state: StoredDeliveryState::Dead,
        next_attempt_at: None,
        attempts: 7,
        settled_at: Some(at + 9),
        last_status: Some(503),
        ..delivery(number, 1, at)
    }
}

fn attempt(number: u128, delivery: u128) -> webhook_attempts::Model {
    webhook_attempts::Model {
        id: id(number),
        workspace_id: OURS,
        delivery_id: id(delivery),
        number: 1,
        started_at: 100,
        ended_at: 130,
        status: Some(500),
        error: Some("timeout".to_owned()),
        request_headers: StringMap([("X-SVC-Event".to_owned(), "order.paid".to_owned())].into()),
        response_headers: Some(StringMap::default()),
        response_body: Some(b"\xff\0".to_vec()),
    }
}

/// Inserts subscriptions 1 and 2, and event 500.
pub(crate) async fn insert_subscriptions_and_event(database: &DatabaseConnection) {
    for number in [1, 2] {
        webhook_subscriptions::in_workspace(OURS).insert(database, subscription(number)).await.unwrap();
    }
    events::in_workspace(OURS).insert(database, event(500)).await.unwrap();
}

#[tokio::test]
async fn every_webhook_row_is_stored_unchanged() {
    for database in databases().await {
        let database = &database;
        let changed = webhook_subscriptions::Model {
            state: StoredSubscriptionState::Disabled,
            failing_since: Some(3),
            warned_at: Some(4),
            disabled_at: Some(5),
            filters: Some("order.paid /id exists".to_owned()),
            headers: Some(StringMap([("x-a".to_owned(), "00".to_owned())].into())),
            rate: Some(7),
            ed25519: true,
            outage_since: Some(8),
            recovered_at: Some(9),
            offered_from: Some(10),
            ..subscription(1)
        };
        assert_stored_in_workspace::<webhook_subscriptions::Entity>(database, 1, changed).await;
        events::in_workspace(OURS).insert(database, event(500)).await.unwrap();
        let secret = webhook_secrets::Model {
            id: id(2),
            workspace_id: OURS,
            subscription_id: id(1),
            ciphertext: vec![0, 255],
            created_at: 6,
            expires_at: Some(7),
        };
        assert_stored_in_workspace::<webhook_secrets::Entity>(database, 2, secret).await;
        let leased = webhook_deliveries::Model {
            origin: StoredDeliveryOrigin::Replay,
            replayed_from: Some(id(9)),
            job_id: Some(id(10)),
            lease_token: Some(id(11)),
            lease_until: Some(99),
            last_error: Some("timeout".to_owned()),
            ..delivery(3, 1, 8)
        };
        assert_stored_in_workspace::<webhook_deliveries::Entity>(database, 3, leased).await;
        assert_stored_in_workspace::<webhook_attempts::Entity>(database, 4, attempt(4, 3)).await;
        let job = webhook_replays::Model {
            id: id(5),
            workspace_id: OURS,
            subscription_id: Some(id(1)),
            event_type: Some("order.paid".to_owned()),
            from_ms: Some(1),
            to_ms: Some(2),
            state: webhook_replays::StoredReplayState::Running,
            total: 3,
            done: 2,
            position_at: Some(4),
            position_id: Some(id(3)),
            created_at: 5,
            updated_at: 6,
            ended_at: None,
        };
        assert_stored_in_workspace::<webhook_replays::Entity>(database, 5, job.clone()).await;
        assert_eq!(webhook_replays::running(database, 9).await.unwrap(), [job]);

        assert!(webhook_subscriptions::in_workspace(OURS).delete(database, id(1)).await.unwrap());
        // On PostgreSQL, attempts are deleted with their day.
        let attempts = u64::from(database.get_database_backend() == DbBackend::Postgres);
        assert_eq!(webhook_attempts::in_workspace(OURS).count(database).await.unwrap(), attempts);
        assert_eq!(webhook_secrets::in_workspace(OURS).count(database).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn the_subscriptions_to_an_event_are_found() {
    for database in databases().await {
        insert_subscriptions_and_event(&database).await;
        let owned =
            |types: &[&str]| types.iter().map(|&event_type| event_type.to_owned()).collect::<Vec<_>>();
        webhook_topics::insert(&database, OURS, id(1), &owned(&["order.paid", "order.refunded"]))
            .await
            .unwrap();
        webhook_topics::insert(&database, OURS, id(2), &owned(&["order.paid"])).await.unwrap();
        webhook_subscriptions::disable(&database, id(2), 9).await.unwrap();
        let ours = webhook_subscriptions::in_workspace(OURS);
        let change = webhook_subscriptions::ActiveModel {
            rate: Set(Some(5)),
            filters: Set(Some("order.paid /id exists".to_owned())),
            ..Default::default()
        };
        assert!(ours.update(&database, id(2), change).await.unwrap());
        let first =
            Subscriber { id: id(1), state: StoredSubscriptionState::Enabled, has_rate: false, filters: None };
        let second = Subscriber {
            id: id(2),
            state: StoredSubscriptionState::Disabled,
            has_rate: true,
            filters: Some("order.paid /id exists".to_owned()),
        };
        let mut paid = ours.subscribed_to(&database, "order.paid", 9).await.unwrap().0;
        paid.sort_by_key(|subscriber| subscriber.id);
        assert_eq!(paid, [first.clone(), second.clone()]);
        let mut by_id = ours.subscribers(&database, &[id(1), id(2)]).await.unwrap();
        by_id.sort_by_key(|subscriber| subscriber.id);
        assert_eq!(by_id, [first.clone(), second]);
        let refunded = ours.subscribed_to(&database, "order.refunded", 9).await.unwrap().0;
        assert_eq!(refunded, [first]);
        assert_eq!(ours.subscribed_to(&database, "student.created", 9).await.unwrap().0, []);
        let (first, has_more) = ours.subscribed_to(&database, "order.paid", 1).await.unwrap();
        assert_eq!((first.len(), has_more), (1, true));
        assert!(!ours.subscribed_to(&database, "order.paid", paid.len()).await.unwrap().1);
        let theirs = webhook_subscriptions::in_workspace(THEIRS);
        assert_eq!(theirs.subscribed_to(&database, "order.paid", 9).await.unwrap(), (Vec::new(), false));
    }
}

#[tokio::test]
async fn failing_and_warned_times_are_set_once_and_cleared_together() {
    for database in databases().await {
        insert_subscriptions_and_event(&database).await;
        let row = async |number| {
            webhook_subscriptions::lock_many(&database, &[id(number)]).await.unwrap().remove(0)
        };
        assert!(!webhook_subscriptions::clear_failing(&database, id(1)).await.unwrap());
        assert!(
            !webhook_subscriptions::set_warned(&database, id(1), 5).await.unwrap(),
            "the subscription is not failing"
        );
        assert!(webhook_subscriptions::set_failing(&database, id(1), 10).await.unwrap());
        assert!(!webhook_subscriptions::set_failing(&database, id(1), 20).await.unwrap());
        assert!(webhook_subscriptions::set_warned(&database, id(1), 30).await.unwrap());
        assert!(!webhook_subscriptions::set_warned(&database, id(1), 31).await.unwrap());
        assert_eq!((row(1).await.failing_since, row(1).await.warned_at), (Some(10), Some(30)));
        assert!(webhook_subscriptions::clear_failing(&database, id(1)).await.unwrap());
        assert_eq!((row(1).await.failing_since, row(1).await.warned_at), (None, None));
        assert!(webhook_subscriptions::disable(&database, id(1), 40).await.unwrap());
        assert!(!webhook_subscriptions::disable(&database, id(1), 41).await.unwrap());
        assert_eq!(
            (row(1).await.state, row(1).await.disabled_at),
            (StoredSubscriptionState::Disabled, Some(40))
        );
        assert_eq!(row(2).await, subscription(2));
    }
}

#[tokio::test]
async fn secrets_are_active_until_they_expire_and_sorted_newest_first() {
    for database in databases().await {
        insert_subscriptions_and_event(&database).await;
        let secrets = webhook_secrets::in_workspace(OURS);
        let secret = |number, created_at, expires_at| webhook_secrets::Model {
            id: id(number),
            workspace_id: OURS,
            subscription_id: id(1),
            ciphertext: vec![1],
            created_at,
            expires_at,
        };
        for row in [secret(10, 10, Some(100)), secret(11, 20, Some(300)), secret(12, 30, None)] {
            secrets.insert(&database, row).await.unwrap();
        }
        let active = async |now| {
            let secrets = webhook_secrets::active(&database, &[id(1), id(2)], now).await.unwrap();
            secrets.into_iter().map(|secret| (secret.id, secret.expires_at)).collect::<Vec<_>>()
        };
        assert_eq!(active(99).await, [(id(12), None), (id(11), Some(300)), (id(10), Some(100))]);
        assert_eq!(active(100).await, [(id(12), None), (id(11), Some(300))]);
        assert_eq!(secrets.expire(&database, id(1), 100, 200).await.unwrap(), 2);
        assert_eq!(active(100).await, [(id(12), Some(200)), (id(11), Some(200))]);
        assert_eq!(secrets.count(&database).await.unwrap(), 2, "expired secrets are deleted");
        assert_eq!(secrets.expire(&database, id(1), 100, 100).await.unwrap(), 0, "expired immediately");
    }
}

/// Inserts three dead deliveries, a replay of one of them, and a pending delivery. Returns the deliveries of the
/// workspace.
async fn insert_dead_deliveries(database: &DatabaseConnection) -> InWorkspace<webhook_deliveries::Entity> {
    insert_subscriptions_and_event(database).await;
    let ours = webhook_deliveries::in_workspace(OURS);
    let of_other_subscription = webhook_deliveries::Model { subscription_id: id(2), ..dead(13, 30) };
    let refunded = webhook_deliveries::Model { event_type: "order.refunded".to_owned(), ..dead(12, 20) };
    let replay = dead(11, 10).new_copy(id(14), StoredDeliveryOrigin::Replay, true, 40);
    let rows = vec![dead(11, 10), refunded, of_other_subscription, replay, delivery(15, 1, 50)];
    ours.insert_many(database, rows).await.unwrap();
    ours
}

#[tokio::test]
async fn dead_deliveries_are_filtered_and_counted() {
    for database in databases().await {
        let ours = insert_dead_deliveries(&database).await;
        let matching_ids = async |filter: DeadRowFilter, after| {
            let column = webhook_deliveries::Column::CreatedAt;
            let keyset = Keyset { column, descending: true, after, to: None, limit: 9, updated_before: None };
            let dead = ours.dead(&database, &filter, keyset).await.unwrap();
            if after.is_none() {
                assert_eq!(ours.count_dead(&database, &filter, None).await.unwrap(), dead.len() as u64);
                let one_row = Keyset { limit: 1, after: None, ..keyset };
                assert_eq!(ours.count_dead(&database, &filter, Some(one_row)).await.unwrap(), 1);
            }
            dead.into_iter().map(|row| row.id.as_u128()).collect::<Vec<_>>()
        };
        assert_eq!(matching_ids(DeadRowFilter::default(), None).await, [13, 12, 11]);
        assert_eq!(matching_ids(DeadRowFilter::default(), Some((30, id(13)))).await, [12, 11]);
        assert_eq!(
            matching_ids(DeadRowFilter { subscription: Some(id(2)), ..DeadRowFilter::default() }, None).await,
            [13]
        );
        let refunded = Some("order.refunded".to_owned());
        assert_eq!(
            matching_ids(DeadRowFilter { event_type: refunded, ..DeadRowFilter::default() }, None).await,
            [12]
        );
        assert_eq!(
            matching_ids(
                DeadRowFilter { created: SpanMs::between(10, 20), ..DeadRowFilter::default() },
                None
            )
            .await,
            [11]
        );
        assert_eq!(
            matching_ids(DeadRowFilter { unreplayed: true, ..DeadRowFilter::default() }, None).await,
            [13, 12]
        );
        let change = webhook_deliveries::ActiveModel { job_id: Set(Some(id(9))), ..Default::default() };
        assert!(ours.update(&database, id(12), change).await.unwrap());
        assert_eq!(
            matching_ids(
                DeadRowFilter { not_created_by_replay: Some(id(9)), ..DeadRowFilter::default() },
                None
            )
            .await,
            [13, 11]
        );
        assert_eq!(
            webhook_deliveries::in_workspace(THEIRS)
                .count_dead(&database, &DeadRowFilter::default(), None)
                .await
                .unwrap(),
            0
        );
    }
}

#[tokio::test]
async fn deliveries_of_a_subscription_are_filtered() {
    for database in databases().await {
        let ours = insert_dead_deliveries(&database).await;
        let column = webhook_deliveries::Column::CreatedAt;
        let keyset =
            Keyset { column, descending: false, after: None, to: None, limit: 2, updated_before: None };
        let all_of_first = DeliveryRowFilter {
            subscription: id(1),
            state: None,
            event_type: None,
            created: SpanMs::default(),
        };
        let matching_ids = async |filter: &DeliveryRowFilter| {
            let rows = ours.of_subscription(&database, filter, keyset).await.unwrap();
            rows.iter().map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(matching_ids(&all_of_first).await, [id(11), id(12)]);
        assert_eq!(
            matching_ids(&DeliveryRowFilter {
                state: Some(StoredDeliveryState::Dead),
                ..all_of_first.clone()
            })
            .await,
            [id(11), id(12)]
        );
        assert!(
            matching_ids(&DeliveryRowFilter {
                state: Some(StoredDeliveryState::Held),
                ..all_of_first.clone()
            })
            .await
            .is_empty()
        );
        let refunded = Some("order.refunded".to_owned());
        assert_eq!(
            matching_ids(&DeliveryRowFilter { event_type: refunded, ..all_of_first.clone() }).await,
            [id(12)]
        );
        assert_eq!(
            matching_ids(&DeliveryRowFilter { created: SpanMs::between(10, 20), ..all_of_first }).await,
            [id(11)]
        );
    }
}

#[tokio::test]
async fn list_positions_are_found_only_in_the_same_workspace() {
    for database in databases().await {
        insert_subscriptions_and_event(&database).await;
        let ours = webhook_deliveries::in_workspace(OURS);
        let of_other_subscription = webhook_deliveries::Model { subscription_id: id(2), ..dead(14, 25) };
        let all = vec![dead(11, 10), dead(12, 20), of_other_subscription, delivery(13, 1, 30)];
        ours.insert_many(&database, all).await.unwrap();
        let column = webhook_deliveries::Column::CreatedAt;
        let keyset =
            Keyset { column, descending: true, after: None, to: None, limit: 1, updated_before: None };
        let position_at = async |created, keyset, row_number| {
            ours.position_at(&database, id(1), created, keyset, row_number).await.unwrap()
        };
        assert_eq!(position_at(SpanMs::default(), keyset, 1).await, Some((30, id(13))));
        assert_eq!(position_at(SpanMs::default(), keyset, 2).await, Some((20, id(12))));
        assert_eq!(position_at(SpanMs::default(), keyset, 3).await, None, "no delivery follows");
        assert_eq!(position_at(SpanMs::between(10, 30), keyset, 1).await, Some((20, id(12))));
        let second_page = Keyset { after: Some((30, id(13))), ..keyset };
        assert_eq!(position_at(SpanMs::default(), second_page, 1).await, Some((20, id(12))));
        let theirs = webhook_deliveries::in_workspace(THEIRS);
        assert_eq!(theirs.position_at(&database, id(1), SpanMs::default(), keyset, 1).await.unwrap(), None);

        let all = SpanMs::default();
        let dead_position_at = async |subscription, row_number| {
            ours.dead_position_at(&database, subscription, all, keyset, row_number).await.unwrap()
        };
        assert_eq!(dead_position_at(None, 1).await, Some((25, id(14))));
        assert_eq!(dead_position_at(None, 2).await, Some((20, id(12))));
        assert_eq!(dead_position_at(None, 3).await, None, "no delivery follows");
        assert_eq!(dead_position_at(Some(id(1)), 1).await, Some((20, id(12))));
        assert_eq!(dead_position_at(Some(id(1)), 2).await, None);
        for subscription in [None, Some(id(1))] {
            assert_eq!(theirs.dead_position_at(&database, subscription, all, keyset, 1).await.unwrap(), None);
        }
    }
}

#[tokio::test]
async fn old_rows_are_pruned_in_batches_and_pending_rows_remain() {
    for database in databases().await {
        insert_subscriptions_and_event(&database).await;
        let ours = webhook_deliveries::in_workspace(OURS);
        events::in_workspace(OURS).insert_many(&database, (501..504).map(event).collect()).await.unwrap();
        let held = webhook_deliveries::Model::new(id(20), id(1), &event(502), false, 1);
        let rows = vec![dead(21, 1), dead(22, 2), dead(23, 300), held, delivery(24, 1, 1)];
        ours.insert_many(&database, rows).await.unwrap();
        let attempts = vec![attempt(31, 21), attempt(32, 22), attempt(33, 20), attempt(34, 24)];
        webhook_attempts::insert_many(&database, attempts).await.unwrap();

        let summaries = webhook_attempts::in_workspace(OURS).summaries(&database, &[id(21)]).await.unwrap();
        assert_eq!((summaries[0].number, summaries[0].error.as_deref()), (1, Some("timeout")));
        assert_eq!(webhook_attempts::prune(&database, id(34), i64::MAX, 2).await.unwrap(), 2);
        assert_eq!(webhook_attempts::prune(&database, id(34), i64::MAX, 2).await.unwrap(), 1);
        let attempts = webhook_attempts::in_workspace(OURS);
        assert_eq!(attempts.by_id(&database, id(34)).await.unwrap(), Some(attempt(34, 24)));

        assert_eq!(webhook_deliveries::prune(&database, 100, 1).await.unwrap(), 1);
        assert_eq!(webhook_deliveries::prune(&database, 100, 9).await.unwrap(), 1);
        assert_eq!(webhook_deliveries::prune(&database, 100, 9).await.unwrap(), 0);
        assert_eq!(ours.count(&database).await.unwrap(), 3);

        let prune = async |after| events::prune(&database, id(503), after, 2).await.unwrap();
        assert_eq!(prune(None).await, (1, Some(id(501))), "500 has deliveries");
        assert_eq!(prune(Some(id(501))).await, (0, Some(id(502))), "502 has a held delivery");
        assert_eq!(prune(Some(id(502))).await, (0, None));
    }
}

#[tokio::test]
async fn a_fan_out_is_stored_until_each_subscription_has_its_delivery() {
    for database in databases().await {
        let database = &database;
        insert_subscriptions_and_event(database).await;
        for number in [1, 2] {
            webhook_topics::insert(database, OURS, id(number), &["order.paid".to_owned()]).await.unwrap();
        }
        let fanout = |event: u128, after: u128| webhook_fanouts::PendingFanout {
            event_id: id(event),
            workspace_id: OURS,
            event_type: "order.paid".to_owned(),
            after: id(after),
            due_at: 7,
        };
        webhook_fanouts::insert(database, fanout(500, 2)).await.unwrap();
        assert_eq!(
            webhook_fanouts::next_workspace(database, id(0)).await.unwrap(),
            None,
            "no subscription remains"
        );
        webhook_fanouts::insert(database, fanout(500, 0)).await.unwrap();
        assert_eq!(webhook_fanouts::next_workspace(database, id(0)).await.unwrap(), Some((OURS, id(500))));
        assert_eq!(
            webhook_fanouts::next_workspace(database, OURS).await.unwrap(),
            None,
            "no workspace follows"
        );
        let row = webhook_fanouts::lock(database, id(500)).await.unwrap().unwrap();
        assert_eq!(
            (row.first_subscriptions(1), row.first_subscriptions(9), row.due_at),
            (vec![id(1)], vec![id(1), id(2)], 7)
        );
        webhook_fanouts::remove_first(database, &row, 1).await.unwrap();
        assert_eq!(
            events::prune(database, id(u128::MAX), None, 9).await.unwrap().0,
            0,
            "the event has a fan-out"
        );
        let row = webhook_fanouts::lock(database, id(500)).await.unwrap().unwrap();
        assert_eq!(row.first_subscriptions(9), [id(2)]);
        webhook_fanouts::remove_first(database, &row, 9).await.unwrap();
        assert_eq!(webhook_fanouts::lock(database, id(500)).await.unwrap(), None);
        assert_eq!(events::prune(database, id(u128::MAX), None, 9).await.unwrap().0, 1);
    }
}
