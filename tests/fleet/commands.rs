//! Runs the commands of the server that create a workspace, API keys and webhook subscriptions.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use tokio::process::Command;

/// The key of the workspace that all scenarios use.
pub const WORKSPACE: &str = "acme";

/// All scopes that the scenarios need.
const SCOPES: [&str; 3] = ["read:courses", "read:students", "write:students"];

/// The server's commands on one database.
#[derive(Debug, Clone)]
pub struct Commands {
    pub program: PathBuf,
    /// The data folder, which contains the master key.
    pub folder: PathBuf,
    pub database_url: String,
}

impl Commands {
    /// Runs a command and returns its standard output.
    ///
    /// # Errors
    /// Returns an error with its standard error when it fails.
    pub async fn run(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(&self.folder).env_clear().stdin(Stdio::null()).kill_on_drop(true);
        command.env("CREATOR_API_DATA_DIR", &self.folder).env("DATABASE_URL", &self.database_url);
        let output = command.output().await.context("cannot start the server's program")?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            bail!("`creator-api {}` failed with {}: {}", args.join(" "), output.status, error.trim());
        }
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// Creates the workspace.
    ///
    /// # Errors
    /// Returns an error when the command fails.
    pub async fn create_workspace(&self) -> Result<()> {
        let owner = ["--name", "Acme", "--owner-email", "owner@acme.example"];
        self.run(&[&["workspaces", "create", "--key", WORKSPACE][..], &owner].concat()).await.map(drop)
    }

    /// Creates an API key with limits per minute and per day, and returns its secret.
    ///
    /// # Errors
    /// Returns an error when the command fails.
    pub async fn create_key(&self, per_minute: u32, per_day: u32) -> Result<String> {
        let (per_minute, per_day) = (per_minute.to_string(), per_day.to_string());
        let mut args = vec!["keys", "create", "--workspace", WORKSPACE, "--name", "fleet"];
        args.extend(["--per-minute", &per_minute, "--per-day", &per_day]);
        SCOPES.iter().for_each(|scope| args.extend(["--scope", scope]));
        self.run(&args).await
    }

    /// Subscribes a URL to `student.created` and returns the secret of its signatures.
    ///
    /// # Errors
    /// Returns an error when the command fails.
    pub async fn subscribe(&self, url: &str) -> Result<String> {
        let event = ["--event", "student.created", "--webhook-allow", "127.0.0.0/8"];
        self.run(&[&["webhooks", "create", "--workspace", WORKSPACE, "--url", url][..], &event].concat())
            .await
    }
}

/// Returns whether a command of a server accepts a flag.
///
/// # Errors
/// Returns an error when the command's help cannot be printed.
pub async fn accepts_flag(program: &Path, command: &str, flag: &str) -> Result<bool> {
    let output = Command::new(program).args([command, "--help"]).stdin(Stdio::null()).output().await;
    let output = output.context("cannot start the server's program")?;
    Ok(String::from_utf8_lossy(&output.stdout).contains(flag))
}
