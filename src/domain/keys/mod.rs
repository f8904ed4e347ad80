//! API keys: made, listed, revoked, and recognised at every request.
//!
//! The secret leaves this module once, as the result of [`create`]; what is stored is its SHA-256.

use jiff::Timestamp;
use secrecy::SecretString;

use super::Result;
use super::scope::Scopes;
use super::workspaces::Quota;
use crate::app::App;
use crate::database::Write;
use crate::id::{KeyId, WorkspaceId};

mod cache;

pub use cache::Principals;

/// Requests in a clock minute without a custom quota (seed 8).
pub const PER_MINUTE: i32 = 60;
/// Requests in a UTC day without a custom quota (seed 8).
pub const PER_DAY: i32 = 1000;

/// A key as it is shown: everything but the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id.
    pub id: KeyId,
    /// Where it opens.
    pub workspace: WorkspaceId,
    /// Given by its maker.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// The secret's first 12 characters.
    pub prefix: String,
    /// The secret's last 4 characters.
    pub last4: String,
    /// Its own quota, where it has one.
    pub quota: Quota,
    /// Creation.
    pub created_at: Timestamp,
    /// Last use, up to a minute late.
    pub last_used_at: Option<Timestamp>,
    /// From then on it is refused.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// A key to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// 1 to 200 characters.
    pub name: String,
    /// At least one.
    pub scopes: Scopes,
    /// Its own quota.
    pub quota: Quota,
    /// When it ends; must lie in the future.
    pub expires_at: Option<Timestamp>,
}

/// Who calls: what a valid key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Principal {
    /// The key.
    pub key: KeyId,
    /// Its workspace.
    pub workspace: WorkspaceId,
    /// What it may do.
    pub scopes: Scopes,
    /// Requests in a clock minute.
    pub per_minute: i32,
    /// Requests in a UTC day.
    pub per_day: i32,
    /// From then on it is refused.
    pub expires_at: Option<Timestamp>,
}

/// Makes a key; the secret comes out here and nowhere else.
///
/// # Errors
/// [`super::Error::NotFound`] for an absent workspace, [`super::Error::Invalid`] for a key without a scope,
/// with a bad name or quota, or that ends in the past.
pub async fn create(
    _app: &App,
    _write: &mut Write,
    _workspace: WorkspaceId,
    _key: NewKey,
) -> Result<(KeyRecord, SecretString)> {
    todo!()
}

/// The keys of a workspace, newest first, revoked and expired ones included.
///
/// # Errors
/// [`super::Error::Internal`] when the database fails.
pub async fn list(_app: &App, _workspace: WorkspaceId) -> Result<Vec<KeyRecord>> {
    todo!()
}

/// Revokes a key, in this process from the commit on, in others within 2 s. Once more changes nothing.
///
/// `workspace` is `None` for the operator, whose ids are not bound to one.
///
/// # Errors
/// [`super::Error::NotFound`] when there is no such key in the workspace.
pub async fn revoke(
    _app: &App,
    _write: &mut Write,
    _workspace: Option<WorkspaceId>,
    _key: KeyId,
) -> Result<KeyRecord> {
    todo!()
}

/// Who a presented secret stands for; `None` when it is malformed, unknown, expired or revoked.
///
/// A secret with a wrong checksum never reaches the database.
///
/// # Errors
/// [`super::Error::Internal`] when the database fails.
pub async fn authenticate(_app: &App, _secret: &str) -> Result<Option<Principal>> {
    todo!()
}

/// Writes the last use of each key used since the last flush; the server calls it now and then and at its end.
/// Returns how many keys.
///
/// # Errors
/// [`super::Error::Internal`] when the database fails; the uses are then kept for the next flush.
pub async fn flush_used(_app: &App) -> Result<usize> {
    todo!()
}
