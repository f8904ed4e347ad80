//! A fleet that connects through pgbouncer serves again after pgbouncer restarts, and nothing is lost.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::engines::pgbouncer::Pgbouncer;
use crate::engines::postgres::Postgres;
use crate::fleet::{Fleet, FleetDatabase, FleetOptions};
use crate::load::{Load, LoadOptions};
use crate::receiver::WebhookReceiver;
use crate::reconcile::{check_events, check_writes};
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "pgbouncer-restart";

/// How long pgbouncer is down.
const OUTAGE: Duration = Duration::from_secs(2);

/// How long the fleet is observed after the restart.
const OBSERVATION: Duration = Duration::from_secs(15);

/// Kills pgbouncer under load and starts it again.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let options = FleetOptions::default();
    let database = FleetDatabase::start(context, &options).await?;
    let mut pgbouncer = Pgbouncer::start_for(context, database.primary.port, 100).await?;
    let receiver = WebhookReceiver::start(&database.commands, 1, Duration::ZERO).await?;
    let url = Postgres::url_with_port(pgbouncer.port);
    let fleet = Fleet::start_on(context, database, options, &url).await?;
    let targets = fleet.server_urls();
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 36, rate: Some(150), reads_per_write: 1 },
    )?;
    load.run_for(Duration::from_secs(3)).await;
    let before = load.record();
    pgbouncer.kill();
    tokio::time::sleep(OUTAGE).await;
    pgbouncer.start().await?;
    let restarted = Instant::now();
    load.run_for(OBSERVATION).await;
    let record = load.stop().await;
    let recovery = record.last_failure_after(restarted);
    let failed_before = before.responses.iter().filter(|response| response.is_failure()).count();
    report.add(Figure::exactly("failed requests before the restart", count(failed_before), "requests", 0.0));
    let detail = format!("{}; {}", pgbouncer.description, record.summary());
    report.add(Figure::at_most("last failed request after the restart", recovery, "s", 15.0).detail(detail));
    report.add(Figure::measured("longest failed request", record.longest_failure(), "s"));
    let interrupted = record.last_interrupted_write(restarted);
    report.add(Figure::at_most("last acknowledgment of an interrupted write", interrupted, "s", 15.0));
    check_writes(report, &fleet.database.primary, &[&record]).await?;
    check_events(report, &fleet.database.primary, &receiver, &record).await
}
