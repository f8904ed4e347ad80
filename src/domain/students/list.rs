//! Queries for students: a page of students, then all their enrollments in one query.

use entity::enrollments::{self, EffectiveStatus};
use entity::students::{self, Column, StudentRowFilter};

use super::super::enrollments::{EnrollmentStatus, enrollment};
use super::super::page::{MAX_SCANNED_ROWS, Page, PageRequest, Position, SortKey};
use super::super::records::{self, not_found};
use super::super::{Result, email};
use super::{Student, StudentFilter, summary};
use crate::app::App;
use foundation::database::BoundedConnection;
use foundation::id::{Student as StudentIdKind, StudentId, WorkspaceId};

/// Returns a page of the students of a workspace, each with the complete enrollment history.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::Error::Invalid) for a page sorted by time of payment, and
/// [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn list(
    app: &App,
    workspace: WorkspaceId,
    filter: &StudentFilter,
    page: PageRequest,
) -> Result<Page<Student>> {
    read_page(app, app.db.read(), workspace, filter, page).await
}

/// Like [`list`], but the students may lag by up to [`MAX_LAG`](foundation::database::MAX_LAG), except in a page that is sorted or
/// filtered by time of update.
///
/// # Errors
/// Returns the same errors as [`list`].
pub async fn list_lagging(
    app: &App,
    workspace: WorkspaceId,
    filter: &StudentFilter,
    page: PageRequest,
) -> Result<Page<Student>> {
    if page.may_lag(filter.updated)
        && let Some(standby) = app.db.standby()
        && let Some(page) =
            standby.attempt(read_page(app, standby.connection(), workspace, filter, page)).await
    {
        return Ok(page);
    }
    list(app, workspace, filter, page).await
}

async fn read_page(
    app: &App,
    conn: &BoundedConnection,
    workspace: WorkspaceId,
    filter: &StudentFilter,
    page: PageRequest,
) -> Result<Page<Student>> {
    let keyset = page.keyset(&app.db, &app.clock, column).await?;
    let now_ms = app.clock.now_ms();
    let rows = students::in_workspace(workspace.uuid());
    let rows = rows.page(conn, &row_filter(filter, now_ms), keyset).await?;
    let (rows, next) = page.trim_to_page(rows, |row, key| {
        (if key == SortKey::UpdatedAt { row.updated_at } else { row.created_at }, row.id)
    });
    Ok(Page { items: with_history(conn, workspace, rows, now_ms).await?, next })
}

/// Returns the position at which a search that starts at this page ends: [`MAX_SCANNED_ROWS`] students further. `None` if the
/// search can read to the end of the list: because the list ends there or earlier, or because few enrollments or tags
/// match the filter.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::Error::Invalid) when the page is not sorted by creation time, and
/// [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn search_end(
    app: &App,
    workspace: WorkspaceId,
    filter: &StudentFilter,
    page: PageRequest,
) -> Result<Option<Position>> {
    let keyset = page
        .keyset(&app.db, &app.clock, |key| (key == SortKey::CreatedAt).then_some(Column::CreatedAt))
        .await?;
    let rows = students::in_workspace(workspace.uuid());
    let filter = row_filter(filter, app.clock.now_ms());
    if rows.has_few_matches(app.db.read(), &filter).await? {
        return Ok(None);
    }
    Ok(rows
        .position_at(app.db.read(), filter.created, keyset, MAX_SCANNED_ROWS)
        .await?
        .map(Position::from_parts))
}

/// Returns a student with the complete enrollment history, read in one snapshot.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) if the workspace has no such student.
pub async fn get(app: &App, workspace: WorkspaceId, student: StudentId) -> Result<Student> {
    let snapshot = app.db.snapshot().await?;
    let row = students::in_workspace(workspace.uuid()).by_id(&snapshot, student.uuid()).await?;
    let rows = row.into_iter().collect();
    let students = with_history(&snapshot, workspace, rows, app.clock.now_ms()).await?;
    snapshot.rollback().await?;
    students.into_iter().next().ok_or_else(|| not_found::<StudentIdKind>(student))
}

/// Converts rows to students with their enrollment history, in the same order. `now_ms` determines which enrollments
/// have expired.
pub(super) async fn with_history(
    conn: &impl entity::Connection,
    workspace: WorkspaceId,
    rows: Vec<students::Model>,
    now_ms: i64,
) -> Result<Vec<Student>> {
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    let enrollments = enrollments::in_workspace(workspace.uuid()).of_students(conn, &ids).await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            // The enrollments are sorted by student id, so those of one student are adjacent.
            let start = enrollments.partition_point(|enrollment| enrollment.student_id < row.id);
            let end = enrollments.partition_point(|enrollment| enrollment.student_id <= row.id);
            let history = &enrollments[start..end];
            Student {
                enrollments: history.iter().map(|row| enrollment(row, now_ms)).collect(),
                summary: summary(row, history, now_ms),
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

fn row_filter(filter: &StudentFilter, now_ms: i64) -> StudentRowFilter {
    StudentRowFilter {
        email_folded: filter.email.as_deref().map(email::comparison_key),
        external_id: filter.external_id.clone(),
        course_id: filter.course.map(|course| course.uuid()),
        enrollment_status: filter.enrollment_status.map(|status| match status {
            EnrollmentStatus::Active => EffectiveStatus::Active,
            EnrollmentStatus::Completed => EffectiveStatus::Completed,
            EnrollmentStatus::Expired => EffectiveStatus::Expired,
            EnrollmentStatus::Revoked => EffectiveStatus::Revoked,
        }),
        now: now_ms,
        tag: filter.tag.clone(),
        search: filter.search.as_deref().map(records::parse_search::<StudentIdKind>),
        searched_email_folded: filter.search.as_deref().map(email::comparison_key),
        created: filter.created.in_ms(),
        updated: filter.updated.in_ms(),
    }
}
