//! Certificates: proof that a student completed a course.

use entity::certificates::{self, Model};
use entity::{courses, enrollments, students};
use jiff::Timestamp;

use super::faults::Faults;
use super::find::{self, fresh, id};
use super::{Error, Named, Result, rollups};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    Certificate as CertificateKind, CertificateId, Course as CourseKind, CourseId, EnrollmentId,
    Student as StudentKind, StudentId, WorkspaceId,
};

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
/// Completed is one whose every lesson is done; a course without lessons has none to do. An enrolment that was
/// revoked earns no certificate.
///
/// # Errors
/// [`Error::NotFound`] for an absent student, course or enrolment; [`Error::Invalid`] for an enrolment that is
/// not completed, a certificate issued before, and a number that is taken.
pub async fn issue(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    issue: CertificateIssue,
) -> Result<CertificateId> {
    let mut faults = Faults::default();
    faults.maybe_line("number", issue.number.as_ref(), 100);
    faults.check()?;
    let scope = workspace.uuid();
    let course = courses::in_workspace(scope);
    let course = find::read::<CourseKind, _>(write.conn(), course, &issue.course).await?;
    let student = students::in_workspace(scope);
    let student = find::lock::<StudentKind, _>(write.conn(), student, &issue.student).await?;
    let pair = enrollments::in_workspace(scope).by_pair(write.conn(), student.id, course.id).await?;
    let pair = pair
        .ok_or_else(|| Error::not_found("enrollment", format!("of {} in {}", issue.student, issue.course)))?;
    earned(&pair)?;
    let rows = certificates::in_workspace(scope);
    if let Some(earlier) = rows.by_pair(write.conn(), student.id, course.id).await? {
        let message = format!("has the certificate {} for this course already", earlier.number);
        return Err(Error::invalid("student", message));
    }
    let new = fresh::<CertificateKind>(app, write);
    let row = Model {
        id: new,
        workspace_id: scope,
        student_id: Some(student.id),
        course_id: course.id,
        enrollment_id: Some(pair.id),
        number: issue.number.unwrap_or_else(|| number(id(new), at)),
        recipient_name: student.name,
        issued_at: at.as_millisecond(),
    };
    if !rows.insert_unless_taken(write.conn(), row.clone()).await? {
        return Err(Error::invalid("number", "is the number of another certificate of this workspace"));
    }
    rollups::certificate_issued(write, workspace, id(course.id), at);
    let certificate = Certificate {
        id: id(row.id),
        verification_url: course.url.map(|url| verification_url(&url, &row.number)),
        number: row.number,
        student_id: id(student.id),
        course_id: id(course.id),
        enrollment_id: id(pair.id),
        recipient_name: row.recipient_name,
        issued_at: from_ms(row.issued_at),
    };
    outbox::append(app, write, workspace, at, Event::CertificateIssued(certificate)).await?;
    Ok(id(row.id))
}

/// Refuses an enrolment that has not earned a certificate.
fn earned(pair: &enrollments::Model) -> Result<()> {
    let lacking = match pair.status {
        enrollments::Status::Completed => return Ok(()),
        enrollments::Status::Active if pair.total_lessons == 0 => return Ok(()),
        enrollments::Status::Active => {
            format!("{} of {} lessons are done", pair.completed_lessons, pair.total_lessons)
        }
        enrollments::Status::Revoked => "the enrollment was revoked".to_owned(),
    };
    Err(Error::invalid("student", format!("has not completed the course: {lacking}")))
}

/// A number of our own making: the year and twelve characters that nobody guesses, from the id's random end.
fn number(certificate: CertificateId, at: Timestamp) -> String {
    let id = certificate.to_string();
    let year = at.to_zoned(jiff::tz::TimeZone::UTC).year();
    format!("{year}-{}", id[id.len() - 12..].to_ascii_uppercase())
}

/// Where the platform shows a certificate: below the course's page. This server does not serve it.
fn verification_url(course_url: &str, number: &str) -> String {
    let page = course_url.split(['?', '#']).next().unwrap_or(course_url).trim_end_matches('/');
    let mut url = format!("{page}/certificates/");
    for byte in number.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_verified_below_the_page_of_its_course() {
        assert_eq!(
            verification_url("https://acme.test/courses/rust/?ref=1", "2026/A 1"),
            "https://acme.test/courses/rust/certificates/2026%2FA%201"
        );
    }

    #[test]
    fn a_number_names_the_year_and_no_more() {
        let id = Ids::default().next(Timestamp::UNIX_EPOCH);
        let number = number(id, Timestamp::UNIX_EPOCH);
        assert!(number.starts_with("1970-") && number.len() == 17, "{number}");
    }

    use foundation::id::Ids;
}
