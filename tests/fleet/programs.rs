//! The paths of the engines and of the servers, which `cargo xtask fleet` has found or built.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The paths of all programs.
#[derive(Debug, Clone, Deserialize)]
pub struct FleetPrograms {
    /// The server under test.
    pub server: PathBuf,
    /// The server of an earlier revision, if a selected scenario needs it.
    pub earlier_server: Option<PathBuf>,
    /// The integration tests, if a selected scenario runs them.
    pub suite: Option<PathBuf>,
    /// The folder of the PostgreSQL programs.
    pub postgres: PathBuf,
    pub haproxy: PathBuf,
    pub pgbouncer: PathBuf,
    pub redis: PathBuf,
    /// `None` if it is not installed.
    pub prometheus: Option<PathBuf>,
    /// The library of faketime for programs with several threads.
    pub faketime: PathBuf,
    /// The user and group ids with which the engines run, if they differ from those of this process.
    pub user: Option<(u32, u32)>,
}

impl FleetPrograms {
    /// Reads the list that `cargo xtask fleet` has written.
    ///
    /// # Errors
    /// Returns an error when the file cannot be read or parsed.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_slice(&text).context("cannot parse the list of programs")
    }
}
