//! `cargo xtask clients`: tests the API with clients from third-party generators.
//!
//! [`matrix`] runs the jobs of `tests/clients/jobs.toml` and [`table`] compares their cells with the committed table. [`list`]
//! defines the clients that are not in the table, [`lint`] the linters, and [`toolchain`] finds their programs.
//! `cargo xtask test` does not run this command, because it needs programs that may be missing.

mod changing_server;
mod demo_server;
mod lint;
mod list;
mod matrix;
mod snippets;
mod table;
mod toolchain;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail};

use self::changing_server::ChangingServer;
use self::matrix::{JobFile, MatrixJob};
use self::toolchain::{Tool, Toolchain};
use crate::TaskOutcome;

/// Generate clients from the contracts and check each. The results are in openapi/clients/table.md.
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
    /// Run all jobs, also those that passed before with the same inputs.
    #[arg(long)]
    rerun: bool,
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
    /// An API key with every scope of v1. Empty for linters.
    key: String,
    /// Two API keys with every scope of the Developer API, separated by a space. Empty for linters.
    developer_keys: String,
    /// A platform token with every scope. Empty for linters.
    platform_token: String,
    /// The URL of the server that changes responses. Empty without jobs of the table.
    changing_url: String,
}

/// Runs the clients, or the linters.
///
/// # Errors
/// Returns an error when a name is unknown, a program cannot be installed, or the server does not compile or start.
pub fn run(args: &ClientsArgs, workspace: &Path) -> anyhow::Result<TaskOutcome> {
    let (file, toolchain) = (JobFile::read(workspace)?, Toolchain::new(workspace));
    if args.list {
        print_list(&file);
        return Ok(TaskOutcome::Success);
    }
    let jobs = if args.lint { lint::JOBS } else { list::JOBS };
    let matrix = if args.lint { &[][..] } else { &file.jobs[..] };
    let names: Vec<&str> =
        matrix.iter().map(|job| &*job.name).chain(jobs.iter().map(|job| job.name)).collect();
    if let Some(unknown) = args.only.iter().find(|name| !names.contains(&&***name)) {
        bail!("unknown name `{unknown}`; expected one of {}", names.join(", "));
    }
    if args.install {
        toolchain.install(workspace)?;
    }
    let is_selected = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let (runnable, skipped): (Vec<&ClientJob>, Vec<&ClientJob>) = jobs
        .iter()
        .filter(|job| is_selected(job.name))
        .partition(|job| job.tools.iter().all(|tool| toolchain.path(tool).is_some()));
    let matrix: Vec<&MatrixJob> = matrix.iter().filter(|job| is_selected(&job.name)).collect();
    let server = if args.lint { None } else { Some(demo_server::DemoServer::start(workspace)?) };
    let changing =
        server.as_ref().map(|server| ChangingServer::start(workspace, &server.base_url)).transpose()?;
    let context = JobContext {
        toolchain,
        workspace: workspace.to_owned(),
        base_url: server.as_ref().map(|server| server.base_url.clone()).unwrap_or_default(),
        key: server.as_ref().map(|server| server.key.clone()).unwrap_or_default(),
        developer_keys: server.as_ref().map(|server| server.developer_keys.clone()).unwrap_or_default(),
        platform_token: server.as_ref().map(|server| server.platform_token.clone()).unwrap_or_default(),
        changing_url: changing.as_ref().map(|changing| changing.url.clone()).unwrap_or_default(),
    };
    let (is_clean, is_complete) = run_matrix(&context, &file, &matrix, args.rerun)?;
    let mut failed = Vec::new();
    for job in &runnable {
        println!("==> {}: {}", job.name, job.description);
        if let Err(error) = (job.run)(&context) {
            println!("{error:#}");
            failed.push(job.name);
        }
    }
    print_summary(&context.toolchain, &runnable, &failed, &skipped);
    let is_complete = (is_complete && skipped.is_empty()) || !args.require;
    Ok(if is_clean && failed.is_empty() && is_complete {
        TaskOutcome::Success
    } else {
        TaskOutcome::Findings
    })
}

/// Runs jobs of the table and updates the table. Returns whether no cell is worse than in the committed table, and whether no job was
/// skipped.
fn run_matrix(
    context: &JobContext,
    file: &JobFile,
    jobs: &[&MatrixJob],
    rerun: bool,
) -> anyhow::Result<(bool, bool)> {
    let (mut rows, mut is_complete) = (Vec::new(), true);
    for (number, job) in (1..).zip(jobs) {
        let missing = job.missing(&context.toolchain);
        print!("[{number}/{}] {}: ", jobs.len(), job.name);
        if !missing.is_empty() {
            let hints: Vec<String> = missing.iter().map(|program| file.installation_hint(program)).collect();
            println!("skipped; missing: {}", hints.join(", "));
            is_complete = false;
            continue;
        }
        std::io::Write::flush(&mut std::io::stdout()).context("cannot write to the terminal")?;
        let start = Instant::now();
        let (row, is_new) = job.run_or_resume(context, rerun)?;
        let time =
            if is_new { format!("{:.1} s", start.elapsed().as_secs_f64()) } else { "unchanged".to_owned() };
        println!("{} of {} cells passed ({time})", row.passed_count(), row.cells.len());
        row.failures().for_each(|failure| println!("    {failure}"));
        let packages = file.debian_packages(job);
        if !row.has_passed() && !packages.is_empty() {
            println!("    needs, on Debian: `apt-get install {}`", packages.join(" "));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Ok((true, is_complete));
    }
    let names: Vec<&str> = file.jobs.iter().map(|job| &*job.name).collect();
    let worse = table::update(&context.workspace, &names, &rows, &file.unavailable)?;
    worse.iter().for_each(|cell| println!("worse than in the table: {cell}"));
    Ok((worse.is_empty(), is_complete))
}

fn print_list(file: &JobFile) {
    for job in &file.jobs {
        println!("{:<36} {} (needs {})", job.name, job.language, job.needs.join(", "));
    }
    for job in list::JOBS.iter().chain(lint::JOBS) {
        let tool_names: Vec<_> = job.tools.iter().map(Tool::name).collect();
        println!("{:<36} {} (needs {})", job.name, job.description, tool_names.join(", "));
    }
}

fn print_summary(toolchain: &Toolchain, runnable: &[&ClientJob], failed: &[&str], skipped: &[&ClientJob]) {
    println!();
    for job in runnable {
        println!("{:<36} {}", job.name, if failed.contains(&job.name) { "FAILED" } else { "ok" });
    }
    for job in skipped {
        let missing = job.tools.iter().filter(|tool| toolchain.path(tool).is_none());
        let missing: Vec<_> =
            missing.map(|tool| format!("{} ({})", tool.name(), tool.installation_hint())).collect();
        println!("{:<36} skipped; missing: {}", job.name, missing.join(", "));
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

    /// Returns the command of a program, with the URL, the API keys and the platform token of the server in its environment.
    fn program(&self, tool: &Tool) -> anyhow::Result<Command> {
        let path = self.toolchain.path(tool).with_context(|| format!("{} is missing", tool.name()))?;
        let mut command = Command::new(path);
        command
            .env("BASE_URL", &self.base_url)
            .env("API_KEY", &self.key)
            .env("DEVELOPER_KEYS", &self.developer_keys)
            .env("PLATFORM_TOKEN", &self.platform_token)
            .env("PATH", self.toolchain.search_path());
        Ok(command)
    }

    /// Sets the environment of a command of the table, which calls the server that changes responses.
    fn set_environment(&self, command: &mut Command) {
        command
            .env("BASE_URL", &self.changing_url)
            .env("API_KEY", &self.key)
            .env("WEBHOOK_SECRET", changing_server::WEBHOOK_SECRET)
            .env("PATH", self.toolchain.search_path());
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
