//! Writes and prunes the request log. Transactions are short, because SQLite allows only one writer at a time.

use entity::rollups::DAY_MS;
use entity::{StringMap, api_request_days, api_requests};

use super::super::Result;
use super::{CompletedRequest, DAILY_RETENTION_DAYS, RETENTION_DAYS};
use crate::app::App;
use foundation::database::DELETE_BATCH;
use foundation::id::{self, LoggedRequest as LoggedRequestIdKind};

/// Number of requests written per transaction.
const BATCH: usize = 200;

/// Writes the requests and counts recorded since the previous flush. The server calls it every second and on shutdown. Returns
/// the number of requests written.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a transaction fails. The next flush writes the remaining
/// requests and counts.
pub async fn flush(app: &App) -> Result<usize> {
    let recorder = app.requests();
    report_dropped(recorder.take_dropped());
    let mut requests = recorder.take();
    let mut counts = recorder.take_counts(app.clock.now_ms());
    let mut written = 0;
    while !requests.is_empty() || !counts.is_empty() {
        let remaining = requests.split_off(requests.len().min(BATCH));
        if let Err(error) = write(app, &counts, &requests).await {
            recorder.restore_counts(&counts);
            requests.extend(remaining);
            recorder.requeue(requests);
            return Err(error);
        }
        written += requests.len();
        counts.clear();
        requests = remaining;
    }
    Ok(written)
}

/// Reports the number of requests that were dropped since the previous flush.
fn report_dropped(dropped: u64) {
    if dropped > 0 {
        metrics::counter!("request_log_dropped_total").increment(dropped);
        tracing::warn!(
            dropped,
            "requests are missing from the request log because they arrived faster than it is written"
        );
    }
}

async fn write(app: &App, counts: &[api_request_days::Model], requests: &[CompletedRequest]) -> Result<()> {
    let rows: Vec<_> = requests.iter().map(|request| row(app, request)).collect();
    let times: Vec<i64> = rows.iter().map(|row| row.received_at).collect();
    app.db.ensure_partitions(api_requests::TABLE, &times).await?;
    let write = app.begin_write().await?;
    api_request_days::add(write.conn(), counts.to_vec()).await?;
    api_requests::insert_many(write.conn(), rows).await?;
    Ok(write.commit().await?)
}

fn row(app: &App, request: &CompletedRequest) -> api_requests::Model {
    api_requests::Model {
        id: app.ids.next::<LoggedRequestIdKind>(request.received_at).uuid(),
        workspace_id: request.workspace.uuid(),
        key_id: request.key.uuid(),
        request_id: request.request_id.clone(),
        operation: request.operation.map(str::to_owned),
        method: request.method.clone(),
        target: request.target.clone(),
        status: i32::from(request.status),
        duration_us: i64::try_from(request.duration_us).unwrap_or(i64::MAX),
        address: request.address.to_string(),
        headers: StringMap(request.headers.clone()),
        error: request.error.clone(),
        received_at: request.received_at.as_millisecond(),
    }
}

/// Deletes requests that are older than [`RETENTION_DAYS`]. On PostgreSQL, drops the partitions of these days. Returns the number of
/// rows deleted in another way, at most 60,000.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a transaction fails.
pub async fn prune(app: &App) -> Result<u64> {
    let retention_ms = RETENTION_DAYS * DAY_MS;
    if !app.db.drop_partitions(api_requests::TABLE, &app.clock, retention_ms).await? {
        return Ok(0);
    }
    let requests = app.db.delete_in_batches(&app.clock, |write| {
        let before_ms = write.now_ms() - retention_ms;
        Box::pin(api_requests::prune(write.conn(), id::min_uuid_at(before_ms), before_ms, DELETE_BATCH))
    });
    Ok(requests.await?)
}

/// Deletes the counts of days that are, in every time zone, before the latest [`DAILY_RETENTION_DAYS`], which include today.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the transaction fails.
pub async fn prune_daily(app: &App) -> Result<()> {
    let write = app.begin_write().await?;
    // The first of these days began at most 90 days and the hour ago by which clocks were set back.
    let until_ms = write.now_ms() - (DAILY_RETENTION_DAYS + 1) * DAY_MS;
    api_request_days::delete_before(write.conn(), until_ms).await?;
    Ok(write.commit().await?)
}
