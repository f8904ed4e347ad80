//! When a workspace's courses change: what a cache of them asks.
//!
//! [`Catalogue`] counts the changes that this process commits; [`version`] tells those of every process, from a text
//! that each change writes anew in its own transaction.

use dashmap::DashMap;
use entity::server_state;

use crate::Result;
use crate::app::App;
use foundation::clock;
use foundation::database::Write;
use foundation::id::{EventId, WorkspaceId};

/// How often the courses of each workspace have changed in this process; one stands in the `App`.
#[derive(Debug, Default)]
pub struct Catalogue {
    epochs: DashMap<WorkspaceId, u64>,
}

impl Catalogue {
    /// How many changes of the workspace's courses this process has committed.
    pub fn epoch(&self, workspace: WorkspaceId) -> u64 {
        self.epochs.get(&workspace).map_or(0, |epoch| *epoch)
    }

    fn changed(&self, workspace: WorkspaceId) {
        *self.epochs.entry(workspace).or_default() += 1;
    }
}

/// The version of a workspace's courses, of whatever process: another text after each change, `None` before the
/// first. Whoever reads it before the courses never has newer courses under an older version for good.
///
/// # Errors
/// [`crate::Error::Internal`] when the database fails.
pub async fn version(app: &App, workspace: WorkspaceId) -> Result<Option<String>> {
    Ok(server_state::get(app.db.read(), &name(workspace)).await?)
}

/// Marks the workspace's courses as changed, from the commit on. The last statement of a change, since writers of one
/// workspace meet in it.
pub(super) async fn mark(app: &App, write: &mut Write, workspace: WorkspaceId) -> Result<()> {
    // Any text that was never there before will do.
    let version: EventId = app.ids.next(clock::from_ms(write.now_ms()));
    server_state::put(write.conn(), &name(workspace), &version.uuid().to_string()).await?;
    let app = app.clone();
    write.after_commit(move || app.catalogue().changed(workspace));
    Ok(())
}

fn name(workspace: WorkspaceId) -> String {
    format!("catalogue/{}", workspace.uuid())
}
