//! Detects changes of a workspace's courses, so that caches can be invalidated.
//!
//! [`CatalogEpochs`] counts the changes committed by this process. [`version`] covers all processes: each change writes a new
//! version in its own transaction.

use dashmap::DashMap;
use entity::server_state;

use crate::Result;
use crate::app::App;
use foundation::clock;
use foundation::database::Write;
use foundation::id::{EventId, WorkspaceId};

/// Number of changes of the courses per workspace, committed by this process. The `App` holds one.
#[derive(Debug, Default)]
pub struct CatalogEpochs {
    epochs: DashMap<WorkspaceId, u64>,
}

impl CatalogEpochs {
    /// Returns the number of changes of the workspace's courses that this process has committed.
    pub fn epoch(&self, workspace: WorkspaceId) -> u64 {
        self.epochs.get(&workspace).map_or(0, |epoch| *epoch)
    }

    fn increment(&self, workspace: WorkspaceId) {
        *self.epochs.entry(workspace).or_default() += 1;
    }
}

/// Returns the version of a workspace's courses across all processes: a string that differs after each change, `None` before
/// the first.
///
/// Read the version before the courses: a reader may then store newer courses with an older version, which its next check
/// replaces.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn version(app: &App, workspace: WorkspaceId) -> Result<Option<String>> {
    Ok(server_state::get(app.db.read(), &state_key(workspace)).await?)
}

/// Marks the workspace's courses as changed when the write commits. Call it as the last statement of a change, because
/// concurrent writers of a workspace wait for each other here.
pub(super) async fn mark_changed(app: &App, write: &mut Write, workspace: WorkspaceId) -> Result<()> {
    // Any string that was never used before works.
    let version: EventId = app.ids.next(clock::from_ms(write.now_ms()));
    server_state::put(write.conn(), &state_key(workspace), &version.uuid().to_string()).await?;
    let app = app.clone();
    write.after_commit(move || app.catalog().increment(workspace));
    Ok(())
}

fn state_key(workspace: WorkspaceId) -> String {
    format!("catalogue/{}", workspace.uuid())
}
