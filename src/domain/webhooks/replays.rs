//! Replays of many dead deliveries: durable jobs that go on batch by batch, in whichever process.
//!
//! A job replays each dead delivery at most once, and passes over those that another delivery sends again already; so a
//! second job does not send twice what a first has sent. Deliveries made after it began are not its own.

use entity::webhook_deliveries::{self, Column, Dead, Origin};
use entity::webhook_replays::{self, ActiveModel, Model, State};
use entity::{Keyset, Set, Span, webhook_subscriptions};
use uuid::Uuid;

use super::super::find::{absent, fresh, id};
use super::super::page::LOOKED;
use super::super::{Changed, Result};
use super::again::{append, unreplayed};
use super::deliveries::wanted;
use super::subscriptions::there;
use super::{Begun, Counted, DeadFilter, Replay, ReplayState};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Replay as ReplayKind, ReplayId, WorkspaceId};

/// What somebody wants to replay, counted: before a write begins, which others wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    workspace: WorkspaceId,
    dead: Dead,
    /// How many deliveries it is.
    pub total: u64,
}

/// Deliveries replayed in one transaction.
const BATCH: u64 = 500;
/// Jobs named at once to whoever works on them.
const JOBS: u64 = 100;

/// What a replay would send now: for whoever begins one, or asks before.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) for an absent subscription,
/// [`Error::Invalid`](crate::Error::Invalid) for a type of event that there is not.
pub async fn wish(app: &App, workspace: WorkspaceId, filter: &DeadFilter) -> Result<Wish> {
    let dead = wanted(app.db.read(), workspace, filter).await?;
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    let total = rows.count_dead(app.db.read(), &dead, None).await?;
    Ok(Wish { workspace, dead, total })
}

/// How many deliveries a replay would send, of the newest dead ones: for whoever only mentions it. So many as [`LOOKED`] are
/// looked through, sent again or not.
///
/// # Errors
/// As [`wish`].
pub async fn count_some(app: &App, workspace: WorkspaceId, filter: &DeadFilter) -> Result<Counted> {
    let wanted = wanted(app.db.read(), workspace, filter).await?;
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    let page = Keyset {
        column: Column::CreatedAt,
        descending: true,
        after: None,
        to: None,
        limit: LOOKED,
        below_updated_at: None,
    };
    let (of, created) = (wanted.subscription, wanted.created);
    let to = rows.reach_dead(app.db.read(), of, created, page, LOOKED).await?;
    let count = rows.count_dead(app.db.read(), &wanted, Some(Keyset { to, ..page })).await?;
    Ok(Counted::of_those_looked_at(count, to.is_none()))
}

/// Begins a replay; [`advance`] does its work.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when its subscription was deleted meanwhile.
pub async fn start(app: &App, write: &mut Write, wish: &Wish) -> Result<Replay> {
    let dead = &wish.dead;
    if let Some(of) = dead.subscription {
        there(write.conn(), wish.workspace, id(of)).await?;
    }
    let now = write.now_ms();
    let row = Model {
        id: fresh::<ReplayKind>(app, write),
        workspace_id: wish.workspace.uuid(),
        subscription_id: dead.subscription,
        event_type: dead.event_type.clone(),
        from_ms: dead.created.from,
        to_ms: dead.created.until,
        state: State::Running,
        total: i64::try_from(wish.total).unwrap_or(i64::MAX),
        done: 0,
        position_at: None,
        position_id: None,
        created_at: now,
        updated_at: now,
        ended_at: None,
    };
    webhook_replays::in_workspace(wish.workspace.uuid()).insert(write.conn(), row.clone()).await?;
    Ok(record(row))
}

/// Begins a replay unless one of the same wish runs already, so that whoever asks twice has one.
///
/// # Errors
/// As [`start`].
pub async fn start_alone(app: &App, write: &mut Write, wish: &Wish) -> Result<Begun> {
    let (workspace, dead) = (wish.workspace.uuid(), &wish.dead);
    let subscriptions = webhook_subscriptions::in_workspace(workspace);
    let of: Vec<Uuid> = subscriptions.list(write.conn()).await?.iter().map(|one| one.id).collect();
    // Others who begin one wait here, and then see this one.
    let subscriptions = webhook_subscriptions::in_workspace(workspace);
    subscriptions.lock_many(write.conn(), &of).await?;
    let same = |row: &Model| {
        let span = Span { from: row.from_ms, until: row.to_ms };
        (row.subscription_id, &row.event_type, span) == (dead.subscription, &dead.event_type, dead.created)
    };
    let running = webhook_replays::in_workspace(workspace).running(write.conn()).await?;
    Ok(match running.into_iter().find(same) {
        Some(running) => Begun::Before(record(running)),
        None => Begun::Now(start(app, write, wish).await?),
    })
}

/// How far a replay is.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none in the workspace; `None` for the workspace is
/// the operator, whose reach is not bound to one.
pub async fn replay(app: &App, workspace: Option<WorkspaceId>, of: ReplayId) -> Result<Replay> {
    let row = webhook_replays::by_id(app.db.read(), of.uuid()).await?;
    let row = row.filter(|row| workspace.is_none_or(|workspace| workspace.uuid() == row.workspace_id));
    row.map(record).ok_or_else(|| absent::<ReplayKind>(of))
}

/// Replays that still run, of all workspaces, oldest first: what the worker goes on with.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn running(app: &App) -> Result<Vec<Replay>> {
    Ok(webhook_replays::running(app.db.read(), JOBS).await?.into_iter().map(record).collect())
}

/// The workspace's replays that still run, newest first.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn running_in(app: &App, workspace: WorkspaceId) -> Result<Vec<Replay>> {
    let rows = webhook_replays::in_workspace(workspace.uuid()).running(app.db.read()).await?;
    Ok(rows.into_iter().map(record).collect())
}

/// Ends a replay early. What it has replayed is sent; one that ended before stays as it is.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none in the workspace.
pub async fn cancel(write: &mut Write, workspace: WorkspaceId, of: ReplayId) -> Result<Changed<Replay>> {
    let mut row = lock(write, workspace, of).await?;
    if row.state != State::Running {
        return Ok(Changed::before(record(row)));
    }
    (row.state, row.ended_at) = (State::Cancelled, Some(write.now_ms()));
    save(write, &mut row).await?;
    Ok(Changed::now(record(row)))
}

/// Goes on with a replay by one batch, in a transaction of its own, and says how far it is. Several processes may do so
/// at once, and whoever is killed amid a batch has done nothing of it.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none in the workspace.
pub async fn advance(app: &App, workspace: WorkspaceId, of: ReplayId) -> Result<Replay> {
    let mut write = app.begin_write().await?;
    let mut row = lock(&write, workspace, of).await?;
    if row.state != State::Running {
        return Ok(record(row));
    }
    let page = Keyset {
        column: Column::CreatedAt,
        descending: false,
        after: row.position_at.zip(row.position_id),
        to: None,
        limit: BATCH,
        below_updated_at: None,
    };
    let deliveries = webhook_deliveries::in_workspace(workspace.uuid());
    let batch = deliveries.dead(write.conn(), &its_own(&row), page).await?;
    let whole = u64::try_from(batch.len()).is_ok_and(|found| found == BATCH);
    if let Some(last) = batch.last() {
        (row.position_at, row.position_id) = (Some(last.created_at), Some(last.id));
        // Others who send them again wait here, and then see this; what they sent before is passed over.
        let of: Vec<Uuid> = batch.iter().map(|dead| dead.subscription_id).collect();
        webhook_subscriptions::in_workspace(workspace.uuid()).lock_many(write.conn(), &of).await?;
        let batch = unreplayed(write.conn(), workspace, batch).await?;
        let batch = batch.into_iter().map(|dead| (dead, Origin::Replay)).collect();
        let again = append(app, &mut write, workspace, batch, Some(row.id)).await?;
        row.done = row.done.saturating_add_unsigned(again.len() as u64);
    }
    if !whole {
        (row.state, row.ended_at) = (State::Done, Some(write.now_ms()));
    }
    save(&write, &mut row).await?;
    write.commit().await?;
    Ok(record(row))
}

/// What the job replays: what was wanted, and made no later than the job; what it makes itself may die while it goes on.
fn its_own(row: &Model) -> Dead {
    let end = row.created_at.saturating_add(1);
    Dead {
        subscription: row.subscription_id,
        event_type: row.event_type.clone(),
        created: Span { from: row.from_ms, until: Some(row.to_ms.map_or(end, |to| to.min(end))) },
        // A batch is of so many dead ones, whichever are passed over: the write is short where all were sent again.
        unreplayed: false,
        not_of_job: Some(row.id),
    }
}

async fn lock(write: &Write, workspace: WorkspaceId, of: ReplayId) -> Result<Model> {
    let row = webhook_replays::in_workspace(workspace.uuid()).lock(write.conn(), of.uuid()).await?;
    row.ok_or_else(|| absent::<ReplayKind>(of))
}

async fn save(write: &Write, row: &mut Model) -> Result<()> {
    row.updated_at = write.now_ms();
    let changes = ActiveModel {
        state: Set(row.state),
        done: Set(row.done),
        position_at: Set(row.position_at),
        position_id: Set(row.position_id),
        updated_at: Set(row.updated_at),
        ended_at: Set(row.ended_at),
        ..Default::default()
    };
    webhook_replays::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    Ok(())
}

fn record(row: Model) -> Replay {
    Replay {
        id: id(row.id),
        workspace: id(row.workspace_id),
        state: match row.state {
            State::Running => ReplayState::Running,
            State::Done => ReplayState::Done,
            State::Cancelled => ReplayState::Cancelled,
        },
        total: row.total.unsigned_abs(),
        done: row.done.unsigned_abs(),
        created_at: from_ms(row.created_at),
        ended_at: row.ended_at.map(from_ms),
    }
}
