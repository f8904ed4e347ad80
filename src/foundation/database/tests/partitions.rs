//! Tests of the tables that are partitioned by day on PostgreSQL.

use std::time::{Duration, Instant};

use entity::rollups::DAY_MS;
use entity::{StringMap, webhook_attempts};
use futures_util::future::join_all;
use sea_orm::{ConnectionTrait, DbBackend, Statement};
use uuid::Uuid;

use super::{EmptyDatabase, at};
use crate::clock::Clock;
use crate::database::Database;

const TABLE: &str = webhook_attempts::TABLE;

/// A time long after the end of the first partition: 2035-03-01 12:00 UTC.
const NOON_MS: i64 = 2_056_363_200_000;

/// Inserts an attempt that ended at this time.
async fn insert(database: &Database, number: u128, ended_at: i64) {
    let attempt = webhook_attempts::Model {
        id: Uuid::from_u128(number),
        workspace_id: Uuid::from_u128(1),
        delivery_id: Uuid::from_u128(2),
        number: 1,
        started_at: ended_at,
        ended_at,
        status: Some(200),
        error: None,
        request_headers: StringMap::default(),
        response_headers: None,
        response_body: None,
    };
    let transaction = database.begin_limited().await.unwrap();
    webhook_attempts::insert_many(&transaction, vec![attempt]).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Returns the names of the tables that contain attempts, ordered by time, each with its number of rows.
async fn rows_by_table(database: &Database) -> Vec<(String, i64)> {
    let query =
        "SELECT tableoid::regclass::text, count(*) FROM webhook_attempts GROUP BY 1 ORDER BY min(ended_at)";
    let query = Statement::from_string(DbBackend::Postgres, query);
    let rows = database.read().query_all_raw(query).await.unwrap();
    rows.iter().map(|row| (row.try_get_by_index(0).unwrap(), row.try_get_by_index(1).unwrap())).collect()
}

/// Returns the names of the day partitions, ordered by day.
async fn day_partitions(database: &Database) -> Vec<String> {
    let query = "SELECT inhrelid::regclass::text FROM pg_inherits
        WHERE inhparent = 'webhook_attempts'::regclass AND inhrelid::regclass::text NOT LIKE '%_history' ORDER BY 1";
    let query = Statement::from_string(DbBackend::Postgres, query);
    let rows = database.read().query_all_raw(query).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

#[tokio::test]
async fn the_first_partition_contains_all_days_before_its_end() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let database = empty.migrated().await;
    let now = Clock::system().now_ms();
    for (number, day) in [(1, -4_000), (2, 0), (3, 7)] {
        database.ensure_partitions(TABLE, &[now + (day - 1) * DAY_MS]).await.unwrap();
        insert(&database, number, now + day * DAY_MS).await;
    }
    assert_eq!(rows_by_table(&database).await, [("webhook_attempts_history".to_owned(), 3)]);
    assert!(day_partitions(&database).await.is_empty());
    database.ensure_partitions(TABLE, &[now + 8 * DAY_MS]).await.unwrap();
    assert_eq!(day_partitions(&database).await.len(), 1);
    assert!(database.drop_partitions(TABLE, &at(now), 0).await.unwrap());
}

#[tokio::test]
async fn each_day_is_a_partition_that_is_dropped_after_its_end() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let database = empty.migrated().await;
    database.ensure_partitions(TABLE, &[NOON_MS, NOON_MS + 1]).await.unwrap();
    let days = ["webhook_attempts_2035_02_28", "webhook_attempts_2035_03_01", "webhook_attempts_2035_03_02"];
    assert_eq!(day_partitions(&database).await, days);
    let midnight = NOON_MS + DAY_MS / 2;
    insert(&database, 1, NOON_MS - DAY_MS).await;
    insert(&database, 2, midnight - 1).await;
    insert(&database, 3, midnight).await;
    assert_eq!(rows_by_table(&database).await, days.map(|day| (day.to_owned(), 1)));

    // The first partition ended years before, but with it, rows would have to be deleted one by one.
    let drop_before = async |time_ms| database.drop_partitions(TABLE, &at(time_ms + DAY_MS), DAY_MS).await;
    assert!(drop_before(0).await.unwrap());
    assert!(!drop_before(midnight - 1).await.unwrap());
    assert_eq!(day_partitions(&database).await, days[1..]);
    assert!(!drop_before(midnight).await.unwrap());
    assert_eq!(day_partitions(&database).await, days[2..]);
}

#[tokio::test]
async fn processes_create_the_partition_of_a_day_together() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    empty.migrated().await.close().await;
    let processes = join_all((0..6).map(|_| empty.open())).await;
    let creations = processes.iter().map(|process| process.ensure_partitions(TABLE, &[NOON_MS]));
    join_all(creations).await.into_iter().for_each(|outcome| outcome.unwrap());
    assert_eq!(day_partitions(&processes[0]).await.len(), 3);
}

#[tokio::test]
async fn a_partition_in_use_is_dropped_later() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let database = empty.migrated().await;
    database.ensure_partitions(TABLE, &[NOON_MS]).await.unwrap();
    let reader = database.snapshot().await.unwrap();
    reader.execute_unprepared("SELECT count(*) FROM webhook_attempts").await.unwrap();
    let began = Instant::now();
    database.drop_partitions(TABLE, &at(NOON_MS + DAY_MS), 0).await.unwrap();
    // The tries and pauses of two partitions take 2.6 seconds.
    assert!(began.elapsed() < Duration::from_secs(6));
    assert_eq!(day_partitions(&database).await.len(), 3);
    reader.rollback().await.unwrap();
    database.drop_partitions(TABLE, &at(NOON_MS + DAY_MS), 0).await.unwrap();
    assert_eq!(day_partitions(&database).await, ["webhook_attempts_2035_03_02"]);
}

#[tokio::test]
async fn without_a_simulated_clock_the_time_of_the_server_determines_what_is_dropped() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let database = empty.migrated().await;
    let now = Clock::system().now_ms();
    database.ensure_partitions(TABLE, &[now + 20 * DAY_MS]).await.unwrap();
    let partitions = day_partitions(&database).await.len();
    database.drop_partitions(TABLE, &Clock::system(), 0).await.unwrap();
    assert_eq!((partitions, day_partitions(&database).await.len()), (3, 3));
    database.drop_partitions(TABLE, &Clock::system(), -22 * DAY_MS).await.unwrap();
    assert_eq!(day_partitions(&database).await.len(), 0);
}

#[tokio::test]
async fn a_partition_that_cannot_be_created_does_not_prevent_inserts_of_other_days() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let database = empty.migrated().await;
    database.ensure_partitions(TABLE, &[NOON_MS]).await.unwrap();
    // The table of the next day cannot be created, since its name is taken.
    database
        .read()
        .execute_unprepared("CREATE TABLE webhook_attempts_2035_03_03 (id INTEGER)")
        .await
        .unwrap();
    database.ensure_partitions(TABLE, &[NOON_MS + DAY_MS]).await.unwrap();
    insert(&database, 1, NOON_MS + DAY_MS).await;
    assert!(database.ensure_partitions(TABLE, &[NOON_MS + 2 * DAY_MS]).await.is_err());
}
