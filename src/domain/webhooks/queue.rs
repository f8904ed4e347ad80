//! The queue of deliveries as an operator looks at it, across all workspaces.

use entity::webhook_deliveries::queue;

use crate::Result;
use crate::app::App;

/// How full the queue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// Deliveries to be sent, or being sent.
    pub pending: i64,
    /// Of these: in a worker's hand.
    pub in_flight: i64,
    /// Deliveries that wait for their subscription to be enabled.
    pub held: i64,
    /// Deliveries that were given up, as long as the log is kept.
    pub dead: i64,
    /// When the earliest pending delivery that nobody has in hand is due, or was, in milliseconds since the epoch.
    pub oldest_due_ms: Option<i64>,
}

/// The queue as it is now.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn queue(app: &App) -> Result<Queue> {
    let now = app.clock.now_ms();
    let counts = queue::counts(app.db.read(), now).await?;
    let oldest_due_ms = queue::oldest_due(app.db.read(), now, &[]).await?;
    let queue::Counts { pending, in_flight, held, dead } = counts;
    Ok(Queue { pending, in_flight, held, dead, oldest_due_ms })
}
