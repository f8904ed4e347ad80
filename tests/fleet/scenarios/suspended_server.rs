//! A server that is suspended in the middle of writes delays a delta sync by at most 12 s, and serves again when it continues.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use sea_orm::DatabaseConnection;

use crate::client::ApiClient;
use crate::engines::postgres::query_number;
use crate::fleet::{ApiProcess, Fleet, FleetOptions};
use crate::load::{Load, LoadOptions};
use crate::reconcile::check_writes;
use crate::report::{Figure, Report};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "suspended-server";

/// How long the server is suspended.
const SUSPENSION: Duration = Duration::from_secs(15);

/// How often the server is suspended until one of its transactions is open.
const MAX_TRIES: usize = 100;

/// Suspends a server with open transactions, and measures how long later writes of the others remain hidden from a delta sync.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let mut fleet = Fleet::start(context, FleetOptions { workers: 0, ..FleetOptions::default() }).await?;
    let suspended = fleet.servers.remove(0);
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets: vec![suspended.url()], clients: 16, rate: None, reads_per_write: 0 },
    )?;
    load.run_for(Duration::from_secs(2)).await;
    let connection = fleet.database.primary.connect().await?;
    let tries = suspend_in_transaction(&suspended, &connection).await?;
    let start = Instant::now();
    let lags = async {
        let lags = fleet.servers.iter().map(|server| measure_lag(server, &fleet.database.key, start));
        futures_util::future::try_join_all(lags).await
    };
    let lags = lags.await?;
    suspended.set_suspended(false)?;
    let continued = Instant::now();
    load.run_for(Duration::from_secs(5)).await;
    let record = load.stop().await;
    let recovery = record.first_write_after(continued)?;
    for (number, (lag, writes)) in lags.into_iter().enumerate() {
        let name = format!("longest lag of a delta sync on server {}", number + 1);
        let detail = format!("{writes} writes while server 0 was suspended in a transaction (try {tries})");
        let figure = Figure::at_most(name, lag.as_secs_f64(), "s", 12.0).detail(detail);
        report.add(figure.before("until the server continues"));
    }
    let figure = Figure::at_most("first write of the server after it continues", recovery, "s", 5.0);
    report.add(figure.detail(record.summary()));
    check_writes(report, &fleet.database.primary, &[&record]).await
}

/// Suspends the server while one of its transactions is open. Returns the number of tries.
async fn suspend_in_transaction(server: &ApiProcess, connection: &DatabaseConnection) -> Result<usize> {
    const OPEN: &str = "SELECT count(*) FROM pg_stat_activity JOIN pg_locks USING (pid)
        WHERE locktype = 'advisory' AND state = 'idle in transaction'
          AND state_change < clock_timestamp() - interval '100 ms'";
    for number in 1..=MAX_TRIES {
        server.set_suspended(true)?;
        tokio::time::sleep(Duration::from_millis(250)).await;
        if query_number(connection, OPEN).await? > 0 {
            return Ok(number);
        }
        server.set_suspended(false)?;
        tokio::time::sleep(Duration::from_millis(37)).await;
    }
    bail!("expected an open transaction at one of {MAX_TRIES} suspensions, found none")
}

/// Creates students on a server until the end of the suspension, and reads them by a delta sync. Returns the longest time from
/// an acknowledgment until the student appears, and the number of students.
async fn measure_lag(server: &ApiProcess, key: &str, start: Instant) -> Result<(Duration, usize)> {
    let (client, url) = (ApiClient::new(key)?, server.url());
    let (mut created, mut lag, mut number) = (Vec::<(String, Instant)>::new(), Duration::ZERO, 0);
    let newest = client.get(&format!("{url}/api/v1/students?sort=-created_at&limit=1")).await.body()?;
    let mut since = newest["data"][0]["updated_at"].as_str().context("expected a student")?.to_owned();
    while start.elapsed() < SUSPENSION || (!created.is_empty() && start.elapsed() < SUSPENSION * 2) {
        if start.elapsed() < SUSPENSION {
            let email = format!("delta-{}-{number}@example.com", url.len() + usize::from(server.port()));
            client.create_student(&url, &email, &email).await.body()?;
            created.push((email, Instant::now()));
            number += 1;
        }
        let list = format!("{url}/api/v1/students?sort=updated_at&limit=100&updated_after={since}");
        let page = client.get(&list).await.body()?;
        let students = page["data"].as_array().cloned().unwrap_or_default();
        let visible: HashSet<&str> =
            students.iter().filter_map(|student| student["email"].as_str()).collect();
        created.retain(|(email, acknowledged_at)| {
            if visible.contains(email.as_str()) {
                lag = lag.max(acknowledged_at.elapsed());
            }
            !visible.contains(email.as_str())
        });
        if let Some(last) = students.last().and_then(|student| student["updated_at"].as_str()) {
            last.clone_into(&mut since);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    if !created.is_empty() {
        bail!(
            "expected all students in the delta sync, found {} missing after {:?}",
            created.len(),
            start.elapsed()
        );
    }
    Ok((lag, number))
}
