//! A long queue drained by `creator-api worker`, compared with a bare HTTP client that sends the same bytes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::task::JoinSet;

use crate::bench::{Bench, DataScale};
use crate::events::{BenchReceiver, Host};
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
        site.empty(NAME).await?;
        let receiver = BenchReceiver::start(None)?;
        commit_events(&site, &receiver, subscriptions, deliveries / subscriptions).await?;
        let before = measure_bare_client(bench.window() / 2).await?;
        let (rate, cpu) = drain(&site, &receiver, deliveries).await?;
        let after = measure_bare_client(bench.window() / 2).await?;
        let counts = counts(&receiver, subscriptions, deliveries / subscriptions);
        let to = if subscriptions == 1 { "1 subscription" } else { "10 subscriptions" };
        let row = ResultRow::new(
            NAME,
            format!("{deliveries} deliveries to {to} drained, {}", kind.name()),
            (rate, "deliveries/s"),
            Some(("a bare client", (before + after) / 2.0)),
            Goal::AtLeast(0.5),
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
    let host = Arc::new(Host::open(site.folder(), site.url(), NAME).await?);
    for _ in 0..subscriptions {
        host.subscribe(receiver.url()).await?;
    }
    let mut running = JoinSet::new();
    for first in (1..=events).step_by(EVENTS_PER_TRANSACTION as usize) {
        let host = Arc::clone(&host);
        running
            .spawn(async move { host.commit(first..(first + EVENTS_PER_TRANSACTION).min(events + 1)).await });
        if running.len() >= 4
            && let Some(ended) = running.join_next().await
        {
            ended??;
        }
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    host.app.db.close().await;
    Ok(())
}

/// Returns the deliveries per second from the first to the last, and the worker's processor time per delivery in microseconds.
async fn drain(site: &BenchSite, receiver: &BenchReceiver, deliveries: u64) -> Result<(f64, f64)> {
    let worker = BackgroundProcess::start(site.worker(), &site.folder().join("worker.log"))?;
    let (mut received, mut at) = (0, Instant::now());
    while receiver.count() < deliveries {
        tokio::time::sleep(Duration::from_millis(20)).await;
        if receiver.count() > received {
            (received, at) = (receiver.count(), Instant::now());
        } else if at.elapsed() > ARRIVAL_TIMEOUT {
            bail!("{received} of {deliveries} deliveries arrived, then none");
        }
    }
    let cpu = cpu_time(worker.id).unwrap_or_default();
    worker.stop().await?;
    let receipts = receiver.receipts();
    let (first, last) = receipts.first().zip(receipts.last()).context("nothing arrived")?;
    let time = last.at - first.at;
    Ok((deliveries as f64 / time.as_secs_f64(), cpu.as_secs_f64() * 1e6 / deliveries as f64))
}

/// Formats the numbers of missing and duplicate deliveries.
fn counts(receiver: &BenchReceiver, subscriptions: u64, events: u64) -> String {
    let mut times: HashMap<u64, u64> = HashMap::new();
    for receipt in receiver.receipts() {
        *times.entry(receipt.number).or_default() += 1;
    }
    let duplicates: u64 = times.values().map(|times| times.saturating_sub(subscriptions)).sum();
    let missing: u64 = (1..=events)
        .map(|number| subscriptions.saturating_sub(times.get(&number).copied().unwrap_or_default()))
        .sum();
    format!("{missing} missing, {duplicates} duplicates")
}

/// Returns the requests per second that a receiver gets from a bare client, each as long as a webhook.
async fn measure_bare_client(window: Duration) -> Result<f64> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().http1_only().build()?;
    let receiver = BenchReceiver::start(None)?;
    let url: reqwest::Url = receiver.url().parse()?;
    let until = Instant::now() + window;
    let mut running = JoinSet::new();
    for _ in 0..CONCURRENT_REQUESTS {
        let (client, url) = (client.clone(), url.clone());
        running.spawn(async move {
            while Instant::now() < until {
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

/// The length of an event's body, that of a real one.
const BODY_BYTES: usize = 520;
