//! `cargo xtask test`: runs the steps of CI in order and measures their time.
//!
//! Also installs missing programs, and starts a temporary PostgreSQL server if a step needs one. A step that cannot run fails
//! instead of being skipped, except for `alerts`, and for `instructions` with another compiler. Tests that ran in no step are
//! listed at the end. The other steps run even after a failure, so that one run reports all failures.

mod chromium;
mod executables;
pub(crate) mod install;
mod instructions;
mod licenses;
mod oidc_provider;
pub(crate) mod postgres;
pub(crate) mod redis;
mod skips;
pub(crate) mod steps;

use std::cell::OnceCell;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use executables::Compilation;
use steps::{STEPS, TestStep};

use crate::TaskOutcome;

/// Run everything that CI runs.
#[derive(Debug, clap::Args)]
pub(crate) struct TestArgs {
    /// Run only these steps, in their usual order (see --list)
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    only: Vec<String>,
    /// Run what a developer needs between commits: without PostgreSQL, a browser, benchmarks and tests of more than 5 seconds
    #[arg(long, conflicts_with = "only")]
    fast: bool,
    /// Write the counts of the step `instructions` to tests/instructions.json instead of comparing them
    #[arg(long, requires = "only")]
    record_budgets: bool,
    /// List the steps and exit
    #[arg(long)]
    list: bool,
    /// Fail if a program is missing instead of installing it
    #[arg(long)]
    no_install: bool,
}

/// The state that all steps share.
pub(crate) struct StepContext {
    /// Whether missing programs are installed.
    install: bool,
    /// Whether `--fast` is set.
    is_fast: bool,
    /// Whether `--record-budgets` is set.
    records_budgets: bool,
    /// Compiled by the first step that needs it.
    compilation: OnceCell<Option<Compilation>>,
    /// Started by the first step that needs it; stopped after the last step.
    postgres: OnceCell<postgres::PostgresServer>,
}

impl StepContext {
    /// Returns the compiled tests. Prints compiler errors only once.
    fn compilation(&self) -> Result<&Compilation> {
        let compilation = match self.compilation.get() {
            Some(compilation) => compilation,
            None => {
                let compiled = executables::compile(!self.is_fast);
                let compilation = self.compilation.get_or_init(|| compiled.as_ref().ok().cloned());
                compiled?;
                compilation
            }
        };
        compilation.as_ref().context("the code does not compile")
    }

    /// Returns the arguments of test executables. Tests of more than 5 seconds have the attribute `ignore`.
    fn test_arguments(&self) -> &'static [&'static str] {
        if self.is_fast { &[] } else { &["--include-ignored"] }
    }

    /// Returns the URL of a PostgreSQL server on which tests can create databases.
    fn postgres_url(&self) -> Result<&str> {
        if let Some(server) = self.postgres.get() {
            return Ok(server.url());
        }
        let server = postgres::PostgresServer::start(self.install, postgres::Durability::None)?;
        println!("PostgreSQL server for the tests: {}", server.url());
        Ok(self.postgres.get_or_init(|| server).url())
    }
}

/// The result of a step.
struct StepResult {
    name: &'static str,
    duration: Duration,
    error: Option<String>,
}

/// Runs the steps, and prints a table of the results at the end.
///
/// # Errors
/// Returns an error when `--only` contains an unknown step.
pub(crate) fn run(args: &TestArgs, workspace: &Path) -> Result<TaskOutcome> {
    if args.list {
        for step in STEPS {
            println!("{:<14} {}", step.name, step.about);
        }
        return Ok(TaskOutcome::Success);
    }
    std::env::set_current_dir(workspace).context("cannot change to the folder of the workspace")?;
    let mut selected = select_steps(&args.only)?;
    if args.record_budgets && !selected.iter().any(|step| step.name == "instructions") {
        bail!("--record-budgets needs the step `instructions`");
    }
    selected.retain(|step| step.is_fast || !args.fast);
    let context = StepContext {
        install: !args.no_install,
        is_fast: args.fast,
        records_budgets: args.record_budgets,
        compilation: OnceCell::new(),
        postgres: OnceCell::new(),
    };
    let results: Vec<StepResult> = selected.iter().map(|step| run_step(step, &context)).collect();
    // Stopping the server takes a while. Print the table after that.
    drop(context);
    print_summary(&results);
    let names: Vec<&str> = results.iter().map(|result| result.name).collect();
    // `--fast` leaves tests out.
    if !args.fast {
        skips::skipped_tests(&names).iter().for_each(|test| println!("skipped: {test}"));
    }
    let failed = results.iter().any(|result| result.error.is_some());
    Ok(if failed { TaskOutcome::Findings } else { TaskOutcome::Success })
}

fn select_steps(only: &[String]) -> Result<Vec<&'static TestStep>> {
    if let Some(unknown) = only.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        bail!("unknown step `{unknown}`; expected one of {}", names.join(", "));
    }
    Ok(STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)).collect())
}

fn run_step(step: &'static TestStep, context: &StepContext) -> StepResult {
    println!("\n==> {}: {}", step.name, step.about);
    let start = Instant::now();
    let result = (step.run)(context);
    let duration = start.elapsed();
    let error = result.err().map(|error| format!("{error:#}"));
    match &error {
        None => println!("<== {} ok in {:.1} s", step.name, duration.as_secs_f64()),
        Some(error) => {
            // The summary prints the rest.
            let first_line = error.lines().next().unwrap_or_default();
            println!("<== {} FAILED in {:.1} s: {first_line}", step.name, duration.as_secs_f64());
        }
    }
    StepResult { name: step.name, duration, error }
}

fn print_summary(results: &[StepResult]) {
    println!("\n{:<14} {:<8} {:>9}", "step", "result", "seconds");
    for result in results {
        let label = if result.error.is_some() { "FAILED" } else { "ok" };
        println!("{:<14} {label:<8} {:>9.1}", result.name, result.duration.as_secs_f64());
    }
    let total: Duration = results.iter().map(|result| result.duration).sum();
    println!("{:<14} {:<8} {:>9.1}", "total", "", total.as_secs_f64());
    for result in results {
        if let Some(error) = &result.error {
            println!("\n{} failed: {error}\nrun it alone with `cargo xtask test --only {0}`", result.name);
        }
    }
}
