//! The recovery of an endpoint: when it succeeds after an outage in which deliveries died, its owner is offered to replay
//! them.
//!
//! An outage begins with the first failed attempt and ends with the next success. Enabling the subscription or changing
//! its URL does not end it. A single failed attempt is no outage, even if the next success is much later. An offer stays
//! open until it is accepted or dismissed, and then covers later outages, too.

use entity::rollups::DAY_MS;
use entity::webhook_subscriptions::{self, ActiveModel, Model};
use entity::{Set, webhook_deliveries};
use jiff::Timestamp;

use super::super::page::TimeSpan;
use super::super::{Error, Result};
use super::row::lock;
use super::{DeadFilter, ReplayPreview, ReplayStart, get, replays};
use crate::app::App;
use crate::outbox::RETENTION_DAYS;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{SubscriptionId, WorkspaceId};

/// A shorter outage causes no offer. An endpoint that refuses single events is healthy again with the next one.
const MIN_OUTAGE_MS: i64 = 5 * 60_000;

/// An offer to replay what died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// When the first of the dead deliveries was created.
    pub from: Timestamp,
    /// When the endpoint succeeded again.
    pub recovered_at: Timestamp,
}

/// Returns the offer of a subscription.
pub(super) fn offer(row: &Model) -> Option<Offer> {
    Some(Offer { from: from_ms(row.offered_from?), recovered_at: from_ms(row.recovered_at?) })
}

/// Ends the outage of a locked subscription whose endpoint succeeded at `at`, in milliseconds since the epoch. Returns when
/// the outage began if the owner must be notified: only once, even if deliveries of this outage die later.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn end_outage(write: &Write, row: &Model, at: i64) -> Result<Option<Timestamp>> {
    webhook_subscriptions::clear_failing(write.conn(), row.id).await?;
    let Some(since) = row.outage_since.or(row.failing_since).filter(|since| at - since >= MIN_OUTAGE_MS)
    else {
        return Ok(None);
    };
    let deliveries = webhook_deliveries::in_workspace(row.workspace_id);
    // A delivery can be old when it dies: it was held while its subscription was paused.
    let oldest = at - RETENTION_DAYS * DAY_MS;
    let died = deliveries.died_since(write.conn(), row.id, (oldest, since)).await?;
    // The first failed attempt ended at `since`. If nothing died later, there may have been no other one.
    let Some((oldest, last_died)) = died.filter(|(_, last_died)| *last_died > since) else {
        return Ok(None);
    };
    let changes = ActiveModel {
        recovered_at: Set(Some(at)),
        offered_from: Set(Some(row.offered_from.map_or(oldest, |from| from.min(oldest)))),
        ..Default::default()
    };
    webhook_subscriptions::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    let is_new = row.recovered_at.is_none_or(|recovered_at| last_died > recovered_at);
    Ok(is_new.then(|| from_ms(since)))
}

/// What the offer of a subscription would replay now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferPreview {
    subscription: SubscriptionId,
    from: Timestamp,
    replay: ReplayPreview,
}

/// Counts what the offer of a subscription would replay now.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] for one without an offer.
pub async fn preview(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
) -> Result<OfferPreview> {
    let subscription = get(app, workspace, subscription_id).await?;
    let message = "was accepted or dismissed already";
    let offer = subscription.offer.ok_or_else(|| Error::invalid("offer", message))?;
    let created = TimeSpan { from: Some(offer.from), to: None };
    let filter = DeadFilter { subscription: Some(subscription_id), event_type: None, created };
    let replay = replays::preview(app, workspace, &filter).await?;
    Ok(OfferPreview { subscription: subscription_id, from: offer.from, replay })
}

/// Accepts an offer when the write commits: starts the replay, and closes the offer. Returns `None`, and changes nothing, if
/// the subscription no longer has this offer.
///
/// # Errors
/// Returns [`Error::NotFound`] when the subscription was deleted in the meantime.
pub async fn accept(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    preview: &OfferPreview,
) -> Result<Option<ReplayStart>> {
    // Starting a replay locks all subscriptions. In another order, two concurrent calls could deadlock.
    replays::lock_subscriptions(write, workspace).await?;
    if !dismiss(write, workspace, preview.subscription, preview.from).await? {
        return Ok(None);
    }
    replays::start_unless_running(app, write, &preview.replay).await.map(Some)
}

/// Closes the offer of a subscription that begins at this time, when the write commits. Returns false, and changes
/// nothing, if the subscription no longer has this offer.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription.
pub async fn dismiss(
    write: &mut Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    from: Timestamp,
) -> Result<bool> {
    let row = lock(write, workspace, subscription_id).await?;
    if row.offered_from.map(from_ms) != Some(from) {
        return Ok(false);
    }
    let changes = ActiveModel { offered_from: Set(None), ..Default::default() };
    webhook_subscriptions::in_workspace(workspace.uuid()).update(write.conn(), row.id, changes).await?;
    Ok(true)
}
