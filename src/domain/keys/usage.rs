//! How much of its quota each key has used today.

use std::collections::HashMap;

use entity::{api_keys, rate_usage, workspaces};

use super::super::Result;
use super::KeyRecord;
use super::manage::record;
use super::quota::{self, EffectiveQuota};
use crate::app::App;
use foundation::id::WorkspaceId;

/// A key and its calls of the running UTC day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUsage {
    /// The key.
    pub key: KeyRecord,
    /// Calls that were let through today, up to a second late. Those refused with 429 do not count.
    pub calls_today: u64,
    /// The calls that it may make.
    pub quota: EffectiveQuota,
}

/// Every key of a workspace with its calls of today, newest first, revoked and expired ones included.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn usage(app: &App, workspace: WorkspaceId) -> Result<Vec<KeyUsage>> {
    let keys = keys(app, workspace).await?;
    let now_ms = app.clock.now_ms();
    let today = entity::rollups::Grain::Day.floor(now_ms);
    let mut used: HashMap<String, u64> = HashMap::new();
    for some in keys.chunks(500) {
        let subjects = some.iter().map(|(key, _)| key.id.to_string()).collect();
        let counts = rate_usage::used_by(app.db.read(), subjects, today).await?;
        used.extend(counts.into_iter().map(|row| (row.subject, row.used.unsigned_abs())));
    }
    let usage = |(key, quota): (KeyRecord, EffectiveQuota)| {
        let calls_today = used.get(&key.id.to_string()).copied().unwrap_or(0);
        KeyUsage { key, calls_today, quota }
    };
    Ok(keys.into_iter().map(usage).collect())
}

/// The keys of a workspace with the quota that applies to each, newest first.
async fn keys(app: &App, workspace: WorkspaceId) -> Result<Vec<(KeyRecord, EffectiveQuota)>> {
    let rows = api_keys::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    let row = workspaces::by_id(app.db.read(), workspace.uuid()).await?;
    let of_workspace = quota::of_row(row.as_ref(), &app.config.limits);
    let effective = |row: api_keys::Model| {
        let quota = of_workspace.of_key(&row);
        (record(row), quota)
    };
    Ok(rows.into_iter().rev().map(effective).collect())
}
