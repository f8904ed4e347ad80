//! The source of wall-clock time.
//!
//! [`Clock::system`] reads the machine's clock. [`Clock::simulated`] is for tests: it changes only with
//! [`Clock::advance`] and [`Clock::set`]. [`Clock::adjustable`] is for a server whose clients may advance its clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

/// A clock with millisecond resolution, like all stored times.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// `None` for the machine's clock.
    offset: Option<Arc<Offset>>,
    is_adjustable: bool,
}

/// A clock that can be moved.
#[derive(Debug)]
struct Offset {
    /// The time at which a simulated clock starts, in milliseconds since the epoch. `None` follows the machine's clock.
    simulated_start_ms: Option<i64>,
    /// How far the clock was moved, in milliseconds.
    moved_ms: AtomicI64,
    /// Notified when the clock is moved.
    moves: watch::Sender<()>,
}

impl Offset {
    fn new(simulated_start_ms: Option<i64>) -> Arc<Self> {
        Arc::new(Self { simulated_start_ms, moved_ms: AtomicI64::new(0), moves: watch::Sender::new(()) })
    }
}

impl Clock {
    /// Returns the machine's clock.
    pub fn system() -> Self {
        Self::default()
    }

    /// Returns a simulated clock that is set to `start`. Clones share the clock.
    pub fn simulated(start: Timestamp) -> Self {
        Self { offset: Some(Offset::new(Some(start.as_millisecond()))), is_adjustable: false }
    }

    /// Returns a clock that clients may advance. Clones share the clock. The database must not have a clock of its own: use it with
    /// SQLite, or with a simulated clock.
    #[must_use]
    pub fn adjustable(self) -> Self {
        Self { offset: Some(self.offset.unwrap_or_else(|| Offset::new(None))), is_adjustable: true }
    }

    /// Returns whether this is a simulated clock.
    pub fn is_simulated(&self) -> bool {
        self.offset.as_ref().is_some_and(|offset| offset.simulated_start_ms.is_some())
    }

    /// Returns whether clients may advance the clock.
    pub fn is_adjustable(&self) -> bool {
        self.is_adjustable
    }

    /// Returns the current time in milliseconds since the epoch.
    pub fn now_ms(&self) -> i64 {
        match &self.offset {
            Some(offset) => {
                let start_ms = offset.simulated_start_ms.unwrap_or_else(machine_ms);
                start_ms.saturating_add(offset.moved_ms.load(Ordering::SeqCst))
            }
            None => machine_ms(),
        }
    }

    /// Returns the current time, truncated to milliseconds.
    pub fn now(&self) -> Timestamp {
        from_ms(self.now_ms())
    }

    /// Returns the time that other machines have, in milliseconds since the epoch: that of the machine's clock, however far clients
    /// have advanced this one. A simulated clock returns its own time.
    pub fn external_ms(&self) -> i64 {
        if self.is_simulated() { self.now_ms() } else { machine_ms() }
    }

    /// Returns how far the clock was moved, in milliseconds. It is 0 for the machine's clock.
    pub fn moved_ms(&self) -> i64 {
        self.offset.as_ref().map_or(0, |offset| offset.moved_ms.load(Ordering::SeqCst))
    }

    /// Advances the clock, and wakes those that wait for [moves](Self::moves). Has no effect on the machine's clock.
    pub fn advance(&self, by: Duration) {
        if let Some(offset) = &self.offset {
            let by_ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
            offset.moved_ms.fetch_add(by_ms, Ordering::SeqCst);
            offset.moves.send_replace(());
        }
    }

    /// Sets a simulated clock, forward or back. Has no effect on other clocks.
    pub fn set(&self, now: Timestamp) {
        if let Some(offset) = &self.offset
            && let Some(start_ms) = offset.simulated_start_ms
        {
            offset.moved_ms.store(now.as_millisecond() - start_ms, Ordering::SeqCst);
        }
    }

    /// Returns the moves of the clock from now on. Only a clock that clients may advance has any: jobs that wait for a time of the clock
    /// check it again after each move.
    pub fn moves(&self) -> ClockMoves {
        ClockMoves(self.offset.as_ref().filter(|_| self.is_adjustable).map(|offset| offset.moves.subscribe()))
    }
}

/// The moves of a clock.
#[derive(Debug)]
pub struct ClockMoves(Option<watch::Receiver<()>>);

impl ClockMoves {
    /// Waits until the clock is advanced. Returns at once if it was since the previous call.
    pub async fn next(&mut self) {
        if let Some(moves) = &mut self.0
            && moves.changed().await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }

    /// Sleeps for this time, or until the clock is advanced.
    pub async fn sleep(&mut self, duration: Duration) {
        tokio::select! {
            () = tokio::time::sleep(duration) => {}
            () = self.next() => {}
        }
    }
}

/// Returns the time of the machine's clock in milliseconds since the epoch.
#[allow(clippy::disallowed_methods, reason = "only the clock may read the machine's time")]
fn machine_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Converts milliseconds since the epoch to a time, clamped to the range of [`Timestamp`].
pub fn from_ms(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// Truncates a time to whole milliseconds.
pub fn truncate_to_ms(time: Timestamp) -> Timestamp {
    from_ms(time.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[tokio::test]
    async fn an_adjustable_clock_follows_the_machine_with_an_offset() {
        let clock = Clock::system().adjustable();
        let mut moves = clock.moves();
        clock.clone().advance(DAY);
        moves.next().await;
        assert_eq!(clock.moved_ms(), 86_400_000);
        let ahead_ms = clock.now_ms() - clock.external_ms();
        assert!((86_399_000..=86_401_000).contains(&ahead_ms), "{ahead_ms}");
        clock.set(Timestamp::UNIX_EPOCH);
        assert_eq!(clock.moved_ms(), 86_400_000, "it is never set back");
        let again = tokio::time::timeout(Duration::from_millis(10), moves.next()).await;
        assert!(again.is_err(), "the move was returned before");
    }

    #[tokio::test]
    async fn other_clocks_have_no_moves() {
        let simulated = Clock::simulated(Timestamp::UNIX_EPOCH);
        for clock in [Clock::system(), simulated.clone()] {
            let mut moves = clock.moves();
            clock.advance(DAY);
            let next = tokio::time::timeout(Duration::from_millis(10), moves.next()).await;
            assert!(next.is_err() && !clock.is_adjustable());
        }
        assert_eq!((simulated.now_ms(), simulated.external_ms()), (86_400_000, 86_400_000));
        simulated.set(Timestamp::UNIX_EPOCH);
        assert_eq!(simulated.now_ms(), 0);
    }
}
