//! A server's data: a folder, a database in it or on PostgreSQL, and what scenarios ask to be there.
//!
//! Everything is made by the server's own commands, and once a run; only keys in great numbers are written directly.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, Statement};
use tokio::process::Command;
use uuid::Uuid;

use crate::bench::Bench;
use crate::process::{self, Server};
use crate::{catalogue, keys};

/// Which database a site stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    /// As people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// The workspace that is generated.
pub const SYNTHETIC: &str = "synthetic";

/// The workspace that students are created in.
pub const WRITES: &str = "writes";

/// The data of one server.
pub struct Site {
    pub kind: Kind,
    folder: PathBuf,
    url: String,
    program: PathBuf,
    /// A key that has every scope; others are made after it.
    template: Option<String>,
    catalogue: Option<Vec<String>>,
    generated: bool,
}

impl Site {
    /// An empty database with the server's schema.
    ///
    /// # Errors
    /// The database cannot be made, or the server refuses it.
    pub async fn new(bench: &Bench, kind: Kind, name: &str) -> Result<Self> {
        let folder = bench.scratch().join(format!("{}-{name}", kind.name()));
        std::fs::create_dir_all(&folder)?;
        let url = match kind {
            Kind::Sqlite => format!("sqlite://{}", folder.join("bench.sqlite").display()),
            Kind::Postgres => make_database(bench.postgres()?, name).await?,
        };
        let program = bench.server().to_owned();
        let site = Self { kind, folder, url, program, template: None, catalogue: None, generated: false };
        site.run(&["migrate"]).await?;
        Ok(site)
    }

    /// The database's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its folder, which holds the master key.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// The worker's program on this site's data, which may call this machine.
    pub fn worker(&self) -> Command {
        let mut command = self.command();
        command.args(["worker", "--log-format", "json", "--webhook-allow", "127.0.0.0/8"]);
        command
    }

    /// A connection beside the server's.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn connect(&self) -> Result<DatabaseConnection> {
        Ok(Database::connect(&self.url).await?)
    }

    /// Runs one of the server's commands; gives what it wrote to stdout.
    ///
    /// # Errors
    /// The command failed.
    pub async fn run(&self, args: &[&str]) -> Result<String> {
        let mut command = self.command();
        command.args(args);
        process::output(command).await
    }

    /// Starts the server, with quotas that no load exhausts.
    ///
    /// # Errors
    /// It does not start.
    pub async fn serve(&self) -> Result<Server> {
        self.serve_with("server", &[]).await
    }

    /// Starts the server as [`serve`](Self::serve) does, with more flags and a log file of this name.
    ///
    /// # Errors
    /// It does not start.
    pub async fn serve_with(&self, name: &str, flags: &[&str]) -> Result<Server> {
        self.start(name, QUOTA, flags).await
    }

    /// Starts the server with a limit of one request a day, for a key and for a client address.
    ///
    /// # Errors
    /// It does not start.
    pub async fn serve_limited(&self) -> Result<Server> {
        self.start("limited", "1", &[]).await
    }

    async fn start(&self, name: &str, quota: &str, flags: &[&str]) -> Result<Server> {
        let mut command = self.command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
        command.args(["--default-per-minute", quota, "--default-per-day", quota]).args(flags);
        Server::start(command, &self.folder.join(format!("{name}.log"))).await
    }

    /// The server's program on this site's data, whatever the environment of this program says.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).env_clear();
        command.env("CREATOR_API_DATA_DIR", &self.folder).env("DATABASE_URL", &self.url);
        command
    }

    /// The keys of the catalogue's workspaces, which exist from then on.
    ///
    /// # Errors
    /// The changes were not applied.
    pub async fn catalogue(&mut self) -> Result<Vec<String>> {
        if self.catalogue.is_none() {
            eprintln!("  (making {} workspaces of {} courses)", catalogue::WORKSPACES, catalogue::COURSES);
            let changes = self.folder.join("catalogue.ndjson");
            std::fs::write(&changes, catalogue::changes())?;
            self.run(&["apply", &changes.display().to_string()]).await?;
            let mut secrets = Vec::new();
            for number in 0..catalogue::WORKSPACES {
                secrets.push(self.keys(&catalogue::workspace(number), catalogue::KEYS).await?);
            }
            // One key of each workspace after the other, so that neighbours never share one.
            let turns =
                (0..catalogue::KEYS).flat_map(|turn| secrets.iter().map(move |keys| keys[turn].clone()));
            self.catalogue = Some(turns.collect());
        }
        Ok(self.catalogue.clone().unwrap_or_default())
    }

    /// A key of the generated workspace, which exists from then on: this many students, with three courses bought by
    /// each of them in the mean.
    ///
    /// # Errors
    /// It was not generated.
    pub async fn generated(&mut self, students: u64) -> Result<String> {
        if !self.generated {
            let orders = orders(students);
            eprintln!("  (generating {students} students and {orders} orders)");
            let (students, orders) = (students.to_string(), orders.to_string());
            self.run(&["generate", "--courses", "40", "--students", &students, "--orders", &orders]).await?;
            if self.kind == Kind::Postgres {
                // What the server does by itself after a while, done before anything is measured.
                self.connect().await?.execute_unprepared("VACUUM ANALYZE").await?;
            }
            self.generated = true;
        }
        self.key(SYNTHETIC).await
    }

    /// A key of an empty workspace, which exists from then on.
    ///
    /// # Errors
    /// The workspace cannot be made.
    pub async fn empty(&self, workspace: &str) -> Result<String> {
        let (key, name) = (workspace, "Bench");
        let args =
            ["workspaces", "create", "--key", key, "--name", name, "--owner-email", "bench@example.com"];
        self.run(&args).await?;
        self.key(workspace).await
    }

    /// Makes one key with every scope, by the server's command.
    async fn key(&self, workspace: &str) -> Result<String> {
        let mut args = vec!["keys", "create", "--workspace", workspace, "--name", "bench"];
        for scope in keys::SCOPES {
            args.extend(["--scope", scope]);
        }
        Ok(self.run(&args).await?.trim().to_owned())
    }

    /// Makes many keys with every scope, directly.
    ///
    /// # Errors
    /// The database refuses them.
    pub async fn keys(&mut self, workspace: &str, count: usize) -> Result<Vec<String>> {
        let template = match &self.template {
            Some(template) => template.clone(),
            None => self.template.insert(self.key(workspace).await?).clone(),
        };
        let id = self.workspace_id(workspace).await?;
        keys::multiply(&self.connect().await?, &template, id, count).await
    }

    /// A workspace's id in the database.
    ///
    /// # Errors
    /// There is no such workspace.
    pub async fn workspace_id(&self, key: &str) -> Result<Uuid> {
        let connection = self.connect().await?;
        let backend = connection.get_database_backend();
        let statement = format!("SELECT id FROM workspaces WHERE key = '{key}'");
        let row = connection.query_one_raw(Statement::from_string(backend, statement)).await?;
        Ok(row.with_context(|| format!("there is no workspace `{key}`"))?.try_get_by_index(0)?)
    }
}

/// Requests a minute and a day that no load exhausts.
const QUOTA: &str = "2000000000";

/// Orders of that many students, each of two courses.
pub const fn orders(students: u64) -> u64 {
    students + students / 2
}

/// Makes a database of its own on the server; gives its address.
async fn make_database(server: &str, name: &str) -> Result<String> {
    let connection = Database::connect(server).await.context("cannot reach the PostgreSQL server")?;
    let name = format!("bench_{}_{name}", std::process::id());
    connection.execute_unprepared(&format!("CREATE DATABASE {name}")).await?;
    let (base, _) = server.rsplit_once('/').context("the address of the PostgreSQL server has no path")?;
    Ok(format!("{base}/{name}"))
}
