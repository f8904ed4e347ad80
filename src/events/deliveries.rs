//! The deliveries of an event: one for each subscription that wants it, in the event's own transaction.

use entity::webhook_deliveries::{self, Model};
use entity::webhook_subscriptions::{self, State};

use crate::app::App;
use crate::clock::from_ms;
use crate::database::Write;
use crate::domain::Result;
use crate::id::Delivery;

/// Writes a delivery of this event for each subscription that wants it: due at once, or held for one that is paused or
/// disabled.
pub(super) async fn append(app: &App, write: &mut Write, event: &entity::events::Model) -> Result<()> {
    let subscriptions = webhook_subscriptions::in_workspace(event.workspace_id);
    let listening = subscriptions.listening(write.conn(), &event.kind).await?;
    if listening.is_empty() {
        return Ok(());
    }
    let now = write.now_ms();
    let delivery = |(subscription, state)| {
        let id = app.ids.next::<Delivery>(from_ms(now)).uuid();
        Model::new(id, subscription, event, state == State::Enabled, now)
    };
    let deliveries = listening.into_iter().map(delivery).collect();
    webhook_deliveries::in_workspace(event.workspace_id).insert_many(write.conn(), deliveries).await?;
    let app = app.clone();
    write.after_commit(move || app.deliveries_due().notify_one());
    Ok(())
}
