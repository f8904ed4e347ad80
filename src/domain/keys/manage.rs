//! Keys made, listed, revoked, and given a quota.

use entity::api_keys::{self, ActiveModel, Model};
use entity::{Set, StringList, workspaces};
use secrecy::{ExposeSecret, SecretString};

use super::super::faults::Faults;
use super::super::find::{absent, fresh, id};
use super::super::workspaces::Quota;
use super::super::{Changed, Result};
use super::quota::{self, EffectiveQuota};
use super::{KeyRecord, NewKey, secret};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{ApiKey as KeyKind, KeyId, Workspace as WorkspaceKind, WorkspaceId};

/// Creates a key for the operator, whose quota may exceed the workspace's. The secret is returned here and nowhere else.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) for an absent workspace,
/// [`Error::Invalid`](crate::Error::Invalid) for a key without a scope, with a bad name or quota, or that
/// ends in the past.
pub async fn create(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    key: NewKey,
) -> Result<(KeyRecord, SecretString)> {
    insert(app, write, workspace, key, true).await
}

/// Creates a key for a person of the workspace, whose quota may not exceed the workspace's. If that is lowered later, it limits the
/// key.
///
/// # Errors
/// As [`create`]; [`Error::Invalid`](crate::Error::Invalid) also for a quota above the workspace's.
pub async fn create_by_member(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    key: NewKey,
) -> Result<(KeyRecord, SecretString)> {
    insert(app, write, workspace, key, false).await
}

async fn insert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    key: NewKey,
    by_operator: bool,
) -> Result<(KeyRecord, SecretString)> {
    let row = workspaces::by_id(write.conn(), workspace.uuid()).await?;
    let row = row.ok_or_else(|| absent::<WorkspaceKind>(workspace))?;
    let most = (!by_operator).then(|| quota::of_row(Some(&row), &app.config.limits));
    check(write, &key, most)?;
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
        operator_quota: by_operator && key.quota != Quota::default(),
    };
    api_keys::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    let (app, digest) = (app.clone(), row.secret_hash.clone());
    write.after_commit(move || app.principals.filter.add(&digest));
    Ok((record(row), secret))
}

/// The keys of a workspace, newest first, revoked and expired ones included.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<KeyRecord>> {
    let rows = api_keys::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    Ok(rows.into_iter().rev().map(record).collect())
}

/// Revokes a key, in this process from the commit on, in others within 2 s. Once more changes nothing.
///
/// `workspace` is `None` for the operator, whose reach is not bound to one.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is no such key in the workspace.
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

/// Sets a key's own quota as a whole, on behalf of the operator; `None` removes a part of it, for which the workspace's quota then
/// applies. It takes effect in this process from the commit on, in others within 2 s.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is no such key,
/// [`Error::Invalid`](crate::Error::Invalid) for a limit below 1.
pub async fn set_quota(app: &App, write: &mut Write, key: KeyId, quota: Quota) -> Result<Changed<KeyRecord>> {
    let mut faults = Faults::default();
    faults.cap("per_minute", quota.per_minute);
    faults.cap("per_day", quota.per_day);
    faults.check()?;
    let known = api_keys::by_id(write.conn(), key.uuid()).await?;
    let rows = api_keys::in_workspace(known.ok_or_else(|| absent::<KeyKind>(key))?.workspace_id);
    let before = rows.lock(write.conn(), key.uuid()).await?.ok_or_else(|| absent::<KeyKind>(key))?;
    let (per_minute, per_day) = (quota.per_minute, quota.per_day);
    let operator_quota = quota != Quota::default();
    let row = Model { per_minute, per_day, operator_quota, ..before.clone() };
    if row == before {
        return Ok(Changed::before(record(row)));
    }
    let changes = ActiveModel {
        per_minute: Set(per_minute),
        per_day: Set(per_day),
        operator_quota: Set(operator_quota),
        ..Default::default()
    };
    rows.update(write.conn(), row.id, changes).await?;
    let app = app.clone();
    write.after_commit(move || app.principals.forget());
    Ok(Changed::now(record(row)))
}

/// `most` is what limits the key's own quota.
fn check(write: &Write, key: &NewKey, most: Option<EffectiveQuota>) -> Result<()> {
    let mut faults = Faults::default();
    faults.line("name", &key.name, 200);
    if key.scopes.iter().next().is_none() {
        faults.add("scopes", "must have at least one scope");
    }
    let parts = [
        ("per_minute", key.quota.per_minute, most.map(|most| most.per_minute)),
        ("per_day", key.quota.per_day, most.map(|most| most.per_day)),
    ];
    for (field, given, most) in parts {
        faults.cap(field, given);
        if let (Some(given), Some(most)) = (given, most)
            && i64::from(given) > i64::from(most.requests)
        {
            let most = most.requests;
            faults.add(
                field,
                format!(
                    "must be at most {most}, the quota of the workspace; the operator of this server can raise it"
                ),
            );
        }
    }
    if key.expires_at.is_some_and(|end| end.as_millisecond() <= write.now_ms()) {
        faults.add("expires_at", "must lie in the future");
    }
    faults.check()
}

pub(super) fn record(row: Model) -> KeyRecord {
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
