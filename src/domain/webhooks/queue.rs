//! The state of the delivery queue across all workspaces, for operators.

use entity::webhook_deliveries::queue;

use crate::Result;
use crate::app::App;

/// The numbers of unsettled and dead deliveries.
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
}

/// Returns the current numbers of deliveries. The cost grows with the number of pending ones.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn queue_status(app: &App) -> Result<QueueStatus> {
    let queue::QueueCounts { pending, in_flight, held, dead } =
        queue::counts(app.db.read(), app.clock.now_ms()).await?;
    Ok(QueueStatus { pending, in_flight, held, dead })
}

/// Returns when the earliest pending delivery without a lease is or was due, in milliseconds since the epoch. Returns `None` if
/// there is no such delivery to an enabled subscription.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn earliest_due_ms(app: &App) -> Result<Option<i64>> {
    Ok(queue::earliest_due_at(app.db.read(), app.clock.now_ms(), &[]).await?)
}
