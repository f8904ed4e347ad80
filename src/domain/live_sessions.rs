//! Live sessions: scheduled, then live, then ended.

use jiff::Timestamp;

use super::word::words;
use super::{Given, Named, Result};
use crate::app::App;
use crate::database::Write;
use crate::id::{CourseId, LiveSessionId, WorkspaceId};

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
/// [`super::Error::NotFound`] for an absent course, [`super::Error::Invalid`] for values out of their bounds
/// and for a new time of a session that has begun.
pub async fn upsert(
    _app: &App,
    _write: &mut Write,
    _workspace: WorkspaceId,
    _at: Timestamp,
    _upsert: LiveSessionUpsert,
) -> Result<LiveSessionId> {
    todo!()
}

/// Starts a scheduled session; emits `live_session.started`.
///
/// # Errors
/// [`super::Error::NotFound`] for an absent session, [`super::Error::Invalid`] for one that is live or ended.
pub async fn start(
    _app: &App,
    _write: &mut Write,
    _workspace: WorkspaceId,
    _at: Timestamp,
    _session: &Named,
) -> Result<LiveSessionId> {
    todo!()
}

/// Ends a live session; emits `live_session.ended`.
///
/// # Errors
/// [`super::Error::NotFound`] for an absent session, [`super::Error::Invalid`] for one that is not live.
pub async fn end(
    _app: &App,
    _write: &mut Write,
    _workspace: WorkspaceId,
    _at: Timestamp,
    _session: &Named,
) -> Result<LiveSessionId> {
    todo!()
}
