//! Outcome counts of a subscription's deliveries, per time step.

use entity::webhook_deliveries::{self, StoredDeliveryState, outcomes::OutcomeCount};
use entity::{events, webhook_subscriptions};

use crate::support::{OURS, THEIRS, databases, id};
use crate::webhooks::{delivery, event, subscription};

#[tokio::test]
async fn outcomes_count_all_deliveries_or_the_newest_when_many_are_pending() {
    for database in databases().await {
        events::in_workspace(OURS).insert(&database, event(500)).await.unwrap();
        let subscriptions = vec![subscription(1), subscription(2)];
        webhook_subscriptions::in_workspace(OURS).insert_many(&database, subscriptions).await.unwrap();
        let settled = |number, state, at| webhook_deliveries::Model {
            state,
            attempts: 1,
            next_attempt_at: None,
            settled_at: Some(at + 1),
            ..delivery(number, 1, at)
        };
        let retried = webhook_deliveries::Model { attempts: 2, ..delivery(12, 1, 210) };
        let rows = webhook_deliveries::in_workspace(OURS);
        let all = vec![
            settled(10, StoredDeliveryState::Delivered, 100),
            settled(11, StoredDeliveryState::Dead, 205),
            retried,
            settled(13, StoredDeliveryState::Delivered, 220),
            settled(14, StoredDeliveryState::Delivered, 299),
            delivery(15, 1, 300),
            delivery(16, 2, 210),
        ];
        rows.insert_many(&database, all).await.unwrap();
        let outcomes = async |subscription: u128, created, limit| {
            let (mut counts, only_newest) =
                rows.outcomes(&database, id(subscription), created, 100, limit).await.unwrap();
            counts.sort_by_key(|count| (count.starts_at, count.state as u8));
            (counts, only_newest)
        };
        let count = |starts_at, state, attempted, count| OutcomeCount { starts_at, state, attempted, count };
        assert_eq!(
            outcomes(1, (200, 300), 100).await,
            (
                vec![
                    count(200, StoredDeliveryState::Pending, true, 1),
                    count(200, StoredDeliveryState::Delivered, true, 2),
                    count(200, StoredDeliveryState::Dead, true, 1)
                ],
                false
            )
        );
        // Two deliveries are pending, which reaches the limit of two, so only the two newest deliveries are counted.
        let newest = vec![
            count(200, StoredDeliveryState::Delivered, true, 1),
            count(300, StoredDeliveryState::Pending, false, 1),
        ];
        assert_eq!(outcomes(1, (0, 400), 2).await, (newest, true));
        let theirs = webhook_deliveries::in_workspace(THEIRS);
        assert_eq!(theirs.outcomes(&database, id(1), (0, 400), 100, 9).await.unwrap(), (vec![], false));
    }
}
