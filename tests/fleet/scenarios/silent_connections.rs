//! Every process serves again within 15 s after its connections to PostgreSQL stop silently.

use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::future::join_all;

use crate::client::status;
use crate::engines::postgres::Postgres;
use crate::fleet::{ApiProcess, Fleet, FleetDatabase, FleetOptions};
use crate::load::{Load, LoadOptions};
use crate::receiver::WebhookReceiver;
use crate::reconcile::{check_events, check_writes};
use crate::relay::Relay;
use crate::report::{Figure, Report};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "silent-connections";

/// How long the processes are observed after their connections stop.
const OBSERVATION: Duration = Duration::from_secs(20);

/// Stops the connections between all processes and PostgreSQL under load. New connections work.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let options = FleetOptions::default();
    let database = FleetDatabase::start(context, &options).await?;
    let relay = Relay::start(database.primary.port).await?;
    let receiver = WebhookReceiver::start(&database.commands, 2, Duration::ZERO).await?;
    let url = Postgres::url_with_port(relay.port);
    let fleet = Fleet::start_on(context, database, options, &url).await?;
    let targets = fleet.server_urls();
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 36, rate: Some(150), reads_per_write: 1 },
    )?;
    load.run_for(Duration::from_secs(3)).await;

    relay.freeze();
    let frozen = Instant::now();
    let workers = join_all(fleet.workers.iter().map(|worker| last_unready(worker, frozen))).await;
    let record = load.stop().await;
    for target in 0..fleet.servers.len() {
        let last = record.last_failure_of(target, frozen);
        let name = format!("last failed request of server {target}");
        report.add(Figure::at_most(name, last, "s", 15.0).before("minutes"));
    }
    for (number, last) in workers.into_iter().enumerate() {
        let name = format!("last failed /readyz of worker {number}");
        report.add(Figure::at_most(name, last.as_secs_f64(), "s", 15.0).before("minutes"));
    }
    let longest = record.longest_since(frozen);
    report.add(Figure::measured("longest response", longest, "s").before("minutes").detail(record.summary()));
    let interrupted = record.last_interrupted_write(frozen);
    report.add(Figure::at_most("last acknowledgment of an interrupted write", interrupted, "s", 15.0));
    check_writes(report, &fleet.database.primary, &[&record]).await?;
    check_events(report, &fleet.database.primary, &receiver, &record).await
}

/// Observes a worker and returns the time from `start` to the end of its last failed readiness check.
async fn last_unready(worker: &ApiProcess, start: Instant) -> Duration {
    let http = reqwest::Client::builder().no_proxy().build().unwrap_or_default();
    let url = format!("{}/readyz", worker.url());
    let mut last = Duration::ZERO;
    while start.elapsed() < OBSERVATION {
        if status(&http, &url).await != Some(200) {
            last = start.elapsed();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    last
}
