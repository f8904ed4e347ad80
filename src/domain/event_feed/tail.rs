//! What the readers of the event feed in a process share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;
use uuid::Uuid;

/// Maximum number of pages that this process reads at the same time, so that many readers leave connections for others.
const MAX_CONCURRENT_READS: usize = 4;
/// Maximum number of readers of this process that wait for events. Each occupies a connection of a client.
pub const MAX_WAITING_READERS: usize = 512;

/// What readers of the feed share: permits to read, and one task per process that asks the database for new events while readers
/// wait.
#[derive(Debug, Clone)]
pub(crate) struct EventTail {
    state: Arc<Mutex<TailState>>,
    /// The highest id of an event that can be read.
    newest: watch::Sender<Uuid>,
    reads: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct TailState {
    /// The number of readers that wait.
    readers: usize,
    /// Whether the task runs.
    is_running: bool,
    /// Whether the server stops, so that nobody waits any longer.
    is_stopping: bool,
}

impl Default for EventTail {
    fn default() -> Self {
        let reads = Arc::new(Semaphore::new(MAX_CONCURRENT_READS));
        Self { state: Arc::default(), newest: watch::Sender::new(Uuid::nil()), reads }
    }
}

/// A waiting reader, until it is dropped.
pub(super) struct WaitingReader<'a>(&'a EventTail);

impl Drop for WaitingReader<'_> {
    fn drop(&mut self) {
        self.0.state().readers -= 1;
    }
}

impl EventTail {
    fn state(&self) -> MutexGuard<'_, TailState> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit to read a page.
    pub(super) async fn read_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.reads).acquire_owned().await.ok()
    }

    /// Waits until an event with a higher id can be read, and then for a permit to read. Returns `None` at the deadline, and
    /// when the server stops. The reader must be registered.
    pub(super) async fn wait_beyond(&self, id: Uuid, deadline: Instant) -> Option<OwnedSemaphorePermit> {
        let mut newest = self.newest.subscribe();
        let wait = async {
            // The sender lives as long as the app.
            let _ = newest.wait_for(|newest| *newest > id).await;
            if self.state().is_stopping { None } else { self.read_permit().await }
        };
        tokio::time::timeout_at(deadline, wait).await.ok().flatten()
    }

    /// Counts a reader. The second value is true if the caller must start [`poll_newest`](super::poll_newest), which does not run.
    /// Returns `None` if too many readers wait.
    pub(super) fn register(&self) -> Option<(WaitingReader<'_>, bool)> {
        let mut state = self.state();
        if state.readers == MAX_WAITING_READERS {
            return None;
        }
        state.readers += 1;
        let must_start = !std::mem::replace(&mut state.is_running, true);
        drop(state);
        Some((WaitingReader(self), must_start))
    }

    /// Wakes the readers if there is a new event.
    pub(super) fn set_newest(&self, newest: Uuid) {
        // Locked until the end, so that `stop_waiting` cannot come in between.
        let state = self.state();
        if !state.is_stopping {
            self.newest.send_if_modified(|known| std::mem::replace(known, newest) != newest);
        }
    }

    /// Returns whether the task ends, because no reader waits or the server stops. The next reader then starts it again.
    pub(super) fn ends_task(&self) -> bool {
        let mut state = self.state();
        state.is_running = state.readers > 0 && !state.is_stopping;
        !state.is_running
    }

    /// Ends all waits, now and later.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        state.is_stopping = true;
        self.newest.send_replace(Uuid::max());
    }

    /// Returns whether [`stop`](Self::stop) was called.
    pub(super) fn is_stopping(&self) -> bool {
        self.state().is_stopping
    }
}
