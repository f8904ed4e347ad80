//! Keys made, listed and revoked.

use entity::api_keys::{self, Model};
use entity::{StringList, workspaces};
use secrecy::{ExposeSecret, SecretString};

use super::super::faults::Faults;
use super::super::find::{absent, fresh, id};
use super::super::workspaces::Quota;
use super::super::{Changed, Result};
use super::{KeyRecord, NewKey, secret};
use crate::app::App;
use crate::clock::from_ms;
use crate::database::Write;
use crate::id::{ApiKey as KeyKind, KeyId, Workspace as WorkspaceKind, WorkspaceId};

/// Makes a key; the secret comes out here and nowhere else.
///
/// # Errors
/// [`Error::NotFound`](crate::domain::Error::NotFound) for an absent workspace,
/// [`Error::Invalid`](crate::domain::Error::Invalid) for a key without a scope, with a bad name or quota, or that
/// ends in the past.
pub async fn create(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    key: NewKey,
) -> Result<(KeyRecord, SecretString)> {
    check(write, &key)?;
    if workspaces::by_id(write.conn(), workspace.uuid()).await?.is_none() {
        return Err(absent::<WorkspaceKind>(workspace));
    }
    let secret = secret::generate()?;
    let shown = secret.expose_secret();
    let row = Model {
        id: fresh::<KeyKind>(app, write),
        workspace_id: workspace.uuid(),
        name: key.name,
        scopes: StringList(key.scopes.iter().map(|scope| scope.as_str().to_owned()).collect()),
        secret_hash: secret::digest(shown).to_vec(),
        prefix: shown.chars().take(12).collect(),
        last4: shown[shown.len() - 4..].to_owned(),
        per_minute: key.quota.per_minute,
        per_day: key.quota.per_day,
        created_at: write.now_ms(),
        last_used_at: None,
        expires_at: key.expires_at.map(jiff::Timestamp::as_millisecond),
        revoked_at: None,
    };
    api_keys::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    Ok((record(row), secret))
}

/// The keys of a workspace, newest first, revoked and expired ones included.
///
/// # Errors
/// [`Error::Internal`](crate::domain::Error::Internal) when the database fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<KeyRecord>> {
    let rows = api_keys::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    Ok(rows.into_iter().rev().map(record).collect())
}

/// Revokes a key, in this process from the commit on, in others within 2 s. Once more changes nothing.
///
/// `workspace` is `None` for the operator, whose reach is not bound to one.
///
/// # Errors
/// [`Error::NotFound`](crate::domain::Error::NotFound) when there is no such key in the workspace.
pub async fn revoke(
    app: &App,
    write: &mut Write,
    workspace: Option<WorkspaceId>,
    key: KeyId,
) -> Result<Changed<KeyRecord>> {
    let row = api_keys::by_id(write.conn(), key.uuid()).await?;
    let row = row.filter(|row| workspace.is_none_or(|workspace| workspace.uuid() == row.workspace_id));
    let rows = api_keys::in_workspace(row.ok_or_else(|| absent::<KeyKind>(key))?.workspace_id);
    // As it is once whoever else revokes it has done so.
    let row = rows.lock(write.conn(), key.uuid()).await?;
    let mut row = row.ok_or_else(|| absent::<KeyKind>(key))?;
    if row.revoked_at.is_some() {
        return Ok(Changed::before(record(row)));
    }
    let now_ms = write.now_ms();
    rows.revoke(write.conn(), row.id, now_ms).await?;
    row.revoked_at = Some(now_ms);
    let app = app.clone();
    write.after_commit(move || app.principals.forget());
    Ok(Changed::now(record(row)))
}

fn check(write: &Write, key: &NewKey) -> Result<()> {
    let mut faults = Faults::default();
    faults.line("name", &key.name, 200);
    if key.scopes.iter().next().is_none() {
        faults.add("scopes", "must have at least one scope");
    }
    faults.cap("per_minute", key.quota.per_minute);
    faults.cap("per_day", key.quota.per_day);
    if key.expires_at.is_some_and(|end| end.as_millisecond() <= write.now_ms()) {
        faults.add("expires_at", "must lie in the future");
    }
    faults.check()
}

fn record(row: Model) -> KeyRecord {
    KeyRecord {
        id: id(row.id),
        workspace: id(row.workspace_id),
        name: row.name,
        scopes: row.scopes.0.iter().filter_map(|scope| scope.parse().ok()).collect(),
        prefix: row.prefix,
        last4: row.last4,
        quota: Quota { per_minute: row.per_minute, per_day: row.per_day },
        created_at: from_ms(row.created_at),
        last_used_at: row.last_used_at.map(from_ms),
        expires_at: row.expires_at.map(from_ms),
        revoked_at: row.revoked_at.map(from_ms),
    }
}
