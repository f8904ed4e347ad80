//! Recordings of live sessions: metadata of the file, never the media itself or a link to it.

mod write;

use jiff::Timestamp;

use super::IdOrKey;
use foundation::id::{CourseId, LiveSessionId, RecordingId};

pub use write::ready;

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
