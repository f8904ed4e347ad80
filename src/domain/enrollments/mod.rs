//! Enrollments of students in courses, and their progress.

use jiff::Timestamp;

use super::IdOrKey;
use super::text_enum::text_enum;
use foundation::id::{CourseId, EnrollmentId, OrderId, StudentId};

mod access;
mod enroll;
mod progress;
mod recount;
mod revoke;
mod row;

pub use super::contract::{EnrollmentSource, EnrollmentStatus};
pub(crate) use access::{
    AccessOutcome, AccessRequest, assign_order, fall_back_to_grants, give_access, remove_expiry,
};
pub use enroll::{enroll, enroll_manually, grant};
pub use progress::record_progress;
pub(crate) use recount::recount;
pub use revoke::revoke;
pub(crate) use revoke::revoke_access;
pub(crate) use row::{append_created_event, counted_enrollment, enrollment, snapshot};

text_enum!(EnrollmentStatus, "an enrollment status");
text_enum!(EnrollmentSource, "an enrollment source");

/// An enrollment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrollment {
    /// Its id.
    pub id: EnrollmentId,
    /// The student.
    pub student_id: StudentId,
    /// The course.
    pub course_id: CourseId,
    /// The status.
    pub status: EnrollmentStatus,
    /// The source.
    pub source: EnrollmentSource,
    /// The order that pays for it, if any.
    pub order_id: Option<OrderId>,
    /// The progress of the student.
    pub progress: EnrollmentProgress,
    /// The time at which access was most recently given. An extension does not change it.
    pub enrolled_at: Timestamp,
    /// The time at which access ends unless every lesson is completed. `None` means without end.
    pub expires_at: Option<Timestamp>,
    /// The time since which every lesson is completed. `None` while a lesson is not completed yet, or if the course has
    /// no lessons.
    pub completed_at: Option<Timestamp>,
    /// The time at which access was revoked. `None` if it was given again or never revoked.
    pub revoked_at: Option<Timestamp>,
    /// Creation time.
    pub created_at: Timestamp,
    /// When it was last changed, by the server's clock.
    pub updated_at: Timestamp,
}

/// The progress in one course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnrollmentProgress {
    /// Percentage of completed lessons, rounded down: 100 only if every lesson is completed, 0 for a course without
    /// lessons.
    pub percent_complete: i32,
    /// Number of lessons completed.
    pub completed_lessons: i32,
    /// Number of lessons of the course.
    pub total_lessons: i32,
    /// The time at which a lesson was most recently completed. `None` before the first.
    pub last_activity_at: Option<Timestamp>,
}

/// An enrollment with its student and its course at the time of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrollmentSnapshot {
    /// The enrollment.
    pub enrollment: Enrollment,
    /// The student.
    pub student: EnrollmentStudent,
    /// The course.
    pub course: EnrollmentCourse,
}

/// The student of an [`EnrollmentSnapshot`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrollmentStudent {
    /// Its id.
    pub id: StudentId,
    /// The email address.
    pub email: String,
    /// Full name, if known.
    pub name: Option<String>,
}

/// The course of an [`EnrollmentSnapshot`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrollmentCourse {
    /// Its id.
    pub id: CourseId,
    /// Its slug.
    pub slug: String,
    /// Its title.
    pub title: String,
}

/// The data of a new enrollment from the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewEnrollment {
    /// The student.
    pub student: StudentId,
    /// The course, which must be published.
    pub course: CourseId,
    /// The time at which access ends, later than the time of the enrollment. `None` means without end.
    pub expires_at: Option<Timestamp>,
}

/// The outcome of [`enroll`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnrollOutcome {
    /// The enrollment is new.
    New(Enrollment),
    /// The student already had access. Nothing was changed.
    Existing(Enrollment),
    /// The enrollment was revoked or expired and gives access again, under the same id.
    Reactivated(Enrollment),
}

/// The data of an `enrollment.grant` change or of a manual enrollment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrollmentGrant {
    /// The student.
    pub student: IdOrKey,
    /// The course, of any status.
    pub course: IdOrKey,
    /// The source. A change that states none has the source `Manual`.
    pub source: EnrollmentSource,
    /// The time at which access ends, later than the time of the grant. `None` means without end.
    pub expires_at: Option<Timestamp>,
}

/// The data of an `enrollment.revoke` change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrollmentRevoke {
    /// The student.
    pub student: IdOrKey,
    /// The course.
    pub course: IdOrKey,
    /// The reason, at most 1,000 characters.
    pub reason: Option<String>,
}

/// The data of a `progress.record` change: the student completed the lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressRecord {
    /// The student.
    pub student: IdOrKey,
    /// The course.
    pub course: IdOrKey,
    /// The completed lesson, which belongs to the course.
    pub lesson: IdOrKey,
}
