//! The source of wall-clock time.
//!
//! [`Clock::system`] reads the machine's clock. [`Clock::simulated`] is for tests: it changes only with
//! [`Clock::advance`] and [`Clock::set`].

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;

/// A clock with millisecond resolution, like all stored times.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// The time of a simulated clock in milliseconds since the epoch, or `None` for the machine's clock.
    simulated: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// Returns the machine's clock.
    pub fn system() -> Self {
        Self::default()
    }

    /// Returns a simulated clock that is set to `start`. Clones share the clock.
    pub fn simulated(start: Timestamp) -> Self {
        Self { simulated: Some(Arc::new(AtomicI64::new(start.as_millisecond()))) }
    }

    /// Returns whether this is a simulated clock.
    pub fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// Returns the current time in milliseconds since the epoch.
    #[allow(clippy::disallowed_methods, reason = "only the clock may read the machine's time")]
    pub fn now_ms(&self) -> i64 {
        match &self.simulated {
            Some(simulated) => simulated.load(Ordering::SeqCst),
            None => Timestamp::now().as_millisecond(),
        }
    }

    /// Returns the current time, truncated to milliseconds.
    pub fn now(&self) -> Timestamp {
        from_ms(self.now_ms())
    }

    /// Advances a simulated clock. Has no effect on the machine's clock.
    pub fn advance(&self, by: Duration) {
        if let Some(simulated) = &self.simulated {
            simulated.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
        }
    }

    /// Sets a simulated clock, forward or back. Has no effect on the machine's clock.
    pub fn set(&self, now: Timestamp) {
        if let Some(simulated) = &self.simulated {
            simulated.store(now.as_millisecond(), Ordering::SeqCst);
        }
    }
}

/// Converts milliseconds since the epoch to a time, clamped to the range of [`Timestamp`].
pub fn from_ms(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// Truncates a time to whole milliseconds.
pub fn truncate_to_ms(time: Timestamp) -> Timestamp {
    from_ms(time.as_millisecond())
}
