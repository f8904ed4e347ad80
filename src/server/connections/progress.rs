//! How long a client may take to read what the server sends.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// Bytes that count as progress. A client that takes fewer in the allowed time only keeps the connection occupied.
const ENOUGH: usize = 16 * 1024;

/// Measures how fast a client takes the bytes that wait for it.
#[derive(Debug)]
pub(super) struct Progress {
    limit: Duration,
    /// Runs from the last progress on; made when bytes wait for the first time.
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether bytes wait for the client.
    is_blocked: bool,
    /// Bytes taken since the timer was set.
    taken: usize,
}

impl Progress {
    /// A client that gets so much time for every [`ENOUGH`] bytes.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, timer: None, is_blocked: false, taken: 0 }
    }

    /// The client took so many bytes.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.is_blocked = false;
        self.taken = self.taken.saturating_add(bytes);
    }

    /// The client takes no bytes now. Ready once it has been too slow.
    pub(super) fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        // A timer that ran out while no bytes waited says nothing.
        if self.taken >= ENOUGH || (!self.is_blocked && timer.is_elapsed()) {
            timer.as_mut().reset(Instant::now() + limit);
            self.taken = 0;
        }
        self.is_blocked = true;
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(())
    }
}
