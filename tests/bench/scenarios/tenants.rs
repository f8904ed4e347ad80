//! Writes and webhooks of one workspace while another sends events to many subscriptions whose endpoint never responds.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::bench::Bench;
use crate::events::{BenchReceiver, EVENT_MARKER, EventSource};
use crate::http::{Connection, write_post};
use crate::measurement::Measurement;
use crate::process::BenchServer;
use crate::report::{Goal, ResultRow};
use crate::site::BenchSite;

pub const NAME: &str = "tenants";

/// Numbers of subscriptions of the noisy workspace.
const SUBSCRIPTIONS: [u32; 2] = [600, 1_500];

/// Students created per second in the noisy workspace.
const NOISY_STUDENTS_PER_SECOND: u32 = 2;

/// Students created per second in the measured workspace.
const QUIET_STUDENTS_PER_SECOND: u32 = 20;

/// Time until the noisy workspace has as many deliveries in flight as the server allows a workspace to have.
const WARM_UP: Duration = Duration::from_secs(5);

/// Longer than the timeout of an attempt, so that attempts time out and are retried inside the window.
const WINDOW: Duration = Duration::from_secs(20);

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let kind = site.kind;
    for subscriptions in SUBSCRIPTIONS {
        let site = BenchSite::new(bench, kind, &format!("tenants{subscriptions}")).await?;
        let (quiet, noisy) = (site.create_workspace("quiet").await?, site.create_workspace("noisy").await?);
        let receiver = BenchReceiver::start(None)?;
        subscribe(&site, "quiet", 1, receiver.url()).await?;
        subscribe(&site, "noisy", subscriptions, crate::events::start_hung_endpoint()?).await?;
        let server = site.serve_with("tenants", &["--webhook-allow", "127.0.0.0/8"]).await?;

        let window = WINDOW.max(bench.window());
        let mut numbers = 1..;
        let alone = measure(&server, &quiet, &receiver, &mut numbers, window).await?;
        let noisy_load = start_noisy_load(&server, &noisy).await?;
        tokio::time::sleep(WARM_UP).await;
        let with_noise = measure(&server, &quiet, &receiver, &mut numbers, window).await?;
        if noisy_load.is_finished() {
            noisy_load.await??;
            bail!("the noisy workspace stopped creating students");
        }
        noisy_load.abort();
        server.stop().await?;

        for (latency_name, alone, with_noise) in [
            ("createStudent", &alone.writes, &with_noise.writes),
            ("request to webhook", &alone.receipts, &with_noise.receipts),
        ] {
            let row = ResultRow::new(
                NAME,
                format!(
                    "{latency_name} beside a workspace with {subscriptions} hung endpoints, p95, {}",
                    kind.name()
                ),
                (with_noise.percentile_ms(95.0), "ms"),
                Some(("without that workspace", alone.percentile_ms(95.0))),
                Goal::AtMost(1.5),
            );
            bench.report(row.detail(format!("{}; alone {}", with_noise.latencies(), alone.latencies())));
        }
    }
    Ok(())
}

async fn subscribe(site: &BenchSite, workspace: &str, count: u32, url: String) -> Result<()> {
    let source = EventSource::open(site.folder(), site.url(), workspace).await?;
    for _ in 0..count {
        source.subscribe(url.clone()).await?;
    }
    source.app.db.close().await;
    Ok(())
}

/// Latencies from the start of a request.
struct Latencies {
    /// To its response.
    writes: Measurement,
    /// To the receipt of its webhook.
    receipts: Measurement,
}

/// Creates students in the quiet workspace at a fixed rate, and waits for their webhooks.
async fn measure(
    server: &BenchServer,
    key: &str,
    receiver: &BenchReceiver,
    numbers: &mut impl Iterator<Item = u64>,
    window: Duration,
) -> Result<Latencies> {
    /// The time limit for the arrival of the last webhooks.
    const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);

    let (mut writes, mut receipts) = (Measurement::new(window), Measurement::new(window));
    let mut sent = std::collections::HashMap::new();
    let mut client = StudentClient::open(server, key, QUIET_STUDENTS_PER_SECOND).await?;
    let before = receiver.count();
    let window_end = Instant::now() + window;
    while Instant::now() < window_end {
        let Some(number) = numbers.next() else { bail!("all event numbers are used") };
        let (sent_at, latency) = client.create(number).await?;
        sent.insert(number, sent_at);
        writes.record(latency);
    }
    let started_waiting = Instant::now();
    while receiver.count() < before + sent.len() as u64 && started_waiting.elapsed() < ARRIVAL_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for receipt in receiver.receipts() {
        if let Some(sent_at) = sent.remove(&receipt.number) {
            receipts.record(receipt.received_at.saturating_duration_since(sent_at));
        }
    }
    // A webhook that has not arrived counts with the time from the request until now.
    for sent_at in sent.into_values() {
        receipts.record(sent_at.elapsed());
    }
    Ok(Latencies { writes, receipts })
}

/// Creates students in the noisy workspace until the task is aborted.
async fn start_noisy_load(server: &BenchServer, key: &str) -> Result<JoinHandle<Result<()>>> {
    let mut client = StudentClient::open(server, key, NOISY_STUDENTS_PER_SECOND).await?;
    Ok(tokio::spawn(async move {
        for number in 1.. {
            client.create(number).await?;
        }
        Ok(())
    }))
}

/// A connection that creates students at a fixed rate.
struct StudentClient {
    connection: Connection,
    key: String,
    ticks: tokio::time::Interval,
}

impl StudentClient {
    async fn open(server: &BenchServer, key: &str, per_second: u32) -> Result<Self> {
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / per_second);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let connection = Connection::open(server.address).await?;
        Ok(Self { connection, key: key.to_owned(), ticks })
    }

    /// Waits for the next tick and creates a student. Returns when the request was sent and how long the response took.
    async fn create(&mut self, number: u64) -> Result<(Instant, Duration)> {
        self.ticks.tick().await;
        let body = format!(r#"{{"email":"{EVENT_MARKER}{number}@example.com","name":"A Student"}}"#);
        let mut request = Vec::with_capacity(512);
        write_post(&mut request, "/api/v1/students", &self.key, body.as_bytes());
        let sent_at = Instant::now();
        let response = self.connection.exchange(&request).await?;
        if response.status != 201 {
            bail!("createStudent: {} {}", response.status, String::from_utf8_lossy(response.body));
        }
        Ok((sent_at, sent_at.elapsed()))
    }
}
