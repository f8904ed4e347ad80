//! `cargo xtask bench`: every speed that has a goal, beside its limit, in one run.
//!
//! Builds the server and the load programs for release, starts a PostgreSQL server that waits for its disk, lets the load
//! programs measure, and shows one table. A goal that is not met is shown and fails nothing; only a run that could not
//! be made does.

mod build;
mod table;
mod tools;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::Outcome;
use crate::test::postgres::{Durability, Server};
use table::{Row, Table};

/// Scenarios of the load programs.
const LOADS: &[(&str, &str)] = &[
    ("catalogue", "listCourses and getCourse of an unchanged catalogue"),
    ("guessing", "401 for keys that somebody guesses"),
    ("lists", "listStudents and listOrders, always other pages"),
    ("pages", "the last page of a long list beside its first"),
    ("analytics", "a year of many orders beside a year of few"),
    ("memory", "memory of the server, idle and under full load"),
    ("start", "start to first answer"),
    ("request-log", "listCourses and getCourse with the request log, beside the same without it"),
    ("create", "createStudent beside the bare database"),
    ("events", "events from commit to receipt, steadily and as many as arrive"),
    ("backlog", "a long queue of deliveries drained, beside a bare client"),
    ("hung", "a healthy endpoint beside twenty that hang"),
    ("tenants", "one workspace beside another with many endpoints that hang"),
];

/// Measures what has a goal, beside its limit
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run these scenarios alone, in their usual order (see --list)
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    only: Vec<String>,
    /// List the scenarios and stop
    #[arg(long)]
    list: bool,
    /// How much data there is: 50,000 students, or 1,000,000; and half as many more orders
    #[arg(long, value_parser = ["small", "full"], default_value = "small")]
    scale: String,
    /// Length of a measured window in seconds; two sides that are compared have five turns, each of a fifth of it
    /// and a second at least
    #[arg(long, default_value = "3", value_parser = seconds)]
    seconds: f64,
    /// Which databases are measured
    #[arg(long, value_parser = ["sqlite", "postgres", "both"], default_value = "both")]
    database: String,
    /// Fail when a program is missing instead of installing it
    #[arg(long)]
    no_install: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let known = text.parse().ok().filter(|seconds| (0.5..=600.0).contains(seconds));
    known.ok_or_else(|| "expected a number from 0.5 to 600".to_owned())
}

/// Runs the scenarios and shows the table, which is also written below `target/bench`.
///
/// # Errors
/// A scenario could not run. What was measured before is shown all the same.
pub(crate) fn run(args: &Args, workspace: &Path) -> Result<Outcome> {
    let known = || LOADS.iter().chain([&tools::SCENARIO]);
    if args.list {
        known().for_each(|(name, about)| println!("{name:<12} {about}"));
        return Ok(Outcome::Fine);
    }
    if let Some(unknown) = args.only.iter().find(|only| !known().any(|(name, _)| name == only)) {
        let names: Vec<&str> = known().map(|(name, _)| *name).collect();
        bail!("there is no scenario `{unknown}`; the scenarios are {}", names.join(", "));
    }
    std::env::set_current_dir(workspace).context("cannot go to the workspace's folder")?;
    let folder = Path::new("target/bench");
    fs::create_dir_all(folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.try_lock().context("another run is under way")?;
    let mut table = Table::new(args.scale.clone(), args.seconds);
    let outcome = measure(args, folder, &mut table);
    table.write(folder)?;
    print!("\n{}", table.markdown());
    println!("\nwritten to {}", folder.join("bench.md").display());
    outcome.map(|()| Outcome::Fine)
}

fn measure(args: &Args, folder: &Path, table: &mut Table) -> Result<()> {
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let loads: Vec<&str> = LOADS.iter().map(|(name, _)| *name).filter(|name| wanted(name)).collect();
    if !loads.is_empty() {
        let programs = build::programs()?;
        let postgres = if args.database == "sqlite" {
            None
        } else {
            Some(Server::start(!args.no_install, Durability::Full)?)
        };
        let (rows, outcome) = load(args, &programs, postgres.as_ref().map(Server::url), &loads, folder)?;
        table.rows.extend(rows);
        outcome?;
    }
    if wanted(tools::SCENARIO.0) {
        table.rows.extend(tools::measure()?);
    }
    Ok(())
}

/// Lets the load programs measure; gives the rows there are, and whether that are all.
fn load(
    args: &Args,
    programs: &build::Programs,
    postgres: Option<&str>,
    only: &[&str],
    folder: &Path,
) -> Result<(Vec<Row>, Result<()>)> {
    // What an earlier run was killed over may be large.
    let scratch = Scratch::new(folder.join("scratch"))?;
    let rows = folder.join("rows.json");
    let _ = fs::remove_file(&rows);
    let mut command = Command::new(&programs.load);
    command.arg("run").arg("--server").arg(&programs.server);
    command.args(["--scale", &args.scale, "--seconds", &args.seconds.to_string()]);
    command.args(["--database", &args.database, "--only", &only.join(",")]);
    command.arg("--scratch").arg(fs::canonicalize(&scratch.0)?).arg("--rows").arg(&rows);
    if let Some(postgres) = postgres {
        command.args(["--postgres", postgres]);
    }
    // The load programs end when this pipe does, so they never outlive this program.
    let mut child = command.stdin(Stdio::piped()).spawn().context("cannot start the load programs")?;
    // Waiting closes the pipe unless it is held here.
    let pipe = child.stdin.take();
    let status = child.wait()?;
    drop(pipe);
    let outcome =
        if status.success() { Ok(()) } else { Err(anyhow::anyhow!("the load programs ended with {status}")) };
    let rows = match fs::read(&rows) {
        Ok(bytes) => serde_json::from_slice(&bytes).context("cannot read the rows of the load programs")?,
        Err(_) => Vec::new(),
    };
    Ok((rows, outcome))
}

/// A folder that is empty at first and gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(path: PathBuf) -> Result<Self> {
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scenario that is not listed could not be asked for by name.
    #[test]
    fn every_scenario_of_the_load_programs_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/bench/scenarios");
        let mut found = Vec::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let name = text.lines().find_map(|line| line.strip_prefix("pub const NAME: &str = \""));
            found.extend(name.map(|name| name.trim_end_matches("\";").to_owned()));
        }
        let mut listed: Vec<&str> = LOADS.iter().map(|(name, _)| *name).collect();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }
}
