//! Holds which keys exist, so that guesses from a client address that exhausted its limit are rejected without a key lookup.
//!
//! Stores the first eight bytes of the digest of each key's secret. Nothing is read until a client address that exhausted its
//! limit sends an unknown key. Keys created by this process are added at their commit. Keys created by other processes are read
//! when a digest is missing and the last read is older than [`MAX_AGE_MS`]. A read goes in the order of key ids and begins
//! [`OVERLAP_MS`] before the newest known key, because a transaction that began earlier can commit later. Every
//! [`FULL_READ_INTERVAL_MS`] all keys are read, in case the clock of another process is further behind. Keys are never removed:
//! the key lookup itself rejects a revoked key.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use dashmap::DashSet;
use entity::api_keys;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::Result;
use crate::app::App;
use foundation::id::min_uuid_at;

/// Maximum age of a read, in milliseconds.
const MAX_AGE_MS: i64 = 2_000;
/// How long before the newest known key a read begins, in milliseconds.
const OVERLAP_MS: i64 = 60_000;
/// Time between two reads of all keys, in milliseconds.
const FULL_READ_INTERVAL_MS: i64 = 600_000;
/// Number of keys read per statement.
const BATCH_SIZE: u64 = 5_000;

/// The keys that are known to exist.
#[derive(Debug, Default)]
pub(super) struct KeyFilter {
    digests: DashSet<u64>,
    /// When the last successful read began. 0 before the first.
    read_ms: AtomicI64,
    /// Locked during a read. Concurrent requests that need a read wait for it.
    state: Mutex<KeyReadState>,
    /// The number of statements sent to the database.
    statements: AtomicU64,
}

/// How far the keys have been read.
#[derive(Debug, Default)]
struct KeyReadState {
    newest: Option<Uuid>,
    /// When all keys were last read.
    full_read_ms: Option<i64>,
    failed_ms: Option<i64>,
}

impl KeyFilter {
    /// Adds a key that this process created. Called after the commit.
    pub(super) fn add(&self, digest: &[u8]) {
        if let Some(prefix) = prefix(digest) {
            self.digests.insert(prefix);
        }
    }

    /// Returns whether a key with this digest may exist. Returns false only if the key did not exist 2 s ago, or if the
    /// database cannot be read.
    ///
    /// # Errors
    /// Returns [`Error::Internal`](crate::Error::Internal) when the keys cannot be read and no earlier read succeeded.
    pub(super) async fn may_exist(&self, app: &App, digest: &[u8; 32]) -> Result<bool> {
        let Some(prefix) = prefix(digest) else { return Ok(true) };
        if self.digests.contains(&prefix) {
            return Ok(true);
        }
        if !self.is_fresh(app.clock.now_ms()) {
            self.refresh(app).await?;
        }
        Ok(self.digests.contains(&prefix))
    }

    /// Reads new keys, unless a read was attempted within [`MAX_AGE_MS`].
    async fn refresh(&self, app: &App) -> Result<()> {
        let mut state = self.state.lock().await;
        let now_ms = app.clock.now_ms();
        if self.is_fresh(now_ms) {
            return Ok(());
        }
        let failed_recently = is_recent(state.failed_ms, now_ms, MAX_AGE_MS);
        let outcome = match failed_recently {
            true => Err(anyhow::anyhow!("reading the API keys failed less than 2 s ago").into()),
            false => self.read(app, &mut state, now_ms).await,
        };
        match outcome {
            Ok(()) => self.read_ms.store(now_ms, Ordering::Release),
            Err(error) => {
                if !failed_recently {
                    state.failed_ms = Some(app.clock.now_ms());
                }
                // The keys read earlier still distinguish nearly all keys from guesses.
                state.full_read_ms.ok_or(error)?;
            }
        }
        Ok(())
    }

    /// Reads the keys created since the last read.
    async fn read(&self, app: &App, state: &mut KeyReadState, now_ms: i64) -> Result<()> {
        let is_full_read = !is_recent(state.full_read_ms, now_ms, FULL_READ_INTERVAL_MS);
        let mut after = state.newest.filter(|_| !is_full_read).map(|newest| with_overlap(newest, now_ms));
        loop {
            self.statements.fetch_add(1, Ordering::Relaxed);
            let keys = api_keys::secret_hashes(app.db.read(), after, BATCH_SIZE).await?;
            keys.iter().for_each(|(_, digest)| self.add(digest));
            let Some((last, _)) = keys.last() else { break };
            after = Some(*last);
            state.newest = state.newest.max(after);
            if (keys.len() as u64) < BATCH_SIZE {
                break;
            }
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

/// Returns whether a time is less than `length_ms` ago. A time in the future, after the clock was set back, is not.
fn is_recent(time_ms: Option<i64>, now_ms: i64, length_ms: i64) -> bool {
    time_ms.is_some_and(|time_ms| (0..length_ms).contains(&(now_ms - time_ms)))
}

/// Returns the id after which the next read begins, when the last one ended with `newest`. An id can lie in the future if the
/// clock was ahead when its key was created.
fn with_overlap(newest: Uuid, now_ms: i64) -> Uuid {
    let created_ms = i64::try_from(newest.as_u128() >> 80).unwrap_or(0);
    min_uuid_at(created_ms.min(now_ms) - OVERLAP_MS)
}

/// Returns the part of a digest that is stored.
fn prefix(digest: &[u8]) -> Option<u64> {
    digest.first_chunk().map(|prefix| u64::from_le_bytes(*prefix))
}
