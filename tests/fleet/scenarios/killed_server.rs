//! Killed servers lose no acknowledged write, and a POST that is repeated with its `Idempotency-Key` takes effect once.

use std::time::Duration;

use anyhow::Result;

use crate::fleet::{Fleet, FleetOptions};
use crate::load::{Load, LoadOptions, ResponseKind};
use crate::receiver::WebhookReceiver;
use crate::reconcile::{check_events, check_writes};
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "killed-server";

/// The number of kills. The servers take turns.
const KILLS: usize = 9;

/// How long a killed server is down, and how long it then runs before the next kill.
const PAUSE: Duration = Duration::from_secs(1);

/// Kills and restarts servers under load. The load balancer and the clients repeat requests.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let mut fleet = Fleet::start(context, FleetOptions::default()).await?;
    let receiver = WebhookReceiver::start(&fleet.database.commands, 1, Duration::ZERO).await?;
    let targets = vec![fleet.balancer.url()];
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 48, rate: Some(200), reads_per_write: 1 },
    )?;
    let servers = fleet.servers.len();
    for number in 0..KILLS {
        tokio::time::sleep(PAUSE).await;
        let server = &mut fleet.servers[number % servers];
        server.kill();
        tokio::time::sleep(PAUSE).await;
        server.start().await?;
    }
    let record = load.stop().await;
    let failed = record.count(&[ResponseKind::InternalError, ResponseKind::Missing]);
    let figure = Figure::measured(format!("failed requests at {KILLS} kills"), count(failed), "requests");
    report.add(figure.detail(record.summary()));
    // Another process releases the key of the interrupted request.
    let figure =
        Figure::at_most("longest time until a write is acknowledged", record.longest_write(), "s", 15.0);
    report.add(figure.before("60 s"));
    check_writes(report, &fleet.database.primary, &[&record]).await?;
    check_events(report, &fleet.database.primary, &receiver, &record).await
}
