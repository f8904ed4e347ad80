//! Gives students access to courses, for every source of enrollments.

use entity::enrollments::{self, ActiveModel, EffectiveStatus, Model, StoredEnrollmentStatus, WITHOUT_END};
use entity::{Set, courses, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::records::new_uuid;
use super::super::{Result, rollups};
use super::EnrollmentSource;
use super::progress::update_completion;
use super::row::{rollup_facts, save, stored_source};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{Enrollment as EnrollmentKind, WorkspaceId};

/// A request for access to a course. The caller has locked the student, and the course in shared mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccessRequest<'a> {
    pub(crate) student: &'a students::Model,
    pub(crate) course: &'a courses::Model,
    pub(crate) source: EnrollmentSource,
    pub(crate) order_id: Option<Uuid>,
    pub(crate) expires_at: Option<Timestamp>,
}

/// The outcome of an access request. The caller appends an event for every variant but `Existing`.
#[derive(Debug)]
pub(crate) enum AccessOutcome {
    New(Model),
    Existing(Model),
    Reactivated(Model),
}

impl AccessOutcome {
    pub(crate) const fn row(&self) -> &Model {
        match self {
            Self::New(row) | Self::Existing(row) | Self::Reactivated(row) => row,
        }
    }
}

/// Gives a student access to a course. Does nothing if the student has access. An enrollment that lost access gets it back and
/// keeps its id.
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
        let now_ms = write.now_ms();
        students::in_workspace(workspace.uuid()).touch(write.conn(), &[student.id], now_ms).await?;
        rollups::count_enrollment(write, workspace, None, Some(rollup_facts(&new, student.created_at)));
        return Ok(AccessOutcome::New(new));
    }
    let before = rows.lock_pair(write.conn(), student.id, course.id).await?;
    let before = before.ok_or_else(|| anyhow::anyhow!("the enrollment no longer exists"))?;
    if has_access(&before, at) {
        return Ok(AccessOutcome::Existing(before));
    }
    let after = reactivate(&before, &new);
    Ok(AccessOutcome::Reactivated(save(write, workspace, student, &before, after).await?))
}

/// Removes the expiry of an enrollment, if it has one, because an order now pays for it. The end of the grants is stored
/// separately, in case the order is refunded.
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

/// Moves the end of the granted access to `end`, if that is later. `None` means without end. While an order pays for the
/// access, it has no end. Returns false if nothing changed. The caller has locked the student.
pub(super) async fn extend_grant(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    course: Uuid,
    end: Option<Timestamp>,
) -> Result<bool> {
    let rows = enrollments::in_workspace(workspace.uuid());
    let before = rows.lock_pair(write.conn(), student.id, course).await?;
    let before = before.ok_or_else(|| anyhow::anyhow!("the enrollment no longer exists"))?;
    let end = end.map_or(WITHOUT_END, Timestamp::as_millisecond);
    let granted = before.grant_end();
    if granted.is_some_and(|granted| granted >= end) {
        return Ok(false);
    }
    if before.order_id.is_some() {
        // The API shows none of this, so neither the enrollment nor its student gets a new `updated_at`.
        let changes = ActiveModel { granted_until: Set(Some(end)), ..Default::default() };
        return Ok(rows.update(write.conn(), before.id, changes).await?);
    }
    let after = Model { expires_at: (end != WITHOUT_END).then_some(end), ..before.clone() };
    save(write, workspace, student, &before, after).await?;
    Ok(true)
}

/// Reduces the access of an enrollment whose order was refunded to what grants still give at that time. Returns false if they
/// give none; the caller then revokes the access.
pub(crate) async fn fall_back_to_grants(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    student: &students::Model,
    row: &Model,
) -> Result<bool> {
    // A course that was completed while a grant gave access stays accessible after the grant ends.
    let gives_access =
        |end: &i64| *end > at.as_millisecond() || row.completed_at.is_some_and(|done| done < *end);
    let Some(end) = row.granted_until.filter(gives_access) else { return Ok(false) };
    let expires_at = (end != WITHOUT_END).then_some(end);
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

/// Returns whether the enrollment gives access at that time.
pub(super) fn has_access(row: &Model, at: Timestamp) -> bool {
    matches!(row.status_at(at.as_millisecond()), EffectiveStatus::Active | EffectiveStatus::Completed)
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
        id: new_uuid::<EnrollmentKind>(app, write),
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
        updated_at: write.now_ms(),
        granted_until: None,
    }
}

/// Returns a revoked or expired enrollment with access again. Completed lessons stay completed, so a completed enrollment is
/// completed again.
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
