//! Fan-out: writes the deliveries of events that have too many subscriptions for one transaction.
//!
//! The event's own transaction stores the ids of the subscriptions that have no delivery yet. This module writes their
//! deliveries in small transactions, so that other writes do not wait long. Each batch is one transaction with the update of
//! the remaining ids, so that no delivery is lost or written twice.

use std::collections::HashMap;

use entity::webhook_deliveries::{self, Model};
use entity::webhook_fanouts;
use entity::webhook_subscriptions::{self, StoredSubscriptionState};
use sea_orm::DbBackend;
use uuid::Uuid;

use crate::Result;
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::Delivery;

/// An event with at most this number of subscriptions gets all its deliveries in its own transaction.
pub(super) const INLINE_LIMIT: usize = 64;

/// Deliveries per transaction for an event with more subscriptions than [`INLINE_LIMIT`], including the event's own
/// transaction.
///
/// On SQLite the writes of other workspaces wait for each such transaction: about 2 ms with 8 rows, 8 ms with 64. PostgreSQL
/// runs them concurrently.
pub(super) fn batch_size(app: &App) -> usize {
    if app.db.backend() == DbBackend::Sqlite { 8 } else { INLINE_LIMIT }
}

/// Writes a batch of deliveries for the next workspace after `last` that has deliveries to be written, or for the first such
/// workspace. Sets `last` to this workspace before writing, so that after an error the next call continues with another one.
/// Returns false when nothing is left to be written.
///
/// The deliveries are due since the event was written. A subscription that was deleted since gets none; a subscription that is
/// paused or disabled gets a held one.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails. Then nothing is written.
pub async fn fan_out(app: &App, last: &mut Option<Uuid>) -> Result<bool> {
    let mut found = webhook_fanouts::next(app.db.read(), last.unwrap_or(Uuid::nil())).await?;
    if found.is_none() && last.is_some() {
        found = webhook_fanouts::next(app.db.read(), Uuid::nil()).await?;
    }
    let Some((workspace, event)) = found else { return Ok(false) };
    *last = Some(workspace);
    let mut write = app.begin_write().await?;
    // Without a row, another process has locked it or finished it.
    let Some(row) = webhook_fanouts::lock(write.conn(), event).await? else { return Ok(true) };
    let event = entity::events::in_workspace(workspace).by_id(write.conn(), event).await?;
    let batch_size = batch_size(app);
    let batch = row.first_subscriptions(batch_size);
    let subscriptions = webhook_subscriptions::in_workspace(workspace);
    let states: HashMap<Uuid, StoredSubscriptionState> =
        subscriptions.states(write.conn(), &batch).await?.into_iter().collect();
    let now = write.now_ms();
    let (mut rows, mut queued) = (Vec::with_capacity(batch.len()), Vec::new());
    for subscription in batch {
        let (Some(event), Some(state)) = (&event, states.get(&subscription)) else { continue };
        let enabled = *state == StoredSubscriptionState::Enabled;
        let id = app.ids.next::<Delivery>(from_ms(now)).uuid();
        let next_attempt_at = enabled.then_some(row.due_at);
        rows.push(Model { next_attempt_at, ..Model::new(id, subscription, event, enabled, now) });
        if enabled {
            queued.push(subscription);
        }
    }
    webhook_deliveries::in_workspace(workspace).insert_many(write.conn(), rows).await?;
    webhook_fanouts::advance(write.conn(), &row, batch_size).await?;
    let waker = app.clone();
    write.after_commit(move || waker.fast_path().wake_signal().wake_for(workspace, queued));
    write.commit().await?;
    Ok(true)
}
