//! How much of its quota each key has used today.

use std::collections::HashMap;

use entity::{rate_usage, workspaces};

use super::super::Result;
use super::super::workspaces::Quota;
use super::{KeyRecord, list};
use crate::app::App;
use crate::id::WorkspaceId;

/// A key and its calls of the running UTC day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUsage {
    /// The key.
    pub key: KeyRecord,
    /// Calls that were let through today, up to a second late. Those refused with 429 do not count.
    pub calls_today: u64,
    /// Calls that it may make in a clock minute: its own quota, the workspace's or the default.
    pub per_minute: u32,
    /// Calls that it may make in a UTC day, likewise.
    pub per_day: u32,
}

/// Every key of a workspace with its calls of today, newest first, revoked and expired ones included.
///
/// # Errors
/// [`Error::Internal`](crate::domain::Error::Internal) when the database fails.
pub async fn usage(app: &App, workspace: WorkspaceId) -> Result<Vec<KeyUsage>> {
    let keys = list(app, workspace).await?;
    let own = workspaces::by_id(app.db.read(), workspace.uuid()).await?;
    let own =
        own.map_or_else(Quota::default, |row| Quota { per_minute: row.per_minute, per_day: row.per_day });
    let now_ms = app.clock.now_ms();
    let today = entity::rollups::Grain::Day.floor(now_ms);
    let mut used: HashMap<String, u64> = HashMap::new();
    for some in keys.chunks(500) {
        let subjects = some.iter().map(|key| key.id.to_string()).collect();
        let counts = rate_usage::used_by(app.db.read(), subjects, today).await?;
        used.extend(counts.into_iter().map(|row| (row.subject, row.used.unsigned_abs())));
    }
    let limits = &app.config.limits;
    let cap = |key: Option<i32>, workspace: Option<i32>, default: u32| {
        key.or(workspace).map_or(default, |cap| cap.unsigned_abs())
    };
    Ok(keys
        .into_iter()
        .map(|key| KeyUsage {
            calls_today: used.get(&key.id.to_string()).copied().unwrap_or(0),
            per_minute: cap(key.quota.per_minute, own.per_minute, limits.default_per_minute.get()),
            per_day: cap(key.quota.per_day, own.per_day, limits.default_per_day.get()),
            key,
        })
        .collect())
}
