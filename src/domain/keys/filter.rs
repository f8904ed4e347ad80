//! Remembers which keys exist, so that guesses from a client address that exhausted its limit are rejected without a
//! database query for each.
//!
//! Stores the first eight bytes of the digest of each key's secret. Nothing is read until a client address that
//! exhausted its limit sends a key that is not cached. Keys created by this process are added at their commit. Keys
//! created by other processes are read when a digest is missing and the last read is older than [`MAX_AGE_MS`]. Keys
//! are read in the order of their ids, from [`OVERLAP_MS`] before the newest known key, because a transaction that
//! began earlier can commit later. Keys that were rotated since, and their old secrets, are read by the time of the rotation, with
//! the same overlap. All keys are read again every [`FULL_READ_INTERVAL_MS`], in case the clock of
//! another process is further behind. Revoked keys are not read, but a key that was read before it was revoked is not
//! removed: the query for the key rejects it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use dashmap::DashSet;
use entity::{api_keys, old_key_secrets};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::Result;
use foundation::clock::Clock;
use foundation::database::Database;
use foundation::id::{min_uuid_at, uuid_ms};

/// A missing digest causes another read when the last read is at least this old, in milliseconds.
const MAX_AGE_MS: i64 = 2_000;
/// How long before the newest known key, or the previous read, a read begins, in milliseconds.
const OVERLAP_MS: i64 = 60_000;
/// Time between two reads of all keys, in milliseconds.
const FULL_READ_INTERVAL_MS: i64 = 600_000;
/// Number of keys read per statement.
const BATCH_SIZE: u64 = 5_000;

/// The keys that are known to exist.
#[derive(Debug, Default)]
pub(super) struct KeyFilter {
    digests: DashSet<u64>,
    /// When the most recent successful read began, in milliseconds since the epoch. 0 before the first.
    read_ms: AtomicI64,
    /// Locked during a read. Concurrent requests that need a read wait for it.
    state: Mutex<KeyReadState>,
    /// The number of statements sent to the database.
    statements: AtomicU64,
}

/// How far the keys have been read.
#[derive(Debug, Default)]
struct KeyReadState {
    /// The highest key id read so far.
    newest: Option<Uuid>,
    /// When the most recent read of all keys began, in milliseconds since the epoch.
    full_read_ms: Option<i64>,
    /// When a read last failed, in milliseconds since the epoch.
    failed_ms: Option<i64>,
}

impl KeyFilter {
    /// Adds a key that this process created. Called after the commit.
    pub(super) fn add(&self, digest: &[u8]) {
        if let Some(digest_prefix) = digest_prefix(digest) {
            self.digests.insert(digest_prefix);
        }
    }

    /// Returns whether a key with this digest may exist. Returns false only if the key did not exist 2 s ago or is
    /// revoked, or if the database cannot be read.
    ///
    /// # Errors
    /// Returns [`Error::Internal`](crate::Error::Internal) when the keys cannot be read and no earlier read succeeded.
    pub(super) async fn may_exist(&self, db: &Database, clock: &Clock, digest: &[u8; 32]) -> Result<bool> {
        let Some(digest_prefix) = digest_prefix(digest) else { return Ok(true) };
        if self.digests.contains(&digest_prefix) {
            return Ok(true);
        }
        if !self.is_fresh(clock.now_ms()) {
            self.refresh(db, clock).await?;
        }
        Ok(self.digests.contains(&digest_prefix))
    }

    /// Reads new keys, unless a read was attempted within [`MAX_AGE_MS`]. Returns an error only if no read of all keys
    /// has succeeded yet.
    async fn refresh(&self, db: &Database, clock: &Clock) -> Result<()> {
        let mut state = self.state.lock().await;
        let now_ms = clock.now_ms();
        if self.is_fresh(now_ms) {
            return Ok(());
        }
        let failed_recently = is_recent(state.failed_ms, now_ms, MAX_AGE_MS);
        let outcome = match failed_recently {
            true => Err(anyhow::anyhow!("reading the API keys failed less than 2 s ago").into()),
            false => self.read(db, &mut state, now_ms).await,
        };
        match outcome {
            Ok(()) => self.read_ms.store(now_ms, Ordering::Release),
            Err(error) => {
                if !failed_recently {
                    state.failed_ms = Some(clock.now_ms());
                }
                // The keys read earlier still distinguish nearly all keys from guesses.
                state.full_read_ms.ok_or(error)?;
            }
        }
        Ok(())
    }

    /// Reads the keys created or rotated since the previous read, or all keys when [`FULL_READ_INTERVAL_MS`] have passed since the
    /// most recent read of all keys.
    async fn read(&self, db: &Database, state: &mut KeyReadState, now_ms: i64) -> Result<()> {
        let is_full_read = !is_recent(state.full_read_ms, now_ms, FULL_READ_INTERVAL_MS);
        let mut after = state.newest.filter(|_| !is_full_read).map(|newest| with_overlap(newest, now_ms));
        loop {
            self.statements.fetch_add(1, Ordering::Relaxed);
            let keys = api_keys::secret_hashes(db.read(), after, BATCH_SIZE).await?;
            keys.iter().for_each(|(_, digest)| self.add(digest));
            let Some((last, _)) = keys.last() else { break };
            after = Some(*last);
            state.newest = state.newest.max(after);
            if (keys.len() as u64) < BATCH_SIZE {
                break;
            }
        }
        let rotated_since = if is_full_read { 0 } else { self.read_ms.load(Ordering::Acquire) - OVERLAP_MS };
        self.statements.fetch_add(1, Ordering::Relaxed);
        for (current, old) in old_key_secrets::hashes_since(db.read(), rotated_since).await? {
            self.add(&current);
            self.add(&old);
        }
        if is_full_read {
            state.full_read_ms = Some(now_ms);
        }
        Ok(())
    }

    fn is_fresh(&self, now_ms: i64) -> bool {
        is_recent(Some(self.read_ms.load(Ordering::Acquire)), now_ms, MAX_AGE_MS)
    }

    /// Returns the number of statements sent to the database.
    pub(super) fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }
}

/// Returns whether a time is less than `max_age_ms` ago. Returns false for a time in the future, which occurs when the
/// clock was set back.
fn is_recent(time_ms: Option<i64>, now_ms: i64, max_age_ms: i64) -> bool {
    time_ms.is_some_and(|time_ms| (0..max_age_ms).contains(&(now_ms - time_ms)))
}

/// Returns the id after which the next read begins if `newest` is the newest known key. The creation time of that key
/// can lie in the future if the clock was ahead when the key was created.
fn with_overlap(newest: Uuid, now_ms: i64) -> Uuid {
    // The first 48 bits of a UUIDv7 are its time in milliseconds since the epoch.
    let created_ms = uuid_ms(newest);
    min_uuid_at(created_ms.min(now_ms) - OVERLAP_MS)
}

/// Returns the part of a digest that is stored.
fn digest_prefix(digest: &[u8]) -> Option<u64> {
    digest.first_chunk().map(|digest_prefix| u64::from_le_bytes(*digest_prefix))
}
