//! Giving a student access to a course, whoever asks for it.

use entity::enrollments::{self, ActiveModel, Model, Standing, Status, WITHOUT_END};
use entity::{Set, courses, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::find::fresh;
use super::super::{Result, rollups};
use super::EnrollmentSource;
use super::progress::settle;
use super::row::{facts, save, stored};
use crate::app::App;
use foundation::database::Write;
use foundation::id::{Enrollment as EnrollmentKind, WorkspaceId};

/// Who shall have access to what, and why. The caller holds the student's row and shares the course's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admission<'a> {
    pub(crate) student: &'a students::Model,
    pub(crate) course: &'a courses::Model,
    pub(crate) source: EnrollmentSource,
    pub(crate) order_id: Option<Uuid>,
    pub(crate) expires_at: Option<Timestamp>,
}

/// What came of it; all but `Already` are to be announced.
#[derive(Debug)]
pub(crate) enum Admitted {
    New(Model),
    Already(Model),
    Reactivated(Model),
}

impl Admitted {
    pub(crate) const fn row(&self) -> &Model {
        match self {
            Self::New(row) | Self::Already(row) | Self::Reactivated(row) => row,
        }
    }
}

/// Gives access. A pair that has it already is left as it is; one that lost it has it again under the same id.
pub(crate) async fn admit(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    admission: Admission<'_>,
) -> Result<Admitted> {
    let rows = enrollments::in_workspace(workspace.uuid());
    let Admission { student, course, .. } = admission;
    let new = row(app, write, workspace, at, admission);
    if rows.insert_if_absent(write.conn(), new.clone()).await? {
        let now_ms = write.now_ms();
        students::in_workspace(workspace.uuid()).touch(write.conn(), &[student.id], now_ms).await?;
        rollups::enrollment(write, workspace, None, Some(facts(&new, student.created_at)));
        return Ok(Admitted::New(new));
    }
    let before = rows.lock_pair(write.conn(), student.id, course.id).await?;
    let before = before.ok_or_else(|| anyhow::anyhow!("an enrolment that was there is gone"))?;
    if has_access(&before, at) {
        return Ok(Admitted::Already(before));
    }
    let after = reactivated(&before, &new);
    Ok(Admitted::Reactivated(save(write, workspace, student, &before, after).await?))
}

/// Removes the end of an enrollment's access, if it has one, because an order now pays for it. What grants gave is kept beside
/// it, for the case that the order is refunded.
pub(crate) async fn extend(
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

/// Moves the end of what grants give to `end`, if that is later; `None` is without end. What an order pays for has no end in
/// the meantime. False when nothing was changed. The caller has locked the student.
pub(super) async fn renew(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    course: Uuid,
    end: Option<Timestamp>,
) -> Result<bool> {
    let rows = enrollments::in_workspace(workspace.uuid());
    let before = rows.lock_pair(write.conn(), student.id, course).await?;
    let before = before.ok_or_else(|| anyhow::anyhow!("an enrollment that was there is gone"))?;
    let end = end.map_or(WITHOUT_END, Timestamp::as_millisecond);
    let granted = before.granted();
    if granted.is_some_and(|granted| granted >= end) {
        return Ok(false);
    }
    if before.order_id.is_some() {
        // Nothing of this is shown, so that neither the enrollment nor its student counts as updated.
        let changes = ActiveModel { granted_until: Set(Some(end)), ..Default::default() };
        return Ok(rows.update(write.conn(), before.id, changes).await?);
    }
    let after = Model { expires_at: (end != WITHOUT_END).then_some(end), ..before.clone() };
    save(write, workspace, student, &before, after).await?;
    Ok(true)
}

/// Leaves an enrollment whose order was refunded with what grants still give at that time. False when they give nothing:
/// access is to be revoked then.
pub(crate) async fn fall_back_to_grants(
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    student: &students::Model,
    row: &Model,
) -> Result<bool> {
    // A course that was completed while a grant gave access stays accessible after the end of the grant.
    let gives = |end: &i64| *end > at.as_millisecond() || row.completed_at.is_some_and(|done| done < *end);
    let Some(end) = row.granted_until.filter(gives) else { return Ok(false) };
    let expires_at = (end != WITHOUT_END).then_some(end);
    let after = Model { order_id: None, expires_at, granted_until: None, ..row.clone() };
    save(write, workspace, student, row, after).await?;
    Ok(true)
}

/// Makes an enrolment count as another order's, which still entitles to it.
pub(crate) async fn hand_over(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    row: &Model,
    order: Uuid,
) -> Result<()> {
    let after = Model { order_id: Some(order), ..row.clone() };
    save(write, workspace, student, row, after).await.map(drop)
}

/// Whether the enrolment gives access at that time.
pub(super) fn has_access(row: &Model, at: Timestamp) -> bool {
    matches!(row.standing_at(at.as_millisecond()), Standing::Active | Standing::Completed)
}

/// The row of a pair that is new.
fn row(app: &App, write: &Write, workspace: WorkspaceId, at: Timestamp, admission: Admission<'_>) -> Model {
    Model {
        id: fresh::<EnrollmentKind>(app, write),
        workspace_id: workspace.uuid(),
        student_id: admission.student.id,
        course_id: admission.course.id,
        status: Status::Active,
        source: stored(admission.source),
        order_id: admission.order_id,
        completed_lessons: 0,
        total_lessons: admission.course.lesson_count,
        last_activity_at: None,
        enrolled_at: at.as_millisecond(),
        expires_at: admission.expires_at.map(Timestamp::as_millisecond),
        completed_at: None,
        revoked_at: None,
        revoke_reason: None,
        created_at: at.as_millisecond(),
        updated_at: write.now_ms(),
        granted_until: None,
    }
}

/// A lost enrolment with access again: what was done stays done, so a completed one is completed again.
fn reactivated(before: &Model, new: &Model) -> Model {
    let mut after = Model {
        status: Status::Active,
        source: new.source,
        order_id: new.order_id,
        enrolled_at: new.enrolled_at,
        expires_at: new.expires_at,
        revoked_at: None,
        revoke_reason: None,
        granted_until: None,
        ..before.clone()
    };
    settle(&mut after, new.enrolled_at);
    after
}
