//! The uses that are not in the database yet.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use entity::deprecated_uses::{self, Model};
use entity::rollups::{DAY_MS, Grain};
use foundation::id::{KeyId, WorkspaceId};

use super::{Announcement, DeprecatedPart, RETENTION_DAYS};
use crate::app::App;
use crate::{Result, requests};

/// The maximum number of rows that a process keeps in memory. Further parts are not recorded until the next flush.
const MAX_ROWS: usize = 100_000;
/// The maximum number of rows of a transaction.
const BATCH: usize = 200;

/// What the contracts of this process mark as deprecated, and the uses that are not in the database yet.
#[derive(Debug, Default)]
pub struct Deprecations {
    /// By the name of the contract and the JSON pointer.
    announcements: RwLock<BTreeMap<(String, String), Announcement>>,
    /// By day, key and part.
    uses: Mutex<HashMap<(i64, KeyId, DeprecatedPart), Model>>,
    /// The number of uses that were not recorded since the last flush.
    unrecorded: AtomicU64,
}

impl Deprecations {
    /// Declares what a contract marks as deprecated, by JSON pointer.
    pub fn declare(&self, contract: &str, announcements: impl IntoIterator<Item = (String, Announcement)>) {
        let mut declared = self.announcements.write().unwrap_or_else(PoisonError::into_inner);
        let of_contract = |(pointer, announcement)| ((contract.to_owned(), pointer), announcement);
        declared.extend(announcements.into_iter().map(of_contract));
    }

    /// Returns what the contract says about a part; `None` if it is not deprecated any more.
    pub(super) fn announcement(&self, part: &DeprecatedPart) -> Option<Announcement> {
        let declared = self.announcements.read().unwrap_or_else(PoisonError::into_inner);
        declared.get(&(part.contract.clone(), part.pointer.clone())).cloned()
    }

    /// Returns whether no contract of this process marks anything as deprecated.
    pub(super) fn is_empty(&self) -> bool {
        self.announcements.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Counts a request of a key, received at this time, that uses a part.
    pub fn count(
        &self,
        (key, workspace): (KeyId, WorkspaceId),
        received_ms: i64,
        request_id: &str,
        part: DeprecatedPart,
    ) {
        let day = Grain::Day.floor(received_ms);
        self.add(Model {
            day,
            key_id: key.uuid(),
            contract: part.contract,
            operation: part.operation,
            pointer: part.pointer,
            name: part.name,
            workspace_id: workspace.uuid(),
            requests: 1,
            first_at: received_ms,
            last_at: received_ms,
            request_id: request_id.to_owned(),
        });
    }

    fn add(&self, row: Model) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = uses.len() >= MAX_ROWS;
        match uses.entry((row.day, KeyId::from_uuid(row.key_id), part(&row))) {
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.requests += row.requests;
                known.first_at = known.first_at.min(row.first_at);
                if row.last_at >= known.last_at {
                    (known.last_at, known.request_id) = (row.last_at, row.request_id);
                }
            }
            Entry::Vacant(_) if is_full => {
                self.unrecorded.fetch_add(row.requests.unsigned_abs(), Ordering::Relaxed);
            }
            Entry::Vacant(place) => drop(place.insert(row)),
        }
    }
}

pub(super) fn part(row: &Model) -> DeprecatedPart {
    let Model { contract, operation, pointer, name, .. } = row.clone();
    DeprecatedPart { contract, operation, pointer, name }
}

/// Writes the uses since the previous flush. The server calls it every few seconds.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the transaction fails. The next flush writes the uses.
pub async fn flush(app: &App) -> Result<()> {
    let uses = std::mem::take(&mut *app.deprecations().uses.lock().unwrap_or_else(PoisonError::into_inner));
    let unrecorded = app.deprecations().unrecorded.swap(0, Ordering::Relaxed);
    if unrecorded > 0 {
        tracing::warn!(
            unrecorded,
            "too many different uses of deprecated parts of the API; some were not counted"
        );
    }
    let mut rows: Vec<Model> = uses.into_values().collect();
    while !rows.is_empty() {
        let remaining = rows.split_off(rows.len().min(BATCH));
        if let Err(error) = write(app, rows.clone()).await {
            rows.into_iter().chain(remaining).for_each(|row| app.deprecations().add(row));
            return Err(error);
        }
        rows = remaining;
    }
    Ok(())
}

async fn write(app: &App, rows: Vec<Model>) -> Result<()> {
    let write = app.begin_write().await?;
    deprecated_uses::add(write.conn(), rows).await?;
    Ok(write.commit().await?)
}

/// Deletes the uses of days before the latest [`RETENTION_DAYS`].
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the transaction fails.
pub async fn prune(app: &App) -> Result<()> {
    let write = app.begin_write().await?;
    let day = Grain::Day.floor(write.now_ms()) - (RETENTION_DAYS - 1) * DAY_MS;
    deprecated_uses::delete_before(write.conn(), day).await?;
    // Clients can choose request ids. The request log does not contain these any more.
    let logged_from = write.now_ms() - requests::RETENTION_DAYS * DAY_MS;
    deprecated_uses::forget_requests(write.conn(), logged_from).await?;
    Ok(write.commit().await?)
}
