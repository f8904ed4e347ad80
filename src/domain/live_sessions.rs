//! Live sessions: scheduled, then live, then ended.

use entity::live_sessions::{self, ActiveModel, Model, Status};
use entity::{Set, courses};
use jiff::Timestamp;

use super::faults::Faults;
use super::find::{self, fresh, id};
use super::word::words;
use super::{Error, Given, Named, Result};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    Course as CourseKind, CourseId, LiveSession as LiveSessionKind, LiveSessionId, WorkspaceId,
};

/// Where a live session stands. It only ever moves down this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveSessionStatus {
    /// Not begun.
    Scheduled,
    /// Running.
    Live,
    /// Over.
    Ended,
}

words!(LiveSessionStatus, "a live session status", { Scheduled = "scheduled", Live = "live", Ended = "ended" });

/// A session held live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSession {
    /// Its id.
    pub id: LiveSessionId,
    /// The course it belongs to.
    pub course_id: Option<CourseId>,
    /// Shown to students.
    pub title: String,
    /// Where it stands.
    pub status: LiveSessionStatus,
    /// When it was to begin.
    pub scheduled_at: Option<Timestamp>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Seconds from start to end.
    pub duration_seconds: Option<i64>,
}

/// What `live_session.upsert` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSessionUpsert {
    /// The platform's own key.
    pub key: String,
    /// Shown to students.
    pub title: String,
    /// The course it belongs to.
    pub course: Given<Named>,
    /// When it is to begin.
    pub scheduled_at: Given<Timestamp>,
}

/// Makes or changes a live session. No event.
///
/// # Errors
/// [`Error::NotFound`] for an absent course, [`Error::Invalid`] for values out of their bounds and for a new time
/// of a session that has begun.
pub async fn upsert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    upsert: LiveSessionUpsert,
) -> Result<LiveSessionId> {
    let mut faults = Faults::default();
    faults.key("key", &upsert.key);
    faults.line("title", &upsert.title, 500);
    faults.check()?;
    let rows = live_sessions::in_workspace(workspace.uuid());
    let before = rows.lock_by_key(write.conn(), &upsert.key).await?;
    let mut row = before.clone().unwrap_or_else(|| blank(app, write, workspace, at, &upsert));
    row.title = upsert.title;
    match &upsert.course {
        Given::Absent => {}
        Given::Null => row.course_id = None,
        Given::Value(course) => {
            let courses = courses::in_workspace(workspace.uuid());
            row.course_id = Some(find::read::<CourseKind, _>(write.conn(), courses, course).await?.id);
        }
    }
    let scheduled_at = from_given(upsert.scheduled_at).or(row.scheduled_at);
    if row.status != Status::Scheduled && scheduled_at != row.scheduled_at {
        return Err(Error::invalid("scheduled_at", format!("cannot be moved: {}", standing(&row))));
    }
    row.scheduled_at = scheduled_at;
    let session = id(row.id);
    match before {
        None => {
            if !rows.insert_unless_taken(write.conn(), row).await? {
                return Err(Error::raced());
            }
        }
        Some(before) if before != row => save(write, workspace, row).await.map(drop)?,
        Some(_) => {}
    }
    Ok(session)
}

/// Starts a scheduled session; emits `live_session.started`.
///
/// # Errors
/// [`Error::NotFound`] for an absent session, [`Error::Invalid`] for one that is live or ended.
pub async fn start(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    session: &Named,
) -> Result<LiveSessionId> {
    let mut row = hold(write, workspace, session).await?;
    if row.status != Status::Scheduled {
        let message = format!("cannot start: {}; only a scheduled session can", standing(&row));
        return Err(Error::invalid("live_session", message));
    }
    row.status = Status::Live;
    row.started_at = Some(at.as_millisecond());
    let row = save(write, workspace, row).await?;
    let session = id(row.id);
    outbox::append(app, write, workspace, at, Event::LiveSessionStarted(live_session(row))).await?;
    Ok(session)
}

/// Ends a live session; emits `live_session.ended`.
///
/// # Errors
/// [`Error::NotFound`] for an absent session, [`Error::Invalid`] for one that is not live or began later.
pub async fn end(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    session: &Named,
) -> Result<LiveSessionId> {
    let mut row = hold(write, workspace, session).await?;
    let cannot = match row.status {
        Status::Live if row.started_at > Some(at.as_millisecond()) => Some("it cannot end before it started"),
        Status::Live => None,
        Status::Scheduled | Status::Ended => Some("only a live session can end"),
    };
    if let Some(cannot) = cannot {
        return Err(Error::invalid("live_session", format!("cannot end: {}; {cannot}", standing(&row))));
    }
    row.status = Status::Ended;
    row.ended_at = Some(at.as_millisecond());
    let row = save(write, workspace, row).await?;
    let session = id(row.id);
    outbox::append(app, write, workspace, at, Event::LiveSessionEnded(live_session(row))).await?;
    Ok(session)
}

async fn hold(write: &Write, workspace: WorkspaceId, session: &Named) -> Result<Model> {
    let rows = live_sessions::in_workspace(workspace.uuid());
    find::lock::<LiveSessionKind, _>(write.conn(), rows, session).await
}

/// Where a session stands, as messages say it.
pub(super) fn standing(row: &Model) -> String {
    let key = &row.key;
    match row.status {
        Status::Scheduled => format!("the live session `{key}` has not begun"),
        Status::Live => format!("the live session `{key}` is live since {}", at(row.started_at)),
        Status::Ended => format!("the live session `{key}` ended at {}", at(row.ended_at)),
    }
}

fn at(ms: Option<i64>) -> String {
    ms.map(from_ms).map_or_else(|| "an unknown time".to_owned(), |at| at.to_string())
}

/// A given time in milliseconds.
fn from_given(time: Given<Timestamp>) -> Given<i64> {
    match time {
        Given::Absent => Given::Absent,
        Given::Null => Given::Null,
        Given::Value(time) => Given::Value(time.as_millisecond()),
    }
}

fn blank(
    app: &App,
    write: &Write,
    workspace: WorkspaceId,
    at: Timestamp,
    upsert: &LiveSessionUpsert,
) -> Model {
    Model {
        id: fresh::<LiveSessionKind>(app, write),
        workspace_id: workspace.uuid(),
        key: upsert.key.clone(),
        course_id: None,
        title: String::new(),
        status: Status::Scheduled,
        scheduled_at: None,
        started_at: None,
        ended_at: None,
        created_at: at.as_millisecond(),
        updated_at: write.now_ms(),
    }
}

async fn save(write: &Write, workspace: WorkspaceId, mut row: Model) -> Result<Model> {
    row.updated_at = write.now_ms();
    let changes = ActiveModel {
        course_id: Set(row.course_id),
        title: Set(row.title.clone()),
        status: Set(row.status),
        scheduled_at: Set(row.scheduled_at),
        started_at: Set(row.started_at),
        ended_at: Set(row.ended_at),
        updated_at: Set(row.updated_at),
        ..Default::default()
    };
    live_sessions::in_workspace(workspace.uuid()).update(write.conn(), row.id, changes).await?;
    Ok(row)
}

/// The record.
fn live_session(row: Model) -> LiveSession {
    LiveSession {
        id: id(row.id),
        course_id: row.course_id.map(id),
        title: row.title,
        status: match row.status {
            Status::Scheduled => LiveSessionStatus::Scheduled,
            Status::Live => LiveSessionStatus::Live,
            Status::Ended => LiveSessionStatus::Ended,
        },
        scheduled_at: row.scheduled_at.map(from_ms),
        started_at: row.started_at.map(from_ms),
        ended_at: row.ended_at.map(from_ms),
        duration_seconds: row.ended_at.zip(row.started_at).map(|(end, start)| (end - start) / 1000),
    }
}
