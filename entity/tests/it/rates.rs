//! Rates of subscriptions: what claims lease, on one connection and on several. Times are milliseconds since the epoch.

use entity::webhook_deliveries::queue::{self, ClaimQuery, DeliveryTransition, Settlement};
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
        assert_eq!(numbers(&claim(1, 1_100).run(&database).await.unwrap()), [101, 201, 202]);
        assert_eq!(numbers(&claim(2, 1_101).run(&database).await.unwrap()), [], "the rate allows none");
        assert_eq!(queue::earliest_due_at(&database, 1_101, &[]).await.unwrap(), Some(1_600));
        assert_eq!(numbers(&claim(3, 1_599).run(&database).await.unwrap()), [201, 202], "after their leases");
        // The lease of a worker that was killed has expired. Its delivery counts again.
        assert_eq!(numbers(&claim(4, 1_600).run(&database).await.unwrap()), [101]);
        // The endpoint hangs: all deliveries up to the in-flight limit are leased, so nothing is counted.
        set_rate(&database, 1, 1_000).await;
        let all = |token| ClaimQuery { lease_until: 9_000, ..claim(token, 2_200) };
        assert_eq!(numbers(&all(5).run(&database).await.unwrap()), [101, 201, 102, 202, 103]);
        assert_eq!(numbers(&all(6).run(&database).await.unwrap()), []);
        let next_due = queue::earliest_due_at(&database, 2_200, &[]).await.unwrap();
        assert_eq!(next_due, Some(2_153), "half of the burst is allowed");
    }
}

/// Claims as much as the rate of subscription 1 allows, and returns the number of its deliveries.
async fn claim_all(database: &DatabaseConnection, now: i64, lease_ms: i64) -> usize {
    let claim = ClaimQuery {
        max_in_flight_per_subscription: 500,
        per_workspace: 500,
        limit: 500,
        lease_until: now + lease_ms,
        ..claim(u128::from(now.unsigned_abs()), now)
    };
    let claimed = claim.run(database).await.unwrap();
    claimed.iter().filter(|delivery| delivery.rate.is_some()).count()
}

/// Inserts 200 due deliveries of subscription 1.
async fn insert_many(database: &DatabaseConnection) {
    let rows = (301..501).map(|number| delivery(number, 1, 0)).collect();
    webhook_deliveries::in_workspace(OURS).insert_many(database, rows).await.unwrap();
}

#[tokio::test]
async fn a_burst_is_a_tenth_of_the_rate_and_an_endpoint_that_hangs_collects_no_leases() {
    for database in databases().await {
        insert_two_queues(&database).await;
        insert_many(&database).await;
        set_rate(&database, 1, 1_000).await;
        // Leases that expire at once, so that only the rate and the limit of one claim count.
        let claims = [(10_000, 64), (10_001, 37), (10_011, 10), (10_511, 64), (10_512, 37)];
        for (now, count) in claims {
            assert_eq!(claim_all(&database, now, 0).await, count, "at {now}");
        }
        // The endpoint hangs, although the rate allows more every second.
        for (now, count) in [(20_000, 64), (21_000, 0), (29_000, 0)] {
            assert_eq!(claim_all(&database, now, 60_000).await, count, "at {now}");
        }
        // It responds to ten requests.
        let settlements: Vec<Settlement> = (301..311)
            .map(|number| Settlement {
                id: id(number),
                lease_token: id(20_000),
                transition: DeliveryTransition::Delivered,
                ended_at: 29_500,
                status: Some(200),
                error: None,
            })
            .collect();
        assert_eq!(queue::settle(&database, &settlements).await.unwrap().len(), 10);
        for (now, count) in [(30_000, 10), (30_001, 0)] {
            assert_eq!(claim_all(&database, now, 60_000).await, count, "at {now}");
        }
    }
}

#[tokio::test]
async fn a_rate_survives_a_corrected_clock_a_missing_row_and_late_polls() {
    for database in databases().await {
        insert_two_queues(&database).await;
        insert_many(&database).await;
        set_rate(&database, 1, 10).await;
        // The row was written by a clock that was a day ahead.
        webhook_rates::delete(&database, id(1)).await.unwrap();
        let row = webhook_rates::Model { next_at_us: 86_400_000_000, ..webhook_rates::Model::new(id(1), 10) };
        webhook_rates::put(&database, row).await.unwrap();
        assert_eq!(queue::earliest_due_at(&database, 10_000, &[]).await.unwrap(), Some(0));
        for (now, count) in [(10_000, 1), (10_099, 0), (10_100, 1)] {
            assert_eq!(claim_all(&database, now, 0).await, count, "at {now}");
        }
        webhook_rates::delete(&database, id(1)).await.unwrap();
        assert_eq!(queue::earliest_due_at(&database, 11_000, &[]).await.unwrap(), Some(0));
        for (now, count) in [(11_000, 1), (11_099, 0)] {
            assert_eq!(claim_all(&database, now, 0).await, count, "at {now}");
        }
        // A late claim does not delay the next one, and an idle time allows no more than the burst.
        for (now, count) in [(11_130, 1), (11_199, 0), (11_200, 1), (11_500, 1), (11_599, 0), (11_600, 1)] {
            assert_eq!(claim_all(&database, now, 0).await, count, "at {now}");
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
