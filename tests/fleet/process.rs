//! Processes that end with this program.
//!
//! A shell starts each process and waits on a pipe that this program keeps open. When this program exits for any reason, the
//! pipe closes, and the shell ends the process by its id.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// Starts the process, prints its id, waits until the pipe closes, and ends the process with `$END_SIGNAL`. A suspended process
/// is continued first, since it would not end. Finally removes the folder `$REMOVE`, if set.
const SUPERVISOR: &str = r#"
"$@" >>"$LOG" 2>&1 </dev/null &
child=$!
echo "$child"
read -r _
read -r children 2>/dev/null <"/proc/$child/task/$child/children"
kill -s CONT $children "$child" 2>/dev/null
kill -s "$END_SIGNAL" "$child" 2>/dev/null
wait "$child"
tries=0
while [ -n "$REMOVE" ] && ! rm -rf "$REMOVE" && [ "$tries" -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
"#;

/// The time limit for the end of a process.
const END_TIMEOUT: Duration = Duration::from_secs(20);

/// What a process runs.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub environment: BTreeMap<String, OsString>,
    /// The working directory.
    pub folder: PathBuf,
    /// The file to which its output is appended.
    pub log: PathBuf,
    /// The user and group ids, if they differ from those of this process.
    pub user: Option<(u32, u32)>,
    /// The signal that ends it at the end of the scenario.
    pub end_signal: &'static str,
    /// A folder that is removed after the end.
    pub removed_folder: Option<PathBuf>,
}

impl ProcessSpec {
    /// Returns a process that runs `program` in `folder` without arguments and with an empty environment.
    pub fn new(program: &Path, folder: &Path, log: PathBuf) -> Self {
        Self {
            program: program.to_owned(),
            args: Vec::new(),
            environment: BTreeMap::new(),
            folder: folder.to_owned(),
            log,
            user: None,
            end_signal: "KILL",
            removed_folder: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Makes the clock of the process differ by this offset, such as `+5s`. `library` is that of faketime.
    #[must_use]
    pub fn clock_offset(self, library: &Path, offset: &str) -> Self {
        let spec = self.variable("LD_PRELOAD", library).variable("FAKETIME", offset);
        spec.variable("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }
}

/// A running process. It is ended on drop.
pub struct RunningProcess {
    supervisor: Child,
    pid: Pid,
    log: PathBuf,
}

impl RunningProcess {
    /// Starts the process.
    ///
    /// # Errors
    /// Returns an error when the shell cannot be started.
    pub fn start(spec: &ProcessSpec) -> Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SUPERVISOR, "sh"]).arg(&spec.program).args(&spec.args);
        command.current_dir(&spec.folder).env_clear().envs(&spec.environment);
        command.env("LOG", &spec.log).env("END_SIGNAL", spec.end_signal);
        if let Some(folder) = &spec.removed_folder {
            command.env("REMOVE", folder);
        }
        // In a separate process group, so that Ctrl+C in the terminal reaches it only through this program.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        if let Some((user, group)) = spec.user {
            command.uid(user).gid(group);
        }
        let mut supervisor = command.spawn().context("cannot start `sh`")?;
        let output = supervisor.stdout.take().context("the shell has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let pid =
            line.trim().parse().ok().and_then(Pid::from_raw).context("the shell printed no process id")?;
        Ok(Self { supervisor, pid, log: spec.log.clone() })
    }

    /// Returns the id of the process.
    pub fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Returns whether the process has ended.
    pub fn has_ended(&self) -> bool {
        has_ended(self.pid)
    }

    /// Returns an error with the end of its log if the process has ended.
    ///
    /// # Errors
    /// Returns an error when the process has ended.
    pub fn check(&self) -> Result<()> {
        if self.has_ended() {
            bail!("the process ended; its log {} ends with: {}", self.log.display(), tail(&self.log));
        }
        Ok(())
    }

    /// Sends a signal to the process.
    ///
    /// # Errors
    /// Returns an error when the process does not exist.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.pid, signal)
            .with_context(|| format!("cannot send {signal:?} to process {:?}", self.pid))
    }

    /// Sends a signal to the process and to its child processes. Those that have just ended are ignored.
    ///
    /// # Errors
    /// Returns an error when the process does not exist.
    pub fn signal_with_children(&self, signal: Signal) -> Result<()> {
        self.signal(signal)?;
        for child in children(self.pid) {
            let _ = kill_process(child, signal);
        }
        Ok(())
    }

    /// Kills the process and its child processes, and waits until all have ended.
    ///
    /// # Errors
    /// Returns an error when the process does not exist, or when one does not end within 20 seconds.
    pub async fn kill_with_children(&self) -> Result<()> {
        let children = children(self.pid);
        self.signal_with_children(Signal::KILL)?;
        self.wait_for_end().await?;
        let start = Instant::now();
        while children.iter().any(|child| !has_ended(*child)) && start.elapsed() < END_TIMEOUT {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// Waits until the process has ended.
    ///
    /// # Errors
    /// Returns an error when it does not end within 20 seconds.
    pub async fn wait_for_end(&self) -> Result<()> {
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() > END_TIMEOUT {
                bail!("the process with the log {} did not end in time", self.log.display());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// Returns whether a child process of a supervisor has ended. Until the supervisor ends, it remains as a zombie.
fn has_ended(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let state = stat.ok().and_then(|stat| stat.rsplit_once(')')?.1.trim_start().chars().next());
    state.is_none_or(|state| state == 'Z' || state == 'X')
}

fn children(pid: Pid) -> Vec<Pid> {
    let pid = pid.as_raw_nonzero();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?)).collect()
}

/// Returns the last lines of a log.
pub fn tail(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}
