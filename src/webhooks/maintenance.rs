//! Maintenance jobs of webhooks: fans out events with many subscriptions (writes one delivery for each), advances
//! replays (jobs that send dead letters again), holds or releases deliveries to match the state of their subscription,
//! and removes deleted subscriptions and expired log entries.
//!
//! Each step is a short, separate transaction that can be repeated. Several processes may run the jobs at once.

use std::future::Future;
use std::time::Duration;

use anyhow::Context as _;
use entity::{
    events, webhook_attempts, webhook_deliveries, webhook_fanouts, webhook_replays, webhook_subscriptions,
};
use sea_orm::DbBackend;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep, timeout};
use uuid::Uuid;

use super::schedule::RETENTION_MS;
use domain::app::App;
use domain::event_feed::MIN_STORED_MS;
use domain::outbox::fan_out;
use domain::webhooks::{self, Replay, ReplayState, replays};
use foundation::database::DELETE_BATCH;
use foundation::id;

/// The interval of all jobs except pruning while there is work.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long the jobs pause on PostgreSQL when there is no work, so that an idle process causes few transactions.
const IDLE_PAUSE: Duration = Duration::from_secs(5);
/// The longest time between two polls for fan-outs on PostgreSQL.
const FANOUT_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval of pruning.
const PRUNE_INTERVAL: Duration = Duration::from_secs(600);
/// How often a process that does not prune checks whether it leads now.
const LEADER_CHECK: Duration = Duration::from_secs(5);
/// Maximum number of batches of one job or one replay in a call of [`run_jobs`], so that none delays the others.
const MAX_BATCHES: usize = 20;
/// The pause after each batch of a fan-out, as a multiple of the batch's duration. During the pause, other transactions
/// can write.
const PAUSE_FACTOR: u32 = 10;
/// The longest such pause. A limit is necessary because a batch's duration includes the wait for other writes.
const MAX_PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of events that one transaction examines to delete old ones.
const EVENT_BATCH: u32 = 500;

/// Runs all jobs until `stopped` resolves. A transaction that has not ended by then is rolled back.
pub async fn run(app: App, stopped: impl Future<Output = ()>) {
    let jobs = run_jobs_regularly(&app);
    let pruning = prune_regularly(&app);
    let fan_out = fan_out_all(&app);
    tokio::select! {
        () = stopped => {}
        _ = async { tokio::join!(jobs, pruning, fan_out) } => {}
    }
}

/// Runs the jobs except pruning while this process leads. An error is logged, and the jobs run again at the next interval.
async fn run_jobs_regularly(app: &App) {
    let mut ticks = ticks(INTERVAL);
    let mut paused_until = Instant::now();
    loop {
        ticks.tick().await;
        if !app.process().leads_workers() || Instant::now() < paused_until {
            continue;
        }
        match has_work(app).await {
            Ok(true) => warn_if_failed(run_jobs(app).await),
            Ok(false) => paused_until = Instant::now() + IDLE_PAUSE,
            Err(error) => {
                warn_if_failed(Err(error));
                warn_if_failed(run_jobs(app).await);
            }
        }
    }
}

/// Prunes when this process begins to lead, and then at each interval and when a client advances the clock, while it leads. An error
/// is logged.
async fn prune_regularly(app: &App) {
    let mut moves = app.clock.moves();
    loop {
        let pause = if app.process().leads_workers() {
            warn_if_failed(prune(app).await);
            PRUNE_INTERVAL
        } else {
            LEADER_CHECK
        };
        moves.sleep(pause).await;
    }
}

fn ticks(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

fn warn_if_failed(outcome: anyhow::Result<()>) {
    if let Err(error) = outcome {
        let error = format!("{error:#}");
        tracing::warn!(error, "webhook maintenance failed");
    }
}

/// Returns whether one of the jobs except pruning may have work. Reads in one transaction. On SQLite, where polls are cheap,
/// always returns true.
async fn has_work(app: &App) -> anyhow::Result<bool> {
    if app.db.backend() != DbBackend::Postgres {
        return Ok(true);
    }
    let snapshot = app.db.snapshot().await?;
    if webhook_fanouts::next_workspace(&snapshot, Uuid::nil()).await?.is_some() {
        app.fast_path().fanout_signal().notify_one();
    }
    let has_jobs = !webhook_deliveries::hold::mismatched_subscriptions(&snapshot).await?.is_empty()
        || !webhook_subscriptions::deleted(&snapshot).await?.is_empty()
        || !webhook_replays::running(&snapshot, 1).await?.is_empty();
    snapshot.rollback().await?;
    Ok(has_jobs)
}

/// Writes the deliveries of events with many subscriptions in a loop, one workspace after the other. On PostgreSQL, it waits for
/// the fan-out signal, which [`has_work`] sends, too.
async fn fan_out_all(app: &App) {
    let (mut last_workspace, mut failed) = (None, false);
    loop {
        let began = Instant::now();
        match fan_out(app, &mut last_workspace).await {
            Ok(true) => {
                failed = false;
                sleep((PAUSE_FACTOR * began.elapsed()).min(MAX_PAUSE)).await;
            }
            Ok(false) if app.db.backend() == DbBackend::Postgres => {
                // The timeout is for a process that leads but cannot look for work.
                _ = timeout(FANOUT_TIMEOUT, app.fast_path().fanout_signal().notified()).await;
            }
            Ok(false) => _ = timeout(INTERVAL, app.fast_path().fanout_signal().notified()).await,
            Err(error) => {
                let error = error.to_string();
                tracing::debug!(error, "writing the deliveries of an event failed");
                // The error concerns one workspace; the next call continues with another one.
                if std::mem::replace(&mut failed, true) {
                    tracing::warn!(error, "writing the deliveries of events failed repeatedly; retrying");
                    sleep(INTERVAL).await;
                }
            }
        }
    }
}

/// Runs all jobs except pruning once: writes all outstanding deliveries of events, then up to [`MAX_BATCHES`] batches
/// of each other job.
///
/// # Errors
/// Returns the error of a job that failed, after the others have run.
pub async fn run_once(app: &App) -> anyhow::Result<()> {
    let mut last_workspace = None;
    let outcome = loop {
        match fan_out(app, &mut last_workspace).await {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error.into()),
        }
    };
    outcome.and(run_jobs(app).await)
}

/// Aligns deliveries with their subscriptions' state, purges deleted subscriptions, and advances replays. An error in
/// one job does not stop the others.
async fn run_jobs(app: &App) -> anyhow::Result<()> {
    let outcome = align_deliveries(app).await.and(purge_deleted(app).await);
    outcome.and(advance_replays(app).await)
}

/// Advances all running replays.
async fn advance_replays(app: &App) -> anyhow::Result<()> {
    let mut outcome = Ok(());
    for replay in replays::running(app).await? {
        let id = replay.id;
        let advanced = advance(app, replay).await;
        outcome = outcome.and(advanced.with_context(|| format!("replay {id}")));
    }
    outcome
}

async fn align_deliveries(app: &App) -> anyhow::Result<()> {
    for _ in 0..MAX_BATCHES {
        if !webhooks::align_deliveries(app).await? {
            break;
        }
    }
    Ok(())
}

async fn purge_deleted(app: &App) -> anyhow::Result<()> {
    for _ in 0..MAX_BATCHES {
        if !webhooks::purge_deleted(app).await? {
            break;
        }
    }
    Ok(())
}

async fn advance(app: &App, replay: Replay) -> anyhow::Result<()> {
    for _ in 0..MAX_BATCHES {
        if replays::advance(app, replay.workspace, replay.id).await?.state != ReplayState::Running {
            break;
        }
    }
    Ok(())
}

/// Deletes deliveries that were delivered or became dead more than 30 days ago. Also deletes attempts, ended replays, and
/// events without a delivery, that are more than 30 days old.
///
/// # Errors
/// Returns an error when a query fails.
pub async fn prune(app: &App) -> anyhow::Result<()> {
    // An error in one table does not stop the others.
    let attempts = prune_attempts(app).await;
    let deliveries = app.db.delete_in_batches(&app.clock, |write| {
        Box::pin(webhook_deliveries::prune(write.conn(), write.now_ms() - RETENTION_MS, DELETE_BATCH))
    });
    let deliveries = deliveries.await.context("deliveries");
    let replays = app.db.delete_in_batches(&app.clock, |write| {
        let before_ms = write.now_ms() - RETENTION_MS;
        Box::pin(webhook_replays::prune(write.conn(), id::min_uuid_at(before_ms), before_ms, DELETE_BATCH))
    });
    let replays = replays.await.context("replays");
    let events = prune_events(app).await.context("events");
    attempts.context("attempts").and(deliveries).and(replays).and(events)
}

/// Deletes attempts that are more than 30 days old. On PostgreSQL, drops the partitions of these days.
async fn prune_attempts(app: &App) -> anyhow::Result<()> {
    if app.db.drop_partitions(webhook_attempts::TABLE, &app.clock, RETENTION_MS).await? {
        let attempts = app.db.delete_in_batches(&app.clock, |write| {
            let before_ms = write.now_ms() - RETENTION_MS;
            Box::pin(webhook_attempts::prune(
                write.conn(),
                id::min_uuid_at(before_ms),
                before_ms,
                DELETE_BATCH,
            ))
        });
        attempts.await?;
    }
    Ok(())
}

/// Deletes events that the event feed no longer contains and that have no delivery or unfinished fan-out.
async fn prune_events(app: &App) -> anyhow::Result<()> {
    let mut last_event = None;
    loop {
        let write = app.begin_write().await?;
        let before = id::min_uuid_at(write.now_ms() - MIN_STORED_MS);
        (_, last_event) = events::prune(write.conn(), before, last_event, EVENT_BATCH).await?;
        write.commit().await?;
        if last_event.is_none() {
            return Ok(());
        }
    }
}
