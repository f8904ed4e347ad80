//! One run: arguments, temporary folder, and the scenarios in order.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::process::{ProcessSpec, RunningProcess};
use crate::programs::FleetPrograms;
use crate::report::{Report, ScenarioResult};
use crate::scenarios;

/// The time limit of a scenario.
const SCENARIO_TIMEOUT: Duration = Duration::from_secs(12 * 60);

/// The arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// File with the paths of all programs, as JSON
    #[arg(long)]
    programs: PathBuf,
    /// Scenarios to run [default: all]
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Folder for the logs, which are kept
    #[arg(long)]
    logs: PathBuf,
    /// File for the results, as JSON
    #[arg(long)]
    rows: PathBuf,
}

/// What a scenario needs to start a fleet.
pub struct Context {
    pub programs: FleetPrograms,
    /// An empty temporary folder of the scenario.
    pub folder: PathBuf,
    /// The folder for the logs of the scenario.
    pub logs: PathBuf,
}

/// Runs the scenarios and writes the results. A scenario that fails does not prevent the next one.
///
/// # Errors
/// Returns an error when a folder or the results cannot be written.
pub async fn run(args: RunArgs) -> Result<()> {
    let programs = FleetPrograms::read(&args.programs)?;
    let folder = tempfile::Builder::new().prefix("creator-api-fleet-").tempdir()?;
    // The engines run as another user.
    open_to_all(folder.path())?;
    let _remover = remove_at_end(folder.path())?;
    let mut results = Vec::new();
    for scenario in scenarios::ALL {
        if !args.only.is_empty() && !args.only.iter().any(|name| name == scenario.name) {
            continue;
        }
        eprintln!("{}", scenario.name);
        let folder = folder.path().join(scenario.name);
        let context = Context { programs: programs.clone(), logs: folder.join("logs"), folder };
        for folder in [&context.folder, &context.logs] {
            std::fs::create_dir_all(folder)?;
            open_to_all(folder)?;
        }
        results.push(run_scenario(scenario, &context).await);
        keep_logs(&context.logs, &args.logs.join(scenario.name))?;
        let _ = std::fs::remove_dir_all(&context.folder);
        std::fs::write(&args.rows, serde_json::to_vec_pretty(&results)?)
            .context("cannot write the results")?;
    }
    Ok(())
}

async fn run_scenario(scenario: &scenarios::Scenario, context: &Context) -> ScenarioResult {
    let start = Instant::now();
    let mut report = Report::default();
    let outcome = tokio::time::timeout(SCENARIO_TIMEOUT, (scenario.run)(context, &mut report)).await;
    let error = match outcome {
        Ok(outcome) => outcome.err().map(|error| format!("{error:#}")),
        Err(_) => Some(format!("expected to end within {} s", SCENARIO_TIMEOUT.as_secs())),
    };
    let seconds = start.elapsed().as_secs_f64();
    match &error {
        None => eprintln!("  done in {seconds:.0} s"),
        Some(error) => eprintln!("  FAILED in {seconds:.0} s: {error}"),
    }
    ScenarioResult { scenario: scenario.name, seconds, error, figures: report.figures }
}

/// Lets other users write to a folder.
fn open_to_all(folder: &Path) -> Result<()> {
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(folder, permissions).with_context(|| format!("cannot open {}", folder.display()))
}

/// Copies the logs of a scenario. The engines cannot write to their destination if only this user can.
fn keep_logs(from: &Path, to: &Path) -> Result<()> {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to)?;
    for file in std::fs::read_dir(from)? {
        let file = file?;
        std::fs::copy(file.path(), to.join(file.file_name()))?;
    }
    Ok(())
}

/// Starts a process whose end removes the folder, so that it is removed even if this program is killed.
fn remove_at_end(folder: &Path) -> Result<RunningProcess> {
    let spec =
        ProcessSpec::new(Path::new("/bin/sleep"), Path::new("/"), "/dev/null".into()).args(["infinity"]);
    RunningProcess::start(&ProcessSpec { removed_folder: Some(folder.to_owned()), ..spec })
}
