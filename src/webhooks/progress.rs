//! The time since a delivery loop last completed a tick.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// When a delivery loop last completed a tick without an error, or was created. Clones share the time.
#[derive(Clone, Debug)]
pub struct Progress {
    last_tick: Arc<Mutex<Instant>>,
}

impl Progress {
    /// Returns the time since the last tick that completed without an error, or since the creation.
    pub fn since_last_tick(&self) -> Duration {
        self.last_tick.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Records that a tick has completed now.
    pub(super) fn record_tick(&self) {
        *self.last_tick.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self { last_tick: Arc::new(Mutex::new(Instant::now())) }
    }
}
