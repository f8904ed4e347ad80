//! Where requests are counted: in this process, or in a store that all processes share, so that limits are exact.
//!
//! A task per process sends the requests to the shared store in batches: while one round trip is in progress, the next batch
//! collects. Requests of the same subject become one entry of the batch.
//!
//! When a round trip fails or exceeds the timeout, the task stops using the store, and each process counts alone, with the
//! counts that it knows. N processes then admit at most N times the limits. The task tests the store until it responds in
//! time again.

mod backend;
mod redis_store;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use anyhow::bail;
use entity::rate_windows::{Batch, BatchResult};
use sea_orm::DbBackend;
use tokio::sync::{mpsc, oneshot};

use backend::Backend;
use foundation::clock::Clock;
use foundation::config::{LimitStoreSetting, LimitsConfig};
use foundation::database::Database;

/// The maximum number of requests that one round trip counts.
const MAX_BATCH: usize = 4_096;
/// The pause between two tests of a store that is not available.
const RETEST_INTERVAL: Duration = Duration::from_millis(500);
/// How far the clocks of the store and of this process must drift apart until their difference is measured again.
const MAX_DRIFT_MS: i64 = 20;

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
    /// Count one request, and send the result. Dropping the sender means that the store is not available.
    Count(Batch, oneshot::Sender<Counted>),
    /// Remove the counts of a subject.
    Reset(String),
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
    pub(crate) long_start: i64,
    /// The number of requests on the day.
    pub(crate) long_used: i64,
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
            None if is_postgres => Backend::postgres(db.clone(), timeout),
            None | Some(LimitStoreSetting::Memory) => return Ok(Self::default()),
            Some(LimitStoreSetting::Database) if is_postgres => Backend::postgres(db.clone(), timeout),
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
        let task =
            StoreTask { backend, received, timeout, clock: clock.clone(), status: Arc::clone(&status) };
        tokio::spawn(task.run());
        Ok(Self { shared: Some(Arc::new(SharedStore { commands, status })) })
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
    /// Counts one request if its limits admit it. Returns `None` when the store fails; then the request may have been counted.
    pub(crate) async fn count(&self, request: Batch) -> Option<Counted> {
        let (sender, result) = oneshot::channel();
        let counted = match self.0.commands.send(Command::Count(request, sender)) {
            Ok(()) => result.await.ok(),
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

    /// Records the time of the store. Small differences are due to the round trip.
    fn record_time(&self, store_ms: i64, now_ms: i64) {
        let offset = store_ms - now_ms;
        if (offset - self.clock_offset()).abs() > MAX_DRIFT_MS {
            self.clock_offset_ms.store(offset, Ordering::Relaxed);
        }
    }
}

/// The task that sends batches to the store.
struct StoreTask {
    backend: Backend,
    received: mpsc::UnboundedReceiver<Command>,
    /// The maximum duration of a round trip.
    timeout: Duration,
    clock: Clock,
    status: Arc<StoreStatus>,
}

/// The requests of one subject in a batch.
struct Group {
    batch: Batch,
    senders: Vec<oneshot::Sender<Counted>>,
}

impl StoreTask {
    async fn run(mut self) {
        metrics::gauge!("rate_limit_store_available").set(0.0);
        let mut outcome = self.backend.connect(self.timeout, self.now()).await;
        let mut commands = Vec::new();
        loop {
            if let Err(error) = outcome {
                self.status.is_suspended.store(true, Ordering::Relaxed);
                commands.clear();
                if !self.reconnect(error).await {
                    return;
                }
            }
            metrics::gauge!("rate_limit_store_available").set(1.0);
            outcome = Ok(());
            while outcome.is_ok() {
                if self.received.recv_many(&mut commands, MAX_BATCH).await == 0 {
                    return;
                }
                outcome = self.send(&mut commands).await;
            }
        }
    }

    /// Returns the simulated time; `None` if the clock of the store is used.
    fn now(&self) -> Option<i64> {
        self.clock.is_simulated().then(|| self.clock.now_ms())
    }

    /// Sends commands to the store, and the results to the requests.
    async fn send(&mut self, commands: &mut Vec<Command>) -> anyhow::Result<()> {
        let mut groups: HashMap<String, Group> = HashMap::new();
        for command in commands.drain(..) {
            match command {
                Command::Count(batch, sender) => match groups.entry(batch.subject.clone()) {
                    Entry::Vacant(entry) => {
                        entry.insert(Group { batch, senders: vec![sender] });
                    }
                    Entry::Occupied(mut entry) => entry.get_mut().add(batch, sender),
                },
                Command::Reset(subject) => {
                    within(self.timeout, self.backend.reset(&subject)).await?;
                }
            }
        }
        if groups.is_empty() {
            return Ok(());
        }
        let batches: Vec<Batch> = groups.values().map(|group| group.batch.clone()).collect();
        let now = self.now();
        let results = within(self.timeout, self.backend.admit(&batches, now)).await?;
        if let Some(result) = results.first().filter(|_| now.is_none()) {
            self.status.record_time(result.now, self.clock.now_ms());
        }
        for result in results {
            if let Some(group) = groups.remove(&result.subject) {
                group.reply(&result);
            }
        }
        Ok(())
    }

    /// Tests the store until it is available. Meanwhile, no request waits for it. Returns `false` when the process stops.
    async fn reconnect(&mut self, error: anyhow::Error) -> bool {
        metrics::gauge!("rate_limit_store_available").set(0.0);
        let error = format!("{error:#}");
        tracing::warn!(error, "the limit store is not available, so this process counts requests alone");
        loop {
            self.backend.disconnect();
            if self.backend.connect(self.timeout, self.now()).await.is_ok() {
                break;
            }
            let pause = tokio::time::sleep(RETEST_INTERVAL);
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    () = &mut pause => break,
                    // Requests that were sent before the store was suspended. Dropping them lets them continue.
                    command = self.received.recv() => if command.is_none() { return false },
                }
            }
        }
        while self.received.try_recv().is_ok() {}
        tracing::info!("the limit store is available again");
        self.status.is_suspended.store(false, Ordering::Relaxed);
        true
    }
}

/// Runs a round trip that fails after the timeout.
async fn within<T>(timeout: Duration, call: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    match tokio::time::timeout(timeout, call).await {
        Ok(result) => result,
        Err(_) => bail!("it did not respond within {} ms", timeout.as_millis()),
    }
}

impl Group {
    /// Adds a request of the same subject. Its limits apply to the whole batch, since they are the most recent ones.
    fn add(&mut self, batch: Batch, sender: oneshot::Sender<Counted>) {
        let requested = self.batch.requested + batch.requested;
        self.batch = Batch { requested, ..batch };
        self.senders.push(sender);
    }

    /// Tells the requests whether they were admitted: the first ones were.
    fn reply(self, result: &BatchResult) {
        for (sender, number) in self.senders.into_iter().zip(1..) {
            let is_admitted = number <= result.admitted;
            // The requests of the batch that were admitted after this one.
            let later = if is_admitted { result.admitted - number } else { 0 };
            let counted = Counted {
                is_admitted,
                short_start: result.short_start,
                short_used: result.short_used - later,
                long_start: result.long_start,
                long_used: result.long_used - later,
            };
            // The request may have been canceled. It stays counted.
            let _ = sender.send(counted);
        }
    }
}
