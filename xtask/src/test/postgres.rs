//! Runs a temporary PostgreSQL server.
//!
//! The server uses a temporary folder and a free local port. A shell process starts it and waits on a pipe that this
//! program keeps open. When this program exits for any reason, the pipe closes; then the shell stops the server by its
//! process id and removes the folder.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::install::{SystemPackages, apt, user_id};

/// Starts the server, waits until the pipe closes, stops the server and removes its folder.
const SUPERVISOR: &str = r#"
cd "$FOLDER" || exit 1
"$BIN/postgres" -D data -p "$PORT" >server.log 2>&1 </dev/null &
server=$!
read -r _
kill -INT "$server" 2>/dev/null
wait "$server"
cd / && rm -rf "$FOLDER"
"#;

/// The packages of the server.
const PACKAGES: SystemPackages = SystemPackages {
    name: "The PostgreSQL server",
    debian: &["postgresql"],
    other_systems: "Fedora: postgresql-server, Arch and Alpine: postgresql, macOS: brew install postgresql",
};

/// The configuration for tests and benchmarks.
const CONFIGURATION: &str = "
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
autovacuum = on
log_min_messages = warning
";

/// Whether a commit waits until the data is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Commits do not wait, which is faster. For tests.
    None,
    /// Commits wait, as in production. For benchmarks.
    Full,
}

impl Durability {
    const fn configuration(self) -> &'static str {
        match self {
            Self::None => "fsync = off\nfull_page_writes = off\nsynchronous_commit = off\n",
            Self::Full => "fsync = on\nfull_page_writes = on\nsynchronous_commit = on\n",
        }
    }
}

/// The time limit for the start of a server.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The line of the file `postmaster.pid` that contains the state of the server, from 0.
const STATE_LINE: usize = 7;

/// A running server. It is stopped and its folder is removed on drop.
pub(crate) struct PostgresServer {
    supervisor: Child,
    url: String,
}

/// The user that runs the server. PostgreSQL does not run as root.
#[derive(Clone, Copy)]
pub(crate) struct ServerUser {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl PostgresServer {
    /// Starts a server and waits until it accepts connections.
    ///
    /// # Errors
    /// Returns an error when PostgreSQL is missing and cannot be installed, or does not start.
    pub(crate) fn start(install: bool, durability: Durability) -> Result<Self> {
        let programs = find_or_install(install)?;
        let user = unprivileged_user()?;
        // Retry: another process can use the free port before the server starts.
        let mut result = Self::try_start(&programs, user, durability);
        for _ in 0..3 {
            if result.is_ok() {
                break;
            }
            result = Self::try_start(&programs, user, durability);
        }
        result
    }

    fn try_start(programs: &Path, user: Option<ServerUser>, durability: Durability) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("creator-api-pg-").tempdir()?;
        if let Some(user) = user {
            chown(folder.path(), Some(user.uid), Some(user.gid))?;
        }
        create_cluster(programs, folder.path(), user, durability)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = as_user("sh", user);
        command
            .args(["-c", SUPERVISOR])
            .env("BIN", programs)
            .env("FOLDER", folder.path())
            .env("PORT", port.to_string());
        // Use a separate process group, so that Ctrl+C in the terminal does not stop the cleanup.
        command.process_group(0).stdin(Stdio::piped());
        let supervisor = command.spawn().context("cannot start `sh`")?;
        // From here on the supervisor removes the folder.
        let folder = folder.keep();
        let server = Self { supervisor, url: format!("postgres://postgres@127.0.0.1:{port}/postgres") };
        match wait_until_ready(&folder) {
            Ok(()) => Ok(server),
            Err(log) => bail!("PostgreSQL failed to start: {}", log.trim()),
        }
    }

    /// Returns the URL of the database `postgres`, with the superuser.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// Waits until the server accepts connections. Returns the log if the server fails or exceeds the time limit.
///
/// A server on the same port that another process has started is not mistaken for this one.
fn wait_until_ready(folder: &Path) -> Result<(), String> {
    let start = Instant::now();
    let log = || fs::read_to_string(folder.join("server.log")).unwrap_or_default();
    while start.elapsed() < START_TIMEOUT {
        // The server writes its state into the last line.
        let state = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
        if state.lines().nth(STATE_LINE).is_some_and(|state| state.trim() == "ready") {
            return Ok(());
        }
        if log().contains("FATAL") {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(log())
}

/// Creates the data folder of the server.
fn create_cluster(
    programs: &Path,
    folder: &Path,
    user: Option<ServerUser>,
    durability: Durability,
) -> Result<()> {
    let mut initdb = as_user(programs.join("initdb"), user);
    initdb.args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]);
    let output = initdb.arg("--pgdata").arg(folder.join("data")).current_dir(folder).output()?;
    if !output.status.success() {
        bail!("initdb failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    fs::OpenOptions::new()
        .append(true)
        .open(folder.join("data/postgresql.conf"))
        .and_then(|mut file| write!(file, "{CONFIGURATION}{}", durability.configuration()))
        .context("cannot configure the PostgreSQL server")
}

/// Returns a command that runs as the given user, or as the current user.
fn as_user(program: impl AsRef<std::ffi::OsStr>, user: Option<ServerUser>) -> Command {
    let mut command = Command::new(program);
    if let Some(user) = user {
        command.uid(user.uid).gid(user.gid);
    }
    command
}

/// Returns the user that runs the server if the current user is root, or `None` for the current user.
///
/// # Errors
/// Returns an error when the current user is root and no other user exists.
pub(crate) fn unprivileged_user() -> Result<Option<ServerUser>> {
    if user_id() != Some(0) {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some(ServerUser { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    };
    match find("postgres").or_else(|| find("nobody")) {
        Some(user) => Ok(Some(user)),
        None => {
            bail!(
                "PostgreSQL does not run as root, and neither the user `postgres` nor `nobody` exists; create one of them"
            )
        }
    }
}

/// Returns the folder of the PostgreSQL programs. Installs them first if they are missing and `install` is true.
///
/// # Errors
/// Returns an error when they are missing and cannot be installed.
pub(crate) fn find_or_install(install: bool) -> Result<PathBuf> {
    if let Some(programs) = find_programs() {
        return Ok(programs);
    }
    apt(&PACKAGES, install)?;
    find_programs().context("PostgreSQL is installed, but its programs were not found; add them to PATH")
}

/// Returns the folder that contains the server's programs: a folder in `PATH`, or else that of the
/// newest Debian package.
fn find_programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/local/bin".into());
    let mut packaged: Vec<PathBuf> = match fs::read_dir("/usr/lib/postgresql") {
        Ok(entries) => entries.flatten().map(|entry| entry.path().join("bin")).collect(),
        Err(_) => Vec::new(),
    };
    packaged.sort_by_key(|folder| major_version(folder));
    folders.extend(packaged.into_iter().rev());
    folders.into_iter().find_map(|folder| {
        // The programs in `PATH` can be symbolic links. Also try the folder of the link target.
        let program = fs::canonicalize(folder.join("postgres")).ok()?;
        let is_complete = |folder: &Path| {
            ["initdb", "postgres", "pg_basebackup", "pg_isready"]
                .iter()
                .all(|name| folder.join(name).exists())
        };
        [folder, program.parent()?.to_owned()].into_iter().find(|folder| is_complete(folder))
    })
}

/// Returns the version in the path of a Debian package, such as `/usr/lib/postgresql/17/bin`, or 0.
fn major_version(folder: &Path) -> u32 {
    let version = folder.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    version.and_then(|text| text.parse().ok()).unwrap_or(0)
}
