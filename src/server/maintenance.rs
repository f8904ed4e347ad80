//! Maintenance jobs of the server: write counts and the request log to the database, delete expired rows, combine the
//! shards of old rollups (precomputed sums), and aggregate metrics.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::{BoxFuture, TryFutureExt as _};
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use domain::app::App;
use domain::{
    audit, candidate, deprecations, idempotency, keys, requests, rollups, sandbox, sessions, users,
};
use foundation::telemetry::metrics;
use rate_limit::{FLUSH_EVERY, Limiter, day_counts};
use web::panics::catch_panic;

/// The state that maintenance jobs use.
#[derive(Clone)]
pub(super) struct MaintenanceContext {
    /// The state of the process. Its database calls have the timeout of jobs, not that of requests.
    pub(super) app: App,
    /// The request counts of all API versions.
    pub(super) limiter: Arc<Limiter>,
}

/// A job that runs periodically.
struct MaintenanceJob {
    /// The job runs once in this number of ticks. Ticks are [`FLUSH_EVERY`] (one second) apart.
    every_ticks: u32,
    /// The tick of the first run, counted from 1. Jobs that delete rows do not run at once, since they would delay the first requests.
    /// A server that does not lead at this tick runs a job of the leader as soon as it leads.
    first_tick: u32,
    run: for<'a> fn(&'a MaintenanceContext) -> BoxFuture<'a, anyhow::Result<()>>,
    /// Whether only one server runs the job, because it changes rows of all processes.
    leader_only: bool,
    /// The warning that is logged when a run fails. The job is retried at its next run.
    warning: &'static str,
}

const JOBS: &[MaintenanceJob] = &[
    MaintenanceJob {
        every_ticks: 1,
        first_tick: 1,
        run: |context| Box::pin(context.limiter.flush(&context.app.db, &context.app.clock)),
        leader_only: false,
        warning: "could not write the daily request counts",
    },
    MaintenanceJob {
        every_ticks: 1,
        first_tick: 1,
        run: |context| Box::pin(requests::flush(&context.app).map_ok(drop).map_err(anyhow::Error::msg)),
        leader_only: false,
        warning: "could not write the request log",
    },
    MaintenanceJob {
        every_ticks: 5,
        first_tick: 5,
        run: |context| Box::pin(candidate::flush(&context.app).map_err(anyhow::Error::msg)),
        leader_only: false,
        warning: "could not write which requests the candidate contract rejects",
    },
    MaintenanceJob {
        every_ticks: 3600,
        first_tick: 60,
        run: |context| Box::pin(candidate::prune(&context.app).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete old findings about the candidate contract",
    },
    MaintenanceJob {
        every_ticks: 5,
        first_tick: 5,
        run: |context| Box::pin(deprecations::flush(&context.app).map_err(anyhow::Error::msg)),
        leader_only: false,
        warning: "could not write which requests use deprecated parts of the API",
    },
    MaintenanceJob {
        every_ticks: 3600,
        first_tick: 2,
        run: |context| Box::pin(deprecations::notify(&context.app).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not queue mails about deprecated parts of the API",
    },
    MaintenanceJob {
        every_ticks: 3600,
        first_tick: 3,
        run: |context| Box::pin(keys::remind(&context.app).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not queue mails about API keys that expire or are not used",
    },
    MaintenanceJob {
        every_ticks: 3600,
        first_tick: 60,
        run: |context| Box::pin(deprecations::prune(&context.app).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete old uses of deprecated parts of the API",
    },
    MaintenanceJob {
        every_ticks: 15,
        first_tick: 15,
        run: |context| Box::pin(keys::flush_uses(&context.app).map_ok(drop).map_err(anyhow::Error::msg)),
        leader_only: false,
        warning: "could not write the last uses of API keys",
    },
    MaintenanceJob {
        every_ticks: 60,
        first_tick: 60,
        run: |context| Box::pin(idempotency::prune(&context.app).map_ok(drop).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete expired idempotency records",
    },
    MaintenanceJob {
        every_ticks: 60,
        first_tick: 60,
        run: |context| Box::pin(rollups::merge_shards(&context.app).map_ok(drop).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not combine old rollups",
    },
    MaintenanceJob {
        every_ticks: 60,
        first_tick: 60,
        run: |context| Box::pin(requests::prune(&context.app).map_ok(drop).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete old requests from the request log",
    },
    MaintenanceJob {
        every_ticks: 600,
        first_tick: 60,
        run: |context| Box::pin(day_counts::prune(&context.app.db, &context.app.clock)),
        leader_only: true,
        warning: "could not delete old daily request counts",
    },
    MaintenanceJob {
        every_ticks: 3600,
        first_tick: 60,
        run: |context| Box::pin(requests::prune_daily(&context.app).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete old request totals",
    },
    MaintenanceJob {
        every_ticks: 3600,
        first_tick: 60,
        run: |context| Box::pin(sessions::prune(&context.app).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete expired sessions",
    },
    MaintenanceJob {
        every_ticks: 3600,
        first_tick: 60,
        run: |context| Box::pin(users::prune_links(&context.app).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete expired password links",
    },
    MaintenanceJob {
        every_ticks: 600,
        first_tick: 60,
        run: |context| Box::pin(users::prune_sign_in_links(&context.app).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete expired sign-in links",
    },
    MaintenanceJob {
        every_ticks: 3600,
        first_tick: 60,
        run: |context| Box::pin(audit::prune(&context.app).map_ok(drop).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete old audit entries",
    },
    MaintenanceJob {
        every_ticks: 3600,
        first_tick: 60,
        run: |context| Box::pin(feed::prune(&context.app).map_ok(drop)),
        leader_only: true,
        warning: "could not delete old records of applied changes",
    },
    MaintenanceJob {
        every_ticks: 60,
        first_tick: 60,
        run: |context| Box::pin(sandbox::purge(&context.app).map_err(anyhow::Error::msg)),
        leader_only: true,
        warning: "could not delete the rows of deleted workspaces",
    },
    MaintenanceJob {
        every_ticks: 1,
        first_tick: 1,
        run: |context| Box::pin(idempotency::release_deferred(&context.app).map_err(anyhow::Error::msg)),
        leader_only: false,
        warning: "could not release idempotency claims",
    },
];

/// Runs the jobs until `stopped` resolves. Stops between two ticks. When a client advances the clock, all jobs run.
pub(super) async fn run(context: MaintenanceContext, mut stopped: oneshot::Receiver<()>) {
    let mut ticks = tokio::time::interval(FLUSH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut moves = context.app.clock.moves();
    let mut next_ticks: Vec<u64> = JOBS.iter().map(|job| u64::from(job.first_tick)).collect();
    for tick in 1_u64.. {
        let was_moved = tokio::select! {
            _ = ticks.tick() => false,
            () = moves.next() => true,
            _ = &mut stopped => return,
        };
        metrics::aggregate();
        let leads = context.app.process().leads_servers();
        for (job, next_tick) in JOBS.iter().zip(&mut next_ticks) {
            if (job.leader_only && !leads) || !(was_moved || tick >= *next_tick) {
                continue;
            }
            *next_tick = tick + u64::from(job.every_ticks);
            let outcome = catch_panic((job.run)(&context)).await;
            let outcome = outcome.unwrap_or_else(|panic| Err(anyhow::anyhow!("panicked: {panic}")));
            if let Err(error) = outcome {
                let error = format!("{error:#}");
                tracing::warn!(error, "{}", job.warning);
            }
        }
    }
}

/// Writes the counts, log entries and last uses of API keys held in memory. Called when the server stops.
///
/// # Errors
/// Returns an error when a write fails, or when the writes take longer than 5 seconds.
pub(super) async fn save(context: &MaintenanceContext) -> anyhow::Result<()> {
    const SAVE_TIMEOUT: Duration = Duration::from_secs(5);
    let flush_all = async {
        context.limiter.flush(&context.app.db, &context.app.clock).await?;
        keys::flush_uses(&context.app).await?;
        requests::flush(&context.app).await?;
        candidate::finish(&context.app).await?;
        deprecations::flush(&context.app).await?;
        anyhow::Ok(())
    };
    match tokio::time::timeout(SAVE_TIMEOUT, flush_all).await {
        Ok(result) => result.context("could not save the latest request counts and log entries"),
        Err(_) => Err(anyhow::anyhow!(
            "could not save the latest request counts and log entries: the database did not respond in time"
        )),
    }
}
