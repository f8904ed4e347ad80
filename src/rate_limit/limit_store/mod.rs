//! Where requests are counted: in this process, or in a store that all processes share, so that limits are exact.
//!
//! A task per process sends the requests to the shared store in batches: while one round trip is in progress, the next batch
//! collects. Requests of the same subject become one entry of the batch.
//!
//! A request waits for its result at most for the configured timeout. When one waits longer, or when a round trip fails, the
//! store is suspended: this process decides at once from its share of the limits (`own_counts`, which states what is guaranteed),
//! until a test shows that the store counts within the timeout again. The clock of the store determines the windows.

mod backend;
#[cfg(test)]
mod law_tests;
mod own_counts;
mod redis_store;
mod task;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::bail;
use entity::processes::Servers;
use entity::rate_windows::SubjectRequests;
use sea_orm::DbBackend;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::MINUTE_MS;
use backend::Backend;
use foundation::clock::Clock;
use foundation::config::{LimitStoreSetting, LimitsConfig};
use foundation::database::Database;
use own_counts::OwnCounts;
use task::{StatusGuard, StoreTask};

/// How long the share of this server applies at least after the store is available again. All servers that reach the store notice it
/// within this time: their tests are at most [`task::MAX_PAUSE`] apart.
const SETTLING_TIME: Duration = Duration::from_secs(12);

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
    clock: Clock,
    /// The maximum time that a request waits for its result.
    timeout: Duration,
}

/// What the task and the requests share.
#[derive(Debug)]
struct StoreStatus {
    /// Whether the store is not used, because it failed or was too slow.
    is_suspended: AtomicBool,
    created: Instant,
    /// Until when the share of this server applies after a failure, in milliseconds after `created`.
    settled_ms: AtomicU64,
    servers: watch::Receiver<Servers>,
    own: OwnCounts,
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
    /// Whether this process has decided from its share. The store then has not counted the request yet, and the numbers of
    /// requests are those of the share.
    pub(crate) is_from_share: bool,
    /// The start of the short window, in milliseconds since the epoch.
    pub(crate) short_start: i64,
    /// The number of requests in the short window.
    pub(crate) short_used: i64,
    /// The number of requests left in the short window, for this process.
    pub(crate) short_left: i64,
    /// The start of the day, in milliseconds since the epoch.
    pub(crate) day_start: i64,
    /// The number of requests on the day.
    pub(crate) day_used: i64,
    /// The number of requests left on the day, for this process.
    pub(crate) day_left: i64,
    /// The number of additional requests that were counted and are reserved for this process. `short_used` and `day_used` do
    /// not include them.
    pub(crate) reserved: i64,
    /// Whether the request asked to reserve more.
    pub(crate) was_reserving: bool,
}

impl Counted {
    /// Returns the number of requests that were admitted, including the reserved ones.
    fn admitted(&self) -> i64 {
        i64::from(self.is_admitted) + self.reserved
    }
}

impl LimitStore {
    /// Returns the store of the configuration. A task connects to it. `servers` are the servers that share the limits.
    ///
    /// # Errors
    /// Returns an error if the store is the database and the database is SQLite, or if the URL of the store is invalid.
    ///
    /// # Panics
    /// Panics outside of a Tokio runtime.
    pub fn open(
        config: &LimitsConfig,
        db: &Database,
        clock: &Clock,
        servers: watch::Receiver<Servers>,
    ) -> anyhow::Result<Self> {
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
        Ok(Self::start(backend, timeout, clock.clone(), servers))
    }

    /// Starts the task.
    fn start(backend: Backend, timeout: Duration, clock: Clock, servers: watch::Receiver<Servers>) -> Self {
        let (commands, received) = mpsc::unbounded_channel();
        let status = Arc::new(StoreStatus::new(servers));
        let guard = StatusGuard(Arc::clone(&status));
        tokio::spawn(StoreTask::new(backend, received, timeout, clock.clone(), guard).run());
        Self { shared: Some(Arc::new(SharedStore { commands, status, clock, timeout })) }
    }

    /// Returns the current time by the clock of the store, in milliseconds since the epoch. All processes count in the windows
    /// of this clock.
    pub(crate) fn now_ms(&self, clock: &Clock) -> i64 {
        let offset = self.shared.as_ref().map_or(0, |shared| shared.status.clock_offset());
        clock.now_ms() + offset
    }

    /// Returns the shared store. Returns `None` if this process always counts alone.
    pub(crate) fn shared(&self) -> Option<SharedCounter<'_>> {
        self.shared.as_deref().map(|store| SharedCounter { store, adds_days: true })
    }

    /// Removes the counts of a subject from the shared store, if there is one.
    pub(crate) fn reset(&self, subject: String) {
        if let Some(shared) = &self.shared {
            shared.status.own.remove(&subject);
            let _ = shared.commands.send(Command::Reset(subject));
        }
    }

    /// Frees the memory of subjects without requests in the current windows.
    pub(crate) fn drop_ended(&self, clock: &Clock) {
        if let Some(shared) = &self.shared {
            shared.status.own.drop_ended(self.now_ms(clock));
        }
    }
}

/// A shared store.
pub(crate) struct SharedCounter<'a> {
    store: &'a SharedStore,
    adds_days: bool,
}

impl SharedCounter<'_> {
    /// Declares that the store learns what this process has admitted on a day from the known counts of later requests.
    #[must_use]
    pub(crate) fn with_known_days(self) -> Self {
        Self { adds_days: false, ..self }
    }

    /// Returns whether the store is asked. Otherwise this process decides from its share.
    pub(crate) fn is_available(&self) -> bool {
        !self.store.status.is_suspended.load(Ordering::Relaxed)
    }

    /// Counts one request if its limits admit it, and reserves up to `reserve` more. When the store fails or does not respond in
    /// time, the share of this server decides, and nothing is reserved, although the store may have counted the requests.
    pub(crate) async fn count(&self, request: SubjectRequests, reserve: u32) -> Counted {
        let status = &self.store.status;
        if self.is_available() {
            let asked = status.own.ask(&request, reserve, status.share(), self.now_ms());
            match asked {
                Ok(asked) => {
                    if let Some(counted) = self.ask(request.clone(), asked.reserve()).await {
                        return asked.finish(counted, status.share());
                    }
                }
                Err(rejected) => return self.decided(rejected),
            }
        }
        let servers = *status.servers.borrow();
        self.decided(status.own.decide(&request, self.adds_days, servers, self.now_ms()))
    }

    fn decided(&self, decision: Counted) -> Counted {
        metrics::counter!("rate_limit_local_decisions_total").increment(1);
        decision
    }

    fn now_ms(&self) -> i64 {
        self.store.clock.now_ms() + self.store.status.clock_offset()
    }

    /// Asks the store. Returns `None` when it fails or does not respond in time.
    async fn ask(&self, request: SubjectRequests, reserve: u32) -> Option<Counted> {
        let SharedStore { commands, status, timeout, .. } = self.store;
        let (sender, result) = oneshot::channel();
        commands.send(Command::Count { request, reserve, sender }).ok()?;
        match tokio::time::timeout(*timeout, result).await {
            Ok(result) => result.ok(),
            Err(_) => {
                // The next requests do not wait. The task resumes the store.
                status.is_suspended.store(true, Ordering::Relaxed);
                let _ = commands.send(Command::Suspend);
                None
            }
        }
    }
}

impl StoreStatus {
    fn new(servers: watch::Receiver<Servers>) -> Self {
        Self {
            is_suspended: AtomicBool::default(),
            created: Instant::now(),
            settled_ms: AtomicU64::default(),
            servers,
            own: OwnCounts::default(),
            clock_offset_ms: AtomicI64::default(),
        }
    }

    /// Returns the servers if only the share of this one may be admitted, also by the store: while the store is suspended, and
    /// for some time afterwards.
    fn share(&self) -> Option<Servers> {
        let applies = self.is_suspended.load(Ordering::Acquire)
            || elapsed_ms(self.created) < self.settled_ms.load(Ordering::Relaxed);
        applies.then(|| *self.servers.borrow())
    }

    /// Ends the suspension, if the store is suspended. The share applies until the minute ends, at least for [`SETTLING_TIME`].
    fn resume(&self, now_ms: i64) {
        if self.is_suspended.load(Ordering::Relaxed) {
            let minute_left_ms = (MINUTE_MS - now_ms.rem_euclid(MINUTE_MS)).unsigned_abs();
            let settling_ms =
                u64::try_from(SETTLING_TIME.as_millis()).unwrap_or(u64::MAX).max(minute_left_ms);
            self.settled_ms.store(elapsed_ms(self.created) + settling_ms, Ordering::Relaxed);
            // After the time, so that no request sees neither.
            self.is_suspended.store(false, Ordering::Release);
        }
    }

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

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
