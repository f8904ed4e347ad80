//! Replays of many dead deliveries: durable jobs that any process advances in batches.
//!
//! A job replays each dead delivery at most once, and skips those that another delivery already sends again, so that a second
//! job does not repeat the first. Deliveries created after the job started are not part of it.

use entity::webhook_deliveries::{self, Column, DeadRowFilter, StoredDeliveryOrigin};
use entity::webhook_replays::{self, ActiveModel, Model, StoredReplayState};
use entity::{Keyset, Set, SpanMs, webhook_subscriptions};
use uuid::Uuid;

use super::super::page::MAX_SCANNED_ROWS;
use super::super::records::{id, new_uuid, not_found};
use super::super::{Result, WriteOutcome};
use super::deliveries::dead_row_filter;
use super::resend::{append, unreplayed};
use super::subscriptions::find_in;
use super::{CappedCount, DeadFilter, Replay, ReplayStart, ReplayState};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Replay as ReplayKind, ReplayId, WorkspaceId};

/// The deliveries that a replay would send. Counted before the write transaction begins, because other transactions wait for a
/// write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayPreview {
    workspace: WorkspaceId,
    dead: DeadRowFilter,
    /// The number of deliveries.
    pub total: u64,
}

/// Deliveries examined by one transaction.
const BATCH: u64 = 500;
/// Running jobs that [`running`] returns, at most.
const MAX_JOBS: u64 = 100;

/// Counts the deliveries that a replay would send now.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) for a missing subscription, and
/// [`Error::Invalid`](crate::Error::Invalid) for an unknown event type.
pub async fn preview(app: &App, workspace: WorkspaceId, filter: &DeadFilter) -> Result<ReplayPreview> {
    let dead = dead_row_filter(app.db.read(), workspace, filter).await?;
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    let total = rows.count_dead(app.db.read(), &dead, None).await?;
    Ok(ReplayPreview { workspace, dead, total })
}

/// Counts the deliveries that a replay would send among the newest [`LOOKED`] dead ones, for pages that only mention the
/// number.
///
/// # Errors
/// As [`preview`].
pub async fn count_newest(app: &App, workspace: WorkspaceId, filter: &DeadFilter) -> Result<CappedCount> {
    let filter = dead_row_filter(app.db.read(), workspace, filter).await?;
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    let page = Keyset {
        column: Column::CreatedAt,
        descending: true,
        after: None,
        to: None,
        limit: MAX_SCANNED_ROWS,
        below_updated_at: None,
    };
    let (of, created) = (filter.subscription, filter.created);
    let to = rows.reach_dead(app.db.read(), of, created, page, MAX_SCANNED_ROWS).await?;
    let count = rows.count_dead(app.db.read(), &filter, Some(Keyset { to, ..page })).await?;
    Ok(CappedCount::of_examined(count, to.is_none()))
}

/// Starts a replay; [`advance`] performs it.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when its subscription was deleted since the preview.
pub async fn start(app: &App, write: &mut Write, preview: &ReplayPreview) -> Result<Replay> {
    let dead = &preview.dead;
    if let Some(of) = dead.subscription {
        find_in(write.conn(), preview.workspace, id(of)).await?;
    }
    let now = write.now_ms();
    let row = Model {
        id: new_uuid::<ReplayKind>(app, write),
        workspace_id: preview.workspace.uuid(),
        subscription_id: dead.subscription,
        event_type: dead.event_type.clone(),
        from_ms: dead.created.from,
        to_ms: dead.created.until,
        state: StoredReplayState::Running,
        total: i64::try_from(preview.total).unwrap_or(i64::MAX),
        done: 0,
        position_at: None,
        position_id: None,
        created_at: now,
        updated_at: now,
        ended_at: None,
    };
    webhook_replays::in_workspace(preview.workspace.uuid()).insert(write.conn(), row.clone()).await?;
    Ok(record(row))
}

/// Starts a replay unless one with the same filter is running, so that a repeated request does not start a second one.
///
/// # Errors
/// As [`start`].
pub async fn start_unless_running(
    app: &App,
    write: &mut Write,
    preview: &ReplayPreview,
) -> Result<ReplayStart> {
    let (workspace, dead) = (preview.workspace.uuid(), &preview.dead);
    let subscriptions = webhook_subscriptions::in_workspace(workspace);
    let ids: Vec<Uuid> = subscriptions.list(write.conn()).await?.iter().map(|row| row.id).collect();
    // Concurrent calls wait for this lock, and then see the new replay.
    let subscriptions = webhook_subscriptions::in_workspace(workspace);
    subscriptions.lock_many(write.conn(), &ids).await?;
    let same = |row: &Model| {
        let span = SpanMs { from: row.from_ms, until: row.to_ms };
        (row.subscription_id, &row.event_type, span) == (dead.subscription, &dead.event_type, dead.created)
    };
    let running = webhook_replays::in_workspace(workspace).running(write.conn()).await?;
    Ok(match running.into_iter().find(same) {
        Some(running) => ReplayStart::AlreadyRunning(record(running)),
        None => ReplayStart::Started(start(app, write, preview).await?),
    })
}

/// Returns a replay. Without a workspace, for the operator's commands, finds it in any workspace.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such replay.
pub async fn replay(app: &App, workspace: Option<WorkspaceId>, of: ReplayId) -> Result<Replay> {
    let row = webhook_replays::by_id(app.db.read(), of.uuid()).await?;
    let row = row.filter(|row| workspace.is_none_or(|workspace| workspace.uuid() == row.workspace_id));
    row.map(record).ok_or_else(|| not_found::<ReplayKind>(of))
}

/// Returns the running replays of all workspaces, oldest first and at most [`MAX_JOBS`], for the worker.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn running(app: &App) -> Result<Vec<Replay>> {
    Ok(webhook_replays::running(app.db.read(), MAX_JOBS).await?.into_iter().map(record).collect())
}

/// Returns the workspace's running replays, newest first.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn running_in(app: &App, workspace: WorkspaceId) -> Result<Vec<Replay>> {
    let rows = webhook_replays::in_workspace(workspace.uuid()).running(app.db.read()).await?;
    Ok(rows.into_iter().map(record).collect())
}

/// Cancels a replay. The deliveries replayed before are sent. A replay that has ended remains unchanged.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such replay.
pub async fn cancel(write: &mut Write, workspace: WorkspaceId, of: ReplayId) -> Result<WriteOutcome<Replay>> {
    let mut row = lock(write, workspace, of).await?;
    if row.state != StoredReplayState::Running {
        return Ok(WriteOutcome::unchanged(record(row)));
    }
    (row.state, row.ended_at) = (StoredReplayState::Canceled, Some(write.now_ms()));
    save(write, &mut row).await?;
    Ok(WriteOutcome::changed(record(row)))
}

/// Advances a replay by one batch, in a transaction of its own, and returns the replay. Several processes may do so
/// concurrently. A process that is killed during a batch leaves nothing of it.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such replay.
pub async fn advance(app: &App, workspace: WorkspaceId, of: ReplayId) -> Result<Replay> {
    let mut write = app.begin_write().await?;
    let mut row = lock(&write, workspace, of).await?;
    if row.state != StoredReplayState::Running {
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
    let batch = deliveries.dead(write.conn(), &job_filter(&row), page).await?;
    let is_full = u64::try_from(batch.len()).is_ok_and(|count| count == BATCH);
    if let Some(last) = batch.last() {
        (row.position_at, row.position_id) = (Some(last.created_at), Some(last.id));
        // Concurrent replays and resends wait for this lock, and then see the new rows. Deliveries that they sent before are
        // skipped.
        let subscriptions: Vec<Uuid> = batch.iter().map(|dead| dead.subscription_id).collect();
        webhook_subscriptions::in_workspace(workspace.uuid()).lock_many(write.conn(), &subscriptions).await?;
        let batch = unreplayed(write.conn(), workspace, batch).await?;
        let batch = batch.into_iter().map(|dead| (dead, StoredDeliveryOrigin::Replay)).collect();
        let created = append(app, &mut write, workspace, batch, Some(row.id)).await?;
        row.done = row.done.saturating_add_unsigned(created.len() as u64);
    }
    if !is_full {
        (row.state, row.ended_at) = (StoredReplayState::Done, Some(write.now_ms()));
    }
    save(&write, &mut row).await?;
    write.commit().await?;
    Ok(record(row))
}

/// The filter of a job's deliveries: that of the request, limited to deliveries created no later than the job and not by it,
/// because its own deliveries may become dead while it runs.
fn job_filter(row: &Model) -> DeadRowFilter {
    let end = row.created_at.saturating_add(1);
    DeadRowFilter {
        subscription: row.subscription_id,
        event_type: row.event_type.clone(),
        created: SpanMs { from: row.from_ms, until: Some(row.to_ms.map_or(end, |to| to.min(end))) },
        // A batch includes deliveries that were replayed already, so that each transaction is short even if all of them were.
        unreplayed: false,
        not_of_job: Some(row.id),
    }
}

async fn lock(write: &Write, workspace: WorkspaceId, of: ReplayId) -> Result<Model> {
    let row = webhook_replays::in_workspace(workspace.uuid()).lock(write.conn(), of.uuid()).await?;
    row.ok_or_else(|| not_found::<ReplayKind>(of))
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
            StoredReplayState::Running => ReplayState::Running,
            StoredReplayState::Done => ReplayState::Done,
            StoredReplayState::Canceled => ReplayState::Canceled,
        },
        total: row.total.unsigned_abs(),
        done: row.done.unsigned_abs(),
        created_at: from_ms(row.created_at),
        ended_at: row.ended_at.map(from_ms),
    }
}
