//! A long queue drained by `creator-api worker`, beside a bare HTTP client that sends the same bytes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::task::JoinSet;

use crate::bench::{Bench, Scale};
use crate::events::{Host, Receiver};
use crate::process::{Running, cpu_time};
use crate::report::{Goal, Row};
use crate::site::Site;

pub const NAME: &str = "backlog";

/// Events committed by one transaction.
const TOGETHER: u64 = 250;

/// Requests of the bare client under way at once.
const AT_ONCE: usize = 64;

/// How long nothing may arrive before the queue counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn run(bench: &mut Bench, site: &mut Site) -> Result<()> {
    let kind = site.kind;
    let deliveries: u64 = match bench.scale() {
        Scale::Small => 30_000,
        Scale::Full => 100_000,
    };
    for subscriptions in [1, 10] {
        let site = Site::new(bench, kind, &format!("backlog_{subscriptions}")).await?;
        site.empty(NAME).await?;
        let receiver = Receiver::start(None)?;
        fill(&site, &receiver, subscriptions, deliveries / subscriptions).await?;
        let before = bare(bench.window() / 2).await?;
        let (rate, cpu) = drain(&site, &receiver, deliveries).await?;
        let after = bare(bench.window() / 2).await?;
        let counts = counts(&receiver, subscriptions, deliveries / subscriptions);
        let to = if subscriptions == 1 { "1 subscription" } else { "10 subscriptions" };
        let row = Row::new(
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

/// Commits events while nobody sends them.
async fn fill(site: &Site, receiver: &Receiver, subscriptions: u64, events: u64) -> Result<()> {
    let host = Arc::new(Host::open(site.folder(), site.url(), NAME).await?);
    for _ in 0..subscriptions {
        host.subscribe(receiver.url()).await?;
    }
    let mut running = JoinSet::new();
    for first in (1..=events).step_by(TOGETHER as usize) {
        let host = Arc::clone(&host);
        running.spawn(async move { host.commit(first..(first + TOGETHER).min(events + 1)).await });
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

/// Deliveries a second from the first to the last, and microseconds of the worker's processor time for each.
async fn drain(site: &Site, receiver: &Receiver, deliveries: u64) -> Result<(f64, f64)> {
    let worker = Running::start(site.worker(), &site.folder().join("worker.log"))?;
    let (mut seen, mut at) = (0, Instant::now());
    while receiver.count() < deliveries {
        tokio::time::sleep(Duration::from_millis(20)).await;
        if receiver.count() > seen {
            (seen, at) = (receiver.count(), Instant::now());
        } else if at.elapsed() > PATIENCE {
            bail!("{seen} of {deliveries} deliveries came, and then none");
        }
    }
    let cpu = cpu_time(worker.id).unwrap_or_default();
    worker.stop().await?;
    let receipts = receiver.receipts();
    let (first, last) = receipts.first().zip(receipts.last()).context("nothing came")?;
    let time = last.at - first.at;
    Ok((deliveries as f64 / time.as_secs_f64(), cpu.as_secs_f64() * 1e6 / deliveries as f64))
}

/// What came, in a few words.
fn counts(receiver: &Receiver, subscriptions: u64, events: u64) -> String {
    let mut times: HashMap<u64, u64> = HashMap::new();
    for receipt in receiver.receipts() {
        *times.entry(receipt.number).or_default() += 1;
    }
    let doubles: u64 = times.values().map(|times| times.saturating_sub(subscriptions)).sum();
    let missing: u64 = (1..=events)
        .map(|number| subscriptions.saturating_sub(times.get(&number).copied().unwrap_or_default()))
        .sum();
    format!("{missing} missing, {doubles} doubles")
}

/// Requests a second that a receiver takes from a client that does nothing else, with as many bytes as a webhook.
async fn bare(window: Duration) -> Result<f64> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().http1_only().build()?;
    let receiver = Receiver::start(None)?;
    let url: reqwest::Url = receiver.url().parse()?;
    let until = Instant::now() + window;
    let mut running = JoinSet::new();
    for _ in 0..AT_ONCE {
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
                    .body(vec![b'x'; BODY]);
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

/// An event's body, as long as a real one.
const BODY: usize = 520;
