//! Events committed at a pace, and what the receiver saw of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::receiver::Receipt;
use super::{Figures, Host, Receiver};
use crate::measured::Measured;

/// Whoever commits as many as arrive: so many at once.
const COMMITTERS: usize = 8;

/// How long what was committed last may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// What comes before the window.
const WARM_UP: Duration = Duration::from_millis(1500);

/// How events are committed.
#[derive(Clone)]
pub enum Pace {
    /// So many a second, each in a transaction of its own, whether or not those before have arrived.
    Steady { rate: u32 },
    /// As fast as they arrive: a permit for each webhook that may be under way.
    AsTheyArrive { room: Arc<Semaphore>, together: u32 },
}

/// The numbers that are committed, and when.
#[derive(Default)]
struct Commits {
    next: AtomicU64,
    at: Mutex<HashMap<u64, Instant>>,
}

impl Commits {
    async fn make(&self, host: &Host, together: u32) -> Result<()> {
        let first = 1 + self.next.fetch_add(together.into(), Ordering::Relaxed);
        let numbers = first..first + u64::from(together);
        host.commit(numbers.clone()).await?;
        let now = Instant::now();
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        at.extend(numbers.map(|number| (number, now)));
        Ok(())
    }
}

/// Commits at this pace through a warm-up and a window, waits for the rest to arrive, and says what came in the window.
///
/// # Errors
/// The database failed, or nothing came.
pub async fn measure(
    host: &Arc<Host>,
    receiver: &Receiver,
    pace: Pace,
    subscriptions: u32,
    window: Duration,
) -> Result<Figures> {
    let commits = Arc::new(Commits::default());
    let from = Instant::now() + WARM_UP;
    let until = from + window;
    match pace {
        Pace::Steady { rate } => steadily(host, &commits, rate, until).await?,
        Pace::AsTheyArrive { room, together } => {
            as_they_arrive(host, &commits, (&room, subscriptions), together, until).await?;
        }
    }
    let at = std::mem::take(&mut *commits.at.lock().unwrap_or_else(PoisonError::into_inner));
    let due = at.len() as u64 * u64::from(subscriptions);
    let waited = Instant::now();
    while receiver.count() < due && waited.elapsed() < PATIENCE {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    figures(&at, &receiver.receipts(), subscriptions, from, until)
}

async fn steadily(host: &Arc<Host>, commits: &Arc<Commits>, rate: u32, until: Instant) -> Result<()> {
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut running = JoinSet::new();
    while Instant::now() < until {
        ticks.tick().await;
        let (host, commits) = (Arc::clone(host), Arc::clone(commits));
        running.spawn(async move { commits.make(&host, 1).await });
        while let Some(ended) = running.try_join_next() {
            ended??;
        }
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

async fn as_they_arrive(
    host: &Arc<Host>,
    commits: &Arc<Commits>,
    (room, subscriptions): (&Arc<Semaphore>, u32),
    together: u32,
    until: Instant,
) -> Result<()> {
    let mut running = JoinSet::new();
    for _ in 0..COMMITTERS {
        let (host, commits, room) = (Arc::clone(host), Arc::clone(commits), Arc::clone(room));
        running.spawn(async move {
            while Instant::now() < until {
                let wait = (until - Instant::now()).min(PATIENCE);
                let Ok(permits) =
                    tokio::time::timeout(wait, room.acquire_many(together * subscriptions)).await
                else {
                    break;
                };
                permits?.forget();
                commits.make(&host, together).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

/// What came in the window, by the commits of all.
fn figures(
    at: &HashMap<u64, Instant>,
    receipts: &[Receipt],
    subscriptions: u32,
    from: Instant,
    until: Instant,
) -> Result<Figures> {
    let mut measured = Measured::new(until - from);
    let mut times: HashMap<u64, u64> = HashMap::with_capacity(at.len());
    for receipt in receipts {
        *times.entry(receipt.number).or_default() += 1;
        let Some(committed) = at.get(&receipt.number) else { bail!("something came that nobody committed") };
        if (from..until).contains(&receipt.at) {
            measured.record(receipt.at.saturating_duration_since(*committed));
        }
    }
    if measured.count() == 0 {
        bail!("not one webhook came in the window");
    }
    let wanted = u64::from(subscriptions);
    let came = |number: &u64| times.get(number).copied().unwrap_or(0);
    Ok(Figures {
        received: measured.count(),
        per_second: measured.per_second(),
        ms: [50.0, 95.0, 99.0].map(|percent| measured.percentile_ms(percent)),
        missing: at.keys().map(|number| wanted.saturating_sub(came(number))).sum(),
        doubles: at.keys().map(|number| came(number).saturating_sub(wanted)).sum(),
    })
}
