//! `cargo xtask fleet`: runs many servers and workers on PostgreSQL, stops parts of them, and checks what a fleet guarantees.
//!
//! Finds or installs the engines, builds the server and the fleet program (tests/fleet), which starts them and runs the
//! scenarios, and prints one table. A guarantee that is violated fails the command.

mod programs;
mod table;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::TaskOutcome;
use programs::{FleetPrograms, Selection};
use table::{FleetTable, ScenarioResult};

/// The names of the scenarios and what each guarantees, in the order in which they run.
const SCENARIOS: &[(&str, &str)] = &[
    (
        "rate-limit",
        "the limits of an API key are exact over all servers, and a slow store does not multiply them",
    ),
    ("silent-connections", "every process serves again within 15 s after its connections stop silently"),
    ("suspended-server", "a suspended server delays a delta sync by at most 12 s, and serves again"),
    (
        "killed-workers",
        "after all workers are killed, new ones reach full throughput within 15 s; no event is lost",
    ),
    ("killed-server", "killed servers lose no acknowledged write, and a repeated POST takes effect once"),
    (
        "database-restart",
        "while PostgreSQL does not respond, requests fail with a 500 within 3 s; nothing is lost",
    ),
    ("failover", "the promotion of a synchronous standby loses no acknowledged write and no event"),
    ("failover-hosts", "as failover, with database URLs that list both servers instead of a proxy"),
    ("failover-clock", "as failover-hosts, with a standby whose clock is a minute behind"),
    (
        "standby-reads",
        "lists from a standby lag by at most 10 s, and a standby that is killed fails no request",
    ),
    ("pgbouncer-restart", "the fleet serves again after a restart of pgbouncer; nothing is lost"),
    ("pgbouncer-suite", "the integration tests pass through pgbouncer in transaction mode"),
    ("connection-exhaustion", "without free PostgreSQL connections, requests fail with a 500 within 3 s"),
    ("clock-skew", "with clocks that differ by 5 s, a delta sync loses nothing"),
    (
        "event-feed",
        "readers of the event feed receive every event once and in order, although servers are killed",
    ),
    ("idle", "transactions per second of an idle fleet"),
    ("latency", "time from commit to receipt of an event with separate workers"),
    (
        "alerts",
        "each of ten faults fires its alert within 60 s and no other; the alert ends after the repair",
    ),
    ("retention", "with 1,000,000 deliveries, dropping a day of attempts fails and delays no request"),
    (
        "rolling-upgrade",
        "an upgrade, a downgrade and another upgrade, one process at a time, fail no request",
    ),
];

/// Run many servers and workers on PostgreSQL, stop parts of them, and check what a fleet guarantees
#[derive(Debug, clap::Args)]
pub(crate) struct FleetArgs {
    /// Run only these scenarios, in their usual order (see --list)
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    only: Vec<String>,
    /// List the scenarios with their guarantees and exit
    #[arg(long)]
    list: bool,
    /// Output format of the results
    #[arg(long, value_enum, default_value = "text")]
    format: table::TableFormat,
    /// Build the programs with the release profile
    #[arg(long)]
    release: bool,
    /// Revision from which `rolling-upgrade` upgrades. The default is the first with the initial schema
    #[arg(long, value_name = "REVISION")]
    from: Option<String>,
    /// Fail if a program is missing instead of installing it
    #[arg(long)]
    no_install: bool,
}

/// Runs the scenarios, prints the table, and writes it to `target/fleet`.
///
/// # Errors
/// Returns an error when an engine is missing, a program does not build, or the fleet program fails. Violated guarantees are
/// findings.
pub(crate) fn run(args: &FleetArgs, workspace: &Path) -> Result<TaskOutcome> {
    if args.list {
        SCENARIOS.iter().for_each(|(name, guarantee)| println!("{name:<22} {guarantee}"));
        return Ok(TaskOutcome::Success);
    }
    if let Some(unknown) = args.only.iter().find(|only| !SCENARIOS.iter().any(|(name, _)| name == only)) {
        let names: Vec<&str> = SCENARIOS.iter().map(|(name, _)| *name).collect();
        bail!("unknown scenario `{unknown}`; expected one of {}", names.join(", "));
    }
    std::env::set_current_dir(workspace).context("cannot change to the folder of the workspace")?;
    let folder = fs::canonicalize(workspace)?.join("target/fleet");
    fs::create_dir_all(&folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.try_lock().context("another fleet run is active")?;

    let is_selected = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let selected: Vec<&str> =
        SCENARIOS.iter().map(|(name, _)| *name).filter(|name| is_selected(name)).collect();
    let selection = Selection {
        release: args.release,
        upgrade: is_selected("rolling-upgrade"),
        from: args.from.as_deref(),
        suite: is_selected("pgbouncer-suite"),
    };
    let programs = FleetPrograms::prepare(&folder, &selection, !args.no_install)?;
    let start = Instant::now();
    let results = run_scenarios(&programs, &selected, &folder)?;
    let table = FleetTable::new(args.release, start.elapsed(), results);
    table.write(&folder)?;
    println!("{}", table.render(args.format)?);
    Ok(if table.has_failures() { TaskOutcome::Findings } else { TaskOutcome::Success })
}

/// Runs the fleet program and returns the results of the scenarios.
fn run_scenarios(programs: &FleetPrograms, scenarios: &[&str], folder: &Path) -> Result<Vec<ScenarioResult>> {
    let (list, rows) = (folder.join("programs.json"), folder.join("rows.json"));
    fs::write(&list, serde_json::to_vec_pretty(programs)?)?;
    let _ = fs::remove_file(&rows);
    let mut command = Command::new(&programs.fleet);
    command.arg("run").arg("--programs").arg(&list).arg("--rows").arg(&rows);
    command.arg("--logs").arg(folder.join("logs")).args(["--only", &scenarios.join(",")]);
    // The fleet program exits when this pipe closes, so it never outlives this program.
    let mut child = command.stdin(Stdio::piped()).spawn().context("cannot start the fleet program")?;
    // `wait` would close a pipe that is still in `child`.
    let pipe = child.stdin.take();
    let status = child.wait()?;
    drop(pipe);
    if !status.success() {
        bail!("the fleet program failed: {status}");
    }
    let rows = fs::read(&rows).context("the fleet program wrote no results")?;
    serde_json::from_slice(&rows).context("cannot parse the results of the fleet program")
}

/// Returns the guarantee of a scenario.
fn guarantee(scenario: &str) -> &'static str {
    SCENARIOS.iter().find(|(name, _)| *name == scenario).map_or("", |(_, guarantee)| guarantee)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--only` rejects a scenario that is not listed.
    #[test]
    fn every_scenario_of_the_fleet_program_is_listed() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fleet/scenarios");
        let mut names = Vec::new();
        for file in fs::read_dir(folder).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            let name = text.lines().find_map(|line| line.strip_prefix("pub const NAME: &str = \""));
            names.extend(name.map(|name| name.trim_end_matches("\";").to_owned()));
        }
        let mut listed: Vec<&str> = SCENARIOS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed);
    }
}
