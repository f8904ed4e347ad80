//! Gives students access to courses, for every source of enrollments.

use entity::enrollments::{self, ActiveModel, Model, NO_EXPIRY, StoredEnrollmentStatus};
use entity::{Set, courses, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::records::new_uuid;
use super::super::{Result, rollups};
use super::EnrollmentSource;
use super::progress::update_completion;
use super::row::{counted_enrollment, has_access, save, stored_source};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{Enrollment as EnrollmentIdKind, WorkspaceId};

/// A request for access to a course. The caller has locked the student exclusively and the course in shared mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccessRequest<'a> {
    pub(crate) student: &'a students::Model,
    pub(crate) course: &'a courses::Model,
    pub(crate) source: EnrollmentSource,
    /// The order that pays for the access, if any.
    pub(crate) order_id: Option<Uuid>,
    /// The time at which access ends. `None` means without end.
    pub(crate) expires_at: Option<Timestamp>,
}

/// The outcome of an access request. The caller appends an event for every variant but `Existing`.
#[derive(Debug)]
pub(crate) enum AccessOutcome {
    /// The enrollment is new.
    New(Model),
    /// The student already had access. Nothing was changed.
    Existing(Model),
    /// The enrollment was revoked or expired and gives access again.
    Reactivated(Model),
}

impl AccessOutcome {
    /// Returns the enrollment after the request.
    pub(crate) const fn row(&self) -> &Model {
        match self {
            Self::New(row) | Self::Existing(row) | Self::Reactivated(row) => row,
        }
    }
}

/// Gives a student access to a course. Does nothing if the student already has access. A revoked or expired enrollment
/// gives access again and keeps its id.
pub(crate) async fn give_access(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    request: AccessRequest<'_>,
) -> Result<AccessOutcome> {
    let rows = enrollments::in_workspace(workspace.uuid());
    let AccessRequest { student, course, .. } = request;
    let new = new_row(app, write, workspace, at, request);
    if rows.insert_if_absent(write.conn(), new.clone()).await? {
        let recorded_ms = write.recorded_ms();
        students::in_workspace(workspace.uuid()).touch(write.conn(), &[student.id], recorded_ms).await?;
        rollups::count_enrollment(write, workspace, None, Some(counted_enrollment(&new, student.created_at)));
        return Ok(AccessOutcome::New(new));
    }
    let before = rows.lock_by_student_and_course(write.conn(), student.id, course.id).await?;
    let before = before.ok_or_else(|| anyhow::anyhow!("the enrollment of a locked student was deleted"))?;
    if has_access(&before, at) {
        return Ok(AccessOutcome::Existing(before));
    }
    let after = reactivate(&before, &new);
    Ok(AccessOutcome::Reactivated(save(write, workspace, student, &before, after).await?))
}

/// Removes the expiry of an enrollment, because an order now pays for it. Keeps the previous expiry as `granted_until`,
/// which applies again if the order is refunded. Does nothing if the enrollment does not expire.
pub(crate) async fn remove_expiry(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    row: &Model,
    order: Uuid,
) -> Result<()> {
    if row.expires_at.is_some() {
        let after =
            Model { expires_at: None, order_id: Some(order), granted_until: row.expires_at, ..row.clone() };
        save(write, workspace, student, row, after).await?;
    }
    Ok(())
}

/// Extends the access that grants give until `end`. `None` means without end. Returns false and changes nothing if an
/// earlier grant already lasts that long. While an order pays for the enrollment, this changes only `granted_until`,
/// because access that was bought does not end. The caller has locked the student.
pub(super) async fn extend_grant(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    course: Uuid,
    end: Option<Timestamp>,
) -> Result<bool> {
    let rows = enrollments::in_workspace(workspace.uuid());
    let before = rows.lock_by_student_and_course(write.conn(), student.id, course).await?;
    let before = before.ok_or_else(|| anyhow::anyhow!("the enrollment of a locked student was deleted"))?;
    let end = end.map_or(NO_EXPIRY, Timestamp::as_millisecond);
    if before.grant_end().is_some_and(|grant_end| grant_end >= end) {
        return Ok(false);
    }
    if before.order_id.is_some() {
        // The API does not show `granted_until`, so neither the enrollment nor its student gets a new `updated_at`.
        let changes = ActiveModel { granted_until: Set(Some(end)), ..Default::default() };
        return Ok(rows.update(write.conn(), before.id, changes).await?);
    }
    let after = Model { expires_at: (end != NO_EXPIRY).then_some(end), ..before.clone() };
    save(write, workspace, student, &before, after).await?;
    Ok(true)
}

/// Replaces the access that a refunded order gave with the access that grants still give at the time `at`. Returns
/// false and changes nothing if no grant gives access; the caller then revokes the enrollment.
pub(crate) async fn fall_back_to_grants(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    student: &students::Model,
    row: &Model,
) -> Result<bool> {
    // A course that was completed before the grant ended stays accessible afterward.
    let gives_access =
        |end: &i64| *end > at.as_millisecond() || row.completed_at.is_some_and(|completed| completed < *end);
    let Some(end) = row.granted_until.filter(gives_access) else { return Ok(false) };
    let expires_at = (end != NO_EXPIRY).then_some(end);
    let after = Model { order_id: None, expires_at, granted_until: None, ..row.clone() };
    save(write, workspace, student, row, after).await?;
    Ok(true)
}

/// Assigns an enrollment to another order that also pays for it.
pub(crate) async fn assign_order(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    row: &Model,
    order: Uuid,
) -> Result<()> {
    let after = Model { order_id: Some(order), ..row.clone() };
    save(write, workspace, student, row, after).await.map(drop)
}

/// Creates the row of a new enrollment.
fn new_row(
    app: &App,
    write: &Write,
    workspace: WorkspaceId,
    at: Timestamp,
    request: AccessRequest<'_>,
) -> Model {
    Model {
        id: new_uuid::<EnrollmentIdKind>(app, write),
        workspace_id: workspace.uuid(),
        student_id: request.student.id,
        course_id: request.course.id,
        status: StoredEnrollmentStatus::Active,
        source: stored_source(request.source),
        order_id: request.order_id,
        completed_lessons: 0,
        total_lessons: request.course.lesson_count,
        last_activity_at: None,
        enrolled_at: at.as_millisecond(),
        expires_at: request.expires_at.map(Timestamp::as_millisecond),
        completed_at: None,
        revoked_at: None,
        revoke_reason: None,
        created_at: at.as_millisecond(),
        updated_at: write.recorded_ms(),
        granted_until: None,
    }
}

/// Returns a revoked or expired enrollment as it is after reactivation, with the source, order, start and end of `new`.
/// Completed lessons stay completed, so an enrollment with all lessons completed is completed again.
fn reactivate(before: &Model, new: &Model) -> Model {
    let mut after = Model {
        status: StoredEnrollmentStatus::Active,
        source: new.source,
        order_id: new.order_id,
        enrolled_at: new.enrolled_at,
        expires_at: new.expires_at,
        revoked_at: None,
        revoke_reason: None,
        granted_until: None,
        ..before.clone()
    };
    update_completion(&mut after, new.enrolled_at);
    after
}
