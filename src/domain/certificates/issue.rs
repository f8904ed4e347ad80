//! Issues certificates.

use entity::certificates::{self, Model};
use entity::{courses, enrollments, students};
use jiff::Timestamp;

use super::{Certificate, CertificateIssue};
use crate::app::App;
use crate::field_errors::FieldErrors;
use crate::outbox::{self, Event};
use crate::records::{self, id, new_uuid};
use crate::{Error, Result, rollups};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    Certificate as CertificateIdKind, CertificateId, Course as CourseIdKind, Student as StudentIdKind,
    WorkspaceId,
};

/// Issues a certificate for a completed enrollment. Emits `certificate.issued`.
///
/// An enrollment is completed when every lesson is completed. An enrollment in a course without lessons is always
/// completed for this purpose. No certificate is issued for a revoked enrollment.
///
/// # Errors
/// Returns [`Error::NotFound`] if the student, the course or the enrollment does not exist. Returns [`Error::Invalid`] if the
/// enrollment is not completed, the student already has a certificate for the course, or the number is taken or
/// invalid.
pub async fn issue(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    issue: CertificateIssue,
) -> Result<CertificateId> {
    let mut errors = FieldErrors::default();
    errors.check_optional_single_line("number", issue.number.as_ref(), 100);
    errors.into_result()?;
    let workspace_uuid = workspace.uuid();
    let course = courses::in_workspace(workspace_uuid);
    let course = records::read::<CourseIdKind, _>(write.conn(), course, &issue.course).await?;
    let student = students::in_workspace(workspace_uuid);
    let student = records::lock::<StudentIdKind, _>(write.conn(), student, &issue.student).await?;
    let enrollment = enrollments::in_workspace(workspace_uuid)
        .by_student_and_course(write.conn(), student.id, course.id)
        .await?;
    let enrollment = enrollment
        .ok_or_else(|| Error::not_found("enrollment", format!("of {} in {}", issue.student, issue.course)))?;
    check_completed(&enrollment)?;
    let rows = certificates::in_workspace(workspace_uuid);
    if let Some(existing) = rows.by_student_and_course(write.conn(), student.id, course.id).await? {
        let message = format!("already has the certificate {} for this course", existing.number);
        return Err(Error::invalid("student", message));
    }
    let certificate_uuid = new_uuid::<CertificateIdKind>(app, write);
    let row = Model {
        id: certificate_uuid,
        workspace_id: workspace_uuid,
        student_id: Some(student.id),
        course_id: course.id,
        enrollment_id: Some(enrollment.id),
        number: issue.number.unwrap_or_else(|| generate_number(id(certificate_uuid), at)),
        recipient_name: student.name,
        issued_at: at.as_millisecond(),
    };
    if !rows.insert_unless_taken(write.conn(), row.clone()).await? {
        return Err(Error::invalid("number", "is already used by another certificate of this workspace"));
    }
    rollups::count_certificate(write, workspace, id(course.id), at);
    let certificate = Certificate {
        id: id(row.id),
        verification_url: course.url.map(|url| verification_url(&url, &row.number)),
        number: row.number,
        student_id: id(student.id),
        course_id: id(course.id),
        enrollment_id: id(enrollment.id),
        recipient_name: row.recipient_name,
        issued_at: from_ms(row.issued_at),
    };
    outbox::append(app, write, workspace, at, Event::CertificateIssued(certificate)).await?;
    Ok(id(row.id))
}

/// Rejects an enrollment that is revoked or not completed.
fn check_completed(enrollment: &enrollments::Model) -> Result<()> {
    let reason = match enrollment.status {
        enrollments::StoredEnrollmentStatus::Completed => return Ok(()),
        enrollments::StoredEnrollmentStatus::Active if enrollment.total_lessons == 0 => return Ok(()),
        enrollments::StoredEnrollmentStatus::Active => {
            format!("{} of {} lessons are completed", enrollment.completed_lessons, enrollment.total_lessons)
        }
        enrollments::StoredEnrollmentStatus::Revoked => "the enrollment was revoked".to_owned(),
    };
    Err(Error::invalid("student", format!("has not completed the course: {reason}")))
}

/// Generates a number: the UTC year and the last twelve characters of the id. These are random, so numbers cannot be
/// guessed.
fn generate_number(certificate: CertificateId, at: Timestamp) -> String {
    let id = certificate.to_string();
    let year = at.to_zoned(jiff::tz::TimeZone::UTC).year();
    format!("{year}-{}", id[id.len() - 12..].to_ascii_uppercase())
}

/// Returns the URL at which the platform shows a certificate, below the course's page. This server does not serve it.
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
    use foundation::id::Ids;

    #[test]
    fn a_certificate_is_verified_below_the_page_of_its_course() {
        assert_eq!(
            verification_url("https://acme.test/courses/rust/?ref=1", "2026/A 1"),
            "https://acme.test/courses/rust/certificates/2026%2FA%201"
        );
    }

    #[test]
    fn a_generated_number_starts_with_the_year() {
        let id = Ids::default().next(Timestamp::UNIX_EPOCH);
        let number = generate_number(id, Timestamp::UNIX_EPOCH);
        assert!(number.starts_with("1970-") && number.len() == 17, "{number}");
    }
}
