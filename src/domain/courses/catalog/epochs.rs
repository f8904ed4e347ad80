//! Counts the changes of courses in this process.

use dashmap::DashMap;
use foundation::id::WorkspaceId;

/// Counts the changes of courses that this process has committed, per workspace. Part of the `App`.
#[derive(Debug, Default)]
pub struct CatalogEpochs {
    epochs: DashMap<WorkspaceId, u64>,
}

impl CatalogEpochs {
    /// Returns the number of changes of the workspace's courses that this process has committed.
    pub fn epoch(&self, workspace: WorkspaceId) -> u64 {
        self.epochs.get(&workspace).map_or(0, |epoch| *epoch)
    }

    pub(super) fn increment(&self, workspace: WorkspaceId) {
        *self.epochs.entry(workspace).or_default() += 1;
    }
}
