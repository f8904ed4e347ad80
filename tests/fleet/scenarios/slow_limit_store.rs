//! What servers admit together of a limit of 60 per minute while their limit store is slow, stopped, or has no processor. Part of
//! the scenario `rate-limit`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, bail};
use foundation::clock::Clock;
use futures_util::future::join_all;

use crate::client::{ApiClient, Outcome};
use crate::delaying_relay::DelayingRelay;
use crate::engines::redis::Redis;
use crate::fleet::{Fleet, FleetOptions, UNLIMITED};
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The limit per minute of the keys.
const LIMIT: u32 = 60;

/// How the store responds, in the order of the table. `None` means that it does not for 10 seconds.
const DELAYS: [Option<Duration>; 4] =
    [Some(Duration::ZERO), Some(Duration::from_millis(100)), Some(Duration::from_millis(500)), None];

/// How long the store does not respond.
const STOPPED: Duration = Duration::from_secs(10);

/// Longer than the time in which all servers notice that the store responds again, and that one of them has started.
const NOTICED: Duration = Duration::from_secs(6);

/// A row of the table is not started later than this in a clock minute, so that it is within one.
const LATEST_ROW_MS: u64 = 25_000;

/// Requests that need little time are not started later than this in a clock minute.
const LATEST_MS: u64 = 50_000;

/// How often the limit is tested while all processors are busy, each time with a new key.
const BUSY_REPETITIONS: usize = 10;

/// Measures one and three servers with each delay, and three servers while all processors are busy.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    for servers in [1, 3] {
        let redis = Redis::start_new(context).await?;
        let Some(address) = redis.url().strip_prefix("redis://").map(str::to_owned) else {
            bail!("the URL of the store has no address");
        };
        let relay = DelayingRelay::start(address).await;
        let store = format!("redis://{}", relay.address());
        let fleet = start(context, servers, &store).await?;
        for delay in DELAYS {
            measure(report, &fleet, &relay, delay).await?;
            if delay.is_none_or(|delay| delay > Duration::from_millis(100)) {
                // Until the minute of a failure ends, servers admit their shares only.
                wait_for_early_in_minute(0).await;
            }
        }
        stop(context, fleet)?;
    }
    let fleet = start(context, 3, "database").await?;
    measure_busy(report, &fleet).await?;
    stop(context, fleet)
}

async fn start(context: &Context, servers: usize, store: &str) -> Result<Fleet> {
    let options = FleetOptions {
        servers,
        workers: 0,
        standby: false,
        server_flags: vec!["--limit-store".to_owned(), store.to_owned()],
        ..FleetOptions::default()
    };
    let fleet = Fleet::start(context, options).await?;
    tokio::time::sleep(NOTICED).await;
    Ok(fleet)
}

/// Stops the fleet. The next one uses the same folders.
fn stop(context: &Context, fleet: Fleet) -> Result<()> {
    drop(fleet);
    for folder in ["primary", "data"] {
        std::fs::remove_dir_all(context.folder.join(folder))?;
    }
    Ok(())
}

/// Adds a row of the table: a key that one server has used up when the delay begins, and one that is first used then.
async fn measure(
    report: &mut Report,
    fleet: &Fleet,
    relay: &DelayingRelay,
    delay: Option<Duration>,
) -> Result<()> {
    let servers = fleet.server_urls();
    let (used, unused) = (create_key(fleet).await?, create_key(fleet).await?);
    wait_for_early_in_minute(LATEST_ROW_MS).await;
    let mut change = send_at_once(&servers[..1], &used, 200).await?;
    match delay {
        Some(delay) => relay.delay(delay),
        None => relay.stop(),
    }
    change += send_at_once(&servers, &used, 200).await?;
    let mut slow = send_at_once(&servers, &unused, 200).await?;
    if delay.is_none() {
        tokio::time::sleep(STOPPED).await;
    }
    relay.delay(Duration::ZERO);
    tokio::time::sleep(NOTICED).await;
    slow += send_at_once(&servers, &unused, 200).await?;
    change += send_at_once(&servers, &used, 200).await?;

    let name = match delay {
        Some(delay) => format!("{} servers, store delayed by {} ms", servers.len(), delay.as_millis()),
        None => format!("{} servers, store stopped for {} s", servers.len(), STOPPED.as_secs()),
    };
    let limit = f64::from(LIMIT);
    report.add(Figure::at_most(format!("admitted of 60 per minute: {name}"), count(slow), "requests", limit));
    let name = format!("admitted of 60 in the minute of the change: {name}");
    report.add(Figure::at_most(name, count(change), "requests", most_at_change(servers.len())));
    Ok(())
}

/// Returns the most that servers admit in a minute in which the store fails.
fn most_at_change(servers: usize) -> f64 {
    f64::from(LIMIT) * (2.0 - 1.0 / count(servers))
}

/// Tests the limit while all processors are busy.
async fn measure_busy(report: &mut Report, fleet: &Fleet) -> Result<()> {
    let servers = fleet.server_urls();
    let busy = BusyProcessors::start();
    let mut admitted = Vec::new();
    for _ in 0..BUSY_REPETITIONS {
        let key = create_key(fleet).await?;
        wait_for_early_in_minute(LATEST_MS).await;
        admitted.push(send_at_once(&servers, &key, 200).await?);
    }
    drop(busy);
    let name = "admitted of 60 per minute, most: 3 servers, all processors busy";
    let most = count(admitted.iter().copied().max().unwrap_or(0));
    let figure = Figure::at_most(name, most, "requests", most_at_change(servers.len()));
    report.add(figure.before("182").detail(format!("{BUSY_REPETITIONS} times 200 at once: {admitted:?}")));
    Ok(())
}

async fn create_key(fleet: &Fleet) -> Result<String> {
    fleet.database.commands.create_key(LIMIT, UNLIMITED).await
}

/// Waits for the next clock minute if it is later than this in the current one.
async fn wait_for_early_in_minute(latest_ms: u64) {
    let elapsed_ms = u64::try_from(Clock::system().now_ms()).unwrap_or_default() % 60_000;
    if elapsed_ms > latest_ms {
        tokio::time::sleep(Duration::from_millis(60_000 - elapsed_ms)).await;
    }
}

/// Sends requests at once, distributed over the servers, and returns how many were admitted.
async fn send_at_once(servers: &[String], key: &str, requests: usize) -> Result<usize> {
    let client = ApiClient::new(key)?;
    let urls: Vec<String> =
        servers.iter().map(|server| format!("{server}/api/v1/students?limit=1")).collect();
    let exchanges = join_all((0..requests).map(|number| client.get(&urls[number % urls.len()]))).await;
    let mut admitted = 0;
    for exchange in exchanges {
        match exchange.outcome {
            Outcome::Success(_) => admitted += 1,
            Outcome::Limited => {}
            other => bail!("expected 200 or 429, found {other:?}"),
        }
    }
    Ok(admitted)
}

/// Threads that use all processors until this value is dropped.
struct BusyProcessors {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BusyProcessors {
    fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let processors = std::thread::available_parallelism().map_or(2, |number| number.get());
        let spin = || {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..2 * processors).map(|_| spin()).collect();
        Self { stop, threads }
    }
}

impl Drop for BusyProcessors {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
