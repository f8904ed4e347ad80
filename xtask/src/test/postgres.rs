//! A throw-away PostgreSQL server.
//!
//! It lives in a temporary folder, on a free port of this machine. A small shell process starts it and
//! waits on a pipe that this program holds open: when this program ends, however it ends, the pipe closes and the
//! shell stops the server by its id and removes the folder.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::install::{Needed, apt, user_id};

/// Starts the server, waits until the pipe closes, stops it and cleans up. Ends by itself when the server does.
const KEEPER: &str = r#"
cd "$FOLDER" || exit 1
"$BIN/postgres" -D data -p "$PORT" >server.log 2>&1 </dev/null &
server=$!
read -r _
kill -INT "$server" 2>/dev/null
wait "$server"
cd / && rm -rf "$FOLDER"
"#;

/// Where the server comes from.
const NEEDED: Needed = Needed {
    what: "PostgreSQL's server",
    packages: &["postgresql"],
    elsewhere: "Fedora: postgresql-server, Arch and Alpine: postgresql, macOS: brew install postgresql",
};

/// What every use needs.
const CONFIGURATION: &str = "
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
autovacuum = on
log_min_messages = warning
";

/// Whether a commit waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// No waiting for a disk that is thrown away: what the tests need.
    None,
    /// As a server in earnest does: what the benchmarks need.
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

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server; it stops and its folder goes when this is dropped.
pub(crate) struct Server {
    keeper: Child,
    url: String,
}

/// Whom the server runs as: itself refuses to be run by root.
#[derive(Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

impl Server {
    /// Starts a server and waits until it answers.
    ///
    /// # Errors
    /// PostgreSQL is missing and cannot be installed, or does not start.
    pub(crate) fn start(install: bool, durability: Durability) -> Result<Self> {
        let programs = find_or_install(install)?;
        let user = unprivileged_user()?;
        // Somebody may take the free port between the search for it and the start.
        let mut result = Self::attempt(&programs, user, durability);
        for _ in 0..3 {
            if result.is_ok() {
                break;
            }
            result = Self::attempt(&programs, user, durability);
        }
        result
    }

    fn attempt(programs: &Path, user: Option<User>, durability: Durability) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("creator-api-pg-").tempdir()?;
        if let Some(user) = user {
            chown(folder.path(), Some(user.uid), Some(user.gid))?;
        }
        make_cluster(programs, folder.path(), user, durability)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = as_user("sh", user);
        command
            .args(["-c", KEEPER])
            .env("BIN", programs)
            .env("FOLDER", folder.path())
            .env("PORT", port.to_string());
        // In a group of its own, so that an interrupt from the terminal leaves the cleaning up to the keeper.
        command.process_group(0).stdin(Stdio::piped());
        let keeper = command.spawn().context("cannot start `sh`")?;
        // From here on the keeper removes the folder.
        let folder = folder.keep();
        let server = Self { keeper, url: format!("postgres://postgres@127.0.0.1:{port}/postgres") };
        match wait_until_ready(programs, &folder, port) {
            Ok(()) => Ok(server),
            Err(log) => bail!("PostgreSQL does not start: {}", log.trim()),
        }
    }

    /// The address of the server's own database, as its superuser.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// Waits until the server answers; gives its log when it ends or is too slow.
fn wait_until_ready(programs: &Path, folder: &Path, port: u16) -> Result<(), String> {
    let start = Instant::now();
    let log = || fs::read_to_string(folder.join("server.log")).unwrap_or_default();
    while start.elapsed() < PATIENCE {
        let ready = Command::new(programs.join("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()])
            .status();
        if ready.is_ok_and(|status| status.success()) {
            return Ok(());
        }
        if log().contains("FATAL") {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Err(log())
}

fn make_cluster(programs: &Path, folder: &Path, user: Option<User>, durability: Durability) -> Result<()> {
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

fn as_user(program: impl AsRef<std::ffi::OsStr>, user: Option<User>) -> Command {
    let mut command = Command::new(program);
    if let Some(user) = user {
        command.uid(user.uid).gid(user.gid);
    }
    command
}

/// `None` when this is not run by root; then the server runs as whoever runs this.
fn unprivileged_user() -> Result<Option<User>> {
    if user_id() != Some(0) {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some(User { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    };
    match find("postgres").or_else(|| find("nobody")) {
        Some(user) => Ok(Some(user)),
        None => {
            bail!("PostgreSQL refuses to run as root and there is no user `postgres` or `nobody`; add one")
        }
    }
}

fn find_or_install(install: bool) -> Result<PathBuf> {
    if let Some(programs) = find() {
        return Ok(programs);
    }
    apt(&NEEDED, install)?;
    find().context("PostgreSQL was installed, yet its programs are nowhere to be found; put them into PATH")
}

/// The folder that holds `initdb`, `postgres` and `pg_isready`: of the newest Debian package, or on the path.
fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/local/bin".into());
    let mut packaged: Vec<PathBuf> = match fs::read_dir("/usr/lib/postgresql") {
        Ok(entries) => entries.flatten().map(|entry| entry.path().join("bin")).collect(),
        Err(_) => Vec::new(),
    };
    packaged.sort_by_key(|folder| version(folder));
    folders.extend(packaged.into_iter().rev());
    folders.into_iter().find_map(|folder| {
        // A link on the path may lead to a folder that holds the rest of the programs.
        let real = fs::canonicalize(folder.join("postgres")).ok()?;
        let complete = |folder: &Path| {
            ["initdb", "postgres", "pg_isready"].iter().all(|name| folder.join(name).exists())
        };
        [folder, real.parent()?.to_owned()].into_iter().find(|folder| complete(folder))
    })
}

fn version(folder: &Path) -> u32 {
    let version = folder.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    version.and_then(|text| text.parse().ok()).unwrap_or(0)
}
