//! One run of the benchmarks: arguments, scratch folder, result rows, and the scenarios in order.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::report::ResultRow;
use crate::scenarios;
use crate::site::{BenchSite, DatabaseKind};

/// The arguments of `run`.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Path of the server binary
    #[arg(long)]
    server: PathBuf,
    /// URL of a PostgreSQL server on which databases can be created
    #[arg(long)]
    postgres: Option<String>,
    /// Databases to measure
    #[arg(long, value_enum, default_value = "both")]
    database: Databases,
    /// Scenarios to run [default: all]
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Amount of data
    #[arg(long, value_enum, default_value = "small")]
    scale: DataScale,
    /// Length of a measured window in seconds. A comparison of two sides measures each side five times, for a fifth of
    /// this length but at least one second
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Empty folder for databases and logs, on the disk to measure
    #[arg(long)]
    scratch: PathBuf,
    /// File for the result rows, as JSON
    #[arg(long)]
    rows: PathBuf,
}

/// The databases to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Databases {
    Sqlite,
    Postgres,
    Both,
}

/// The amount of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum DataScale {
    /// For a quick run
    Small,
    /// The size for which the goals are defined
    Full,
}

impl DataScale {
    /// Returns the number of students of the large workspace.
    pub const fn large_students(self) -> u64 {
        match self {
            Self::Small => 50_000,
            Self::Full => 1_000_000,
        }
    }

    /// Returns the number of students of the small workspace, a hundredth of the large one's.
    pub const fn small_students(self) -> u64 {
        self.large_students() / 100
    }
}

/// The state shared by the scenarios.
pub struct Bench {
    args: RunArgs,
    rows: Vec<ResultRow>,
}

impl Bench {
    /// Returns the path of the server binary.
    pub fn server(&self) -> &Path {
        &self.args.server
    }

    /// Returns the URL of the PostgreSQL server.
    ///
    /// # Errors
    /// Returns an error without `--postgres`.
    pub fn postgres(&self) -> Result<&str> {
        self.args.postgres.as_deref().context("specify a PostgreSQL server with --postgres")
    }

    /// Returns the scratch folder, which is deleted after the run.
    pub fn scratch(&self) -> &Path {
        &self.args.scratch
    }

    /// Returns the amount of data.
    pub fn scale(&self) -> DataScale {
        self.args.scale
    }

    /// Returns the length of a measured window, from 0.2 to 600 seconds. Some scenarios use a longer or shorter one.
    pub fn window(&self) -> Duration {
        Duration::from_secs_f64(self.args.seconds.clamp(0.2, 600.0))
    }

    /// Adds a result row and prints it.
    pub fn report(&mut self, row: ResultRow) {
        let met = row.met.map_or("", |met| if met { "  met" } else { "  NOT MET" });
        let ratio = row.ratio.map_or_else(String::new, |ratio| format!("  {ratio:.2} x"));
        eprintln!("  {}: {:.1} {}{ratio}{met}", row.name, row.figure, row.unit);
        self.rows.push(row);
    }

    fn includes(&self, scenario: &str) -> bool {
        self.args.only.is_empty() || self.args.only.iter().any(|name| name == scenario)
    }

    fn database_kinds(&self) -> Vec<DatabaseKind> {
        match self.args.database {
            Databases::Sqlite => vec![DatabaseKind::Sqlite],
            Databases::Postgres => vec![DatabaseKind::Postgres],
            Databases::Both => vec![DatabaseKind::Sqlite, DatabaseKind::Postgres],
        }
    }
}

/// Runs the scenarios and writes the result rows.
///
/// # Errors
/// Returns an error when a scenario failed. The rows of all others are still written.
pub async fn run(args: RunArgs) -> Result<()> {
    let mut bench = Bench { args, rows: Vec::new() };
    let outcome = run_all(&mut bench).await;
    let rows = serde_json::to_vec_pretty(&bench.rows)?;
    std::fs::write(&bench.args.rows, rows).context("cannot write the rows")?;
    outcome
}

async fn run_all(bench: &mut Bench) -> Result<()> {
    let mut failed = Vec::new();
    for kind in bench.database_kinds() {
        if !scenarios::ALL.iter().any(|scenario| bench.includes(scenario.name)) {
            break;
        }
        eprintln!("on {}", kind.name());
        let mut site =
            BenchSite::new(bench, kind, "large").await.with_context(|| format!("on {}", kind.name()))?;
        for scenario in scenarios::ALL {
            if bench.includes(scenario.name)
                && let Err(error) = (scenario.run)(bench, &mut site).await
            {
                eprintln!("  {} FAILED: {error:#}", scenario.name);
                failed.push(format!("`{}` on {}", scenario.name, kind.name()));
            }
        }
    }
    if bench.includes(scenarios::lists::NAME) {
        let row = scenarios::lists::compare_databases(&bench.rows);
        row.into_iter().for_each(|row| bench.report(row));
    }
    ensure!(failed.is_empty(), "these scenarios failed: {}", failed.join(", "));
    Ok(())
}
