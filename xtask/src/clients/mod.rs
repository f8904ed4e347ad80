//! `cargo xtask clients`: tests the API with clients from third-party generators.
//!
//! Each client is generated from a contract of a running server, compiled if its language is compiled, and calls all
//! operations of the contract. [`list`] defines the clients, [`lint`] the linters, and [`toolchain`] finds their programs.
//! `cargo xtask test` does not run this command, because it needs programs that may be missing.

mod demo_server;
mod lint;
mod list;
mod snippets;
mod toolchain;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use self::toolchain::{Tool, Toolchain};
use crate::TaskOutcome;

/// Generate clients from the served contracts and call all operations with each.
#[derive(Debug, clap::Args)]
pub struct ClientsArgs {
    /// Run only these clients or, with --lint, these linters (see --list).
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Lint the contracts with redocly, spectral and openapi-spec-validator instead.
    #[arg(long)]
    lint: bool,
    /// Install missing programs from npm and PyPI into target/clients first.
    #[arg(long)]
    install: bool,
    /// Fail if a program is missing. Without this option, the clients or linters that need it are skipped.
    #[arg(long)]
    require: bool,
    /// List the clients and linters with the programs that they need, and exit.
    #[arg(long)]
    list: bool,
}

/// A client or a linter.
pub struct ClientJob {
    /// The name for `--only`.
    name: &'static str,
    /// A description in one line.
    description: &'static str,
    /// The external programs that it needs.
    tools: &'static [Tool],
    /// Runs the client or linter.
    run: fn(&JobContext) -> anyhow::Result<()>,
}

/// The environment of the jobs.
pub struct JobContext {
    /// The external programs.
    toolchain: Toolchain,
    /// The root of the workspace.
    workspace: std::path::PathBuf,
    /// The URL of the running server, without a trailing slash. Empty for linters.
    base_url: String,
    /// An API key with every scope. Empty for linters.
    key: String,
    /// A platform token with every scope. Empty for linters.
    platform_token: String,
}

/// Runs the clients, or the linters.
///
/// # Errors
/// Returns an error when a name is unknown, a program cannot be installed, or the server does not compile or start.
pub fn run(args: &ClientsArgs, workspace: &Path) -> anyhow::Result<TaskOutcome> {
    let jobs = if args.lint { lint::JOBS } else { list::JOBS };
    let toolchain = Toolchain::new(workspace);
    if args.list {
        for job in list::JOBS.iter().chain(lint::JOBS) {
            let tool_names: Vec<_> = job.tools.iter().map(Tool::name).collect();
            println!("{:<24} {} (needs {})", job.name, job.description, tool_names.join(", "));
        }
        return Ok(TaskOutcome::Success);
    }
    if let Some(unknown) = args.only.iter().find(|name| !jobs.iter().any(|job| job.name == **name)) {
        let names: Vec<_> = jobs.iter().map(|job| job.name).collect();
        bail!("unknown name `{unknown}`; expected one of {}", names.join(", "));
    }
    if args.install {
        toolchain.install(workspace)?;
    }
    let selected =
        jobs.iter().filter(|job| args.only.is_empty() || args.only.iter().any(|name| name == job.name));
    let (runnable, skipped): (Vec<&ClientJob>, Vec<&ClientJob>) =
        selected.partition(|job| job.tools.iter().all(|tool| toolchain.path(tool).is_some()));
    let server = if args.lint || runnable.is_empty() {
        None
    } else {
        Some(demo_server::DemoServer::start(workspace)?)
    };
    let context = JobContext {
        toolchain,
        workspace: workspace.to_owned(),
        base_url: server.as_ref().map(|server| server.base_url.clone()).unwrap_or_default(),
        key: server.as_ref().map(|server| server.key.clone()).unwrap_or_default(),
        platform_token: server.as_ref().map(|server| server.platform_token.clone()).unwrap_or_default(),
    };
    let mut failed = Vec::new();
    for job in &runnable {
        println!("==> {}: {}", job.name, job.description);
        if let Err(error) = (job.run)(&context) {
            println!("{error:#}");
            failed.push(job.name);
        }
    }
    print_summary(&context.toolchain, &runnable, &failed, &skipped);
    let is_complete = skipped.is_empty() || !args.require;
    Ok(if failed.is_empty() && is_complete { TaskOutcome::Success } else { TaskOutcome::Findings })
}

fn print_summary(toolchain: &Toolchain, runnable: &[&ClientJob], failed: &[&str], skipped: &[&ClientJob]) {
    println!();
    for job in runnable {
        println!("{:<24} {}", job.name, if failed.contains(&job.name) { "FAILED" } else { "ok" });
    }
    for job in skipped {
        let missing = job.tools.iter().filter(|tool| toolchain.path(tool).is_none());
        let missing: Vec<_> =
            missing.map(|tool| format!("{} ({})", tool.name(), tool.installation_hint())).collect();
        println!("{:<24} skipped; missing: {}", job.name, missing.join(", "));
    }
}

impl JobContext {
    /// Creates an empty folder for the files of a job, or empties the existing one.
    fn folder(&self, name: &str) -> anyhow::Result<std::path::PathBuf> {
        let folder = self.toolchain.folder.join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(folder)
    }

    /// Returns the command of a program, with the URL, the API key and the platform token of the server in its environment.
    fn program(&self, tool: &Tool) -> anyhow::Result<Command> {
        let path = self.toolchain.path(tool).with_context(|| format!("{} is missing", tool.name()))?;
        let mut command = Command::new(path);
        command
            .env("BASE_URL", &self.base_url)
            .env("API_KEY", &self.key)
            .env("PLATFORM_TOKEN", &self.platform_token)
            .env("PATH", self.toolchain.search_path());
        Ok(command)
    }

    /// Returns the path of a file or folder in `tests/clients`.
    fn source(&self, name: &str) -> std::path::PathBuf {
        self.workspace.join("tests/clients").join(name)
    }
}

/// Runs a program and returns its output. If the program fails, the error contains the output.
fn run_quietly(command: &mut Command) -> anyhow::Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot start {program}"))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        bail!("{text}{program} failed: {}", output.status);
    }
    Ok(text)
}
