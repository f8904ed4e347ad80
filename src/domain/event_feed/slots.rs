//! The readers of the event feed, and the limits of those that are open at the same time: of a key, of a workspace, and of this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use crate::workspaces::Mode;
use foundation::id::{KeyId, WorkspaceId};

/// Who reads, which determines whose events are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedReader {
    /// The platform, which reads the events of all workspaces, or those of one.
    Platform {
        /// Only events of this workspace.
        workspace: Option<WorkspaceId>,
        /// Only events of workspaces with this mode.
        mode: Mode,
    },
    /// An API key, which reads the events of its workspace.
    Key {
        /// The workspace of the key.
        workspace: WorkspaceId,
        /// The key.
        key: KeyId,
    },
}

impl FeedReader {
    /// Returns the workspace whose events are read; `None` for all.
    pub(super) fn workspace(self) -> Option<WorkspaceId> {
        match self {
            Self::Platform { workspace, .. } => workspace,
            Self::Key { workspace, .. } => Some(workspace),
        }
    }

    /// Returns the mode of the workspaces whose events are read; `None` for all.
    pub(super) fn mode(self) -> Option<Mode> {
        match self {
            Self::Platform { mode, .. } => Some(mode),
            Self::Key { .. } => None,
        }
    }
}

/// Counts open readers. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub(super) struct ReaderSlots(Arc<Mutex<HashMap<Uuid, usize>>>);

/// The slot of an open reader, until it is dropped.
#[derive(Debug)]
pub struct ReaderSlot {
    counts: ReaderSlots,
    ids: Vec<Uuid>,
}

impl ReaderSlots {
    fn counts(&self) -> MutexGuard<'_, HashMap<Uuid, usize>> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a reader for each of these ids, which have a maximum number of readers. Returns `None` if one of them has its maximum.
    pub(super) fn acquire(&self, limits: &[(Uuid, usize)]) -> Option<ReaderSlot> {
        let mut counts = self.counts();
        if limits.iter().any(|(id, max)| counts.get(id).is_some_and(|count| count >= max)) {
            return None;
        }
        let ids: Vec<Uuid> = limits.iter().map(|(id, _)| *id).collect();
        ids.iter().for_each(|id| *counts.entry(*id).or_default() += 1);
        drop(counts);
        Some(ReaderSlot { counts: self.clone(), ids })
    }
}

impl Drop for ReaderSlot {
    fn drop(&mut self) {
        let mut counts = self.counts.counts();
        for id in &self.ids {
            if let Some(count) = counts.get_mut(id) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(id);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_has_its_own_maximum() {
        let slots = ReaderSlots::default();
        let (key, workspace) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let acquire = |key| slots.acquire(&[(key, 2), (workspace, 3)]);
        let first = acquire(key).expect("a slot");
        let _second = acquire(key).expect("a slot");
        assert!(acquire(key).is_none());
        let _other = acquire(Uuid::from_u128(3)).expect("a slot");
        drop(first);
        let _again = acquire(key).expect("a slot");
        assert!(acquire(Uuid::from_u128(4)).is_none(), "the workspace has three");
    }
}
