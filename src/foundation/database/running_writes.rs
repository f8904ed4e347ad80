//! Tracks the running writes of this process. Times are milliseconds since the epoch.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The running writes of this process: their number by a time that is not after their recording time.
#[derive(Debug, Default)]
pub(super) struct RunningWrites(Mutex<BTreeMap<i64, usize>>);

/// A registered write, removed on drop.
#[derive(Debug)]
pub(super) struct RegisteredWrite {
    writes: Arc<RunningWrites>,
    recording_time: i64,
}

impl RunningWrites {
    /// Registers a write.
    pub(super) fn register(self: &Arc<Self>, recording_time: i64) -> RegisteredWrite {
        *self.by_recording_time().entry(recording_time).or_default() += 1;
        RegisteredWrite { writes: Arc::clone(self), recording_time }
    }

    /// Returns the recording time of the oldest running write, or `None` if no write is running.
    pub(super) fn oldest(&self) -> Option<i64> {
        self.by_recording_time().keys().next().copied()
    }

    fn by_recording_time(&self) -> MutexGuard<'_, BTreeMap<i64, usize>> {
        // No code panics while it holds the lock, so a poisoned lock is not possible.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RegisteredWrite {
    fn drop(&mut self) {
        let mut writes = self.writes.by_recording_time();
        if let Some(count) = writes.get_mut(&self.recording_time) {
            *count -= 1;
            if *count == 0 {
                writes.remove(&self.recording_time);
            }
        }
    }
}
