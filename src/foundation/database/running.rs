//! The writes of this process that are running, and what readers were promised about them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, futures::OwnedNotified};

/// Which writes run, by the time they record.
#[derive(Debug, Default)]
pub(super) struct Running {
    state: Mutex<State>,
    begun: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    /// Recording time of each running write, and how many have it.
    starts: BTreeMap<i64, usize>,
    /// The highest horizon that a reader was given. No later write records an earlier time, even when the clock is
    /// set back.
    promised: i64,
}

/// A running write. It runs until this is dropped.
#[derive(Debug)]
pub(super) struct Registered {
    running: Arc<Running>,
    start: i64,
}

impl Running {
    /// Registers a write that has its transaction. Its recording time is read here, under the lock, so that a reader
    /// either sees the write or has read the clock before it.
    pub(super) fn register(self: &Arc<Self>, clock: impl Fn() -> i64) -> Registered {
        let mut state = self.state();
        let start = clock().max(state.promised);
        *state.starts.entry(start).or_default() += 1;
        drop(state);
        self.begun.notify_waiters();
        Registered { running: Arc::clone(self), start }
    }

    /// Lowers a reader's horizon to the oldest running write, and holds later writes to it.
    pub(super) fn promise(&self, horizon: i64) -> i64 {
        let mut state = self.state();
        let oldest = state.starts.keys().next().copied();
        let horizon = oldest.map_or(horizon, |oldest| oldest.min(horizon));
        state.promised = state.promised.max(horizon);
        horizon
    }

    /// The recording time of the oldest running write.
    pub(super) fn oldest(&self) -> Option<i64> {
        self.state().starts.keys().next().copied()
    }

    /// Resolves when the next write is registered, counted from this call.
    pub(super) fn next_begun(&self) -> OwnedNotified {
        Arc::clone(&self.begun).notified_owned()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock, so that the state is whole even if the lock says otherwise.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registered {
    /// The recording time of the write.
    pub(super) fn start(&self) -> i64 {
        self.start
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut state = self.running.state();
        if let Some(writes) = state.starts.get_mut(&self.start) {
            *writes -= 1;
            if *writes == 0 {
                state.starts.remove(&self.start);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_horizon_is_the_oldest_running_write() {
        let running = Arc::new(Running::default());
        assert_eq!(running.promise(10), 10);
        let first = running.register(|| 20);
        let second = running.register(|| 20);
        let third = running.register(|| 30);
        drop(first);
        assert_eq!(running.promise(40), 20);
        drop(second);
        assert_eq!(running.promise(40), 30);
        drop(third);
        assert_eq!(running.oldest(), None);
        assert_eq!(running.promise(40), 40);
    }

    #[test]
    fn a_clock_set_back_does_not_break_a_promise() {
        let running = Arc::new(Running::default());
        running.promise(100);
        assert_eq!(running.register(|| 50).start(), 100);
    }
}
