//! Enrolments: the link of a student to a course, and the progress along it.

use jiff::Timestamp;

use super::Named;
use super::word::words;
use foundation::id::{CourseId, EnrollmentId, OrderId, StudentId};

mod admit;
mod enrol;
mod progress;
mod recount;
mod revoke;
mod row;

pub(crate) use admit::{Admission, Admitted, admit, extend, fall_back_to_grants, hand_over};
pub use enrol::{enrol, give, grant};
pub use progress::record_progress;
pub(crate) use recount::recount;
pub use revoke::revoke;
pub(crate) use revoke::take_away;
pub(crate) use row::{announce, enrollment, facts, snapshot};

/// Where an enrolment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnrollmentStatus {
    /// The student has access.
    Active,
    /// Every lesson is done; the student keeps access.
    Completed,
    /// `expires_at` has passed.
    Expired,
    /// Access was taken away.
    Revoked,
}

words!(EnrollmentStatus, "an enrollment status", { Active = "active", Completed = "completed", Expired = "expired", Revoked = "revoked" });

/// Where an enrolment came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnrollmentSource {
    /// `createEnrollment`.
    Api,
    /// A paid order.
    Order,
    /// Somebody in the workspace.
    Manual,
    /// A transfer from another system.
    Import,
}

words!(EnrollmentSource, "an enrollment source", { Api = "api", Order = "order", Manual = "manual", Import = "import" });

/// An enrolment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrollment {
    /// Its id.
    pub id: EnrollmentId,
    /// Who.
    pub student_id: StudentId,
    /// In what.
    pub course_id: CourseId,
    /// Where it stands.
    pub status: EnrollmentStatus,
    /// Where it came from.
    pub source: EnrollmentSource,
    /// The order it came from.
    pub order_id: Option<OrderId>,
    /// How far the student is.
    pub progress: EnrollmentProgress,
    /// When access was given, the last time.
    pub enrolled_at: Timestamp,
    /// When access ends.
    pub expires_at: Option<Timestamp>,
    /// When the last lesson was done.
    pub completed_at: Option<Timestamp>,
    /// When access was taken away.
    pub revoked_at: Option<Timestamp>,
    /// Creation.
    pub created_at: Timestamp,
    /// Last recorded change.
    pub updated_at: Timestamp,
}

/// Progress in one course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnrollmentProgress {
    /// Floored; 100 only when every lesson is done, 0 in a course without lessons.
    pub percent_complete: i32,
    /// Lessons done.
    pub completed_lessons: i32,
    /// Lessons of the course.
    pub total_lessons: i32,
    /// When a lesson was last worked on.
    pub last_activity_at: Option<Timestamp>,
}

/// An enrolment with its student and its course, as events show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrollmentSnapshot {
    /// The enrolment.
    pub enrollment: Enrollment,
    /// Who.
    pub student: StudentName,
    /// In what.
    pub course: CourseName,
}

/// The student of an [`EnrollmentSnapshot`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudentName {
    /// Its id.
    pub id: StudentId,
    /// Its email.
    pub email: String,
    /// Its name.
    pub name: Option<String>,
}

/// The course of an [`EnrollmentSnapshot`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CourseName {
    /// Its id.
    pub id: CourseId,
    /// Its slug.
    pub slug: String,
    /// Its title.
    pub title: String,
}

/// An enrolment to make through the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewEnrollment {
    /// Who.
    pub student: StudentId,
    /// In what; must be published.
    pub course: CourseId,
    /// When access ends; must lie in the future.
    pub expires_at: Option<Timestamp>,
}

/// What came of [`enrol`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enrolled {
    /// The pair is new.
    New(Enrollment),
    /// The pair is enrolled already; nothing was changed.
    Already(Enrollment),
    /// The pair was revoked or expired and has access again, under the same id.
    Reactivated(Enrollment),
}

/// What `enrollment.grant` says, or somebody in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrollmentGrant {
    /// Who.
    pub student: Named,
    /// In what; may be of any status.
    pub course: Named,
    /// `Manual` unless said otherwise.
    pub source: EnrollmentSource,
    /// When access ends; must lie after the grant. `None` is without end.
    pub expires_at: Option<Timestamp>,
}

/// What `enrollment.revoke` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnrollmentRevoke {
    /// Who.
    pub student: Named,
    /// In what.
    pub course: Named,
    /// Why.
    pub reason: Option<String>,
}

/// What `progress.record` says: the student has done the lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressRecord {
    /// Who.
    pub student: Named,
    /// In what.
    pub course: Named,
    /// The lesson done, one of that course.
    pub lesson: Named,
}
