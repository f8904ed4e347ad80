//! What the readers of the event feed in a process share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;
use uuid::Uuid;

use super::slots::{FeedReader, ReaderSlot, ReaderSlots};
use foundation::id::WorkspaceId;

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
    newest: watch::Sender<NewestEvents>,
    /// Notified after a commit with events.
    commits: Arc<Notify>,
    platform_reads: Arc<Semaphore>,
    key_reads: Arc<Semaphore>,
    waiting: ReaderSlots,
    streams: ReaderSlots,
}

/// The newest events that can be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NewestEvents {
    /// The highest id of an event.
    pub(super) all: Uuid,
    /// An id for each workspace that had waiting readers when this was determined: its events up to `all` have no higher id.
    pub(super) by_workspace: HashMap<Uuid, Uuid>,
}

impl NewestEvents {
    /// Returns an id such that the reader can wait if it has read all events up to this id. Readers of a workspace that is not known
    /// wait for events of any workspace.
    fn of(&self, reader: FeedReader) -> Uuid {
        let workspace = reader.workspace().map(WorkspaceId::uuid);
        workspace.and_then(|id| self.by_workspace.get(&id)).copied().unwrap_or(self.all)
    }
}

#[derive(Debug, Default)]
struct TailState {
    /// The number of readers that wait.
    readers: usize,
    /// The number of readers that wait for events of each workspace.
    workspaces: HashMap<Uuid, usize>,
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
            newest: watch::Sender::new(NewestEvents::default()),
            commits: Arc::default(),
            platform_reads: reads(),
            key_reads: reads(),
            waiting: ReaderSlots::default(),
            streams: ReaderSlots::default(),
        }
    }
}

/// A waiting reader, until it is dropped.
pub(super) struct WaitingReader<'a>(&'a EventTail, FeedReader);

impl Drop for WaitingReader<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.readers -= 1;
        if let Some(workspace) = self.1.workspace().map(WorkspaceId::uuid)
            && let Some(count) = state.workspaces.get_mut(&workspace)
        {
            *count -= 1;
            if *count == 0 {
                state.workspaces.remove(&workspace);
            }
        }
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

    /// Waits until an event of the reader with a higher id can be read, and then for a permit to read. Returns `None` at the
    /// deadline, and when the server stops. May return although the reader's workspace has no new event. The reader must be
    /// registered.
    pub(super) async fn wait_beyond(
        &self,
        reader: FeedReader,
        id: Uuid,
        deadline: Instant,
    ) -> Option<OwnedSemaphorePermit> {
        let mut newest = self.newest.subscribe();
        let wait = async {
            // The sender lives as long as the app.
            let _ = newest.wait_for(|newest| newest.of(reader) > id).await;
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
    pub(super) fn register(&self, reader: FeedReader) -> (WaitingReader<'_>, bool) {
        let mut state = self.state();
        state.readers += 1;
        if let Some(workspace) = reader.workspace() {
            *state.workspaces.entry(workspace.uuid()).or_default() += 1;
        }
        let must_start = !std::mem::replace(&mut state.is_running, true);
        drop(state);
        (WaitingReader(self, reader), must_start)
    }

    /// Returns the workspaces that have waiting readers.
    pub(super) fn waiting_workspaces(&self) -> Vec<Uuid> {
        self.state().workspaces.keys().copied().collect()
    }

    /// Returns what [`set_newest`](Self::set_newest) set for a workspace.
    pub(super) fn newest_of(&self, workspace: Uuid) -> Option<Uuid> {
        self.newest.borrow().by_workspace.get(&workspace).copied()
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

    /// Wakes the readers that have new events.
    pub(super) fn set_newest(&self, newest: NewestEvents) {
        // Locked until the end, so that `stop_waiting` cannot come in between.
        let state = self.state();
        if !state.is_stopping {
            self.newest.send_replace(newest);
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
        self.newest.send_replace(NewestEvents { all: Uuid::max(), by_workspace: HashMap::new() });
    }

    /// Returns whether [`stop`](Self::stop) was called.
    pub(super) fn is_stopping(&self) -> bool {
        self.state().is_stopping
    }
}

#[cfg(test)]
mod tests {
    use foundation::id::KeyId;

    use super::*;
    use crate::workspaces::Mode;

    fn reader(workspace: u128) -> FeedReader {
        let workspace = WorkspaceId::from_uuid(Uuid::from_u128(workspace));
        FeedReader::Key { workspace, key: KeyId::from_uuid(Uuid::from_u128(9)) }
    }

    /// Returns whether the reader, which has read all events up to this id, reads now.
    async fn reads(tail: &EventTail, reader: FeedReader, id: u128) -> bool {
        tail.wait_beyond(reader, Uuid::from_u128(id), Instant::now()).await.is_some()
    }

    fn newest(all: u128, by_workspace: &[(u128, u128)]) -> NewestEvents {
        let ids = |(workspace, id): &(u128, u128)| (Uuid::from_u128(*workspace), Uuid::from_u128(*id));
        NewestEvents { all: Uuid::from_u128(all), by_workspace: by_workspace.iter().map(ids).collect() }
    }

    #[tokio::test]
    async fn events_of_other_workspaces_wake_no_reader() {
        let tail = EventTail::default();
        tail.set_newest(newest(20, &[(1, 10), (2, 20)]));
        assert!(!reads(&tail, reader(1), 10).await && reads(&tail, reader(1), 9).await);
        assert!(reads(&tail, reader(2), 10).await && !reads(&tail, reader(2), 20).await);
        // Nothing is known about this workspace.
        assert!(reads(&tail, reader(3), 10).await && !reads(&tail, reader(3), 20).await);
        assert!(reads(&tail, FeedReader::Platform { workspace: None, mode: Mode::Live }, 10).await);
    }

    #[test]
    fn a_workspace_has_readers_until_the_last_one_is_dropped() {
        let tail = EventTail::default();
        let (first, must_start) = tail.register(reader(1));
        let (second, _) = tail.register(reader(1));
        let (_platform, _) = tail.register(FeedReader::Platform { workspace: None, mode: Mode::Live });
        drop(first);
        assert!(must_start);
        assert_eq!(tail.waiting_workspaces(), [Uuid::from_u128(1)]);
        drop(second);
        assert_eq!(tail.waiting_workspaces(), Vec::<Uuid>::new());
    }
}
