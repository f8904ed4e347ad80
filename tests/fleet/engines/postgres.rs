//! A PostgreSQL server, as a primary or as its synchronous standby.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::Signal;
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, Statement};

use super::{START_TIMEOUT, create_folder};
use crate::ports::free_port;
use crate::process::{ProcessSpec, RunningProcess};
use crate::run::Context;

/// The name of the standby in `synchronous_standby_names`.
const STANDBY: &str = "standby";

/// The role and the database of the fleet. The role is not a superuser, so that it cannot use the reserved connections.
const ROLE: &str = "creator";

/// A running or stopped server.
pub struct Postgres {
    spec: ProcessSpec,
    programs: PathBuf,
    pub port: u16,
    process: Option<RunningProcess>,
}

impl Postgres {
    /// Starts a primary with an empty database of the fleet. Commits wait for no standby until [`Self::start_standby`] has started
    /// one.
    ///
    /// # Errors
    /// Returns an error when PostgreSQL does not start.
    pub async fn start_primary(context: &Context, max_connections: u32) -> Result<Self> {
        let folder = context.folder.join("primary");
        create_folder(&folder, context.programs.user)?;
        let data = folder.join("data");
        let mut initdb = tool(context, "initdb");
        initdb.args([
            "--no-sync",
            "--auth=trust",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "--pgdata",
        ]);
        run_tool(initdb.arg(&data)).await?;
        let settings = format!(
            "
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = {max_connections}
max_wal_size = '4GB'
wal_retrieve_retry_interval = '500ms'
log_min_messages = warning
"
        );
        append(&data.join("postgresql.conf"), &settings)?;
        let mut primary = Self::new(context, "primary", &data)?;
        primary.start().await?;
        let connection = primary.connect_as_superuser("postgres").await?;
        for statement in [
            format!("CREATE ROLE {ROLE} LOGIN"),
            format!("ALTER ROLE {ROLE} SET statement_timeout = '10s'"),
            format!("CREATE DATABASE {ROLE} OWNER {ROLE}"),
        ] {
            connection.execute_unprepared(&statement).await?;
        }
        connection.close().await?;
        Ok(primary)
    }

    /// Copies this primary to a standby, starts it with a clock that differs by an offset such as `-60s`, and makes commits wait for
    /// it.
    ///
    /// # Errors
    /// Returns an error when the standby does not start.
    pub async fn start_standby(&self, context: &Context, clock_offset: Option<&str>) -> Result<Self> {
        let folder = context.folder.join("standby");
        create_folder(&folder, context.programs.user)?;
        let data = folder.join("data");
        let mut copy = tool(context, "pg_basebackup");
        copy.args(["--no-sync", "--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf"]);
        let connection =
            format!("host=127.0.0.1 port={} user=postgres application_name={STANDBY}", self.port);
        run_tool(copy.args(["--dbname", &connection, "--pgdata"]).arg(&data)).await?;
        let mut standby = Self::new(context, "standby", &data)?;
        if let Some(offset) = clock_offset {
            standby.spec = standby.spec.clock_offset(&context.programs.faketime, offset);
        }
        standby.start().await?;
        let primary = self.connect_as_superuser("postgres").await?;
        primary
            .execute_unprepared(&format!("ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'"))
            .await?;
        primary.execute_unprepared("SELECT pg_reload_conf()").await?;
        let start = Instant::now();
        while query_number(&primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
            .await?
            != 1
        {
            if start.elapsed() > START_TIMEOUT {
                bail!("the standby did not become synchronous within {} s", START_TIMEOUT.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        primary.close().await?;
        Ok(standby)
    }

    fn new(context: &Context, name: &str, data: &Path) -> Result<Self> {
        let programs = context.programs.postgres.clone();
        let log = context.logs.join(format!("postgres-{name}.log"));
        let spec = ProcessSpec::new(&programs.join("postgres"), data, log);
        let port = free_port()?;
        let spec = spec.args(["-D".into(), data.to_owned(), "-p".into(), port.to_string().into()]);
        let spec = ProcessSpec { user: context.programs.user, end_signal: "QUIT", ..spec };
        Ok(Self { spec, programs, port, process: None })
    }

    /// Starts the server and waits until it accepts queries.
    ///
    /// # Errors
    /// Returns an error when it does not start.
    pub async fn start(&mut self) -> Result<()> {
        let process = self.process.insert(RunningProcess::start(&self.spec)?);
        let start = Instant::now();
        loop {
            let mut ready = tokio::process::Command::new(self.programs.join("pg_isready"));
            ready.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
            if ready.status().await.is_ok_and(|status| status.success()) {
                return Ok(());
            }
            process.check()?;
            if start.elapsed() > START_TIMEOUT {
                bail!("PostgreSQL does not accept queries after {} s", START_TIMEOUT.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Suspends the server with all its processes.
    ///
    /// # Errors
    /// Returns an error when it is not running.
    pub fn suspend(&self) -> Result<()> {
        self.process()?.signal_with_children(Signal::STOP)
    }

    /// Kills the server with all its processes, and waits for their end.
    ///
    /// # Errors
    /// Returns an error when it is not running.
    pub async fn kill(&mut self) -> Result<()> {
        let process = self.process()?;
        process.kill_with_children().await?;
        self.process = None;
        Ok(())
    }

    /// Makes a standby the primary. It was copied before the primary waited for a standby, so it waits for none.
    ///
    /// # Errors
    /// Returns an error when the promotion fails.
    pub async fn promote(&self) -> Result<()> {
        let connection = self.connect_as_superuser("postgres").await?;
        connection.execute_unprepared("SELECT pg_promote(true, 60)").await?;
        Ok(connection.close().await?)
    }

    fn process(&self) -> Result<&RunningProcess> {
        self.process.as_ref().context("PostgreSQL is not running")
    }

    /// Returns the URL of the fleet's database for a connection to this port, which can be that of a proxy.
    pub fn url_with_port(port: u16) -> String {
        format!("postgres://{ROLE}@127.0.0.1:{port}/{ROLE}")
    }

    /// Returns the URL of the fleet's database that lists servers on these ports.
    pub fn url_with_ports(ports: &[u16]) -> String {
        let hosts: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        format!("postgres://{ROLE}@{}/{ROLE}", hosts.join(","))
    }

    /// Returns the URL of the fleet's database.
    pub fn url(&self) -> String {
        Self::url_with_port(self.port)
    }

    /// Opens a connection to the fleet's database.
    ///
    /// # Errors
    /// Returns an error when the server cannot be reached.
    pub async fn connect(&self) -> Result<DatabaseConnection> {
        self.connect_as_superuser(ROLE).await
    }

    /// Opens a connection to a database as the superuser.
    ///
    /// # Errors
    /// Returns an error when the server cannot be reached.
    pub async fn connect_as_superuser(&self, database: &str) -> Result<DatabaseConnection> {
        let mut options =
            ConnectOptions::new(format!("postgres://postgres@127.0.0.1:{}/{database}", self.port));
        options.max_connections(1).sqlx_logging(false);
        Database::connect(options).await.context("cannot connect to PostgreSQL")
    }
}

/// Returns the single number that a query selects.
///
/// # Errors
/// Returns an error when the query fails or selects something else.
pub async fn query_number(connection: &DatabaseConnection, sql: &str) -> Result<i64> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let row = connection.query_one_raw(statement).await?.with_context(|| format!("no row: {sql}"))?;
    Ok(row.try_get_by_index(0)?)
}

fn tool(context: &Context, name: &str) -> std::process::Command {
    let mut command = std::process::Command::new(context.programs.postgres.join(name));
    command.current_dir(&context.folder);
    if let Some((user, group)) = context.programs.user {
        command.uid(user).gid(group);
    }
    command
}

async fn run_tool(command: &mut std::process::Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let command = std::mem::replace(command, std::process::Command::new("true"));
    let output = tokio::process::Command::from(command).output().await?;
    if !output.status.success() {
        bail!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

fn append(path: &Path, text: &str) -> Result<()> {
    use std::io::Write as _;
    let mut file = std::fs::OpenOptions::new().append(true).open(path)?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}
