//! The order list.

use entity::orders::{self, Column, OrderFilter as RowFilter};

use super::super::Result;
use super::super::find::{self, absent};
use super::super::page::{LOOKED, Page, PageRequest, Position, SortKey, Span};
use super::row::{assemble, stored_status};
use super::{Order, OrderFilter};
use crate::app::App;
use foundation::id::{Order as OrderKind, OrderId, WorkspaceId};

/// The orders of a workspace, a page of them, each whole.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn list(
    app: &App,
    workspace: WorkspaceId,
    filter: &OrderFilter,
    page: PageRequest,
) -> Result<Page<Order>> {
    let keyset = page.keyset(app, column).await?;
    let now_ms = app.clock.now_ms();
    let conn = app.db.read();
    let rows = orders::in_workspace(workspace.uuid()).page(conn, &row_filter(filter), keyset).await?;
    let (rows, next) = page.cut(rows, |row, key| {
        let at = match key {
            SortKey::CreatedAt => row.created_at,
            SortKey::UpdatedAt => row.updated_at,
            SortKey::PaidAt => row.paid_at,
        };
        (at, row.id)
    });
    Ok(Page { items: assemble(conn, workspace, rows, now_ms).await?, next })
}

/// How far a search looks that begins where this page does: so many orders as [`LOOKED`] behind it. `None` when it may
/// look to the end.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn reach(
    app: &App,
    workspace: WorkspaceId,
    paid: Span,
    page: PageRequest,
) -> Result<Option<Position>> {
    let keyset = page.keyset(app, |key| (key == SortKey::PaidAt).then_some(Column::PaidAt)).await?;
    let rows = orders::in_workspace(workspace.uuid());
    Ok(rows.reach(app.db.read(), paid.in_ms(), keyset, LOOKED).await?.map(Position::of))
}

/// One order, whole.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is none in the workspace.
pub async fn get(app: &App, workspace: WorkspaceId, order: OrderId) -> Result<Order> {
    let conn = app.db.read();
    let row = orders::in_workspace(workspace.uuid()).by_id(conn, order.uuid()).await?;
    let rows = row.into_iter().collect();
    let found = assemble(conn, workspace, rows, app.clock.now_ms()).await?;
    found.into_iter().next().ok_or_else(|| absent::<OrderKind>(order))
}

#[allow(clippy::unnecessary_wraps, reason = "the shape of every list's choice of columns")]
const fn column(key: SortKey) -> Option<Column> {
    Some(match key {
        SortKey::CreatedAt => Column::CreatedAt,
        SortKey::UpdatedAt => Column::UpdatedAt,
        SortKey::PaidAt => Column::PaidAt,
    })
}

fn row_filter(filter: &OrderFilter) -> RowFilter {
    RowFilter {
        student_id: filter.student.map(|student| student.uuid()),
        course_id: filter.course.map(|course| course.uuid()),
        status: filter.status.map(stored_status),
        currency: filter.currency.clone(),
        number: filter.number.clone(),
        search: filter.search.as_deref().map(find::searched::<OrderKind>),
        paid: filter.paid.in_ms(),
        created: filter.created.in_ms(),
        updated: filter.updated.in_ms(),
    }
}
