//! Fan-out: writes the deliveries of events that have too many subscriptions for one transaction.
//!
//! The event's own transaction stores the ids of the subscriptions that have no delivery yet. This module writes their
//! deliveries in small transactions, so that other writes do not wait long. Each transaction writes a batch and removes
//! its subscriptions from the stored ids, so that no delivery is lost or written twice.

use entity::webhook_deliveries::{self, Model};
use entity::webhook_fanouts;
use entity::webhook_subscriptions::{self, StoredSubscriptionState, Subscriber};
use sea_orm::DbBackend;
use uuid::Uuid;

use super::filters;
use crate::Result;
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::Delivery;

/// An event with at most this number of subscriptions gets all its deliveries in its own transaction.
pub(super) const INLINE_LIMIT: usize = 64;

/// Returns the number of deliveries per transaction for an event with more subscriptions than [`INLINE_LIMIT`]. It also
/// applies to the event's own transaction.
///
/// On SQLite, the writes of other workspaces wait for each such transaction: about 2 ms with 8 rows, 8 ms with 64. On
/// PostgreSQL, they run concurrently.
pub(super) fn batch_size(app: &App) -> usize {
    if app.db.backend() == DbBackend::Sqlite { 8 } else { INLINE_LIMIT }
}

/// Writes a batch of deliveries for the next workspace after `last_workspace` that has pending fan-outs, or else for
/// the first one. Sets `last_workspace` to this workspace before writing, so that after an error the next call
/// continues with another workspace. Returns false when no fan-out is pending, and true even when another process is
/// writing the one that was found.
///
/// The deliveries are due from the time at which the event was written. A subscription that was deleted in the meantime,
/// or whose filter the event does not meet, gets none. The delivery of a subscription that is paused or disabled is held.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a query fails. Then nothing is written.
pub async fn fan_out(app: &App, last_workspace: &mut Option<Uuid>) -> Result<bool> {
    let after = last_workspace.unwrap_or_default();
    let mut next = webhook_fanouts::next_workspace(app.db.read(), after).await?;
    if next.is_none() && last_workspace.is_some() {
        next = webhook_fanouts::next_workspace(app.db.read(), Uuid::nil()).await?;
    }
    let Some((workspace, event)) = next else { return Ok(false) };
    *last_workspace = Some(workspace);
    let mut write = app.begin_write().await?;
    // `None` if another process has locked or finished this fan-out.
    let Some(row) = webhook_fanouts::lock(write.conn(), event).await? else { return Ok(true) };
    let event = entity::events::in_workspace(workspace).by_id(write.conn(), event).await?;
    let batch_size = batch_size(app);
    let batch = row.first_subscriptions(batch_size);
    let subscriptions = webhook_subscriptions::in_workspace(workspace);
    let mut subscribers = subscriptions.subscribers(write.conn(), &batch).await?;
    match &event {
        Some(event) => filters::retain_matching(app, event, &mut subscribers),
        None => subscribers.clear(),
    }
    subscribers.sort_unstable_by_key(|subscriber| subscriber.id);
    let now = write.now_ms();
    let (mut rows, mut queued) = (Vec::with_capacity(subscribers.len()), Vec::new());
    for Subscriber { id: subscription, state, .. } in subscribers {
        let Some(event) = &event else { continue };
        let is_enabled = state == StoredSubscriptionState::Enabled;
        let id = app.ids.next::<Delivery>(from_ms(now)).uuid();
        let next_attempt_at = is_enabled.then_some(row.due_at);
        rows.push(Model { next_attempt_at, ..Model::new(id, subscription, event, is_enabled, now) });
        if is_enabled {
            queued.push(subscription);
        }
    }
    webhook_deliveries::in_workspace(workspace).insert_many(write.conn(), rows).await?;
    webhook_fanouts::remove_first(write.conn(), &row, batch_size).await?;
    let app = app.clone();
    write.after_commit(move || app.fast_path().wake_signal().wake_for(workspace, queued));
    write.commit().await?;
    Ok(true)
}
