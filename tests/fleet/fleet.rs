//! A fleet: PostgreSQL, servers behind a load balancer, and workers.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use futures_util::future::try_join_all;
use rustix::process::Signal;

use foundation::secret::MasterKeys;

use crate::client::status;
use crate::commands::{Commands, WORKSPACE};
use crate::engines::haproxy::Haproxy;
use crate::engines::postgres::Postgres;
use crate::ports::free_port;
use crate::process::{ProcessSpec, RunningProcess};
use crate::run::Context;

/// A limit of requests that no load exhausts.
pub const UNLIMITED: u32 = 2_000_000_000;

/// The time limit for a server or worker to become ready.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// How a fleet is started.
#[derive(Debug, Clone)]
pub struct FleetOptions {
    pub servers: usize,
    pub workers: usize,
    /// Whether commits wait for a standby.
    pub standby: bool,
    /// By how much the clock of the standby differs, such as `-60s`.
    pub standby_clock_offset: Option<&'static str>,
    /// The number of connections that PostgreSQL accepts.
    pub max_connections: u32,
    /// Additional flags of the servers.
    pub server_flags: Vec<String>,
    /// The program of the servers and workers; the server under test if `None`.
    pub program: Option<PathBuf>,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            servers: 3,
            workers: 2,
            standby: true,
            standby_clock_offset: None,
            max_connections: 300,
            server_flags: Vec::new(),
            program: None,
        }
    }
}

/// PostgreSQL with the fleet's database, a workspace and an API key, but without servers.
pub struct FleetDatabase {
    pub primary: Postgres,
    /// Commits wait for this standby, if there is one.
    pub standby: Option<Postgres>,
    pub commands: Commands,
    /// An API key without limits.
    pub key: String,
}

impl FleetDatabase {
    /// Starts PostgreSQL, migrates the database, and creates a workspace and an API key.
    ///
    /// # Errors
    /// Returns an error when PostgreSQL does not start or a command fails.
    pub async fn start(context: &Context, options: &FleetOptions) -> Result<Self> {
        let primary = Postgres::start_primary(context, options.max_connections).await?;
        let standby = match options.standby {
            true => Some(primary.start_standby(context, options.standby_clock_offset).await?),
            false => None,
        };
        let folder = context.folder.join("data");
        std::fs::create_dir_all(&folder)?;
        // Only servers create a key, but the commands seal secrets before one runs.
        MasterKeys::create(&folder)?;
        let program = options.program.as_ref().unwrap_or(&context.programs.server).clone();
        let commands = Commands { program, folder, database_url: primary.url() };
        commands.run(&["migrate"]).await?;
        commands.create_workspace().await?;
        let key = commands.create_key(UNLIMITED, UNLIMITED).await?;
        Ok(Self { primary, standby, commands, key })
    }
}

/// A running fleet.
pub struct Fleet {
    pub servers: Vec<ApiProcess>,
    pub workers: Vec<ApiProcess>,
    pub balancer: Haproxy,
    pub database: FleetDatabase,
}

impl Fleet {
    /// Starts a fleet whose processes connect directly to PostgreSQL.
    ///
    /// # Errors
    /// Returns an error when a part does not start.
    pub async fn start(context: &Context, options: FleetOptions) -> Result<Self> {
        let database = FleetDatabase::start(context, &options).await?;
        let url = database.primary.url();
        Self::start_on(context, database, options, &url).await
    }

    /// Starts a fleet whose processes connect to PostgreSQL by this URL.
    ///
    /// # Errors
    /// Returns an error when a part does not start.
    pub async fn start_on(
        context: &Context,
        database: FleetDatabase,
        options: FleetOptions,
        database_url: &str,
    ) -> Result<Self> {
        let flags = &options.server_flags;
        let spec = |command, name: String| {
            ApiProcess::new(context, &database.commands, command, &name, database_url)
        };
        let servers: Result<Vec<ApiProcess>> = (0..options.servers)
            .map(|number| Ok(spec(Role::Server, format!("server{number}"))?.args(flags.iter().cloned())))
            .collect();
        let workers: Result<Vec<ApiProcess>> =
            (0..options.workers).map(|number| spec(Role::Worker, format!("worker{number}"))).collect();
        let (mut servers, mut workers) = (servers?, workers?);
        try_join_all(servers.iter_mut().chain(&mut workers).map(ApiProcess::start)).await?;
        let ports: Vec<u16> = servers.iter().map(|server| server.port).collect();
        let balancer = Haproxy::balance_servers(context, &ports).await?;
        wait_until_ready(&balancer.url()).await?;
        Ok(Self { servers, workers, balancer, database })
    }

    /// Returns the URLs of the servers.
    pub fn server_urls(&self) -> Vec<String> {
        self.servers.iter().map(ApiProcess::url).collect()
    }
}

/// What a process of the fleet runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Server,
    Worker,
}

/// A running or stopped server or worker. It keeps its port when it is restarted.
pub struct ApiProcess {
    spec: ProcessSpec,
    port: u16,
    process: Option<RunningProcess>,
}

impl ApiProcess {
    /// Creates a stopped process.
    ///
    /// # Errors
    /// Returns an error when no port is free.
    pub fn new(
        context: &Context,
        commands: &Commands,
        role: Role,
        name: &str,
        database_url: &str,
    ) -> Result<Self> {
        let port = free_port()?;
        let listen = format!("127.0.0.1:{port}");
        let log = context.logs.join(format!("{name}.log"));
        let common = ["--log-format", "json", "--webhook-allow", "127.0.0.0/8"];
        let spec = ProcessSpec::new(&commands.program, &commands.folder, log);
        let spec = match role {
            Role::Server => spec
                .args(["serve", "--no-worker", "--listen", &listen, "--trusted-proxies", "127.0.0.0/8"])
                .args(["--default-per-minute", "1000000", "--default-per-day", "1000000"]),
            Role::Worker => spec.args(["worker", "--metrics-listen", &listen]),
        };
        let spec = spec.args(common).variable("DATABASE_URL", database_url);
        let spec = spec.variable("CREATOR_API_DATA_DIR", commands.folder.as_os_str());
        Ok(Self { spec, port, process: None })
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.spec = self.spec.args(args);
        self
    }

    /// Makes the clock of the process differ by this offset, such as `+5s`.
    #[must_use]
    pub fn clock_offset(mut self, library: &Path, offset: &str) -> Self {
        self.spec = self.spec.clock_offset(library, offset);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.spec = self.spec.variable(name, value);
        self
    }

    /// Starts the process with another program, which runs the arguments after its own as a command.
    #[must_use]
    pub fn through(mut self, program: &Path, args: &[&OsStr]) -> Self {
        let command = std::mem::replace(&mut self.spec.program, program.to_owned());
        let rest = std::mem::take(&mut self.spec.args);
        self.spec = self.spec.args(args).args([command]).args(rest);
        self
    }

    /// Returns the id of the running process.
    ///
    /// # Errors
    /// Returns an error when it is not running.
    pub fn id(&self) -> Result<i32> {
        Ok(self.process()?.id())
    }

    /// Returns the URL of its listener.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the port of its listener.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Changes the program, which the next start runs.
    pub fn set_program(&mut self, program: &Path) {
        self.spec.program = program.to_owned();
    }

    /// Starts the process and waits until it is ready.
    ///
    /// # Errors
    /// Returns an error when it ends or does not become ready in time.
    pub async fn start(&mut self) -> Result<()> {
        self.spawn()?;
        self.wait_until_ready().await
    }

    /// Starts the process without waiting.
    ///
    /// # Errors
    /// Returns an error when it cannot be started.
    pub fn spawn(&mut self) -> Result<()> {
        self.process = Some(RunningProcess::start(&self.spec)?);
        Ok(())
    }

    /// Waits until `/readyz` succeeds.
    ///
    /// # Errors
    /// Returns an error when the process ends or does not become ready in time.
    pub async fn wait_until_ready(&self) -> Result<()> {
        let (process, url) = (self.process()?, self.url());
        tokio::select! {
            ready = wait_until_ready(&url) => ready,
            ended = async {
                loop {
                    process.check()?;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            } => ended,
        }
    }

    /// Kills the process.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Stops the process with SIGTERM and waits for its end.
    ///
    /// # Errors
    /// Returns an error when it is not running or does not end in time.
    pub async fn stop(&mut self) -> Result<()> {
        let process = self.process()?;
        process.signal(Signal::TERM)?;
        process.wait_for_end().await?;
        self.process = None;
        Ok(())
    }

    /// Suspends the process, or continues it.
    ///
    /// # Errors
    /// Returns an error when it is not running.
    pub fn set_suspended(&self, suspended: bool) -> Result<()> {
        self.process()?.signal(if suspended { Signal::STOP } else { Signal::CONT })
    }

    fn process(&self) -> Result<&RunningProcess> {
        self.process.as_ref().context("the process is not running")
    }
}

/// Waits until `/readyz` of a server or of the load balancer succeeds.
async fn wait_until_ready(url: &str) -> Result<()> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let (start, url) = (Instant::now(), format!("{url}/readyz"));
    while status(&http, &url).await != Some(200) {
        if start.elapsed() > READY_TIMEOUT {
            bail!("{url} did not succeed within {} s", READY_TIMEOUT.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// Returns the condition that selects the rows of the fleet's workspace.
pub fn in_workspace() -> String {
    format!("workspace_id = (SELECT id FROM workspaces WHERE key = '{WORKSPACE}')")
}
