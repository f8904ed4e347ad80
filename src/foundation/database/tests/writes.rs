//! Transactions that write, and what readers may count on beside them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use entity::{revenue_rollups, rollups, server_state, workspaces};
use sea_orm::{ConnectionTrait, DbBackend};

use super::{Place, at, workspace};
use crate::clock::Clock;

#[tokio::test]
async fn a_write_is_seen_once_committed_and_never_when_dropped() {
    for place in Place::all().await {
        let database = place.migrated().await;
        let done = Arc::new(AtomicU32::new(0));

        let mut dropped = database.begin_write(&at(7)).await.unwrap();
        server_state::put(dropped.conn(), "a", "1").await.unwrap();
        dropped.after_commit({
            let done = Arc::clone(&done);
            move || _ = done.fetch_add(1, Ordering::Relaxed)
        });
        drop(dropped);

        let mut kept = database.begin_write(&at(8)).await.unwrap();
        assert_eq!(kept.now_ms(), 8);
        assert!(server_state::put_if_absent(kept.conn(), "b", "2").await.unwrap());
        assert!(!server_state::put_if_absent(kept.conn(), "b", "3").await.unwrap());
        kept.after_commit({
            let done = Arc::clone(&done);
            move || _ = done.fetch_add(10, Ordering::Relaxed)
        });
        assert_eq!(server_state::get(database.read(), "b").await.unwrap(), None);
        kept.commit().await.unwrap();

        assert_eq!(done.load(Ordering::Relaxed), 10);
        assert_eq!(server_state::get(database.read(), "a").await.unwrap(), None);
        assert_eq!(server_state::get(database.read(), "b").await.unwrap().as_deref(), Some("2"));
    }
}

#[tokio::test]
async fn sums_are_written_at_the_commit() {
    for place in Place::all().await {
        let database = place.migrated().await;
        let school = workspace(1, "acme");
        let bucket = revenue_rollups::Bucket {
            workspace_id: school.id,
            course_id: rollups::ALL_COURSES,
            grain: rollups::Grain::Day,
            starts_at: 0,
            currency: "EUR".to_owned(),
        };
        for amount in [500, 300] {
            let mut write = database.begin_write(&at(1)).await.unwrap();
            if amount == 500 {
                workspaces::insert(write.conn(), school.clone()).await.unwrap();
            }
            let sums = revenue_rollups::Sums { orders: 1, gross_amount: amount, ..Default::default() };
            write.add_revenue(bucket.clone(), sums);
            write.add_revenue(bucket.clone(), sums);
            write.commit().await.unwrap();
        }
        let day = rollups::Piece::whole(0, rollups::Grain::Day, 1, 0, 1);
        let expected = revenue_rollups::Sums { orders: 4, gross_amount: 1600, ..Default::default() };
        let sums = revenue_rollups::sums_of(database.read(), school.id, None, &[day]).await.unwrap();
        assert_eq!(sums, [(0, "EUR".to_owned(), expected)]);
    }
}

#[tokio::test]
async fn the_horizon_stays_behind_a_held_write() {
    for place in Place::all().await {
        let database = place.migrated().await;
        assert_eq!(database.horizon(&at(50)).await.unwrap(), 50);

        let held = database.begin_write(&at(100)).await.unwrap();
        assert_eq!(database.horizon(&at(90)).await.unwrap(), 90);
        assert_eq!(database.horizon(&at(200)).await.unwrap(), 100);
        held.commit().await.unwrap();
        assert_eq!(database.horizon(&at(200)).await.unwrap(), 200);

        database.begin_write(&at(300)).await.unwrap().rollback().await.unwrap();
        assert_eq!(database.horizon(&at(400)).await.unwrap(), 400);
        assert_eq!(database.begin_write(&at(350)).await.unwrap().now_ms(), 400, "the horizon was promised");
    }
}

#[tokio::test]
async fn the_machines_clock_promises_nothing_of_a_running_write() {
    for place in Place::all().await {
        let ours = place.migrated().await;
        let theirs = place.open().await;
        let before = ours.horizon(&Clock::system()).await.unwrap();
        let held = theirs.begin_write(&Clock::system()).await.unwrap();
        assert!(before <= held.now_ms());
        if ours.backend() == DbBackend::Postgres {
            assert!(ours.horizon(&Clock::system()).await.unwrap() <= held.now_ms());
        }
        let recorded = held.now_ms();
        held.commit().await.unwrap();
        assert!(ours.horizon(&Clock::system()).await.unwrap() >= recorded);
    }
}

#[tokio::test]
async fn the_horizon_waits_for_or_stays_behind_a_write_of_another_process() {
    for place in Place::all().await {
        let ours = place.migrated().await;
        let theirs = place.open().await;
        let held = theirs.begin_write(&at(100)).await.unwrap();
        let reading = tokio::spawn({
            let ours = ours.clone();
            async move { ours.horizon(&at(200)).await.unwrap() }
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        if ours.backend() == DbBackend::Sqlite {
            assert!(!reading.is_finished(), "the foreign write is waited for");
            held.commit().await.unwrap();
            assert_eq!(reading.await.unwrap(), 200);
        } else {
            assert_eq!(reading.await.unwrap(), 100);
            held.commit().await.unwrap();
        }
        assert_eq!(ours.horizon(&at(200)).await.unwrap(), 200);
    }
}

#[tokio::test]
async fn a_reader_waiting_for_a_foreign_write_is_freed_by_a_write_of_ours() {
    let place = Place::sqlite();
    let ours = place.migrated().await;
    let theirs = place.open().await;
    let foreign = theirs.begin_write(&at(100)).await.unwrap();
    let writing = tokio::spawn({
        let ours = ours.clone();
        async move { ours.begin_write(&at(300)).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let reading = tokio::spawn({
        let ours = ours.clone();
        async move { ours.horizon(&at(200)).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!reading.is_finished());
    foreign.commit().await.unwrap();
    let held = writing.await.unwrap();
    assert_eq!(reading.await.unwrap(), 200, "although our write still runs");
    drop(held);
}

#[tokio::test]
async fn readers_cannot_write() {
    let place = Place::sqlite();
    let database = place.migrated().await;
    assert!(server_state::put(database.read(), "a", "1").await.is_err());
}

#[tokio::test]
async fn a_cancelled_commit_goes_on_to_its_end() {
    for place in Place::all().await {
        let database = place.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        server_state::put(write.conn(), "a", "1").await.unwrap();
        let mut commit = Box::pin(write.commit());
        assert!(futures_util::poll!(commit.as_mut()).is_pending());
        drop(commit);
        drop(database.begin_write(&at(2)).await.unwrap());
        for _ in 0..100 {
            if server_state::get(database.read(), "a").await.unwrap().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(server_state::get(database.read(), "a").await.unwrap().as_deref(), Some("1"));
        assert_eq!(database.horizon(&at(9)).await.unwrap(), 9);
    }
}

#[tokio::test]
async fn the_writer_recovers_when_the_disk_was_full() {
    let place = Place::sqlite();
    let database = place.migrated().await;
    let write = database.begin_write(&at(1)).await.unwrap();
    // As a full disk would: the database ends the transaction by itself, and the driver does not know.
    write.conn().execute_unprepared("ROLLBACK").await.unwrap();
    drop(write);
    for text in ["1", "2"] {
        let write = database.begin_write(&at(2)).await.unwrap();
        server_state::put(write.conn(), "a", text).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(server_state::get(database.read(), "a").await.unwrap().as_deref(), Some(text));
    }
}
