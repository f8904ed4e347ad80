//! Reads from a standby that has replayed a recent state of the primary.
//!
//! The process stores heartbeats on the primary every few seconds. When the standby shows one of them, it also shows everything
//! that was committed before this heartbeat was sent. So the lag is measured without comparing clocks, also while nothing else
//! is written, and a database that is no copy of the primary is never used.

use std::collections::VecDeque;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use migration::{MigrationStatus, Migrator};
use sea_orm::DbErr;
use tokio::time::timeout;

use super::bounded::{BoundedConnection, wait_budget_left};

/// How long a write is at most missing from the standby while it is used.
pub const MAX_LAG: Duration = Duration::from_secs(10);

/// How long a call of the standby takes at most.
pub(super) const STANDBY_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a read on the standby takes at most, so that a request can still read from the primary.
const READ_TIMEOUT: Duration = Duration::from_millis(500);

/// The time that a request must have left for the database to read from the standby first.
const MIN_TIME_LEFT: Duration = Duration::from_millis(1_800);

/// The time between two checks of a standby in use.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The number of heartbeats that are compared with the standby: those of more than [`MAX_LAG`].
const HEARTBEATS: usize = 8;

/// A heartbeat that the primary has stored.
#[derive(Clone, Copy, Debug)]
pub struct SentHeartbeat {
    /// The id of the process.
    pub process: i64,
    /// The stored time, in milliseconds since the epoch by the clock of the primary.
    pub stored_at: i64,
    /// When it was sent. Everything committed earlier precedes it.
    pub sent: Instant,
    /// A [horizon](super::Database::horizon) that was determined before it was sent.
    pub horizon: i64,
}

/// A standby of the PostgreSQL server.
#[derive(Debug)]
pub(super) struct Standby {
    connection: BoundedConnection,
    migrator: Migrator,
    state: Mutex<StandbyState>,
}

#[derive(Debug)]
struct StandbyState {
    /// The last heartbeats, oldest first.
    sent: VecDeque<SentHeartbeat>,
    /// The last heartbeat that the standby has replayed.
    replayed: Option<SentHeartbeat>,
    /// Whether the last check succeeded, and no read has failed since.
    is_usable: bool,
    /// Whether a log line says why it is not usable.
    is_logged: bool,
    is_checking: bool,
    next_check: Instant,
}

/// Reads from a standby.
#[derive(Debug)]
pub struct StandbyReader {
    standby: Arc<Standby>,
    replayed: SentHeartbeat,
}

impl StandbyReader {
    /// Returns the connections to the standby. They are read-only.
    pub fn connection(&self) -> &BoundedConnection {
        &self.standby.connection
    }

    /// Returns a time before which all writes are visible on the standby, in milliseconds since the epoch.
    pub fn visible_until(&self) -> i64 {
        self.replayed.horizon
    }

    /// Runs a read of [`connection`](Self::connection). Returns `None` when it fails or takes longer than half a second, or when the
    /// request has little time left: then read from the primary. After a failure, the standby is not used until a check succeeds.
    pub async fn attempt<T, E: Display>(&self, read: impl Future<Output = Result<T, E>>) -> Option<T> {
        if wait_budget_left().is_some_and(|left| left < MIN_TIME_LEFT) {
            return None;
        }
        match timeout(READ_TIMEOUT, read).await {
            Ok(Ok(result)) => Some(result),
            Ok(Err(error)) => {
                self.standby.state().set_unusable(format!("a read failed: {error:#}"));
                None
            }
            // A slow query, or a standby that does not respond, which the next check detects.
            Err(_) => None,
        }
    }
}

impl Standby {
    /// Creates a standby that is not used until a check succeeds.
    pub(super) fn new(connection: BoundedConnection, migrator: Migrator) -> Self {
        let state = StandbyState {
            sent: VecDeque::new(),
            replayed: None,
            is_usable: false,
            is_logged: false,
            is_checking: false,
            next_check: Instant::now(),
        };
        Self { connection, migrator, state: Mutex::new(state) }
    }

    /// Records a heartbeat that the primary has stored.
    pub(super) fn record(&self, heartbeat: SentHeartbeat) {
        let mut state = self.state();
        state.sent.push_back(heartbeat);
        if state.sent.len() > HEARTBEATS {
            state.sent.pop_front();
        }
    }

    /// Returns a reader if the lag is at most [`MAX_LAG`]. Starts a check if the last one was a second ago; the caller does not wait
    /// for it.
    pub(super) fn reader(self: &Arc<Self>) -> Option<StandbyReader> {
        let mut state = self.state();
        if !state.is_checking && !state.sent.is_empty() && state.next_check <= Instant::now() {
            state.is_checking = true;
            let standby = Arc::clone(self);
            tokio::spawn(async move { standby.check().await });
        }
        let replayed = state.replayed.filter(|_| state.is_usable)?;
        (replayed.sent.elapsed() <= MAX_LAG).then(|| StandbyReader { standby: Arc::clone(self), replayed })
    }

    /// Closes the connections.
    pub(super) async fn close(&self) {
        // Closing does not return errors.
        let _ = self.connection.pool().close_by_ref().await;
    }

    async fn check(&self) {
        let Some(process) = self.state().sent.back().map(|heartbeat| heartbeat.process) else { return };
        let read = timeout(STANDBY_TIMEOUT, self.read_state(process)).await;
        let mut state = self.state();
        state.is_checking = false;
        state.next_check = Instant::now() + CHECK_INTERVAL;
        match read {
            Ok(Ok((MigrationStatus::Current, Some(stored_at)))) => state.set_replayed(stored_at),
            Ok(Ok((MigrationStatus::Current, None))) => {
                state.set_unusable("it has not replayed that this process runs".to_owned());
            }
            Ok(Ok((_, _))) => {
                state.set_unusable("this version cannot run on its schema".to_owned());
            }
            Ok(Err(error)) => state.set_unusable(format!("a check failed: {error}")),
            Err(_) => {
                state.set_unusable(format!("it did not respond within {} ms", STANDBY_TIMEOUT.as_millis()))
            }
        }
    }

    /// Reads the schema and the last replayed heartbeat of this process.
    async fn read_state(&self, process: i64) -> Result<(MigrationStatus, Option<i64>), DbErr> {
        let status = self.migrator.status(&self.connection).await?;
        let replayed = match status {
            MigrationStatus::Current => entity::processes::heartbeat_at(&self.connection, process).await?,
            _ => None,
        };
        Ok((status, replayed))
    }

    fn state(&self) -> MutexGuard<'_, StandbyState> {
        // No code panics while it holds the lock, so a poisoned lock is not possible.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StandbyState {
    /// Records the heartbeat that the standby shows.
    fn set_replayed(&mut self, stored_at: i64) {
        // The time must be equal: those of two primaries cannot be compared.
        let replayed = self.sent.iter().rev().find(|heartbeat| heartbeat.stored_at == stored_at).copied();
        if let Some(previous) = self.replayed {
            let is_earlier = match replayed {
                Some(replayed) => replayed.sent < previous.sent,
                None => stored_at < previous.stored_at,
            };
            if is_earlier {
                self.replayed = None;
                self.set_unusable("it shows an earlier state than before".to_owned());
                return;
            }
        }
        match replayed.filter(|replayed| replayed.sent.elapsed() <= MAX_LAG) {
            Some(replayed) => {
                self.replayed = Some(replayed);
                if !std::mem::replace(&mut self.is_usable, true) {
                    self.is_logged = false;
                    tracing::info!("reads that may lag use the standby");
                }
            }
            // Heartbeats of which this process does not know whether they were stored, are not compared.
            None if self.replayed.is_some_and(|replayed| replayed.sent.elapsed() <= MAX_LAG) => {}
            None => self.set_unusable(format!("it lags by more than {} s", MAX_LAG.as_secs())),
        }
    }

    /// Reads from the primary until a check succeeds. Only the first reason until then is logged.
    fn set_unusable(&mut self, reason: String) {
        self.is_usable = false;
        if !std::mem::replace(&mut self.is_logged, true) {
            tracing::warn!("the standby cannot be used, and reads use the primary: {reason}");
        }
    }
}
