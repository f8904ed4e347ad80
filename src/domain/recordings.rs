//! Recordings of live sessions: metadata of the file, never the media itself or a link to it.

use entity::live_sessions::{self, StoredLiveSessionStatus};
use entity::recordings::{self, Model};
use jiff::Timestamp;

use super::field_errors::FieldErrors;
use super::live_sessions::describe_status;
use super::records::{self, id, new_uuid};
use super::{Error, IdOrKey, Result};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    CourseId, LiveSession as LiveSessionIdKind, LiveSessionId, Recording as RecordingIdKind, RecordingId,
    WorkspaceId,
};

/// The recording of a live session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Its id.
    pub id: RecordingId,
    /// The recorded session.
    pub live_session_id: LiveSessionId,
    /// The course of the session, if any.
    pub course_id: Option<CourseId>,
    /// The title of the recording.
    pub title: String,
    /// The duration in seconds.
    pub duration_seconds: i64,
    /// The size of the file in bytes.
    pub size_bytes: i64,
    /// The media type, such as `video/mp4`.
    pub content_type: String,
    /// The time at which the recording became ready.
    pub created_at: Timestamp,
}

/// The data of a `recording.ready` change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingReady {
    /// The platform's key of the recording, which must be new.
    pub key: String,
    /// The recorded session, which must be live or ended.
    pub live_session: IdOrKey,
    /// The title. `None` uses the title of the session.
    pub title: Option<String>,
    /// The duration in seconds.
    pub duration_seconds: i64,
    /// The size of the file in bytes.
    pub size_bytes: i64,
    /// The media type.
    pub content_type: String,
}

/// Creates a recording from a `recording.ready` change. Emits `recording.ready`.
///
/// # Errors
/// Returns [`Error::NotFound`] if the session does not exist. Returns [`Error::Invalid`] if the session has not started, the
/// key is taken or a value is invalid.
pub async fn ready(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    recording: RecordingReady,
) -> Result<RecordingId> {
    validate(&recording)?;
    let sessions = live_sessions::in_workspace(workspace.uuid());
    let session =
        records::read::<LiveSessionIdKind, _>(write.conn(), sessions, &recording.live_session).await?;
    if session.status == StoredLiveSessionStatus::Scheduled {
        let message = format!("cannot have a recording: {}", describe_status(&session));
        return Err(Error::invalid("live_session", message));
    }
    let row = Model {
        id: new_uuid::<RecordingIdKind>(app, write),
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
        return Err(Error::invalid("key", "is the key of an existing recording"));
    }
    let recording = Recording {
        id: id(row.id),
        live_session_id: id(session.id),
        course_id: session.course_id.map(id),
        title: row.title,
        duration_seconds: row.duration_seconds,
        size_bytes: row.size_bytes,
        content_type: row.content_type,
        created_at: from_ms(row.created_at),
    };
    let recording_id = recording.id;
    outbox::append(app, write, workspace, at, Event::RecordingReady(recording)).await?;
    Ok(recording_id)
}

fn validate(recording: &RecordingReady) -> Result<()> {
    let mut errors = FieldErrors::default();
    errors.check_key("key", &recording.key);
    errors.check_optional_single_line("title", recording.title.as_ref(), 500);
    errors.check_seconds("duration_seconds", Some(recording.duration_seconds));
    errors.check_not_negative("size_bytes", recording.size_bytes);
    let is_type_name = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    let parts = recording.content_type.split_once('/');
    let is_media_type = parts.is_some_and(|(kind, subtype)| is_type_name(kind) && is_type_name(subtype));
    if recording.content_type.len() > 127 || !is_media_type {
        errors.add("content_type", "must be a media type, such as `video/mp4`");
    }
    errors.into_result()
}
