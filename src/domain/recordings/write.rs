//! Creates recordings.

use entity::live_sessions::{self, StoredLiveSessionStatus};
use entity::recordings::{self, Model};
use jiff::Timestamp;

use super::{Recording, RecordingReady};
use crate::app::App;
use crate::field_errors::FieldErrors;
use crate::live_sessions::describe_status;
use crate::outbox::{self, Event};
use crate::records::{self, id, new_uuid};
use crate::{Error, Result};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    LiveSession as LiveSessionIdKind, Recording as RecordingIdKind, RecordingId, WorkspaceId,
};

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
