//! Lists of deliveries: those of a subscription, and the dead ones of a workspace.

use std::collections::HashMap;

use entity::webhook_attempts::{self, AttemptSummaryRow};
use entity::webhook_deliveries::{self as rows, Column, Model};
use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::super::page::{MAX_SCANNED_ROWS, Page, PageRequest, Position, SortKey};
use super::super::records::{id, not_found};
use super::super::{Error, Result};
use super::subscriptions::{find_in, unknown_type};
use super::{Attempt, DeadFilter, Delivery, DeliveryFilter, DeliveryOrigin, DeliveryState, get};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::{Delivery as DeliveryKind, DeliveryId, SubscriptionId, WorkspaceId};

/// Returns a page of a subscription's deliveries with their attempts, newest first.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] for an unknown event type.
pub async fn deliveries(
    app: &App,
    workspace: WorkspaceId,
    of: SubscriptionId,
    filter: &DeliveryFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    get(app, workspace, of).await?;
    check_type(filter.event_type.as_deref())?;
    let keyset = page.keyset(app, column).await?;
    let filter = row_filter(of, filter);
    let found = rows::in_workspace(workspace.uuid()).of_subscription(app.db.read(), &filter, keyset).await?;
    with_attempts(app, workspace, page, found).await
}

/// Returns where a page's search ends when no index supports its filter: [`MAX_SCANNED_ROWS`] deliveries after its beginning. Returns
/// `None` when the search may continue to the end of the list.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn reach(
    app: &App,
    workspace: WorkspaceId,
    of: SubscriptionId,
    filter: &DeliveryFilter,
    after: Option<Position>,
) -> Result<Option<Position>> {
    let rows = rows::in_workspace(workspace.uuid());
    let row_filter = row_filter(of, filter);
    let is_indexed = match filter.state {
        None | Some(DeliveryState::Dead) => filter.event_type.is_none(),
        Some(DeliveryState::Pending | DeliveryState::Held) => rows.is_few(app.db.read(), &row_filter).await?,
        Some(DeliveryState::Delivered) => false,
    };
    if is_indexed {
        return Ok(None);
    }
    let (of, created) = (of.uuid(), row_filter.created);
    let keyset = PageRequest::newest_first(after, 1).keyset(app, column).await?;
    let reach = match filter.state {
        Some(DeliveryState::Dead) => {
            rows.reach_dead(app.db.read(), Some(of), created, keyset, MAX_SCANNED_ROWS).await?
        }
        _ => rows.reach(app.db.read(), of, created, keyset, MAX_SCANNED_ROWS).await?,
    };
    Ok(reach.map(Position::of))
}

/// Returns where the search of a page of unreplayed dead deliveries ends: [`MAX_SCANNED_ROWS`] dead ones after its beginning, replayed or
/// not. Returns `None` when the search may continue to the end of the list.
///
/// # Errors
/// As [`dead`].
pub async fn reach_dead(
    app: &App,
    workspace: WorkspaceId,
    filter: &DeadFilter,
    after: Option<Position>,
) -> Result<Option<Position>> {
    let rows::DeadRowFilter { subscription, created, .. } =
        dead_row_filter(app.db.read(), workspace, filter).await?;
    let keyset = PageRequest::newest_first(after, 1).keyset(app, column).await?;
    let rows = rows::in_workspace(workspace.uuid());
    let reach = rows.reach_dead(app.db.read(), subscription, created, keyset, MAX_SCANNED_ROWS).await?;
    Ok(reach.map(Position::of))
}

fn row_filter(of: SubscriptionId, filter: &DeliveryFilter) -> rows::DeliveryRowFilter {
    rows::DeliveryRowFilter {
        subscription: of.uuid(),
        state: filter.state.map(stored_state),
        event_type: filter.event_type.clone(),
        created: filter.created.in_ms(),
    }
}

/// Returns a page of the workspace's dead deliveries with their attempts, newest first.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing subscription, and [`Error::Invalid`] for an unknown event type.
pub async fn dead(
    app: &App,
    workspace: WorkspaceId,
    filter: &DeadFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    let filter = dead_row_filter(app.db.read(), workspace, filter).await?;
    dead_page(app, workspace, rows::DeadRowFilter { unreplayed: false, ..filter }, page).await
}

/// Returns a page of the dead deliveries that no other delivery sends again. A [`ReplayPreview`](super::ReplayPreview) counts
/// them, and a replay sends them.
///
/// # Errors
/// As [`dead`].
pub async fn unreplayed(
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
    filter: rows::DeadRowFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    let keyset = page.keyset(app, column).await?;
    let found = rows::in_workspace(workspace.uuid()).dead(app.db.read(), &filter, keyset).await?;
    with_attempts(app, workspace, page, found).await
}

/// Returns the workspace of a delivery, for the operator's commands.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing delivery.
pub async fn workspace_of(app: &App, delivery: DeliveryId) -> Result<WorkspaceId> {
    let row = rows::by_id(app.db.read(), delivery.uuid()).await?;
    row.map(|row| id(row.workspace_id)).ok_or_else(|| not_found::<DeliveryKind>(delivery))
}

/// Validates the filter and converts it for queries. The result matches only deliveries that no other delivery sends again.
pub(super) async fn dead_row_filter(
    conn: &impl ConnectionTrait,
    workspace: WorkspaceId,
    filter: &DeadFilter,
) -> Result<rows::DeadRowFilter> {
    check_type(filter.event_type.as_deref())?;
    if let Some(of) = filter.subscription {
        find_in(conn, workspace, of).await?;
    }
    Ok(rows::DeadRowFilter {
        subscription: filter.subscription.map(SubscriptionId::uuid),
        event_type: filter.event_type.clone(),
        created: filter.created.in_ms(),
        unreplayed: true,
        not_of_job: None,
    })
}

/// Rejects an unknown event type.
pub(super) fn check_type(kind: Option<&str>) -> Result<()> {
    kind.and_then(unknown_type).map_or(Ok(()), |message| Err(Error::invalid("event_type", message)))
}

const fn stored_state(state: DeliveryState) -> rows::StoredDeliveryState {
    match state {
        DeliveryState::Pending => rows::StoredDeliveryState::Pending,
        DeliveryState::Delivered => rows::StoredDeliveryState::Delivered,
        DeliveryState::Dead => rows::StoredDeliveryState::Dead,
        DeliveryState::Held => rows::StoredDeliveryState::Held,
    }
}

fn column(key: SortKey) -> Option<Column> {
    (key == SortKey::CreatedAt).then_some(Column::CreatedAt)
}

async fn with_attempts(
    app: &App,
    workspace: WorkspaceId,
    page: PageRequest,
    found: Vec<Model>,
) -> Result<Page<Delivery>> {
    let (found, next) = page.trim_to_page(found, |row, _| (row.created_at, row.id));
    let ids: Vec<Uuid> = found.iter().map(|row| row.id).collect();
    let log = webhook_attempts::in_workspace(workspace.uuid()).summaries(app.db.read(), &ids).await?;
    let mut attempts: HashMap<Uuid, Vec<Attempt>> = HashMap::new();
    for row in log {
        attempts.entry(row.delivery_id).or_default().push(attempt(row));
    }
    let with = |row: Model| {
        let attempts = attempts.remove(&row.id).unwrap_or_default();
        delivery(row, attempts)
    };
    Ok(Page { items: found.into_iter().map(with).collect(), next })
}

/// Converts a row.
pub(super) fn attempt(row: AttemptSummaryRow) -> Attempt {
    Attempt {
        number: row.number,
        started_at: from_ms(row.started_at),
        ended_at: from_ms(row.ended_at),
        status: row.status,
        error: row.error,
    }
}

/// Converts a row.
pub(super) fn delivery(row: Model, attempts: Vec<Attempt>) -> Delivery {
    Delivery {
        id: id(row.id),
        subscription: id(row.subscription_id),
        event: id(row.event_id),
        event_type: row.event_type,
        origin: match row.origin {
            rows::StoredDeliveryOrigin::Event => DeliveryOrigin::Event,
            rows::StoredDeliveryOrigin::Replay => DeliveryOrigin::Replay,
            rows::StoredDeliveryOrigin::Resend => DeliveryOrigin::Resend,
            rows::StoredDeliveryOrigin::Test => DeliveryOrigin::Test,
        },
        replayed_from: row.replayed_from.map(id),
        state: match row.state {
            rows::StoredDeliveryState::Pending => DeliveryState::Pending,
            rows::StoredDeliveryState::Delivered => DeliveryState::Delivered,
            rows::StoredDeliveryState::Dead => DeliveryState::Dead,
            rows::StoredDeliveryState::Held => DeliveryState::Held,
        },
        next_attempt_at: row.next_attempt_at.map(from_ms),
        created_at: from_ms(row.created_at),
        settled_at: row.settled_at.map(from_ms),
        attempts,
    }
}
