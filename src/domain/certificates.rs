//! Certificates: proof that a student completed a course.

use jiff::Timestamp;

use super::{Named, Result};
use crate::app::App;
use crate::database::Write;
use crate::id::{CertificateId, CourseId, EnrollmentId, StudentId, WorkspaceId};

/// A certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// Its id.
    pub id: CertificateId,
    /// Printed on it; unique in the workspace.
    pub number: String,
    /// Who.
    pub student_id: StudentId,
    /// In what.
    pub course_id: CourseId,
    /// The enrolment completed.
    pub enrollment_id: EnrollmentId,
    /// The name printed on it; `None` when it was not known.
    pub recipient_name: Option<String>,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// Where others can verify it: `certificates/{number}` below the course's page. `None` without a page.
    pub verification_url: Option<String>,
}

/// What `certificate.issue` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateIssue {
    /// Who.
    pub student: Named,
    /// In what.
    pub course: Named,
    /// A number is made when none is given.
    pub number: Option<String>,
}

/// Issues a certificate for a completed enrolment; emits `certificate.issued`.
///
/// # Errors
/// [`super::Error::NotFound`] for an absent student, course or enrolment; [`super::Error::Invalid`] for an
/// enrolment that is not completed, a certificate issued before, and a number that is taken.
pub async fn issue(
    _app: &App,
    _write: &mut Write,
    _workspace: WorkspaceId,
    _at: Timestamp,
    _issue: CertificateIssue,
) -> Result<CertificateId> {
    todo!()
}
