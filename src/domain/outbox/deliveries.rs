//! An event and its deliveries, one for each subscription that wants it, added to the transaction of the change.

use bytes::Bytes;
use entity::webhook_deliveries::Model;
use entity::webhook_fanouts::Rest;
use entity::webhook_subscriptions::{self, State};

use super::fanout::{INLINE_LIMIT, batch};
use super::handoff::Place;
use crate::Result;
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::Delivery;

/// Adds this event, with a delivery for each subscription that wants it, or for the first of many; the others get theirs soon
/// after, by [`fan_out`](super::fan_out). A delivery is leased to the worker of this process while that has room, and otherwise due
/// at once; it is held for a subscription that is paused or disabled.
pub(super) async fn append(app: &App, write: &mut Write, event: entity::events::Model) -> Result<()> {
    let subscriptions = webhook_subscriptions::in_workspace(event.workspace_id);
    let (mut listening, more) = subscriptions.listening(write.conn(), &event.kind, INLINE_LIMIT).await?;
    if more {
        // The rows come in no order; those after the last one that is kept here are remembered by their ids.
        listening.sort_unstable_by_key(|(subscription, _)| *subscription);
        listening.truncate(batch(app));
    }
    if listening.is_empty() {
        write.add_event(event, []);
        return Ok(());
    }
    let (mut rows, mut born, mut queued) = (Vec::with_capacity(listening.len()), Vec::new(), Vec::new());
    let now = write.now_ms();
    if let Some(after) = listening.iter().map(|(of, _)| *of).max().filter(|_| more) {
        let (event_id, workspace_id, event_type) = (event.id, event.workspace_id, event.kind.clone());
        write.add_rest(Rest { event_id, workspace_id, event_type, after, due_at: now });
    }
    for (subscription, state) in listening {
        let id = app.ids.next::<Delivery>(from_ms(now)).uuid();
        let enabled = state == State::Enabled;
        let mut row = Model::new(id, subscription, &event, enabled, now);
        match enabled.then(|| app.handoff().place(event.workspace_id, subscription)) {
            Some(Some(place)) => {
                lease(&mut row, &place);
                born.push((row.clone(), place));
            }
            Some(None) => queued.push(subscription),
            None => {}
        }
        rows.push(row);
    }
    // By this process's own clock, and rather too early than too late.
    let began = write.began_ms();
    let (app, body, workspace) = (app.clone(), Bytes::copy_from_slice(&event.body), event.workspace_id);
    write.add_event(event, rows);
    write.after_commit(move || {
        for (row, place) in born {
            let lease_ends_ms = began.saturating_add(place.lease_ms());
            place.hand_over(row, body.clone(), lease_ends_ms);
        }
        app.handoff().bell().ring_for(workspace, queued);
        if more {
            app.handoff().fanout().notify_one();
        }
    });
    Ok(())
}

/// Puts the worker's lease on a delivery that is about to be written.
fn lease(row: &mut Model, place: &Place) {
    row.lease_token = Some(place.lease_token);
    row.lease_until = row.next_attempt_at.map(|due| due.saturating_add(place.lease_ms()));
}
