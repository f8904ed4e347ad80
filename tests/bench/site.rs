//! A site: the folder and the database of a server under test, with the data that scenarios need.
//!
//! The commands of the server create the data, once per run. Only large numbers of keys are inserted directly.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, Statement};
use tokio::process::Command;
use uuid::Uuid;

use crate::bench::Bench;
use crate::process::{self, BenchServer};
use crate::{catalog, keys};

/// The database of a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    Sqlite,
    Postgres,
}

impl DatabaseKind {
    /// Returns the database's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }

    /// Returns the first value for SQLite, and the second for PostgreSQL.
    pub fn choose<T>(self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }
}

/// The key of the workspace that the command `generate` creates.
pub const GENERATED_WORKSPACE: &str = "synthetic";

/// The key of the workspace in which students are created.
pub const WRITE_WORKSPACE: &str = "writes";

/// The folder and the database of one server.
pub struct BenchSite {
    pub kind: DatabaseKind,
    folder: PathBuf,
    url: String,
    program: PathBuf,
    /// A key with all scopes, used as the template for others.
    template: Option<String>,
    /// The API keys of the catalog's workspaces. `None` until the workspaces are created.
    catalog: Option<Vec<String>>,
    /// Whether the generated workspace exists.
    generated: bool,
}

impl BenchSite {
    /// Creates a site with an empty, migrated database.
    ///
    /// # Errors
    /// Returns an error when the database cannot be created or migrated.
    pub async fn new(bench: &Bench, kind: DatabaseKind, name: &str) -> Result<Self> {
        let folder = bench.scratch().join(format!("{}-{name}", kind.name()));
        std::fs::create_dir_all(&folder)?;
        let url = match kind {
            DatabaseKind::Sqlite => format!("sqlite://{}", folder.join("bench.sqlite").display()),
            DatabaseKind::Postgres => create_database(bench.postgres()?, name).await?,
        };
        let program = bench.server().to_owned();
        let site = Self { kind, folder, url, program, template: None, catalog: None, generated: false };
        site.run(&["migrate"]).await?;
        Ok(site)
    }

    /// Returns the database's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the folder, which contains the master key.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Returns the command that runs the worker on this site's data. The worker may send webhooks to this machine.
    pub fn worker_command(&self) -> Command {
        let mut command = self.command();
        command.args(["worker", "--log-format", "json", "--webhook-allow", "127.0.0.0/8"]);
        command
    }

    /// Opens a connection to the database.
    ///
    /// # Errors
    /// Returns an error when the database cannot be reached.
    pub async fn connect(&self) -> Result<DatabaseConnection> {
        Ok(Database::connect(&self.url).await?)
    }

    /// Runs one of the server's commands and returns its standard output.
    ///
    /// # Errors
    /// Returns an error when the command fails.
    pub async fn run(&self, args: &[&str]) -> Result<String> {
        let mut command = self.command();
        command.args(args);
        process::output(command).await
    }

    /// Starts the server with rate limits that no load exhausts.
    ///
    /// # Errors
    /// Returns an error when it does not start.
    pub async fn serve(&self) -> Result<BenchServer> {
        self.serve_with("server", &[]).await
    }

    /// Starts the server as [`serve`](Self::serve) does, with additional flags and this name for its log file.
    ///
    /// # Errors
    /// Returns an error when it does not start.
    pub async fn serve_with(&self, name: &str, flags: &[&str]) -> Result<BenchServer> {
        self.start(name, QUOTA, flags, &[]).await
    }

    /// Starts the server as [`serve`](Self::serve) does, but it exports traces to this address. `ratio` is the part of the requests
    /// whose traces are recorded.
    ///
    /// # Errors
    /// Returns an error when it does not start.
    pub async fn serve_traced(&self, name: &str, ratio: &str, collector: SocketAddr) -> Result<BenchServer> {
        let endpoint = format!("http://{collector}");
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", ratio),
        ];
        self.start(name, QUOTA, &[], &variables).await
    }

    /// Starts the server with a limit of one request per day, for an API key and for a client address.
    ///
    /// # Errors
    /// Returns an error when it does not start.
    pub async fn serve_limited(&self) -> Result<BenchServer> {
        self.start("limited", "1", &[], &[]).await
    }

    async fn start(
        &self,
        name: &str,
        quota: &str,
        flags: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<BenchServer> {
        let mut command = self.command();
        command.envs(variables.iter().copied());
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
        command.args(["--default-per-minute", quota, "--default-per-day", quota]).args(flags);
        BenchServer::start(command, &self.folder.join(format!("{name}.log"))).await
    }

    /// Returns the command of the server on this site's data. It does not inherit the environment of this process.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).env_clear();
        command.env("CREATOR_API_DATA_DIR", &self.folder).env("DATABASE_URL", &self.url);
        command
    }

    /// Returns the API keys of the catalog's workspaces. Creates the workspaces first if necessary.
    ///
    /// # Errors
    /// Returns an error when the changes cannot be applied.
    pub async fn catalog(&mut self) -> Result<Vec<String>> {
        if self.catalog.is_none() {
            eprintln!("  (creating {} workspaces of {} courses)", catalog::WORKSPACES, catalog::COURSES);
            let changes = self.folder.join("catalog.ndjson");
            std::fs::write(&changes, catalog::changes())?;
            self.run(&["apply", &changes.display().to_string()]).await?;
            let mut workspace_keys = Vec::new();
            for number in 0..catalog::WORKSPACES {
                workspace_keys.push(self.insert_keys(&catalog::workspace(number), catalog::KEYS).await?);
            }
            // Interleave the keys, so that adjacent keys belong to different workspaces.
            let interleaved = (0..catalog::KEYS)
                .flat_map(|index| workspace_keys.iter().map(move |keys| keys[index].clone()));
            self.catalog = Some(interleaved.collect());
        }
        Ok(self.catalog.clone().unwrap_or_default())
    }

    /// Returns a key of the generated workspace. Generates the workspace first if necessary, with this number of
    /// students and an average of three purchased courses per student.
    ///
    /// # Errors
    /// Returns an error when it cannot be generated.
    pub async fn generate_workspace(&mut self, students: u64) -> Result<String> {
        if !self.generated {
            let orders = orders(students);
            eprintln!("  (generating {students} students and {orders} orders)");
            let (students, orders) = (students.to_string(), orders.to_string());
            self.run(&["generate", "--courses", "40", "--students", &students, "--orders", &orders]).await?;
            if self.kind == DatabaseKind::Postgres {
                // PostgreSQL does this automatically after a while. Do it before the measurement.
                self.connect().await?.execute_unprepared("VACUUM ANALYZE").await?;
            }
            self.generated = true;
        }
        self.create_key(GENERATED_WORKSPACE).await
    }

    /// Creates an empty workspace and returns a key of it.
    ///
    /// # Errors
    /// Returns an error when the workspace cannot be created.
    pub async fn create_workspace(&self, workspace: &str) -> Result<String> {
        let (key, name) = (workspace, "Bench");
        let args =
            ["workspaces", "create", "--key", key, "--name", name, "--owner-email", "bench@example.com"];
        self.run(&args).await?;
        self.create_key(workspace).await
    }

    /// Creates one key with all scopes with the server's command.
    async fn create_key(&self, workspace: &str) -> Result<String> {
        let mut args = vec!["keys", "create", "--workspace", workspace, "--name", "bench"];
        for scope in keys::SCOPES {
            args.extend(["--scope", scope]);
        }
        Ok(self.run(&args).await?.trim().to_owned())
    }

    /// Inserts keys with all scopes directly into the database.
    ///
    /// # Errors
    /// Returns an error when the database fails.
    pub async fn insert_keys(&mut self, workspace: &str, count: usize) -> Result<Vec<String>> {
        let template = match &self.template {
            Some(template) => template.clone(),
            None => self.template.insert(self.create_key(workspace).await?).clone(),
        };
        let id = self.workspace_id(workspace).await?;
        keys::insert_copies(&self.connect().await?, &template, id, count).await
    }

    /// Returns a workspace's id in the database.
    ///
    /// # Errors
    /// Returns an error when the workspace does not exist.
    pub async fn workspace_id(&self, key: &str) -> Result<Uuid> {
        let connection = self.connect().await?;
        let backend = connection.get_database_backend();
        let statement = format!("SELECT id FROM workspaces WHERE key = '{key}'");
        let row = connection.query_one_raw(Statement::from_string(backend, statement)).await?;
        Ok(row.with_context(|| format!("the workspace `{key}` does not exist"))?.try_get_by_index(0)?)
    }
}

/// A limit of requests per minute and per day that no load exhausts.
const QUOTA: &str = "2000000000";

/// Returns the number of orders of this many students. Each order has two courses.
pub const fn orders(students: u64) -> u64 {
    students + students / 2
}

/// Creates a database on the server and returns its URL.
async fn create_database(server: &str, name: &str) -> Result<String> {
    let connection = Database::connect(server).await.context("cannot reach the PostgreSQL server")?;
    let name = format!("bench_{}_{name}", std::process::id());
    connection.execute_unprepared(&format!("CREATE DATABASE {name}")).await?;
    let (base, _) = server.rsplit_once('/').context("the URL of the PostgreSQL server has no path")?;
    Ok(format!("{base}/{name}"))
}
