//! The state of the delivery queue across all workspaces, for operators.

use entity::webhook_deliveries::queue;

use crate::Result;
use crate::app::App;

/// The numbers of unsettled and dead deliveries, and when the earliest is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueStatus {
    /// Deliveries to be sent, including those in flight.
    pub pending: i64,
    /// Pending deliveries that a worker has leased to send them.
    pub in_flight: i64,
    /// Deliveries that wait for their subscription to be enabled.
    pub held: i64,
    /// Dead deliveries that are not pruned yet.
    pub dead: i64,
    /// When the earliest pending delivery without a lease is or was due, in milliseconds since the epoch. `None` if
    /// there is no such delivery to an enabled subscription.
    pub earliest_due_ms: Option<i64>,
}

/// Returns the current state of the queue.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn queue_status(app: &App) -> Result<QueueStatus> {
    let now = app.clock.now_ms();
    let counts = queue::counts(app.db.read(), now).await?;
    let earliest_due_ms = queue::earliest_due_at(app.db.read(), now, &[]).await?;
    let queue::QueueCounts { pending, in_flight, held, dead } = counts;
    Ok(QueueStatus { pending, in_flight, held, dead, earliest_due_ms })
}
