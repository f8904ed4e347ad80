//! Connection options.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use migration::Migrator;
use sea_orm::{DbBackend, sqlx::postgres::PgConnectOptions};

use super::ConnectError;

/// Name of the SQLite file in the data folder.
const FILE: &str = "creator-api.db";

/// The location of the data.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseSource {
    /// An SQLite file.
    Sqlite {
        /// The path of the file.
        path: PathBuf,
    },
    /// A PostgreSQL database.
    Postgres {
        /// The URL, which can contain a password.
        url: String,
    },
}

/// The options of the connections.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    /// The location of the data.
    pub source: DatabaseSource,
    /// The number of connections for reading. SQLite only.
    pub readers: u32,
    /// The maximum number of connections. PostgreSQL only.
    pub max_connections: u32,
    /// Whether connections are closed after a while, also when they are idle. PostgreSQL only.
    pub connections_expire: bool,
    /// How long to wait for a connection. The SQLite connection that writes has another, longer timeout.
    pub acquire_timeout: Duration,
    /// How long a write waits for a write of another process. SQLite only.
    pub busy_timeout: Duration,
    /// The migrations of this version.
    pub migrator: Migrator,
}

impl DatabaseOptions {
    /// Returns the default options: two readers per core, at least four, or 16 PostgreSQL connections.
    pub fn new(source: DatabaseSource) -> Self {
        let acquire_timeout = match source {
            DatabaseSource::Sqlite { .. } => Duration::from_secs(3),
            // Shorter than the timeout of a request's call, which includes it.
            DatabaseSource::Postgres { .. } => Duration::from_secs(2),
        };
        let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
        Self {
            source,
            readers: u32::try_from(cores * 2).unwrap_or(4).max(4),
            max_connections: 16,
            connections_expire: true,
            acquire_timeout,
            // Writes of several processes wait for each other in no order, so a write may wait for many others.
            busy_timeout: Duration::from_secs(10),
            migrator: Migrator::default(),
        }
    }
}

impl DatabaseSource {
    /// Parses a database URL. Without a URL, returns the SQLite file in the data folder.
    ///
    /// # Errors
    /// Returns [`ConnectError::Url`] when the URL is neither `sqlite:PATH` nor a PostgreSQL URL.
    pub fn new(url: Option<&str>, data_dir: &Path) -> Result<Self, ConnectError> {
        let Some(url) = url else {
            return Ok(Self::Sqlite { path: data_dir.join(FILE) });
        };
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let path = path.split_once('?').map_or(path, |(path, _)| path);
            if path.is_empty() || path == ":memory:" {
                return Err(ConnectError::Url);
            }
            return Ok(Self::Sqlite { path: path.into() });
        }
        let is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
        if !is_postgres || url.parse::<PgConnectOptions>().is_err() {
            return Err(ConnectError::Url);
        }
        Ok(Self::Postgres { url: url.to_owned() })
    }

    /// Returns the kind of database.
    pub fn backend(&self) -> DbBackend {
        match self {
            Self::Sqlite { .. } => DbBackend::Sqlite,
            Self::Postgres { .. } => DbBackend::Postgres,
        }
    }

    /// Returns the host and the port of a PostgreSQL server. Returns `None` for a Unix socket, and for SQLite.
    pub(super) fn address(&self) -> Option<(String, u16)> {
        let Self::Postgres { url } = self else { return None };
        let server = url.parse::<PgConnectOptions>().ok().filter(|server| server.get_socket().is_none())?;
        Some((server.get_host().to_owned(), server.get_port()))
    }

    /// Returns the location for messages, without a password.
    pub fn location(&self) -> String {
        match self {
            Self::Sqlite { path } => path.display().to_string(),
            Self::Postgres { url } => url.parse::<PgConnectOptions>().map_or_else(
                |_| "PostgreSQL".to_owned(),
                |server| {
                    let database = server.get_database().unwrap_or(server.get_username());
                    match server.get_socket() {
                        Some(socket) => format!("{}/{database}", socket.display()),
                        None => format!("{}:{}/{database}", server.get_host(), server.get_port()),
                    }
                },
            ),
        }
    }
}

impl std::fmt::Debug for DatabaseSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}({})", self.backend(), self.location())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_specifies_a_file_or_a_server() {
        let parsed = |url| DatabaseSource::new(url, Path::new("/data"));
        let file = |path: &str| DatabaseSource::Sqlite { path: path.into() };
        assert_eq!(parsed(None).unwrap(), file("/data/creator-api.db"));
        assert_eq!(parsed(Some("sqlite:x/y.db")).unwrap(), file("x/y.db"));
        assert_eq!(parsed(Some("sqlite:///x/y.db?mode=rwc")).unwrap(), file("/x/y.db"));
        let server = parsed(Some("postgres://ada:secret@db.example:5433/school")).unwrap();
        assert_eq!(server.location(), "db.example:5433/school");
        assert_eq!(format!("{server:?}"), "Postgres(db.example:5433/school)");
        for invalid in ["", "mysql://x", "sqlite::memory:", "sqlite:", "postgres//x", "/data/x.db"] {
            assert!(parsed(Some(invalid)).is_err(), "{invalid}");
        }
    }
}
