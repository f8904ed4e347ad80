//! Commits events at a pace and evaluates what the receiver recorded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::receiver::WebhookReceipt;
use super::{BenchReceiver, EventFigures, EventSource};
use crate::measurement::Measurement;

/// Concurrent committers of [`CommitPace::AsReceived`].
const COMMITTERS: usize = 8;

/// The time limit for the arrival of the last webhooks.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);

/// The warm-up before the window.
const WARM_UP: Duration = Duration::from_millis(1500);

/// The pace at which events are committed.
#[derive(Clone)]
pub enum CommitPace {
    /// At a fixed rate per second, one event per transaction, regardless of whether earlier ones have arrived.
    Steady { rate: u32 },
    /// As fast as webhooks arrive: the semaphore has one permit for each additional webhook that may be in flight.
    AsReceived { permits: Arc<Semaphore>, events_per_transaction: u32 },
}

/// The numbers of the committed events, and when each was committed.
#[derive(Default)]
struct Commits {
    /// The number of the most recently numbered event; 0 before the first.
    last_number: AtomicU64,
    committed_at: Mutex<HashMap<u64, Instant>>,
}

impl Commits {
    async fn commit(&self, source: &EventSource, events_per_transaction: u32) -> Result<()> {
        let first = 1 + self.last_number.fetch_add(events_per_transaction.into(), Ordering::Relaxed);
        let numbers = first..first + u64::from(events_per_transaction);
        source.commit(numbers.clone()).await?;
        let now = Instant::now();
        let mut committed_at = self.committed_at.lock().unwrap_or_else(PoisonError::into_inner);
        committed_at.extend(numbers.map(|number| (number, now)));
        Ok(())
    }
}

/// Commits at this pace through a warm-up and a window, waits up to 30 seconds for the remaining webhooks, and returns
/// the figures of the window.
///
/// # Errors
/// Returns an error when the database fails or no webhook arrives in the window.
pub async fn measure(
    source: &Arc<EventSource>,
    receiver: &BenchReceiver,
    pace: CommitPace,
    subscriptions: u32,
    window: Duration,
) -> Result<EventFigures> {
    let commits = Arc::new(Commits::default());
    let window_start = Instant::now() + WARM_UP;
    let window_end = window_start + window;
    match pace {
        CommitPace::Steady { rate } => commit_steadily(source, &commits, rate, window_end).await?,
        CommitPace::AsReceived { permits, events_per_transaction } => {
            commit_as_received(
                source,
                &commits,
                (&permits, subscriptions),
                events_per_transaction,
                window_end,
            )
            .await?;
        }
    }
    let committed_at =
        std::mem::take(&mut *commits.committed_at.lock().unwrap_or_else(PoisonError::into_inner));
    let expected = committed_at.len() as u64 * u64::from(subscriptions);
    let started_waiting = Instant::now();
    while receiver.count() < expected && started_waiting.elapsed() < ARRIVAL_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    figures(&committed_at, &receiver.receipts(), subscriptions, window_start, window_end)
}

async fn commit_steadily(
    source: &Arc<EventSource>,
    commits: &Arc<Commits>,
    rate: u32,
    window_end: Instant,
) -> Result<()> {
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut running = JoinSet::new();
    while Instant::now() < window_end {
        ticks.tick().await;
        let (source, commits) = (Arc::clone(source), Arc::clone(commits));
        running.spawn(async move { commits.commit(&source, 1).await });
        while let Some(ended) = running.try_join_next() {
            ended??;
        }
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

async fn commit_as_received(
    source: &Arc<EventSource>,
    commits: &Arc<Commits>,
    (permits, subscriptions): (&Arc<Semaphore>, u32),
    events_per_transaction: u32,
    window_end: Instant,
) -> Result<()> {
    let mut running = JoinSet::new();
    for _ in 0..COMMITTERS {
        let (source, commits, permits) = (Arc::clone(source), Arc::clone(commits), Arc::clone(permits));
        running.spawn(async move {
            while Instant::now() < window_end {
                let wait = (window_end - Instant::now()).min(ARRIVAL_TIMEOUT);
                let Ok(acquired) =
                    tokio::time::timeout(wait, permits.acquire_many(events_per_transaction * subscriptions))
                        .await
                else {
                    break;
                };
                acquired?.forget();
                commits.commit(&source, events_per_transaction).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

/// Computes the figures of the webhooks received in the window. Missing and duplicate webhooks are counted for the
/// whole run.
fn figures(
    committed_at: &HashMap<u64, Instant>,
    receipts: &[WebhookReceipt],
    subscriptions: u32,
    window_start: Instant,
    window_end: Instant,
) -> Result<EventFigures> {
    let mut measured = Measurement::new(window_end - window_start);
    let mut receipt_counts: HashMap<u64, u64> = HashMap::with_capacity(committed_at.len());
    for receipt in receipts {
        *receipt_counts.entry(receipt.number).or_default() += 1;
        let Some(commit) = committed_at.get(&receipt.number) else {
            bail!("received an event that was not committed")
        };
        if (window_start..window_end).contains(&receipt.received_at) {
            measured.record(receipt.received_at.saturating_duration_since(*commit));
        }
    }
    if measured.count() == 0 {
        bail!("no webhook arrived in the window");
    }
    let expected = u64::from(subscriptions);
    let receipt_count = |number: &u64| receipt_counts.get(number).copied().unwrap_or(0);
    Ok(EventFigures {
        received: measured.count(),
        per_second: measured.per_second(),
        latency_percentiles_ms: [50.0, 95.0, 99.0].map(|percent| measured.percentile_ms(percent)),
        missing: committed_at.keys().map(|number| expected.saturating_sub(receipt_count(number))).sum(),
        duplicates: committed_at.keys().map(|number| receipt_count(number).saturating_sub(expected)).sum(),
    })
}
