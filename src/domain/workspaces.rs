//! Workspaces and their quotas.

use jiff::Timestamp;

use super::{Given, Result};
use crate::app::App;
use crate::database::Write;
use crate::id::WorkspaceId;

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Short and unique on the server, as commands and changes name it.
    pub key: String,
    /// Shown to people.
    pub name: String,
    /// Where warnings go.
    pub owner_email: String,
    /// Its own quota, where it has one.
    pub quota: Quota,
    /// Creation.
    pub created_at: Timestamp,
    /// Last recorded change.
    pub updated_at: Timestamp,
}

/// A custom quota; `None` falls back to the next: key, workspace, [`super::keys::PER_MINUTE`] and `PER_DAY`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    /// Requests in a clock minute, at least 1.
    pub per_minute: Option<i32>,
    /// Requests in a UTC day, at least 1.
    pub per_day: Option<i32>,
}

/// What `workspace.upsert` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceUpsert {
    /// 1 to 64 of `a-z`, `0-9` and `-`.
    pub key: String,
    /// Shown to people.
    pub name: String,
    /// Where warnings go.
    pub owner_email: String,
    /// Custom quota of the minute.
    pub per_minute: Given<i32>,
    /// Custom quota of the day.
    pub per_day: Given<i32>,
}

/// Makes or changes a workspace.
///
/// # Errors
/// [`super::Error::Invalid`] for values out of their bounds.
pub async fn upsert(
    _app: &App,
    _write: &mut Write,
    _at: Timestamp,
    _upsert: WorkspaceUpsert,
) -> Result<WorkspaceId> {
    todo!()
}

/// The workspace with this key.
///
/// # Errors
/// [`super::Error::NotFound`] when there is none.
pub async fn by_key(_app: &App, _key: &str) -> Result<Workspace> {
    todo!()
}

/// The workspace with this key, as an open write sees it.
///
/// # Errors
/// [`super::Error::NotFound`] when there is none.
pub async fn by_key_in(_write: &mut Write, _key: &str) -> Result<Workspace> {
    todo!()
}

/// The workspace with this id.
///
/// # Errors
/// [`super::Error::NotFound`] when there is none.
pub async fn get(_app: &App, _workspace: WorkspaceId) -> Result<Workspace> {
    todo!()
}

/// Every workspace, by key.
///
/// # Errors
/// [`super::Error::Internal`] when the database fails.
pub async fn list(_app: &App) -> Result<Vec<Workspace>> {
    todo!()
}

/// Sets a workspace's custom quota whole; `None` takes a part of it away.
///
/// # Errors
/// [`super::Error::NotFound`] when there is no such workspace, [`super::Error::Invalid`] for a cap below 1.
pub async fn set_quota(
    _app: &App,
    _write: &mut Write,
    _workspace: WorkspaceId,
    _quota: Quota,
) -> Result<Workspace> {
    todo!()
}
