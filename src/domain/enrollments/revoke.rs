//! Taking access away.

use entity::enrollments::{self, Model, Status};
use entity::{courses, entitlements, orders, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::faults::Faults;
use super::super::find::{self, id};
use super::super::{Changed, Error, Result};
use super::row::save;
use super::{EnrollmentRevoke, snapshot};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::database::Write;
use foundation::id::{Course as CourseKind, EnrollmentId, Student as StudentKind, WorkspaceId};

/// Takes access away, whatever gave it; emits `enrollment.revoked` unless it is revoked already. Only what comes later, a
/// grant or an order, gives access again.
///
/// # Errors
/// [`Error::NotFound`] for an absent student, course or enrolment.
pub async fn revoke(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    revoke: EnrollmentRevoke,
) -> Result<Changed<EnrollmentId>> {
    let mut faults = Faults::default();
    faults.prose("reason", revoke.reason.as_ref(), 1000);
    faults.check()?;
    let scope = workspace.uuid();
    let course = courses::in_workspace(scope);
    let course = find::read::<CourseKind, _>(write.conn(), course, &revoke.course).await?;
    let student = students::in_workspace(scope);
    let student = find::lock::<StudentKind, _>(write.conn(), student, &revoke.student).await?;
    let pairs = enrollments::in_workspace(scope);
    let row = pairs.lock_pair(write.conn(), student.id, course.id).await?;
    let row = row.ok_or_else(|| no_pair(&revoke.student, &revoke.course))?;
    let enrollment = id(row.id);
    revoke_entitlements(write, workspace, at, row.id).await?;
    let Some(revoked) = take_away(write, workspace, at, &student, &row, revoke.reason).await? else {
        return Ok(Changed::before(enrollment));
    };
    let revoked = Event::EnrollmentRevoked(snapshot(&revoked, &student, &course, at));
    outbox::append(app, write, workspace, at, revoked).await?;
    Ok(Changed::now(enrollment))
}

/// Revokes what orders entitle to, so that after a revocation only what comes later gives access. Their orders count as
/// updated, since they show it.
async fn revoke_entitlements(
    write: &Write,
    workspace: WorkspaceId,
    at: Timestamp,
    enrollment: Uuid,
) -> Result<()> {
    let rows = entitlements::in_workspace(workspace.uuid());
    let mut orders = Vec::new();
    for right in rows.of_enrollments(write.conn(), &[enrollment]).await? {
        if right.status == entitlements::Status::Active {
            rows.revoke(write.conn(), right.id, at.as_millisecond()).await?;
            orders.push(right.order_id);
        }
    }
    Ok(orders::in_workspace(workspace.uuid()).touch(write.conn(), &orders, write.now_ms()).await?)
}

/// The enrolment without access, or `None` when it is revoked already. The caller holds it and its student, and
/// sends the event.
pub(crate) async fn take_away(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    student: &students::Model,
    row: &Model,
    reason: Option<String>,
) -> Result<Option<Model>> {
    if row.status == Status::Revoked {
        return Ok(None);
    }
    let after = Model {
        status: Status::Revoked,
        revoked_at: Some(at.as_millisecond()),
        revoke_reason: reason,
        granted_until: None,
        ..row.clone()
    };
    save(write, workspace, student, row, after).await.map(Some)
}

/// There is no enrolment of this pair.
pub(super) fn no_pair(student: impl std::fmt::Display, course: impl std::fmt::Display) -> Error {
    Error::not_found("enrollment", format!("of {student} in {course}"))
}
