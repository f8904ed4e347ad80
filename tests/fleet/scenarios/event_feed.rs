//! Readers of the event feed receive every event once and in the same order, although servers are killed and suspended in the
//! middle of writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use foundation::id::EventId;
use uuid::Uuid;

use crate::client::ApiClient;
use crate::fleet::{Fleet, FleetOptions};
use crate::load::{Load, LoadOptions};
use crate::readers::{read_feed, read_page};
use crate::reconcile::{check_writes, query_column};
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "event-feed";

/// Writes per second.
const RATE: u32 = 500;
/// Number of clients. A third of them waits while its server is suspended.
const CLIENTS: usize = 192;
/// How long the second reader tries to find its start.
const MIDDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The pause before it tries the next server.
const MIDDLE_PAUSE: Duration = Duration::from_millis(100);
/// How long a server is suspended with open transactions.
const SUSPENSION: Duration = Duration::from_secs(3);

/// Reads the feed under load from three places: from the beginning, from the middle, and from the beginning once all is written.
///
/// # Errors
/// Returns an error when a part of the fleet does not start, or the feed cannot be read.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    // Nothing here depends on a standby or on workers, and without them the machine has more time for commits.
    let options = FleetOptions { workers: 0, standby: false, ..FleetOptions::default() };
    let mut fleet = Fleet::start(context, options).await?;
    let create = ["platform-tokens", "create", "--name", "fleet", "--scope", "read:events"];
    let token = fleet.database.commands.run(&create).await?.trim().to_owned();
    let urls = fleet.server_urls();
    let stopping = Arc::new(AtomicBool::new(false));
    let first = tokio::spawn(read_feed(token.clone(), urls.clone(), None, Arc::clone(&stopping)));
    // Not through the load balancer, so that a suspended server holds only its own clients.
    let targets = urls.clone();
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: CLIENTS, rate: Some(RATE), reads_per_write: 0 },
    )?;
    load.run_for(Duration::from_secs(3)).await;
    let middle = read_middle(&token, &urls).await.context("no server answers the second reader")?;
    let second = read_feed(token.clone(), urls.clone(), Some(middle.clone()), Arc::clone(&stopping));
    let second = tokio::spawn(second);
    for server in 0..fleet.servers.len() {
        fleet.servers[server].set_suspended(true)?;
        tokio::time::sleep(SUSPENSION).await;
        fleet.servers[server].set_suspended(false)?;
        fleet.servers[server].kill();
        tokio::time::sleep(Duration::from_secs(1)).await;
        fleet.servers[server].start().await?;
    }
    let record = load.stop().await;
    stopping.store(true, Ordering::Relaxed);
    let (first, second) = (first.await??, second.await??);
    let third = read_feed(token, urls, None, stopping).await?;

    let connection = fleet.database.primary.connect().await?;
    let ids: Vec<Uuid> =
        query_column(&connection, "SELECT id FROM events WHERE NOT is_test ORDER BY id").await?;
    let rates: Vec<i64> = query_column(
        &connection,
        "SELECT count(*) FROM events WHERE NOT is_test GROUP BY created_at / 1000 ORDER BY 1",
    )
    .await?;
    connection.close().await?;
    let rate = rates.get(rates.len() / 2).context("there are no events")?;
    let committed: Vec<String> = ids.into_iter().map(|id| EventId::from_uuid(id).to_string()).collect();
    let is_before = |id: &String| id.trim_start_matches("evt_") <= middle.as_str();
    let from_middle = &committed[committed.partition_point(is_before)..];
    ensure!(from_middle.len() < committed.len(), "the second reader did not start in the middle");
    let readers = [
        ("from the beginning", first, &committed[..]),
        ("from the middle", second, from_middle),
        ("after the load", third, &committed[..]),
    ];
    for (name, received, expected) in readers {
        let wrong =
            expected.iter().zip(&received).filter(|(expected, received)| expected != received).count();
        let difference = wrong + expected.len().abs_diff(received.len());
        let detail = format!(
            "{} committed, {rate} in the median second, {} received",
            committed.len(),
            received.len()
        );
        let name = format!("events missing, repeated or out of order for the reader {name}");
        report.add(Figure::exactly(name, count(difference), "events", 0.0).detail(detail));
    }
    check_writes(report, &fleet.database.primary, &[&record]).await
}

/// Returns the cursor of the second reader, which starts in the middle. Tries all servers in turn, because they may be too busy.
async fn read_middle(token: &str, urls: &[String]) -> Result<String> {
    let (client, deadline) = (ApiClient::new(token)?, Instant::now() + MIDDLE_TIMEOUT);
    let mut servers = urls.iter().cycle();
    loop {
        let server = servers.next().context("there are no servers")?;
        match read_page(&client, server, None, 0).await {
            Ok((_, next)) => return Ok(next),
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => tokio::time::sleep(MIDDLE_PAUSE).await,
        }
    }
}
