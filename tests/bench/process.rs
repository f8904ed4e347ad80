//! The processes under measurement: started, watched through `/proc`, and ended by their id.
//!
//! Every child is killed when its handle is dropped, so that no way out leaves one behind.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// What a server prints before its address once it is ready.
const READY: &str = "listening on http://";

/// How long a server may take to be ready.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a server may take to stop when asked to.
const FAREWELL: Duration = Duration::from_secs(15);

/// `/proc/<pid>/stat` counts processor time in hundredths of a second on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// A running server.
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
    /// Its process id.
    pub id: u32,
    /// When it was started.
    pub started: Instant,
}

impl Server {
    /// Starts a server and waits until it says where it listens. Its log goes into a file, as a log would.
    ///
    /// # Errors
    /// It ended or was too slow; the end of its log is part of the sentence.
    pub async fn start(mut command: Command, log: &Path) -> Result<Self> {
        let file = std::fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(file).kill_on_drop(true);
        // In a group of its own: an interrupt from the terminal reaches it through this program.
        command.process_group(0);
        let started = Instant::now();
        let mut child = command.spawn().context("cannot start a server")?;
        let id = child.id().context("the server ended at once")?;
        let stdout = child.stdout.take().context("the server has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let address = async {
            while let Some(line) = lines.next_line().await? {
                if let Some((_, address)) = line.split_once(READY) {
                    return Ok(address.trim().trim_end_matches('/').parse()?);
                }
            }
            bail!("the server ended before it listened: {}", tail(log))
        };
        let address =
            tokio::time::timeout(PATIENCE, address).await.context("the server is not ready in time")??;
        // Whatever it goes on to print must not fill the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { child, address, id, started })
    }

    /// Asks the server to stop, as an operator would, and waits.
    ///
    /// # Errors
    /// It did not stop in time; it is then killed.
    pub async fn stop(self) -> Result<()> {
        farewell(self.child, self.id).await
    }
}

/// Asks a process to stop, and waits for its end.
async fn farewell(mut child: Child, id: u32) -> Result<()> {
    let asked = Command::new("kill").arg(id.to_string()).status().await.context("cannot run `kill`")?;
    if !asked.success() {
        bail!("the server was gone before it was asked to stop");
    }
    if tokio::time::timeout(FAREWELL, child.wait()).await.is_err() {
        child.kill().await?;
        bail!("the server did not stop within {} s", FAREWELL.as_secs());
    }
    Ok(())
}

/// A program that runs beside; it is killed when this is dropped.
pub struct Running {
    child: Child,
    /// Its process id.
    pub id: u32,
}

impl Running {
    /// Starts it. Its log goes into a file, as a log would.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(mut command: Command, log: &Path) -> Result<Self> {
        let file = std::fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).kill_on_drop(true);
        command.process_group(0);
        let child = command.spawn().context("cannot start a program")?;
        let id = child.id().context("the program ended at once")?;
        Ok(Self { child, id })
    }

    /// Asks it to stop, as an operator would, and waits.
    ///
    /// # Errors
    /// It did not stop in time; it is then killed.
    pub async fn stop(self) -> Result<()> {
        farewell(self.child, self.id).await
    }
}

/// Runs a command to its end, with its log in a file; gives what it wrote to stdout.
///
/// # Errors
/// It failed; the end of its log is part of the sentence.
pub async fn output_beside(mut command: Command, log: &Path) -> Result<String> {
    let file = std::fs::File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    command.stdin(Stdio::null()).stderr(file).kill_on_drop(true).process_group(0);
    let output = command.output().await.context("cannot start a program")?;
    if !output.status.success() {
        bail!("a program ended with {}: {}", output.status, tail(log));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs a command to its end; gives what it wrote to stdout.
///
/// # Errors
/// It failed; its last words are part of the sentence.
pub async fn output(mut command: Command) -> Result<String> {
    command.stdin(Stdio::null()).kill_on_drop(true);
    let shown = format!("{:?}", command.as_std());
    let output = command.output().await.with_context(|| format!("cannot start {shown}"))?;
    if !output.status.success() {
        bail!("{shown} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Processor time that a process has used so far; `None` where there is no `/proc`.
pub fn cpu_time(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name stands in brackets and may hold anything; user and system time are the 12th and 13th field behind it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u32>().ok()? + fields.next()?.parse::<u32>().ok()?;
    Some(TICK * ticks)
}

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory {
    /// Pages in memory, each as often as it is mapped.
    pub resident: u64,
    /// Pages in memory, each once, and those that others map too by their share.
    pub proportional: u64,
}

/// The memory of a process now.
///
/// # Errors
/// The process is gone.
pub fn memory(process: u32) -> Result<Memory> {
    let path = format!("/proc/{process}/smaps_rollup");
    let rollup = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let kib = |name: &str| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok())
    };
    let (resident, proportional) =
        kib("Rss:").zip(kib("Pss:")).with_context(|| format!("{path} tells no memory"))?;
    Ok(Memory { resident: resident << 10, proportional: proportional << 10 })
}

/// The highest memory that a process reaches, looked at many times a second.
#[derive(Debug)]
pub struct Height {
    watched: JoinHandle<Result<Memory>>,
    enough: oneshot::Sender<()>,
}

impl Height {
    /// How long it is between two looks.
    const PAUSE: Duration = Duration::from_millis(50);

    /// Begins to look.
    pub fn watch(process: u32) -> Self {
        let (enough, mut asked) = oneshot::channel();
        let watched = tokio::spawn(async move {
            let mut height = Memory::default();
            loop {
                let now = memory(process)?;
                height.resident = height.resident.max(now.resident);
                height.proportional = height.proportional.max(now.proportional);
                if tokio::time::timeout(Self::PAUSE, &mut asked).await.is_ok() {
                    return Ok(height);
                }
            }
        });
        Self { watched, enough }
    }

    /// The highest that was seen.
    ///
    /// # Errors
    /// The process is gone.
    pub async fn reached(self) -> Result<Memory> {
        let _ = self.enough.send(());
        self.watched.await?
    }
}

/// The last lines of a log.
fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}
