//! Recordings of live sessions: facts about the file, never the media or a link to it.

use entity::live_sessions::{self, Status};
use entity::recordings::{self, Model};
use jiff::Timestamp;

use super::faults::Faults;
use super::find::{self, fresh, id};
use super::live_sessions::standing;
use super::{Error, Named, Result};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    CourseId, LiveSession as LiveSessionKind, LiveSessionId, Recording as RecordingKind, RecordingId,
    WorkspaceId,
};

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
/// [`Error::NotFound`] for an absent session, [`Error::Invalid`] for a session that has not begun, a key that is
/// taken and values out of their bounds.
pub async fn ready(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    recording: RecordingReady,
) -> Result<RecordingId> {
    check(&recording)?;
    let sessions = live_sessions::in_workspace(workspace.uuid());
    let session = find::read::<LiveSessionKind, _>(write.conn(), sessions, &recording.live_session).await?;
    if session.status == Status::Scheduled {
        let message = format!("cannot have a recording: {}", standing(&session));
        return Err(Error::invalid("live_session", message));
    }
    let row = Model {
        id: fresh::<RecordingKind>(app, write),
        workspace_id: workspace.uuid(),
        key: recording.key,
        live_session_id: session.id,
        title: recording.title.unwrap_or(session.title),
        duration_seconds: recording.duration_seconds,
        size_bytes: recording.size_bytes,
        content_type: recording.content_type,
        created_at: at.as_millisecond(),
    };
    if !recordings::in_workspace(workspace.uuid()).insert_unless_taken(write.conn(), row.clone()).await? {
        return Err(Error::invalid("key", "names a recording that is ready already"));
    }
    let ready = Recording {
        id: id(row.id),
        live_session_id: id(session.id),
        course_id: session.course_id.map(id),
        title: row.title,
        duration_seconds: row.duration_seconds,
        size_bytes: row.size_bytes,
        content_type: row.content_type,
        created_at: from_ms(row.created_at),
    };
    let recording = ready.id;
    outbox::append(app, write, workspace, at, Event::RecordingReady(ready)).await?;
    Ok(recording)
}

fn check(recording: &RecordingReady) -> Result<()> {
    let mut faults = Faults::default();
    faults.key("key", &recording.key);
    faults.maybe_line("title", recording.title.as_ref(), 500);
    faults.seconds("duration_seconds", Some(recording.duration_seconds));
    faults.not_negative("size_bytes", recording.size_bytes);
    let token = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    let media = recording.content_type.split_once('/');
    if recording.content_type.len() > 127 || !media.is_some_and(|(kind, sub)| token(kind) && token(sub)) {
        faults.add("content_type", "must be a media type, such as `video/mp4`");
    }
    faults.check()
}
