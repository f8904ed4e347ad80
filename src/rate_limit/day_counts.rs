//! Reads and writes the daily counts in the database, so that they survive a restart. A `day` is a UTC day, as the
//! number of days since the Unix epoch.
//!
//! Counts are added, never set, so that the counts of several processes add up.

use std::collections::HashMap;
use std::time::Duration;

use entity::{rate_usage, rate_windows};
use sea_orm::DbBackend;

use super::window::{self, DAY_MS};
use foundation::clock::Clock;
use foundation::database::Database;
use foundation::id::KeyId;

/// How long the counts of past days are stored, in days.
const RETENTION_DAYS: i64 = 7;

/// Requests of a key on one day, to be added to the stored count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayCount {
    /// The key.
    pub key: KeyId,
    /// The day.
    pub day: i64,
    /// The number of requests.
    pub count: u64,
}

/// Returns the stored number of requests of a key on a day; 0 if none are stored.
///
/// # Errors
/// Returns an error when the query fails.
pub async fn used(db: &Database, key: KeyId, day: i64) -> anyhow::Result<u64> {
    let used = rate_usage::used(db.read(), &key.to_string(), day * DAY_MS).await?;
    Ok(u64::try_from(used).unwrap_or(0))
}

/// Adds counts in one transaction. Returns the new totals by key and day, including the counts of other processes.
///
/// # Errors
/// Returns an error when the transaction fails. Then no counts are added.
pub async fn add(
    db: &Database,
    clock: &Clock,
    counts: &[DayCount],
) -> anyhow::Result<HashMap<(KeyId, i64), u64>> {
    if counts.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = counts.iter().map(|count| rate_usage::Model {
        subject: count.key.to_string(),
        day: count.day * DAY_MS,
        used: i64::try_from(count.count).unwrap_or(i64::MAX),
    });
    let write = db.begin_write(clock).await?;
    let totals = rate_usage::add(write.conn(), rows.collect()).await?;
    write.commit().await?;
    let total = |row: rate_usage::Model| {
        let key = row.subject.parse::<KeyId>().ok()?;
        Some(((key, window::day_of(row.day)), u64::try_from(row.used).unwrap_or(0)))
    };
    Ok(totals.into_iter().filter_map(total).collect())
}

/// How long one statement that deletes ended windows may wait.
const DELETE_TIMEOUT: Duration = Duration::from_secs(2);
/// How many rows of ended windows one statement deletes.
const DELETE_BATCH: u64 = 500;

/// Deletes the counts of days that ended at least seven days ago, and from the shared limit store in PostgreSQL the callers
/// whose windows have ended.
///
/// # Errors
/// Returns an error when a statement fails.
pub async fn prune(db: &Database, clock: &Clock) -> anyhow::Result<()> {
    let before = (window::day_of(clock.now_ms()) - RETENTION_DAYS) * DAY_MS;
    let write = db.begin_write(clock).await?;
    rate_usage::delete_before(write.conn(), before).await?;
    write.commit().await?;
    if db.backend() == DbBackend::Postgres {
        let (db, now) = (db.with_timeout(DELETE_TIMEOUT), clock.is_simulated().then(|| clock.now_ms()));
        loop {
            // In a transaction, since its limits also apply while the table is locked.
            let transaction = db.begin_limited().await?;
            let deleted = rate_windows::delete_ended(&transaction, now, DELETE_BATCH).await?;
            transaction.commit().await?;
            if deleted < DELETE_BATCH {
                break;
            }
        }
    }
    Ok(())
}
