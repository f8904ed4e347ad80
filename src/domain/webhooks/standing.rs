//! Subscriptions paused, enabled and disabled, and their deliveries that follow.
//!
//! The state changes at once and nothing is sent against it. A long queue follows in batches: the first in the same
//! transaction, the rest as the worker calls [`align`].

use entity::webhook_deliveries::hold;
use entity::webhook_subscriptions::{self, ActiveModel, Model, State};
use entity::{Set, webhook_deliveries, webhook_fanouts};

use super::super::audit::{self, Action, Actor};
use super::super::{Changed, Error, Result};
use super::again::many;
use super::subscriptions::{lock, subscription};
use super::{Counted, Enabled, Held, Subscription, get};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{SubscriptionId, WorkspaceId};

/// Deliveries moved in one transaction at most.
const BATCH: u32 = 1000;

/// Holds a subscription's deliveries back until it is enabled. Once more changes nothing.
///
/// # Errors
/// [`Error::NotFound`] for an absent subscription, [`Error::Invalid`] for a disabled one.
pub async fn pause(
    write: &mut Write,
    workspace: WorkspaceId,
    of: SubscriptionId,
) -> Result<Changed<Subscription>> {
    let mut row = lock(write, workspace, of).await?;
    match row.state {
        State::Paused => return Ok(Changed::before(subscription(row))),
        State::Disabled => {
            let message = format!("{of} is disabled: nothing is sent until it is enabled");
            return Err(Error::invalid("subscription", message));
        }
        State::Enabled => row.state = State::Paused,
    }
    save(write, &mut row).await?;
    hold::hold(write.conn(), row.id, row.state, write.now_ms(), BATCH).await?;
    Ok(Changed::now(subscription(row)))
}

/// Sends a paused or disabled subscription's deliveries from now on, with a clean record of health. What it held is sent, what
/// a pause met between two attempts when that wait ends, or deleted in this one transaction: [`enable_whole`] deletes a long
/// queue piece by piece before. Once more changes nothing.
///
/// # Errors
/// [`Error::NotFound`] for an absent subscription.
pub async fn enable(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    of: SubscriptionId,
    held: Held,
) -> Result<Enabled> {
    let mut row = lock(write, workspace, of).await?;
    if row.state == State::Enabled {
        return Ok(Enabled { subscription: subscription(row), changed: false, moved: 0 });
    }
    let (now, mut moved) = (write.now_ms(), 0);
    match held {
        Held::Send => moved = hold::release(write.conn(), row.id, now, BATCH).await?,
        Held::Drop => {
            moved += webhook_fanouts::forget(write.conn(), workspace.uuid(), row.id).await?;
            loop {
                match hold::discard(write.conn(), row.id, now, BATCH).await? {
                    0 => break,
                    some => moved += some,
                }
            }
        }
    }
    row.state = State::Enabled;
    (row.failing_since, row.warned_at, row.disabled_at) = (None, None, None);
    save(write, &mut row).await?;
    let app = app.clone();
    write.after_commit(move || app.handoff().bell().ring());
    Ok(Enabled { subscription: subscription(row), changed: true, moved })
}

/// [`enable`], with all that it takes: what was held is dropped many short transactions long, the first of which tells the
/// audit log, and the last of all, which enables, tells it of that. `dropped` hears after each how many are gone.
/// Whoever enables the subscription meanwhile ends it: the outcome has then dropped some and changed nothing.
///
/// # Errors
/// [`Error::NotFound`] for an absent subscription.
pub async fn enable_whole(
    app: &App,
    workspace: WorkspaceId,
    of: SubscriptionId,
    held: Held,
    actor: &Actor,
    dropped: impl FnMut(u64),
) -> Result<Enabled> {
    let gone = match held {
        Held::Drop => discard_all(app, workspace, of, actor, dropped).await?,
        Held::Send => 0,
    };
    let mut write = app.begin_write().await?;
    let enabled = enable(app, &mut write, workspace, of, held).await?;
    let enabled = Enabled { moved: gone + enabled.moved, ..enabled };
    if enabled.changed {
        let url = &enabled.subscription.url;
        let detail = match held {
            Held::Drop if enabled.moved > 0 => format!("{url}, {} dropped", many(enabled.moved)),
            Held::Drop | Held::Send => url.clone(),
        };
        let told = (Action::WebhookEnabled, of.to_string(), detail.as_str());
        audit::append(app, &mut write, workspace, actor, told).await?;
        write.commit().await?;
    }
    Ok(enabled)
}

/// Drops what a subscription holds until nothing is left, or somebody enables it. Says how much it was.
async fn discard_all(
    app: &App,
    workspace: WorkspaceId,
    of: SubscriptionId,
    actor: &Actor,
    mut dropped: impl FnMut(u64),
) -> Result<u64> {
    let mut gone = 0;
    loop {
        let mut write = app.begin_write().await?;
        let row = lock(&write, workspace, of).await?;
        if row.state == State::Enabled {
            return Ok(gone);
        }
        let some = hold::discard(write.conn(), row.id, write.now_ms(), BATCH).await?;
        if some == 0 {
            return Ok(gone);
        }
        if gone == 0 {
            let told = (Action::WebhookDropped, of.to_string(), row.url.as_str());
            audit::append(app, &mut write, workspace, actor, told).await?;
        }
        write.commit().await?;
        gone += some;
        dropped(gone);
    }
}

/// How many of a subscription's deliveries are not settled, counted no further than a page tells. While it is paused or
/// disabled, these are what it holds.
///
/// # Errors
/// [`Error::NotFound`] for an absent subscription.
pub async fn waiting(app: &App, workspace: WorkspaceId, of: SubscriptionId) -> Result<Counted> {
    let of = get(app, workspace, of).await?.id;
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    Ok(Counted::of(rows.count_waiting(app.db.read(), of.uuid(), Counted::LIMIT).await?))
}

/// Disables an enabled subscription, whose endpoint failed for too long. True when this did it: whoever is told so
/// tells the owner.
///
/// # Errors
/// [`Error::Internal`] when the database fails.
pub async fn disable(write: &mut Write, of: SubscriptionId) -> Result<bool> {
    let now = write.now_ms();
    let disabled = webhook_subscriptions::disable(write.conn(), of.uuid(), now).await?;
    if disabled {
        hold::hold(write.conn(), of.uuid(), State::Disabled, now, BATCH).await?;
    }
    Ok(disabled)
}

/// Moves a batch of each subscription's deliveries, in all workspaces, that do not stand where its state wants them. True when
/// there may be more.
///
/// # Errors
/// [`Error::Internal`] when the database fails.
pub async fn align(app: &App) -> Result<bool> {
    let mut more = false;
    // Mostly none are, and the look costs no write.
    for of in hold::misplaced(app.db.read()).await? {
        let write = app.begin_write().await?;
        // Whoever changes the state, or drops what is held, comes before or after, also between the look and here.
        let Some(row) = webhook_subscriptions::lock_many(write.conn(), &[of]).await?.pop() else { continue };
        let now = write.now_ms();
        let moved = match row.state {
            State::Enabled => hold::release(write.conn(), of, now, BATCH).await?,
            state => hold::hold(write.conn(), of, state, now, BATCH).await?,
        };
        write.commit().await?;
        if moved > 0 && row.state == State::Enabled {
            app.handoff().bell().ring();
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
