//! With clocks that differ by 5 s, a delta sync loses nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use foundation::clock::Clock;
use futures_util::future::join_all;

use crate::client::{ApiClient, Outcome};
use crate::fleet::{ApiProcess, FleetDatabase, FleetOptions, Role, UNLIMITED};
use crate::load::{Load, LoadOptions};
use crate::readers::delta_sync;
use crate::reconcile::check_writes;
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "clock-skew";

/// How long the servers write.
const DURATION: Duration = Duration::from_secs(12);

/// Writes on two servers whose clocks differ, while a client of each keeps a copy up to date.
///
/// # Errors
/// Returns an error when a part of the fleet does not start, or the clocks do not differ.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let database = FleetDatabase::start(context, &FleetOptions::default()).await?;
    let url = database.primary.url();
    let new_server = |name: &str| ApiProcess::new(context, &database.commands, Role::Server, name, &url);
    let mut exact = new_server("server0")?;
    let mut fast = new_server("server1")?.clock_offset(&context.programs.faketime, "+5s");
    tokio::try_join!(exact.start(), fast.start())?;
    let difference = clock_difference(&fast.url()).await? - clock_difference(&exact.url()).await?;
    if !(4..=6).contains(&difference) {
        bail!("expected clocks that differ by 5 s, found {difference} s");
    }
    let targets = vec![exact.url(), fast.url()];
    let load = Load::start(
        &database.key,
        LoadOptions { targets: targets.clone(), clients: 24, rate: Some(100), reads_per_write: 0 },
    )?;
    let stopping = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = targets
        .iter()
        .map(|url| {
            tokio::spawn(delta_sync(ApiClient::new(&database.key), vec![url.clone()], Arc::clone(&stopping)))
        })
        .collect();
    load.run_for(DURATION).await;
    let record = load.stop().await;
    stopping.store(true, Ordering::Relaxed);
    for (reader, name) in readers.into_iter().zip(["the exact clock", "the fast clock"]) {
        let copy = reader.await??;
        let missing = record.writes.iter().filter(|write| !copy.contains(&write.email)).count();
        let name = format!("students missing in the copy from the server with {name}");
        let detail = format!("{} acknowledged, {} in the copy", record.writes.len(), copy.len());
        report.add(Figure::exactly(name, count(missing), "students", 0.0).detail(detail));
    }
    let key = database.commands.create_key(60, UNLIMITED).await?;
    let admitted = admitted(&key, &targets, 200).await?;
    let figure = Figure::measured("admitted of 60 per minute by both servers", count(admitted), "requests");
    report.add(figure.goal("60, since both count in PostgreSQL"));
    check_writes(report, &database.primary, &[&record]).await
}

/// Returns the difference between the clock of a server and that of this process in seconds, by its header `Date`.
async fn clock_difference(url: &str) -> Result<i64> {
    let response =
        reqwest::Client::builder().no_proxy().build()?.get(format!("{url}/healthz")).send().await?;
    let date = response.headers().get("date").context("the server sends no header `Date`")?;
    let date = jiff::fmt::rfc2822::parse(date.to_str()?)?.timestamp().as_second();
    Ok(date - Clock::system().now_ms() / 1000)
}

/// Sends requests at once, half to each server, and returns how many were admitted.
async fn admitted(key: &str, targets: &[String], requests: usize) -> Result<usize> {
    let client = ApiClient::new(key)?;
    let send = |number: usize| {
        let (client, url) =
            (client.clone(), format!("{}/api/v1/students?limit=1", targets[number % targets.len()]));
        async move { client.get(&url).await }
    };
    let exchanges = join_all((0..requests).map(send)).await;
    Ok(exchanges.iter().filter(|exchange| matches!(exchange.outcome, Outcome::Success(_))).count())
}
