//! The recovery of an endpoint: when it succeeds after an outage in which deliveries died, its owner is offered to replay
//! them.
//!
//! An outage begins with the first failed attempt and ends with the next success. Enabling the subscription or changing
//! its URL does not end it. An offer stays open until it is accepted or dismissed, and then covers later outages, too.

use entity::rollups::DAY_MS;
use entity::webhook_subscriptions::{self, ActiveModel, Model};
use entity::{Set, webhook_deliveries};
use jiff::Timestamp;

use super::super::page::TimeSpan;
use super::super::{Error, Result};
use super::row::lock;
use super::{DeadFilter, ReplayPreview, ReplayStart, get, replays};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{SubscriptionId, WorkspaceId};

/// A shorter outage causes no offer. An endpoint that refuses single events is healthy again with the next one.
const MIN_OUTAGE_MS: i64 = 5 * 60_000;
/// Deliveries that died in an outage were created at most this time before it: longer than all retries take.
const MAX_AGE_MS: i64 = 2 * DAY_MS;

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
    let died = deliveries.died_since(write.conn(), row.id, (since - MAX_AGE_MS, since)).await?;
    let Some((oldest, newest)) = died else { return Ok(None) };
    let changes = ActiveModel {
        recovered_at: Set(Some(at)),
        offered_from: Set(Some(row.offered_from.map_or(oldest, |from| from.min(oldest)))),
        ..Default::default()
    };
    webhook_subscriptions::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    let is_new = row.recovered_at.is_none_or(|recovered_at| newest > recovered_at);
    Ok(is_new.then(|| from_ms(since)))
}

/// Counts what the offer of a subscription would replay now.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] for one without an offer.
pub async fn preview(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
) -> Result<ReplayPreview> {
    let subscription = get(app, workspace, subscription_id).await?;
    let message = "was accepted or dismissed already";
    let offer = subscription.offer.ok_or_else(|| Error::invalid("offer", message))?;
    let created = TimeSpan { from: Some(offer.from), to: None };
    let filter = DeadFilter { subscription: Some(subscription_id), event_type: None, created };
    replays::preview(app, workspace, &filter).await
}

/// Accepts an offer: starts the replay, and closes the offer.
///
/// # Errors
/// Returns [`Error::NotFound`] when the subscription was deleted in the meantime.
pub async fn accept(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    preview: &ReplayPreview,
) -> Result<ReplayStart> {
    let started = replays::start_unless_running(app, write, preview).await?;
    dismiss(write, workspace, subscription_id).await?;
    Ok(started)
}

/// Closes the offer of a subscription, if there is one.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription.
pub async fn dismiss(
    write: &mut Write,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
) -> Result<()> {
    let row = lock(write, workspace, subscription_id).await?;
    let changes = ActiveModel { offered_from: Set(None), ..Default::default() };
    webhook_subscriptions::in_workspace(workspace.uuid()).update(write.conn(), row.id, changes).await?;
    Ok(())
}
