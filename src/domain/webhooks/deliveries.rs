//! Lists of deliveries: those of a subscription, and the dead ones of a workspace.

use std::collections::HashMap;

use entity::webhook_attempts::{self, AttemptSummaryRow};
use entity::webhook_deliveries::{self as delivery_rows, Column, Model};
use uuid::Uuid;

use super::super::page::{MAX_SCANNED_ROWS, Page, PageRequest, Position, SortKey};
use super::super::records::{id, not_found};
use super::super::{Error, Result};
use super::subscriptions::{get_in, unknown_event_type};
use super::{Attempt, DeadFilter, Delivery, DeliveryFilter, DeliveryOrigin, DeliveryState, get, list};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::{Delivery as DeliveryIdKind, DeliveryId, SubscriptionId, WorkspaceId};

/// Returns a page of a subscription's deliveries with their attempts.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] for an unknown event type or for a
/// page that is not sorted by creation time.
pub async fn deliveries(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    filter: &DeliveryFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    get(app, workspace, subscription_id).await?;
    check_event_type(filter.event_type.as_deref())?;
    let keyset = page.keyset(&app.db, &app.clock, column).await?;
    let filter = row_filter(subscription_id, filter);
    let rows = delivery_rows::in_workspace(workspace.uuid());
    let rows = rows.of_subscription(app.db.read(), &filter, keyset).await?;
    with_attempts(app, workspace, page, rows).await
}

/// Returns a page of the workspace's deliveries with their attempts, newest first: those of one subscription, or of all. Reads at
/// most about [`MAX_SCANNED_ROWS`] deliveries. If more follow, `next` is set, even if the page is not full.
///
/// # Errors
/// Returns the errors of [`deliveries`].
pub async fn deliveries_of_all(
    app: &App,
    workspace: WorkspaceId,
    subscription: Option<SubscriptionId>,
    filter: &DeliveryFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    check_event_type(filter.event_type.as_deref())?;
    let subscriptions = match subscription {
        Some(subscription_id) => vec![get(app, workspace, subscription_id).await?.id],
        None => list(app, workspace).await?.into_iter().map(|subscription| subscription.id).collect(),
    };
    let max_rows =
        Ord::max(MAX_SCANNED_ROWS / Ord::max(subscriptions.len() as u64, 1), u64::from(page.limit));
    let mut end: Option<Position> = None;
    for subscription_id in &subscriptions {
        let own_end =
            search_end_after(app, workspace, *subscription_id, filter, page.after, max_rows).await?;
        // The newest of the ends: up to there, the search is complete in all subscriptions.
        end = [end, own_end].into_iter().flatten().max_by_key(|end| (end.at, end.id));
    }
    let page = PageRequest { to: end, ..page };
    let keyset = page.keyset(&app.db, &app.clock, column).await?;
    let mut rows = Vec::new();
    for subscription_id in subscriptions {
        let filter = row_filter(subscription_id, filter);
        let of_workspace = delivery_rows::in_workspace(workspace.uuid());
        rows.extend(of_workspace.of_subscription(app.db.read(), &filter, keyset).await?);
    }
    rows.sort_unstable_by_key(|row| std::cmp::Reverse((row.created_at, row.id)));
    let found = with_attempts(app, workspace, page, rows).await?;
    Ok(Page { next: found.next.or(end), ..found })
}

/// Returns the position at which a search that starts after `after` ends: [`MAX_SCANNED_ROWS`] deliveries further.
/// `None` if the search can read to the end of the list: because the list ends there or earlier, because an index
/// serves the filter, or because the filter requires the state pending or held and few deliveries are in that state.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn search_end(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    filter: &DeliveryFilter,
    after: Option<Position>,
) -> Result<Option<Position>> {
    search_end_after(app, workspace, subscription_id, filter, after, MAX_SCANNED_ROWS).await
}

/// Returns the position at which a search as in [`search_end`] ends that reads this number of rows.
async fn search_end_after(
    app: &App,
    workspace: WorkspaceId,
    subscription_id: SubscriptionId,
    filter: &DeliveryFilter,
    after: Option<Position>,
    max_rows: u64,
) -> Result<Option<Position>> {
    let rows = delivery_rows::in_workspace(workspace.uuid());
    let row_filter = row_filter(subscription_id, filter);
    let is_indexed = match filter.state {
        None | Some(DeliveryState::Dead) => filter.event_type.is_none(),
        Some(DeliveryState::Pending | DeliveryState::Held) => {
            rows.has_few_in_state(app.db.read(), &row_filter).await?
        }
        Some(DeliveryState::Delivered) => false,
    };
    if is_indexed {
        return Ok(None);
    }
    let (subscription_id, created) = (subscription_id.uuid(), row_filter.created);
    let keyset = PageRequest::newest_first(after, 1).keyset(&app.db, &app.clock, column).await?;
    let search_end = match filter.state {
        Some(DeliveryState::Dead) => {
            rows.dead_position_at(app.db.read(), Some(subscription_id), created, keyset, max_rows).await?
        }
        _ => rows.position_at(app.db.read(), subscription_id, created, keyset, max_rows).await?,
    };
    Ok(search_end.map(Position::from_parts))
}

/// Returns the position at which a search for [unreplayed](unreplayed_deliveries) deliveries that starts after `after`
/// ends: [`MAX_SCANNED_ROWS`] dead deliveries further, replayed or not. `None` if the search can read to the end of the
/// list.
///
/// # Errors
/// Returns the errors of [`dead_deliveries`].
pub async fn dead_search_end(
    app: &App,
    workspace: WorkspaceId,
    filter: &DeadFilter,
    after: Option<Position>,
) -> Result<Option<Position>> {
    let delivery_rows::DeadRowFilter { subscription, created, .. } =
        dead_row_filter(app.db.read(), workspace, filter).await?;
    let keyset = PageRequest::newest_first(after, 1).keyset(&app.db, &app.clock, column).await?;
    let rows = delivery_rows::in_workspace(workspace.uuid());
    let search_end =
        rows.dead_position_at(app.db.read(), subscription, created, keyset, MAX_SCANNED_ROWS).await?;
    Ok(search_end.map(Position::from_parts))
}

fn row_filter(subscription_id: SubscriptionId, filter: &DeliveryFilter) -> delivery_rows::DeliveryRowFilter {
    delivery_rows::DeliveryRowFilter {
        subscription: subscription_id.uuid(),
        state: filter.state.map(stored_state),
        event_type: filter.event_type.clone(),
        created: filter.created.in_ms(),
    }
}

/// Returns a page of the workspace's dead deliveries with their attempts.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] for an unknown event type or for a
/// page that is not sorted by creation time.
pub async fn dead_deliveries(
    app: &App,
    workspace: WorkspaceId,
    filter: &DeadFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    let filter = dead_row_filter(app.db.read(), workspace, filter).await?;
    dead_page(app, workspace, delivery_rows::DeadRowFilter { unreplayed: false, ..filter }, page).await
}

/// Returns a page of the dead deliveries that no other delivery sends again. A [`ReplayPreview`](super::ReplayPreview) counts
/// them, and a replay sends them.
///
/// # Errors
/// Returns the errors of [`dead_deliveries`].
pub async fn unreplayed_deliveries(
    app: &App,
    workspace: WorkspaceId,
    filter: &DeadFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    let filter = dead_row_filter(app.db.read(), workspace, filter).await?;
    dead_page(app, workspace, filter, page).await
}

async fn dead_page(
    app: &App,
    workspace: WorkspaceId,
    filter: delivery_rows::DeadRowFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    let keyset = page.keyset(&app.db, &app.clock, column).await?;
    let rows = delivery_rows::in_workspace(workspace.uuid()).dead(app.db.read(), &filter, keyset).await?;
    with_attempts(app, workspace, page, rows).await
}

/// Returns the workspace of a delivery, for the operator's commands.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing delivery.
pub async fn workspace_of(app: &App, delivery: DeliveryId) -> Result<WorkspaceId> {
    let row = delivery_rows::by_id(app.db.read(), delivery.uuid()).await?;
    row.map(|row| id(row.workspace_id)).ok_or_else(|| not_found::<DeliveryIdKind>(delivery))
}

/// Validates a filter and converts it to a filter of rows, which matches only deliveries that no other delivery sends
/// again.
pub(super) async fn dead_row_filter(
    conn: &impl entity::Connection,
    workspace: WorkspaceId,
    filter: &DeadFilter,
) -> Result<delivery_rows::DeadRowFilter> {
    check_event_type(filter.event_type.as_deref())?;
    if let Some(subscription_id) = filter.subscription {
        get_in(conn, workspace, subscription_id).await?;
    }
    Ok(delivery_rows::DeadRowFilter {
        subscription: filter.subscription.map(SubscriptionId::uuid),
        event_type: filter.event_type.clone(),
        created: filter.created.in_ms(),
        unreplayed: true,
        not_created_by_replay: None,
    })
}

/// Rejects an unknown event type.
pub(super) fn check_event_type(event_type: Option<&str>) -> Result<()> {
    event_type
        .and_then(unknown_event_type)
        .map_or(Ok(()), |message| Err(Error::invalid("event_type", message)))
}

const fn stored_state(state: DeliveryState) -> delivery_rows::StoredDeliveryState {
    match state {
        DeliveryState::Pending => delivery_rows::StoredDeliveryState::Pending,
        DeliveryState::Delivered => delivery_rows::StoredDeliveryState::Delivered,
        DeliveryState::Dead => delivery_rows::StoredDeliveryState::Dead,
        DeliveryState::Held => delivery_rows::StoredDeliveryState::Held,
    }
}

fn column(key: SortKey) -> Option<Column> {
    (key == SortKey::CreatedAt).then_some(Column::CreatedAt)
}

/// Converts the rows of a page query to a page of deliveries with their attempts.
async fn with_attempts(
    app: &App,
    workspace: WorkspaceId,
    page: PageRequest,
    rows: Vec<Model>,
) -> Result<Page<Delivery>> {
    let (rows, next) = page.trim_to_page(rows, |row, _| (row.created_at, row.id));
    let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let attempt_rows =
        webhook_attempts::in_workspace(workspace.uuid()).summaries(app.db.read(), &ids).await?;
    let mut attempts: HashMap<Uuid, Vec<Attempt>> = HashMap::new();
    for row in attempt_rows {
        attempts.entry(row.delivery_id).or_default().push(attempt(row));
    }
    let to_delivery = |row: Model| {
        let attempts = attempts.remove(&row.id).unwrap_or_default();
        delivery(row, attempts)
    };
    Ok(Page { items: rows.into_iter().map(to_delivery).collect(), next })
}

/// Converts a row to an attempt.
pub(super) fn attempt(row: AttemptSummaryRow) -> Attempt {
    Attempt {
        number: row.number,
        started_at: from_ms(row.started_at),
        ended_at: from_ms(row.ended_at),
        status: row.status,
        error: row.error,
    }
}

/// Converts a row to a delivery with these attempts.
pub(super) fn delivery(row: Model, attempts: Vec<Attempt>) -> Delivery {
    Delivery {
        id: id(row.id),
        subscription: id(row.subscription_id),
        event: id(row.event_id),
        event_type: row.event_type,
        origin: match row.origin {
            delivery_rows::StoredDeliveryOrigin::Event => DeliveryOrigin::Event,
            delivery_rows::StoredDeliveryOrigin::Replay => DeliveryOrigin::Replay,
            delivery_rows::StoredDeliveryOrigin::Resend => DeliveryOrigin::Resend,
            delivery_rows::StoredDeliveryOrigin::Test => DeliveryOrigin::Test,
        },
        replayed_from: row.replayed_from.map(id),
        state: match row.state {
            delivery_rows::StoredDeliveryState::Pending => DeliveryState::Pending,
            delivery_rows::StoredDeliveryState::Delivered => DeliveryState::Delivered,
            delivery_rows::StoredDeliveryState::Dead => DeliveryState::Dead,
            delivery_rows::StoredDeliveryState::Held => DeliveryState::Held,
        },
        next_attempt_at: row.next_attempt_at.map(from_ms),
        is_leased: row.lease_token.is_some(),
        created_at: from_ms(row.created_at),
        settled_at: row.settled_at.map(from_ms),
        attempts,
    }
}
