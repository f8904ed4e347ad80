//! Connection options.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use migration::Migrator;
use sea_orm::DbBackend;

use super::{ConnectError, PostgresUrl};

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
        /// The URL, which can list several hosts and contain a password.
        url: String,
    },
}

/// The options of the connections.
#[derive(Clone, Debug)]
pub struct DatabaseOptions {
    /// The location of the data.
    pub source: DatabaseSource,
    /// The URL of a standby of the PostgreSQL server for reads that may lag, see
    /// [`Database::standby`](super::Database::standby). It has one host.
    pub read_url: Option<String>,
    /// The number of connections for reading. SQLite only.
    pub readers: u32,
    /// The maximum number of connections, and as many to the standby. PostgreSQL only.
    pub max_connections: u32,
    /// Whether connections are closed after a while, also when they are idle. PostgreSQL only.
    pub connections_expire: bool,
    /// How long to wait for a connection. The SQLite connection that writes has another, longer timeout.
    pub acquire_timeout: Duration,
    /// How long a write waits for a write of another process. SQLite only.
    pub busy_timeout: Duration,
    /// Whether the file must exist, and no connection can change it. SQLite only.
    pub read_only: bool,
    /// Whether a commit returns after its data is on disk. Otherwise, the data may be lost or damaged when the machine fails. SQLite
    /// only.
    pub is_durable: bool,
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
            read_url: None,
            readers: u32::try_from(cores * 2).unwrap_or(4).max(4),
            max_connections: 16,
            connections_expire: true,
            acquire_timeout,
            // Writes of several processes wait for each other in no order, so a write may wait for many others.
            busy_timeout: Duration::from_secs(10),
            read_only: false,
            is_durable: true,
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
        PostgresUrl::parse(url).map_err(|_| ConnectError::Url)?;
        Ok(Self::Postgres { url: url.to_owned() })
    }

    /// Returns the kind of database.
    pub fn backend(&self) -> DbBackend {
        match self {
            Self::Sqlite { .. } => DbBackend::Sqlite,
            Self::Postgres { .. } => DbBackend::Postgres,
        }
    }

    /// Returns the location for messages, without a password.
    pub fn location(&self) -> String {
        match self {
            Self::Sqlite { path } => path.display().to_string(),
            Self::Postgres { url } => {
                PostgresUrl::parse(url).map_or_else(|_| "PostgreSQL".to_owned(), |url| url.location())
            }
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
        let servers = parsed(Some("postgres://ada:secret@db1,db2:5433/school")).unwrap();
        assert_eq!(servers.location(), "db1:5432,db2:5433/school");
        for invalid in ["", "mysql://x", "sqlite::memory:", "sqlite:", "postgres//x", "/data/x.db"] {
            assert!(parsed(Some(invalid)).is_err(), "{invalid}");
        }
    }
}
