//! `cargo xtask clients`: clients that other people's generators make of what a running server serves.
//!
//! Each is generated, compiled where its language compiles, and performs all seven operations. Owns the command; [`list`]
//! knows the clients, [`lint`] the linters, [`kit`] where their programs are. Never part of `cargo xtask test`: it needs
//! programs that a machine may not have.

mod kit;
mod lint;
mod list;
mod server;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use self::kit::{Kit, Tool};
use crate::Outcome;

/// Generates clients from the served contract and lets each perform all operations.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run these alone (see --list).
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Lint the contract instead, with redocly, spectral and openapi-spec-validator.
    #[arg(long)]
    lint: bool,
    /// Get missing programs first, from npm and PyPI, into target/clients.
    #[arg(long)]
    install: bool,
    /// Fail when a program is missing instead of saying so.
    #[arg(long)]
    require: bool,
    /// List the clients and linters, with the programs that they need, and stop.
    #[arg(long)]
    list: bool,
}

/// A client or a linter.
pub struct Job {
    /// Its name.
    name: &'static str,
    /// What it is.
    about: &'static str,
    /// The programs that it needs.
    needs: &'static [Tool],
    /// Runs it.
    run: fn(&Ground) -> anyhow::Result<()>,
}

/// What the jobs stand on.
pub struct Ground {
    /// The programs.
    kit: Kit,
    /// The root of the workspace.
    workspace: std::path::PathBuf,
    /// The address of the running server, without a slash at its end; empty for linters.
    base_url: String,
    /// A key with every scope.
    key: String,
}

/// Runs the clients, or the linters.
///
/// # Errors
/// When the server cannot be built or started, or a name is unknown.
pub fn run(args: &Args, workspace: &Path) -> anyhow::Result<Outcome> {
    let jobs = if args.lint { lint::JOBS } else { list::JOBS };
    let kit = Kit::new(workspace);
    if args.list {
        for job in list::JOBS.iter().chain(lint::JOBS) {
            let needs: Vec<_> = job.needs.iter().map(Tool::name).collect();
            println!("{:<24} {} (needs {})", job.name, job.about, needs.join(", "));
        }
        return Ok(Outcome::Fine);
    }
    if let Some(unknown) = args.only.iter().find(|name| !jobs.iter().any(|job| job.name == **name)) {
        let known: Vec<_> = jobs.iter().map(|job| job.name).collect();
        bail!("there is no `{unknown}` here; there are {}", known.join(", "));
    }
    if args.install {
        kit.install(workspace)?;
    }
    let chosen =
        jobs.iter().filter(|job| args.only.is_empty() || args.only.iter().any(|name| name == job.name));
    let (ready, absent): (Vec<&Job>, Vec<&Job>) =
        chosen.partition(|job| job.needs.iter().all(|tool| kit.path(tool).is_some()));
    let running = if args.lint || ready.is_empty() { None } else { Some(server::Running::start(workspace)?) };
    let ground = Ground {
        kit,
        workspace: workspace.to_owned(),
        base_url: running.as_ref().map(|server| server.base_url.clone()).unwrap_or_default(),
        key: running.as_ref().map(|server| server.key.clone()).unwrap_or_default(),
    };
    let mut failed = Vec::new();
    for job in &ready {
        println!("==> {}: {}", job.name, job.about);
        if let Err(error) = (job.run)(&ground) {
            println!("{error:#}");
            failed.push(job.name);
        }
    }
    summarise(&ground.kit, &ready, &failed, &absent);
    let complete = absent.is_empty() || !args.require;
    Ok(if failed.is_empty() && complete { Outcome::Fine } else { Outcome::Findings })
}

fn summarise(kit: &Kit, ready: &[&Job], failed: &[&str], absent: &[&Job]) {
    println!();
    for job in ready {
        println!("{:<24} {}", job.name, if failed.contains(&job.name) { "FAILED" } else { "ok" });
    }
    for job in absent {
        let missing = job.needs.iter().filter(|tool| kit.path(tool).is_none());
        let missing: Vec<_> = missing.map(|tool| format!("{} ({})", tool.name(), tool.remedy())).collect();
        println!("{:<24} not run; missing: {}", job.name, missing.join(", "));
    }
}

impl Ground {
    /// An empty folder for the files of a job.
    fn folder(&self, name: &str) -> anyhow::Result<std::path::PathBuf> {
        let folder = self.kit.folder.join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(folder)
    }

    /// A program of the kit, with the server's address and key in its environment.
    fn program(&self, tool: &Tool) -> anyhow::Result<Command> {
        let path = self.kit.path(tool).with_context(|| format!("{} is missing", tool.name()))?;
        let mut command = Command::new(path);
        command.env("BASE_URL", &self.base_url).env("API_KEY", &self.key).env("PATH", self.kit.search_path());
        Ok(command)
    }

    /// A file of `tests/clients`.
    fn source(&self, name: &str) -> std::path::PathBuf {
        self.workspace.join("tests/clients").join(name)
    }
}

/// Runs a program to its end; what it printed is shown when it fails, and returned otherwise.
fn run_quietly(command: &mut Command) -> anyhow::Result<String> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot start {shown}"))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        bail!("{text}{shown} ended with {}", output.status);
    }
    Ok(text)
}
