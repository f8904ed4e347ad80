//! Deliveries as people look at them: a subscription's, and the dead ones of a workspace.

use std::collections::HashMap;

use entity::webhook_attempts::{self, Summary};
use entity::webhook_deliveries::{self as rows, Column, Model};
use sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::super::find::{absent, id};
use super::super::page::{LOOKED, Page, PageRequest, Position, SortKey};
use super::super::{Error, Result};
use super::subscriptions::{there, unknown};
use super::{Attempt, DeadFilter, Delivery, DeliveryFilter, DeliveryState, Origin, get};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::{Delivery as DeliveryKind, DeliveryId, SubscriptionId, WorkspaceId};

/// A page of a subscription's deliveries with their attempts, newest first.
///
/// # Errors
/// [`Error::NotFound`] for an absent subscription, [`Error::Invalid`] for a type of event that there is not.
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
    let wanted = wanted_of(of, filter);
    let found = rows::in_workspace(workspace.uuid()).of_subscription(app.db.read(), &wanted, keyset).await?;
    with_attempts(app, workspace, page, found).await
}

/// How far a page looks that is filtered by what no index knows: so many deliveries as [`LOOKED`] behind its beginning.
/// `None` when it may look to the end.
///
/// # Errors
/// [`Error::Internal`] when the database fails.
pub async fn reach(
    app: &App,
    workspace: WorkspaceId,
    of: SubscriptionId,
    filter: &DeliveryFilter,
    after: Option<Position>,
) -> Result<Option<Position>> {
    let rows = rows::in_workspace(workspace.uuid());
    let wanted = wanted_of(of, filter);
    let known = match filter.state {
        None | Some(DeliveryState::Dead) => filter.event_type.is_none(),
        Some(DeliveryState::Pending | DeliveryState::Held) => rows.is_few(app.db.read(), &wanted).await?,
        Some(DeliveryState::Delivered) => false,
    };
    if known {
        return Ok(None);
    }
    let (of, created) = (of.uuid(), wanted.created);
    let keyset = PageRequest::newest(after, 1).keyset(app, column).await?;
    let reach = match filter.state {
        Some(DeliveryState::Dead) => {
            rows.reach_dead(app.db.read(), Some(of), created, keyset, LOOKED).await?
        }
        _ => rows.reach(app.db.read(), of, created, keyset, LOOKED).await?,
    };
    Ok(reach.map(Position::of))
}

/// How far a page of the dead ones looks that no other delivery sends again: so many dead ones as [`LOOKED`] behind its
/// beginning, sent again or not. `None` when it may look to the end.
///
/// # Errors
/// As [`dead`].
pub async fn reach_dead(
    app: &App,
    workspace: WorkspaceId,
    filter: &DeadFilter,
    after: Option<Position>,
) -> Result<Option<Position>> {
    let rows::Dead { subscription, created, .. } = wanted(app.db.read(), workspace, filter).await?;
    let keyset = PageRequest::newest(after, 1).keyset(app, column).await?;
    let rows = rows::in_workspace(workspace.uuid());
    let reach = rows.reach_dead(app.db.read(), subscription, created, keyset, LOOKED).await?;
    Ok(reach.map(Position::of))
}

fn wanted_of(of: SubscriptionId, filter: &DeliveryFilter) -> rows::Wanted {
    rows::Wanted {
        subscription: of.uuid(),
        state: filter.state.map(standing),
        event_type: filter.event_type.clone(),
        created: filter.created.in_ms(),
    }
}

/// A page of the workspace's dead deliveries with their attempts, newest first.
///
/// # Errors
/// [`Error::NotFound`] for an absent subscription, [`Error::Invalid`] for a type of event that there is not.
pub async fn dead(
    app: &App,
    workspace: WorkspaceId,
    filter: &DeadFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    let wanted = wanted(app.db.read(), workspace, filter).await?;
    dead_page(app, workspace, rows::Dead { unreplayed: false, ..wanted }, page).await
}

/// A page of those that no other delivery sends again: what a [`Wish`](super::Wish) counts and a replay would send.
///
/// # Errors
/// As [`dead`].
pub async fn unreplayed(
    app: &App,
    workspace: WorkspaceId,
    filter: &DeadFilter,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    let wanted = wanted(app.db.read(), workspace, filter).await?;
    dead_page(app, workspace, wanted, page).await
}

async fn dead_page(
    app: &App,
    workspace: WorkspaceId,
    wanted: rows::Dead,
    page: PageRequest,
) -> Result<Page<Delivery>> {
    let keyset = page.keyset(app, column).await?;
    let found = rows::in_workspace(workspace.uuid()).dead(app.db.read(), &wanted, keyset).await?;
    with_attempts(app, workspace, page, found).await
}

/// The workspace of a delivery, for the operator.
///
/// # Errors
/// [`Error::NotFound`] when there is no such delivery.
pub async fn workspace_of(app: &App, delivery: DeliveryId) -> Result<WorkspaceId> {
    let row = rows::by_id(app.db.read(), delivery.uuid()).await?;
    row.map(|row| id(row.workspace_id)).ok_or_else(|| absent::<DeliveryKind>(delivery))
}

/// The filter as the finders take it, once what it names is found: dead deliveries that no other sends again.
pub(super) async fn wanted(
    conn: &impl ConnectionTrait,
    workspace: WorkspaceId,
    filter: &DeadFilter,
) -> Result<rows::Dead> {
    check_type(filter.event_type.as_deref())?;
    if let Some(of) = filter.subscription {
        there(conn, workspace, of).await?;
    }
    Ok(rows::Dead {
        subscription: filter.subscription.map(SubscriptionId::uuid),
        event_type: filter.event_type.clone(),
        created: filter.created.in_ms(),
        unreplayed: true,
        not_of_job: None,
    })
}

/// Refuses a type of event that there is not.
pub(super) fn check_type(kind: Option<&str>) -> Result<()> {
    kind.and_then(unknown).map_or(Ok(()), |message| Err(Error::invalid("event_type", message)))
}

const fn standing(state: DeliveryState) -> rows::State {
    match state {
        DeliveryState::Pending => rows::State::Pending,
        DeliveryState::Delivered => rows::State::Delivered,
        DeliveryState::Dead => rows::State::Dead,
        DeliveryState::Held => rows::State::Held,
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
    let (found, next) = page.cut(found, |row, _| (row.created_at, row.id));
    let ids: Vec<Uuid> = found.iter().map(|row| row.id).collect();
    let log = webhook_attempts::in_workspace(workspace.uuid()).summaries(app.db.read(), &ids).await?;
    let mut attempts: HashMap<Uuid, Vec<Attempt>> = HashMap::new();
    for one in log {
        attempts.entry(one.delivery_id).or_default().push(attempt(one));
    }
    let with = |row: Model| {
        let attempts = attempts.remove(&row.id).unwrap_or_default();
        delivery(row, attempts)
    };
    Ok(Page { items: found.into_iter().map(with).collect(), next })
}

/// The record.
pub(super) fn attempt(row: Summary) -> Attempt {
    Attempt {
        number: row.number,
        started_at: from_ms(row.started_at),
        ended_at: from_ms(row.ended_at),
        status: row.status,
        error: row.error,
    }
}

/// The record.
pub(super) fn delivery(row: Model, attempts: Vec<Attempt>) -> Delivery {
    Delivery {
        id: id(row.id),
        subscription: id(row.subscription_id),
        event: id(row.event_id),
        event_type: row.event_type,
        origin: match row.origin {
            rows::Origin::Event => Origin::Event,
            rows::Origin::Replay => Origin::Replay,
            rows::Origin::Resend => Origin::Resend,
            rows::Origin::Test => Origin::Test,
        },
        replayed_from: row.replayed_from.map(id),
        state: match row.state {
            rows::State::Pending => DeliveryState::Pending,
            rows::State::Delivered => DeliveryState::Delivered,
            rows::State::Dead => DeliveryState::Dead,
            rows::State::Held => DeliveryState::Held,
        },
        next_attempt_at: row.next_attempt_at.map(from_ms),
        created_at: from_ms(row.created_at),
        settled_at: row.settled_at.map(from_ms),
        attempts,
    }
}
