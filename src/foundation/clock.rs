//! Wall time, the one place it comes from.
//!
//! [`Clock::system`] reads the machine; [`Clock::fixed`] stands still until a test moves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;

/// Tells the time, truncated to milliseconds, as everything stored is.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// Milliseconds since the epoch of a clock that stands still; `None` reads the machine.
    fixed: Option<Arc<AtomicI64>>,
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self::default()
    }

    /// A clock that stands at `start` until it is moved; clones move together.
    pub fn fixed(start: Timestamp) -> Self {
        Self { fixed: Some(Arc::new(AtomicI64::new(start.as_millisecond()))) }
    }

    /// Whether it stands still until it is moved.
    pub fn is_fixed(&self) -> bool {
        self.fixed.is_some()
    }

    /// Milliseconds since the epoch.
    #[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    pub fn now_ms(&self) -> i64 {
        match &self.fixed {
            Some(fixed) => fixed.load(Ordering::SeqCst),
            None => Timestamp::now().as_millisecond(),
        }
    }

    /// Now, without a part below the millisecond.
    pub fn now(&self) -> Timestamp {
        from_ms(self.now_ms())
    }

    /// Moves a fixed clock forward. The machine's clock is left alone.
    pub fn advance(&self, by: Duration) {
        if let Some(fixed) = &self.fixed {
            fixed.fetch_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX), Ordering::SeqCst);
        }
    }

    /// Sets a fixed clock, forward or back. The machine's clock is left alone.
    pub fn set(&self, now: Timestamp) {
        if let Some(fixed) = &self.fixed {
            fixed.store(now.as_millisecond(), Ordering::SeqCst);
        }
    }
}

/// The time that many milliseconds after the epoch; times beyond jiff's range become its bounds.
pub fn from_ms(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// The time without its part below the millisecond.
pub fn truncate(time: Timestamp) -> Timestamp {
    from_ms(time.as_millisecond())
}
