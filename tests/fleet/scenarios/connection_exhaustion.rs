//! While PostgreSQL has no free connections, requests fail with a 500 within 3 s. The fleet serves again when processes stop.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::fleet::{ApiProcess, FleetDatabase, FleetOptions, Role};
use crate::load::{Load, LoadOptions, ResponseKind};
use crate::reconcile::check_writes;
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "connection-exhaustion";

/// The number of connections that PostgreSQL accepts, including 3 for superusers. Each server opens up to 17.
const MAX_CONNECTIONS: u32 = 30;

/// The number of servers.
const SERVERS: usize = 4;

/// How long a process has to start or to refuse to start.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Loads more servers than PostgreSQL has connections for, then stops half of them.
///
/// # Errors
/// Returns an error when PostgreSQL does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let options =
        FleetOptions { standby: false, max_connections: MAX_CONNECTIONS, ..FleetOptions::default() };
    let database = FleetDatabase::start(context, &options).await?;
    let (mut servers, mut refusals) = (Vec::new(), Vec::new());
    for number in 0..SERVERS {
        let (name, url) = (format!("server{number}"), database.primary.url());
        let mut server = ApiProcess::new(context, &database.commands, Role::Server, &name, &url)?;
        match tokio::time::timeout(START_TIMEOUT, server.start()).await {
            Ok(Ok(())) => servers.push(server),
            Ok(Err(refusal)) => refusals.push(format!("{refusal:#}")),
            Err(_) => refusals.push(format!("{name} did not become ready")),
        }
    }
    let figure = Figure::measured("servers that started", count(servers.len()), "of 4");
    report.add(figure.detail(refusals.join("; ")));

    let targets = servers.iter().map(ApiProcess::url).collect();
    let load =
        Load::start(&database.key, LoadOptions { targets, clients: 96, rate: None, reads_per_write: 1 })?;
    load.run_for(Duration::from_secs(10)).await;
    let exhausted = load.stop().await;
    let longest = exhausted.longest_failure();
    report.add(Figure::at_most("longest failed request", longest, "s", 3.0).detail(exhausted.summary()));
    let without_response = count(exhausted.count(&[ResponseKind::Missing]));
    report.add(Figure::exactly("requests without a response", without_response, "requests", 0.0));

    let remaining = servers.len().div_ceil(2);
    for mut server in servers.drain(remaining..) {
        server.stop().await?;
    }
    let stopped = Instant::now();
    let targets = servers.iter().map(ApiProcess::url).collect();
    let load =
        Load::start(&database.key, LoadOptions { targets, clients: 16, rate: Some(50), reads_per_write: 1 })?;
    load.run_for(Duration::from_secs(20)).await;
    let record = load.stop().await;
    let recovery = record.last_failure_after(stopped);
    let name = format!("last failed request after {} of the servers stopped", SERVERS - remaining);
    report.add(Figure::at_most(name, recovery, "s", 15.0).detail(record.summary()));
    check_writes(report, &database.primary, &[&exhausted, &record]).await
}
