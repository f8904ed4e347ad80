//! Reads the request log and the daily request counts.

use entity::api_requests::{self, Column, Model, RequestRowFilter};
use entity::{SpanMs, api_request_days};
use jiff::tz::TimeZone;

use super::super::analytics::intervals::last_days;
use super::super::page::{MAX_SCANNED_ROWS, Page, PageRequest, Position};
use super::super::records::{id, not_found};
use super::super::{Error, Result};
use super::{DAILY_RETENTION_DAYS, DailyRequests, LoggedRequest, RequestFilter, StatusFilter};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::id::{LoggedRequest as LoggedRequestIdKind, LoggedRequestId, WorkspaceId};

/// Returns a page of the workspace's log. The entries are sorted by the time at which the requests were received,
/// whatever the sort key of the page is. Requests of the last second can be missing.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn list(
    app: &App,
    workspace: WorkspaceId,
    filter: &RequestFilter,
    page: PageRequest,
) -> Result<Page<LoggedRequest>> {
    let keyset = page.keyset(&app.db, &app.clock, |_| Some(Column::ReceivedAt)).await?;
    let rows = api_requests::in_workspace(workspace.uuid());
    let rows = rows.page(app.db.read(), &row_filter(filter), keyset).await?;
    let (rows, next) = page.trim_to_page(rows, |row, _| (row.received_at, row.id));
    Ok(Page { items: rows.into_iter().map(logged).collect(), next })
}

/// Returns the position at which a search that starts after `after` stops. A search whose filter has no index reads at
/// most [`MAX_SCANNED_ROWS`] requests. Returns `None` if the search is not limited: its filter has an index, or fewer
/// requests remain.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn search_end(
    app: &App,
    workspace: WorkspaceId,
    filter: &RequestFilter,
    after: Option<Position>,
) -> Result<Option<Position>> {
    let row_filter = row_filter(filter);
    // Indexes serve only the filters by key and by time. There is an index of requests with a status of 400 or above,
    // but SQLite does not always use it, so a search for these statuses is limited as well.
    if filter.status.is_none() && filter.operation.is_none() {
        return Ok(None);
    }
    let keyset =
        PageRequest::newest_first(after, 1).keyset(&app.db, &app.clock, |_| Some(Column::ReceivedAt)).await?;
    let rows = api_requests::in_workspace(workspace.uuid());
    let search_end = rows
        .position_at(app.db.read(), row_filter.key_id, row_filter.received, keyset, MAX_SCANNED_ROWS)
        .await?;
    Ok(search_end.map(Position::from_parts))
}

fn row_filter(filter: &RequestFilter) -> RequestRowFilter {
    RequestRowFilter {
        key_id: filter.key.map(|key| key.uuid()),
        statuses: filter.status.map(status_range),
        operation: filter.operation.clone(),
        received: filter.received.in_ms(),
    }
}

/// Returns an entry of the log.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace has no such entry, or it was deleted after
/// [`RETENTION_DAYS`](super::RETENTION_DAYS).
pub async fn get(app: &App, workspace: WorkspaceId, entry: LoggedRequestId) -> Result<LoggedRequest> {
    let row = api_requests::in_workspace(workspace.uuid()).by_id(app.db.read(), entry.uuid()).await?;
    row.map(logged).ok_or_else(|| not_found::<LoggedRequestIdKind>(entry))
}

/// Returns the latest entry of the log with this request id.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace has no such entry, or it was deleted after
/// [`RETENTION_DAYS`](super::RETENTION_DAYS).
pub async fn by_request_id(app: &App, workspace: WorkspaceId, request_id: &str) -> Result<LoggedRequest> {
    let rows = api_requests::in_workspace(workspace.uuid());
    let row = rows.by_request_id(app.db.read(), request_id).await?;
    row.map(logged)
        .ok_or_else(|| not_found::<LoggedRequestIdKind>(request_id.chars().take(128).collect::<String>()))
}

/// Returns the request counts of the workspace for each of the last `days` days of a time zone including today, oldest first.
/// Days without requests are included.
///
/// # Errors
/// Returns [`Error::Invalid`] when `days` is less than 1 or more than 90.
pub async fn list_daily(
    app: &App,
    workspace: WorkspaceId,
    days: i64,
    zone: &TimeZone,
) -> Result<Vec<DailyRequests>> {
    if !(1..=DAILY_RETENTION_DAYS).contains(&days) {
        return Err(Error::invalid("days", format!("must be between 1 and {DAILY_RETENTION_DAYS}")));
    }
    let bounds = last_days(app.clock.now(), days, zone)?;
    let (Some(&start_ms), Some((&end_ms, starts))) = (bounds.first(), bounds.split_last()) else {
        return Ok(Vec::new());
    };
    let empty = |start| DailyRequests {
        starts_at: from_ms(start),
        succeeded: 0,
        rejected: 0,
        rate_limited: 0,
        failed: 0,
    };
    let mut counts: Vec<DailyRequests> = starts.iter().copied().map(empty).collect();
    let span = SpanMs::between(start_ms, end_ms);
    for row in api_request_days::of_workspace(app.db.read(), workspace.uuid(), span).await? {
        let started_days = starts.partition_point(|start| *start <= row.starts_at);
        if let Some(day) = started_days.checked_sub(1).and_then(|index| counts.get_mut(index)) {
            day.succeeded += row.succeeded.unsigned_abs();
            day.rejected += row.rejected.unsigned_abs();
            day.rate_limited += row.rate_limited.unsigned_abs();
            day.failed += row.failed.unsigned_abs();
        }
    }
    Ok(counts)
}

/// Returns the range of statuses that match the filter. The first value is included, the second is not.
fn status_range(filter: StatusFilter) -> (i32, i32) {
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
