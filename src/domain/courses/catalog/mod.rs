//! Detects changes of a workspace's courses (its catalog), so that caches of the courses can be invalidated.
//!
//! [`CatalogEpochs`] counts the changes committed by this process. [`version`] includes the changes of all processes:
//! each change writes a new version in its own transaction.

mod epochs;

use entity::server_state;

use crate::Result;
use crate::app::App;
use foundation::clock;
use foundation::database::Write;
use foundation::id::{EventId, WorkspaceId};

pub use epochs::CatalogEpochs;

/// Returns the version of a workspace's courses across all processes: a string that differs after each change. `None`
/// before the first change.
///
/// Read the version before the courses. If they change in between, a cache stores the new courses with the old version,
/// and its next check reads them again. In the opposite order, it would keep old courses with the new version.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn version(app: &App, workspace: WorkspaceId) -> Result<Option<String>> {
    Ok(server_state::get(app.db.read(), &state_key(workspace)).await?)
}

/// Records in this write that the workspace's courses changed. Call this last in a change, because concurrent changes
/// of courses in a workspace wait for each other here until the commit.
pub(super) async fn mark_changed(app: &App, write: &mut Write, workspace: WorkspaceId) -> Result<()> {
    // A version only has to be unique, so a new event id serves as one.
    let version: EventId = app.ids.next(clock::from_ms(write.now_ms()));
    server_state::put(write.conn(), &state_key(workspace), &version.uuid().to_string()).await?;
    let app = app.clone();
    write.after_commit(move || app.catalog().increment(workspace));
    Ok(())
}

fn state_key(workspace: WorkspaceId) -> String {
    // Databases contain this spelling.
    format!("catalogue/{}", workspace.uuid())
}
