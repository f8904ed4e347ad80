//! Recordings of live sessions: facts about the file, never the media or a link to it.

use jiff::Timestamp;

use super::{Named, Result};
use crate::app::App;
use crate::database::Write;
use crate::id::{CourseId, LiveSessionId, RecordingId, WorkspaceId};

/// The recording of a live session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Its id.
    pub id: RecordingId,
    /// The session recorded.
    pub live_session_id: LiveSessionId,
    /// The session's course.
    pub course_id: Option<CourseId>,
    /// Its own, or the session's.
    pub title: String,
    /// Length.
    pub duration_seconds: i64,
    /// Size of the file.
    pub size_bytes: i64,
    /// Media type: `video/mp4`.
    pub content_type: String,
    /// When it was ready.
    pub created_at: Timestamp,
}

/// What `recording.ready` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingReady {
    /// The platform's own key, new.
    pub key: String,
    /// The session recorded, live or ended.
    pub live_session: Named,
    /// The session's title unless said otherwise.
    pub title: Option<String>,
    /// Length.
    pub duration_seconds: i64,
    /// Size of the file.
    pub size_bytes: i64,
    /// Media type.
    pub content_type: String,
}

/// Records that a recording is ready; emits `recording.ready`.
///
/// # Errors
/// [`super::Error::NotFound`] for an absent session, [`super::Error::Invalid`] for a session that has not
/// begun, a key that is taken and values out of their bounds.
pub async fn ready(
    _app: &App,
    _write: &mut Write,
    _workspace: WorkspaceId,
    _at: Timestamp,
    _recording: RecordingReady,
) -> Result<RecordingId> {
    todo!()
}
