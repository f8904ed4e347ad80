//! Tracks the connections beyond the limits. They are short, limited in number, and mainly for health checks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::exchange::Exchange;
use super::first_request;
use super::limits::ConnectionLimits;

/// The pause between two searches for a connection that can be closed.
const RETRY_PAUSE: Duration = Duration::from_millis(5);
/// A connection older than this multiple of the minimum age can always be closed.
const MAX_AGE_FACTOR: u32 = 10;

/// The open connections beyond the limits.
#[derive(Debug)]
pub(super) struct Overflow {
    capacity: usize,
    min_age: Duration,
    /// The connections, oldest first, including some that have ended.
    connections: VecDeque<OverflowConnection>,
    /// Cloned by each open connection, so that its reference count is the number of open connections plus one.
    open_count: Arc<()>,
}

/// The slot of an open connection beyond the limits, freed on drop.
#[derive(Debug)]
pub(super) struct OverflowSlot {
    _open_count: Arc<()>,
}

#[derive(Debug)]
struct OverflowConnection {
    opened_at: Instant,
    task: AbortHandle,
    exchange: Arc<Exchange>,
}

impl Overflow {
    pub(super) fn new(limits: &ConnectionLimits) -> Self {
        let (capacity, min_age) = (limits.overflow, limits.overflow_min_age);
        Self { capacity, min_age, connections: VecDeque::new(), open_count: Arc::default() }
    }

    /// Acquires a slot for this connection.
    ///
    /// If all slots are in use and the client has sent a health check or nothing yet, waits until another connection
    /// can be closed, and closes it. If the client has sent another request or closed the connection, returns `None`
    /// without a search, so that a flood of such requests stays cheap.
    pub(super) async fn acquire(&mut self, stream: &TcpStream) -> Option<OverflowSlot> {
        while Arc::strong_count(&self.open_count) > self.capacity {
            if first_request::has_other_request(stream) {
                return None;
            }
            self.connections.retain(|connection| !connection.task.is_finished());
            if let Some(replaced) = self.replaceable().and_then(|position| self.connections.remove(position))
            {
                replaced.task.abort();
                break;
            }
            // No connection can be closed now: each is too young, is being served, or was not read from yet.
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        Some(OverflowSlot { _open_count: Arc::clone(&self.open_count) })
    }

    /// Returns the position of the connection to close, or `None` if none can be closed now. Prefers the oldest one
    /// whose request waits for a permit, then the oldest idle one that has reached the minimum age, then the oldest one
    /// that has reached the maximum age.
    fn replaceable(&self) -> Option<usize> {
        let position = |test: &dyn Fn(&OverflowConnection) -> bool| self.connections.iter().position(test);
        position(&|connection| connection.exchange.is_queued())
            .or_else(|| {
                position(&|connection| {
                    connection.exchange.is_idle() && connection.opened_at.elapsed() >= self.min_age
                })
            })
            .or_else(|| {
                position(&|connection| connection.opened_at.elapsed() >= self.min_age * MAX_AGE_FACTOR)
            })
    }

    /// Adds a connection.
    pub(super) fn push(&mut self, task: AbortHandle, exchange: Arc<Exchange>) {
        if self.connections.len() >= 2 * self.capacity {
            self.connections.retain(|connection| !connection.task.is_finished());
        }
        self.connections.push_back(OverflowConnection { opened_at: Instant::now(), task, exchange });
    }
}
