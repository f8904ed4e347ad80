//! What runs beside the requests: day counts, last uses and the request log are written; what is old is deleted, or brought
//! together.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{BoxFuture, TryFutureExt as _};
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use api::front::Front;
use domain::{idempotency, keys, requests, rollups, sessions, users};
use foundation::telemetry::metrics;
use rate_limit::memory::FLUSH_EVERY;
use rate_limit::store;

/// Work that is repeated while the server runs.
struct Job {
    /// Turns between two runs. Turns are [`FLUSH_EVERY`] apart.
    every: u32,
    /// The first turn in which it runs, counted from 1; 0 means the turn number `every`.
    offset: u32,
    run: for<'a> fn(&'a Front) -> BoxFuture<'a, anyhow::Result<()>>,
    /// The warning in the log when it fails. It is tried again the next time.
    failed: &'static str,
}

const JOBS: &[Job] = &[
    Job {
        every: 1,
        offset: 0,
        run: |front| Box::pin(front.limiter.flush(&front.app.db, &front.app.clock)),
        failed: "the day counts could not be written",
    },
    Job {
        every: 1,
        offset: 0,
        run: |front| Box::pin(requests::flush(&front.app).map_ok(drop).map_err(anyhow::Error::msg)),
        failed: "the request log could not be written",
    },
    Job {
        every: 15,
        offset: 0,
        run: |front| Box::pin(keys::flush_used(&front.app).map_ok(drop).map_err(anyhow::Error::msg)),
        failed: "the last uses of keys could not be written",
    },
    Job {
        every: 60,
        offset: 0,
        run: |front| Box::pin(idempotency::prune(&front.app).map_ok(drop).map_err(anyhow::Error::msg)),
        failed: "old idempotency records could not be deleted",
    },
    Job {
        every: 30,
        offset: 0,
        run: |front| Box::pin(rollups::fold(&front.app).map_ok(drop).map_err(anyhow::Error::msg)),
        failed: "the sums of old days could not be brought together",
    },
    Job {
        every: 10,
        offset: 0,
        run: |front| Box::pin(requests::prune(&front.app).map_ok(drop).map_err(anyhow::Error::msg)),
        failed: "old requests could not be deleted from the request log",
    },
    Job {
        every: 3600,
        offset: 1,
        run: |front| Box::pin(store::forget_old(&front.app.db, &front.app.clock)),
        failed: "old day counts could not be deleted",
    },
    Job {
        every: 3600,
        offset: 1,
        run: |front| Box::pin(requests::forget_old(&front.app).map_err(anyhow::Error::msg)),
        failed: "old sums of requests could not be deleted",
    },
    Job {
        every: 3600,
        offset: 1,
        run: |front| Box::pin(sessions::prune(&front.app).map_err(anyhow::Error::msg)),
        failed: "ended sessions could not be deleted",
    },
    Job {
        every: 3600,
        offset: 1,
        run: |front| Box::pin(users::prune(&front.app).map_err(anyhow::Error::msg)),
        failed: "links that have ended could not be deleted",
    },
];

/// Runs the jobs until `stopped`, and ends between two turns.
pub(super) async fn run(front: Arc<Front>, mut stopped: oneshot::Receiver<()>) {
    let mut ticks = tokio::time::interval(FLUSH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for turn in 1_u64.. {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = &mut stopped => return,
        }
        metrics::gather();
        for job in JOBS.iter().filter(|job| turn % u64::from(job.every) == u64::from(job.offset)) {
            if let Err(error) = (job.run)(&front).await {
                let error = format!("{error:#}");
                tracing::warn!(error, "{}", job.failed);
            }
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
