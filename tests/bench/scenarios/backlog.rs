//! Deliveries per second of `creator-api worker` with a long queue, compared with a bare client: a plain HTTP
//! client that sends similar requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::task::JoinSet;

use crate::bench::{Bench, DataScale};
use crate::events::{BenchReceiver, EventSource};
use crate::process::{BackgroundProcess, cpu_time};
use crate::report::{Goal, ResultRow};
use crate::site::BenchSite;

pub const NAME: &str = "backlog";

/// Events committed per transaction.
const EVENTS_PER_TRANSACTION: u64 = 250;

/// Concurrent requests of the bare client.
const CONCURRENT_REQUESTS: usize = 64;

/// The queue counts as stuck when nothing arrives for this long.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let kind = site.kind;
    let deliveries: u64 = match bench.scale() {
        DataScale::Small => 30_000,
        DataScale::Full => 100_000,
    };
    for subscriptions in [1, 10] {
        let site = BenchSite::new(bench, kind, &format!("backlog_{subscriptions}")).await?;
        site.create_workspace(NAME).await?;
        let receiver = BenchReceiver::start(None)?;
        commit_events(&site, &receiver, subscriptions, deliveries / subscriptions).await?;
        let client_rate_before = measure_bare_client(bench.window() / 2).await?;
        let (rate, cpu) = drain(&site, &receiver, deliveries).await?;
        let client_rate_after = measure_bare_client(bench.window() / 2).await?;
        let counts = missing_and_duplicates(&receiver, subscriptions, deliveries / subscriptions);
        let target = if subscriptions == 1 { "1 subscription" } else { "10 subscriptions" };
        let row = ResultRow::new(
            NAME,
            format!("{deliveries} deliveries to {target} drained, {}", kind.name()),
            (rate, "deliveries/s"),
            Some(("a bare client", f64::midpoint(client_rate_before, client_rate_after))),
            Goal::AtLeast(0.3),
        );
        bench.report(row.detail(format!("{cpu:.0} us of CPU each; {counts}")));
    }
    Ok(())
}

/// Commits events while no worker runs.
async fn commit_events(
    site: &BenchSite,
    receiver: &BenchReceiver,
    subscriptions: u64,
    events: u64,
) -> Result<()> {
    let source = Arc::new(EventSource::open(site.folder(), site.url(), NAME).await?);
    for _ in 0..subscriptions {
        source.subscribe(receiver.url()).await?;
    }
    let mut running = JoinSet::new();
    for first in (1..=events).step_by(EVENTS_PER_TRANSACTION as usize) {
        let source = Arc::clone(&source);
        running.spawn(
            async move { source.commit(first..(first + EVENTS_PER_TRANSACTION).min(events + 1)).await },
        );
        if running.len() >= 4
            && let Some(ended) = running.join_next().await
        {
            ended??;
        }
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    source.app.db.close().await;
    Ok(())
}

/// Runs the worker until all deliveries have arrived. Returns the deliveries per second from the first to the last
/// receipt, and the worker's processor time per delivery in microseconds.
async fn drain(site: &BenchSite, receiver: &BenchReceiver, deliveries: u64) -> Result<(f64, f64)> {
    let worker = BackgroundProcess::start(site.worker_command(), &site.folder().join("worker.log"))?;
    let (mut received, mut received_at) = (0, Instant::now());
    while receiver.count() < deliveries {
        tokio::time::sleep(Duration::from_millis(20)).await;
        if receiver.count() > received {
            (received, received_at) = (receiver.count(), Instant::now());
        } else if received_at.elapsed() > ARRIVAL_TIMEOUT {
            bail!("{received} of {deliveries} deliveries arrived, then none");
        }
    }
    let cpu = cpu_time(worker.id).unwrap_or_default();
    worker.stop().await?;
    let receipts = receiver.receipts();
    let (first, last) = receipts.first().zip(receipts.last()).context("nothing arrived")?;
    let time = last.received_at - first.received_at;
    Ok((deliveries as f64 / time.as_secs_f64(), cpu.as_secs_f64() * 1e6 / deliveries as f64))
}

/// Formats the numbers of missing and duplicate deliveries.
fn missing_and_duplicates(receiver: &BenchReceiver, subscriptions: u64, events: u64) -> String {
    let mut receipt_counts: HashMap<u64, u64> = HashMap::new();
    for receipt in receiver.receipts() {
        *receipt_counts.entry(receipt.number).or_default() += 1;
    }
    let duplicates: u64 = receipt_counts.values().map(|count| count.saturating_sub(subscriptions)).sum();
    let missing: u64 = (1..=events)
        .map(|number| subscriptions.saturating_sub(receipt_counts.get(&number).copied().unwrap_or_default()))
        .sum();
    format!("{missing} missing, {duplicates} duplicates")
}

/// Returns the requests per second that a receiver gets from the bare client. Each request is about as long as a
/// webhook.
async fn measure_bare_client(window: Duration) -> Result<f64> {
    let client = reqwest::Client::builder().no_proxy().http1_only().build()?;
    let receiver = BenchReceiver::start(None)?;
    let url: reqwest::Url = receiver.url().parse()?;
    let window_end = Instant::now() + window;
    let mut running = JoinSet::new();
    for _ in 0..CONCURRENT_REQUESTS {
        let (client, url) = (client.clone(), url.clone());
        running.spawn(async move {
            while Instant::now() < window_end {
                let request = client
                    .post(url.clone())
                    .header("content-type", "application/json")
                    .header("x-svc-signature", "0".repeat(80))
                    .header("webhook-signature", "0".repeat(48))
                    .header("webhook-id", "0".repeat(30))
                    .header("x-svc-delivery", "0".repeat(30))
                    .body(vec![b'x'; BODY_BYTES]);
                request.send().await?.bytes().await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(receiver.count() as f64 / window.as_secs_f64())
}

/// The length of an event's body in bytes, similar to that of a real one.
const BODY_BYTES: usize = 520;
