//! Which keys exist, so that a request from an address whose limit is exhausted is refused without a look-up.
//!
//! Holds eight bytes of the digest of each key's secret. Nothing is read before somebody sends unknown keys from an exhausted
//! address. A key created by this process is added at its commit. Those of other processes are read when a digest is missing and
//! the last reading is [`FRESH_MS`] old: in the order of their ids, from [`OVERLAP_MS`] before the newest known one, since a
//! transaction that began earlier may commit later; and all of them every [`WHOLE_MS`], in case the clock of another process is
//! further behind. Nothing is removed: the look-up finds out that a key was revoked.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use dashmap::DashSet;
use entity::api_keys;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::Result;
use crate::app::App;
use foundation::id::first_of;

/// How old a reading may be, in milliseconds.
const FRESH_MS: i64 = 2_000;
/// How far before the newest known key a reading begins, in milliseconds.
const OVERLAP_MS: i64 = 60_000;
/// After how many milliseconds a reading begins with the first key again.
const WHOLE_MS: i64 = 600_000;
/// Keys that one statement reads.
const PAGE: u64 = 5_000;

/// The keys that exist, as far as this process knows.
#[derive(Debug, Default)]
pub(super) struct KeyFilter {
    digests: DashSet<u64>,
    /// When the last reading began that succeeded; 0 before the first.
    read_ms: AtomicI64,
    /// Held during a reading: whoever needs one at the same time waits for it.
    reading: Mutex<Reading>,
    /// Statements that were sent to the database.
    statements: AtomicU64,
}

/// How far the keys were read.
#[derive(Debug, Default)]
struct Reading {
    newest: Option<Uuid>,
    /// When all keys were last read.
    whole_ms: Option<i64>,
    failed_ms: Option<i64>,
}

impl KeyFilter {
    /// Adds a key that this process created, once it is committed.
    pub(super) fn add(&self, digest: &[u8]) {
        if let Some(part) = part(digest) {
            self.digests.insert(part);
        }
    }

    /// Whether a key with this digest may exist. False only when it did not exist 2 s ago, or when the database does not answer.
    ///
    /// # Errors
    /// [`Error::Internal`](crate::Error::Internal) when the keys were never read, and cannot be read.
    pub(super) async fn may_exist(&self, app: &App, digest: &[u8; 32]) -> Result<bool> {
        let Some(part) = part(digest) else { return Ok(true) };
        if self.digests.contains(&part) {
            return Ok(true);
        }
        if !self.is_fresh(app.clock.now_ms()) {
            self.refresh(app).await?;
        }
        Ok(self.digests.contains(&part))
    }

    /// Reads what is new, unless that was tried within [`FRESH_MS`].
    async fn refresh(&self, app: &App) -> Result<()> {
        let mut reading = self.reading.lock().await;
        let now_ms = app.clock.now_ms();
        if self.is_fresh(now_ms) {
            return Ok(());
        }
        let tried = is_within(reading.failed_ms, now_ms, FRESH_MS);
        let outcome = match tried {
            true => Err(anyhow::anyhow!("the keys could not be read a moment ago").into()),
            false => self.read(app, &mut reading, now_ms).await,
        };
        match outcome {
            Ok(()) => self.read_ms.store(now_ms, Ordering::Release),
            Err(error) => {
                if !tried {
                    reading.failed_ms = Some(app.clock.now_ms());
                }
                // The keys that were read before still distinguish nearly all keys from guesses.
                reading.whole_ms.ok_or(error)?;
            }
        }
        Ok(())
    }

    /// Reads the keys that were created since the last reading.
    async fn read(&self, app: &App, reading: &mut Reading, now_ms: i64) -> Result<()> {
        let whole = !is_within(reading.whole_ms, now_ms, WHOLE_MS);
        let mut after = reading.newest.filter(|_| !whole).map(|newest| overlapping(newest, now_ms));
        loop {
            self.statements.fetch_add(1, Ordering::Relaxed);
            let keys = api_keys::digests(app.db.read(), after, PAGE).await?;
            keys.iter().for_each(|(_, digest)| self.add(digest));
            let Some((last, _)) = keys.last() else { break };
            after = Some(*last);
            reading.newest = reading.newest.max(after);
            if (keys.len() as u64) < PAGE {
                break;
            }
        }
        if whole {
            reading.whole_ms = Some(now_ms);
        }
        Ok(())
    }

    fn is_fresh(&self, now_ms: i64) -> bool {
        is_within(Some(self.read_ms.load(Ordering::Acquire)), now_ms, FRESH_MS)
    }

    /// Statements that were sent to the database.
    pub(super) fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }
}

/// Whether a time is at most so long ago. A clock that was set back makes it too old.
fn is_within(time_ms: Option<i64>, now_ms: i64, length_ms: i64) -> bool {
    time_ms.is_some_and(|time_ms| (0..length_ms).contains(&(now_ms - time_ms)))
}

/// The id after which a reading begins that follows one which ended with this id. An id may lie in the future, when the clock was
/// ahead as its key was created.
fn overlapping(newest: Uuid, now_ms: i64) -> Uuid {
    let created_ms = i64::try_from(newest.as_u128() >> 80).unwrap_or(0);
    first_of(created_ms.min(now_ms) - OVERLAP_MS)
}

/// The part of a digest that is kept.
fn part(digest: &[u8]) -> Option<u64> {
    digest.first_chunk().map(|part| u64::from_le_bytes(*part))
}
