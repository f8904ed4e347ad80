//! Students with their progress and enrolment history.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::Given;
use super::enrollments::{Enrollment, EnrollmentStatus};
use super::page::Span;
use foundation::id::{CourseId, StudentId};

mod email;
mod list;
mod row;
mod write;

pub use email::fold;
pub use list::{get, list, reach};
pub(crate) use row::summary;
pub use write::{create, delete, upsert};

/// A student without the enrolment history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentSummary {
    /// Its id.
    pub id: StudentId,
    /// As it was given; unique in the workspace without regard to case.
    pub email: String,
    /// Full name.
    pub name: Option<String>,
    /// Its id in a system of the workspace's own.
    pub external_id: Option<String>,
    /// Labels, in the order given.
    pub tags: Vec<String>,
    /// Facts of the workspace's own.
    pub metadata: BTreeMap<String, String>,
    /// Over all enrolments.
    pub progress: StudentProgress,
    /// Creation.
    pub created_at: Timestamp,
    /// Last recorded change of anything shown, progress and enrolments included.
    pub updated_at: Timestamp,
}

/// Progress over all enrolments of a student.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StudentProgress {
    /// Expired and revoked ones included.
    pub enrollments_total: i32,
    /// Those that are active.
    pub enrollments_active: i32,
    /// Those that are completed.
    pub enrollments_completed: i32,
    /// Floored mean over the enrolments that are not revoked; `None` when there is none.
    pub average_percent_complete: Option<i32>,
    /// When a lesson was last worked on.
    pub last_activity_at: Option<Timestamp>,
}

/// A student with the whole enrolment history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Student {
    /// The student.
    pub summary: StudentSummary,
    /// Newest first.
    pub enrollments: Vec<Enrollment>,
}

/// What is left of a student who was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedStudent {
    /// The id it had.
    pub id: StudentId,
    /// The email it had.
    pub email: String,
    /// The external id it had.
    pub external_id: Option<String>,
    /// When it was deleted.
    pub deleted_at: Timestamp,
}

/// Filters of the student list. `course` and `enrollment_status` together are met by one enrolment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StudentFilter {
    /// The whole address, without regard to case.
    pub email: Option<String>,
    /// Exact external id.
    pub external_id: Option<String>,
    /// Has an enrolment in this course.
    pub course: Option<CourseId>,
    /// Has an enrolment with this status.
    pub enrollment_status: Option<EnrollmentStatus>,
    /// Has this tag.
    pub tag: Option<String>,
    /// Has this text in the address or the name, without regard to case; an id means the student with it.
    pub search: Option<String>,
    /// By creation.
    pub created: Span,
    /// By last change.
    pub updated: Span,
}

/// A student to create through the API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewStudent {
    /// Must be free in the workspace.
    pub email: String,
    /// Full name.
    pub name: Option<String>,
    /// Its id in a system of the workspace's own.
    pub external_id: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// Facts of the workspace's own.
    pub metadata: BTreeMap<String, String>,
}

/// What `student.upsert` says of a student.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentUpsert {
    /// The platform's own key.
    pub key: String,
    /// Must be free in the workspace.
    pub email: String,
    /// Full name.
    pub name: Given<String>,
    /// Its id in another system.
    pub external_id: Given<String>,
    /// The whole list of labels; `None` leaves it as it is.
    pub tags: Option<Vec<String>>,
    /// The whole map; `None` leaves it as it is.
    pub metadata: Option<BTreeMap<String, String>>,
}
