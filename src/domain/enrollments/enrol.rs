//! Enrolling: by an integration through the API, and on the platform's word.

use entity::{courses, enrollments, students};
use jiff::Timestamp;

use super::super::find::{self, absent};
use super::super::{Changed, Error, Result};
use super::admit::{has_access, renew};
use super::{
    Admission, Admitted, Enrolled, EnrollmentGrant, EnrollmentSource, NewEnrollment, admit, announce,
    enrollment, snapshot,
};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{Course as CourseKind, EnrollmentId, Student as StudentKind, WorkspaceId};

/// Enrols a student in a published course; emits `enrollment.created` unless the pair is enrolled already.
///
/// A pair that was revoked or has expired has access again under the same id, with the new `expires_at`, and
/// the event is sent again.
///
/// # Errors
/// [`Error::NotFound`] for an absent student or course, [`Error::Invalid`] on `courseId` for a course that is
/// not published and on `expires_at` for a time that is not in the future.
pub async fn enrol(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    new: NewEnrollment,
) -> Result<Enrolled> {
    ends_after(at, new.expires_at)?;
    let scope = workspace.uuid();
    let pairs = enrollments::in_workspace(scope);
    // A repeat of a pair that has access needs no lock, and is right even if the course was archived since.
    let pair = pairs.by_pair(write.conn(), new.student.uuid(), new.course.uuid()).await?;
    if let Some(pair) = pair.filter(|pair| has_access(pair, at)) {
        return Ok(Enrolled::Already(enrollment(&pair, at.as_millisecond())));
    }
    let course = courses::in_workspace(scope).share(write.conn(), new.course.uuid()).await?;
    let course = course.ok_or_else(|| absent::<CourseKind>(new.course))?;
    let student = students::in_workspace(scope).lock(write.conn(), new.student.uuid()).await?;
    let student = student.ok_or_else(|| absent::<StudentKind>(new.student))?;
    if course.status != courses::Status::Published {
        let status = super::super::courses::status(course.status);
        return Err(Error::invalid(
            "courseId",
            format!("names a course with the status {status}; only a published one takes enrollments"),
        ));
    }
    let admission = Admission {
        student: &student,
        course: &course,
        source: EnrollmentSource::Api,
        order_id: None,
        expires_at: new.expires_at,
    };
    admit_and_tell(app, write, workspace, at, admission).await
}

/// Gives access by hand; as [`enrol`], but to a course of any status.
///
/// # Errors
/// [`Error::NotFound`] for an absent student or course, [`Error::Invalid`] on `expires_at`.
pub async fn give(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    grant: EnrollmentGrant,
) -> Result<Enrolled> {
    admit_as_granted(app, write, workspace, at, &grant).await.map(|(enrolled, _)| enrolled)
}

/// Grants access for the platform; as [`give`], but a pair that has access already keeps it until the latest end that was
/// granted, and for good after a grant without an end. Such a renewal has no event. An order that is not refunded gives
/// access without end all the same.
///
/// # Errors
/// [`Error::NotFound`] for an absent student or course, [`Error::Invalid`] on `expires_at`.
pub async fn grant(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    grant: EnrollmentGrant,
) -> Result<Changed<EnrollmentId>> {
    let (enrolled, student) = admit_as_granted(app, write, workspace, at, &grant).await?;
    match enrolled {
        Enrolled::New(record) | Enrolled::Reactivated(record) => Ok(Changed::now(record.id)),
        Enrolled::Already(record) => {
            let course = record.course_id.uuid();
            let changed = renew(write, workspace, &student, course, grant.expires_at).await?;
            Ok(Changed { record: record.id, changed })
        }
    }
}

/// Admits whom a grant names, and says who that is.
async fn admit_as_granted(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    grant: &EnrollmentGrant,
) -> Result<(Enrolled, students::Model)> {
    ends_after(at, grant.expires_at)?;
    let scope = workspace.uuid();
    let course = courses::in_workspace(scope);
    let course = find::share::<CourseKind, _>(write.conn(), course, &grant.course).await?;
    let student = students::in_workspace(scope);
    let student = find::lock::<StudentKind, _>(write.conn(), student, &grant.student).await?;
    let admission = Admission {
        student: &student,
        course: &course,
        source: grant.source,
        order_id: None,
        expires_at: grant.expires_at,
    };
    let enrolled = admit_and_tell(app, write, workspace, at, admission).await?;
    Ok((enrolled, student))
}

/// Admits, and announces access that is new or back.
async fn admit_and_tell(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    admission: Admission<'_>,
) -> Result<Enrolled> {
    let admitted = admit(app, write, workspace, at, admission).await?;
    let record = enrollment(admitted.row(), at.as_millisecond());
    if !matches!(admitted, Admitted::Already(_)) {
        let snapshot = snapshot(admitted.row(), admission.student, admission.course, at);
        announce(app, write, workspace, at, snapshot).await?;
    }
    Ok(match admitted {
        Admitted::New(_) => Enrolled::New(record),
        Admitted::Already(_) => Enrolled::Already(record),
        Admitted::Reactivated(_) => Enrolled::Reactivated(record),
    })
}

/// Access must end after it begins.
fn ends_after(at: Timestamp, expires_at: Option<Timestamp>) -> Result<()> {
    match expires_at {
        Some(end) if end <= at => {
            Err(Error::invalid("expires_at", format!("must lie in the future, after {at}")))
        }
        _ => Ok(()),
    }
}
