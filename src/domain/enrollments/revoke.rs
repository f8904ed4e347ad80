//! Revokes access to courses.

use entity::enrollments::{self, Model, StoredEnrollmentStatus};
use entity::{courses, entitlements, orders, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::field_errors::FieldErrors;
use super::super::records::{self, id};
use super::super::{Error, Result, WriteOutcome};
use super::row::save;
use super::{EnrollmentRevoke, snapshot};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::database::Write;
use foundation::id::{Course as CourseIdKind, EnrollmentId, Student as StudentIdKind, WorkspaceId};

/// Revokes the access of an enrollment from any source, and its entitlements. Emits `enrollment.revoked` unless the
/// enrollment is already revoked. Only a later enrollment, grant or order gives access again.
///
/// # Errors
/// Returns [`Error::NotFound`] if the student, the course or the enrollment does not exist, and [`Error::Invalid`] if
/// the reason is too long.
pub async fn revoke(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    revoke: EnrollmentRevoke,
) -> Result<WriteOutcome<EnrollmentId>> {
    let mut errors = FieldErrors::default();
    errors.check_text("reason", revoke.reason.as_ref(), 1000);
    errors.into_result()?;
    let workspace_uuid = workspace.uuid();
    let course = courses::in_workspace(workspace_uuid);
    let course = records::read::<CourseIdKind, _>(write.conn(), course, &revoke.course).await?;
    let student = students::in_workspace(workspace_uuid);
    let student = records::lock::<StudentIdKind, _>(write.conn(), student, &revoke.student).await?;
    let rows = enrollments::in_workspace(workspace_uuid);
    let row = rows.lock_by_student_and_course(write.conn(), student.id, course.id).await?;
    let row = row.ok_or_else(|| enrollment_not_found(&revoke.student, &revoke.course))?;
    let enrollment = id(row.id);
    revoke_entitlements(write, workspace, at, row.id).await?;
    let Some(revoked) = revoke_access(write, workspace, at, &student, &row, revoke.reason).await? else {
        return Ok(WriteOutcome::unchanged(enrollment));
    };
    let event = Event::EnrollmentRevoked(snapshot(&revoked, &student, &course, at));
    outbox::append(app, write, workspace, at, event).await?;
    Ok(WriteOutcome::changed(enrollment))
}

/// Revokes the entitlements of the enrollment, so that its earlier orders no longer give access. Their orders get a new
/// `updated_at`, because the API shows the entitlements with them.
async fn revoke_entitlements(
    write: &Write,
    workspace: WorkspaceId,
    at: Timestamp,
    enrollment: Uuid,
) -> Result<()> {
    let rows = entitlements::in_workspace(workspace.uuid());
    let mut order_ids = Vec::new();
    for entitlement in rows.of_enrollments(write.conn(), &[enrollment]).await? {
        if entitlement.status == entitlements::StoredEntitlementStatus::Active {
            rows.revoke(write.conn(), entitlement.id, at.as_millisecond()).await?;
            order_ids.push(entitlement.order_id);
        }
    }
    Ok(orders::in_workspace(workspace.uuid()).touch(write.conn(), &order_ids, write.recorded_ms()).await?)
}

/// Revokes the access of an enrollment and returns its new row, or `None` if it is already revoked. The caller has
/// locked the enrollment and its student, and appends the event.
pub(crate) async fn revoke_access(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    student: &students::Model,
    row: &Model,
    reason: Option<String>,
) -> Result<Option<Model>> {
    if row.status == StoredEnrollmentStatus::Revoked {
        return Ok(None);
    }
    let after = Model {
        status: StoredEnrollmentStatus::Revoked,
        revoked_at: Some(at.as_millisecond()),
        revoke_reason: reason,
        granted_until: None,
        ..row.clone()
    };
    save(write, workspace, student, row, after).await.map(Some)
}

/// Creates the error for a student who has no enrollment in the course.
pub(super) fn enrollment_not_found(student: impl std::fmt::Display, course: impl std::fmt::Display) -> Error {
    Error::not_found("enrollment", format!("of {student} in {course}"))
}
