//! The limits of an API key are exact over all servers, with each limit store. While a store fails, requests are served.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use foundation::clock::Clock;
use futures_util::future::join_all;
use sea_orm::{ConnectionTrait as _, TransactionTrait as _};

use crate::client::{ApiClient, Outcome};
use crate::commands::accepts_flag;
use crate::engines::redis::Redis;
use crate::fleet::{Fleet, FleetOptions, UNLIMITED};
use crate::load::{Load, LoadOptions};
use crate::report::{Figure, Report, count};
use crate::run::Context;
use crate::scenarios::slow_limit_store;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "rate-limit";

/// How often the limit per minute is tested, each time with a new key.
const REPETITIONS: usize = 20;

/// The flag of the server that chooses the store.
const STORE_FLAG: &str = "--limit-store";

/// Long enough for a machine that runs the whole fleet. With the default, servers that wait for a processor admit their shares.
const STORE_TIMEOUT_MS: &str = "1000";

/// Requests are not started later than this in a clock minute, in which the limit counts.
const LATEST_MS: u64 = 50_000;

/// How long a store fails.
const OUTAGE: Duration = Duration::from_secs(3);

/// The time after which the limits are exact again.
const RECOVERY: Duration = Duration::from_secs(2);

/// A place where requests are counted.
enum LimitStore {
    /// The memory of each server. The only store of servers without the flag.
    Memory,
    Database,
    Redis(Box<Redis>),
}

impl LimitStore {
    fn name(&self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Database => "database",
            Self::Redis(_) => "redis",
        }
    }

    fn server_flags(&self) -> Vec<String> {
        let flag = |value| {
            vec![
                STORE_FLAG.to_owned(),
                value,
                "--limit-store-timeout-ms".to_owned(),
                STORE_TIMEOUT_MS.to_owned(),
            ]
        };
        match self {
            Self::Memory => Vec::new(),
            Self::Database => flag("database".to_owned()),
            Self::Redis(redis) => flag(redis.url()),
        }
    }

    /// Makes the store fail for some time.
    async fn fail(&mut self, fleet: &Fleet) -> Result<()> {
        match self {
            Self::Memory => {}
            Self::Database => {
                let connection = fleet.database.primary.connect().await?;
                let transaction = connection.begin().await?;
                transaction.execute_unprepared("LOCK TABLE rate_windows IN ACCESS EXCLUSIVE MODE").await?;
                tokio::time::sleep(OUTAGE).await;
                transaction.rollback().await?;
            }
            Self::Redis(redis) => {
                redis.kill();
                tokio::time::sleep(OUTAGE).await;
                redis.start().await?;
            }
        }
        Ok(())
    }
}

/// Sends more requests at once than the limit allows and counts those admitted. Then makes the store fail under load.
///
/// # Errors
/// Returns an error when a part of the fleet does not start.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let redis = Redis::start_new(context).await?;
    let stores = match accepts_flag(&context.programs.server, "serve", STORE_FLAG).await? {
        true => vec![LimitStore::Database, LimitStore::Redis(Box::new(redis))],
        false => vec![LimitStore::Memory],
    };
    for mut store in stores {
        let options = FleetOptions {
            workers: 0,
            standby: false,
            server_flags: store.server_flags(),
            ..FleetOptions::default()
        };
        let fleet = Fleet::start(context, options).await?;
        count_admitted(report, &fleet, store.name()).await?;
        if !matches!(store, LimitStore::Memory) {
            fail_under_load(report, &fleet, &mut store).await?;
        }
        // The next fleet uses the same folders.
        drop(fleet);
        for folder in ["primary", "data"] {
            std::fs::remove_dir_all(context.folder.join(folder))?;
        }
    }
    if accepts_flag(&context.programs.server, "serve", STORE_FLAG).await? {
        slow_limit_store::run(context, report).await?;
    }
    Ok(())
}

/// Exceeds the limit per minute twenty times and the limit per day once.
async fn count_admitted(report: &mut Report, fleet: &Fleet, store: &str) -> Result<()> {
    let mut admitted = Vec::new();
    for _ in 0..REPETITIONS {
        admitted.push(admitted_per_minute(fleet).await?);
    }
    let detail = format!("{REPETITIONS} times 200 at once: {admitted:?}");
    for (name, value) in [("least", admitted.iter().min()), ("most", admitted.iter().max())] {
        let name = format!("admitted of 60 per minute, {name} ({store})");
        let figure = Figure::exactly(name, count(*value.unwrap_or(&0)), "requests", 60.0);
        report.add(figure.before("180").detail(detail.clone()));
    }
    let key = fleet.database.commands.create_key(UNLIMITED, 100).await?;
    let admitted = count(send_at_once(fleet, &key, 400).await?);
    let figure = Figure::exactly(format!("admitted of 100 per day ({store})"), admitted, "requests", 100.0);
    report.add(figure.detail("400 at once"));
    Ok(())
}

/// Makes the store fail while requests are sent, and exceeds a limit afterwards.
async fn fail_under_load(report: &mut Report, fleet: &Fleet, store: &mut LimitStore) -> Result<()> {
    let targets = fleet.server_urls();
    let load = Load::start(
        &fleet.database.key,
        LoadOptions { targets, clients: 24, rate: Some(100), reads_per_write: 3 },
    )?;
    let start = Instant::now();
    store.fail(fleet).await?;
    tokio::time::sleep(RECOVERY).await;
    let record = load.stop().await;
    let failed = record.responses.iter().filter(|response| response.is_failure()).count();
    let name = format!("failed requests while the store fails ({})", store.name());
    let detail = format!("longest response {:.2} s; {}", record.longest_since(start), record.summary());
    report.add(Figure::exactly(name, count(failed), "requests", 0.0).detail(detail));
    let admitted = count(admitted_per_minute(fleet).await?);
    let name = format!("admitted of 60 per minute after {} s ({})", RECOVERY.as_secs(), store.name());
    report.add(Figure::exactly(name, admitted, "requests", 60.0));
    Ok(())
}

/// Sends 200 requests at once with a new key of 60 per minute, and returns how many were admitted.
async fn admitted_per_minute(fleet: &Fleet) -> Result<usize> {
    let key = fleet.database.commands.create_key(60, UNLIMITED).await?;
    let elapsed_ms = u64::try_from(Clock::system().now_ms()).unwrap_or_default() % 60_000;
    if elapsed_ms > LATEST_MS {
        tokio::time::sleep(Duration::from_millis(60_000 - elapsed_ms)).await;
    }
    send_at_once(fleet, &key, 200).await
}

/// Sends requests at once through the load balancer and returns how many were admitted.
async fn send_at_once(fleet: &Fleet, key: &str, requests: usize) -> Result<usize> {
    let (client, url) = (ApiClient::new(key)?, format!("{}/api/v1/students?limit=1", fleet.balancer.url()));
    let exchanges = join_all((0..requests).map(|_| client.get(&url))).await;
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
