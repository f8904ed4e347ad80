//! Queries for courses.

use entity::courses::{self, Column, CourseRowFilter, StoredCourseStatus};
use entity::{Keyset, lessons, modules};

use super::super::Result;
use super::super::page::{Page, PageRequest, Position, SortKey};
use super::super::records::not_found;
use super::row::{self, course, stored_status};
use super::{Course, CourseDetail, CourseFilter, CourseSearch, CourseStatus};
use crate::app::App;
use foundation::id::{Course as CourseIdKind, CourseId, WorkspaceId};

/// Returns a page of the published courses of a workspace.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::Error::Invalid) for a page sorted by time of payment, and
/// [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn list(
    app: &App,
    workspace: WorkspaceId,
    filter: &CourseFilter,
    page: PageRequest,
) -> Result<Page<Course>> {
    let keyset = page.keyset(&app.db, &app.clock, column).await?;
    let filter = CourseRowFilter {
        status: Some(StoredCourseStatus::Published),
        slug: filter.slug.clone(),
        language: filter.language.clone(),
        search: None,
        created: filter.created.in_ms(),
        updated: filter.updated.in_ms(),
    };
    read_page(app, workspace, &filter, keyset, page).await
}

/// Returns a page of the courses of a workspace with any status, newest first.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn search(
    app: &App,
    workspace: WorkspaceId,
    filter: &CourseSearch,
    after: Option<Position>,
    limit: u32,
) -> Result<Page<Course>> {
    let page = PageRequest::newest_first(after, limit);
    let keyset = page.keyset(&app.db, &app.clock, column).await?;
    let filter = CourseRowFilter {
        status: filter.status.map(stored_status),
        search: filter.text.as_deref().map(|text| text.trim().to_owned()),
        ..CourseRowFilter::default()
    };
    read_page(app, workspace, &filter, keyset, page).await
}

async fn read_page(
    app: &App,
    workspace: WorkspaceId,
    filter: &CourseRowFilter,
    keyset: Keyset<Column>,
    page: PageRequest,
) -> Result<Page<Course>> {
    let rows = courses::in_workspace(workspace.uuid()).page(app.db.read(), filter, keyset).await?;
    let (rows, next) = page.trim_to_page(rows, |row, key| {
        (if key == SortKey::UpdatedAt { row.updated_at } else { row.created_at }, row.id)
    });
    Ok(Page { items: rows.into_iter().map(course).collect(), next })
}

/// Returns the courses with these ids that are in the workspace, with any status and in no particular order.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn by_ids(app: &App, workspace: WorkspaceId, ids: &[CourseId]) -> Result<Vec<Course>> {
    let ids: Vec<_> = ids.iter().map(|id| id.uuid()).collect();
    let rows = courses::in_workspace(workspace.uuid()).by_ids(app.db.read(), &ids).await?;
    Ok(rows.into_iter().map(course).collect())
}

/// Returns a published or archived course with its modules and lessons.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) if the workspace has no such course, or if the course is a draft.
pub async fn get(app: &App, workspace: WorkspaceId, id: CourseId) -> Result<CourseDetail> {
    let detail = get_any_status(app, workspace, id).await?;
    if detail.course.status == CourseStatus::Draft { Err(not_found::<CourseIdKind>(id)) } else { Ok(detail) }
}

/// Returns a course of any status with its modules and lessons, read in one snapshot.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) if the workspace has no such course.
pub async fn get_any_status(app: &App, workspace: WorkspaceId, id: CourseId) -> Result<CourseDetail> {
    let workspace_uuid = workspace.uuid();
    let snapshot = app.db.snapshot().await?;
    let row = courses::in_workspace(workspace_uuid).by_id(&snapshot, id.uuid()).await?;
    let modules = modules::in_workspace(workspace_uuid).of_courses(&snapshot, &[id.uuid()]).await?;
    let lessons = lessons::in_workspace(workspace_uuid).of_courses(&snapshot, &[id.uuid()]).await?;
    snapshot.rollback().await?;
    let row = row.ok_or_else(|| not_found::<CourseIdKind>(id))?;
    Ok(CourseDetail { course: course(row), modules: row::outline(modules, &lessons) })
}

const fn column(key: SortKey) -> Option<Column> {
    match key {
        SortKey::CreatedAt => Some(Column::CreatedAt),
        SortKey::UpdatedAt => Some(Column::UpdatedAt),
        SortKey::PaidAt => None,
    }
}
