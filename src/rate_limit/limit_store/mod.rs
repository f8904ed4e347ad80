//! Where requests are counted: in this process, or in a store that all processes share, so that limits are exact.
//!
//! A task per process sends the requests to the shared store in batches: while one round trip is in progress, the next batch
//! collects. Requests of the same subject become one entry of the batch.
//!
//! A request waits for its result at most for the configured timeout. When one waits longer, or when a round trip fails, the
//! store is suspended: each process counts alone, with the counts that it knows. N processes then admit at most N times the
//! limits. The task tests the store until it counts within the timeout again. The clock of the store determines the windows.

mod backend;
mod redis_store;
mod task;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use anyhow::bail;
use entity::rate_windows::SubjectRequests;
use sea_orm::DbBackend;
use tokio::sync::{mpsc, oneshot};

use backend::Backend;
use foundation::clock::Clock;
use foundation::config::{LimitStoreSetting, LimitsConfig};
use foundation::database::Database;
use task::{StatusGuard, StoreTask};

/// The store of a process. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct LimitStore {
    /// `None` if this process counts alone.
    shared: Option<Arc<SharedStore>>,
}

#[derive(Debug)]
struct SharedStore {
    commands: mpsc::UnboundedSender<Command>,
    status: Arc<StoreStatus>,
    /// The maximum time that a request waits for its result.
    timeout: Duration,
}

/// What the task reports to the requests.
#[derive(Debug, Default)]
struct StoreStatus {
    /// Whether the store is not used, because it failed or was too slow.
    is_suspended: AtomicBool,
    /// The clock of the store minus that of this process, in milliseconds.
    clock_offset_ms: AtomicI64,
}

#[derive(Debug)]
enum Command {
    /// Count one request, reserve more of them, and send the result. Dropping the sender means that the store is not available.
    /// Nothing is counted if the receiver was dropped, because the request no longer waits.
    Count { request: SubjectRequests, reserve: u32, sender: oneshot::Sender<Counted> },
    /// Remove the counts of a subject.
    Reset(String),
    /// A request has waited too long and has suspended the store.
    Suspend,
}

/// The windows of a subject after one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Whether the request was admitted. Otherwise it was not counted.
    pub(crate) is_admitted: bool,
    /// The start of the short window, in milliseconds since the epoch.
    pub(crate) short_start: i64,
    /// The number of requests in the short window.
    pub(crate) short_used: i64,
    /// The start of the day, in milliseconds since the epoch.
    pub(crate) day_start: i64,
    /// The number of requests on the day.
    pub(crate) day_used: i64,
    /// The number of additional requests that were counted and are reserved for this process. `short_used` and `day_used` do
    /// not include them.
    pub(crate) reserved: i64,
    /// Whether the request asked to reserve more.
    pub(crate) was_reserving: bool,
}

impl LimitStore {
    /// Returns the store of the configuration. A task connects to it.
    ///
    /// # Errors
    /// Returns an error if the store is the database and the database is SQLite, or if the URL of the store is invalid.
    ///
    /// # Panics
    /// Panics outside of a Tokio runtime.
    pub fn open(config: &LimitsConfig, db: &Database, clock: &Clock) -> anyhow::Result<Self> {
        let is_postgres = db.backend() == DbBackend::Postgres;
        let timeout = Duration::from_millis(u64::from(config.limit_store_timeout_ms.get()));
        let backend = match &config.limit_store {
            None if is_postgres => Backend::postgres(db.clone()),
            None | Some(LimitStoreSetting::Memory) => return Ok(Self::default()),
            Some(LimitStoreSetting::Database) if is_postgres => Backend::postgres(db.clone()),
            Some(LimitStoreSetting::Database) => {
                bail!(
                    "limits can be stored in the database only on PostgreSQL; set `limit_store` to `memory`, or `database_url` \
                     to a PostgreSQL database"
                )
            }
            Some(LimitStoreSetting::Redis(url)) => Backend::redis(url)?,
        };
        let (commands, received) = mpsc::unbounded_channel();
        let status = Arc::new(StoreStatus::default());
        let guard = StatusGuard(Arc::clone(&status));
        tokio::spawn(StoreTask::new(backend, received, timeout, clock.clone(), guard).run());
        Ok(Self { shared: Some(Arc::new(SharedStore { commands, status, timeout })) })
    }

    /// Returns the current time by the clock of the store, in milliseconds since the epoch. All processes count in the windows
    /// of this clock.
    pub(crate) fn now_ms(&self, clock: &Clock) -> i64 {
        let offset = self.shared.as_ref().map_or(0, |shared| shared.status.clock_offset());
        clock.now_ms() + offset
    }

    /// Returns the shared store. Returns `None` if this process counts alone, always or because the store is not available.
    pub(crate) fn shared(&self) -> Option<SharedCounter<'_>> {
        let shared = self.shared.as_deref()?;
        if shared.status.is_suspended.load(Ordering::Relaxed) {
            metrics::counter!("rate_limit_local_decisions_total").increment(1);
            return None;
        }
        Some(SharedCounter(shared))
    }

    /// Removes the counts of a subject from the shared store, if there is one.
    pub(crate) fn reset(&self, subject: String) {
        if let Some(shared) = &self.shared {
            let _ = shared.commands.send(Command::Reset(subject));
        }
    }
}

/// A shared store that is available.
pub(crate) struct SharedCounter<'a>(&'a SharedStore);

impl SharedCounter<'_> {
    /// Counts one request if its limits admit it, and reserves up to `reserve` more. Returns `None` when the store fails or does
    /// not respond in time; then the requests may have been counted.
    pub(crate) async fn count(&self, request: SubjectRequests, reserve: u32) -> Option<Counted> {
        let SharedStore { commands, status, timeout } = self.0;
        let (sender, result) = oneshot::channel();
        let counted = match commands.send(Command::Count { request, reserve, sender }) {
            Ok(()) => match tokio::time::timeout(*timeout, result).await {
                Ok(result) => result.ok(),
                Err(_) => {
                    // The next requests do not wait. The task resumes the store.
                    status.is_suspended.store(true, Ordering::Relaxed);
                    let _ = commands.send(Command::Suspend);
                    None
                }
            },
            Err(_) => None,
        };
        if counted.is_none() {
            metrics::counter!("rate_limit_local_decisions_total").increment(1);
        }
        counted
    }
}

impl StoreStatus {
    fn clock_offset(&self) -> i64 {
        self.clock_offset_ms.load(Ordering::Relaxed)
    }

    /// Records the time of the store, which is a time between `before_ms` and `after_ms` of this process's clock.
    fn record_time(&self, store_ms: i64, (before_ms, after_ms): (i64, i64)) {
        let possible = store_ms - after_ms..=store_ms - before_ms;
        if !possible.contains(&self.clock_offset()) {
            self.clock_offset_ms.store(*possible.end(), Ordering::Relaxed);
        }
    }
}
