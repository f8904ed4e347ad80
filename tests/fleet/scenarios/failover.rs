//! The promotion of a synchronous standby loses no acknowledged write and no event, and readers of changes miss none.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use foundation::id::EventId;
use uuid::Uuid;

use crate::client::ApiClient;
use crate::engines::haproxy::Haproxy;
use crate::engines::postgres::Postgres;
use crate::fleet::{Fleet, FleetDatabase, FleetOptions};
use crate::load::{Load, LoadOptions};
use crate::readers::{delta_sync, read_feed};
use crate::receiver::WebhookReceiver;
use crate::reconcile::{check_events, check_writes, query_column};
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "failover";

/// How long the fleet is observed after the promotion.
const OBSERVATION: Duration = Duration::from_secs(20);

/// How the processes find the server that accepts writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discovery {
    /// A proxy leads to it.
    Proxy,
    /// Their database URL lists both servers.
    Hosts,
}

/// Kills the primary under load and promotes the standby. A proxy leads to the server that accepts writes.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    promote_standby(context, report, Discovery::Proxy, None).await
}

/// Kills the primary under load and promotes the standby, whose clock differs by an offset such as `-60s`.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn promote_standby(
    context: &Context,
    report: &mut Report,
    discovery: Discovery,
    standby_clock_offset: Option<&'static str>,
) -> Result<()> {
    let options = FleetOptions { standby_clock_offset, ..FleetOptions::default() };
    let mut database = FleetDatabase::start(context, &options).await?;
    let standby = database.standby.take().context("the fleet has no standby")?;
    let ports = [database.primary.port, standby.port];
    let proxy = match discovery {
        Discovery::Proxy => Some(Haproxy::find_primary(context, &ports).await?),
        Discovery::Hosts => None,
    };
    let receiver = WebhookReceiver::start(&database.commands, 1, Duration::ZERO).await?;
    let url = proxy
        .as_ref()
        .map_or_else(|| Postgres::url_with_ports(&ports), |proxy| Postgres::url_with_port(proxy.port));
    let mut fleet = Fleet::start_on(context, database, options, &url).await?;
    let targets = fleet.server_urls();
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 36, rate: Some(150), reads_per_write: 1 },
    )?;
    let stopping = Arc::new(AtomicBool::new(false));
    let create = ["platform-tokens", "create", "--name", "fleet", "--scope", "read:events"];
    let token = fleet.database.commands.run(&create).await?.trim().to_owned();
    let feed = tokio::spawn(read_feed(token, fleet.server_urls(), None, Arc::clone(&stopping)));
    let client = ApiClient::new(&fleet.database.key);
    let delta = tokio::spawn(delta_sync(client, fleet.server_urls(), Arc::clone(&stopping)));
    load.run_for(Duration::from_secs(3)).await;

    let killed = Instant::now();
    fleet.database.primary.kill().await?;
    standby.promote().await?;
    let promoted = killed.elapsed().as_secs_f64();
    load.run_for(OBSERVATION).await;
    let stopped = Instant::now();
    let record = load.stop().await;
    stopping.store(true, Ordering::Relaxed);
    let (feed, delta) = (feed.await??, delta.await??);
    let last = record.last_failure_after(killed);
    let detail = format!("the promotion took {promoted:.1} s; {}", record.summary());
    let gap = record.longest_gap(killed, stopped);
    report.add(Figure::measured("longest time without an acknowledged write", gap, "s").detail(detail));
    let outage = "outage, to the last failed request";
    report.add(match standby_clock_offset {
        None => Figure::at_most(outage, last, "s", 15.0),
        // PostgreSQL ends some transactions too early when faketime changes its clock.
        Some(_) => Figure::measured(outage, last, "s"),
    });
    report.add(Figure::measured("longest failed request", record.longest_failure(), "s"));
    let interrupted = record.last_interrupted_write(killed);
    report.add(Figure::at_most("last acknowledgment of an interrupted write", interrupted, "s", 15.0));
    check_readers(report, &standby, &feed, &delta).await?;
    check_writes(report, &standby, &[&record]).await?;
    check_events(report, &standby, &receiver, &record).await
}

/// Compares what readers of the event feed and of the students received with what is stored.
async fn check_readers(
    report: &mut Report,
    database: &Postgres,
    feed: &[String],
    copy: &HashSet<String>,
) -> Result<()> {
    let connection = database.connect().await?;
    let events: Vec<Uuid> =
        query_column(&connection, "SELECT id FROM events WHERE NOT is_test ORDER BY id").await?;
    let students: Vec<String> = query_column(&connection, "SELECT email FROM students").await?;
    connection.close().await?;
    let events: Vec<String> = events.into_iter().map(|id| EventId::from_uuid(id).to_string()).collect();
    let wrong = events.iter().zip(feed).filter(|(stored, received)| stored != received).count();
    let difference = wrong + events.len().abs_diff(feed.len());
    let detail = format!("{} stored, {} received", events.len(), feed.len());
    let figure = "events missing, repeated or out of order for a reader of the feed";
    report.add(Figure::exactly(figure, count(difference), "events", 0.0).detail(detail));
    let missing = students.iter().filter(|email| !copy.contains(*email)).count();
    let detail = format!("{} stored, {} in the copy", students.len(), copy.len());
    let figure = "students missing in the copy of a client";
    report.add(Figure::exactly(figure, count(missing), "students", 0.0).detail(detail));
    Ok(())
}
