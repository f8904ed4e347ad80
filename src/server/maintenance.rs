//! Maintenance jobs of the server: write counts and the request log to the database, delete expired rows, and combine old
//! rollups.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{BoxFuture, TryFutureExt as _};
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use api::state::ApiState;
use domain::{idempotency, keys, requests, rollups, sessions, users};
use foundation::telemetry::metrics;
use rate_limit::memory::FLUSH_EVERY;
use rate_limit::store;

/// A job that runs periodically.
struct MaintenanceJob {
    /// The number of ticks between two runs. Ticks are [`FLUSH_EVERY`] apart.
    every: u32,
    /// The tick of the first run, counted from 1; 0 means tick number `every`.
    offset: u32,
    run: for<'a> fn(&'a ApiState) -> BoxFuture<'a, anyhow::Result<()>>,
    /// The warning that is logged when a run fails. The job is retried at its next run.
    warning: &'static str,
}

const JOBS: &[MaintenanceJob] = &[
    MaintenanceJob {
        every: 1,
        offset: 0,
        run: |api_state| Box::pin(api_state.limiter.flush(&api_state.app.db, &api_state.app.clock)),
        warning: "could not write the daily request counts",
    },
    MaintenanceJob {
        every: 1,
        offset: 0,
        run: |api_state| Box::pin(requests::flush(&api_state.app).map_ok(drop).map_err(anyhow::Error::msg)),
        warning: "could not write the request log",
    },
    MaintenanceJob {
        every: 15,
        offset: 0,
        run: |api_state| Box::pin(keys::flush_used(&api_state.app).map_ok(drop).map_err(anyhow::Error::msg)),
        warning: "could not write the last uses of API keys",
    },
    MaintenanceJob {
        every: 60,
        offset: 0,
        run: |api_state| {
            Box::pin(idempotency::prune(&api_state.app).map_ok(drop).map_err(anyhow::Error::msg))
        },
        warning: "could not delete expired idempotency records",
    },
    MaintenanceJob {
        every: 30,
        offset: 0,
        run: |api_state| {
            Box::pin(rollups::merge_shards(&api_state.app).map_ok(drop).map_err(anyhow::Error::msg))
        },
        warning: "could not combine old rollups",
    },
    MaintenanceJob {
        every: 10,
        offset: 0,
        run: |api_state| Box::pin(requests::prune(&api_state.app).map_ok(drop).map_err(anyhow::Error::msg)),
        warning: "could not delete old requests from the request log",
    },
    MaintenanceJob {
        every: 3600,
        offset: 1,
        run: |api_state| Box::pin(store::prune(&api_state.app.db, &api_state.app.clock)),
        warning: "could not delete old daily request counts",
    },
    MaintenanceJob {
        every: 3600,
        offset: 1,
        run: |api_state| Box::pin(requests::prune_daily(&api_state.app).map_err(anyhow::Error::msg)),
        warning: "could not delete old request totals",
    },
    MaintenanceJob {
        every: 3600,
        offset: 1,
        run: |api_state| Box::pin(sessions::prune(&api_state.app).map_err(anyhow::Error::msg)),
        warning: "could not delete expired sessions",
    },
    MaintenanceJob {
        every: 3600,
        offset: 1,
        run: |api_state| Box::pin(users::prune_links(&api_state.app).map_err(anyhow::Error::msg)),
        warning: "could not delete expired password links",
    },
];

/// Runs the jobs until `stopped` resolves. Stops between two ticks.
pub(super) async fn run(api_state: Arc<ApiState>, mut stopped: oneshot::Receiver<()>) {
    let mut ticks = tokio::time::interval(FLUSH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for tick in 1_u64.. {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = &mut stopped => return,
        }
        metrics::aggregate();
        for job in JOBS.iter().filter(|job| tick % u64::from(job.every) == u64::from(job.offset)) {
            if let Err(error) = (job.run)(&api_state).await {
                let error = format!("{error:#}");
                tracing::warn!(error, "{}", job.warning);
            }
        }
    }
}

/// Writes the counts and log entries held in memory. Called when the server stops.
///
/// # Errors
/// Returns an error when the write fails or takes too long.
pub(super) async fn save(api_state: &ApiState) -> anyhow::Result<()> {
    const SAVE_TIMEOUT: Duration = Duration::from_secs(5);
    let all = async {
        api_state.limiter.flush(&api_state.app.db, &api_state.app.clock).await?;
        keys::flush_used(&api_state.app).await?;
        requests::flush(&api_state.app).await?;
        anyhow::Ok(())
    };
    match tokio::time::timeout(SAVE_TIMEOUT, all).await {
        Ok(result) => result.context("could not save the latest request counts"),
        Err(_) => Err(anyhow::anyhow!(
            "could not save the latest request counts: the database did not respond in time"
        )),
    }
}
