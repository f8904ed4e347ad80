//! Giving a student access to a course, whoever asks for it.

use entity::enrollments::{self, Model, Standing, Status};
use entity::{courses, entitlements, students};
use jiff::Timestamp;
use uuid::Uuid;

use super::super::find::fresh;
use super::super::{Result, rollups};
use super::EnrollmentSource;
use super::progress::settle;
use super::row::{facts, save, stored};
use crate::app::App;
use crate::database::Write;
use crate::id::{Enrollment as EnrollmentKind, WorkspaceId};

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

/// Lifts the end of an enrolment's access, when it has one, for an order: a full refund of that order finds the
/// enrolment as its own and revokes it.
pub(crate) async fn extend(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    row: &Model,
    order: Uuid,
) -> Result<()> {
    if row.expires_at.is_some() {
        let lifted = Model { expires_at: None, order_id: Some(order), ..row.clone() };
        save(write, workspace, student, row, lifted).await?;
    }
    Ok(())
}

/// Sets the end of an enrolment's access, unless it has that end already, or an order gives access without one. False when
/// nothing was changed. The caller holds the student.
pub(super) async fn renew(
    write: &mut Write,
    workspace: WorkspaceId,
    student: &students::Model,
    course: Uuid,
    end: Timestamp,
) -> Result<bool> {
    let pair =
        enrollments::in_workspace(workspace.uuid()).lock_pair(write.conn(), student.id, course).await?;
    let before = pair.ok_or_else(|| anyhow::anyhow!("an enrolment that was there is gone"))?;
    let expires_at = Some(end.as_millisecond());
    let rights =
        entitlements::in_workspace(workspace.uuid()).of_enrollments(write.conn(), &[before.id]).await?;
    let is_bought = rights.iter().any(|right| right.status == entitlements::Status::Active);
    if is_bought || before.expires_at == expires_at {
        return Ok(false);
    }
    let after = Model { expires_at, ..before.clone() };
    save(write, workspace, student, &before, after).await?;
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
        ..before.clone()
    };
    settle(&mut after, new.enrolled_at);
    after
}
