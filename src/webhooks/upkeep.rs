//! What has to be done beside sending: replays go on, deliveries follow their subscription's state, the old log goes.
//!
//! Each step is a short transaction of its own and can be repeated; several processes may do it at once.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use entity::webhook_deliveries;
use tokio::time::MissedTickBehavior;

use super::schedule::KEPT_MS;
use crate::app::App;
use crate::domain::webhooks::{self, ReplayState};

/// How often there is a look at what has to be done.
const EVERY: Duration = Duration::from_secs(1);
/// Every how many looks the old log is pruned: about once in ten minutes.
const PRUNE_EVERY: u32 = 600;
/// Batches of one kind of work in one look at most, so that none holds up the others.
const BATCHES: usize = 20;
/// Deliveries deleted by one transaction.
const PRUNED: u64 = 500;

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
    for _ in 0..if prune { BATCHES } else { 0 } {
        if prune_batch(app).await? < PRUNED {
            break;
        }
    }
    Ok(())
}

/// Deletes deliveries that were settled 30 days ago or more, with their attempts.
async fn prune_batch(app: &App) -> anyhow::Result<u64> {
    let write = app.begin_write().await?;
    let gone = webhook_deliveries::prune(write.conn(), write.now_ms() - KEPT_MS, PRUNED).await?;
    write.commit().await?;
    Ok(gone)
}
