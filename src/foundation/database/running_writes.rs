//! Tracks the running writes of this process and the horizons returned to readers.
//!
//! The recording time of a write is the `updated_at` of its rows. A horizon is a time that no running or later write
//! precedes: a reader that has read all rows before the horizon misses none. Times are milliseconds since the epoch.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, futures::OwnedNotified};

/// The running writes of this process.
#[derive(Debug, Default)]
pub(super) struct RunningWrites {
    state: Mutex<RunningState>,
    started: Arc<Notify>,
}

#[derive(Debug, Default)]
struct RunningState {
    /// The number of running writes by recording time.
    by_recording_time: BTreeMap<i64, usize>,
    /// The highest horizon returned to a reader. No later write records an earlier time, even if the clock is set back.
    max_horizon: i64,
}

/// A registered write, removed on drop.
#[derive(Debug)]
pub(super) struct RegisteredWrite {
    writes: Arc<RunningWrites>,
    recording_time: i64,
}

impl RunningWrites {
    /// Registers a write whose transaction has begun. Reads the clock while the mutex is locked: a reader that does not find the
    /// write here has read the clock before it, so its horizon is not after the recording time.
    pub(super) fn register(self: &Arc<Self>, clock: impl Fn() -> i64) -> RegisteredWrite {
        let mut state = self.state();
        let recording_time = clock().max(state.max_horizon);
        *state.by_recording_time.entry(recording_time).or_default() += 1;
        drop(state);
        self.started.notify_waiters();
        RegisteredWrite { writes: Arc::clone(self), recording_time }
    }

    /// Returns `horizon`, or the recording time of the oldest running write if that is earlier. Later writes do not
    /// record a time before the returned one.
    pub(super) fn record_horizon(&self, horizon: i64) -> i64 {
        let mut state = self.state();
        let oldest = state.by_recording_time.keys().next().copied();
        let horizon = oldest.map_or(horizon, |oldest| oldest.min(horizon));
        state.max_horizon = state.max_horizon.max(horizon);
        horizon
    }

    /// Returns the recording time of the oldest running write, or `None` if no write is running.
    pub(super) fn oldest(&self) -> Option<i64> {
        self.state().by_recording_time.keys().next().copied()
    }

    /// Returns a future that resolves when the next write is registered after this call.
    pub(super) fn next_start(&self) -> OwnedNotified {
        Arc::clone(&self.started).notified_owned()
    }

    fn state(&self) -> MutexGuard<'_, RunningState> {
        // No code panics while it holds the lock, so a poisoned lock is not possible.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RegisteredWrite {
    /// Returns the recording time of the write.
    pub(super) fn recording_time(&self) -> i64 {
        self.recording_time
    }
}

impl Drop for RegisteredWrite {
    fn drop(&mut self) {
        let mut state = self.writes.state();
        if let Some(count) = state.by_recording_time.get_mut(&self.recording_time) {
            *count -= 1;
            if *count == 0 {
                state.by_recording_time.remove(&self.recording_time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_horizon_is_the_oldest_running_write() {
        let writes = Arc::new(RunningWrites::default());
        assert_eq!(writes.record_horizon(10), 10);
        let first = writes.register(|| 20);
        let second = writes.register(|| 20);
        let third = writes.register(|| 30);
        drop(first);
        assert_eq!(writes.record_horizon(40), 20);
        drop(second);
        assert_eq!(writes.record_horizon(40), 30);
        drop(third);
        assert_eq!(writes.oldest(), None);
        assert_eq!(writes.record_horizon(40), 40);
    }

    #[test]
    fn a_write_after_the_clock_was_set_back_is_not_before_the_horizon() {
        let writes = Arc::new(RunningWrites::default());
        writes.record_horizon(100);
        assert_eq!(writes.register(|| 50).recording_time(), 100);
    }
}
