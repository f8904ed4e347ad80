//! A PostgreSQL server of a test with a streaming standby.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sea_orm::{ConnectOptions, ConnectionTrait, DatabaseConnection, Statement, TryGetable};

use super::{skip, wait_until};
use crate::ports::free_port;

/// The environment variable with the folder of the server programs. `cargo xtask test` sets it.
const PROGRAMS_VARIABLE: &str = "TEST_POSTGRES_PROGRAMS";

/// Starts the server, waits until the pipe closes, and stops the server without a checkpoint, like a crash.
const SUPERVISOR: &str = r#"
"$BIN/postgres" -D "$DATA" -p "$PORT" >>"$DATA/server.log" 2>&1 </dev/null &
server=$!
read -r _
kill -QUIT "$server" 2>/dev/null
wait "$server"
"#;

/// The line of the file `postmaster.pid` that contains the state of the server, from 0.
const STATE_LINE: usize = 7;

/// The name of the role and of the database. The role is no superuser.
const NAME: &str = "creator";

/// The name of the standby in `synchronous_standby_names`.
const STANDBY: &str = "standby";

/// A primary and its standby. Dropping it stops both.
pub struct PostgresPair {
    pub primary: PostgresServer,
    pub standby: PostgresServer,
    folder: tempfile::TempDir,
}

impl PostgresPair {
    /// Starts both servers with an empty database. If `is_synchronous`, commits wait for the standby. Returns `None` without the
    /// programs, as in a plain `cargo test`.
    pub async fn start(is_synchronous: bool) -> Option<Self> {
        let Some(programs) = std::env::var_os(PROGRAMS_VARIABLE) else {
            skip(&format!("{PROGRAMS_VARIABLE} is not set; `cargo xtask test` sets it"));
            return None;
        };
        let programs = PathBuf::from(programs);
        let folder = tempfile::Builder::new().prefix("creator-api-pair-").tempdir().expect("a folder");
        let user = server_user(folder.path());
        if let Some((user, group)) = user {
            chown(folder.path(), Some(user), Some(group)).expect("the folder can be given to the user");
        }
        let new = |name| PostgresServer::new(&programs, folder.path().join(name), user);
        let (mut primary, mut standby) = (new("primary"), new("standby"));
        primary.tool("initdb", &["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8"]);
        let settings = "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nfsync = off\nmax_wal_size = '1GB'\n\
                        wal_retrieve_retry_interval = '200ms'\n";
        append(&primary.data.join("postgresql.conf"), settings);
        primary.start().await;
        let admin = primary.connect("postgres").await;
        admin.execute_unprepared(&format!("CREATE ROLE {NAME} LOGIN")).await.expect("a role");
        admin.execute_unprepared(&format!("CREATE DATABASE {NAME} OWNER {NAME}")).await.expect("a database");
        let source = format!("host=127.0.0.1 port={} user=postgres application_name={STANDBY}", primary.port);
        let copy = ["--no-sync", "--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf"];
        standby.tool("pg_basebackup", &[&copy[..], &["--dbname", &source]].concat());
        standby.start().await;
        if is_synchronous {
            let names = format!("ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'");
            admin.execute_unprepared(&names).await.expect("the setting is stored");
            admin.execute_unprepared("SELECT pg_reload_conf()").await.expect("the setting applies");
        }
        let state = if is_synchronous { "sync" } else { "async" };
        let streaming = format!(
            "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '{state}'"
        );
        wait_until("the standby streams", async || query::<bool>(&admin, &streaming).await).await;
        Some(Self { primary, standby, folder })
    }

    /// Returns a further server whose data folder does not exist yet.
    pub fn further_server(&self) -> PostgresServer {
        let PostgresServer { programs, user, .. } = &self.primary;
        PostgresServer::new(programs, self.folder.path().join("further"), *user)
    }

    /// Returns the folder with the data of the servers.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the URL with both servers, the standby first.
    pub fn url(&self) -> String {
        url_with([&self.standby, &self.primary])
    }

    /// Returns the URL with both servers, the primary first.
    pub fn url_with_primary_first(&self) -> String {
        url_with([&self.primary, &self.standby])
    }
}

fn url_with([first, second]: [&PostgresServer; 2]) -> String {
    format!("postgres://{NAME}@127.0.0.1:{},127.0.0.1:{}/{NAME}", first.port, second.port)
}

/// A PostgreSQL server, which can be stopped.
pub struct PostgresServer {
    programs: PathBuf,
    data: PathBuf,
    user: Option<(u32, u32)>,
    port: u16,
    supervisor: Option<Child>,
}

impl PostgresServer {
    fn new(programs: &Path, data: PathBuf, user: Option<(u32, u32)>) -> Self {
        let port = free_port().expect("a free port");
        Self { programs: programs.to_owned(), data, user, port, supervisor: None }
    }

    /// Returns the URL of the database on this server.
    pub fn url(&self) -> String {
        format!("postgres://{NAME}@127.0.0.1:{}/{NAME}", self.port)
    }

    /// Returns the URL of the database as the superuser.
    pub fn superuser_url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{NAME}", self.port)
    }

    /// Adds settings to the configuration file. They apply from the next start.
    pub fn configure(&self, settings: &str) {
        append(&self.data.join("postgresql.conf"), &format!("{settings}\n"));
    }

    /// Runs shell commands as the user of the server. `PGDATA` is its data folder, and `variables` are other variables.
    pub fn run_shell(&self, commands: &str, variables: &[(&str, &str)]) {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = self.command("/bin/sh");
        command.args(["-euc", commands]).env("PATH", format!("{}:{path}", self.programs.display()));
        command.env("PGDATA", &self.data).envs(variables.iter().copied());
        let output = command.output().expect("the shell runs");
        assert!(output.status.success(), "{commands}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Starts the server and waits until it accepts connections.
    pub async fn start(&mut self) {
        let mut command = self.command("/bin/sh");
        command.args(["-c", SUPERVISOR]).env("BIN", &self.programs).env("DATA", &self.data);
        // In a separate process group, so that Ctrl+C reaches the server only through the supervisor.
        command.env("PORT", self.port.to_string()).process_group(0).stdin(Stdio::piped());
        self.supervisor = Some(command.spawn().expect("the shell starts"));
        // A server on the same port that another process has started is not mistaken for this one.
        let is_ready = async || self.lock_file_line(STATE_LINE).is_some_and(|state| state.trim() == "ready");
        wait_until("PostgreSQL accepts connections", is_ready).await;
    }

    /// Stops the server without a checkpoint. All connections break.
    pub fn kill(&mut self) {
        if let Some(mut supervisor) = self.supervisor.take() {
            drop(supervisor.stdin.take());
            let _ = supervisor.wait();
        }
    }

    /// Stops all processes of the server with `SIGSTOP`: its connections stay open, and nothing responds.
    pub async fn pause(&self) -> PausedServer {
        let connection = self.connect(NAME).await;
        let mut paused = PausedServer { processes: Vec::new() };
        // The first process starts the others.
        paused.stop(&[self.lock_file_line(0).expect("the server runs")]);
        let others = "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity";
        let others: String = query(&connection, others).await;
        paused.stop(&others.split(' ').map(str::to_owned).collect::<Vec<_>>());
        paused
    }

    /// Makes the standby a primary.
    pub async fn promote(&self) {
        self.execute("SELECT pg_promote(true, 60)").await;
    }

    /// Runs a statement as the superuser.
    pub async fn execute(&self, statement: &str) {
        self.connect(NAME).await.execute_unprepared(statement).await.expect("the statement runs");
    }

    /// Returns the single value of a query, as the superuser.
    pub async fn query<T: TryGetable>(&self, sql: &str) -> T {
        query(&self.connect(NAME).await, sql).await
    }

    async fn connect(&self, database: &str) -> DatabaseConnection {
        let url = format!("postgres://postgres@127.0.0.1:{}/{database}", self.port);
        let mut options = ConnectOptions::new(url);
        options.max_connections(1).sqlx_logging(false);
        sea_orm::Database::connect(options).await.expect("the server accepts a connection")
    }

    /// Returns a line of the file that the server writes while it runs.
    fn lock_file_line(&self, number: usize) -> Option<String> {
        let file = std::fs::read_to_string(self.data.join("postmaster.pid")).ok()?;
        file.lines().nth(number).map(str::to_owned)
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command.current_dir("/");
        command
    }

    /// Runs a program that creates the data folder.
    fn tool(&self, name: &str, args: &[&str]) {
        let mut command = self.command(self.programs.join(name));
        let output = command.args(args).arg("--pgdata").arg(&self.data).output().expect("the program runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A server whose processes are stopped. Dropping it continues them.
pub struct PausedServer {
    processes: Vec<String>,
}

impl PausedServer {
    fn stop(&mut self, processes: &[String]) {
        self.processes.extend_from_slice(processes);
        let status = Command::new("kill").arg("-STOP").args(processes).status();
        assert!(status.expect("kill runs").success(), "the processes are stopped");
    }
}

impl Drop for PausedServer {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg("-CONT").args(&self.processes).status();
    }
}

async fn query<T: TryGetable>(connection: &DatabaseConnection, sql: &str) -> T {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let row = connection.query_one_raw(statement).await.expect("the query succeeds").expect("a row");
    row.try_get_by_index(0).expect("a value")
}

/// Returns the ids of the user and the group that run the servers, if this process is root: PostgreSQL does not run as root.
fn server_user(own_file: &Path) -> Option<(u32, u32)> {
    if std::fs::metadata(own_file).expect("the file exists").uid() != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("the list of users can be read");
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    Some(ids("postgres").or_else(|| ids("nobody")).expect("a user that can run PostgreSQL"))
}

fn append(path: &Path, text: &str) {
    let mut content = std::fs::read_to_string(path).expect("the file can be read");
    content.push_str(text);
    std::fs::write(path, content).expect("the file can be written");
}
