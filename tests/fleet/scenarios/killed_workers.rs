//! After all workers are killed, new ones reach full throughput within 15 s, and no event is lost.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures_util::future::try_join_all;

use crate::engines::postgres::query_number;
use crate::fleet::{ApiProcess, Fleet, FleetOptions};
use crate::load::{Load, LoadOptions};
use crate::receiver::WebhookReceiver;
use crate::reconcile::{check_events, check_writes};
use crate::report::{Figure, Report};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "killed-workers";

/// The number of subscriptions to each event.
const SUBSCRIPTIONS: usize = 10;

/// The number of deliveries that wait when the workers start.
const BACKLOG: i64 = 12_000;

/// The length of the windows in which throughput is measured.
const WINDOW: Duration = Duration::from_secs(1);

/// The share of the previous throughput that counts as full.
const FULL: f64 = 0.8;

/// How long the endpoint waits before it responds, so that deliveries are in flight when the workers are killed.
const RESPONSE_DELAY: Duration = Duration::from_millis(50);

/// Kills both workers while they deliver a backlog, and starts new ones.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let mut fleet = Fleet::start(context, FleetOptions::default()).await?;
    fleet.workers.iter_mut().for_each(ApiProcess::kill);
    let receiver = WebhookReceiver::start(&fleet.database.commands, SUBSCRIPTIONS, RESPONSE_DELAY).await?;
    let targets = fleet.server_urls();
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 48, rate: None, reads_per_write: 0 },
    )?;
    let connection = fleet.database.primary.connect().await?;
    let start = Instant::now();
    while query_number(&connection, "SELECT count(*) FROM webhook_deliveries").await? < BACKLOG {
        if start.elapsed() > Duration::from_secs(60) {
            bail!("expected {BACKLOG} deliveries after 60 s, found fewer");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let record = load.stop().await;

    try_join_all(fleet.workers.iter_mut().map(ApiProcess::start)).await?;
    while receiver.arrivals_since(start) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let before = throughput(&receiver).await;
    fleet.workers.iter_mut().for_each(ApiProcess::kill);
    let killed = Instant::now();
    try_join_all(fleet.workers.iter_mut().map(ApiProcess::start)).await?;
    let mut after = Vec::new();
    let recovery = loop {
        let rate = throughput(&receiver).await;
        after.push(format!("{rate:.0}"));
        let is_delivered =
            query_number(&connection, "SELECT count(*) FROM webhook_deliveries WHERE state = 0").await? == 0;
        if rate >= FULL * before || is_delivered || killed.elapsed() > Duration::from_secs(60) {
            break killed.elapsed();
        }
    };
    report.add(Figure::measured("deliveries before the kill", before, "per s"));
    let detail = format!("deliveries per second after the kill: {}", after.join(", "));
    let figure = Figure::at_most("time from the kill to full throughput", recovery.as_secs_f64(), "s", 15.0);
    report.add(figure.detail(detail));
    check_writes(report, &fleet.database.primary, &[&record]).await?;
    check_events(report, &fleet.database.primary, &receiver, &record).await?;
    let last = receiver.events().values().map(|receipts| receipts.first_at).max();
    let last = last.map_or(0.0, |last| last.saturating_duration_since(killed).as_secs_f64());
    report.add(Figure::measured("time from the kill to the receipt of the last event", last, "s"));
    Ok(())
}

/// Returns the number of webhooks per second that arrive in the next window.
async fn throughput(receiver: &WebhookReceiver) -> f64 {
    let start = Instant::now();
    tokio::time::sleep(WINDOW).await;
    receiver.arrivals_since(start) as f64 / start.elapsed().as_secs_f64()
}
