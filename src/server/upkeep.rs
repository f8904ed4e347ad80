//! What runs beside the requests: day counts, last uses and the request log are written; what is old is deleted, or brought
//! together.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use api::front::Front;
use domain::app::App;
use domain::{idempotency, keys, requests, rollups, sessions, users};
use foundation::telemetry::metrics;
use rate_limit::memory::FLUSH_EVERY;
use rate_limit::store;

/// Every how many flushes of the limiter the last uses of keys are written.
const USES_EVERY: u32 = 15;
/// Every how many flushes old idempotency records are looked for.
const PRUNE_EVERY: u32 = 60;
/// Every how many flushes the sums of old days are brought together.
const FOLD_EVERY: u32 = 30;
/// Every how many flushes old requests are looked for.
const PRUNE_LOG_EVERY: u32 = 10;
/// Every how many flushes old day counts, sessions and links are looked for.
const FORGET_EVERY: u32 = 3600;

/// Goes on until `stopped`, and ends between two turns. A failure is logged and tried again the next time.
pub(super) async fn run(front: Arc<Front>, mut stopped: oneshot::Receiver<()>) {
    let mut ticks = tokio::time::interval(FLUSH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut turn: u32 = 0;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = &mut stopped => return,
        }
        turn = turn.wrapping_add(1);
        flush_counts(&front).await;
        flush_requests(&front).await;
        metrics::gather();
        if turn.is_multiple_of(USES_EVERY) {
            flush_uses(&front).await;
        }
        if turn.is_multiple_of(PRUNE_EVERY)
            && let Err(error) = idempotency::prune(&front.app).await
        {
            let error = error.to_string();
            tracing::warn!(error, "old idempotency records could not be deleted");
        }
        if turn.is_multiple_of(FOLD_EVERY)
            && let Err(error) = rollups::fold(&front.app).await
        {
            let error = error.to_string();
            tracing::warn!(error, "the sums of old days could not be brought together");
        }
        if turn.is_multiple_of(PRUNE_LOG_EVERY)
            && let Err(error) = requests::prune(&front.app).await
        {
            let error = error.to_string();
            tracing::warn!(error, "old requests could not be deleted from the request log");
        }
        if turn % FORGET_EVERY == 1 {
            forget_old(&front).await;
        }
    }
}

/// Writes what is still to be written, when the server stops.
///
/// # Errors
/// When the database does not take it in time.
pub(super) async fn save(front: &Front) -> anyhow::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let all = async {
        front.limiter.flush(&front.app.db, &front.app.clock).await?;
        keys::flush_used(&front.app).await?;
        requests::flush(&front.app).await?;
        anyhow::Ok(())
    };
    match tokio::time::timeout(PATIENCE, all).await {
        Ok(saved) => saved.context("the last counts could not be saved"),
        Err(_) => Err(anyhow::anyhow!("the database did not take the last counts in time")),
    }
}

/// Deletes sessions and links that open nothing any more.
async fn forget_entrances(app: &App) -> domain::Result<()> {
    sessions::prune(app).await?;
    users::prune(app).await
}

async fn flush_counts(front: &Front) {
    if let Err(error) = front.limiter.flush(&front.app.db, &front.app.clock).await {
        let error = format!("{error:#}");
        tracing::warn!(error, "the day counts could not be written");
    }
}

async fn flush_requests(front: &Front) {
    if let Err(error) = requests::flush(&front.app).await {
        let error = error.to_string();
        tracing::warn!(error, "the request log could not be written");
    }
}

/// Forgets the counts of days that are no longer asked for, and what opens nothing any more.
async fn forget_old(front: &Front) {
    if let Err(error) = store::forget_old(&front.app.db, &front.app.clock).await {
        let error = format!("{error:#}");
        tracing::warn!(error, "old day counts could not be deleted");
    }
    if let Err(error) = requests::forget_old(&front.app).await {
        let error = error.to_string();
        tracing::warn!(error, "old sums of requests could not be deleted");
    }
    if let Err(error) = forget_entrances(&front.app).await {
        let error = error.to_string();
        tracing::warn!(error, "ended sessions could not be deleted");
    }
}

async fn flush_uses(front: &Front) {
    if let Err(error) = keys::flush_used(&front.app).await {
        let error = error.to_string();
        tracing::warn!(error, "the last uses of keys could not be written");
    }
}
