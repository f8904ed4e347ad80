//! Queries for orders.

use entity::orders::{self, Column, OrderRowFilter};

use super::super::Result;
use super::super::page::{MAX_SCANNED_ROWS, Page, PageRequest, Position, SortKey, TimeSpan};
use super::super::records::{self, not_found};
use super::row::{stored_status, with_details};
use super::{Order, OrderFilter};
use crate::app::App;
use foundation::database::BoundedConnection;
use foundation::id::{Order as OrderIdKind, OrderId, WorkspaceId};

/// Returns a page of the orders of a workspace, each with its items, refunds and entitlements.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn list(
    app: &App,
    workspace: WorkspaceId,
    filter: &OrderFilter,
    page: PageRequest,
) -> Result<Page<Order>> {
    read_page(app, app.db.read(), workspace, filter, page).await
}

/// Like [`list`], but the orders may lag by up to [`MAX_LAG`](foundation::database::MAX_LAG), except in a page that is sorted by
/// another time than that of creation, or filtered by time of update.
///
/// # Errors
/// Returns the same errors as [`list`].
pub async fn list_lagging(
    app: &App,
    workspace: WorkspaceId,
    filter: &OrderFilter,
    page: PageRequest,
) -> Result<Page<Order>> {
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
    filter: &OrderFilter,
    page: PageRequest,
) -> Result<Page<Order>> {
    let keyset = page.keyset(&app.db, &app.clock, column).await?;
    let now_ms = app.clock.now_ms();
    let rows = orders::in_workspace(workspace.uuid()).page(conn, &row_filter(filter), keyset).await?;
    let (rows, next) = page.trim_to_page(rows, |row, key| {
        let at = match key {
            SortKey::CreatedAt => row.created_at,
            SortKey::UpdatedAt => row.updated_at,
            SortKey::PaidAt => row.paid_at,
        };
        (at, row.id)
    });
    Ok(Page { items: with_details(conn, workspace, rows, now_ms).await?, next })
}

/// Returns the position at which a search that starts at this page ends: [`MAX_SCANNED_ROWS`] orders further. `None` if the
/// list ends there or earlier, so that the search can read to its end. `paid` is the time span of the search.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::Error::Invalid) when the page is not sorted by time of payment, and
/// [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn search_end(
    app: &App,
    workspace: WorkspaceId,
    paid: TimeSpan,
    page: PageRequest,
) -> Result<Option<Position>> {
    let keyset =
        page.keyset(&app.db, &app.clock, |key| (key == SortKey::PaidAt).then_some(Column::PaidAt)).await?;
    let rows = orders::in_workspace(workspace.uuid());
    Ok(rows
        .position_at(app.db.read(), paid.in_ms(), keyset, MAX_SCANNED_ROWS)
        .await?
        .map(Position::from_parts))
}

/// Returns an order with its items, refunds and entitlements, read in one snapshot.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) if the workspace has no such order.
pub async fn get(app: &App, workspace: WorkspaceId, order: OrderId) -> Result<Order> {
    let snapshot = app.db.snapshot().await?;
    let row = orders::in_workspace(workspace.uuid()).by_id(&snapshot, order.uuid()).await?;
    let rows = row.into_iter().collect();
    let orders = with_details(&snapshot, workspace, rows, app.clock.now_ms()).await?;
    snapshot.rollback().await?;
    orders.into_iter().next().ok_or_else(|| not_found::<OrderIdKind>(order))
}

#[allow(clippy::unnecessary_wraps, reason = "`PageRequest::keyset` requires this signature")]
const fn column(key: SortKey) -> Option<Column> {
    Some(match key {
        SortKey::CreatedAt => Column::CreatedAt,
        SortKey::UpdatedAt => Column::UpdatedAt,
        SortKey::PaidAt => Column::PaidAt,
    })
}

fn row_filter(filter: &OrderFilter) -> OrderRowFilter {
    OrderRowFilter {
        student_id: filter.student.map(|student| student.uuid()),
        course_id: filter.course.map(|course| course.uuid()),
        status: filter.status.map(stored_status),
        currency: filter.currency.clone(),
        number: filter.number.clone(),
        search: filter.search.as_deref().map(records::parse_search::<OrderIdKind>),
        paid: filter.paid.in_ms(),
        created: filter.created.in_ms(),
        updated: filter.updated.in_ms(),
    }
}
