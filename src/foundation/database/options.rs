//! Where the data is, and how many connections go there.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use sea_orm::{DbBackend, sqlx::postgres::PgConnectOptions};

use super::ConnectError;

/// The name of the database's file in the data folder.
const FILE: &str = "creator-api.db";

/// Where the data is.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// A file of this process.
    Sqlite {
        /// The file.
        path: PathBuf,
    },
    /// A server.
    Postgres {
        /// Its address, which may hold a password.
        url: String,
    },
}

/// How to connect.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the data is.
    pub source: Source,
    /// Connections that read, SQLite only.
    pub readers: u32,
    /// Connections in all, PostgreSQL only.
    pub max_connections: u32,
    /// How long a request waits for a connection before it fails.
    pub acquire_timeout: Duration,
    /// How long a write waits for another process's write, SQLite only.
    pub busy_timeout: Duration,
}

impl Options {
    /// The usual numbers for this machine: two readers a core, at least four; 16 connections to a server.
    pub fn new(source: Source) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
        Self {
            source,
            readers: u32::try_from(cores * 2).unwrap_or(4).max(4),
            max_connections: 16,
            acquire_timeout: Duration::from_secs(3),
            busy_timeout: Duration::from_secs(5),
        }
    }
}

impl Source {
    /// The source that an address names; without one, the file in the data folder.
    ///
    /// # Errors
    /// [`ConnectError::Address`] when the address is neither `sqlite:PATH` nor a PostgreSQL address.
    pub fn new(url: Option<&str>, data_dir: &Path) -> Result<Self, ConnectError> {
        let Some(url) = url else {
            return Ok(Self::Sqlite { path: data_dir.join(FILE) });
        };
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let path = path.split_once('?').map_or(path, |(path, _)| path);
            if path.is_empty() || path == ":memory:" {
                return Err(ConnectError::Address);
            }
            return Ok(Self::Sqlite { path: path.into() });
        }
        let server = url.starts_with("postgres://") || url.starts_with("postgresql://");
        if !server || url.parse::<PgConnectOptions>().is_err() {
            return Err(ConnectError::Address);
        }
        Ok(Self::Postgres { url: url.to_owned() })
    }

    /// Which database it is.
    pub fn backend(&self) -> DbBackend {
        match self {
            Self::Sqlite { .. } => DbBackend::Sqlite,
            Self::Postgres { .. } => DbBackend::Postgres,
        }
    }

    /// The place without a password, for messages.
    pub fn place(&self) -> String {
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

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}({})", self.backend(), self.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_a_file_or_a_server() {
        let of = |url| Source::new(url, Path::new("/data"));
        let file = |path: &str| Source::Sqlite { path: path.into() };
        assert_eq!(of(None).unwrap(), file("/data/creator-api.db"));
        assert_eq!(of(Some("sqlite:x/y.db")).unwrap(), file("x/y.db"));
        assert_eq!(of(Some("sqlite:///x/y.db?mode=rwc")).unwrap(), file("/x/y.db"));
        let server = of(Some("postgres://ada:secret@db.example:5433/school")).unwrap();
        assert_eq!(server.place(), "db.example:5433/school");
        assert_eq!(format!("{server:?}"), "Postgres(db.example:5433/school)");
        for wrong in ["", "mysql://x", "sqlite::memory:", "sqlite:", "postgres//x", "/data/x.db"] {
            assert!(of(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
