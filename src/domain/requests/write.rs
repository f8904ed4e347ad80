//! The log written and pruned, in short transactions: SQLite has one writer, which others wait for.

use entity::rollups::DAY_MS;
use entity::{StringMap, api_request_days, api_requests};

use super::super::Result;
use super::recorder::day_of;
use super::{COUNTED_DAYS, KEPT_DAYS, Request};
use crate::app::App;
use foundation::id::{self, LoggedRequest as EntryKind};

/// Requests written by one transaction.
const BATCH: usize = 200;
/// Requests deleted by one transaction.
const PRUNED: u64 = 500;
/// Transactions of one [`prune`] at most.
const PRUNES: usize = 40;

/// Writes what was noted since the last flush; the server calls it every second and at its end. Returns how many
/// requests.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails; what is not written then waits for the
/// next flush.
pub async fn flush(app: &App) -> Result<usize> {
    let recorder = app.requests();
    tell_dropped(recorder.take_dropped());
    let mut requests = recorder.take();
    let mut sums = recorder.take_sums(app.clock.now_ms());
    let mut written = 0;
    while !requests.is_empty() || !sums.is_empty() {
        let rest = requests.split_off(requests.len().min(BATCH));
        if let Err(error) = write(app, &sums, &requests).await {
            recorder.give_back_sums(&sums);
            requests.extend(rest);
            recorder.give_back(requests);
            return Err(error);
        }
        written += requests.len();
        sums.clear();
        requests = rest;
    }
    Ok(written)
}

fn tell_dropped(dropped: u64) {
    if dropped > 0 {
        metrics::counter!("request_log_dropped_total").increment(dropped);
        tracing::warn!(
            dropped,
            "requests came faster than the request log is written; these are missing there"
        );
    }
}

async fn write(app: &App, sums: &[api_request_days::Model], requests: &[Request]) -> Result<()> {
    let rows = requests.iter().map(|request| row(app, request)).collect();
    let write = app.begin_write().await?;
    api_request_days::add(write.conn(), sums.to_vec()).await?;
    api_requests::insert_many(write.conn(), rows).await?;
    Ok(write.commit().await?)
}

fn row(app: &App, request: &Request) -> api_requests::Model {
    api_requests::Model {
        id: app.ids.next::<EntryKind>(request.received_at).uuid(),
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

/// Deletes requests that are older than [`KEPT_DAYS`]: the oldest 20,000 at most. Returns how many.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn prune(app: &App) -> Result<u64> {
    let mut gone = 0;
    for _ in 0..PRUNES {
        let write = app.begin_write().await?;
        let before = id::first_of(write.now_ms() - KEPT_DAYS * DAY_MS);
        let batch = api_requests::prune(write.conn(), before, PRUNED).await?;
        write.commit().await?;
        gone += batch;
        if batch < PRUNED {
            break;
        }
    }
    Ok(gone)
}

/// Forgets the sums of days that are no longer shown.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn forget_old(app: &App) -> Result<()> {
    let write = app.begin_write().await?;
    let first = day_of(write.now_ms()) - (COUNTED_DAYS - 1) * DAY_MS;
    api_request_days::delete_before(write.conn(), first).await?;
    Ok(write.commit().await?)
}
