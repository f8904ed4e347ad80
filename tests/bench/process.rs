//! The measured processes: started, observed through `/proc`, and ended by their id.
//!
//! Every child is killed when its handle is dropped, so that none is left behind.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The text that a server prints before its URL once it is ready.
const READY: &str = "listening on http://";

/// The time limit for the start of a server.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The time limit for the end of a process, which waits up to 30 seconds for webhooks in flight.
const STOP_TIMEOUT: Duration = Duration::from_secs(40);

/// `/proc/<pid>/stat` counts processor time in hundredths of a second on every Linux.
const CPU_TICK: Duration = Duration::from_millis(10);

/// A running server.
pub struct BenchServer {
    child: Child,
    /// The address on which it listens.
    pub address: SocketAddr,
    /// Its process id.
    pub id: u32,
    /// When it was started.
    pub started_at: Instant,
}

impl BenchServer {
    /// Starts a server and waits until it prints its URL. Its log is written to a file.
    ///
    /// # Errors
    /// Returns an error when it takes too long or exits. If it exits, the error contains the end of its log.
    pub async fn start(mut command: Command, log: &Path) -> Result<Self> {
        let file = std::fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(file).kill_on_drop(true);
        // In a separate process group, so that an interrupt from the terminal reaches it only through this program.
        command.process_group(0);
        let started_at = Instant::now();
        let mut child = command.spawn().context("cannot start a server")?;
        let id = child.id().context("the server exited immediately")?;
        let stdout = child.stdout.take().context("the server has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let address = async {
            while let Some(line) = lines.next_line().await? {
                if let Some((_, address)) = line.split_once(READY) {
                    return Ok(address.trim().trim_end_matches('/').parse()?);
                }
            }
            bail!("the server exited before it was ready: {}", tail(log))
        };
        let address = tokio::time::timeout(START_TIMEOUT, address)
            .await
            .context("the server did not start in time")??;
        // Read the remaining output, so that the pipe does not fill up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { child, address, id, started_at })
    }

    /// Stops the server with SIGTERM and waits for its end.
    ///
    /// # Errors
    /// Returns an error when it has already ended, or does not stop in time; it is then killed.
    pub async fn stop(self) -> Result<()> {
        terminate(self.child, self.id).await
    }
}

/// Stops a process with SIGTERM and waits for its end.
async fn terminate(mut child: Child, id: u32) -> Result<()> {
    let signal_sent = Command::new("kill").arg(id.to_string()).status().await.context("cannot run `kill`")?;
    if !signal_sent.success() {
        bail!("the process ended before it was stopped");
    }
    if tokio::time::timeout(STOP_TIMEOUT, child.wait()).await.is_err() {
        child.kill().await?;
        bail!("the process did not end within {} s", STOP_TIMEOUT.as_secs());
    }
    Ok(())
}

/// A background process. It is killed when this handle is dropped.
pub struct BackgroundProcess {
    child: Child,
    /// Its process id.
    pub id: u32,
}

impl BackgroundProcess {
    /// Starts the process. Its log is written to a file.
    ///
    /// # Errors
    /// Returns an error when it cannot be started.
    pub fn start(mut command: Command, log: &Path) -> Result<Self> {
        let file = std::fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).kill_on_drop(true);
        command.process_group(0);
        let child = command.spawn().context("cannot start a program")?;
        let id = child.id().context("the program exited immediately")?;
        Ok(Self { child, id })
    }

    /// Stops the process with SIGTERM and waits for its end.
    ///
    /// # Errors
    /// Returns an error when it has already ended, or does not stop in time; it is then killed.
    pub async fn stop(self) -> Result<()> {
        terminate(self.child, self.id).await
    }
}

/// Runs a command with its log in a file and returns its standard output.
///
/// # Errors
/// Returns an error with the end of its log when it fails.
pub async fn output_with_log(mut command: Command, log: &Path) -> Result<String> {
    let file = std::fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    command.stdin(Stdio::null()).stderr(file).kill_on_drop(true).process_group(0);
    let output = command.output().await.context("cannot start a program")?;
    if !output.status.success() {
        bail!("a program failed with {}: {}", output.status, tail(log));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// Returns an error with its standard error when it fails.
pub async fn output(mut command: Command) -> Result<String> {
    command.stdin(Stdio::null()).kill_on_drop(true);
    let command_line = format!("{:?}", command.as_std());
    let output = command.output().await.with_context(|| format!("cannot start {command_line}"))?;
    if !output.status.success() {
        bail!(
            "{command_line} failed with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the processor time that a process has used so far; `None` without `/proc`.
pub fn cpu_time(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name is in parentheses and may contain anything. User and system time are the 12th and 13th field after it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u32>().ok()? + fields.next()?.parse::<u32>().ok()?;
    Some(CPU_TICK * ticks)
}

/// The memory of a process in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// Resident set size (RSS): a page counts once for each mapping, even if it is shared.
    pub resident: u64,
    /// Proportional set size (PSS): a page shared with other processes counts by its share.
    pub proportional: u64,
}

/// Returns the current memory of a process.
///
/// # Errors
/// Returns an error when the process has ended.
pub fn memory(process: u32) -> Result<Memory> {
    let path = format!("/proc/{process}/smaps_rollup");
    let rollup = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let kib = |name: &str| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok())
    };
    let (resident, proportional) =
        kib("Rss:").zip(kib("Pss:")).with_context(|| format!("{path} has no memory figures"))?;
    Ok(Memory { resident: resident << 10, proportional: proportional << 10 })
}

/// Measures the peak memory of a process by sampling it many times per second.
#[derive(Debug)]
pub struct MemoryPeak {
    sampler: JoinHandle<Result<Memory>>,
    stop: oneshot::Sender<()>,
}

impl MemoryPeak {
    /// The time between two samples.
    const SAMPLE_INTERVAL: Duration = Duration::from_millis(50);

    /// Starts to sample.
    pub fn start(process: u32) -> Self {
        let (stop, mut stop_requested) = oneshot::channel();
        let sampler = tokio::spawn(async move {
            let mut peak = Memory::default();
            loop {
                let now = memory(process)?;
                peak.resident = peak.resident.max(now.resident);
                peak.proportional = peak.proportional.max(now.proportional);
                if tokio::time::timeout(Self::SAMPLE_INTERVAL, &mut stop_requested).await.is_ok() {
                    return Ok(peak);
                }
            }
        });
        Self { sampler, stop }
    }

    /// Stops sampling and returns the peak.
    ///
    /// # Errors
    /// Returns an error when the process has ended.
    pub async fn finish(self) -> Result<Memory> {
        let _ = self.stop.send(());
        self.sampler.await?
    }
}

/// Returns the last lines of a log.
fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}
