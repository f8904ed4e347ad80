//! Rates of subscriptions: what claims lease, on one connection and on several. Times are milliseconds since the epoch.

use entity::webhook_deliveries::queue::{self, ClaimQuery};
use entity::{Set, webhook_deliveries, webhook_rates, webhook_subscriptions};
use sea_orm::{DatabaseConnection, DbBackend, TransactionTrait};

use crate::queue::{claim, insert_two_queues, numbers};
use crate::support::{OURS, databases, id};
use crate::webhooks::delivery;

/// Sets the rate of a subscription, in deliveries per second.
async fn set_rate(database: &DatabaseConnection, number: u128, rate: i32) {
    let change = webhook_subscriptions::ActiveModel { rate: Set(Some(rate)), ..Default::default() };
    assert!(webhook_subscriptions::in_workspace(OURS).update(database, id(number), change).await.unwrap());
    let rate = webhook_rates::Model::new(id(number), rate.into());
    webhook_rates::put(database, rate).await.unwrap();
}

#[tokio::test]
async fn a_rate_counts_leases_and_delays_no_other_subscription() {
    for database in databases().await {
        insert_two_queues(&database).await;
        set_rate(&database, 1, 2).await;
        assert_eq!(numbers(&claim(1, 100).run(&database).await.unwrap()), [101, 201, 202]);
        assert_eq!(numbers(&claim(2, 101).run(&database).await.unwrap()), [], "the rate allows none");
        assert_eq!(queue::earliest_due_at(&database, 101, &[]).await.unwrap(), Some(600));
        assert_eq!(numbers(&claim(3, 599).run(&database).await.unwrap()), [201, 202], "after their leases");
        // The lease of a worker that was killed has expired. Its delivery counts again.
        assert_eq!(numbers(&claim(4, 600).run(&database).await.unwrap()), [101]);
        // The endpoint hangs: all deliveries up to the in-flight limit are leased, so nothing is counted.
        set_rate(&database, 1, 1_000).await;
        let all = |token| ClaimQuery { lease_until: 9_000, ..claim(token, 1_200) };
        assert_eq!(numbers(&all(5).run(&database).await.unwrap()), [101, 201, 102, 202, 103]);
        assert_eq!(numbers(&all(6).run(&database).await.unwrap()), []);
        let next_due = async |now| queue::earliest_due_at(&database, now, &[]).await.unwrap();
        assert_eq!(next_due(1_200).await, Some(1_153), "half of the burst is allowed");
        // A burst is a tenth of the rate.
        let rows = (301..451).map(|number| delivery(number, 1, 0)).collect();
        webhook_deliveries::in_workspace(OURS).insert_many(&database, rows).await.unwrap();
        let many = |token, now| ClaimQuery {
            max_in_flight_per_subscription: 500,
            per_workspace: 500,
            limit: 500,
            lease_until: 90_000,
            ..claim(token, now)
        };
        let claims = [(7, 10_000, 100), (8, 10_001, 1), (9, 10_011, 10), (10, 10_511, 44), (11, 20_000, 0)];
        for (token, now, count) in claims {
            let claimed = many(token, now).run(&database).await.unwrap();
            let rated = claimed.iter().filter(|delivery| delivery.rate.is_some());
            assert_eq!(rated.count(), count, "at {now}");
        }
    }
}

#[tokio::test]
async fn concurrent_claims_share_a_rate() {
    for database in databases().await {
        if database.get_database_backend() == DbBackend::Sqlite {
            continue;
        }
        insert_two_queues(&database).await;
        set_rate(&database, 1, 20).await;
        let (first, second) = (database.begin().await.unwrap(), database.begin().await.unwrap());
        assert_eq!(numbers(&claim(1, 10).run(&first).await.unwrap()), [101, 201, 102, 202]);
        assert_eq!(
            numbers(&claim(2, 10).run(&second).await.unwrap()),
            [],
            "the first claim has locked the rate"
        );
        first.commit().await.unwrap();
        assert_eq!(numbers(&claim(3, 10).run(&second).await.unwrap()), [], "it has used up the rate");
        assert_eq!(numbers(&claim(4, 60).run(&second).await.unwrap()), [101, 201, 202], "for one more");
        second.commit().await.unwrap();
    }
}
