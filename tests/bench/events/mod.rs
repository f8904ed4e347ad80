//! Measures event delivery: commits events as the domain does, lets the worker send them, and receives the webhooks.
//!
//! [`run`] is the command `events` of the benchmark, a separate process. It runs the worker as `serve` does, commits
//! events, and runs the receiver on a thread, so all times come from one clock. Events are appended with the domain's
//! `outbox::append`, but without the student that they describe, so that the worker is measured instead of other
//! writes.

mod flow;
mod receiver;
mod source;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use foundation::telemetry;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, watch};
use webhooks::{Worker, maintenance};

use crate::process;
use crate::site::BenchSite;

pub use flow::CommitPace;
pub use receiver::{BenchReceiver, EVENT_MARKER, start_hung_endpoint};
pub use source::EventSource;

/// Events per transaction when events are committed as fast as webhooks arrive. Otherwise the disk's commit rate would
/// be measured instead of the worker. The command `apply` also commits in batches.
const EVENTS_PER_TRANSACTION: &str = "16";

/// The arguments of the command `events`. A site is the folder and the database of one server.
#[derive(Debug, clap::Args)]
pub struct EventsArgs {
    /// Folder of the site
    #[arg(long)]
    folder: PathBuf,
    /// Database URL of the site
    #[arg(long)]
    url: String,
    /// Workspace of the events
    #[arg(long)]
    workspace: String,
    /// Subscriptions that receive each event
    #[arg(long)]
    subscriptions: u32,
    /// Additional subscriptions whose endpoints never respond
    #[arg(long, default_value_t = 0)]
    hung: u32,
    /// Give each of the subscriptions a filter that all events meet
    #[arg(long)]
    filtered: bool,
    /// Events per second [default: as fast as webhooks arrive]
    #[arg(long)]
    rate: Option<u32>,
    /// Maximum number of events that are committed but not yet received by all subscriptions; ignored with --rate
    #[arg(long, default_value_t = 512)]
    max_in_flight: u32,
    /// Events per transaction
    #[arg(long, default_value_t = 1)]
    events_per_transaction: u32,
    /// Length of the measured window in seconds
    #[arg(long)]
    seconds: f64,
}

/// The figures of one window. The numbers of missing webhooks and duplicates include the warm-up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventFigures {
    /// The number of webhooks received in the window.
    pub received: u64,
    /// The number of webhooks received per second.
    pub per_second: f64,
    /// The 50th, 95th and 99th percentile of the time from commit to receipt in milliseconds.
    pub latency_percentiles_ms: [f64; 3],
    /// The number of webhooks of committed events that did not arrive.
    pub missing: u64,
    /// The number of webhooks that arrived again.
    pub duplicates: u64,
}

impl EventFigures {
    /// Formats the latencies, and the numbers of missing webhooks and duplicates if there are any.
    pub fn latencies(&self) -> String {
        let [p50, p95, p99] = self.latency_percentiles_ms;
        let mut text = format!("p50/p95/p99 {p50:.2}/{p95:.2}/{p99:.2} ms");
        if self.missing + self.duplicates > 0 {
            text.push_str(&format!("; {} missing, {} duplicates", self.missing, self.duplicates));
        }
        text
    }
}

/// Runs the worker, the committers and the receiver, and prints the [`EventFigures`] as JSON.
///
/// # Errors
/// Returns an error when a part cannot be started, the database fails, or no webhook arrives in the window.
pub async fn run(args: &EventsArgs) -> Result<()> {
    let source = Arc::new(EventSource::open(&args.folder, &args.url, &args.workspace).await?);
    let _log = telemetry::start(&source.app.config.log);
    telemetry::metrics::install(telemetry::metrics::ProcessKind::Server);
    let permits = args.rate.is_none().then(|| Arc::new(Semaphore::new(0)));
    let receiver = BenchReceiver::start(permits.clone())?;
    for _ in 0..args.subscriptions {
        let subscription = source.subscribe(receiver.url()).await?;
        if args.filtered {
            source.set_filter(subscription).await?;
        }
    }
    for _ in 0..args.hung {
        source.subscribe(receiver::start_hung_endpoint()?).await?;
    }
    let (stop, stopped) = watch::channel(false);
    let stopping = || {
        let mut stopped = stopped.clone();
        async move { drop(stopped.wait_for(|stopped| *stopped).await) }
    };
    let worker = Worker::new(source.app.clone(), Arc::clone(&source.seal))?;
    let worker = tokio::spawn(worker.run(stopping(), Duration::from_secs(1)));
    let maintenance = tokio::spawn(maintenance::run(source.app.clone(), stopping()));
    let pace = match (args.rate, permits) {
        (None, Some(permits)) => {
            permits.add_permits((args.max_in_flight * args.subscriptions) as usize);
            CommitPace::AsReceived { permits, events_per_transaction: args.events_per_transaction }
        }
        (rate, _) => CommitPace::Steady { rate: rate.unwrap_or(1) },
    };
    let window = Duration::from_secs_f64(args.seconds);
    let figures = flow::measure(&source, &receiver, pace, args.subscriptions, window).await?;
    println!("{}", serde_json::to_string(&figures)?);
    stop.send_replace(true);
    worker.await?;
    maintenance.await?;
    source.app.db.close().await;
    Ok(())
}

/// One run of the command `events`.
#[derive(Debug, Clone, Copy)]
pub struct EventsRun {
    /// The number of subscriptions that receive each event.
    pub subscriptions: u32,
    /// The number of additional subscriptions whose endpoints never respond.
    pub hung: u32,
    /// Whether each subscription has a filter that all events meet.
    pub filtered: bool,
    /// Events per second; `None` commits as fast as webhooks arrive.
    pub rate: Option<u32>,
    /// The length of the measured window.
    pub window: Duration,
}

impl EventsRun {
    /// Runs the command in a new workspace of this site.
    ///
    /// # Errors
    /// Returns an error with the end of its log when it fails.
    pub async fn run_on(self, site: &BenchSite, workspace: &str) -> Result<EventFigures> {
        site.create_workspace(workspace).await?;
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        command.arg("events").arg("--folder").arg(site.folder()).args(["--url", site.url()]);
        command.args(["--workspace", workspace, "--seconds", &self.window.as_secs_f64().to_string()]);
        command.args(["--subscriptions", &self.subscriptions.to_string(), "--hung", &self.hung.to_string()]);
        if self.filtered {
            command.arg("--filtered");
        }
        match self.rate {
            Some(rate) => command.args(["--rate", &rate.to_string()]),
            None => command.args(["--events-per-transaction", EVENTS_PER_TRANSACTION]),
        };
        let output = process::output_with_log(command, &log_file(site.folder())).await?;
        serde_json::from_str(output.trim()).context("cannot parse the figures")
    }
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("events.log")
}
