//! What has to be done beside sending: the deliveries of events with many subscriptions are written, replays continue,
//! deliveries follow the state of their subscription, and deleted subscriptions and the old log are removed.
//!
//! Each step is a short transaction of its own and can be repeated; several processes may do it at once.

use std::future::Future;
use std::time::Duration;

use anyhow::Context as _;
use entity::{events, webhook_attempts, webhook_deliveries};
use tokio::time::{Instant, MissedTickBehavior, sleep, timeout};

use super::schedule::KEPT_MS;
use domain::app::App;
use domain::outbox::fan_out;
use domain::webhooks::{self, Replay, ReplayState};
use foundation::id;

/// How often there is a look at what has to be done.
const EVERY: Duration = Duration::from_secs(1);
/// How often the old log is pruned.
const PRUNE_EVERY: Duration = Duration::from_secs(600);
/// Batches of one kind of work in one look at most, so that none holds up the others.
const BATCHES: usize = 20;
/// How long the writing of deliveries pauses after each batch, as a multiple of what the batch took: others write meanwhile.
const REST: u32 = 10;
/// The longest such pause: what a batch took includes the wait for other writes.
const LONGEST_REST: Duration = Duration::from_millis(100);
/// Rows looked at by one transaction of pruning.
const PRUNED: u32 = 500;

/// Goes on until `stopped`. A step that is under way then is done wholly or not at all.
pub async fn run(app: App, stopped: impl Future<Output = ()>) {
    let works = every(EVERY, || work(&app));
    let prunes = every(PRUNE_EVERY, || prune(&app));
    let fans_out = fan_out_all(&app);
    tokio::select! {
        () = stopped => {}
        _ = async { tokio::join!(works, prunes, fans_out) } => {}
    }
}

/// Does this again and again. A failure is logged and tried again the next time.
async fn every<R: Future<Output = anyhow::Result<()>>>(period: Duration, work: impl Fn() -> R) {
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = work().await {
            let error = format!("{error:#}");
            tracing::warn!(error, "the upkeep of webhooks failed");
        }
    }
}

/// Writes the deliveries of events with many subscriptions again and again, workspace by workspace.
async fn fan_out_all(app: &App) {
    let (mut last, mut failed) = (None, false);
    loop {
        let began = Instant::now();
        match fan_out(app, &mut last).await {
            Ok(true) => {
                failed = false;
                sleep((REST * began.elapsed()).min(LONGEST_REST)).await;
            }
            Ok(false) => _ = timeout(EVERY, app.handoff().fanout().notified()).await,
            Err(error) => {
                let error = error.to_string();
                tracing::debug!(error, "deliveries of an event could not be written");
                // It was the turn of one workspace; the next one's may be written.
                if std::mem::replace(&mut failed, true) {
                    tracing::warn!(error, "deliveries of events could not be written; they are tried again");
                    sleep(EVERY).await;
                }
            }
        }
    }
}

/// Does all that has to be done now: writes the deliveries of events with many subscriptions, lets replays go on, deliveries
/// follow their subscription's state, and what is deleted go.
///
/// # Errors
/// When the database fails: the first failure, once all had their turn.
pub async fn go_on(app: &App) -> anyhow::Result<()> {
    let mut last = None;
    let outcome = loop {
        match fan_out(app, &mut last).await {
            Ok(true) => {}
            Ok(false) => break Ok(()),
            Err(error) => break Err(error.into()),
        }
    };
    outcome.and(work(app).await)
}

/// Lets replays go on, deliveries follow their subscription's state, and what is deleted go. One that fails holds up no other.
async fn work(app: &App) -> anyhow::Result<()> {
    let mut outcome = align(app).await;
    outcome = outcome.and(erase(app).await);
    for replay in webhooks::running(app).await? {
        let of = replay.id;
        let advanced = advance(app, replay).await;
        outcome = outcome.and(advanced.with_context(|| format!("replay {of}")));
    }
    outcome
}

async fn align(app: &App) -> anyhow::Result<()> {
    for _ in 0..BATCHES {
        if !webhooks::align(app).await? {
            break;
        }
    }
    Ok(())
}

async fn erase(app: &App) -> anyhow::Result<()> {
    for _ in 0..BATCHES {
        if !webhooks::erase(app).await? {
            break;
        }
    }
    Ok(())
}

async fn advance(app: &App, replay: Replay) -> anyhow::Result<()> {
    for _ in 0..BATCHES {
        if webhooks::advance(app, replay.workspace, replay.id).await?.state != ReplayState::Running {
            break;
        }
    }
    Ok(())
}

/// Deletes what is older than 30 days: settled deliveries, attempts, and events that no delivery tells of any more.
///
/// # Errors
/// When the database fails.
pub async fn prune(app: &App) -> anyhow::Result<()> {
    prune_deliveries(app).await?;
    prune_attempts(app).await?;
    prune_events(app).await
}

/// Deletes deliveries that were settled 30 days ago or more, with their attempts.
async fn prune_deliveries(app: &App) -> anyhow::Result<()> {
    loop {
        let write = app.begin_write().await?;
        let gone = webhook_deliveries::prune(write.conn(), write.now_ms() - KEPT_MS, PRUNED.into()).await?;
        write.commit().await?;
        if gone < PRUNED.into() {
            return Ok(());
        }
    }
}

/// Deletes attempts that are 30 days old, of deliveries that are still held or pending.
async fn prune_attempts(app: &App) -> anyhow::Result<()> {
    loop {
        let write = app.begin_write().await?;
        let before = id::first_of(write.now_ms() - KEPT_MS);
        let gone = webhook_attempts::prune(write.conn(), before, PRUNED.into()).await?;
        write.commit().await?;
        if gone < PRUNED.into() {
            return Ok(());
        }
    }
}

/// Deletes events that are 30 days old and that no delivery tells of any more.
async fn prune_events(app: &App) -> anyhow::Result<()> {
    let mut seen = None;
    loop {
        let write = app.begin_write().await?;
        let before = id::first_of(write.now_ms() - KEPT_MS);
        (_, seen) = events::prune(write.conn(), before, seen, PRUNED).await?;
        write.commit().await?;
        if seen.is_none() {
            return Ok(());
        }
    }
}
