//! Reads keys with the quotas that apply to them, and how much of its quota each has used today.

use std::collections::HashMap;
use std::net::IpAddr;

use entity::rollups::{DAY_MS, Grain};
use entity::{api_keys, old_key_secrets, rate_usage, workspaces};
use jiff::Timestamp;

use super::super::Result;
use super::super::audit::Actor;
use super::super::records::not_found;
use super::manage::record;
use super::quota::{self, EffectiveQuota};
use super::{KeyRecord, OldSecret};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{ApiKey, KeyId, WorkspaceId};

/// A key with its quota and its calls of the current UTC day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUsage {
    /// The key.
    pub key: KeyRecord,
    /// Calls admitted today, with a delay of up to one second. Calls rejected with status 429 do not count.
    pub calls_today: u64,
    /// The quota that applies to the key.
    pub quota: EffectiveQuota,
    /// The old secret, which the last rotation replaced, while it is valid.
    pub old_secret: Option<OldSecret>,
}

/// Returns when the daily quotas reset: the end of the current UTC day.
pub fn daily_quota_resets_at(app: &App) -> Timestamp {
    from_ms(Grain::Day.floor(app.clock.now_ms()) + DAY_MS)
}

/// Returns a key with the quota that applies to it.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such key.
pub async fn get(app: &App, workspace: WorkspaceId, key: KeyId) -> Result<(KeyRecord, EffectiveQuota)> {
    let row = find(app.db.read(), workspace, key).await?;
    let workspace = workspaces::by_id(app.db.read(), workspace.uuid()).await?;
    let quota = quota::workspace_quota(workspace.as_ref(), &app.config.limits).of_key(&row);
    Ok((record(row), quota))
}

/// Returns a key as the actor of audit log entries.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such key.
pub async fn actor(write: &Write, workspace: WorkspaceId, key: KeyId, address: IpAddr) -> Result<Actor> {
    Ok(Actor::api_key(&find(write.conn(), workspace, key).await?.name, address))
}

async fn find(conn: &impl entity::Connection, workspace: WorkspaceId, key: KeyId) -> Result<api_keys::Model> {
    let row = api_keys::in_workspace(workspace.uuid()).by_id(conn, key.uuid()).await?;
    row.ok_or_else(|| not_found::<ApiKey>(key))
}

/// Returns the keys of a workspace with their calls of today, newest first, including revoked and expired keys.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn list_usage(app: &App, workspace: WorkspaceId) -> Result<Vec<KeyUsage>> {
    let keys = keys(app, workspace).await?;
    let now_ms = app.clock.now_ms();
    let today = Grain::Day.floor(now_ms);
    let mut used: HashMap<String, u64> = HashMap::new();
    for chunk in keys.chunks(500) {
        let subjects = chunk.iter().map(|(key, _)| key.id.to_string()).collect();
        let counts = rate_usage::of_subjects(app.db.read(), subjects, today).await?;
        used.extend(counts.into_iter().map(|row| (row.subject, row.used.unsigned_abs())));
    }
    let old = old_key_secrets::of_workspace(app.db.read(), workspace.uuid(), now_ms).await?;
    let mut old: HashMap<_, _> = old.into_iter().map(|row| (row.key_id, row)).collect();
    let usage = |(key, quota): (KeyRecord, EffectiveQuota)| {
        let calls_today = used.get(&key.id.to_string()).copied().unwrap_or(0);
        let old_secret = old.remove(&key.id.uuid()).filter(|_| key.is_valid(from_ms(now_ms))).map(|row| {
            OldSecret { prefix: row.prefix, last4: row.last4, expires_at: from_ms(row.expires_at) }
        });
        KeyUsage { key, calls_today, quota, old_secret }
    };
    Ok(keys.into_iter().map(usage).collect())
}

/// Returns the keys of a workspace with the quota that applies to each, newest first.
async fn keys(app: &App, workspace: WorkspaceId) -> Result<Vec<(KeyRecord, EffectiveQuota)>> {
    let rows = api_keys::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    let row = workspaces::by_id(app.db.read(), workspace.uuid()).await?;
    let workspace_quota = quota::workspace_quota(row.as_ref(), &app.config.limits);
    let effective = |row: api_keys::Model| {
        let quota = workspace_quota.of_key(&row);
        (record(row), quota)
    };
    Ok(rows.into_iter().rev().map(effective).collect())
}
