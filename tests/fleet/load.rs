//! Load of reads and writes that records every response.
//!
//! A write that fails is repeated with the same `Idempotency-Key` until the server acknowledges it, as the contract recommends.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::client::{ApiClient, Exchange, Outcome};
use crate::measurement::Measurement;

/// The pause before a failed request is repeated.
const REPEAT_PAUSE: Duration = Duration::from_millis(100);

/// The time limit for the acknowledgment of the last writes after the end of the load.
const LAST_WRITES_TIMEOUT: Duration = Duration::from_secs(90);

/// The number of failed requests that are recorded with their reason.
const MAX_EXAMPLES: usize = 3;

/// How load is generated.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// The URLs of servers or of the load balancer. The clients are distributed over them.
    pub targets: Vec<String>,
    pub clients: usize,
    /// The number of requests per second of all clients together; as many as possible if `None`.
    pub rate: Option<u32>,
    /// Each client sends this many reads after each write.
    pub reads_per_write: usize,
}

/// The kinds of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseKind {
    Success,
    /// 429 or 409: not successful, but not a failure of the server.
    TryAgain,
    InternalError,
    /// Another status or body.
    Unexpected,
    /// The connection broke, or no connection was possible.
    Missing,
}

/// A response that a client received.
#[derive(Debug, Clone, Copy)]
pub struct RecordedResponse {
    /// The index of the target.
    pub target: usize,
    pub kind: ResponseKind,
    pub ended_at: Instant,
    pub duration: Duration,
}

impl RecordedResponse {
    /// Returns whether the server failed to process the request.
    pub fn is_failure(&self) -> bool {
        !matches!(self.kind, ResponseKind::Success | ResponseKind::TryAgain)
    }
}

/// A student whose creation was acknowledged.
#[derive(Debug, Clone)]
pub struct AcknowledgedWrite {
    pub email: String,
    pub acknowledged_at: Instant,
    /// The time since the first attempt.
    pub duration: Duration,
}

/// Everything that the clients have recorded.
#[derive(Debug, Clone, Default)]
pub struct LoadRecord {
    pub responses: Vec<RecordedResponse>,
    pub writes: Vec<AcknowledgedWrite>,
    /// Writes that were not acknowledged until the end.
    pub unacknowledged: usize,
    /// The first unexpected responses.
    pub unexpected: Vec<String>,
    /// The reasons of the first requests without a response.
    pub broken: Vec<String>,
}

/// Running load.
pub struct Load {
    record: Arc<Mutex<LoadRecord>>,
    stopping: Arc<AtomicBool>,
    clients: JoinSet<()>,
}

impl Load {
    /// Starts the clients, which use this API key.
    ///
    /// # Errors
    /// Returns an error when a client cannot be created.
    pub fn start(key: &str, options: LoadOptions) -> Result<Self> {
        static NEXT_RUN: AtomicUsize = AtomicUsize::new(0);
        let run = NEXT_RUN.fetch_add(1, Ordering::Relaxed);
        let (record, stopping) = (Arc::default(), Arc::default());
        let mut clients = JoinSet::new();
        for number in 0..options.clients {
            let target = number % options.targets.len();
            let client = LoadClient {
                api: ApiClient::new(key)?,
                target,
                url: options.targets[target].clone(),
                name: format!("load{run}-{number}"),
                record: Arc::clone(&record),
                stopping: Arc::clone(&stopping),
            };
            let interval = options
                .rate
                .map(|rate| Duration::from_secs(1) * u32::try_from(options.clients).unwrap_or(1) / rate);
            clients.spawn(client.run(interval, options.reads_per_write));
        }
        Ok(Self { record, stopping, clients })
    }

    /// Returns what has been recorded so far.
    pub fn record(&self) -> LoadRecord {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs for this long.
    pub async fn run_for(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Stops the clients, waits until their last writes are acknowledged, and returns everything recorded.
    pub async fn stop(mut self) -> LoadRecord {
        self.stopping.store(true, Ordering::Relaxed);
        let all = async { while self.clients.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_WRITES_TIMEOUT, all).await;
        let mut record = self.record();
        record.unacknowledged = self.clients.len();
        record
    }
}

/// One client.
struct LoadClient {
    api: ApiClient,
    target: usize,
    url: String,
    name: String,
    record: Arc<Mutex<LoadRecord>>,
    stopping: Arc<AtomicBool>,
}

impl LoadClient {
    async fn run(self, interval: Option<Duration>, reads_per_write: usize) {
        let mut ticks = interval.map(|interval| {
            // The clients start at different times.
            let offset = interval.mul_f64(rand::random::<f64>());
            let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + offset, interval);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
            ticks
        });
        for number in 0_usize.. {
            if let Some(ticks) = &mut ticks {
                ticks.tick().await;
            }
            if self.is_stopping() {
                return;
            }
            if number % (reads_per_write + 1) == 0 {
                self.write(number).await;
            } else {
                self.read().await;
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Creates a student. Repeats the request until it succeeds or is rejected.
    async fn write(&self, number: usize) {
        let (name, start) = (&self.name, Instant::now());
        let (email, idempotency_key) = (format!("{name}-{number}@example.com"), format!("{name}-{number}"));
        loop {
            let exchange = self.api.create_student(&self.url, &email, &idempotency_key).await;
            let is_success = exchange.is_success();
            let is_rejected = matches!(exchange.outcome, Outcome::Unexpected(_));
            let mut record = self.record(exchange);
            if is_success {
                let acknowledged_at = Instant::now();
                let duration = acknowledged_at - start;
                record.writes.push(AcknowledgedWrite { email, acknowledged_at, duration });
                return;
            }
            drop(record);
            if is_rejected {
                return;
            }
            tokio::time::sleep(REPEAT_PAUSE).await;
        }
    }

    async fn read(&self) {
        let exchange = self.api.get(&format!("{}/api/v1/students?limit=5", self.url)).await;
        let failed = !exchange.is_success();
        drop(self.record(exchange));
        if failed {
            tokio::time::sleep(REPEAT_PAUSE).await;
        }
    }

    fn record(&self, exchange: Exchange) -> std::sync::MutexGuard<'_, LoadRecord> {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = match &exchange.outcome {
            Outcome::Success(_) => ResponseKind::Success,
            Outcome::Limited | Outcome::Running => ResponseKind::TryAgain,
            Outcome::InternalError => ResponseKind::InternalError,
            Outcome::NoResponse(reason) => {
                if record.broken.len() < MAX_EXAMPLES && !record.broken.contains(reason) {
                    record.broken.push(reason.clone());
                }
                ResponseKind::Missing
            }
            Outcome::Unexpected(text) => {
                if record.unexpected.len() < MAX_EXAMPLES {
                    record.unexpected.push(text.clone());
                }
                ResponseKind::Unexpected
            }
        };
        let (ended_at, duration) = (Instant::now(), exchange.duration);
        record.responses.push(RecordedResponse { target: self.target, kind, ended_at, duration });
        record
    }
}

impl LoadRecord {
    /// Returns the number of responses of these kinds.
    pub fn count(&self, kinds: &[ResponseKind]) -> usize {
        self.responses.iter().filter(|response| kinds.contains(&response.kind)).count()
    }

    /// Returns the longest duration in seconds of the responses that ended since `start`.
    pub fn longest_since(&self, start: Instant) -> f64 {
        let since = self.responses.iter().filter(|response| response.ended_at >= start);
        since.map(|response| response.duration.as_secs_f64()).fold(0.0, f64::max)
    }

    /// Returns the longest duration in seconds of the failed requests.
    pub fn longest_failure(&self) -> f64 {
        let failed = self.responses.iter().filter(|response| response.is_failure());
        failed.map(|response| response.duration.as_secs_f64()).fold(0.0, f64::max)
    }

    /// Returns the seconds from `start` to the end of the last failed request to a target; 0 if none failed since.
    pub fn last_failure_of(&self, target: usize, start: Instant) -> f64 {
        let of_target = self.responses.iter().filter(|response| response.target == target);
        let failed = of_target.filter(|response| response.is_failure() && response.ended_at >= start);
        failed.map(|response| (response.ended_at - start).as_secs_f64()).fold(0.0, f64::max)
    }

    /// Returns the seconds from `start` to the end of the last failed request; 0 if none failed since.
    pub fn last_failure_after(&self, start: Instant) -> f64 {
        let failed =
            self.responses.iter().filter(|response| response.is_failure() && response.ended_at >= start);
        failed.map(|response| (response.ended_at - start).as_secs_f64()).fold(0.0, f64::max)
    }

    /// Returns the seconds from `start` to the first acknowledgment of a write afterwards.
    ///
    /// # Errors
    /// Returns an error when no write was acknowledged.
    pub fn first_write_after(&self, start: Instant) -> Result<f64> {
        let after = self.writes.iter().filter(|write| write.acknowledged_at >= start);
        let first = after.map(|write| write.acknowledged_at).min();
        Ok((first.context("expected acknowledged writes, found none")? - start).as_secs_f64())
    }

    /// Returns the longest time in seconds without an acknowledgment of a write, from `start` to `end`.
    pub fn longest_gap(&self, start: Instant, end: Instant) -> f64 {
        let mut times: Vec<Instant> = self.writes.iter().map(|write| write.acknowledged_at).collect();
        times.retain(|time| (start..end).contains(time));
        times.extend([start, end]);
        times.sort_unstable();
        times.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).fold(0.0, f64::max)
    }

    /// Returns the seconds from `end`, the end of an outage, until all writes that clients had tried before are acknowledged.
    pub fn last_interrupted_write(&self, end: Instant) -> f64 {
        let interrupted = self.writes.iter().filter(|write| write.acknowledged_at - write.duration < end);
        interrupted
            .map(|write| write.acknowledged_at.saturating_duration_since(end).as_secs_f64())
            .fold(0.0, f64::max)
    }

    /// Returns the longest time in seconds from the first attempt of a write to its acknowledgment.
    pub fn longest_write(&self) -> f64 {
        self.writes.iter().map(|write| write.duration.as_secs_f64()).fold(0.0, f64::max)
    }

    /// Formats the number of responses of each kind.
    pub fn summary(&self) -> String {
        let kinds = [
            ("successful", ResponseKind::Success),
            ("409 or 429", ResponseKind::TryAgain),
            ("500 internal_error", ResponseKind::InternalError),
            ("unexpected", ResponseKind::Unexpected),
            ("without a response", ResponseKind::Missing),
        ];
        let counts = kinds.map(|(name, kind)| (self.count(&[kind]), name));
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        let mut measured = Measurement::new(Duration::from_secs(1));
        self.responses.iter().for_each(|response| measured.record(response.duration));
        let broken =
            self.broken.iter().map(|reason| format!("; without a response: {reason}")).collect::<String>();
        format!("{}; {}{broken}", counts.join(", "), measured.latencies())
    }
}
