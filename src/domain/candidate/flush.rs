//! Writes and prunes the usage. Transactions are short, because SQLite allows only one writer at a time.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use entity::rollups::{DAY_MS, Grain};
use entity::{candidate_findings, candidate_requests};

use super::usage::add_limited;
use super::{MAX_CODES, RETENTION_DAYS};
use crate::Result;
use crate::app::App;
use crate::requests;
use foundation::database::Write;

/// Number of rows written per transaction.
const BATCH: usize = 200;
/// How long [`finish`] waits for validations.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Writes the counts and findings since the previous flush. The server calls it every few seconds.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a transaction fails. The next flush writes the remaining rows.
pub async fn flush(app: &App) -> Result<()> {
    let usage = app.candidate();
    let now_ms = app.clock.now_ms();
    let mut counts = usage.take_observed(now_ms);
    counts.append(&mut usage.take_counts(now_ms));
    // Findings are taken after the counts: a finding without its count is possible, but no count without its finding.
    let mut findings = usage.take_findings();
    while !findings.is_empty() {
        let remaining = findings.split_off(findings.len().min(BATCH));
        if let Err(error) = write_findings(app, &findings).await {
            findings.extend(remaining);
            usage.restore_findings(findings);
            usage.restore_counts(&counts);
            return Err(error);
        }
        findings = remaining;
    }
    while !counts.is_empty() {
        let remaining = counts.split_off(counts.len().min(BATCH));
        if let Err(error) = write_counts(app, &counts).await {
            counts.extend(remaining);
            usage.restore_counts(&counts);
            return Err(error);
        }
        counts = remaining;
    }
    Ok(())
}

/// Waits a short time until the selected requests are validated, and writes the usage. Called when the server stops.
///
/// # Errors
/// Returns the errors of [`flush`].
pub async fn finish(app: &App) -> Result<()> {
    let validated = async {
        while app.candidate().has_pending() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    if tokio::time::timeout(MAX_WAIT, validated).await.is_err() {
        tracing::warn!("requests were not compared with the candidate contract before the server stopped");
    }
    flush(app).await
}

async fn write_counts(app: &App, counts: &[candidate_requests::Model]) -> Result<()> {
    let write = app.begin_write().await?;
    candidate_requests::add(write.conn(), counts.to_vec()).await?;
    Ok(write.commit().await?)
}

async fn write_findings(app: &App, findings: &[candidate_findings::Model]) -> Result<()> {
    let mut by_day: BTreeMap<i64, Vec<candidate_findings::Model>> = BTreeMap::new();
    for row in findings {
        by_day.entry(row.day).or_default().push(row.clone());
    }
    let write = app.begin_write().await?;
    for (day, rows) in by_day {
        let rows = limited(&write, day, rows).await?;
        candidate_findings::add(write.conn(), rows).await?;
    }
    Ok(write.commit().await?)
}

/// Replaces findings of one day that exceed the limit of their key by one with the code `other`.
async fn limited(
    write: &Write,
    day: i64,
    rows: Vec<candidate_findings::Model>,
) -> Result<Vec<candidate_findings::Model>> {
    let stored =
        candidate_findings::fingerprints(write.conn(), day, rows.iter().map(|row| row.key_id)).await?;
    let mut by_key: HashMap<_, HashMap<String, candidate_findings::Model>> = HashMap::new();
    for row in rows {
        let stored = stored.get(&row.key_id);
        let is_stored = stored.is_some_and(|stored| stored.contains(&row.fingerprint));
        let is_full = |of_key: &HashMap<String, candidate_findings::Model>| {
            let is_new = |fingerprint: &&String| stored.is_none_or(|stored| !stored.contains(*fingerprint));
            let new = of_key.keys().filter(is_new).count();
            !is_stored && stored.map_or(0, |stored| stored.len()) + new >= MAX_CODES
        };
        add_limited(by_key.entry(row.key_id).or_default(), row, is_full);
    }
    Ok(by_key.into_values().flat_map(HashMap::into_values).collect())
}

/// Deletes the rows of days before the latest [`RETENTION_DAYS`].
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the transaction fails.
pub async fn prune(app: &App) -> Result<()> {
    let write = app.begin_write().await?;
    let day = Grain::Day.floor(write.now_ms()) - (RETENTION_DAYS - 1) * DAY_MS;
    candidate_requests::delete_before(write.conn(), day).await?;
    candidate_findings::delete_before(write.conn(), day).await?;
    // Clients can choose request ids. The request log does not contain these any more.
    let logged_from = write.now_ms() - requests::RETENTION_DAYS * DAY_MS;
    candidate_findings::forget_requests(write.conn(), logged_from).await?;
    Ok(write.commit().await?)
}
