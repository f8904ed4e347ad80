//! Tracks connections beyond the limits: a small number of short connections, mainly for health checks.

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
    open: VecDeque<OverflowConnection>,
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
    since: Instant,
    task: AbortHandle,
    exchange: Arc<Exchange>,
}

impl Overflow {
    pub(super) fn new(limits: &ConnectionLimits) -> Self {
        let (capacity, min_age) = (limits.overflow, limits.overflow_age);
        Self { capacity, min_age, open: VecDeque::new(), open_count: Arc::default() }
    }

    /// Acquires a slot for this connection, or returns `None`.
    ///
    /// If all slots are in use, a health check or a client that has not sent anything yet replaces another connection. Any
    /// other request is rejected without a search, so that a flood of them stays cheap.
    pub(super) async fn acquire(&mut self, stream: &TcpStream) -> Option<OverflowSlot> {
        while Arc::strong_count(&self.open_count) > self.capacity {
            if first_request::has_other_request(stream) {
                return None;
            }
            self.open.retain(|open| !open.task.is_finished());
            if let Some(replaced) = self.replaceable().and_then(|at| self.open.remove(at)) {
                replaced.task.abort();
                break;
            }
            // Every connection is younger than the minimum age, is being served, or was not read from yet.
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        Some(OverflowSlot { _open_count: Arc::clone(&self.open_count) })
    }

    /// Returns the position of the connection to close: the oldest one that waits with a request other than a health check,
    /// or the oldest idle one that has reached the minimum age, or the oldest one that has reached the maximum age.
    fn replaceable(&self) -> Option<usize> {
        let position = |test: &dyn Fn(&OverflowConnection) -> bool| self.open.iter().position(test);
        position(&|open| open.exchange.is_queued())
            .or_else(|| position(&|open| open.exchange.is_idle() && open.since.elapsed() >= self.min_age))
            .or_else(|| position(&|open| open.since.elapsed() >= self.min_age * MAX_AGE_FACTOR))
    }

    /// Adds a connection.
    pub(super) fn push(&mut self, task: AbortHandle, exchange: Arc<Exchange>) {
        if self.open.len() >= 2 * self.capacity {
            self.open.retain(|open| !open.task.is_finished());
        }
        self.open.push_back(OverflowConnection { since: Instant::now(), task, exchange });
    }
}
