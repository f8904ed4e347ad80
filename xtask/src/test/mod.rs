//! `cargo xtask test`: everything that CI runs, in order, each step timed.
//!
//! Owns the list of steps and the throw-away servers they need. A step that cannot run fails; none is skipped. All
//! steps run even when an early one fails, so that one run shows everything.

mod chromium;
mod install;
mod licences;
pub(crate) mod postgres;
pub(crate) mod steps;

use std::cell::OnceCell;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use steps::{STEPS, Step};

use crate::Outcome;

/// Runs everything that CI runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run these steps alone, in their usual order (see --list)
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    only: Vec<String>,
    /// List the steps and stop
    #[arg(long)]
    list: bool,
    /// Fail when a program is missing instead of installing it
    #[arg(long)]
    no_install: bool,
}

/// What the steps share.
pub(crate) struct Context {
    /// True when a missing program may be installed.
    install: bool,
    /// Started by the first step that needs it; stops with the last.
    postgres: OnceCell<postgres::Server>,
}

impl Context {
    /// The address of a PostgreSQL server on which databases may be made.
    fn postgres_url(&self) -> Result<&str> {
        if let Some(server) = self.postgres.get() {
            return Ok(server.url());
        }
        let server = postgres::Server::start(self.install, postgres::Durability::None)?;
        println!("PostgreSQL for the tests at {}", server.url());
        Ok(self.postgres.get_or_init(|| server).url())
    }
}

/// How one step went.
struct Timed {
    name: &'static str,
    took: Duration,
    fault: Option<String>,
}

/// Runs the steps; prints each one's name before it and a table of all at the end.
///
/// # Errors
/// A step named by `--only` that does not exist.
pub(crate) fn run(args: &Args, workspace: &Path) -> Result<Outcome> {
    if args.list {
        for step in STEPS {
            println!("{:<14} {}", step.name, step.about);
        }
        return Ok(Outcome::Fine);
    }
    std::env::set_current_dir(workspace).context("cannot go to the workspace's folder")?;
    let chosen = choose(&args.only)?;
    let context = Context { install: !args.no_install, postgres: OnceCell::new() };
    let outcomes: Vec<Timed> = chosen.into_iter().map(|step| attempt(step, &context)).collect();
    // Hundreds of databases take a while to remove; the table comes last.
    drop(context);
    summarise(&outcomes);
    let failed = outcomes.iter().any(|outcome| outcome.fault.is_some());
    Ok(if failed { Outcome::Findings } else { Outcome::Fine })
}

fn choose(only: &[String]) -> Result<Vec<&'static Step>> {
    if let Some(unknown) = only.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        bail!("there is no step `{unknown}`; the steps are {}", known.join(", "));
    }
    Ok(STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)).collect())
}

fn attempt(step: &'static Step, context: &Context) -> Timed {
    println!("\n==> {}: {}", step.name, step.about);
    let start = Instant::now();
    let result = (step.run)(context);
    let took = start.elapsed();
    let fault = result.err().map(|error| format!("{error:#}"));
    match &fault {
        None => println!("<== {} ok in {:.1} s", step.name, took.as_secs_f64()),
        Some(fault) => println!("<== {} FAILED in {:.1} s: {fault}", step.name, took.as_secs_f64()),
    }
    Timed { name: step.name, took, fault }
}

fn summarise(outcomes: &[Timed]) {
    println!("\n{:<14} {:<8} {:>9}", "step", "result", "seconds");
    for outcome in outcomes {
        let result = if outcome.fault.is_some() { "FAILED" } else { "ok" };
        println!("{:<14} {result:<8} {:>9.1}", outcome.name, outcome.took.as_secs_f64());
    }
    let total: Duration = outcomes.iter().map(|outcome| outcome.took).sum();
    println!("{:<14} {:<8} {:>9.1}", "total", "", total.as_secs_f64());
    for outcome in outcomes {
        if let Some(fault) = &outcome.fault {
            println!("{} failed: {fault}; run it alone with `cargo xtask test --only {0}`", outcome.name);
        }
    }
}
