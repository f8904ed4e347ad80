//! Changes of a course's status, and their events.

use entity::Set;
use entity::courses::{self, ActiveModel, Model, StoredCourseStatus};
use jiff::Timestamp;

use super::super::records::not_found;
use super::super::{Result, WriteOutcome};
use super::row::{course, stored_status};
use super::{Course, CourseStatus, catalog};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::database::Write;
use foundation::id::{Course as CourseIdKind, CourseId, WorkspaceId};

/// Publishes a course, archives it, or makes it a draft again. Emits `course.published` or `course.archived`. Does nothing if
/// the course already has the status.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) if the workspace has no such course.
pub async fn set_status(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    course_id: CourseId,
    status: CourseStatus,
) -> Result<WriteOutcome<Course>> {
    let rows = courses::in_workspace(workspace.uuid());
    let before = rows
        .lock(write.conn(), course_id.uuid())
        .await?
        .ok_or_else(|| not_found::<CourseIdKind>(course_id))?;
    let mut row = before.clone();
    set_row_status(&mut row, stored_status(status), at);
    if row.status == before.status {
        return Ok(WriteOutcome::unchanged(course(before)));
    }
    row.updated_at = write.recorded_ms();
    let changes = ActiveModel {
        status: Set(row.status),
        published_at: Set(row.published_at),
        archived_at: Set(row.archived_at),
        updated_at: Set(row.updated_at),
        ..Default::default()
    };
    rows.update(write.conn(), row.id, changes).await?;
    append_status_event(app, write, workspace, at, Some(before.status), row.clone()).await?;
    catalog::mark_changed(app, write, workspace).await?;
    Ok(WriteOutcome::changed(course(row)))
}

/// Sets the status of a row. If the status changes, also updates `published_at` and `archived_at`.
pub(super) fn set_row_status(row: &mut Model, status: StoredCourseStatus, at: Timestamp) {
    if row.status == status {
        return;
    }
    row.status = status;
    let at_ms = at.as_millisecond();
    if status == StoredCourseStatus::Published {
        row.published_at = Some(at_ms);
    }
    row.archived_at = (status == StoredCourseStatus::Archived).then_some(at_ms);
}

/// Appends the event of the new status, unless the status did not change or the course is a draft. `before` is the
/// previous status, `None` for a new course.
pub(super) async fn append_status_event(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    before: Option<StoredCourseStatus>,
    row: Model,
) -> Result<()> {
    if before == Some(row.status) {
        return Ok(());
    }
    let event = match row.status {
        StoredCourseStatus::Draft => return Ok(()),
        StoredCourseStatus::Published => Event::CoursePublished(course(row)),
        StoredCourseStatus::Archived => Event::CourseArchived(course(row)),
    };
    outbox::append(app, write, workspace, at, event).await.map(drop)
}
