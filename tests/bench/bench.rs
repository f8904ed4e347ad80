//! One run: its arguments, its scratch folder, its rows, and the scenarios in their order.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::report::Row;
use crate::scenarios;
use crate::site::{Kind, Site};

/// What is measured, and how.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The server's binary
    #[arg(long)]
    server: PathBuf,
    /// Address of a PostgreSQL server on which databases may be made
    #[arg(long)]
    postgres: Option<String>,
    /// Which databases are measured
    #[arg(long, value_enum, default_value = "both")]
    database: Databases,
    /// Scenarios to run; all when none is named
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How much data there is
    #[arg(long, value_enum, default_value = "small")]
    scale: Scale,
    /// Length of a measured window in seconds; two sides that are compared have five turns, each of a fifth of it
    /// and a second at least
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// An empty folder for databases and logs, on the disk that is measured
    #[arg(long)]
    scratch: PathBuf,
    /// File that the rows are written to, as JSON
    #[arg(long)]
    rows: PathBuf,
}

/// Which databases are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Databases {
    Sqlite,
    Postgres,
    Both,
}

/// How much data there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Scale {
    /// For a quick run
    Small,
    /// What the goals speak of
    Full,
}

impl Scale {
    /// Students of the large workspace.
    pub const fn large(self) -> u64 {
        match self {
            Self::Small => 50_000,
            Self::Full => 1_000_000,
        }
    }

    /// Students of the small workspace: a hundredth.
    pub const fn small(self) -> u64 {
        self.large() / 100
    }
}

/// What the scenarios share.
pub struct Bench {
    args: Args,
    rows: Vec<Row>,
}

impl Bench {
    /// The server's binary.
    pub fn server(&self) -> &Path {
        &self.args.server
    }

    /// Where PostgreSQL is.
    ///
    /// # Errors
    /// Nobody said.
    pub fn postgres(&self) -> Result<&str> {
        self.args.postgres.as_deref().context("--postgres names no server")
    }

    /// A folder for whatever a scenario leaves; it is gone after the run.
    pub fn scratch(&self) -> &Path {
        &self.args.scratch
    }

    /// How much data there is.
    pub fn scale(&self) -> Scale {
        self.args.scale
    }

    /// The length of a measured window; comparisons and queues make more or less of it.
    pub fn window(&self) -> Duration {
        Duration::from_secs_f64(self.args.seconds.clamp(0.2, 600.0))
    }

    /// Takes a row in, and shows that it is there.
    pub fn report(&mut self, row: Row) {
        let met = row.met.map_or("", |met| if met { "  met" } else { "  NOT MET" });
        let ratio = row.ratio.map_or_else(String::new, |ratio| format!("  {ratio:.2} x"));
        eprintln!("  {}: {:.1} {}{ratio}{met}", row.what, row.figure, row.unit);
        self.rows.push(row);
    }

    fn wants(&self, scenario: &str) -> bool {
        self.args.only.is_empty() || self.args.only.iter().any(|name| name == scenario)
    }

    fn kinds(&self) -> Vec<Kind> {
        match self.args.database {
            Databases::Sqlite => vec![Kind::Sqlite],
            Databases::Postgres => vec![Kind::Postgres],
            Databases::Both => vec![Kind::Sqlite, Kind::Postgres],
        }
    }
}

/// Runs the scenarios and writes their rows.
///
/// # Errors
/// A scenario could not run. The rows of those before it are written all the same.
pub async fn run(args: Args) -> Result<()> {
    let mut bench = Bench { args, rows: Vec::new() };
    let outcome = run_all(&mut bench).await;
    let rows = serde_json::to_vec_pretty(&bench.rows)?;
    std::fs::write(&bench.args.rows, rows).context("cannot write the rows")?;
    outcome
}

async fn run_all(bench: &mut Bench) -> Result<()> {
    for kind in bench.kinds() {
        if !scenarios::ALL.iter().any(|scenario| bench.wants(scenario.name)) {
            break;
        }
        eprintln!("on {}", kind.name());
        let mut site =
            Site::new(bench, kind, "large").await.with_context(|| format!("on {}", kind.name()))?;
        for scenario in scenarios::ALL {
            if bench.wants(scenario.name) {
                let failed = || format!("scenario `{}` on {}", scenario.name, kind.name());
                (scenario.run)(bench, &mut site).await.with_context(failed)?;
            }
        }
    }
    if bench.wants(scenarios::lists::NAME) {
        let row = scenarios::lists::beside_each_other(&bench.rows);
        row.into_iter().for_each(|row| bench.report(row));
    }
    Ok(())
}
