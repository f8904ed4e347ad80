//! Replays of many dead deliveries: durable jobs that any process advances in batches.
//!
//! To replay a delivery is to create a new one that sends its event again. A job replays each dead delivery at most
//! once, and skips those that another delivery already sends again, so that a second job does not repeat the first.
//! Deliveries created after the job started are not part of it.

use entity::webhook_deliveries::{self, Column, DeadRowFilter, StoredDeliveryOrigin};
use entity::webhook_replays::{self, ActiveModel, Model, StoredReplayState};
use entity::{Keyset, NotSet, Set, SpanMs, webhook_subscriptions};
use uuid::Uuid;

use super::super::page::MAX_SCANNED_ROWS;
use super::super::records::{id, new_uuid, not_found};
use super::super::{Result, WriteOutcome};
use super::deliveries::dead_row_filter;
use super::resend::{filter_unreplayed, insert_copies};
use super::subscriptions::get_in;
use super::{CappedCount, DeadFilter, Replay, ReplayStart, ReplayState};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Replay as ReplayIdKind, ReplayId, WorkspaceId};

/// The deliveries that a replay would send. They are counted before the write transaction begins, because counting
/// takes long and other writes would wait for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayPreview {
    workspace: WorkspaceId,
    filter: DeadRowFilter,
    /// The number of deliveries that a replay would send.
    pub total: u64,
}

/// Number of deliveries that one transaction examines.
const BATCH: u64 = 500;
/// Maximum number of running jobs that [`running`] returns.
const MAX_JOBS: u64 = 100;

/// Counts the deliveries that a replay would send now.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) for a missing subscription, and
/// [`Error::Invalid`](crate::Error::Invalid) for an unknown event type.
pub async fn preview(app: &App, workspace: WorkspaceId, filter: &DeadFilter) -> Result<ReplayPreview> {
    let filter = dead_row_filter(app.db.read(), workspace, filter).await?;
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    let total = rows.count_dead(app.db.read(), &filter, None).await?;
    Ok(ReplayPreview { workspace, filter, total })
}

/// Counts the deliveries that a replay would send, but examines only the newest [`MAX_SCANNED_ROWS`] dead ones. For
/// pages that show no more than the number.
///
/// # Errors
/// Returns the errors of [`preview`].
pub async fn count_newest(app: &App, workspace: WorkspaceId, filter: &DeadFilter) -> Result<CappedCount> {
    let filter = dead_row_filter(app.db.read(), workspace, filter).await?;
    let rows = webhook_deliveries::in_workspace(workspace.uuid());
    let page = Keyset {
        column: Column::CreatedAt,
        descending: true,
        after: None,
        to: None,
        limit: MAX_SCANNED_ROWS,
        updated_before: None,
    };
    let (subscription, created) = (filter.subscription, filter.created);
    let to = rows.dead_position_at(app.db.read(), subscription, created, page, MAX_SCANNED_ROWS).await?;
    let count = rows.count_dead(app.db.read(), &filter, Some(Keyset { to, ..page })).await?;
    Ok(CappedCount::from_examined(count, to.is_none()))
}

/// Starts a replay. [`advance`] then creates the deliveries.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the subscription of the filter was deleted after the
/// preview.
pub async fn start(app: &App, write: &mut Write, preview: &ReplayPreview) -> Result<Replay> {
    let filter = &preview.filter;
    if let Some(subscription) = filter.subscription {
        get_in(write.conn(), preview.workspace, id(subscription)).await?;
    }
    let now = write.now_ms();
    let row = Model {
        id: new_uuid::<ReplayIdKind>(app, write),
        workspace_id: preview.workspace.uuid(),
        subscription_id: filter.subscription,
        event_type: filter.event_type.clone(),
        from_ms: filter.created.from,
        to_ms: filter.created.until,
        state: StoredReplayState::Running,
        total: i64::try_from(preview.total).unwrap_or(i64::MAX),
        done: 0,
        position_at: None,
        position_id: None,
        created_at: now,
        updated_at: write.recorded_ms(),
        ended_at: None,
    };
    webhook_replays::in_workspace(preview.workspace.uuid()).insert(write.conn(), row.clone()).await?;
    Ok(replay(row))
}

/// Starts a replay unless one with the same filter is running, so that a repeated request does not start a second one.
///
/// # Errors
/// Returns the errors of [`start`].
pub async fn start_unless_running(
    app: &App,
    write: &mut Write,
    preview: &ReplayPreview,
) -> Result<ReplayStart> {
    let (workspace, filter) = (preview.workspace.uuid(), &preview.filter);
    // Concurrent calls wait for this lock, and then see the new replay.
    lock_subscriptions(write, preview.workspace).await?;
    let has_same_filter = |row: &Model| {
        let created = SpanMs { from: row.from_ms, until: row.to_ms };
        row.subscription_id == filter.subscription
            && row.event_type == filter.event_type
            && created == filter.created
    };
    let running = webhook_replays::in_workspace(workspace).running(write.conn()).await?;
    Ok(match running.into_iter().find(has_same_filter) {
        Some(running) => ReplayStart::AlreadyRunning(replay(running)),
        None => ReplayStart::Started(start(app, write, preview).await?),
    })
}

/// Locks all subscriptions of a workspace until the write ends.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub(super) async fn lock_subscriptions(write: &Write, workspace: WorkspaceId) -> Result<()> {
    let subscriptions = || webhook_subscriptions::in_workspace(workspace.uuid());
    let ids: Vec<Uuid> = subscriptions().list(write.conn()).await?.iter().map(|row| row.id).collect();
    subscriptions().lock_many(write.conn(), &ids).await?;
    Ok(())
}

/// Returns a replay. Without a workspace, for the operator's commands, finds it in any workspace.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when there is no such replay, or when it belongs to another
/// workspace.
pub async fn get(app: &App, workspace: Option<WorkspaceId>, replay_id: ReplayId) -> Result<Replay> {
    let row = webhook_replays::by_id(app.db.read(), replay_id.uuid()).await?;
    let row = row.filter(|row| workspace.is_none_or(|workspace| workspace.uuid() == row.workspace_id));
    row.map(replay).ok_or_else(|| not_found::<ReplayIdKind>(replay_id))
}

/// Returns the running replays of all workspaces, oldest first and at most [`MAX_JOBS`], for the worker.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn running(app: &App) -> Result<Vec<Replay>> {
    Ok(webhook_replays::running(app.db.read(), MAX_JOBS).await?.into_iter().map(replay).collect())
}

/// Returns the workspace's running replays, newest first.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn running_in(app: &App, workspace: WorkspaceId) -> Result<Vec<Replay>> {
    let rows = webhook_replays::in_workspace(workspace.uuid()).running(app.db.read()).await?;
    Ok(rows.into_iter().map(replay).collect())
}

/// Cancels a replay. Deliveries that it has already created are still sent. Does nothing if the replay has ended.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such replay.
pub async fn cancel(
    write: &mut Write,
    workspace: WorkspaceId,
    replay_id: ReplayId,
) -> Result<WriteOutcome<Replay>> {
    let mut row = lock(write, workspace, replay_id).await?;
    if row.state != StoredReplayState::Running {
        return Ok(WriteOutcome::unchanged(replay(row)));
    }
    (row.state, row.ended_at) = (StoredReplayState::Canceled, Some(write.now_ms()));
    save(write, &mut row).await?;
    Ok(WriteOutcome::changed(replay(row)))
}

/// Advances a replay by one batch, in a transaction of its own, and returns the replay. Several processes may do so
/// concurrently. If a process is killed during a batch, the batch is rolled back.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such replay.
pub async fn advance(app: &App, workspace: WorkspaceId, replay_id: ReplayId) -> Result<Replay> {
    let mut write = app.begin_write().await?;
    let mut row = lock(&write, workspace, replay_id).await?;
    if row.state != StoredReplayState::Running {
        return Ok(replay(row));
    }
    let page = Keyset {
        column: Column::CreatedAt,
        descending: false,
        after: row.position_at.zip(row.position_id),
        to: None,
        limit: BATCH,
        updated_before: None,
    };
    let deliveries = webhook_deliveries::in_workspace(workspace.uuid());
    let batch = deliveries.dead(write.conn(), &job_filter(&row), page).await?;
    let is_full = u64::try_from(batch.len()).is_ok_and(|count| count == BATCH);
    if let Some(last) = batch.last() {
        (row.position_at, row.position_id) = (Some(last.created_at), Some(last.id));
        // Concurrent replays and resends wait for this lock, and then see the new rows. Deliveries that they sent again
        // before are skipped.
        let subscriptions: Vec<Uuid> = batch.iter().map(|dead| dead.subscription_id).collect();
        webhook_subscriptions::in_workspace(workspace.uuid()).lock_many(write.conn(), &subscriptions).await?;
        let batch = filter_unreplayed(write.conn(), workspace, batch).await?;
        let batch = batch.into_iter().map(|dead| (dead, StoredDeliveryOrigin::Replay)).collect();
        let created = insert_copies(app, &mut write, workspace, batch, Some(row.id)).await?;
        row.done = row.done.saturating_add_unsigned(created.len() as u64);
    }
    if !is_full {
        (row.state, row.ended_at) = (StoredReplayState::Done, Some(write.now_ms()));
    }
    save(&write, &mut row).await?;
    write.commit().await?;
    Ok(replay(row))
}

/// Returns the filter of the deliveries to replay: the filter of the request, limited to deliveries that are not newer
/// than the job and were not created by it. Deliveries of the job itself may become dead while it runs.
fn job_filter(row: &Model) -> DeadRowFilter {
    let end = row.created_at.saturating_add(1);
    DeadRowFilter {
        subscription: row.subscription_id,
        event_type: row.event_type.clone(),
        created: SpanMs { from: row.from_ms, until: Some(row.to_ms.map_or(end, |to| to.min(end))) },
        // A batch includes deliveries that were replayed before: to skip all of them in one query could take long.
        unreplayed: false,
        not_created_by_replay: Some(row.id),
    }
}

async fn lock(write: &Write, workspace: WorkspaceId, replay_id: ReplayId) -> Result<Model> {
    let row = webhook_replays::in_workspace(workspace.uuid()).lock(write.conn(), replay_id.uuid()).await?;
    row.ok_or_else(|| not_found::<ReplayIdKind>(replay_id))
}

async fn save(write: &Write, row: &mut Model) -> Result<()> {
    row.updated_at = write.recorded_ms();
    let changes = ActiveModel {
        id: NotSet,
        workspace_id: NotSet,
        subscription_id: NotSet,
        event_type: NotSet,
        from_ms: NotSet,
        to_ms: NotSet,
        state: Set(row.state),
        total: NotSet,
        done: Set(row.done),
        position_at: Set(row.position_at),
        position_id: Set(row.position_id),
        created_at: NotSet,
        updated_at: Set(row.updated_at),
        ended_at: Set(row.ended_at),
    };
    webhook_replays::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    Ok(())
}

/// Converts a row to a replay.
fn replay(row: Model) -> Replay {
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
