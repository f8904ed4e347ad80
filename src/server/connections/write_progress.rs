//! Detects clients that read responses too slowly.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// The number of bytes that a client must read within the time limit.
const REQUIRED_BYTES: usize = 16 * 1024;

/// Measures how fast a client reads pending bytes.
#[derive(Debug)]
pub(super) struct WriteProgress {
    limit: Duration,
    /// Expires at the end of the time limit for the current [`REQUIRED_BYTES`]. Created when bytes are pending for the
    /// first time.
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether bytes are pending: the most recent write had to wait for the client.
    is_blocked: bool,
    /// The number of bytes that the socket has accepted since the timer was created or restarted. Before the timer is
    /// created: since the start of the connection.
    bytes_accepted: usize,
}

impl WriteProgress {
    /// Creates a measurement with this time limit for every [`REQUIRED_BYTES`].
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, timer: None, is_blocked: false, bytes_accepted: 0 }
    }

    /// Records that the socket accepted this number of bytes. Call it when a write succeeds. If the previous write had
    /// to wait, the client has read bytes since then.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.is_blocked = false;
        self.bytes_accepted = self.bytes_accepted.saturating_add(bytes);
    }

    /// Call it when a write returns `Pending`. Ready once the client has exceeded the time limit.
    pub(super) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        // A timer that elapsed while no bytes were pending is ignored.
        if self.bytes_accepted >= REQUIRED_BYTES || (!self.is_blocked && timer.is_elapsed()) {
            timer.as_mut().reset(Instant::now() + limit);
            self.bytes_accepted = 0;
        }
        self.is_blocked = true;
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(())
    }
}
