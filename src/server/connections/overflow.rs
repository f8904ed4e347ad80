//! Connections beyond the limits: few, short, and for health checks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::limits::ConnectionLimits;
use super::refused::Exchange;

/// The paths that are answered beyond the limits.
const PATHS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Whether a request for this path is answered on a connection beyond the limits.
pub(super) fn answers(path: &str) -> bool {
    PATHS.contains(&path)
}

/// The open connections beyond the limits, the oldest first.
#[derive(Debug)]
pub(super) struct Overflow {
    most: usize,
    age: Duration,
    open: VecDeque<Open>,
}

#[derive(Debug)]
struct Open {
    since: Instant,
    task: AbortHandle,
    exchange: Arc<Exchange>,
}

impl Overflow {
    pub(super) fn new(limits: &ConnectionLimits) -> Self {
        Self { most: limits.overflow, age: limits.overflow_age, open: VecDeque::new() }
    }

    /// Makes room for one more, by closing the oldest that is not being answered. Waits until it is old enough to have
    /// been read from: a client that sends its request at once is answered.
    pub(super) async fn make_room(&mut self) {
        loop {
            self.open.retain(|open| !open.task.is_finished());
            if self.open.len() < self.most {
                return;
            }
            let at = self.open.iter().position(|open| !open.exchange.is_answering()).unwrap_or(0);
            let age = self.open[at].since.elapsed();
            if age >= self.age {
                if let Some(oldest) = self.open.remove(at) {
                    oldest.task.abort();
                }
                return;
            }
            tokio::time::sleep(self.age - age).await;
        }
    }

    /// Adds a connection.
    pub(super) fn push(&mut self, task: AbortHandle, exchange: Arc<Exchange>) {
        self.open.push_back(Open { since: Instant::now(), task, exchange });
    }
}
