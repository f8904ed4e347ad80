//! Reads which requests used what is still deprecated.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use entity::deprecated_uses;
use entity::rollups::{DAY_MS, Grain};
use foundation::clock::from_ms;
use foundation::id::{KeyId, WorkspaceId};
use jiff::Timestamp;

use super::uses::part;
use super::{Announcement, DeprecatedPart};
use crate::app::App;
use crate::{Error, Result, keys, workspaces};

/// The number of days after which a workspace is no longer concerned by what it used, including today.
const RECENT_DAYS: i64 = 30;

/// Something deprecated, and the keys that used it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedDeprecation {
    /// What was used.
    pub part: DeprecatedPart,
    /// What the contract says about it.
    pub announcement: Announcement,
    /// The keys, with the most recent use first.
    pub keys: Vec<KeyUses>,
}

/// The requests of a key that used something deprecated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUses {
    /// The key.
    pub key: KeyId,
    /// The name of the key.
    pub key_name: String,
    /// The workspace of the key.
    pub workspace: WorkspaceId,
    /// The key of the workspace.
    pub workspace_key: String,
    /// The number of requests.
    pub requests: u64,
    /// The last request.
    pub last_at: Timestamp,
    /// The request id of the last request. Removed within an hour after the request log deletes the request.
    pub request_id: Option<String>,
}

/// Returns what a workspace used in the last 30 days, or all workspaces.
///
/// # Errors
/// Returns the errors of [`since`].
pub async fn recent(app: &App, workspace: Option<WorkspaceId>) -> Result<Vec<UsedDeprecation>> {
    since(app, Grain::Day.floor(app.clock.now_ms()) - (RECENT_DAYS - 1) * DAY_MS, workspace).await
}

/// Returns what was used since a day, whose start is in milliseconds since the epoch, and is still deprecated: by one workspace, or
/// by all. Omits revoked and expired keys. The earliest sunset is first, and what has none is last.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn since(app: &App, day: i64, workspace: Option<WorkspaceId>) -> Result<Vec<UsedDeprecation>> {
    if app.deprecations().is_empty() {
        return Ok(Vec::new());
    }
    let now = app.clock.now();
    let rows = deprecated_uses::since(app.db.read(), day, workspace.map(WorkspaceId::uuid)).await?;
    let mut names: BTreeMap<WorkspaceId, (String, BTreeMap<KeyId, String>)> = BTreeMap::new();
    let mut used: BTreeMap<DeprecatedPart, UsedDeprecation> = BTreeMap::new();
    for row in rows {
        let part = part(&row);
        let Some(announcement) = app.deprecations().announcement(&part) else { continue };
        let (key, workspace) = (KeyId::from_uuid(row.key_id), WorkspaceId::from_uuid(row.workspace_id));
        let (workspace_key, key_names) = match names.entry(workspace) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let valid = keys::list(app, workspace).await?.into_iter().filter(|key| key.is_valid(now));
                let key_names = valid.map(|key| (key.id, key.name)).collect();
                match workspaces::get(app, workspace).await {
                    Ok(workspace) => place.insert((workspace.key, key_names)),
                    // The workspace was deleted, and nobody uses its keys.
                    Err(Error::NotFound(_)) => place.insert((String::new(), BTreeMap::new())),
                    Err(error) => return Err(error),
                }
            }
        };
        let Some(key_name) = key_names.get(&key) else { continue };
        let new = || UsedDeprecation { part: part.clone(), announcement, keys: Vec::new() };
        let of_part = &mut used.entry(part.clone()).or_insert_with(new).keys;
        let index = of_part.iter().position(|known| known.key == key).unwrap_or_else(|| {
            of_part.push(KeyUses {
                key,
                key_name: key_name.clone(),
                workspace,
                workspace_key: workspace_key.clone(),
                requests: 0,
                last_at: Timestamp::UNIX_EPOCH,
                request_id: None,
            });
            of_part.len() - 1
        });
        let uses = &mut of_part[index];
        uses.requests += row.requests.unsigned_abs();
        if from_ms(row.last_at) >= uses.last_at {
            uses.last_at = from_ms(row.last_at);
            uses.request_id = Some(row.request_id).filter(|id| !id.is_empty());
        }
    }
    let mut used: Vec<UsedDeprecation> = used.into_values().collect();
    used.sort_by_key(|used| (used.announcement.sunset.is_none(), used.announcement.sunset));
    for used in &mut used {
        used.keys.sort_by_key(|uses| (std::cmp::Reverse(uses.last_at), uses.key));
    }
    Ok(used)
}
