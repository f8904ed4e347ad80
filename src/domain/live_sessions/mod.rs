//! Live sessions: scheduled, then live, then ended.

mod write;

use jiff::Timestamp;

use super::text_enum::text_enum;
use super::{FieldUpdate, IdOrKey};
use foundation::id::{CourseId, LiveSessionId};

pub use super::contract::LiveSessionStatus;
pub(crate) use write::describe_status;
pub use write::{end, start, upsert};

text_enum!(LiveSessionStatus, "a live session status");

/// A live session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSession {
    /// Its id.
    pub id: LiveSessionId,
    /// The course it belongs to, if any.
    pub course_id: Option<CourseId>,
    /// The title, shown to students.
    pub title: String,
    /// The status.
    pub status: LiveSessionStatus,
    /// The planned start, if any.
    pub scheduled_at: Option<Timestamp>,
    /// The actual start. `None` before it.
    pub started_at: Option<Timestamp>,
    /// The actual end. `None` before it.
    pub ended_at: Option<Timestamp>,
    /// The time from the actual start to the end in seconds, rounded down. `None` before the end.
    pub duration_seconds: Option<i64>,
}

/// The data of a `live_session.upsert` change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveSessionUpsert {
    /// The platform's key of the session.
    pub key: String,
    /// The title, shown to students.
    pub title: String,
    /// The course it belongs to.
    pub course: FieldUpdate<IdOrKey>,
    /// The planned start.
    pub scheduled_at: FieldUpdate<Timestamp>,
}
