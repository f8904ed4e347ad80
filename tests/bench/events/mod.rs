//! Events on their way: committed as the domain commits them, sent by the worker, taken by a fixed receiver.
//!
//! [`Args`] is a process of its own: the worker as `serve` runs it, changes committed beside it, and the receiver on a
//! thread. All look at one clock. An event is appended to the outbox by the domain's own `outbox::append`, without the
//! row that it tells of, so that it is the worker that is measured.

mod flow;
mod host;
mod receiver;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use foundation::telemetry;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, watch};
use webhooks::{Worker, upkeep};

use crate::process;
use crate::site::Site;

pub use flow::Pace;
pub use host::Host;
pub use receiver::{MARK, Receiver, hung};

/// Events of one transaction where as many are committed as arrive: it is then the worker that is measured, and not how
/// often the disk takes a commit. `apply` does likewise.
const TOGETHER: &str = "16";

/// What is committed, to whom it goes, and for how long.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The site's folder
    #[arg(long)]
    folder: PathBuf,
    /// The site's database
    #[arg(long)]
    url: String,
    /// The workspace whose events these are
    #[arg(long)]
    workspace: String,
    /// Subscriptions that hear each event
    #[arg(long)]
    subscriptions: u32,
    /// Further subscriptions whose endpoints never answer
    #[arg(long, default_value_t = 0)]
    hung: u32,
    /// Events a second; as many as arrive when it is not given
    #[arg(long)]
    rate: Option<u32>,
    /// Events that are committed and not yet received everywhere, at most
    #[arg(long, default_value_t = 512)]
    under_way: u32,
    /// Events of one transaction
    #[arg(long, default_value_t = 1)]
    together: u32,
    /// Length of the measured window in seconds
    #[arg(long)]
    seconds: f64,
}

/// What was seen in the window.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figures {
    /// Webhooks that came.
    pub received: u64,
    /// In a second.
    pub per_second: f64,
    /// From the commit to the receipt, in milliseconds: the middle, 95 and 99 of a hundred.
    pub ms: [f64; 3],
    /// Events committed in all whose webhooks did not come, counted once for each.
    pub missing: u64,
    /// Webhooks that came more than once.
    pub doubles: u64,
}

impl Figures {
    /// The latencies in a few words.
    pub fn latencies(&self) -> String {
        let [p50, p95, p99] = self.ms;
        let mut text = format!("p50/p95/p99 {p50:.2}/{p95:.2}/{p99:.2} ms");
        if self.missing + self.doubles > 0 {
            text.push_str(&format!("; {} missing, {} doubles", self.missing, self.doubles));
        }
        text
    }
}

/// Runs worker, changes and receiver, and prints the [`Figures`] as JSON.
///
/// # Errors
/// Something could not be started, or the database failed.
pub async fn run(args: &Args) -> Result<()> {
    let host = Arc::new(Host::open(&args.folder, &args.url, &args.workspace).await?);
    let _log = telemetry::start(&host.app.config.log);
    telemetry::metrics::install();
    let room = args.rate.is_none().then(|| Arc::new(Semaphore::new(0)));
    let receiver = Receiver::start(room.clone())?;
    for _ in 0..args.subscriptions {
        host.subscribe(receiver.url()).await?;
    }
    for _ in 0..args.hung {
        host.subscribe(receiver::hung()?).await?;
    }
    let (stop, stopped) = watch::channel(false);
    let asked = || {
        let mut stopped = stopped.clone();
        async move { drop(stopped.wait_for(|stopped| *stopped).await) }
    };
    let worker = Worker::new(host.app.clone(), Arc::clone(&host.seal))?;
    let worker = tokio::spawn(worker.run(asked(), Duration::from_secs(1)));
    let upkeep = tokio::spawn(upkeep::run(host.app.clone(), asked()));
    let pace = match (args.rate, room) {
        (None, Some(room)) => {
            room.add_permits((args.under_way * args.subscriptions) as usize);
            Pace::AsTheyArrive { room, together: args.together }
        }
        (rate, _) => Pace::Steady { rate: rate.unwrap_or(1) },
    };
    let window = Duration::from_secs_f64(args.seconds);
    let figures = flow::measure(&host, &receiver, pace, args.subscriptions, window).await?;
    println!("{}", serde_json::to_string(&figures)?);
    stop.send_replace(true);
    worker.await?;
    upkeep.await?;
    host.app.db.close().await;
    Ok(())
}

/// What one run of this process is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub subscriptions: u32,
    pub hung: u32,
    /// Events a second; as many as arrive without it.
    pub rate: Option<u32>,
    pub window: Duration,
}

impl Run {
    /// Runs it in a new workspace of this site.
    ///
    /// # Errors
    /// It failed; the end of its log is part of the sentence.
    pub async fn on(self, site: &Site, workspace: &str) -> Result<Figures> {
        site.empty(workspace).await?;
        let mut command = tokio::process::Command::new(std::env::current_exe()?);
        command.arg("events").arg("--folder").arg(site.folder()).args(["--url", site.url()]);
        command.args(["--workspace", workspace, "--seconds", &self.window.as_secs_f64().to_string()]);
        command.args(["--subscriptions", &self.subscriptions.to_string(), "--hung", &self.hung.to_string()]);
        match self.rate {
            Some(rate) => command.args(["--rate", &rate.to_string()]),
            None => command.args(["--together", TOGETHER]),
        };
        let output = process::output_beside(command, &log(site.folder())).await?;
        serde_json::from_str(output.trim()).context("the figures cannot be read")
    }
}

fn log(folder: &Path) -> PathBuf {
    folder.join("events.log")
}
