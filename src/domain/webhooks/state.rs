//! Pauses, enables and disables subscriptions, and moves their deliveries accordingly.
//!
//! The state changes at once, and no delivery is sent against it. A long queue is moved in batches: the first in the same
//! transaction, the others when the worker calls [`align_deliveries`].

use entity::webhook_deliveries::hold;
use entity::webhook_subscriptions::{self, ActiveModel, Model, StoredSubscriptionState};
use entity::{Set, webhook_deliveries, webhook_fanouts};

use super::super::audit::{self, Action, Actor};
use super::super::{Error, Result, WriteOutcome};
use super::resend::delivery_count;
use super::subscriptions::{lock, subscription};
use super::{CappedCount, EnabledSubscription, HeldAction, Subscription, get};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{SubscriptionId, WorkspaceId};

/// Deliveries moved by one transaction, at most.
const BATCH: u32 = 1000;

/// Pauses a subscription: its deliveries are held until it is enabled. Does nothing if it is already paused.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] for a disabled one.
pub async fn pause(
    write: &mut Write,
    workspace: WorkspaceId,
    of: SubscriptionId,
) -> Result<WriteOutcome<Subscription>> {
    let mut row = lock(write, workspace, of).await?;
    match row.state {
        StoredSubscriptionState::Paused => return Ok(WriteOutcome::unchanged(subscription(row))),
        StoredSubscriptionState::Disabled => {
            let message = format!("{of} is disabled: nothing is sent until it is enabled");
            return Err(Error::invalid("subscription", message));
        }
        StoredSubscriptionState::Enabled => row.state = StoredSubscriptionState::Paused,
    }
    save(write, &mut row).await?;
    hold::hold(write.conn(), row.id, row.state, write.now_ms(), BATCH).await?;
    Ok(WriteOutcome::changed(subscription(row)))
}

/// Enables a paused or disabled subscription and resets its health. Its held deliveries are sent (a delivery that was paused
/// between two attempts when that delay ends), or deleted in this one transaction; call [`enable_in_batches`] to delete a long
/// queue in several. Does nothing if the subscription is already enabled.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription.
pub async fn enable(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    of: SubscriptionId,
    held: HeldAction,
) -> Result<EnabledSubscription> {
    let mut row = lock(write, workspace, of).await?;
    if row.state == StoredSubscriptionState::Enabled {
        return Ok(EnabledSubscription { subscription: subscription(row), changed: false, moved: 0 });
    }
    let (now, mut moved) = (write.now_ms(), 0);
    match held {
        HeldAction::Send => moved = hold::release(write.conn(), row.id, now, BATCH).await?,
        HeldAction::Drop => {
            moved += webhook_fanouts::remove_subscription(write.conn(), workspace.uuid(), row.id).await?;
            loop {
                match hold::discard(write.conn(), row.id, now, BATCH).await? {
                    0 => break,
                    count => moved += count,
                }
            }
        }
    }
    row.state = StoredSubscriptionState::Enabled;
    (row.failing_since, row.warned_at, row.disabled_at) = (None, None, None);
    save(write, &mut row).await?;
    let app = app.clone();
    write.after_commit(move || app.fast_path().wake_signal().wake());
    Ok(EnabledSubscription { subscription: subscription(row), changed: true, moved })
}

/// Like [`enable`], but drops held deliveries in many short transactions before the one that enables the subscription. The
/// first and the last of them write the audit log. Calls `dropped` after each with the number of deliveries dropped so far. If
/// another user enables the subscription meanwhile, this stops: the result then has dropped deliveries and no change.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription.
pub async fn enable_in_batches(
    app: &App,
    workspace: WorkspaceId,
    of: SubscriptionId,
    held: HeldAction,
    actor: &Actor,
    dropped: impl FnMut(u64),
) -> Result<EnabledSubscription> {
    let discarded = match held {
        HeldAction::Drop => discard_all(app, workspace, of, actor, dropped).await?,
        HeldAction::Send => 0,
    };
    let mut write = app.begin_write().await?;
    let enabled = enable(app, &mut write, workspace, of, held).await?;
    let enabled = EnabledSubscription { moved: discarded + enabled.moved, ..enabled };
    if enabled.changed {
        let url = &enabled.subscription.url;
        let detail = match held {
            HeldAction::Drop if enabled.moved > 0 => {
                format!("{url}, {} dropped", delivery_count(enabled.moved))
            }
            HeldAction::Drop | HeldAction::Send => url.clone(),
        };
        let entry = (Action::WebhookEnabled, of.to_string(), detail.as_str());
        audit::append(app, &mut write, workspace, actor, entry).await?;
        write.commit().await?;
    }
    Ok(enabled)
}

/// Deletes a subscription's held deliveries until none is left, or until it is enabled. Returns the number of deliveries
/// deleted.
async fn discard_all(
    app: &App,
    workspace: WorkspaceId,
    of: SubscriptionId,
    actor: &Actor,
    mut dropped: impl FnMut(u64),
) -> Result<u64> {
    let mut total = 0;
    loop {
        let mut write = app.begin_write().await?;
        let row = lock(&write, workspace, of).await?;
        if row.state == StoredSubscriptionState::Enabled {
            return Ok(total);
        }
        let count = hold::discard(write.conn(), row.id, write.now_ms(), BATCH).await?;
        if count == 0 {
            return Ok(total);
        }
        if total == 0 {
            let entry = (Action::WebhookDropped, of.to_string(), row.url.as_str());
            audit::append(app, &mut write, workspace, actor, entry).await?;
        }
        write.commit().await?;
        total += count;
        dropped(total);
    }
}

/// Counts a subscription's pending and held deliveries, up to the limit that a page shows. While the subscription is paused or
/// disabled, this is the number of held deliveries.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription.
pub async fn count_unsettled(app: &App, workspace: WorkspaceId, of: SubscriptionId) -> Result<CappedCount> {
    let of = get(app, workspace, of).await?.id;
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    Ok(CappedCount::of(rows.count_unsettled(app.db.read(), of.uuid(), CappedCount::LIMIT).await?))
}

/// Disables an enabled subscription because its endpoint failed for too long. Returns true when this call disabled it: the
/// caller must then notify the owner.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn disable(write: &mut Write, of: SubscriptionId) -> Result<bool> {
    let now = write.now_ms();
    let disabled = webhook_subscriptions::disable(write.conn(), of.uuid(), now).await?;
    if disabled {
        hold::hold(write.conn(), of.uuid(), StoredSubscriptionState::Disabled, now, BATCH).await?;
    }
    Ok(disabled)
}

/// Moves a batch of deliveries of each subscription, in all workspaces, whose deliveries contradict its state. Returns true
/// when there may be more.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn align_deliveries(app: &App) -> Result<bool> {
    let mut more = false;
    // Usually there is no such subscription, and this check needs no write.
    for of in hold::misaligned(app.db.read()).await? {
        let write = app.begin_write().await?;
        // The lock serializes this with changes of the state and with drops, also those since the check above.
        let Some(row) = webhook_subscriptions::lock_many(write.conn(), &[of]).await?.pop() else { continue };
        let now = write.now_ms();
        let moved = match row.state {
            StoredSubscriptionState::Enabled => hold::release(write.conn(), of, now, BATCH).await?,
            state => hold::hold(write.conn(), of, state, now, BATCH).await?,
        };
        write.commit().await?;
        if moved > 0 && row.state == StoredSubscriptionState::Enabled {
            app.fast_path().wake_signal().wake();
        }
        more |= moved >= u64::from(BATCH);
    }
    Ok(more)
}

async fn save(write: &Write, row: &mut Model) -> Result<()> {
    row.updated_at = write.now_ms();
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
