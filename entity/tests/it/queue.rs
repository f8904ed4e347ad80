//! The delivery queue: fair claims, settlements that need the token of the current lease, and held deliveries.
//!
//! A claim leases due deliveries to a worker. A settlement stores the outcome of an attempt. An allowance limits the
//! number of deliveries that a claim takes from one workspace. Times are milliseconds since the epoch.

use entity::Set;
use entity::events;
use entity::webhook_deliveries::hold;
use entity::webhook_deliveries::queue::{
    self, ClaimQuery, ClaimedDelivery, DeliveryTransition, QueueCounts, Settlement, WorkspaceAllowance,
};
use entity::webhook_deliveries::{self, StoredDeliveryState};
use entity::webhook_subscriptions::{self, StoredSubscriptionState};
use sea_orm::{DatabaseConnection, DbBackend, TransactionTrait};
use uuid::Uuid;

use crate::support::{OURS, THEIRS, databases, id};
use crate::webhooks::{delivery, event, insert_subscriptions_and_event, subscription};

/// Returns a claim of up to 10 deliveries for 30 ms. Up to three deliveries of a subscription can be in flight.
pub(crate) fn claim(token: u128, now: i64) -> ClaimQuery<'static> {
    ClaimQuery {
        now,
        lease_until: now + 30,
        lease_token: id(token),
        max_in_flight_per_subscription: 3,
        per_workspace: 100,
        allowances: &[],
        limit: 10,
        last_workspace: None,
    }
}

fn settlement(delivery: u128, token: u128, transition: DeliveryTransition) -> Settlement {
    Settlement {
        id: id(delivery),
        lease_token: id(token),
        transition,
        ended_at: 77,
        status: Some(500),
        error: None,
    }
}

pub(crate) fn numbers(claimed: &[ClaimedDelivery]) -> Vec<u128> {
    claimed.iter().map(|delivery| delivery.id.as_u128()).collect()
}

async fn row(database: &DatabaseConnection, number: u128) -> webhook_deliveries::Model {
    webhook_deliveries::by_id(database, id(number)).await.unwrap().unwrap()
}

/// Inserts deliveries 101 to 105 of subscription 1, which are due at the times 1 to 5, and deliveries 201 and 202 of
/// subscription 2, which are due at the times 1 and 2.
pub(crate) async fn insert_two_queues(database: &DatabaseConnection) {
    insert_subscriptions_and_event(database).await;
    let first = (101..106).map(|number| delivery(number, 1, number as i64 - 100));
    let second = (201..203).map(|number| delivery(number, 2, number as i64 - 200));
    let rows = first.chain(second).collect();
    webhook_deliveries::in_workspace(OURS).insert_many(database, rows).await.unwrap();
}

async fn set_state(database: &DatabaseConnection, number: u128, state: StoredSubscriptionState) {
    let change = webhook_subscriptions::ActiveModel { state: Set(state), ..Default::default() };
    assert!(webhook_subscriptions::in_workspace(OURS).update(database, id(number), change).await.unwrap());
}

/// Corrects the deliveries whose state does not match the state of their subscription, and returns their number.
async fn correct_states(database: &DatabaseConnection, now: i64) -> u64 {
    let mut corrected = 0;
    for subscription in hold::mismatched_subscriptions(database).await.unwrap() {
        let row = webhook_subscriptions::by_id(database, subscription).await.unwrap().unwrap();
        corrected += match row.state {
            StoredSubscriptionState::Enabled => {
                hold::release(database, subscription, now, 100).await.unwrap()
            }
            state => hold::hold(database, subscription, state, now, 100).await.unwrap(),
        };
    }
    corrected
}

#[tokio::test]
async fn claims_alternate_between_subscriptions_up_to_the_in_flight_limit_and_the_total_limit() {
    for database in databases().await {
        insert_two_queues(&database).await;
        assert_eq!(claim(1, 0).run(&database).await.unwrap(), [], "nothing is due");
        let allowances = [WorkspaceAllowance { workspace: OURS, limit: 100, last_subscription: Some(id(1)) }];
        let small_claim = ClaimQuery { limit: 3, allowances: &allowances, ..claim(1, 50) };
        let first = small_claim.run(&database).await.unwrap();
        assert_eq!(numbers(&first), [201, 101, 202], "the claim begins with subscription 2");
        let stored = &first[1];
        assert_eq!(
            (stored.endpoint.as_ref().map(|endpoint| endpoint.url.as_str()), stored.body.as_slice()),
            (Some("https://example.com/1"), event(500).body.as_slice())
        );
        assert_eq!(
            (stored.event_id, stored.event_type.as_str(), stored.attempts),
            (id(500), "order.paid", 0)
        );
        let claimed = row(&database, 101).await;
        assert_eq!(
            (claimed.lease_token, claimed.lease_until, claimed.next_attempt_at),
            (Some(id(1)), Some(80), Some(1))
        );

        assert_eq!(numbers(&claim(2, 51).run(&database).await.unwrap()), [102, 103], "three are in flight");
        assert_eq!(claim(3, 52).run(&database).await.unwrap(), []);
        let counts = queue::counts(&database, 79).await.unwrap();
        assert_eq!(counts, QueueCounts { pending: 7, in_flight: 5, held: 0, dead: 0 });
        let fourth = claim(4, 80).run(&database).await.unwrap();
        assert_eq!(numbers(&fourth), [101, 201, 202], "deliveries whose lease expired are claimed again");
        let fifth = claim(5, 81).run(&database).await.unwrap();
        assert_eq!(numbers(&fifth), [102, 103], "the second lease expired as well");
    }
}

#[tokio::test]
async fn the_limit_is_shared_equally_by_subscriptions_with_due_deliveries() {
    for database in databases().await {
        insert_subscriptions_and_event(&database).await;
        let ours = webhook_deliveries::in_workspace(OURS);
        let rows = (101..161).map(|number| delivery(number, 1, number as i64)).collect();
        ours.insert_many(&database, rows).await.unwrap();
        let all = ClaimQuery { max_in_flight_per_subscription: 50, limit: 40, ..claim(1, 500) };
        assert_eq!(numbers(&all.run(&database).await.unwrap()), (101..141).collect::<Vec<_>>());
        let next = ClaimQuery { lease_token: id(2), ..all };
        assert_eq!(
            numbers(&next.run(&database).await.unwrap()),
            (141..151).collect::<Vec<_>>(),
            "the in-flight limit"
        );
        for (token, count) in [(1, 40), (2, 10)] {
            assert_eq!(queue::release_lease(&database, id(token)).await.unwrap(), count);
        }

        let rows = (201..261).map(|number| delivery(number, 2, number as i64)).collect();
        ours.insert_many(&database, rows).await.unwrap();
        let both = numbers(&all.run(&database).await.unwrap());
        assert_eq!(both, (101..121).flat_map(|number| [number, number + 100]).collect::<Vec<_>>());
    }
}

/// Inserts the same deliveries, and subscriptions 11 to 50 of another workspace, each with three deliveries that were
/// due earlier.
async fn insert_two_workspaces(database: &DatabaseConnection) {
    insert_two_queues(database).await;
    let theirs = events::Model { id: id(600), workspace_id: THEIRS, ..event(600) };
    events::in_workspace(THEIRS).insert(database, theirs.clone()).await.unwrap();
    for number in 11..51 {
        let row = webhook_subscriptions::Model { workspace_id: THEIRS, ..subscription(number) };
        webhook_subscriptions::in_workspace(THEIRS).insert(database, row).await.unwrap();
        let new_delivery =
            |index| webhook_deliveries::Model::new(id(number * 1000 + index), id(number), &theirs, true, -99);
        let rows = (1..4).map(new_delivery).collect();
        webhook_deliveries::in_workspace(THEIRS).insert_many(database, rows).await.unwrap();
    }
}

#[tokio::test]
async fn claims_alternate_between_workspaces_then_between_subscriptions() {
    for database in databases().await {
        insert_two_workspaces(&database).await;
        let all = ClaimQuery { limit: 8, ..claim(1, 50) };
        let first = numbers(&all.run(&database).await.unwrap());
        assert_eq!(
            first,
            [101, 11_001, 201, 12_001, 102, 13_001, 202, 14_001],
            "one per workspace in turn, regardless of age"
        );

        // The next claim continues after the last workspace of this claim, and in each workspace after the last
        // subscription.
        let allowances = [
            WorkspaceAllowance { workspace: OURS, limit: 100, last_subscription: Some(id(2)) },
            WorkspaceAllowance { workspace: THEIRS, limit: 100, last_subscription: Some(id(14)) },
        ];
        let next = ClaimQuery {
            limit: 4,
            lease_token: id(2),
            allowances: &allowances,
            last_workspace: Some(OURS),
            max_in_flight_per_subscription: 9,
            ..all
        };
        assert_eq!(numbers(&next.run(&database).await.unwrap()), [15_001, 103, 16_001, 104]);
    }
}

#[tokio::test]
async fn a_workspace_gets_at_most_its_allowance() {
    for database in databases().await {
        insert_two_workspaces(&database).await;
        let two = [WorkspaceAllowance { workspace: THEIRS, limit: 2, last_subscription: None }];
        let limited_claim = ClaimQuery { allowances: &two, ..claim(1, 50) };
        let claimed = numbers(&limited_claim.run(&database).await.unwrap());
        assert_eq!(
            claimed,
            [101, 11_001, 201, 12_001, 102, 202, 103],
            "the in-flight limit of three applies as well"
        );
        let zero = [WorkspaceAllowance { limit: 0, ..two[0] }];
        let next = ClaimQuery {
            lease_token: id(2),
            allowances: &zero,
            max_in_flight_per_subscription: 100,
            ..limited_claim
        };
        assert_eq!(numbers(&next.run(&database).await.unwrap()), [104, 105], "only of the other workspace");
        let default =
            ClaimQuery { lease_token: id(3), allowances: &[], per_workspace: 5, limit: 100, ..limited_claim };
        assert_eq!(
            default.run(&database).await.unwrap().len(),
            5,
            "the limit for workspaces without an allowance"
        );
        assert_eq!(queue::earliest_due_at(&database, 50, &[]).await.unwrap(), Some(-99));
        assert_eq!(queue::earliest_due_at(&database, 50, &[THEIRS]).await.unwrap(), None);
    }
}

#[tokio::test]
async fn the_earliest_due_time_ignores_paused_subscriptions() {
    for database in databases().await {
        let earliest_due_at = async |now| queue::earliest_due_at(&database, now, &[]).await.unwrap();
        assert_eq!(earliest_due_at(0).await, None);
        insert_two_queues(&database).await;
        assert_eq!(earliest_due_at(0).await, Some(1));
        assert_eq!(
            queue::earliest_due_at(&database, 0, &[OURS]).await.unwrap(),
            None,
            "the workspace is excluded"
        );
        claim(1, 2).run(&database).await.unwrap();
        assert_eq!(earliest_due_at(31).await, Some(3), "the others are in flight");
        set_state(&database, 1, StoredSubscriptionState::Paused).await;
        assert_eq!(earliest_due_at(31).await, None);
        assert_eq!(earliest_due_at(32).await, Some(1), "their leases expired");
    }
}

#[tokio::test]
async fn only_the_lease_holder_settles_a_delivery() {
    for database in databases().await {
        insert_two_queues(&database).await;
        claim(1, 10).run(&database).await.unwrap();
        let error = Some("a \"quoted\" \u{1f980}".to_owned());
        let retried = Settlement {
            status: None,
            error: error.clone(),
            ..settlement(102, 1, DeliveryTransition::Retry(900))
        };
        let settlements = [
            Settlement { status: Some(200), ..settlement(101, 1, DeliveryTransition::Delivered) },
            retried,
            settlement(103, 1, DeliveryTransition::Dead),
            settlement(201, 9, DeliveryTransition::Delivered),
            settlement(104, 1, DeliveryTransition::Delivered),
        ];
        let mut settled = queue::settle(&database, &settlements).await.unwrap();
        settled.sort_unstable();
        assert_eq!(settled, [id(101), id(102), id(103)], "201 has another lease, 104 has none");
        assert_eq!(queue::settle(&database, &[]).await.unwrap(), Vec::<Uuid>::new());

        let stored = row(&database, 101).await;
        assert_eq!(
            (stored.state, stored.settled_at, stored.attempts, stored.last_status),
            (StoredDeliveryState::Delivered, Some(77), 1, Some(200))
        );
        assert_eq!((stored.lease_until, stored.lease_token, stored.next_attempt_at), (None, None, None));
        let stored = row(&database, 102).await;
        assert_eq!(
            (stored.state, stored.lease_until, stored.next_attempt_at),
            (StoredDeliveryState::Pending, None, Some(900))
        );
        assert_eq!((stored.settled_at, stored.last_error, stored.lease_token), (None, error, None));
        assert_eq!(row(&database, 103).await.state, StoredDeliveryState::Dead);
        assert_eq!(row(&database, 201).await.lease_token, Some(id(1)));

        assert_eq!(queue::release_lease(&database, id(7)).await.unwrap(), 0);
        assert_eq!(queue::release_lease(&database, id(1)).await.unwrap(), 2);
        let stored = row(&database, 201).await;
        assert_eq!((stored.lease_token, stored.lease_until, stored.attempts), (None, None, 0));
        assert_eq!(numbers(&claim(2, 10).run(&database).await.unwrap()), [104, 201, 105, 202]);
    }
}

#[tokio::test]
async fn deliveries_of_a_paused_subscription_are_held() {
    for database in databases().await {
        insert_two_queues(&database).await;
        claim(1, 10).run(&database).await.unwrap();
        set_state(&database, 1, StoredSubscriptionState::Paused).await;
        let settlements = [
            settlement(101, 1, DeliveryTransition::Hold(Some(900))),
            settlement(102, 1, DeliveryTransition::Delivered),
        ];
        assert_eq!(queue::settle(&database, &settlements).await.unwrap().len(), 2);
        let stored = row(&database, 101).await;
        assert_eq!(
            (stored.state, stored.next_attempt_at, stored.attempts),
            (StoredDeliveryState::Held, None, 1)
        );
        assert_eq!(row(&database, 102).await.state, StoredDeliveryState::Delivered);
        assert_eq!(
            claim(2, 900).run(&database).await.unwrap().len(),
            2,
            "deliveries of the other subscription"
        );

        // A retry delay continues while the delivery is held, and can expire meanwhile.
        for (now, due) in [(500, 900), (600, 900), (950, 950)] {
            hold::release(&database, id(1), now, 9).await.unwrap();
            let stored = row(&database, 101).await;
            assert_eq!(
                (stored.state, stored.next_attempt_at, stored.resumes_at),
                (StoredDeliveryState::Pending, Some(due), None)
            );
            hold::hold(&database, id(1), StoredSubscriptionState::Paused, now, 9).await.unwrap();
        }
        hold::release(&database, id(1), 1_000, 9).await.unwrap();
        let later = ClaimQuery { lease_until: 1_100, ..claim(3, 1_001) };
        later.run(&database).await.unwrap();
        queue::settle(&database, &[settlement(101, 3, DeliveryTransition::Retry(2_000))]).await.unwrap();
        hold::hold(&database, id(1), StoredSubscriptionState::Disabled, 1_002, 9).await.unwrap();
        hold::release(&database, id(1), 1_003, 9).await.unwrap();
        let due = row(&database, 101).await.next_attempt_at;
        assert_eq!(due, Some(1_003), "enabling a disabled subscription resets the retry delay");
    }
}

#[tokio::test]
async fn deliveries_are_held_released_and_discarded_with_their_subscription() {
    for database in databases().await {
        insert_two_queues(&database).await;
        let small_claim = ClaimQuery { max_in_flight_per_subscription: 1, ..claim(1, 10) };
        assert_eq!(numbers(&small_claim.run(&database).await.unwrap()), [101, 201]);
        assert_eq!(correct_states(&database, 11).await, 0);
        set_state(&database, 1, StoredSubscriptionState::Paused).await;
        assert_eq!(hold::hold(&database, id(1), StoredSubscriptionState::Paused, 11, 2).await.unwrap(), 2);
        assert_eq!(correct_states(&database, 11).await, 2, "101 is in flight");
        assert_eq!(correct_states(&database, 11).await, 0);
        let counts = queue::counts(&database, 11).await.unwrap();
        assert_eq!(counts, QueueCounts { pending: 3, in_flight: 2, held: 4, dead: 0 });

        assert_eq!(hold::release(&database, id(1), 12, 1).await.unwrap(), 1);
        let stored = row(&database, 102).await;
        assert_eq!((stored.state, stored.next_attempt_at), (StoredDeliveryState::Pending, Some(12)));
        assert_eq!(hold::discard(&database, id(1), 12, 2).await.unwrap(), 2);
        assert_eq!(
            hold::discard(&database, id(1), 12, 9).await.unwrap(),
            2,
            "held deliveries first, then unleased ones"
        );
        assert_eq!(hold::discard(&database, id(1), 12, 9).await.unwrap(), 0);
        assert_eq!(row(&database, 101).await.state, StoredDeliveryState::Pending, "in flight");

        let held = webhook_deliveries::Model::new(id(106), id(2), &event(500), false, 13);
        webhook_deliveries::in_workspace(OURS).insert(&database, held).await.unwrap();
        assert_eq!(correct_states(&database, 13).await, 1, "subscription 2 is enabled");
        assert_eq!(row(&database, 106).await.next_attempt_at, Some(13));
    }
}

#[tokio::test]
async fn concurrent_workers_respect_the_in_flight_limit() {
    for database in databases().await {
        if database.get_database_backend() != DbBackend::Postgres {
            continue; // On SQLite, write transactions are exclusive.
        }
        insert_two_queues(&database).await;
        let (first, second) = (database.begin().await.unwrap(), database.begin().await.unwrap());
        let small_claim = ClaimQuery { max_in_flight_per_subscription: 2, ..claim(1, 10) };
        assert_eq!(numbers(&small_claim.run(&first).await.unwrap()), [101, 201, 102, 202]);
        let same_claim = ClaimQuery { lease_token: id(2), ..small_claim };
        assert_eq!(
            same_claim.run(&second).await.unwrap(),
            [],
            "it chooses the same deliveries and skips them because they are locked"
        );
        first.commit().await.unwrap();
        assert_eq!(same_claim.run(&second).await.unwrap(), []);
        second.commit().await.unwrap();
    }
}

/// Claims deliveries in transactions and settles them, until 20 claims in a row are empty. Returns the settled ids.
async fn work_until_idle(database: DatabaseConnection, worker: u128) -> Vec<Uuid> {
    let mut settled = Vec::new();
    let mut empty_claims = 0;
    while empty_claims < 20 {
        let token = worker * 100_000 + settled.len() as u128;
        let transaction = database.begin().await.unwrap();
        let small_claim = ClaimQuery { max_in_flight_per_subscription: 40, limit: 7, ..claim(token, 10) };
        let claimed = small_claim.run(&transaction).await.unwrap();
        transaction.commit().await.unwrap();
        empty_claims = if claimed.is_empty() { empty_claims + 1 } else { 0 };
        let delivered = |delivery: &ClaimedDelivery| {
            settlement(delivery.id.as_u128(), token, DeliveryTransition::Delivered)
        };
        let settlements: Vec<_> = claimed.iter().map(delivered).collect();
        settled.extend(queue::settle(&database, &settlements).await.unwrap());
    }
    settled
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_workers_settle_each_delivery_once() {
    for database in databases().await {
        insert_subscriptions_and_event(&database).await;
        let rows = (0..600_u128).map(|n| delivery(1000 + n, 1 + n % 2, n as i64 % 5)).collect();
        webhook_deliveries::in_workspace(OURS).insert_many(&database, rows).await.unwrap();
        let workers: Vec<_> = (1..5).map(|n| tokio::spawn(work_until_idle(database.clone(), n))).collect();
        let mut settled = Vec::new();
        for worker in workers {
            settled.extend(worker.await.unwrap());
        }
        settled.sort_unstable();
        assert_eq!(settled, (0..600).map(|n| id(1000 + n)).collect::<Vec<_>>());
        assert_eq!(queue::counts(&database, 10).await.unwrap(), QueueCounts::default());
    }
}
