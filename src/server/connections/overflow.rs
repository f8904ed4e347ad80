//! Connections beyond the limits: few, short, and for health checks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::first_request;
use super::limits::ConnectionLimits;
use super::refused::Exchange;

/// The pause between two attempts to find a connection that can be closed.
const RETRY_PAUSE: Duration = Duration::from_millis(5);
/// How often the least age must have passed before a connection is closed whatever it does.
const MAX_AGES: u32 = 10;

/// The open connections beyond the limits.
#[derive(Debug)]
pub(super) struct Overflow {
    most: usize,
    age: Duration,
    /// The oldest first, with some that have ended since.
    open: VecDeque<Open>,
    /// Shared with each task that has not ended.
    running: Arc<()>,
}

/// Counts as an open connection until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _running: Arc<()>,
}

#[derive(Debug)]
struct Open {
    since: Instant,
    task: AbortHandle,
    exchange: Arc<Exchange>,
}

impl Overflow {
    pub(super) fn new(limits: &ConnectionLimits) -> Self {
        let (most, age) = (limits.overflow, limits.overflow_age);
        Self { most, age, open: VecDeque::new(), running: Arc::default() }
    }

    /// A place for this connection, if it gets one. When all are in use, a health check replaces another connection, and
    /// so does a client that has sent nothing yet. Any other request gets none: this costs no search, however many come.
    pub(super) async fn place(&mut self, stream: &TcpStream) -> Option<Place> {
        while Arc::strong_count(&self.running) > self.most {
            if first_request::has_other_request(stream) {
                return None;
            }
            self.open.retain(|open| !open.task.is_finished());
            if let Some(replaced) = self.replaceable().and_then(|at| self.open.remove(at)) {
                replaced.task.abort();
                break;
            }
            // Each connection is younger than the least age, is being answered, or was not read from yet.
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        Some(Place { _running: Arc::clone(&self.running) })
    }

    /// The oldest that waits with a request other than a health check; or else the oldest that had the time to send a
    /// request and did not; or else the oldest, once it is far too old.
    fn replaceable(&self) -> Option<usize> {
        let position = |test: &dyn Fn(&Open) -> bool| self.open.iter().position(test);
        position(&|open| open.exchange.is_queued())
            .or_else(|| position(&|open| open.exchange.is_idle() && open.since.elapsed() >= self.age))
            .or_else(|| position(&|open| open.since.elapsed() >= self.age * MAX_AGES))
    }

    /// Adds a connection.
    pub(super) fn push(&mut self, task: AbortHandle, exchange: Arc<Exchange>) {
        if self.open.len() >= 2 * self.most {
            self.open.retain(|open| !open.task.is_finished());
        }
        self.open.push_back(Open { since: Instant::now(), task, exchange });
    }
}
