//! Certificates of completion.

mod issue;

use jiff::Timestamp;

use super::IdOrKey;
use foundation::id::{CertificateId, CourseId, EnrollmentId, StudentId};

pub use issue::issue;

/// A certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// Its id.
    pub id: CertificateId,
    /// The number printed on the certificate, unique in the workspace.
    pub number: String,
    /// The student.
    pub student_id: StudentId,
    /// The course.
    pub course_id: CourseId,
    /// The completed enrollment.
    pub enrollment_id: EnrollmentId,
    /// The name printed on the certificate. `None` if the student has no name.
    pub recipient_name: Option<String>,
    /// The time of issue.
    pub issued_at: Timestamp,
    /// The URL at which others can verify the certificate: `certificates/{number}` below the course's page. `None` if the
    /// course has no page.
    pub verification_url: Option<String>,
}

/// The data of a `certificate.issue` change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateIssue {
    /// The student.
    pub student: IdOrKey,
    /// The course.
    pub course: IdOrKey,
    /// The number, 1 to 100 characters on one line. `None` generates a number.
    pub number: Option<String>,
}
