//! Creates, updates, starts and ends live sessions.

use entity::live_sessions::{self, ActiveModel, Model, StoredLiveSessionStatus};
use entity::{NotSet, Set, courses};
use jiff::Timestamp;

use super::{LiveSession, LiveSessionStatus, LiveSessionUpsert};
use crate::app::App;
use crate::field_errors::FieldErrors;
use crate::outbox::{self, Event};
use crate::records::{self, id, new_uuid};
use crate::{Error, FieldUpdate, IdOrKey, Result};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Course as CourseIdKind, LiveSession as LiveSessionIdKind, LiveSessionId, WorkspaceId};

/// Creates or updates a live session. Emits no event.
///
/// # Errors
/// Returns [`Error::NotFound`] if the course does not exist. Returns [`Error::Invalid`] if a value is invalid, or if the
/// upsert changes the planned start of a session that is live or has ended.
pub async fn upsert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    upsert: LiveSessionUpsert,
) -> Result<LiveSessionId> {
    let mut errors = FieldErrors::default();
    errors.check_key("key", &upsert.key);
    errors.check_single_line("title", &upsert.title, 500);
    errors.into_result()?;
    let rows = live_sessions::in_workspace(workspace.uuid());
    let before = rows.lock_by_key(write.conn(), &upsert.key).await?;
    let mut row = before.clone().unwrap_or_else(|| new_row(app, write, workspace, at, &upsert));
    row.title = upsert.title;
    match &upsert.course {
        FieldUpdate::Absent => {}
        FieldUpdate::Null => row.course_id = None,
        FieldUpdate::Value(course) => {
            let courses = courses::in_workspace(workspace.uuid());
            row.course_id = Some(records::read::<CourseIdKind, _>(write.conn(), courses, course).await?.id);
        }
    }
    let scheduled_at = to_ms(upsert.scheduled_at).apply_to(row.scheduled_at);
    if row.status != StoredLiveSessionStatus::Scheduled && scheduled_at != row.scheduled_at {
        return Err(Error::invalid("scheduled_at", format!("cannot be changed: {}", describe_status(&row))));
    }
    row.scheduled_at = scheduled_at;
    let session = id(row.id);
    match before {
        None => {
            if !rows.insert_unless_taken(write.conn(), row).await? {
                return Err(Error::lost_race());
            }
        }
        Some(before) if before != row => save(write, workspace, row).await.map(drop)?,
        Some(_) => {}
    }
    Ok(session)
}

/// Starts a scheduled session. Emits `live_session.started`.
///
/// # Errors
/// Returns [`Error::NotFound`] if the session does not exist, and [`Error::Invalid`] if it is live or has ended.
pub async fn start(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    session: &IdOrKey,
) -> Result<LiveSessionId> {
    let mut row = lock_session(write, workspace, session).await?;
    if row.status != StoredLiveSessionStatus::Scheduled {
        let message =
            format!("cannot be started: {}; only a scheduled session can be started", describe_status(&row));
        return Err(Error::invalid("live_session", message));
    }
    row.status = StoredLiveSessionStatus::Live;
    row.started_at = Some(at.as_millisecond());
    let row = save(write, workspace, row).await?;
    let session = id(row.id);
    outbox::append(app, write, workspace, at, Event::LiveSessionStarted(live_session(row))).await?;
    Ok(session)
}

/// Ends a live session. Emits `live_session.ended`.
///
/// # Errors
/// Returns [`Error::NotFound`] if the session does not exist, and [`Error::Invalid`] if it is not live or started after `at`.
pub async fn end(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    session: &IdOrKey,
) -> Result<LiveSessionId> {
    let mut row = lock_session(write, workspace, session).await?;
    let problem = match row.status {
        StoredLiveSessionStatus::Live if row.started_at > Some(at.as_millisecond()) => {
            Some("it cannot end before its start")
        }
        StoredLiveSessionStatus::Live => None,
        StoredLiveSessionStatus::Scheduled | StoredLiveSessionStatus::Ended => {
            Some("only a live session can be ended")
        }
    };
    if let Some(problem) = problem {
        return Err(Error::invalid(
            "live_session",
            format!("cannot be ended: {}; {problem}", describe_status(&row)),
        ));
    }
    row.status = StoredLiveSessionStatus::Ended;
    row.ended_at = Some(at.as_millisecond());
    let row = save(write, workspace, row).await?;
    let session = id(row.id);
    outbox::append(app, write, workspace, at, Event::LiveSessionEnded(live_session(row))).await?;
    Ok(session)
}

/// Returns the session's row, locked until the write ends.
async fn lock_session(write: &Write, workspace: WorkspaceId, session: &IdOrKey) -> Result<Model> {
    let rows = live_sessions::in_workspace(workspace.uuid());
    records::lock::<LiveSessionIdKind, _>(write.conn(), rows, session).await
}

/// Describes the status of a session for an error message.
pub(crate) fn describe_status(row: &Model) -> String {
    let key = &row.key;
    match row.status {
        StoredLiveSessionStatus::Scheduled => format!("the live session `{key}` has not started"),
        StoredLiveSessionStatus::Live => {
            format!("the live session `{key}` has been live since {}", format_time(row.started_at))
        }
        StoredLiveSessionStatus::Ended => {
            format!("the live session `{key}` ended at {}", format_time(row.ended_at))
        }
    }
}

fn format_time(time_ms: Option<i64>) -> String {
    time_ms.map(from_ms).map_or_else(|| "an unknown time".to_owned(), |time| time.to_string())
}

/// Converts the update of a time to milliseconds since the epoch.
fn to_ms(time: FieldUpdate<Timestamp>) -> FieldUpdate<i64> {
    match time {
        FieldUpdate::Absent => FieldUpdate::Absent,
        FieldUpdate::Null => FieldUpdate::Null,
        FieldUpdate::Value(time) => FieldUpdate::Value(time.as_millisecond()),
    }
}

/// Creates the row of a new session. The caller sets the title, the course and the planned start.
fn new_row(
    app: &App,
    write: &Write,
    workspace: WorkspaceId,
    at: Timestamp,
    upsert: &LiveSessionUpsert,
) -> Model {
    Model {
        id: new_uuid::<LiveSessionIdKind>(app, write),
        workspace_id: workspace.uuid(),
        key: upsert.key.clone(),
        course_id: None,
        title: String::new(),
        status: StoredLiveSessionStatus::Scheduled,
        scheduled_at: None,
        started_at: None,
        ended_at: None,
        created_at: at.as_millisecond(),
        updated_at: write.recorded_ms(),
    }
}

/// Writes an updated session and sets its `updated_at`.
async fn save(write: &Write, workspace: WorkspaceId, mut row: Model) -> Result<Model> {
    row.updated_at = write.recorded_ms();
    let changes = ActiveModel {
        id: NotSet,
        workspace_id: NotSet,
        key: NotSet,
        course_id: Set(row.course_id),
        title: Set(row.title.clone()),
        status: Set(row.status),
        scheduled_at: Set(row.scheduled_at),
        started_at: Set(row.started_at),
        ended_at: Set(row.ended_at),
        created_at: NotSet,
        updated_at: Set(row.updated_at),
    };
    live_sessions::in_workspace(workspace.uuid()).update(write.conn(), row.id, changes).await?;
    Ok(row)
}

/// Converts a row to a live session.
fn live_session(row: Model) -> LiveSession {
    LiveSession {
        id: id(row.id),
        course_id: row.course_id.map(id),
        title: row.title,
        status: match row.status {
            StoredLiveSessionStatus::Scheduled => LiveSessionStatus::Scheduled,
            StoredLiveSessionStatus::Live => LiveSessionStatus::Live,
            StoredLiveSessionStatus::Ended => LiveSessionStatus::Ended,
        },
        scheduled_at: row.scheduled_at.map(from_ms),
        started_at: row.started_at.map(from_ms),
        ended_at: row.ended_at.map(from_ms),
        duration_seconds: row.ended_at.zip(row.started_at).map(|(end, start)| (end - start) / 1000),
    }
}
