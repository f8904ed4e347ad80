//! Tests of write transactions, and of the horizon of a delta sync: no running or later write commits a row with an
//! earlier `updated_at`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use entity::{
    Connection, StringList, StringMap, revenue_rollups, rollups, server_state, students, workspaces,
};
use sea_orm::{ConnectionTrait, DbBackend, QueryResult, Statement};
use uuid::Uuid;

use super::{EmptyDatabase, at, workspace};
use crate::clock::Clock;

#[tokio::test]
async fn a_write_is_visible_after_the_commit_and_rolled_back_when_dropped() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        let counter = Arc::new(AtomicU32::new(0));

        let mut dropped = database.begin_write(&at(7)).await.unwrap();
        server_state::put(dropped.conn(), "a", "1").await.unwrap();
        dropped.after_commit({
            let counter = Arc::clone(&counter);
            move || _ = counter.fetch_add(1, Ordering::Relaxed)
        });
        drop(dropped);

        let mut committed = database.begin_write(&at(8)).await.unwrap();
        assert_eq!(committed.recorded_ms(), 8);
        assert!(server_state::put_if_absent(committed.conn(), "b", "2").await.unwrap());
        assert!(!server_state::put_if_absent(committed.conn(), "b", "3").await.unwrap());
        committed.after_commit({
            let counter = Arc::clone(&counter);
            move || _ = counter.fetch_add(10, Ordering::Relaxed)
        });
        assert_eq!(server_state::get(database.read(), "b").await.unwrap(), None);
        committed.commit().await.unwrap();

        assert_eq!(counter.load(Ordering::Relaxed), 10);
        assert_eq!(server_state::get(database.read(), "a").await.unwrap(), None);
        assert_eq!(server_state::get(database.read(), "b").await.unwrap().as_deref(), Some("2"));
    }
}

#[tokio::test]
async fn rollups_are_written_at_the_commit() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        let school = workspace(1, "acme");
        let bucket = revenue_rollups::RevenueBucket {
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
            let sums = revenue_rollups::RevenueSums { orders: 1, gross_amount: amount, ..Default::default() };
            write.add_revenue(bucket.clone(), sums);
            write.add_revenue(bucket.clone(), sums);
            write.commit().await.unwrap();
        }
        let day = rollups::BucketRange {
            part: 0,
            grain: rollups::Grain::Day,
            sign: 1,
            from_ms: 0,
            to_ms: rollups::DAY_MS,
            step_ms: rollups::DAY_MS,
        };
        let expected = revenue_rollups::RevenueSums { orders: 4, gross_amount: 1600, ..Default::default() };
        let sums = revenue_rollups::sums_of(database.read(), school.id, None, &[day]).await.unwrap();
        assert_eq!(sums, [(0, "EUR".to_owned(), expected)]);
    }
}

#[tokio::test]
async fn rows_in_memory_are_written_before_any_other_statement() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        let (conn, school) = (write.conn(), workspace(1, "acme"));
        workspaces::insert(conn, school.clone()).await.unwrap();
        conn.activate_cache().await.unwrap();
        for number in 10..15 {
            students::in_workspace(school.id).insert(conn, student(number)).await.unwrap();
        }
        let count = || Statement::from_string(conn.get_database_backend(), "SELECT count(*) FROM students");
        let first_value = |rows: Vec<QueryResult>| rows[0].try_get_by_index::<i64>(0).unwrap();
        let rows = conn.query_without_flush(count()).await.unwrap();
        assert_eq!(first_value(rows), 0);
        let rows = conn.query_all_raw(count()).await.unwrap();
        assert_eq!(first_value(rows), 5);
        write.commit().await.unwrap();
        assert_eq!(students::in_workspace(school.id).count(database.read()).await.unwrap(), 5);
    }
}

#[tokio::test]
async fn the_horizon_is_not_after_an_open_write() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        assert_eq!(database.horizon(&at(50)).await.unwrap(), 50);

        // The reader of an SQLite database waits for the write, but not forever.
        let is_sqlite = database.backend() == DbBackend::Sqlite;
        let open_write = database.begin_write(&at(100)).await.unwrap();
        assert_eq!(database.horizon(&at(90)).await.unwrap(), if is_sqlite { 50 } else { 90 });
        assert_eq!(database.horizon(&at(200)).await.unwrap(), if is_sqlite { 50 } else { 100 });
        open_write.commit().await.unwrap();
        assert_eq!(database.horizon(&at(200)).await.unwrap(), 200);

        database.begin_write(&at(300)).await.unwrap().rollback().await.unwrap();
        assert_eq!(database.horizon(&at(400)).await.unwrap(), 400);
        assert_eq!(
            database.begin_write(&at(350)).await.unwrap().recorded_ms(),
            400,
            "not before the horizon of the delta sync that was returned to a reader"
        );
    }
}

#[tokio::test]
async fn the_horizon_by_the_machine_s_clock_is_not_after_a_running_write() {
    for empty in EmptyDatabase::all().await {
        let this_process = empty.migrated().await;
        let other_process = empty.open().await;
        let before = this_process.horizon(&Clock::system()).await.unwrap();
        let open_write = other_process.begin_write(&Clock::system()).await.unwrap();
        assert!(before <= open_write.recorded_ms());
        if this_process.backend() == DbBackend::Postgres {
            assert!(this_process.horizon(&Clock::system()).await.unwrap() <= open_write.recorded_ms());
        }
        let recorded = open_write.recorded_ms();
        open_write.commit().await.unwrap();
        assert!(this_process.horizon(&Clock::system()).await.unwrap() >= recorded);
    }
}

#[tokio::test]
async fn the_horizon_accounts_for_a_write_of_another_process() {
    for empty in EmptyDatabase::all().await {
        let this_process = empty.migrated().await;
        let other_process = empty.open().await;
        let open_write = other_process.begin_write(&at(100)).await.unwrap();
        let reading = tokio::spawn({
            let this_process = this_process.clone();
            async move { this_process.horizon(&at(200)).await.unwrap() }
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        if this_process.backend() == DbBackend::Sqlite {
            assert!(!reading.is_finished(), "the horizon waits for the write of the other process");
            open_write.commit().await.unwrap();
            assert_eq!(reading.await.unwrap(), 200);
        } else {
            assert_eq!(reading.await.unwrap(), 100);
            open_write.commit().await.unwrap();
        }
        assert_eq!(this_process.horizon(&at(200)).await.unwrap(), 200);
    }
}

#[tokio::test]
async fn readers_cannot_write() {
    let empty = EmptyDatabase::sqlite();
    let database = empty.migrated().await;
    assert!(server_state::put(database.read(), "a", "1").await.is_err());
}

#[tokio::test]
async fn a_canceled_commit_completes() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        server_state::put(write.conn(), "a", "1").await.unwrap();
        let mut commit = Box::pin(write.commit());
        assert!(futures_util::poll!(commit.as_mut()).is_pending());
        drop(commit);
        drop(database.begin_write(&at(2)).await.unwrap());
        for _ in 0..2_000 {
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
async fn the_writer_recovers_after_a_full_disk() {
    let empty = EmptyDatabase::sqlite();
    let database = empty.migrated().await;
    let write = database.begin_write(&at(1)).await.unwrap();
    // Like with a full disk, the database ends the transaction without the driver noticing.
    write.conn().execute_unprepared("ROLLBACK").await.unwrap();
    drop(write);
    for text in ["1", "2"] {
        let write = database.begin_write(&at(2)).await.unwrap();
        server_state::put(write.conn(), "a", text).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(server_state::get(database.read(), "a").await.unwrap().as_deref(), Some(text));
    }
}

fn student(number: u128) -> students::Model {
    students::Model {
        id: Uuid::from_u128(number),
        workspace_id: Uuid::from_u128(1),
        key: None,
        email: format!("s{number}@example.com"),
        email_folded: format!("s{number}@example.com"),
        name: None,
        external_id: None,
        tags: StringList(Vec::new()),
        metadata: StringMap::default(),
        created_at: 1,
        updated_at: 1,
    }
}
