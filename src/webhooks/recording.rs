//! Transactions of the delivery loop: recording completed attempts, claiming deliveries, and releasing leases.

use domain::app::App;
use entity::webhook_deliveries::queue;
use foundation::database::Write;
use uuid::Uuid;

use super::claim::LeasedDelivery;
use super::in_flight::Completion;
use super::settle::{SettledDeliveries, report, settle};

/// Commits a claim and returns its deliveries. If the commit fails, moves them to `uncertain`: they may be leased.
pub(super) async fn commit_claim(
    write: Write,
    deliveries: Vec<LeasedDelivery>,
    uncertain: &mut Vec<LeasedDelivery>,
) -> anyhow::Result<Vec<LeasedDelivery>> {
    match write.commit().await {
        Ok(()) => Ok(deliveries),
        Err(error) => {
            *uncertain = deliveries;
            Err(error.into())
        }
    }
}

/// Records the completed attempts and releases unsent deliveries. Returns the deliveries whose leases were still valid,
/// with their new states.
pub(super) async fn record(
    app: &App,
    write: &mut Write,
    completions: &mut [Completion],
) -> anyhow::Result<SettledDeliveries> {
    let clock_offset_ms = write.now_ms() - app.clock.now_ms();
    let (mut attempts, mut unsent) = (Vec::with_capacity(completions.len()), Vec::new());
    for completion in completions {
        match &mut completion.outcome {
            Ok(attempt) => {
                attempt.clock_offset_ms = clock_offset_ms;
                attempts.push(&*attempt);
            }
            Err(leased) => unsent.push((leased.delivery.id, leased.lease.token)),
        }
    }
    let settled = settle(app, write, &attempts).await?;
    queue::release_deliveries(write.conn(), &unsent).await?;
    Ok(settled)
}

/// Logs and counts the attempts of these completions, and removes all completions.
pub(super) fn report_all(completions: &mut Vec<Completion>, settled: &SettledDeliveries) {
    for completion in completions.drain(..) {
        if let Ok(attempt) = &completion.outcome {
            report(attempt, settled);
        }
    }
}

/// Releases the leases of unfinished deliveries, each given as delivery id and lease token. Then releases all
/// deliveries under the lease of the fast path, because the worker may not have received all of them. Releasing that
/// lease reads all pending deliveries, so it is done only when the worker stops.
pub(super) async fn release(
    app: &App,
    unfinished: &[(Uuid, Uuid)],
    fast_path_lease: Option<Uuid>,
) -> anyhow::Result<()> {
    if !unfinished.is_empty() {
        let write = app.begin_write().await?;
        queue::release_deliveries(write.conn(), unfinished).await?;
        write.commit().await?;
    }
    if let Some(token) = fast_path_lease {
        let write = app.begin_write().await?;
        queue::release_lease(write.conn(), token).await?;
        write.commit().await?;
    }
    Ok(())
}
