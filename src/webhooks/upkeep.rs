//! What has to be done beside sending: replays go on, deliveries follow their subscription's state, the old log goes.
//!
//! Each step is a short transaction of its own and can be repeated; several processes may do it at once.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use entity::{events, webhook_deliveries};
use tokio::time::MissedTickBehavior;

use super::schedule::KEPT_MS;
use crate::app::App;
use crate::domain::webhooks::{self, ReplayState};
use crate::id;

/// How often there is a look at what has to be done.
const EVERY: Duration = Duration::from_secs(1);
/// Every how many looks the old log is pruned: about once in ten minutes.
const PRUNE_EVERY: u32 = 600;
/// Batches of one kind of work in one look at most, so that none holds up the others.
const BATCHES: usize = 20;
/// Deliveries or events looked at by one transaction.
const PRUNED: u32 = 500;

/// Goes on until `stopped`, and ends between two steps. A failure is logged and tried again.
pub async fn run(app: App, stopped: impl Future<Output = ()>) {
    let mut stopped = pin!(stopped);
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut turn: u32 = 0;
    loop {
        tokio::select! {
            () = stopped.as_mut() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = look(&app, turn.is_multiple_of(PRUNE_EVERY)).await {
            let error = format!("{error:#}");
            tracing::warn!(error, "the upkeep of webhooks failed");
        }
        turn = turn.wrapping_add(1);
    }
}

/// Does what has to be done now; prunes too when asked to.
///
/// # Errors
/// When the database fails.
pub async fn look(app: &App, prune: bool) -> anyhow::Result<()> {
    for replay in webhooks::running(app).await? {
        for _ in 0..BATCHES {
            if webhooks::advance(app, replay.workspace, replay.id).await?.state != ReplayState::Running {
                break;
            }
        }
    }
    for _ in 0..BATCHES {
        if !webhooks::align(app).await? {
            break;
        }
    }
    if prune {
        prune_deliveries(app).await?;
        prune_events(app).await?;
    }
    Ok(())
}

/// Deletes deliveries that were settled 30 days ago or more, with their attempts.
async fn prune_deliveries(app: &App) -> anyhow::Result<()> {
    for _ in 0..BATCHES {
        let write = app.begin_write().await?;
        let gone = webhook_deliveries::prune(write.conn(), write.now_ms() - KEPT_MS, PRUNED.into()).await?;
        write.commit().await?;
        if gone < PRUNED.into() {
            break;
        }
    }
    Ok(())
}

/// Deletes events that are 30 days old and that no delivery tells of any more.
async fn prune_events(app: &App) -> anyhow::Result<()> {
    let mut seen = None;
    for _ in 0..BATCHES {
        let write = app.begin_write().await?;
        let before = id::first_of(write.now_ms() - KEPT_MS);
        (_, seen) = events::prune(write.conn(), before, seen, PRUNED).await?;
        write.commit().await?;
        if seen.is_none() {
            break;
        }
    }
    Ok(())
}
