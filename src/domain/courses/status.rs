//! The status of a course: what changes with it, and the event that tells of it.

use entity::Set;
use entity::courses::{self, ActiveModel, Model, Status};
use jiff::Timestamp;

use super::super::find::absent;
use super::super::{Changed, Result};
use super::row::{course, stored_status};
use super::{Course, CourseStatus, catalogue};
use crate::app::App;
use crate::outbox::{self, Event};
use foundation::database::Write;
use foundation::id::{Course as CourseKind, CourseId, WorkspaceId};

/// Publishes a course, archives it, or makes it a draft again; emits `course.published` or `course.archived`. A course
/// that has the status already is left as it is.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is no such course in the workspace.
pub async fn set_status(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    of: CourseId,
    status: CourseStatus,
) -> Result<Changed<Course>> {
    let rows = courses::in_workspace(workspace.uuid());
    let before = rows.lock(write.conn(), of.uuid()).await?.ok_or_else(|| absent::<CourseKind>(of))?;
    let mut row = before.clone();
    become_status(&mut row, stored_status(status), at);
    if row.status == before.status {
        return Ok(Changed::before(course(before)));
    }
    row.updated_at = write.now_ms();
    let changes = ActiveModel {
        status: Set(row.status),
        published_at: Set(row.published_at),
        archived_at: Set(row.archived_at),
        updated_at: Set(row.updated_at),
        ..Default::default()
    };
    rows.update(write.conn(), row.id, changes).await?;
    tell(app, write, workspace, at, Some(before.status), row.clone()).await?;
    catalogue::mark(app, write, workspace).await?;
    Ok(Changed::now(course(row)))
}

/// Gives the row a status, and the times that go with a new one.
pub(super) fn become_status(row: &mut Model, status: Status, at: Timestamp) {
    if row.status == status {
        return;
    }
    row.status = status;
    let at_ms = at.as_millisecond();
    if status == Status::Published {
        row.published_at = Some(at_ms);
    }
    row.archived_at = (status == Status::Archived).then_some(at_ms);
}

/// Sends the event of a status that was not there before.
pub(super) async fn tell(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    at: Timestamp,
    before: Option<Status>,
    row: Model,
) -> Result<()> {
    if before == Some(row.status) {
        return Ok(());
    }
    let event = match row.status {
        Status::Draft => return Ok(()),
        Status::Published => Event::CoursePublished(course(row)),
        Status::Archived => Event::CourseArchived(course(row)),
    };
    outbox::append(app, write, workspace, at, event).await.map(drop)
}
