//! The student list: a page of students, then the enrolments of them all in one query.

use entity::enrollments::{self, Standing};
use entity::students::{self, Column, StudentFilter as RowFilter};
use sea_orm::ConnectionTrait;

use super::super::Result;
use super::super::enrollments::{EnrollmentStatus, enrollment};
use super::super::find::{self, absent};
use super::super::page::{LOOKED, Page, PageRequest, Position, SortKey};
use super::{Student, StudentFilter, fold, summary};
use crate::app::App;
use foundation::id::{Student as StudentKind, StudentId, WorkspaceId};

/// The students of a workspace, a page of them, each with its whole enrolment history.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn list(
    app: &App,
    workspace: WorkspaceId,
    filter: &StudentFilter,
    page: PageRequest,
) -> Result<Page<Student>> {
    let keyset = page.keyset(app, column).await?;
    let now_ms = app.clock.now_ms();
    let conn = app.db.read();
    let rows = students::in_workspace(workspace.uuid());
    let rows = rows.page(conn, &row_filter(filter, now_ms), keyset).await?;
    let (rows, next) = page.cut(rows, |row, key| {
        (if key == SortKey::UpdatedAt { row.updated_at } else { row.created_at }, row.id)
    });
    Ok(Page { items: with_history(conn, workspace, rows, now_ms).await?, next })
}

/// How far a search looks that begins where this page does: so many students of the workspace as [`LOOKED`] behind it.
/// `None` when it may look to the end, as where few are enrolled in the course or have the tag.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn reach(
    app: &App,
    workspace: WorkspaceId,
    filter: &StudentFilter,
    page: PageRequest,
) -> Result<Option<Position>> {
    let keyset = page.keyset(app, |key| (key == SortKey::CreatedAt).then_some(Column::CreatedAt)).await?;
    let rows = students::in_workspace(workspace.uuid());
    let wanted = row_filter(filter, app.clock.now_ms());
    if rows.are_few(app.db.read(), &wanted).await? {
        return Ok(None);
    }
    Ok(rows.reach(app.db.read(), wanted.created, keyset, LOOKED).await?.map(Position::of))
}

/// One student with the whole enrolment history.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none in the workspace.
pub async fn get(app: &App, workspace: WorkspaceId, student: StudentId) -> Result<Student> {
    let conn = app.db.read();
    let row = students::in_workspace(workspace.uuid()).by_id(conn, student.uuid()).await?;
    let rows = row.into_iter().collect();
    let found = with_history(conn, workspace, rows, app.clock.now_ms()).await?;
    found.into_iter().next().ok_or_else(|| absent::<StudentKind>(student))
}

/// The students with their enrolments, in the order given.
pub(super) async fn with_history(
    conn: &impl ConnectionTrait,
    workspace: WorkspaceId,
    rows: Vec<students::Model>,
    now_ms: i64,
) -> Result<Vec<Student>> {
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    let enrolled = enrollments::in_workspace(workspace.uuid()).of_students(conn, &ids).await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            // They come sorted by student, so that each one's are a slice.
            let from = enrolled.partition_point(|enrolled| enrolled.student_id < row.id);
            let to = enrolled.partition_point(|enrolled| enrolled.student_id <= row.id);
            let own = &enrolled[from..to];
            Student {
                enrollments: own.iter().map(|enrolled| enrollment(enrolled, now_ms)).collect(),
                summary: summary(row, own, now_ms),
            }
        })
        .collect())
}

const fn column(key: SortKey) -> Option<Column> {
    match key {
        SortKey::CreatedAt => Some(Column::CreatedAt),
        SortKey::UpdatedAt => Some(Column::UpdatedAt),
        SortKey::PaidAt => None,
    }
}

fn row_filter(filter: &StudentFilter, now_ms: i64) -> RowFilter {
    RowFilter {
        email_folded: filter.email.as_deref().map(fold),
        external_id: filter.external_id.clone(),
        course_id: filter.course.map(|course| course.uuid()),
        standing: filter.enrollment_status.map(|status| match status {
            EnrollmentStatus::Active => Standing::Active,
            EnrollmentStatus::Completed => Standing::Completed,
            EnrollmentStatus::Expired => Standing::Expired,
            EnrollmentStatus::Revoked => Standing::Revoked,
        }),
        now: now_ms,
        tag: filter.tag.clone(),
        search: filter.search.as_deref().map(find::searched::<StudentKind>),
        created: filter.created.in_ms(),
        updated: filter.updated.in_ms(),
    }
}
