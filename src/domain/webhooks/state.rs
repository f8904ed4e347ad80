//! Pauses, enables and disables subscriptions, and holds, releases or deletes their deliveries accordingly.
//!
//! A new state applies as soon as it is committed: no attempt begins while the subscription is not enabled. The
//! deliveries are updated in batches: the first in the same transaction, the others when the worker calls
//! [`align_deliveries`].

use entity::webhook_deliveries::hold;
use entity::webhook_subscriptions::{self, ActiveModel, Model, StoredSubscriptionState};
use entity::{Set, webhook_deliveries, webhook_fanouts};

use super::super::audit::{self, Action, Actor};
use super::super::{Error, Result, WriteOutcome};
use super::resend::delivery_count;
use super::row::{lock, subscription};
use super::{CappedCount, EnabledSubscription, HeldAction, Subscription, get};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{SubscriptionId, WorkspaceId};

/// Maximum number of deliveries that one statement holds, releases or deletes.
const BATCH: u32 = 1000;

/// Pauses a subscription: its deliveries are held until it is enabled. Does nothing if it is already paused.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] for a disabled one.
pub async fn pause(
    write: &mut Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
) -> Result<WriteOutcome<Subscription>> {
    let mut row = lock(write, workspace, subscription_id).await?;
    match row.state {
        StoredSubscriptionState::Paused => return Ok(WriteOutcome::unchanged(subscription(row))),
        StoredSubscriptionState::Disabled => {
            let message = format!("{subscription_id} is disabled: nothing is sent until it is enabled");
            return Err(Error::invalid("subscription", message));
        }
        StoredSubscriptionState::Enabled => row.state = StoredSubscriptionState::Paused,
    }
    save(write, &mut row).await?;
    hold::hold(write.conn(), row.id, row.state, write.now_ms(), BATCH).await?;
    Ok(WriteOutcome::changed(subscription(row)))
}

/// Enables a paused or disabled subscription, and clears `failing_since`. Does nothing if it is already enabled.
///
/// Sends its held deliveries or deletes them, as `held` requests. Deliveries that are sent are due at once; if the
/// subscription was paused, a delivery that was held between two attempts is due when its retry delay ends. A deletion
/// also includes pending deliveries that are not in flight, and deliveries that the fan-out has not written yet. All
/// deletions happen in this one transaction; call [`enable_in_batches`] to delete a long queue.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription.
pub async fn enable(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    held: HeldAction,
) -> Result<EnabledSubscription> {
    let mut row = lock(write, workspace, subscription_id).await?;
    if row.state == StoredSubscriptionState::Enabled {
        return Ok(EnabledSubscription {
            subscription: subscription(row),
            changed: false,
            released_or_dropped: 0,
        });
    }
    let (now, mut released_or_dropped) = (write.now_ms(), 0);
    match held {
        HeldAction::Send => released_or_dropped = hold::release(write.conn(), row.id, now, BATCH).await?,
        HeldAction::Drop => {
            released_or_dropped +=
                webhook_fanouts::remove_subscription(write.conn(), workspace.uuid(), row.id).await?;
            loop {
                match hold::discard(write.conn(), row.id, now, BATCH).await? {
                    0 => break,
                    count => released_or_dropped += count,
                }
            }
        }
    }
    row.state = StoredSubscriptionState::Enabled;
    (row.failing_since, row.warned_at, row.disabled_at) = (None, None, None);
    save(write, &mut row).await?;
    let app = app.clone();
    write.after_commit(move || app.fast_path().wake_signal().wake());
    Ok(EnabledSubscription { subscription: subscription(row), changed: true, released_or_dropped })
}

/// Enables a subscription as [`enable`] does, but drops held deliveries in many short transactions before the one that
/// enables it. Writes the audit log when it begins to drop deliveries and when it enables the subscription. Calls
/// `on_dropped` after each batch with the number of deliveries dropped so far. Stops if another user enables the
/// subscription in the meantime: `released_or_dropped` is then the number of deliveries dropped before, and `changed`
/// is false.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription. Deliveries that were dropped before an error stay deleted.
pub async fn enable_in_batches(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    held: HeldAction,
    actor: &Actor,
    on_dropped: impl FnMut(u64),
) -> Result<EnabledSubscription> {
    let dropped = match held {
        HeldAction::Drop => drop_held(app, workspace, subscription_id, actor, on_dropped).await?,
        HeldAction::Send => 0,
    };
    let mut write = app.begin_write().await?;
    let enabled = enable(app, &mut write, workspace, subscription_id, held).await?;
    let released_or_dropped = dropped + enabled.released_or_dropped;
    let enabled = EnabledSubscription { released_or_dropped, ..enabled };
    if enabled.changed {
        let url = &enabled.subscription.url;
        let detail = match held {
            HeldAction::Drop if enabled.released_or_dropped > 0 => {
                format!("{url}, {} dropped", delivery_count(enabled.released_or_dropped))
            }
            HeldAction::Drop | HeldAction::Send => url.clone(),
        };
        let entry = (Action::WebhookEnabled, subscription_id.to_string(), detail.as_str());
        audit::append(app, &mut write, workspace, actor, entry).await?;
        write.commit().await?;
    }
    Ok(enabled)
}

/// Deletes a subscription's held deliveries, and its pending ones that are not in flight, until none is left or the
/// subscription is enabled. Returns the number of deliveries deleted.
async fn drop_held(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    actor: &Actor,
    mut on_dropped: impl FnMut(u64),
) -> Result<u64> {
    let mut total = 0;
    loop {
        let mut write = app.begin_write().await?;
        let row = lock(&write, workspace, subscription_id).await?;
        if row.state == StoredSubscriptionState::Enabled {
            return Ok(total);
        }
        let count = hold::discard(write.conn(), row.id, write.now_ms(), BATCH).await?;
        if count == 0 {
            return Ok(total);
        }
        if total == 0 {
            let entry = (Action::WebhookDropped, subscription_id.to_string(), row.url.as_str());
            audit::append(app, &mut write, workspace, actor, entry).await?;
        }
        write.commit().await?;
        total += count;
        on_dropped(total);
    }
}

/// Counts a subscription's pending and held deliveries, up to the limit of [`CappedCount`]. While the subscription is
/// paused or disabled, pending ones are in flight or about to be held.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription.
pub async fn count_unsettled(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
) -> Result<CappedCount> {
    let subscription_id = get(app, workspace, subscription_id).await?.id;
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    Ok(CappedCount::from_count(
        rows.count_unsettled(app.db.read(), subscription_id.uuid(), CappedCount::LIMIT).await?,
    ))
}

/// Disables a subscription because its endpoint failed for too long. Returns true when this call disabled it: the
/// caller must then notify the owner. Returns false and does nothing when the subscription is not enabled.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn disable(write: &mut Write, subscription_id: SubscriptionId) -> Result<bool> {
    let now = write.now_ms();
    let disabled = webhook_subscriptions::disable(write.conn(), subscription_id.uuid(), now).await?;
    if disabled {
        hold::hold(write.conn(), subscription_id.uuid(), StoredSubscriptionState::Disabled, now, BATCH)
            .await?;
    }
    Ok(disabled)
}

/// Finds the subscriptions of all workspaces whose deliveries do not match their state, and holds or releases a batch
/// of deliveries of each. Returns true when more such deliveries may remain.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn align_deliveries(app: &App) -> Result<bool> {
    let mut has_more = false;
    // Usually there is no such subscription, and this check needs no write.
    for subscription_id in hold::mismatched_subscriptions(app.db.read()).await? {
        let write = app.begin_write().await?;
        // The lock serializes this with changes of the state and with drops. Both may have happened since the check
        // above.
        let Some(row) = webhook_subscriptions::lock_many(write.conn(), &[subscription_id]).await?.pop()
        else {
            continue;
        };
        let now = write.now_ms();
        let updated = match row.state {
            StoredSubscriptionState::Enabled => {
                hold::release(write.conn(), subscription_id, now, BATCH).await?
            }
            state => hold::hold(write.conn(), subscription_id, state, now, BATCH).await?,
        };
        write.commit().await?;
        if updated > 0 && row.state == StoredSubscriptionState::Enabled {
            app.fast_path().wake_signal().wake();
        }
        has_more |= updated >= u64::from(BATCH);
    }
    Ok(has_more)
}

/// Writes an updated subscription and sets its `updated_at`.
async fn save(write: &Write, row: &mut Model) -> Result<()> {
    row.updated_at = write.recorded_ms();
    let changes = ActiveModel {
        state: Set(row.state),
        failing_since: Set(row.failing_since),
        warned_at: Set(row.warned_at),
        disabled_at: Set(row.disabled_at),
        updated_at: Set(row.updated_at),
        ..Default::default()
    };
    webhook_subscriptions::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    Ok(())
}
