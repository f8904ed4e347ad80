//! The day counts in the database, so that a restart does not hand out a second day.
//!
//! Owns their reading and writing. Counts are added, never set, so that what several processes count sums up.

use std::collections::HashMap;

use entity::rate_usage;

use super::window::{self, DAY_MS};
use foundation::clock::Clock;
use foundation::database::Database;
use foundation::id::KeyId;

/// Days whose counts are kept after they are over.
const KEPT_DAYS: i64 = 7;

/// Requests of one key on one day that have yet to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// The key.
    pub key: KeyId,
    /// The UTC day, counted from the epoch.
    pub day: i64,
    /// How many.
    pub count: u64,
}

/// How many requests of a key the database knows of on a day.
///
/// # Errors
/// When the database fails.
pub async fn used(db: &Database, key: KeyId, day: i64) -> anyhow::Result<u64> {
    let used = rate_usage::used(db.read(), &key.to_string(), day * DAY_MS).await?;
    Ok(u64::try_from(used).unwrap_or(0))
}

/// Adds counts in one transaction; returns what each key's day amounts to, with what other processes counted.
///
/// # Errors
/// When the database fails; nothing was added then.
pub async fn add(
    db: &Database,
    clock: &Clock,
    counts: &[Count],
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
    let sums = rate_usage::add(write.conn(), rows.collect()).await?;
    write.commit().await?;
    let sum = |row: rate_usage::Model| {
        let key = row.subject.parse::<KeyId>().ok()?;
        Some(((key, window::day_of(row.day)), u64::try_from(row.used).unwrap_or(0)))
    };
    Ok(sums.into_iter().filter_map(sum).collect())
}

/// Forgets the counts of days that are over for a week.
///
/// # Errors
/// When the database fails.
pub async fn forget_old(db: &Database, clock: &Clock) -> anyhow::Result<()> {
    let before = (window::day_of(clock.now_ms()) - KEPT_DAYS) * DAY_MS;
    let write = db.begin_write(clock).await?;
    rate_usage::delete_before(write.conn(), before).await?;
    write.commit().await?;
    Ok(())
}
