//! Adds an event and its deliveries, one for each subscription to its type, to the transaction of the change.

use bytes::Bytes;
use entity::webhook_deliveries::Model;
use entity::webhook_fanouts::PendingFanout;
use entity::webhook_subscriptions::{self, StoredSubscriptionState, Subscriber};

use super::fanout::{INLINE_LIMIT, batch_size};
use super::fast_path::FastPathPermit;
use super::filters;
use crate::Result;
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::Delivery;

/// Adds this event and a delivery for each subscription to its type whose filter it meets. If there are more than
/// [`INLINE_LIMIT`] subscriptions, adds only the first [`batch_size`] deliveries; [`fan_out`](super::fan_out) writes the others soon after.
///
/// A delivery is pre-leased (written with the lease of the worker of this process, see [`FastPath`](super::FastPath))
/// if the fast path grants a permit. Otherwise it is due at once and waits in the queue, as do all deliveries of a
/// subscription with a rate. The delivery of a subscription that is paused or disabled is held.
pub(super) async fn append(app: &App, write: &mut Write, event: entity::events::Model) -> Result<()> {
    let subscriptions = webhook_subscriptions::in_workspace(event.workspace_id);
    let (mut subscribed, has_more) =
        subscriptions.subscribed_to(write.conn(), &event.event_type, INLINE_LIMIT).await?;
    if has_more {
        // The rows are in no particular order, but the fan-out continues after the highest id of this batch.
        subscribed.sort_unstable_by_key(|subscriber| subscriber.id);
        subscribed.truncate(batch_size(app));
    }
    let last = subscribed.iter().map(|subscriber| subscriber.id).max();
    filters::retain_matching(app, &event, &mut subscribed);
    if subscribed.is_empty() && !has_more {
        write.add_event(event, []);
        return Ok(());
    }
    let (mut rows, mut pre_leased, mut queued) =
        (Vec::with_capacity(subscribed.len()), Vec::new(), Vec::new());
    let now = write.now_ms();
    if let Some(after) = last.filter(|_| has_more) {
        let (event_id, workspace_id, event_type) = (event.id, event.workspace_id, event.event_type.clone());
        write.add_fanout(PendingFanout { event_id, workspace_id, event_type, after, due_at: now });
    }
    for Subscriber { id: subscription, state, has_rate, .. } in subscribed {
        let id = app.ids.next::<Delivery>(from_ms(now)).uuid();
        let is_enabled = state == StoredSubscriptionState::Enabled;
        let mut row = Model::new(id, subscription, &event, is_enabled, now);
        let permit = (is_enabled && !has_rate)
            .then(|| app.fast_path().acquire_permit(event.workspace_id, subscription))
            .flatten();
        match permit {
            Some(permit) => {
                set_lease(&mut row, &permit);
                pre_leased.push((row.clone(), permit));
            }
            None if is_enabled => queued.push(subscription),
            None => {}
        }
        rows.push(row);
    }
    // The worker counts the lease from the time at which this process requested the write, by its own clock. For the
    // worker, the lease therefore never ends later than in the database.
    let began_ms = write.began_ms();
    let (app, workspace) = (app.clone(), event.workspace_id);
    let (body, traceparent) = (Bytes::copy_from_slice(&event.body), event.traceparent.clone());
    write.add_event(event, rows);
    write.after_commit(move || {
        for (row, permit) in pre_leased {
            let lease_ends_ms = began_ms.saturating_add(permit.lease_ms());
            permit.hand_over(row, body.clone(), traceparent.clone(), lease_ends_ms);
        }
        app.fast_path().wake_signal().wake_for(workspace, queued);
        if has_more {
            app.fast_path().fanout_signal().notify_one();
        }
    });
    Ok(())
}

/// Sets the worker's lease on a delivery that is about to be written. The lease begins when the delivery is due.
fn set_lease(row: &mut Model, permit: &FastPathPermit) {
    row.lease_token = Some(permit.lease_token);
    row.lease_until = row.next_attempt_at.map(|due| due.saturating_add(permit.lease_ms()));
}
