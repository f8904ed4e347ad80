//! The queue of deliveries: fair claims, fenced settlements, holds.

use entity::Set;
use entity::events;
use entity::webhook_deliveries::hold;
use entity::webhook_deliveries::queue::{self, Claim, Claimed, Counts, Next, Settlement, Share};
use entity::webhook_deliveries::{self, State};
use entity::webhook_subscriptions::{self, State as Standing};
use sea_orm::{DatabaseConnection, DbBackend, TransactionTrait};
use uuid::Uuid;

use crate::support::{OURS, THEIRS, databases, id};
use crate::webhooks::{delivery, event, ground, subscription};

fn claim(token: u128, now: i64) -> Claim<'static> {
    Claim {
        now,
        lease_until: now + 30,
        lease_token: id(token),
        cap_per_subscription: 3,
        per_workspace: 100,
        shares: &[],
        batch: 10,
        after: None,
    }
}

fn settlement(delivery: u128, token: u128, next: Next) -> Settlement {
    Settlement { id: id(delivery), lease_token: id(token), next, at: 77, status: Some(500), error: None }
}

fn numbers(claimed: &[Claimed]) -> Vec<u128> {
    claimed.iter().map(|one| one.id.as_u128()).collect()
}

async fn row(database: &DatabaseConnection, number: u128) -> webhook_deliveries::Model {
    webhook_deliveries::by_id(database, id(number)).await.unwrap().unwrap()
}

/// Deliveries 101 to 105 of subscription 1 and 201 to 202 of subscription 2, due in their order from 1 on.
async fn queued(database: &DatabaseConnection) {
    ground(database).await;
    let first = (101..106).map(|number| delivery(number, 1, number as i64 - 100));
    let second = (201..203).map(|number| delivery(number, 2, number as i64 - 200));
    let rows = first.chain(second).collect();
    webhook_deliveries::in_workspace(OURS).insert_many(database, rows).await.unwrap();
}

async fn set_state(database: &DatabaseConnection, number: u128, state: Standing) {
    let change = webhook_subscriptions::ActiveModel { state: Set(state), ..Default::default() };
    assert!(webhook_subscriptions::in_workspace(OURS).update(database, id(number), change).await.unwrap());
}

/// Moves what does not stand where its subscription wants it; says how many deliveries.
async fn align(database: &DatabaseConnection, now: i64) -> u64 {
    let mut moved = 0;
    for of in hold::misplaced(database).await.unwrap() {
        let row = webhook_subscriptions::by_id(database, of).await.unwrap().unwrap();
        moved += match row.state {
            Standing::Enabled => hold::release(database, of, now, 100).await.unwrap(),
            state => hold::hold(database, of, state, now, 100).await.unwrap(),
        };
    }
    moved
}

#[tokio::test]
async fn claims_go_turn_by_turn_up_to_the_cap_and_the_batch() {
    for database in databases().await {
        queued(&database).await;
        assert_eq!(claim(1, 0).take(&database).await.unwrap(), [], "nothing is due");
        let shares = [Share { workspace: OURS, room: 100, after: Some(id(1)) }];
        let few = Claim { batch: 3, shares: &shares, ..claim(1, 50) };
        let first = few.take(&database).await.unwrap();
        assert_eq!(numbers(&first), [201, 101, 202], "subscription 2 begins");
        let one = &first[1];
        assert_eq!(
            (one.url.as_str(), one.body.as_slice()),
            ("https://example.com/1", event(500).body.as_slice())
        );
        assert_eq!((one.event_id, one.event_type.as_str(), one.attempts), (id(500), "order.paid", 0));
        let taken = row(&database, 101).await;
        assert_eq!(
            (taken.lease_token, taken.lease_until, taken.next_attempt_at),
            (Some(id(1)), Some(80), Some(1))
        );

        assert_eq!(numbers(&claim(2, 51).take(&database).await.unwrap()), [102, 103], "three are in flight");
        assert_eq!(claim(3, 52).take(&database).await.unwrap(), []);
        let counts = queue::counts(&database, 79).await.unwrap();
        assert_eq!(counts, Counts { pending: 7, in_flight: 5, held: 0, dead: 0 });
        let fourth = claim(4, 80).take(&database).await.unwrap();
        assert_eq!(numbers(&fourth), [101, 201, 202], "what was not settled in time is taken again");
        let fifth = claim(5, 81).take(&database).await.unwrap();
        assert_eq!(numbers(&fifth), [102, 103], "the second lease ended, too");
    }
}

#[tokio::test]
async fn a_batch_is_one_subscription_s_alone_or_shared_by_all_that_wait() {
    for database in databases().await {
        ground(&database).await;
        let ours = webhook_deliveries::in_workspace(OURS);
        let rows = (101..161).map(|number| delivery(number, 1, number as i64)).collect();
        ours.insert_many(&database, rows).await.unwrap();
        let all = Claim { cap_per_subscription: 50, batch: 40, ..claim(1, 500) };
        assert_eq!(numbers(&all.take(&database).await.unwrap()), (101..141).collect::<Vec<_>>());
        let next = Claim { lease_token: id(2), ..all };
        assert_eq!(numbers(&next.take(&database).await.unwrap()), (141..151).collect::<Vec<_>>(), "the cap");
        for (token, many) in [(1, 40), (2, 10)] {
            assert_eq!(queue::give_back(&database, id(token)).await.unwrap(), many);
        }

        let rows = (201..261).map(|number| delivery(number, 2, number as i64)).collect();
        ours.insert_many(&database, rows).await.unwrap();
        let both = numbers(&all.take(&database).await.unwrap());
        assert_eq!(both, (101..121).flat_map(|number| [number, number + 100]).collect::<Vec<_>>());
    }
}

/// Subscriptions 11 to 50 of another workspace, each with deliveries that are due since long.
async fn crowded(database: &DatabaseConnection) {
    queued(database).await;
    let theirs = events::Model { id: id(600), workspace_id: THEIRS, ..event(600) };
    events::in_workspace(THEIRS).insert(database, theirs.clone()).await.unwrap();
    for number in 11..51 {
        let row = webhook_subscriptions::Model { workspace_id: THEIRS, ..subscription(number) };
        webhook_subscriptions::in_workspace(THEIRS).insert(database, row).await.unwrap();
        let new =
            |place| webhook_deliveries::Model::new(id(number * 1000 + place), id(number), &theirs, true, -99);
        let rows = (1..4).map(new).collect();
        webhook_deliveries::in_workspace(THEIRS).insert_many(database, rows).await.unwrap();
    }
}

#[tokio::test]
async fn workspaces_take_turns_before_their_subscriptions_do() {
    for database in databases().await {
        crowded(&database).await;
        let all = Claim { batch: 8, ..claim(1, 50) };
        let first = numbers(&all.take(&database).await.unwrap());
        assert_eq!(first, [101, 11_001, 201, 12_001, 102, 13_001, 202, 14_001], "one each, oldest or not");

        // The next subscriptions go on where the last ones ended, in each workspace, and so do the workspaces.
        let shares = [
            Share { workspace: OURS, room: 100, after: Some(id(2)) },
            Share { workspace: THEIRS, room: 100, after: Some(id(14)) },
        ];
        let next = Claim {
            batch: 4,
            lease_token: id(2),
            shares: &shares,
            after: Some(OURS),
            cap_per_subscription: 9,
            ..all
        };
        assert_eq!(numbers(&next.take(&database).await.unwrap()), [15_001, 103, 16_001, 104]);
    }
}

#[tokio::test]
async fn a_workspace_takes_no_more_than_its_share() {
    for database in databases().await {
        crowded(&database).await;
        let some = [Share { workspace: THEIRS, room: 2, after: None }];
        let few = Claim { shares: &some, ..claim(1, 50) };
        let taken = numbers(&few.take(&database).await.unwrap());
        assert_eq!(taken, [101, 11_001, 201, 12_001, 102, 202, 103], "the cap of three holds, too");
        let none = [Share { room: 0, ..some[0] }];
        let rest = Claim { lease_token: id(2), shares: &none, cap_per_subscription: 100, ..few };
        assert_eq!(numbers(&rest.take(&database).await.unwrap()), [104, 105], "only of the other");
        let default = Claim { lease_token: id(3), shares: &[], per_workspace: 5, batch: 100, ..few };
        assert_eq!(
            default.take(&database).await.unwrap().len(),
            5,
            "what holds of those that nothing is known of"
        );
        assert_eq!(queue::oldest_due(&database, 50, &[]).await.unwrap(), Some(-99));
        assert_eq!(queue::oldest_due(&database, 50, &[THEIRS]).await.unwrap(), None);
    }
}

#[tokio::test]
async fn the_oldest_due_is_of_an_enabled_subscription() {
    for database in databases().await {
        let oldest_due = async |now| queue::oldest_due(&database, now, &[]).await.unwrap();
        assert_eq!(oldest_due(0).await, None);
        queued(&database).await;
        assert_eq!(oldest_due(0).await, Some(1));
        assert_eq!(queue::oldest_due(&database, 0, &[OURS]).await.unwrap(), None, "it is left out");
        claim(1, 2).take(&database).await.unwrap();
        assert_eq!(oldest_due(31).await, Some(3), "the others are in flight");
        set_state(&database, 1, Standing::Paused).await;
        assert_eq!(oldest_due(31).await, None);
        assert_eq!(oldest_due(32).await, Some(1), "their lease ended");
    }
}

#[tokio::test]
async fn only_who_holds_the_lease_settles() {
    for database in databases().await {
        queued(&database).await;
        claim(1, 10).take(&database).await.unwrap();
        let error = Some("a \"quoted\" \u{1f980}".to_owned());
        let retried =
            Settlement { status: None, error: error.clone(), ..settlement(102, 1, Next::Retry(900)) };
        let settled = [
            Settlement { status: Some(200), ..settlement(101, 1, Next::Delivered) },
            retried,
            settlement(103, 1, Next::Dead),
            settlement(201, 9, Next::Delivered),
            settlement(104, 1, Next::Delivered),
        ];
        let mut held = queue::settle(&database, &settled).await.unwrap();
        held.sort_unstable();
        assert_eq!(held, [id(101), id(102), id(103)], "201 has another lease, 104 none");
        assert_eq!(queue::settle(&database, &[]).await.unwrap(), Vec::<Uuid>::new());

        let one = row(&database, 101).await;
        assert_eq!(
            (one.state, one.settled_at, one.attempts, one.last_status),
            (State::Delivered, Some(77), 1, Some(200))
        );
        assert_eq!((one.lease_until, one.lease_token, one.next_attempt_at), (None, None, None));
        let one = row(&database, 102).await;
        assert_eq!((one.state, one.lease_until, one.next_attempt_at), (State::Pending, None, Some(900)));
        assert_eq!((one.settled_at, one.last_error, one.lease_token), (None, error, None));
        assert_eq!(row(&database, 103).await.state, State::Dead);
        assert_eq!(row(&database, 201).await.lease_token, Some(id(1)));

        assert_eq!(queue::give_back(&database, id(7)).await.unwrap(), 0);
        assert_eq!(queue::give_back(&database, id(1)).await.unwrap(), 2);
        let one = row(&database, 201).await;
        assert_eq!((one.lease_token, one.lease_until, one.attempts), (None, None, 0));
        assert_eq!(numbers(&claim(2, 10).take(&database).await.unwrap()), [104, 201, 105, 202]);
    }
}

#[tokio::test]
async fn what_nobody_would_take_is_held() {
    for database in databases().await {
        queued(&database).await;
        claim(1, 10).take(&database).await.unwrap();
        set_state(&database, 1, Standing::Paused).await;
        let settled = [settlement(101, 1, Next::Hold(Some(900))), settlement(102, 1, Next::Delivered)];
        assert_eq!(queue::settle(&database, &settled).await.unwrap().len(), 2);
        let one = row(&database, 101).await;
        assert_eq!((one.state, one.next_attempt_at, one.attempts), (State::Held, None, 1));
        assert_eq!(row(&database, 102).await.state, State::Delivered);
        assert_eq!(claim(2, 900).take(&database).await.unwrap().len(), 2, "of the other subscription");

        // A wait goes on while it is held, and is over when it is over.
        for (now, due) in [(500, 900), (600, 900), (950, 950)] {
            hold::release(&database, id(1), now, 9).await.unwrap();
            let one = row(&database, 101).await;
            assert_eq!((one.state, one.next_attempt_at, one.resumes_at), (State::Pending, Some(due), None));
            hold::hold(&database, id(1), Standing::Paused, now, 9).await.unwrap();
        }
        hold::release(&database, id(1), 1_000, 9).await.unwrap();
        let later = Claim { lease_until: 1_100, ..claim(3, 1_001) };
        later.take(&database).await.unwrap();
        queue::settle(&database, &[settlement(101, 3, Next::Retry(2_000))]).await.unwrap();
        hold::hold(&database, id(1), Standing::Disabled, 1_002, 9).await.unwrap();
        hold::release(&database, id(1), 1_003, 9).await.unwrap();
        let due = row(&database, 101).await.next_attempt_at;
        assert_eq!(due, Some(1_003), "who mends an endpoint need not wait");
    }
}

#[tokio::test]
async fn deliveries_follow_their_subscription() {
    for database in databases().await {
        queued(&database).await;
        let few = Claim { cap_per_subscription: 1, ..claim(1, 10) };
        assert_eq!(numbers(&few.take(&database).await.unwrap()), [101, 201]);
        assert_eq!(align(&database, 11).await, 0);
        set_state(&database, 1, Standing::Paused).await;
        assert_eq!(hold::hold(&database, id(1), Standing::Paused, 11, 2).await.unwrap(), 2);
        assert_eq!(align(&database, 11).await, 2, "101 is in flight");
        assert_eq!(align(&database, 11).await, 0);
        let counts = queue::counts(&database, 11).await.unwrap();
        assert_eq!(counts, Counts { pending: 3, in_flight: 2, held: 4, dead: 0 });

        assert_eq!(hold::release(&database, id(1), 12, 1).await.unwrap(), 1);
        let one = row(&database, 102).await;
        assert_eq!((one.state, one.next_attempt_at), (State::Pending, Some(12)));
        assert_eq!(hold::discard(&database, id(1), 12, 2).await.unwrap(), 2);
        assert_eq!(hold::discard(&database, id(1), 12, 9).await.unwrap(), 2, "held ones, then those free");
        assert_eq!(hold::discard(&database, id(1), 12, 9).await.unwrap(), 0);
        assert_eq!(row(&database, 101).await.state, State::Pending, "in flight");

        let held = webhook_deliveries::Model::new(id(106), id(2), &event(500), false, 13);
        webhook_deliveries::in_workspace(OURS).insert(&database, held).await.unwrap();
        assert_eq!(align(&database, 13).await, 1, "subscription 2 is enabled");
        assert_eq!(row(&database, 106).await.next_attempt_at, Some(13));
    }
}

#[tokio::test]
async fn several_workers_claim_at_once_and_keep_the_cap() {
    for database in databases().await {
        if database.get_database_backend() != DbBackend::Postgres {
            continue; // There a claim is alone.
        }
        queued(&database).await;
        let (one, other) = (database.begin().await.unwrap(), database.begin().await.unwrap());
        let few = Claim { cap_per_subscription: 2, ..claim(1, 10) };
        assert_eq!(numbers(&few.take(&one).await.unwrap()), [101, 201, 102, 202]);
        let same = Claim { lease_token: id(2), ..few };
        assert_eq!(same.take(&other).await.unwrap(), [], "it chooses the same, and passes them over");
        one.commit().await.unwrap();
        assert_eq!(same.take(&other).await.unwrap(), []);
        other.commit().await.unwrap();
    }
}

/// Takes and settles in transactions of its own until nothing is due; gives what it settled.
async fn worked(database: DatabaseConnection, worker: u128) -> Vec<Uuid> {
    let mut settled = Vec::new();
    let mut idle = 0;
    while idle < 20 {
        let token = worker * 100_000 + settled.len() as u128;
        let transaction = database.begin().await.unwrap();
        let few = Claim { cap_per_subscription: 40, batch: 7, ..claim(token, 10) };
        let taken = few.take(&transaction).await.unwrap();
        transaction.commit().await.unwrap();
        idle = if taken.is_empty() { idle + 1 } else { 0 };
        let done = |one: &Claimed| settlement(one.id.as_u128(), token, Next::Delivered);
        let done: Vec<_> = taken.iter().map(done).collect();
        settled.extend(queue::settle(&database, &done).await.unwrap());
    }
    settled
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_workers_settle_each_delivery_once() {
    for database in databases().await {
        ground(&database).await;
        let rows = (0..600_u128).map(|n| delivery(1000 + n, 1 + n % 2, n as i64 % 5)).collect();
        webhook_deliveries::in_workspace(OURS).insert_many(&database, rows).await.unwrap();
        let workers: Vec<_> = (1..5).map(|n| tokio::spawn(worked(database.clone(), n))).collect();
        let mut settled = Vec::new();
        for worker in workers {
            settled.extend(worker.await.unwrap());
        }
        settled.sort_unstable();
        assert_eq!(settled, (0..600).map(|n| id(1000 + n)).collect::<Vec<_>>());
        assert_eq!(queue::counts(&database, 10).await.unwrap(), Counts::default());
    }
}
