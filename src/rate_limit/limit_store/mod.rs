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
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use anyhow::bail;
use entity::rate_windows::{SubjectRequests, SubjectResult};
use sea_orm::DbBackend;
use tokio::sync::{mpsc, oneshot};

use super::window::MINUTE_MS;
use backend::Backend;
use foundation::clock::Clock;
use foundation::config::{LimitStoreSetting, LimitsConfig};
use foundation::database::Database;

/// The maximum number of requests that one round trip counts.
const MAX_BATCH: usize = 4_096;
/// The longest time of a round trip. Requests do not wait that long, but the store still counts them.
const ROUND_TRIP_TIMEOUT: Duration = Duration::from_secs(1);
/// The pause before a suspended store is tested. Doubles each time that the store fails within [`STABLE_PERIOD`] after
/// it was tested successfully.
const MIN_PAUSE: Duration = Duration::from_millis(500);
/// The longest of these pauses.
const MAX_PAUSE: Duration = Duration::from_secs(8);
/// If the store has not failed for this long, the next pause is [`MIN_PAUSE`] again.
const STABLE_PERIOD: Duration = Duration::from_secs(10);
/// Maximum number of resets that wait for a store to become available.
const MAX_RESETS: usize = 1_000;

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
    /// Count one request, and send the result. Dropping the sender means that the store is not available. Nothing is
    /// counted if the receiver was dropped, because the request no longer waits.
    Count(SubjectRequests, oneshot::Sender<Counted>),
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
        let task = StoreTask {
            backend,
            received,
            timeout,
            clock: clock.clone(),
            resets: Vec::new(),
            guard: StatusGuard(Arc::clone(&status)),
        };
        tokio::spawn(task.run());
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
    /// Counts one request if its limits admit it. Returns `None` when the store fails or does not respond in time; then the
    /// request may have been counted.
    pub(crate) async fn count(&self, request: SubjectRequests) -> Option<Counted> {
        let SharedStore { commands, status, timeout } = self.0;
        let (sender, result) = oneshot::channel();
        let counted = match commands.send(Command::Count(request, sender)) {
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

/// Suspends the store when the task ends, for example because of a panic.
struct StatusGuard(Arc<StoreStatus>);

impl Drop for StatusGuard {
    fn drop(&mut self) {
        self.0.is_suspended.store(true, Ordering::Relaxed);
        metrics::gauge!("rate_limit_store_available").set(0.0);
        if std::thread::panicking() {
            tracing::error!(
                "the task of the limit store panicked; this process counts requests alone until it is restarted"
            );
        }
    }
}

/// The task that sends batches to the store.
struct StoreTask {
    backend: Backend,
    received: mpsc::UnboundedReceiver<Command>,
    /// The maximum time that a request waits.
    timeout: Duration,
    clock: Clock,
    /// Subjects to be reset.
    resets: Vec<String>,
    guard: StatusGuard,
}

/// The requests of one subject in a batch.
struct Group {
    requests: SubjectRequests,
    senders: Vec<oneshot::Sender<Counted>>,
}

impl StoreTask {
    async fn run(mut self) {
        metrics::gauge!("rate_limit_store_available").set(0.0);
        let mut outcome = self.connect().await;
        let mut pause = MIN_PAUSE;
        loop {
            if let Err(error) = outcome {
                self.suspend(&error);
                self.wait_until_available(pause).await;
                tracing::info!("the limit store is available again");
            }
            self.resume();
            let resumed = Instant::now();
            outcome = self.serve().await;
            if outcome.is_ok() {
                // The process stops.
                return;
            }
            pause = if resumed.elapsed() > STABLE_PERIOD { MIN_PAUSE } else { (2 * pause).min(MAX_PAUSE) };
        }
    }

    /// Returns the simulated time; `None` if the clock of the store is used.
    fn now(&self) -> Option<i64> {
        self.clock.is_simulated().then(|| self.clock.now_ms())
    }

    /// Sends batches until the process stops.
    ///
    /// # Errors
    /// Returns an error when a round trip fails, or when a request has waited too long.
    async fn serve(&mut self) -> anyhow::Result<()> {
        let mut commands = Vec::new();
        while self.received.recv_many(&mut commands, MAX_BATCH).await > 0 {
            let groups = self.group(&mut commands);
            if !self.resets.is_empty() {
                within(ROUND_TRIP_TIMEOUT.max(self.timeout), self.backend.reset(&self.resets)).await?;
                self.resets.clear();
            }
            if !groups.is_empty() {
                self.count(groups).await?;
            }
            if self.guard.0.is_suspended.load(Ordering::Relaxed) {
                bail!("a request waited for longer than {} ms", self.timeout.as_millis());
            }
        }
        Ok(())
    }

    /// Groups requests by their subject, and adds resets to [`Self::resets`].
    fn group(&mut self, commands: &mut Vec<Command>) -> HashMap<String, Group> {
        let mut groups: HashMap<String, Group> = HashMap::new();
        for command in commands.drain(..) {
            match command {
                Command::Count(_, sender) if sender.is_closed() => {}
                Command::Count(request, sender) => match groups.entry(request.subject.clone()) {
                    Entry::Vacant(entry) => {
                        entry.insert(Group { requests: request, senders: vec![sender] });
                    }
                    Entry::Occupied(mut entry) => entry.get_mut().add(request, sender),
                },
                Command::Reset(subject) => self.add_reset(subject),
                // The caller checks this.
                Command::Suspend => {}
            }
        }
        groups
    }

    fn add_reset(&mut self, subject: String) {
        if self.resets.len() < MAX_RESETS {
            self.resets.push(subject);
        }
    }

    /// Counts the requests, and sends them the results.
    async fn count(&mut self, mut groups: HashMap<String, Group>) -> anyhow::Result<()> {
        let requests: Vec<SubjectRequests> = groups.values().map(|group| group.requests.clone()).collect();
        let (now, before_ms) = (self.now(), self.clock.now_ms());
        let results = self.backend.admit(&requests, now, self.timeout);
        let results = within(ROUND_TRIP_TIMEOUT.max(self.timeout), results).await?;
        if let Some(result) = results.first().filter(|_| now.is_none()) {
            self.guard.0.record_time(result.now, (before_ms, self.clock.now_ms()));
        }
        for result in results {
            if let Some(group) = groups.remove(&result.subject) {
                group.reply(&result);
            }
        }
        Ok(())
    }

    async fn connect(&mut self) -> anyhow::Result<()> {
        self.backend.connect(self.timeout).await?;
        self.test().await
    }

    /// Tests the store: counts a request of the subject `test`, which must take no longer than the timeout.
    async fn test(&mut self) -> anyhow::Result<()> {
        let now = self.now();
        let test = [SubjectRequests {
            subject: "test".to_owned(),
            requested: 1,
            short_limit: 1,
            short_length: MINUTE_MS,
            short_alignment: MINUTE_MS,
            day_limit: 1,
            ..SubjectRequests::default()
        }];
        // The first call prepares the statement.
        within(ROUND_TRIP_TIMEOUT, self.backend.admit(&test, now, self.timeout)).await?;
        within(self.timeout, self.backend.admit(&test, now, self.timeout)).await.map(drop)
    }

    fn suspend(&self, error: &anyhow::Error) {
        self.guard.0.is_suspended.store(true, Ordering::Relaxed);
        metrics::gauge!("rate_limit_store_available").set(0.0);
        let error = format!("{error:#}");
        tracing::warn!(error, "the limit store is not available, so this process counts requests alone");
    }

    fn resume(&self) {
        metrics::gauge!("rate_limit_store_available").set(1.0);
        self.guard.0.is_suspended.store(false, Ordering::Relaxed);
    }

    /// Reconnects and tests the store until it is available, or until the process ends. Meanwhile, no request waits for
    /// it.
    async fn wait_until_available(&mut self, mut pause: Duration) {
        loop {
            self.backend.disconnect();
            tokio::time::sleep(pause).await;
            // Requests that were sent before the store was suspended have been decided.
            while let Ok(command) = self.received.try_recv() {
                if let Command::Reset(subject) = command {
                    self.add_reset(subject);
                }
            }
            if self.connect().await.is_ok() {
                return;
            }
            pause = MIN_PAUSE;
        }
    }
}

/// Runs a round trip. Fails if it takes longer than the timeout.
async fn within<T>(timeout: Duration, call: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    match tokio::time::timeout(timeout, call).await {
        Ok(result) => result,
        Err(_) => bail!("the limit store did not respond within {} ms", timeout.as_millis()),
    }
}

impl Group {
    /// Adds a request of the same subject. Its limits apply to the whole batch, since they are the most recent ones.
    fn add(&mut self, request: SubjectRequests, sender: oneshot::Sender<Counted>) {
        let requested = self.requests.requested + request.requested;
        self.requests = SubjectRequests { requested, ..request };
        self.senders.push(sender);
    }

    /// Sends the results to the requests. The first ones were admitted.
    fn reply(self, result: &SubjectResult) {
        for (sender, number) in self.senders.into_iter().zip(1..) {
            let is_admitted = number <= result.admitted;
            // The requests of the batch that were admitted after this one.
            let later = if is_admitted { result.admitted - number } else { 0 };
            let counted = Counted {
                is_admitted,
                short_start: result.short_start,
                short_used: result.short_used - later,
                day_start: result.day_start,
                day_used: result.day_used - later,
            };
            // The request may have been canceled. It stays counted.
            let _ = sender.send(counted);
        }
    }
}
