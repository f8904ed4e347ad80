//! Enrolls students through the API, manually, and by grants of the change feed.

use entity::{courses, enrollments, students};
use jiff::Timestamp;

use super::super::records::{self, not_found};
use super::super::{Error, Result, WriteOutcome};
use super::access::extend_grant;
use super::row::has_access;
use super::{
    AccessOutcome, AccessRequest, EnrollOutcome, EnrollmentGrant, EnrollmentSource, NewEnrollment,
    append_created_event, enrollment, give_access, snapshot,
};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{Course as CourseIdKind, EnrollmentId, Student as StudentIdKind, WorkspaceId};

/// Enrolls a student in a published course. Emits `enrollment.created` unless the student already has access.
///
/// A revoked or expired enrollment gives access again under the same id, with the new `expires_at`, and emits the event
/// again.
///
/// # Errors
/// Returns [`Error::NotFound`] if the student or the course does not exist. Returns [`Error::Invalid`] on `courseId` if the
/// course is not published, and on `expires_at` if it is not later than `at`.
pub async fn enroll(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    new: NewEnrollment,
) -> Result<EnrollOutcome> {
    check_expiry(at, new.expires_at)?;
    let workspace_uuid = workspace.uuid();
    let rows = enrollments::in_workspace(workspace_uuid);
    // A repeated request needs no lock, and succeeds even if the course was archived in the meantime.
    let existing = rows.by_student_and_course(write.conn(), new.student.uuid(), new.course.uuid()).await?;
    if let Some(existing) = existing.filter(|existing| has_access(existing, at)) {
        return Ok(EnrollOutcome::Existing(enrollment(&existing, at.as_millisecond())));
    }
    let course = courses::in_workspace(workspace_uuid).lock_shared(write.conn(), new.course.uuid()).await?;
    let course = course.ok_or_else(|| not_found::<CourseIdKind>(new.course))?;
    let student = students::in_workspace(workspace_uuid).lock(write.conn(), new.student.uuid()).await?;
    let student = student.ok_or_else(|| not_found::<StudentIdKind>(new.student))?;
    if course.status != courses::StoredCourseStatus::Published {
        let status = super::super::courses::status(course.status);
        return Err(Error::invalid(
            "courseId",
            format!("names a course with the status {status}; only published courses accept enrollments"),
        ));
    }
    let request = AccessRequest {
        student: &student,
        course: &course,
        source: EnrollmentSource::Api,
        order_id: None,
        expires_at: new.expires_at,
    };
    enroll_and_append_event(app, write, workspace, at, request).await
}

/// Enrolls a student manually. Works like [`enroll`], but accepts a course of any status.
///
/// # Errors
/// Returns [`Error::NotFound`] if the student or the course does not exist, and [`Error::Invalid`] on `expires_at` if
/// it is not later than `at`.
pub async fn enroll_manually(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    grant: EnrollmentGrant,
) -> Result<EnrollOutcome> {
    enroll_by_grant(app, write, workspace, at, &grant).await.map(|(outcome, _)| outcome)
}

/// Grants access for the change feed. Works like [`enroll_manually`], but extends an enrollment that already gives
/// access: access then ends at the latest end of all grants, or never if a grant has no end. An extension emits no
/// event. While an order pays for the enrollment, access does not end, regardless of grants.
///
/// # Errors
/// Returns [`Error::NotFound`] if the student or the course does not exist, and [`Error::Invalid`] on `expires_at` if
/// it is not later than `at`.
pub async fn grant(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    grant: EnrollmentGrant,
) -> Result<WriteOutcome<EnrollmentId>> {
    let (outcome, student) = enroll_by_grant(app, write, workspace, at, &grant).await?;
    match outcome {
        EnrollOutcome::New(record) | EnrollOutcome::Reactivated(record) => {
            Ok(WriteOutcome::changed(record.id))
        }
        EnrollOutcome::Existing(record) => {
            let course = record.course_id.uuid();
            let changed = extend_grant(write, workspace, &student, course, grant.expires_at).await?;
            Ok(WriteOutcome { record: record.id, changed })
        }
    }
}

/// Enrolls the student of a grant, and returns that student.
async fn enroll_by_grant(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    grant: &EnrollmentGrant,
) -> Result<(EnrollOutcome, students::Model)> {
    check_expiry(at, grant.expires_at)?;
    let workspace_uuid = workspace.uuid();
    let course = courses::in_workspace(workspace_uuid);
    let course = records::lock_shared::<CourseIdKind, _>(write.conn(), course, &grant.course).await?;
    let student = students::in_workspace(workspace_uuid);
    let student = records::lock::<StudentIdKind, _>(write.conn(), student, &grant.student).await?;
    let request = AccessRequest {
        student: &student,
        course: &course,
        source: grant.source,
        order_id: None,
        expires_at: grant.expires_at,
    };
    let outcome = enroll_and_append_event(app, write, workspace, at, request).await?;
    Ok((outcome, student))
}

/// Gives access, and appends `enrollment.created` unless the student already had access.
async fn enroll_and_append_event(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    request: AccessRequest<'_>,
) -> Result<EnrollOutcome> {
    let outcome = give_access(app, write, workspace, at, request).await?;
    let record = enrollment(outcome.row(), at.as_millisecond());
    if !matches!(outcome, AccessOutcome::Existing(_)) {
        let snapshot = snapshot(outcome.row(), request.student, request.course, at);
        append_created_event(app, write, workspace, at, snapshot).await?;
    }
    Ok(match outcome {
        AccessOutcome::New(_) => EnrollOutcome::New(record),
        AccessOutcome::Existing(_) => EnrollOutcome::Existing(record),
        AccessOutcome::Reactivated(_) => EnrollOutcome::Reactivated(record),
    })
}

/// Rejects an `expires_at` that is not later than `at`, the time at which access starts.
fn check_expiry(at: Timestamp, expires_at: Option<Timestamp>) -> Result<()> {
    match expires_at {
        Some(end) if end <= at => Err(Error::invalid("expires_at", format!("must be later than {at}"))),
        _ => Ok(()),
    }
}
