//! What the readers of the event feed in a process share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;
use uuid::Uuid;

use super::slots::{FeedReader, ReaderSlot, ReaderSlots};

/// Maximum number of pages that this process reads at the same time for the platform, and for API keys, so that many readers leave
/// connections for others.
const MAX_CONCURRENT_READS: usize = 4;
/// Maximum number of readers of this process that wait for events of the platform. Each occupies a connection of a client.
pub const MAX_WAITING_READERS: usize = 512;
/// Maximum number of readers with API keys that wait for events, and of streams: of a process, and of a workspace.
const MAX_KEY_READERS: usize = 256;
const MAX_READERS_PER_WORKSPACE: usize = 16;
/// Maximum number of readers with one API key that wait for events.
const MAX_WAITING_PER_KEY: usize = 4;
/// Maximum number of streams of one API key.
pub const MAX_STREAMS_PER_KEY: usize = 2;

/// What readers of the feed share: permits to read, limits, and one task per process that asks the database for new events while
/// readers wait. The readers of the platform and those with API keys have permits of their own, so that neither starve the others.
#[derive(Debug, Clone)]
pub(crate) struct EventTail {
    state: Arc<Mutex<TailState>>,
    /// The highest id of an event that can be read.
    newest: watch::Sender<Uuid>,
    /// Notified after a commit with events.
    commits: Arc<Notify>,
    platform_reads: Arc<Semaphore>,
    key_reads: Arc<Semaphore>,
    waiting: ReaderSlots,
    streams: ReaderSlots,
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
        let reads = || Arc::new(Semaphore::new(MAX_CONCURRENT_READS));
        Self {
            state: Arc::default(),
            newest: watch::Sender::new(Uuid::nil()),
            commits: Arc::default(),
            platform_reads: reads(),
            key_reads: reads(),
            waiting: ReaderSlots::default(),
            streams: ReaderSlots::default(),
        }
    }
}

/// A waiting reader, until it is dropped.
pub(super) struct WaitingReader<'a>(&'a EventTail);

impl Drop for WaitingReader<'_> {
    fn drop(&mut self) {
        self.0.state().readers -= 1;
    }
}

/// Returns the limits of the readers of a key: of the process, of the workspace and of the key.
fn key_limits(workspace: Uuid, key: Uuid, max_per_key: usize) -> [(Uuid, usize); 3] {
    [(Uuid::max(), MAX_KEY_READERS), (workspace, MAX_READERS_PER_WORKSPACE), (key, max_per_key)]
}

impl EventTail {
    fn state(&self) -> MutexGuard<'_, TailState> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit to read a page.
    pub(super) async fn read_permit(&self, reader: FeedReader) -> Option<OwnedSemaphorePermit> {
        let reads = match reader {
            FeedReader::Platform { .. } => &self.platform_reads,
            FeedReader::Key { .. } => &self.key_reads,
        };
        Arc::clone(reads).acquire_owned().await.ok()
    }

    /// Waits until an event with a higher id can be read, and then for a permit to read. Returns `None` at the deadline, and
    /// when the server stops. The reader must be registered.
    pub(super) async fn wait_beyond(
        &self,
        reader: FeedReader,
        id: Uuid,
        deadline: Instant,
    ) -> Option<OwnedSemaphorePermit> {
        let mut newest = self.newest.subscribe();
        let wait = async {
            // The sender lives as long as the app.
            let _ = newest.wait_for(|newest| *newest > id).await;
            if self.state().is_stopping { None } else { self.read_permit(reader).await }
        };
        tokio::time::timeout_at(deadline, wait).await.ok().flatten()
    }

    /// Returns the slot of a request that waits for events. Returns `None` if too many wait.
    pub(super) fn waiting_slot(&self, reader: FeedReader) -> Option<ReaderSlot> {
        match reader {
            FeedReader::Platform { .. } => self.waiting.acquire(&[(Uuid::nil(), MAX_WAITING_READERS)]),
            FeedReader::Key { workspace, key } => {
                self.waiting.acquire(&key_limits(workspace.uuid(), key.uuid(), MAX_WAITING_PER_KEY))
            }
        }
    }

    /// Returns the slot of a stream with an API key. Returns `None` if too many are open.
    pub(super) fn stream_slot(&self, workspace: Uuid, key: Uuid) -> Option<ReaderSlot> {
        self.streams.acquire(&key_limits(workspace, key, MAX_STREAMS_PER_KEY))
    }

    /// Counts a reader. The second value is true if the caller must start [`poll_newest`](super::poll_newest), which does not run.
    pub(super) fn register(&self) -> (WaitingReader<'_>, bool) {
        let mut state = self.state();
        state.readers += 1;
        let must_start = !std::mem::replace(&mut state.is_running, true);
        drop(state);
        (WaitingReader(self), must_start)
    }

    /// Returns whether readers wait, so that a commit with events should [wake](Self::wake) the task.
    pub(crate) fn has_readers(&self) -> bool {
        self.state().readers > 0
    }

    /// Wakes the task after a commit with events.
    pub(crate) fn wake(&self) {
        self.commits.notify_one();
    }

    /// Waits for a commit of this process with events, at most for `timeout`. Returns whether there was one since the last wait.
    pub(super) async fn wait_for_commit(&self, timeout: Duration) -> bool {
        tokio::time::timeout(timeout, self.commits.notified()).await.is_ok()
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
