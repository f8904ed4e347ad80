//! `cargo xtask bench`: runs all benchmarks and compares the results with their goals.
//!
//! Builds the server and the load programs with the release profile, starts a durable PostgreSQL server, runs the load
//! programs, and prints one table. A goal that is not met does not fail the command; a benchmark that cannot run does.

pub(crate) mod build;
mod table;
mod tools;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::TaskOutcome;
use crate::test::postgres::{Durability, PostgresServer};
use table::{BenchmarkRow, BenchmarkTable};

/// The names and descriptions of the scenarios of the load programs.
const LOAD_SCENARIOS: &[(&str, &str)] = &[
    ("catalogue", "listCourses and getCourse while no course changes"),
    ("guessing", "401 responses to guessed API keys"),
    ("lists", "listStudents and listOrders, a different page each time"),
    ("pages", "the last page of a long list, compared with the first"),
    ("analytics", "a year of many orders, compared with a year of few"),
    ("memory", "memory use of the server, idle and under full load"),
    ("start", "time from start to the first response"),
    ("request-log", "listCourses and getCourse with the request log, compared with no request log"),
    ("create", "createStudent, compared with the same writes without the server"),
    ("traces", "getCourse and createStudent with traces at 10 % and at 100 %, compared with no traces"),
    ("import", "importChanges with 27,000 mixed changes, into an empty database"),
    ("events", "event delivery from commit to receipt, at a steady rate and at full rate"),
    ("filters", "full rate to 50 subscriptions with a filter, compared with no filters"),
    ("backlog", "delivery of a long queue, compared with a plain HTTP client"),
    ("hung", "delivery to a healthy endpoint while twenty others hang"),
    ("tenants", "one workspace while another has many hanging endpoints"),
];

/// Run the benchmarks and compare the results with their goals
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Run only these scenarios, in their usual order (see --list)
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    only: Vec<String>,
    /// List the scenarios and exit
    #[arg(long)]
    list: bool,
    /// Amount of data: small has 50,000 students and 75,000 orders, full has 1,000,000 students and 1,500,000 orders
    #[arg(long, value_parser = ["small", "full"], default_value = "small")]
    scale: String,
    /// Length of a measurement in seconds. A comparison of two sides alternates five times between them, for a fifth
    /// of this length but at least one second each
    #[arg(long, default_value = "3", value_parser = seconds)]
    seconds: f64,
    /// Databases to measure
    #[arg(long, value_parser = ["sqlite", "postgres", "both"], default_value = "both")]
    database: String,
    /// Fail if a program is missing instead of installing it
    #[arg(long)]
    no_install: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.5..=600.0).contains(seconds));
    seconds.ok_or_else(|| "expected a number from 0.5 to 600".to_owned())
}

/// Runs the scenarios, prints the table, and writes it to `target/bench`.
///
/// # Errors
/// Returns an error when a scenario is unknown, another benchmark run is active, or a scenario cannot run. In the last
/// case, the results of all others are still printed.
pub(crate) fn run(args: &BenchArgs, workspace: &Path) -> Result<TaskOutcome> {
    let all_scenarios = || LOAD_SCENARIOS.iter().chain([&tools::SCENARIO]);
    if args.list {
        all_scenarios().for_each(|(name, about)| println!("{name:<12} {about}"));
        return Ok(TaskOutcome::Success);
    }
    if let Some(unknown) = args.only.iter().find(|only| !all_scenarios().any(|(name, _)| name == only)) {
        let names: Vec<&str> = all_scenarios().map(|(name, _)| *name).collect();
        bail!("unknown scenario `{unknown}`; expected one of {}", names.join(", "));
    }
    std::env::set_current_dir(workspace).context("cannot change to the folder of the workspace")?;
    let folder = Path::new("target/bench");
    fs::create_dir_all(folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.try_lock().context("another benchmark run is active")?;
    let mut table = BenchmarkTable::new(args.scale.clone(), args.seconds);
    let outcome = measure(args, folder, &mut table);
    table.write(folder)?;
    print!("\n{}", table.markdown());
    println!("\nwritten to {}", folder.join("bench.md").display());
    outcome.map(|()| TaskOutcome::Success)
}

/// Measures the selected scenarios and adds their results to the table.
fn measure(args: &BenchArgs, folder: &Path, table: &mut BenchmarkTable) -> Result<()> {
    let is_selected = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let load_scenarios: Vec<&str> =
        LOAD_SCENARIOS.iter().map(|(name, _)| *name).filter(|name| is_selected(name)).collect();
    if !load_scenarios.is_empty() {
        let programs = build::programs()?;
        let postgres = if args.database == "sqlite" {
            None
        } else {
            Some(PostgresServer::start(!args.no_install, Durability::Full)?)
        };
        let (rows, outcome) = run_load_programs(
            args,
            &programs,
            postgres.as_ref().map(PostgresServer::url),
            &load_scenarios,
            folder,
        )?;
        table.rows.extend(rows);
        outcome?;
    }
    if is_selected(tools::SCENARIO.0) {
        table.rows.extend(tools::measure()?);
    }
    Ok(())
}

/// Runs the load programs. Returns the rows that were measured, and an error if a scenario failed.
fn run_load_programs(
    args: &BenchArgs,
    programs: &build::Programs,
    postgres: Option<&str>,
    scenarios: &[&str],
    folder: &Path,
) -> Result<(Vec<BenchmarkRow>, Result<()>)> {
    // An interrupted run may have left large files.
    let scratch = ScratchFolder::new(folder.join("scratch"))?;
    let rows = folder.join("rows.json");
    let _ = fs::remove_file(&rows);
    let mut command = Command::new(&programs.load);
    command.arg("run").arg("--server").arg(&programs.server);
    command.args(["--scale", &args.scale, "--seconds", &args.seconds.to_string()]);
    command.args(["--database", &args.database, "--only", &scenarios.join(",")]);
    command.arg("--scratch").arg(fs::canonicalize(&scratch.0)?).arg("--rows").arg(&rows);
    if let Some(postgres) = postgres {
        command.args(["--postgres", postgres]);
    }
    // The load programs exit when this pipe closes, so they never outlive this program.
    let mut child = command.stdin(Stdio::piped()).spawn().context("cannot start the load programs")?;
    // `wait` would close a pipe that is still in `child`.
    let pipe = child.stdin.take();
    let status = child.wait()?;
    drop(pipe);
    let outcome =
        if status.success() { Ok(()) } else { Err(anyhow::anyhow!("the load programs failed: {status}")) };
    let rows = match fs::read(&rows) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).context("cannot parse the results of the load programs")?
        }
        Err(_) => Vec::new(),
    };
    Ok((rows, outcome))
}

/// A temporary folder, removed on drop.
struct ScratchFolder(PathBuf);

impl ScratchFolder {
    fn new(path: PathBuf) -> Result<Self> {
        if path.exists() {
            fs::remove_dir_all(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--only` rejects a scenario that is not listed.
    #[test]
    fn every_scenario_of_the_load_programs_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/bench/scenarios");
        let mut names = Vec::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let name = text.lines().find_map(|line| line.strip_prefix("pub const NAME: &str = \""));
            names.extend(name.map(|name| name.trim_end_matches("\";").to_owned()));
        }
        let mut listed: Vec<&str> = LOAD_SCENARIOS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed);
    }
}
