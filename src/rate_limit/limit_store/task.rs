//! The task that sends requests to the shared store in batches.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::bail;
use entity::rate_windows::{SubjectRequests, SubjectResult};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::backend::{Backend, within};
use super::own_counts::OwnCounts;
use super::{Command, Counted, StoreStatus};
use crate::MINUTE_MS;
use foundation::clock::Clock;

/// The maximum number of requests that one round trip counts.
const MAX_BATCH: usize = 4_096;
/// The longest time of a round trip. Requests do not wait that long, but the store still counts them.
const ROUND_TRIP_TIMEOUT: Duration = Duration::from_secs(1);
/// The pause before a suspended store is tested. Doubles each time that the store fails within [`STABLE_PERIOD`] after
/// it was tested successfully.
const MIN_PAUSE: Duration = Duration::from_millis(500);
/// The longest of these pauses.
pub(super) const MAX_PAUSE: Duration = Duration::from_secs(8);
/// If the store has not failed for this long, the next pause is [`MIN_PAUSE`] again.
const STABLE_PERIOD: Duration = Duration::from_secs(10);
/// Maximum number of resets that wait for a store to become available.
const MAX_RESETS: usize = 1_000;

/// Suspends the store when the task ends, for example because of a panic.
pub(super) struct StatusGuard(pub(super) Arc<StoreStatus>);

impl Drop for StatusGuard {
    fn drop(&mut self) {
        self.0.is_suspended.store(true, Ordering::Relaxed);
        metrics::gauge!("rate_limit_store_available").set(0.0);
        if std::thread::panicking() {
            tracing::error!(
                "the task of the limit store panicked; this process admits only its share of the limits until it is restarted"
            );
        }
    }
}

/// The task that sends batches to the store.
pub(super) struct StoreTask {
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
    /// For each request, how many more to reserve, and where to send the result.
    senders: Vec<(u32, oneshot::Sender<Counted>)>,
}

impl StoreTask {
    pub(super) fn new(
        backend: Backend,
        received: mpsc::UnboundedReceiver<Command>,
        timeout: Duration,
        clock: Clock,
        guard: StatusGuard,
    ) -> Self {
        Self { backend, received, timeout, clock, resets: Vec::new(), guard }
    }

    pub(super) async fn run(mut self) {
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
            // Requests that were decided since the test has added what was admitted before.
            outcome = match self.add_uncounted().await {
                Ok(()) => self.serve().await,
                Err(error) => Err(error),
            };
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

    /// Returns the time of the store, in milliseconds since the epoch.
    fn store_now_ms(&self) -> i64 {
        self.clock.now_ms() + self.guard.0.clock_offset()
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
                Command::Count { sender, .. } if sender.is_closed() => {}
                Command::Count { request, reserve, sender } => match groups.entry(request.subject.clone()) {
                    Entry::Vacant(entry) => {
                        entry.insert(Group { requests: request, senders: vec![(reserve, sender)] });
                    }
                    Entry::Occupied(mut entry) => entry.get_mut().add(request, reserve, sender),
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
        let requests: Vec<SubjectRequests> = groups.values().map(Group::all_requests).collect();
        let (now, before_ms, started) = (self.now(), self.clock.now_ms(), Instant::now());
        let results = self.backend.admit(&requests, now, self.timeout);
        let results = within(ROUND_TRIP_TIMEOUT.max(self.timeout), results).await;
        metrics::histogram!("rate_limit_store_duration_seconds").record(started.elapsed());
        let results = results?;
        if let Some(result) = results.first().filter(|_| now.is_none()) {
            self.guard.0.record_time(result.now, (before_ms, self.clock.now_ms()));
        }
        for result in results {
            if let Some(group) = groups.remove(&result.subject) {
                group.reply(&result, &self.guard.0.own);
            }
        }
        Ok(())
    }

    /// Connects, tests the store, and adds what was admitted without it.
    async fn connect(&mut self) -> anyhow::Result<()> {
        self.backend.connect(self.timeout).await?;
        self.test().await?;
        self.add_uncounted().await
    }

    /// Adds to the store what this process has admitted without it.
    async fn add_uncounted(&mut self) -> anyhow::Result<()> {
        let StoreStatus { own, .. } = self.guard.0.as_ref();
        let now_ms = self.store_now_ms();
        let uncounted = own.take_uncounted(now_ms);
        let mut added = Ok(());
        for batch in uncounted.chunks(MAX_BATCH) {
            if added.is_ok() {
                let add = self.backend.add(batch, now_ms, self.timeout);
                added = within(ROUND_TRIP_TIMEOUT.max(self.timeout), add).await;
            }
            if added.is_err() {
                own.restore_uncounted(batch);
            }
        }
        added
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
        tracing::warn!(
            error,
            "the limit store is not available, so this process admits its share of the limits"
        );
    }

    fn resume(&self) {
        metrics::gauge!("rate_limit_store_available").set(1.0);
        self.guard.0.resume(self.store_now_ms());
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

impl Group {
    /// Adds a request of the same subject. Its limits apply to the whole batch, since they are the most recent ones.
    fn add(&mut self, request: SubjectRequests, reserve: u32, sender: oneshot::Sender<Counted>) {
        let requested = self.requests.requested + request.requested;
        self.requests = SubjectRequests { requested, ..request };
        self.senders.push((reserve, sender));
    }

    /// Returns the requests and those to be reserved.
    fn all_requests(&self) -> SubjectRequests {
        SubjectRequests {
            requested: self
                .senders
                .iter()
                .fold(self.requests.requested, |sum, (reserve, _)| sum.saturating_add(*reserve)),
            ..self.requests.clone()
        }
    }

    /// Sends the results to the requests. The first ones were admitted. Those that asked for it receive what was reserved.
    fn reply(self, result: &SubjectResult, own: &OwnCounts) {
        let mut left_reserved = (result.admitted - i64::from(self.requests.requested)).max(0);
        for ((reserve, sender), number) in self.senders.into_iter().zip(1..) {
            let is_admitted = number <= result.admitted;
            // The requests that were admitted after this one, including the reserved ones.
            let later = if is_admitted { result.admitted - number } else { 0 };
            let reserved = left_reserved.min(i64::from(reserve));
            left_reserved -= reserved;
            let counted = Counted {
                is_admitted,
                is_from_share: false,
                short_start: result.short_start,
                short_used: result.short_used - later,
                short_left: 0,
                day_start: result.day_start,
                day_used: result.day_used - later,
                day_left: 0,
                reserved,
                was_reserving: reserve > 0,
            };
            // The request may have been canceled, or have waited too long. It stays counted.
            if let Err(counted) = sender.send(counted) {
                own.count_late(&result.subject, &counted);
            }
        }
    }
}
