//! Creates the deliveries that users request: a settled delivery sent again, and a test of a subscription.
//!
//! To send a delivery again, a copy is inserted as a new row, whose attempts are counted from 1. The row of the original never
//! changes.

use std::collections::{HashMap, HashSet};

use anyhow::anyhow;
use entity::events;
use entity::webhook_deliveries::{self as delivery_rows, Model, StoredDeliveryOrigin, StoredDeliveryState};
use entity::webhook_subscriptions::{self, StoredSubscriptionState};
use uuid::Uuid;

use super::super::audit::Action;
use super::super::field_errors::FieldErrors;
use super::super::records::{id, new_uuid, not_found};
use super::super::{Error, Result};
use super::Delivery;
use super::deliveries::{check_event_type, delivery};
use super::row::{find_delivery, lock};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    Delivery as DeliveryIdKind, DeliveryId, Event as EventIdKind, SubscriptionId, WorkspaceId,
};

/// Sends settled deliveries again, in the specified order: a dead one as a replay, a delivered one as a resend. A delivery that
/// was already replayed or resent is sent once more. A delivery that is listed twice is sent once. While the subscription is
/// paused or disabled, the new deliveries are held.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing delivery, and [`Error::Invalid`] for one that is pending or held. Then
/// nothing is sent.
pub async fn send_again(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    deliveries: &[DeliveryId],
) -> Result<Vec<Delivery>> {
    let ids: Vec<Uuid> = deliveries.iter().map(|delivery| delivery.uuid()).collect();
    let rows = delivery_rows::in_workspace(workspace.uuid()).by_ids(write.conn(), &ids).await?;
    let mut rows: HashMap<Uuid, Model> = rows.into_iter().map(|row| (row.id, row)).collect();
    let mut errors = FieldErrors::default();
    let mut settled = Vec::with_capacity(deliveries.len());
    for (index, requested) in deliveries.iter().enumerate() {
        let Some(row) = rows.remove(&requested.uuid()) else {
            if deliveries[..index].contains(requested) {
                continue;
            }
            return Err(not_found::<DeliveryIdKind>(requested));
        };
        match row.state {
            StoredDeliveryState::Pending => errors.add(
                format!("deliveries/{index}"),
                format!("{requested} is pending: it is sent automatically"),
            ),
            StoredDeliveryState::Held => {
                let message = format!("{requested} is held: it is sent when its subscription is enabled");
                errors.add(format!("deliveries/{index}"), message);
            }
            StoredDeliveryState::Dead => settled.push((row, StoredDeliveryOrigin::Replay)),
            StoredDeliveryState::Delivered => settled.push((row, StoredDeliveryOrigin::Resend)),
        }
    }
    errors.into_result()?;
    let created = insert_copies(app, write, workspace, settled, None).await?;
    Ok(created.into_iter().map(|row| delivery(row, Vec::new())).collect())
}

/// Replays dead deliveries. Skips those that already have a copy (a replay or a resend), and those that are not dead.
/// Concurrent calls never replay a delivery twice.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing delivery. Then nothing is sent.
pub async fn replay_chosen(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    deliveries: &[DeliveryId],
) -> Result<Vec<Delivery>> {
    let rows = find_all(write.conn(), workspace, deliveries).await?;
    // Concurrent replays of these subscriptions wait for this lock, and then see the new rows.
    let subscriptions: Vec<Uuid> = rows.iter().map(|row| row.subscription_id).collect();
    webhook_subscriptions::in_workspace(workspace.uuid()).lock_many(write.conn(), &subscriptions).await?;
    let dead = filter_unreplayed(write.conn(), workspace, rows).await?;
    let dead = dead.into_iter().map(|row| (row, StoredDeliveryOrigin::Replay)).collect();
    let created = insert_copies(app, write, workspace, dead, None).await?;
    Ok(created.into_iter().map(|row| delivery(row, Vec::new())).collect())
}

/// Sends one settled delivery again: a dead one as [`replay_chosen`] does, a delivered one as [`send_again`] does.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing delivery, and [`Error::Invalid`] for one that is pending or held, and for a dead one
/// that was sent again before.
pub async fn send_one_again(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    delivery: DeliveryId,
) -> Result<Delivery> {
    let row = find_delivery(write.conn(), workspace, delivery).await?;
    let is_dead = row.state == StoredDeliveryState::Dead;
    let created = match is_dead {
        true => replay_chosen(app, write, workspace, &[delivery]).await?,
        false => send_again(app, write, workspace, &[delivery]).await?,
    };
    created.into_iter().next().ok_or_else(|| match is_dead {
        true => {
            Error::invalid("deliveries/0", format!("{delivery} is a dead letter that was already sent again"))
        }
        // The subscription was deleted in the meantime.
        false => not_found::<DeliveryIdKind>(delivery),
    })
}

/// Returns the audit log entry for deliveries that [`send_again`] or [`replay_chosen`] created: the action, the id of
/// the original delivery and the event type. If several were created, the entry has their number instead of an id and
/// an event type. Returns `None` if none was created.
pub fn audit_entry(created: &[Delivery]) -> Option<(Action, String, String)> {
    let all_replays = created.iter().all(|delivery| delivery.origin == super::DeliveryOrigin::Replay);
    let action = if all_replays { Action::DeadLettersReplayed } else { Action::DeliveryResent };
    match created {
        [] => None,
        [delivery] => {
            let original = delivery.replayed_from.map(|id| id.to_string()).unwrap_or_default();
            Some((action, original, delivery.event_type.clone()))
        }
        several => Some((action, String::new(), delivery_count(several.len() as u64))),
    }
}

/// Formats a number of deliveries for the audit log: "1 delivery", "2 deliveries".
pub(super) fn delivery_count(count: u64) -> String {
    if count == 1 { "1 delivery".to_owned() } else { format!("{count} deliveries") }
}

/// Counts those of these deliveries that [`replay_chosen`] would send now.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing delivery.
pub async fn count_replayable(app: &App, workspace: WorkspaceId, deliveries: &[DeliveryId]) -> Result<u64> {
    let rows = find_all(app.db.read(), workspace, deliveries).await?;
    Ok(filter_unreplayed(app.db.read(), workspace, rows).await?.len() as u64)
}

/// Returns the rows of these deliveries, or an error when one is missing.
async fn find_all(
    conn: &impl entity::Connection,
    workspace: WorkspaceId,
    deliveries: &[DeliveryId],
) -> Result<Vec<Model>> {
    let ids: Vec<Uuid> = deliveries.iter().map(|delivery| delivery.uuid()).collect();
    let rows = delivery_rows::in_workspace(workspace.uuid()).by_ids(conn, &ids).await?;
    match deliveries.iter().find(|requested| rows.iter().all(|row| row.id != requested.uuid())) {
        Some(missing) => Err(not_found::<DeliveryIdKind>(missing)),
        None => Ok(rows),
    }
}

/// Returns those of these deliveries that are dead and have no copy yet.
pub(super) async fn filter_unreplayed(
    conn: &impl entity::Connection,
    workspace: WorkspaceId,
    rows: Vec<Model>,
) -> Result<Vec<Model>> {
    let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let sent_again = delivery_rows::in_workspace(workspace.uuid()).replays_of(conn, &ids).await?;
    let sent_again: HashSet<Uuid> = sent_again.into_iter().filter_map(|row| row.replayed_from).collect();
    Ok(rows
        .into_iter()
        .filter(|row| row.state == StoredDeliveryState::Dead && !sent_again.contains(&row.id))
        .collect())
}

/// Inserts a new delivery with this origin for each of these settled deliveries, and wakes the worker after the commit.
/// Skips deliveries whose subscription was deleted. `job_id` is the replay that creates the deliveries, if any.
pub(super) async fn insert_copies(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    settled: Vec<(Model, StoredDeliveryOrigin)>,
    job_id: Option<Uuid>,
) -> Result<Vec<Model>> {
    let mut subscriptions: Vec<Uuid> = settled.iter().map(|(row, _)| row.subscription_id).collect();
    subscriptions.sort_unstable();
    subscriptions.dedup();
    let in_workspace = webhook_subscriptions::in_workspace(workspace.uuid());
    let states: HashMap<Uuid, StoredSubscriptionState> = in_workspace
        .subscribers(write.conn(), &subscriptions)
        .await?
        .into_iter()
        .map(|row| (row.id, row.state))
        .collect();
    let now = write.now_ms();
    let new_row = |(row, origin): (Model, StoredDeliveryOrigin)| {
        // A deleted subscription has no state. Its deliveries are deleted too, so nothing is sent again.
        let is_enabled = *states.get(&row.subscription_id)? == StoredSubscriptionState::Enabled;
        let id = new_uuid::<DeliveryIdKind>(app, write);
        Some(Model { job_id, ..row.new_copy(id, origin, is_enabled, now) })
    };
    let created: Vec<Model> = settled.into_iter().filter_map(new_row).collect();
    delivery_rows::in_workspace(workspace.uuid()).insert_many(write.conn(), created.clone()).await?;
    wake(app, write);
    Ok(created)
}

/// Sends the contract's example of an event of this type to a subscription, even if the subscription does not include
/// the type. Without `event_type`, uses the first event type of the subscription. No other subscription receives
/// the event.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] for one that is not enabled and for
/// an unknown event type.
pub async fn send_test(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    event_type: Option<&str>,
) -> Result<Delivery> {
    check_event_type(event_type)?;
    let subscription = lock(write, workspace, subscription_id).await?;
    let is_enabled = subscription.state == StoredSubscriptionState::Enabled;
    if !is_enabled {
        let message = format!("{subscription_id} is not enabled, so nothing can be sent; enable it first");
        return Err(Error::invalid("subscription", message));
    }
    let now = write.now_ms();
    let event_id = new_uuid::<EventIdKind>(app, write);
    let first_type = || subscription.event_types.0.into_iter().next().unwrap_or_default();
    let event_type = event_type.map_or_else(first_type, str::to_owned);
    let body = (app.example)(&event_type, id(event_id), from_ms(now), workspace);
    let body = body.ok_or_else(|| anyhow!("the contract has no example of `{event_type}`"))?;
    let workspace_id = workspace.uuid();
    // The example shows what receivers get, so its trace is not recorded.
    let (traceparent, is_test) = (None, true);
    let event =
        events::Model { id: event_id, workspace_id, event_type, created_at: now, body, traceparent, is_test };
    events::in_workspace(workspace.uuid()).insert(write.conn(), event.clone()).await?;
    let id = new_uuid::<DeliveryIdKind>(app, write);
    let row = Model {
        origin: StoredDeliveryOrigin::Test,
        ..Model::new(id, subscription.id, &event, is_enabled, now)
    };
    delivery_rows::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    wake(app, write);
    Ok(delivery(row, Vec::new()))
}

/// Wakes the worker after the commit.
fn wake(app: &App, write: &mut Write) {
    let app = app.clone();
    write.after_commit(move || app.fast_path().wake_signal().wake());
}
