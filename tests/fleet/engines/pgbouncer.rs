//! pgbouncer, in transaction mode from version 1.21, otherwise in session mode.

use anyhow::{Context as _, Result};

use super::{create_folder, wait_until_listening};
use crate::ports::free_port;
use crate::process::{ProcessSpec, RunningProcess};
use crate::run::Context;

/// The first version that supports prepared statements in transaction mode.
const TRANSACTION_MODE_VERSION: (u32, u32) = (1, 21);

/// A running or stopped pgbouncer.
pub struct Pgbouncer {
    spec: ProcessSpec,
    process: Option<RunningProcess>,
    pub port: u16,
    /// The version and the pool mode.
    pub description: String,
}

impl Pgbouncer {
    /// Starts pgbouncer in front of PostgreSQL on a port, with up to `pool_size` connections to each database.
    ///
    /// # Errors
    /// Returns an error when it does not start.
    pub async fn start_for(context: &Context, postgres_port: u16, pool_size: u32) -> Result<Self> {
        let output =
            tokio::process::Command::new(&context.programs.pgbouncer).arg("--version").output().await?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let version = version(&text).with_context(|| format!("pgbouncer has no known version: {text}"))?;
        let mode = if version >= TRANSACTION_MODE_VERSION { "transaction" } else { "session" };
        let prepared = if mode == "transaction" { "max_prepared_statements = 1000" } else { "" };
        let folder = context.folder.join("pgbouncer");
        create_folder(&folder, context.programs.user)?;
        let port = free_port()?;
        let users = folder.join("users.txt");
        std::fs::write(&users, "\"creator\" \"\"\n\"postgres\" \"\"\n")?;
        let configuration = format!(
            "[databases]
* = host=127.0.0.1 port={postgres_port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {}
pool_mode = {mode}
default_pool_size = {pool_size}
max_client_conn = 1000
ignore_startup_parameters = extra_float_digits
server_idle_timeout = 5
server_login_retry = 1
{prepared}
",
            users.display()
        );
        let file = folder.join("pgbouncer.ini");
        std::fs::write(&file, configuration)?;
        let log = context.logs.join("pgbouncer.log");
        let spec = ProcessSpec::new(&context.programs.pgbouncer, &folder, log).args([file]);
        let spec = ProcessSpec { user: context.programs.user, ..spec };
        let description = format!("pgbouncer {}.{} in {mode} mode", version.0, version.1);
        let mut pgbouncer = Self { spec, process: None, port, description };
        pgbouncer.start().await?;
        Ok(pgbouncer)
    }

    /// Kills the process, which closes all connections.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts a stopped pgbouncer.
    ///
    /// # Errors
    /// Returns an error when it does not start.
    pub async fn start(&mut self) -> Result<()> {
        let process = self.process.insert(RunningProcess::start(&self.spec)?);
        wait_until_listening(process, self.port).await
    }
}

/// Returns the major and minor version in the output of `pgbouncer --version`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.lines().next()?.strip_prefix("PgBouncer ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.trim().parse().ok()?))
}
