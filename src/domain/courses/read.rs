//! The catalogue as the API shows it.

use entity::courses::{self, Column, CourseFilter as RowFilter, Status};
use entity::{Keyset, lessons, modules};

use super::super::Result;
use super::super::find::absent;
use super::super::page::{Page, PageRequest, Position, SortKey};
use super::row::{self, course, stored_status};
use super::{Course, CourseDetail, CourseFilter, CourseSearch, CourseStatus};
use crate::app::App;
use foundation::id::{Course as CourseKind, CourseId, WorkspaceId};

/// The published courses of a workspace, a page of them.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn list(
    app: &App,
    workspace: WorkspaceId,
    filter: &CourseFilter,
    page: PageRequest,
) -> Result<Page<Course>> {
    let keyset = page.keyset(app, column).await?;
    let filter = RowFilter {
        status: Some(Status::Published),
        slug: filter.slug.clone(),
        language: filter.language.clone(),
        search: None,
        created: filter.created.in_ms(),
        updated: filter.updated.in_ms(),
    };
    read(app, workspace, &filter, keyset, page).await
}

/// The courses of a workspace, drafts included, a page of them; newest first.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn all(
    app: &App,
    workspace: WorkspaceId,
    search: &CourseSearch,
    after: Option<Position>,
    limit: u32,
) -> Result<Page<Course>> {
    let page = PageRequest::newest(after, limit);
    let keyset = page.keyset(app, column).await?;
    let filter = RowFilter {
        status: search.status.map(stored_status),
        search: search.text.as_deref().map(|text| text.trim().to_owned()),
        ..RowFilter::default()
    };
    read(app, workspace, &filter, keyset, page).await
}

async fn read(
    app: &App,
    workspace: WorkspaceId,
    filter: &RowFilter,
    keyset: Keyset<Column>,
    page: PageRequest,
) -> Result<Page<Course>> {
    let rows = courses::in_workspace(workspace.uuid()).page(app.db.read(), filter, keyset).await?;
    let (rows, next) = page.cut(rows, |row, key| {
        (if key == SortKey::UpdatedAt { row.updated_at } else { row.created_at }, row.id)
    });
    Ok(Page { items: rows.into_iter().map(course).collect(), next })
}

/// Those of these courses that are in the workspace, of any status, in no order.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn by_ids(app: &App, workspace: WorkspaceId, ids: &[CourseId]) -> Result<Vec<Course>> {
    let ids: Vec<_> = ids.iter().map(|id| id.uuid()).collect();
    let rows = courses::in_workspace(workspace.uuid()).by_ids(app.db.read(), &ids).await?;
    Ok(rows.into_iter().map(course).collect())
}

/// A published or archived course with its modules and lessons.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) for an absent, foreign or draft course.
pub async fn get(app: &App, workspace: WorkspaceId, id: CourseId) -> Result<CourseDetail> {
    let found = detail(app, workspace, id).await?;
    if found.course.status == CourseStatus::Draft { Err(absent::<CourseKind>(id)) } else { Ok(found) }
}

/// A course of any status with its modules and lessons, as it stood at one moment.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none in the workspace.
pub async fn detail(app: &App, workspace: WorkspaceId, id: CourseId) -> Result<CourseDetail> {
    let scope = workspace.uuid();
    let snapshot = app.db.snapshot().await?;
    let row = courses::in_workspace(scope).by_id(&snapshot, id.uuid()).await?;
    let modules = modules::in_workspace(scope).of_courses(&snapshot, &[id.uuid()]).await?;
    let lessons = lessons::in_workspace(scope).of_courses(&snapshot, &[id.uuid()]).await?;
    snapshot.rollback().await?;
    let row = row.ok_or_else(|| absent::<CourseKind>(id))?;
    Ok(CourseDetail { course: course(row), modules: row::outline(modules, &lessons) })
}

const fn column(key: SortKey) -> Option<Column> {
    match key {
        SortKey::CreatedAt => Some(Column::CreatedAt),
        SortKey::UpdatedAt => Some(Column::UpdatedAt),
        SortKey::PaidAt => None,
    }
}
