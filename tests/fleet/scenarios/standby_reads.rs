//! Lists that are read from a standby lag by at most 10 seconds, and its failure fails no request.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use sea_orm::ConnectionTrait as _;

use crate::client::ApiClient;
use crate::engines::postgres::{Postgres, query_number};
use crate::fleet::{Fleet, FleetDatabase, FleetOptions};
use crate::load::{Load, LoadOptions, ResponseKind};
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "standby-reads";

/// The limit of the lag, with the time of a request.
const MAX_LAG_SECONDS: f64 = 11.0;

/// The time limit until the servers use the standby.
const USE_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of recent connections to the standby that show that the servers use it: one of each.
const CONNECTIONS: i64 = 3;

/// Reads lists from a standby under load. Pauses its replay, resumes it, and kills the standby.
///
/// # Errors
/// Returns an error when a part of the fleet does not start, or when the standby is not used.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let options = FleetOptions::default();
    let mut database = FleetDatabase::start(context, &options).await?;
    // Commits must not wait for a standby that is killed.
    let primary = database.primary.connect_as_superuser("postgres").await?;
    primary.execute_unprepared("ALTER SYSTEM SET synchronous_standby_names = ''").await?;
    primary.execute_unprepared("SELECT pg_reload_conf()").await?;
    primary.close().await?;
    let mut standby = database.standby.take().context("the fleet has no standby")?;
    let server_flags = vec!["--database-read-url".to_owned(), standby.url()];
    let url = database.primary.url();
    let fleet = Fleet::start_on(context, database, FleetOptions { server_flags, ..options }, &url).await?;
    let targets = fleet.server_urls();
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets: targets.clone(), clients: 12, rate: Some(100), reads_per_write: 3 },
    )?;
    wait_until_used(&standby).await?;

    let connection = standby.connect().await?;
    connection.execute_unprepared("SELECT pg_wal_replay_pause()").await?;
    connection.close().await?;
    let api = ApiClient::new(&fleet.database.key)?;
    let email = "paused@example.com";
    api.create_student(&targets[0], email, email).await.body()?;
    let written = Instant::now();
    // By server, how often its list did not contain the student.
    let mut hidden = vec![0; targets.len()];
    loop {
        let mut is_listed_by_all = true;
        for (target, hidden) in targets.iter().zip(&mut hidden) {
            if !is_listed(&api, target, email).await? {
                *hidden += 1;
                is_listed_by_all = false;
            }
        }
        if is_listed_by_all {
            break;
        }
        if written.elapsed() > USE_TIMEOUT {
            bail!("a server does not list a student for {} s", USE_TIMEOUT.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let longest = written.elapsed().as_secs_f64();
    if let Some((target, _)) = targets.iter().zip(&hidden).find(|(_, hidden)| **hidden == 0) {
        bail!("{target} listed a write at once while replay was paused, so it does not use the standby");
    }
    let hidden: i32 = hidden.iter().sum();
    let name = "longest time until a list shows a write while replay is paused";
    let figure = Figure::at_most(name, longest, "s", MAX_LAG_SECONDS);
    report.add(figure.detail(format!("{hidden} lists without the write")));

    let connection = standby.connect().await?;
    connection.execute_unprepared("SELECT pg_wal_replay_resume()").await?;
    connection.close().await?;
    wait_until_used(&standby).await?;
    standby.kill().await?;
    load.run_for(Duration::from_secs(10)).await;
    let record = load.stop().await;
    let kinds = [ResponseKind::InternalError, ResponseKind::Missing, ResponseKind::Unexpected];
    let failed = count(record.count(&kinds));
    report.add(Figure::exactly("failed requests", failed, "requests", 0.0).detail(record.summary()));
    let slowest = record.responses.iter().map(|response| response.duration.as_secs_f64()).fold(0.0, f64::max);
    report.add(Figure::at_most("longest request", slowest, "s", 3.0));
    Ok(())
}

async fn is_listed(api: &ApiClient, server: &str, email: &str) -> Result<bool> {
    let list = api.get(&format!("{server}/api/v1/students?email={email}")).await.body()?;
    Ok(list["data"].as_array().is_some_and(|students| !students.is_empty()))
}

/// Waits until the servers read lists from the standby.
async fn wait_until_used(standby: &Postgres) -> Result<()> {
    let connection = standby.connect().await?;
    let sql = "SELECT count(*) FROM pg_stat_activity
        WHERE application_name = 'creator-api' AND query LIKE '%\"students\"%' AND query_start > now() - interval '1 s'";
    let start = Instant::now();
    while query_number(&connection, sql).await? < CONNECTIONS {
        if start.elapsed() > USE_TIMEOUT {
            bail!("the standby is not used after {} s", USE_TIMEOUT.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(connection.close().await?)
}
