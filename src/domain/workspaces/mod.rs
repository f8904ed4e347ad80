//! Workspaces, their owners and their quotas.

mod mode;
mod write;

use entity::workspaces::{self, Model};
use jiff::Timestamp;

use super::error::NotFound;
use super::records::{id, not_found};
use super::{Error, FieldUpdate, IdOrKey, Result};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Workspace as WorkspaceIdKind, WorkspaceId};

pub use mode::Mode;
pub use write::{OwnershipTransfer, create, require_second_factor, set_owner, set_quota, upsert};

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The workspace's id.
    pub id: WorkspaceId,
    /// The short, unique name by which commands and changes refer to the workspace.
    pub key: String,
    /// The display name.
    pub name: String,
    /// The owner's email address, which receives warnings. The owner's access cannot be removed.
    pub owner_email: String,
    /// The custom quota of the workspace.
    pub quota: Quota,
    /// Whether members who sign in with a password or a link need a second factor.
    pub requires_second_factor: bool,
    /// Whether the data is live data or test data.
    pub mode: Mode,
    /// The workspace whose sandbox this is.
    pub live_workspace: Option<WorkspaceId>,
    /// When the workspace was created.
    pub created_at: Timestamp,
    /// When the workspace was last updated.
    pub updated_at: Timestamp,
}

impl Workspace {
    /// Returns the workspace to which the members belong: that of which this one is the sandbox, or itself.
    pub fn account(&self) -> WorkspaceId {
        self.live_workspace.unwrap_or(self.id)
    }

    /// Rejects a sandbox, which has no members of its own.
    ///
    /// # Errors
    /// Returns [`Error::Invalid`] for `workspace` when it is a sandbox.
    pub(crate) fn check_has_members(&self) -> Result<()> {
        let message = "is a sandbox; its members are those of its live workspace, so change these";
        self.live_workspace.map_or(Ok(()), |_| Err(Error::invalid("workspace", message)))
    }
}

/// A custom quota of a key or a workspace. A limit that is `None` falls back from the key to the workspace, and from there to
/// the configured default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    /// Maximum number of requests per clock minute, at least 1.
    pub per_minute: Option<i32>,
    /// Maximum number of requests per UTC day, at least 1.
    pub per_day: Option<i32>,
}

/// The data of a `workspace.upsert` change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceUpsert {
    /// The key of the workspace: 1 to 64 characters of `a-z`, `0-9` and `-`.
    pub key: String,
    /// The display name.
    pub name: String,
    /// The owner's email address, which receives warnings.
    pub owner_email: String,
    /// The custom limit per clock minute.
    pub per_minute: FieldUpdate<i32>,
    /// The custom limit per UTC day.
    pub per_day: FieldUpdate<i32>,
}

/// Returns the workspace with this key.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace does not exist.
pub async fn by_key(app: &App, key: &str) -> Result<Workspace> {
    let row = workspaces::by_key(app.db.read(), key).await?;
    row.map(workspace).ok_or_else(|| workspace_not_found(key))
}

/// Returns the workspace with this key, read in an open transaction. A sandbox is not reset or deleted until the transaction ends.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace does not exist.
pub async fn by_key_in(write: &Write, key: &str) -> Result<Workspace> {
    let row = workspaces::by_key(write.conn(), key).await?;
    let workspace = row.map(workspace).ok_or_else(|| workspace_not_found(key))?;
    if workspace.mode == Mode::Test && !lock_shared(write, workspace.id).await? {
        return Err(Error::lost_race());
    }
    Ok(workspace)
}

/// Locks a workspace in shared mode, so that it is not reset or deleted until the transaction ends. Returns false if it was before.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn lock_shared(write: &Write, workspace: WorkspaceId) -> Result<bool> {
    Ok(workspaces::lock_shared(write.conn(), workspace.uuid()).await?)
}

/// Returns the workspace with this id.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace does not exist.
pub async fn get(app: &App, workspace_id: WorkspaceId) -> Result<Workspace> {
    let row = workspaces::by_id(app.db.read(), workspace_id.uuid()).await?;
    row.map(workspace).ok_or_else(|| not_found::<WorkspaceIdKind>(workspace_id))
}

/// Returns the workspace with this id, read in an open transaction.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace does not exist.
pub async fn get_in(write: &Write, workspace_id: WorkspaceId) -> Result<Workspace> {
    let row = workspaces::by_id(write.conn(), workspace_id.uuid()).await?;
    row.map(workspace).ok_or_else(|| not_found::<WorkspaceIdKind>(workspace_id))
}

/// Returns the workspace with this id or key.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace does not exist.
pub async fn find(app: &App, reference: &IdOrKey) -> Result<Workspace> {
    match reference.id::<WorkspaceIdKind>() {
        Some(id) => get(app, id).await,
        None => by_key(app, reference.as_str()).await,
    }
}

/// Returns all workspaces, sorted by key.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn list(app: &App) -> Result<Vec<Workspace>> {
    Ok(workspaces::list(app.db.read()).await?.into_iter().map(workspace).collect())
}

fn workspace_not_found(key: &str) -> Error {
    Error::NotFound(NotFound::Workspace { key: key.chars().take(64).collect() })
}

pub(crate) fn workspace(row: Model) -> Workspace {
    Workspace {
        id: id(row.id),
        key: row.key,
        name: row.name,
        owner_email: row.owner_email,
        quota: Quota { per_minute: row.per_minute, per_day: row.per_day },
        requires_second_factor: row.requires_second_factor,
        mode: Mode::from_column(&row.mode),
        live_workspace: row.live_workspace_id.map(id),
        created_at: from_ms(row.created_at),
        updated_at: from_ms(row.updated_at),
    }
}
