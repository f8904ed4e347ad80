//! While PostgreSQL does not respond, requests fail with a 500 within 3 s. After its restart the fleet serves again, and nothing
//! is lost.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::fleet::{Fleet, FleetOptions};
use crate::load::{Load, LoadOptions, ResponseKind};
use crate::receiver::WebhookReceiver;
use crate::reconcile::{check_events, check_writes};
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "database-restart";

/// How long PostgreSQL is suspended.
const SUSPENSION: Duration = Duration::from_secs(10);

/// How long the fleet is observed after the restart.
const OBSERVATION: Duration = Duration::from_secs(20);

/// Suspends PostgreSQL, kills it, and starts it again, under load.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let mut fleet = Fleet::start(context, FleetOptions::default()).await?;
    let receiver = WebhookReceiver::start(&fleet.database.commands, 1, Duration::ZERO).await?;
    let targets = fleet.server_urls();
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 36, rate: Some(150), reads_per_write: 1 },
    )?;
    load.run_for(Duration::from_secs(3)).await;
    fleet.database.primary.suspend()?;
    tokio::time::sleep(SUSPENSION).await;
    fleet.database.primary.kill().await?;
    fleet.database.primary.start().await?;
    let restarted = Instant::now();
    load.run_for(OBSERVATION).await;
    let record = load.stop().await;
    let recovery = record.last_failure_after(restarted);
    let figure = Figure::at_most("longest failed request", record.longest_failure(), "s", 3.0);
    report.add(figure.before("minutes").detail(record.summary()));
    let without_response = count(record.count(&[ResponseKind::Missing]));
    report.add(Figure::exactly("requests without a response", without_response, "requests", 0.0));
    report
        .add(Figure::at_most("last failed request after the restart", recovery, "s", 15.0).before("minutes"));
    let interrupted = record.last_interrupted_write(restarted);
    report.add(Figure::at_most("last acknowledgment of an interrupted write", interrupted, "s", 15.0));
    check_writes(report, &fleet.database.primary, &[&record]).await?;
    check_events(report, &fleet.database.primary, &receiver, &record).await
}
