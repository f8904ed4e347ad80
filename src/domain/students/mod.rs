//! Students, with their progress and enrollment history.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::FieldUpdate;
use super::enrollments::{Enrollment, EnrollmentStatus};
use super::page::TimeSpan;
use foundation::id::{CourseId, StudentId};

mod list;
mod row;
mod write;

pub use list::{get, list, list_lagging, search_end};
pub(crate) use row::summary;
pub use write::{create, delete, upsert};

/// A student without the enrollment history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentSummary {
    /// Its id.
    pub id: StudentId,
    /// The email address as entered. Its [key](crate::email::comparison_key) is unique in the workspace.
    pub email: String,
    /// Full name, if known.
    pub name: Option<String>,
    /// The student's id in another system, if any. Not necessarily unique.
    pub external_id: Option<String>,
    /// Labels, in the order of entry.
    pub tags: Vec<String>,
    /// Custom key-value pairs of the workspace.
    pub metadata: BTreeMap<String, String>,
    /// The progress over all enrollments.
    pub progress: StudentProgress,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the most recent recorded change of any field, including progress and enrollments.
    pub updated_at: Timestamp,
}

/// The progress over all enrollments of a student.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StudentProgress {
    /// Number of enrollments, including expired and revoked ones.
    pub enrollments_total: i32,
    /// Number of active enrollments.
    pub enrollments_active: i32,
    /// Number of completed enrollments.
    pub enrollments_completed: i32,
    /// Mean percentage of completed lessons over the enrollments that are not revoked, 0 to 100, rounded down. `None`
    /// if there are no such enrollments.
    pub average_percent_complete: Option<i32>,
    /// The time at which a lesson was most recently completed. `None` before the first.
    pub last_activity_at: Option<Timestamp>,
}

/// A student with the complete enrollment history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Student {
    /// The student.
    pub summary: StudentSummary,
    /// The enrollments, newest first.
    pub enrollments: Vec<Enrollment>,
}

/// The data of a deleted student that `student.deleted` contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedStudent {
    /// The former id.
    pub id: StudentId,
    /// The former email address.
    pub email: String,
    /// The former external id.
    pub external_id: Option<String>,
    /// The time of deletion.
    pub deleted_at: Timestamp,
}

/// Filters of the student list. One enrollment must match both `course` and `enrollment_status`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StudentFilter {
    /// Only the student with this complete email address, in any spelling.
    pub email: Option<String>,
    /// Only students with exactly this external id.
    pub external_id: Option<String>,
    /// Only students with an enrollment in this course.
    pub course: Option<CourseId>,
    /// Only students with an enrollment with this status.
    pub enrollment_status: Option<EnrollmentStatus>,
    /// Only students with this tag.
    pub tag: Option<String>,
    /// Only students whose email address or name contains this text, ignoring case. A student id matches that student, and a
    /// complete email address the student who has it in any spelling.
    pub search: Option<String>,
    /// Only students created in this span.
    pub created: TimeSpan,
    /// Only students whose most recent recorded change is in this span.
    pub updated: TimeSpan,
}

/// The data of a new student from the API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewStudent {
    /// The email address, which must be new in the workspace.
    pub email: String,
    /// Full name.
    pub name: Option<String>,
    /// The student's id in another system, if any.
    pub external_id: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// Custom key-value pairs of the workspace.
    pub metadata: BTreeMap<String, String>,
}

/// The data of a `student.upsert` change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentUpsert {
    /// The platform's key of the student.
    pub key: String,
    /// The email address, which no other student of the workspace has.
    pub email: String,
    /// Full name.
    pub name: FieldUpdate<String>,
    /// The student's id in another system.
    pub external_id: FieldUpdate<String>,
    /// The complete list of labels. `None` leaves it unchanged.
    pub tags: Option<Vec<String>>,
    /// The complete map of key-value pairs. `None` leaves it unchanged.
    pub metadata: Option<BTreeMap<String, String>>,
}
