//! Deliveries made by hand: a settled one sent again, and one that tries a subscription.
//!
//! Each is a new row with all its attempts before it; the one that it sends again never changes.

use std::collections::{HashMap, HashSet};

use anyhow::anyhow;
use entity::events;
use entity::webhook_deliveries::{self as rows, Model, Origin, State};
use entity::webhook_subscriptions::{self, State as Standing};
use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::super::audit::Action;
use super::super::faults::Faults;
use super::super::find::{absent, fresh, id};
use super::super::{Error, Result};
use super::deliveries::{check_type, delivery};
use super::{Delivery, subscriptions};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Delivery as DeliveryKind, DeliveryId, Event as EventKind, SubscriptionId, WorkspaceId};

/// Sends settled deliveries again, in the order given: a dead one as a replay, a delivered one as a resend. While
/// their subscription is paused or disabled they are held.
///
/// # Errors
/// [`Error::NotFound`] for an absent delivery, [`Error::Invalid`] for one that is still to be sent. Nothing is sent then.
pub async fn send_again(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    deliveries: &[DeliveryId],
) -> Result<Vec<Delivery>> {
    let ids: Vec<Uuid> = deliveries.iter().map(|delivery| delivery.uuid()).collect();
    let found = rows::in_workspace(workspace.uuid()).by_ids(write.conn(), &ids).await?;
    let mut found: HashMap<Uuid, Model> = found.into_iter().map(|row| (row.id, row)).collect();
    let mut faults = Faults::default();
    let mut settled = Vec::with_capacity(deliveries.len());
    for (place, wanted) in deliveries.iter().enumerate() {
        let row = found.remove(&wanted.uuid());
        let Some(row) = row else {
            if deliveries[..place].contains(wanted) {
                continue;
            }
            return Err(absent::<DeliveryKind>(wanted));
        };
        match row.state {
            State::Pending => faults
                .add(format!("deliveries/{place}"), format!("{wanted} is pending: it is sent by itself")),
            State::Held => {
                let message = format!("{wanted} is held: it is sent when its subscription is enabled");
                faults.add(format!("deliveries/{place}"), message);
            }
            State::Dead => settled.push((row, Origin::Replay)),
            State::Delivered => settled.push((row, Origin::Resend)),
        }
    }
    faults.check()?;
    let again = append(app, write, workspace, settled, None).await?;
    Ok(again.into_iter().map(|row| delivery(row, Vec::new())).collect())
}

/// Replays dead deliveries, and passes over those that another delivery sends again already, or that are not dead. Whoever
/// chooses the same ones at the same time sends none of them twice.
///
/// # Errors
/// [`Error::NotFound`] for an absent delivery; nothing is sent then.
pub async fn replay_chosen(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    deliveries: &[DeliveryId],
) -> Result<Vec<Delivery>> {
    let found = all_of(write.conn(), workspace, deliveries).await?;
    // Others who choose wait here, and then see what was chosen before them.
    let of: Vec<Uuid> = found.iter().map(|row| row.subscription_id).collect();
    webhook_subscriptions::in_workspace(workspace.uuid()).lock_many(write.conn(), &of).await?;
    let dead = unreplayed(write.conn(), workspace, found).await?;
    let dead = dead.into_iter().map(|row| (row, Origin::Replay)).collect();
    let made = append(app, write, workspace, dead, None).await?;
    Ok(made.into_iter().map(|row| delivery(row, Vec::new())).collect())
}

/// What the audit log is told of deliveries that were made to send others again: of one, which other; of several, how many.
/// Nothing of none.
pub fn told(made: &[Delivery]) -> Option<(Action, String, String)> {
    let dead = made.iter().all(|one| one.origin == super::Origin::Replay);
    let action = if dead { Action::DeadLettersReplayed } else { Action::DeliveryResent };
    match made {
        [] => None,
        [one] => {
            let again = one.replayed_from.map(|of| of.to_string()).unwrap_or_default();
            Some((action, again, one.event_type.clone()))
        }
        all => Some((action, String::new(), many(all.len() as u64))),
    }
}

/// "1 delivery", "2 deliveries": how many, as the audit log tells it.
pub(super) fn many(count: u64) -> String {
    if count == 1 { "1 delivery".to_owned() } else { format!("{count} deliveries") }
}

/// How many of these [`replay_chosen`] would send now.
///
/// # Errors
/// [`Error::NotFound`] for an absent delivery.
pub async fn count_chosen(app: &App, workspace: WorkspaceId, deliveries: &[DeliveryId]) -> Result<u64> {
    let found = all_of(app.db.read(), workspace, deliveries).await?;
    Ok(unreplayed(app.db.read(), workspace, found).await?.len() as u64)
}

/// The rows of these deliveries, all of which must be there.
async fn all_of(
    conn: &impl ConnectionTrait,
    workspace: WorkspaceId,
    deliveries: &[DeliveryId],
) -> Result<Vec<Model>> {
    let ids: Vec<Uuid> = deliveries.iter().map(|delivery| delivery.uuid()).collect();
    let found = rows::in_workspace(workspace.uuid()).by_ids(conn, &ids).await?;
    match deliveries.iter().find(|wanted| found.iter().all(|row| row.id != wanted.uuid())) {
        Some(missing) => Err(absent::<DeliveryKind>(missing)),
        None => Ok(found),
    }
}

/// Those of these that are dead and that no other delivery sends again.
pub(super) async fn unreplayed(
    conn: &impl ConnectionTrait,
    workspace: WorkspaceId,
    found: Vec<Model>,
) -> Result<Vec<Model>> {
    let ids: Vec<Uuid> = found.iter().map(|row| row.id).collect();
    let again = rows::in_workspace(workspace.uuid()).again(conn, &ids).await?;
    let again: HashSet<Uuid> = again.into_iter().filter_map(|row| row.replayed_from).collect();
    Ok(found.into_iter().filter(|row| row.state == State::Dead && !again.contains(&row.id)).collect())
}

/// Writes a new delivery for each of these, and wakes the worker.
pub(super) async fn append(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    settled: Vec<(Model, Origin)>,
    job: Option<Uuid>,
) -> Result<Vec<Model>> {
    let mut subscriptions: Vec<Uuid> = settled.iter().map(|(row, _)| row.subscription_id).collect();
    subscriptions.sort_unstable();
    subscriptions.dedup();
    let standing = webhook_subscriptions::in_workspace(workspace.uuid());
    let standing: HashMap<Uuid, Standing> =
        standing.standing(write.conn(), &subscriptions).await?.into_iter().collect();
    let now = write.now_ms();
    let new = |(row, origin): (Model, Origin)| {
        // One that is gone takes its deliveries with it.
        let enabled = *standing.get(&row.subscription_id)? == Standing::Enabled;
        Some(Model { job_id: job, ..row.again(fresh::<DeliveryKind>(app, write), origin, enabled, now) })
    };
    let again: Vec<Model> = settled.into_iter().filter_map(new).collect();
    rows::in_workspace(workspace.uuid()).insert_many(write.conn(), again.clone()).await?;
    wake(app, write);
    Ok(again)
}

/// Sends a subscription the contract's example of this type of event, whether or not it wants such; of the first that it
/// wants when none is named. Nobody else hears of it.
///
/// # Errors
/// [`Error::NotFound`] for an absent subscription, [`Error::Invalid`] for one that is not enabled, and for a type of
/// event that there is not.
pub async fn test(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    of: SubscriptionId,
    kind: Option<&str>,
) -> Result<Delivery> {
    check_type(kind)?;
    let subscription = subscriptions::lock(write, workspace, of).await?;
    if subscription.state != Standing::Enabled {
        let message = format!("{of} is not enabled, so nothing would be sent; enable it first");
        return Err(Error::invalid("subscription", message));
    }
    let now = write.now_ms();
    let event = fresh::<EventKind>(app, write);
    let first = || subscription.event_types.0.into_iter().next().unwrap_or_default();
    let kind = kind.map_or_else(first, str::to_owned);
    let body = (app.example)(&kind, id(event), from_ms(now), workspace);
    let body = body.ok_or_else(|| anyhow!("the contract has no example of `{kind}`"))?;
    let event = events::Model { id: event, workspace_id: workspace.uuid(), kind, created_at: now, body };
    events::in_workspace(workspace.uuid()).insert(write.conn(), event.clone()).await?;
    let made = fresh::<DeliveryKind>(app, write);
    let row = Model { origin: Origin::Test, ..Model::new(made, subscription.id, &event, true, now) };
    rows::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    wake(app, write);
    Ok(delivery(row, Vec::new()))
}

fn wake(app: &App, write: &mut Write) {
    let app = app.clone();
    write.after_commit(move || app.handoff().bell().ring());
}
