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
use super::{BenchReceiver, EventFigures, Host};
use crate::measurement::Measurement;

/// Concurrent committers of [`CommitPace::AsReceived`].
const COMMITTERS: usize = 8;

/// How long the last deliveries may take to arrive.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);

/// The warm-up before the window.
const WARM_UP: Duration = Duration::from_millis(1500);

/// The pace at which events are committed.
#[derive(Clone)]
pub enum CommitPace {
    /// At a fixed rate per second, each event in a transaction, regardless of whether earlier ones have arrived.
    Steady { rate: u32 },
    /// As fast as webhooks arrive: a semaphore holds one permit per webhook that may be in flight.
    AsReceived { permits: Arc<Semaphore>, together: u32 },
}

/// The numbers of the committed events, and when each was committed.
#[derive(Default)]
struct Commits {
    next: AtomicU64,
    at: Mutex<HashMap<u64, Instant>>,
}

impl Commits {
    async fn commit(&self, host: &Host, together: u32) -> Result<()> {
        let first = 1 + self.next.fetch_add(together.into(), Ordering::Relaxed);
        let numbers = first..first + u64::from(together);
        host.commit(numbers.clone()).await?;
        let now = Instant::now();
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        at.extend(numbers.map(|number| (number, now)));
        Ok(())
    }
}

/// Commits at this pace through a warm-up and a window, waits until all webhooks have arrived, and returns the figures of the
/// window.
///
/// # Errors
/// Returns an error when the database fails or no webhook arrives.
pub async fn measure(
    host: &Arc<Host>,
    receiver: &BenchReceiver,
    pace: CommitPace,
    subscriptions: u32,
    window: Duration,
) -> Result<EventFigures> {
    let commits = Arc::new(Commits::default());
    let from = Instant::now() + WARM_UP;
    let until = from + window;
    match pace {
        CommitPace::Steady { rate } => commit_steadily(host, &commits, rate, until).await?,
        CommitPace::AsReceived { permits, together } => {
            commit_as_received(host, &commits, (&permits, subscriptions), together, until).await?;
        }
    }
    let at = std::mem::take(&mut *commits.at.lock().unwrap_or_else(PoisonError::into_inner));
    let due = at.len() as u64 * u64::from(subscriptions);
    let started_waiting = Instant::now();
    while receiver.count() < due && started_waiting.elapsed() < ARRIVAL_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    figures(&at, &receiver.receipts(), subscriptions, from, until)
}

async fn commit_steadily(host: &Arc<Host>, commits: &Arc<Commits>, rate: u32, until: Instant) -> Result<()> {
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut running = JoinSet::new();
    while Instant::now() < until {
        ticks.tick().await;
        let (host, commits) = (Arc::clone(host), Arc::clone(commits));
        running.spawn(async move { commits.commit(&host, 1).await });
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
    host: &Arc<Host>,
    commits: &Arc<Commits>,
    (permits, subscriptions): (&Arc<Semaphore>, u32),
    together: u32,
    until: Instant,
) -> Result<()> {
    let mut running = JoinSet::new();
    for _ in 0..COMMITTERS {
        let (host, commits, permits) = (Arc::clone(host), Arc::clone(commits), Arc::clone(permits));
        running.spawn(async move {
            while Instant::now() < until {
                let wait = (until - Instant::now()).min(ARRIVAL_TIMEOUT);
                let Ok(acquired) =
                    tokio::time::timeout(wait, permits.acquire_many(together * subscriptions)).await
                else {
                    break;
                };
                acquired?.forget();
                commits.commit(&host, together).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

/// Computes the figures of the webhooks received in the window.
fn figures(
    at: &HashMap<u64, Instant>,
    receipts: &[WebhookReceipt],
    subscriptions: u32,
    from: Instant,
    until: Instant,
) -> Result<EventFigures> {
    let mut measured = Measurement::new(until - from);
    let mut times: HashMap<u64, u64> = HashMap::with_capacity(at.len());
    for receipt in receipts {
        *times.entry(receipt.number).or_default() += 1;
        let Some(committed) = at.get(&receipt.number) else {
            bail!("received an event that was not committed")
        };
        if (from..until).contains(&receipt.at) {
            measured.record(receipt.at.saturating_duration_since(*committed));
        }
    }
    if measured.count() == 0 {
        bail!("no webhook arrived in the window");
    }
    let expected = u64::from(subscriptions);
    let received_times = |number: &u64| times.get(number).copied().unwrap_or(0);
    Ok(EventFigures {
        received: measured.count(),
        per_second: measured.per_second(),
        ms: [50.0, 95.0, 99.0].map(|percent| measured.percentile_ms(percent)),
        missing: at.keys().map(|number| expected.saturating_sub(received_times(number))).sum(),
        duplicates: at.keys().map(|number| received_times(number).saturating_sub(expected)).sum(),
    })
}
