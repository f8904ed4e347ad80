//! The log as people look at it.

use std::collections::HashMap;

use entity::api_requests::{self, Column, Model, RequestFilter as RowFilter};
use entity::rollups::DAY_MS;
use entity::{Span, api_request_days};

use super::super::find::{absent, id};
use super::super::page::{LOOKED, Page, PageRequest, Position};
use super::super::{Error, Result};
use super::recorder::day_of;
use super::{COUNTED_DAYS, Day, LoggedRequest, RequestFilter, StatusFilter};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::{LoggedRequest as EntryKind, LoggedRequestId, WorkspaceId};

/// A page of the workspace's log, newest first. What was answered within the last second may still be missing.
///
/// # Errors
/// [`Error::Internal`] when the database fails.
pub async fn list(
    app: &App,
    workspace: WorkspaceId,
    filter: &RequestFilter,
    page: PageRequest,
) -> Result<Page<LoggedRequest>> {
    let keyset = page.keyset(app, |_| Some(Column::ReceivedAt)).await?;
    let rows = api_requests::in_workspace(workspace.uuid());
    let rows = rows.page(app.db.read(), &row_filter(filter), keyset).await?;
    let (rows, next) = page.cut(rows, |row, _| (row.received_at, row.id));
    Ok(Page { items: rows.into_iter().map(logged).collect(), next })
}

/// How far a page looks that is filtered by what no index knows: so many requests as [`LOOKED`] behind its beginning.
/// `None` when it may look to the end.
///
/// # Errors
/// [`Error::Internal`] when the database fails.
pub async fn reach(
    app: &App,
    workspace: WorkspaceId,
    filter: &RequestFilter,
    after: Option<Position>,
) -> Result<Option<Position>> {
    let wanted = row_filter(filter);
    // SQLite does not always take the index of failures, so that they are no exception.
    if filter.status.is_none() && filter.operation.is_none() {
        return Ok(None);
    }
    let keyset = PageRequest::newest(after, 1).keyset(app, |_| Some(Column::ReceivedAt)).await?;
    let rows = api_requests::in_workspace(workspace.uuid());
    let reach = rows.reach(app.db.read(), wanted.key_id, wanted.received, keyset, LOOKED).await?;
    Ok(reach.map(Position::of))
}

fn row_filter(filter: &RequestFilter) -> RowFilter {
    RowFilter {
        key_id: filter.key.map(|key| key.uuid()),
        statuses: filter.status.map(statuses),
        operation: filter.operation.clone(),
        received: filter.received.in_ms(),
    }
}

/// One entry of the log.
///
/// # Errors
/// [`Error::NotFound`] when there is none in the workspace, or no longer.
pub async fn get(app: &App, workspace: WorkspaceId, entry: LoggedRequestId) -> Result<LoggedRequest> {
    let row = api_requests::in_workspace(workspace.uuid()).by_id(app.db.read(), entry.uuid()).await?;
    row.map(logged).ok_or_else(|| absent::<EntryKind>(entry))
}

/// The latest entry of the log whose answer carried this request id.
///
/// # Errors
/// [`Error::NotFound`] when there is none in the workspace, or no longer.
pub async fn by_request_id(app: &App, workspace: WorkspaceId, request_id: &str) -> Result<LoggedRequest> {
    let rows = api_requests::in_workspace(workspace.uuid());
    let row = rows.by_request_id(app.db.read(), request_id).await?;
    row.map(logged).ok_or_else(|| absent::<EntryKind>(request_id.chars().take(128).collect::<String>()))
}

/// The workspace's requests on each of the last days, today last; days without one are there too. Days are UTC days, as
/// those of the quota.
///
/// # Errors
/// [`Error::Invalid`] on `days` for less than 1 or more than 90.
pub async fn days(app: &App, workspace: WorkspaceId, days: i64) -> Result<Vec<Day>> {
    if !(1..=COUNTED_DAYS).contains(&days) {
        return Err(Error::invalid("days", format!("must be 1 to {COUNTED_DAYS}")));
    }
    let today = day_of(app.clock.now_ms());
    let first = today - (days - 1) * DAY_MS;
    let span = Span::between(first, today + DAY_MS);
    let rows = api_request_days::of_workspace(app.db.read(), workspace.uuid(), span).await?;
    let rows: HashMap<i64, api_request_days::Model> = rows.into_iter().map(|row| (row.day, row)).collect();
    let count = |count: Option<i64>| count.unwrap_or_default().unsigned_abs();
    let day = |number: i64| {
        let start = first + number * DAY_MS;
        let row = rows.get(&start);
        Day {
            starts_at: from_ms(start),
            succeeded: count(row.map(|row| row.succeeded)),
            refused: count(row.map(|row| row.refused)),
            limited: count(row.map(|row| row.limited)),
            failed: count(row.map(|row| row.failed)),
        }
    };
    Ok((0..days).map(day).collect())
}

fn statuses(filter: StatusFilter) -> (i32, i32) {
    match filter {
        StatusFilter::Class(digit) => (i32::from(digit) * 100, i32::from(digit) * 100 + 100),
        StatusFilter::Exact(status) => (i32::from(status), i32::from(status) + 1),
    }
}

fn logged(row: Model) -> LoggedRequest {
    LoggedRequest {
        id: id(row.id),
        key: id(row.key_id),
        request_id: row.request_id,
        operation: row.operation,
        method: row.method,
        target: row.target,
        status: u16::try_from(row.status).unwrap_or_default(),
        duration_us: row.duration_us.unsigned_abs(),
        address: row.address,
        headers: row.headers.0,
        error: row.error,
        received_at: from_ms(row.received_at),
    }
}
