//! Opening the connections, each with the settings that its work needs.

use std::{fs, path::Path, time::Duration};

use sea_orm::{
    ConnectOptions, DatabaseConnection, DbErr,
    sqlx::{
        Connection,
        sqlite::{SqliteJournalMode, SqliteSynchronous},
    },
};

use super::{ConnectError, Options, Source};

/// Statements that stay prepared on each connection: more than the lists have shapes.
const STATEMENTS: usize = 512;

/// How long a write waits for its turn among this process's writes, SQLite only.
const WRITER_TURN: Duration = Duration::from_secs(10);

/// A connection idle for longer is tried before use: the server may have gone away in the meantime.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);

/// Opens the connections to read from and the one to write to.
pub(super) async fn open(
    options: &Options,
) -> Result<(DatabaseConnection, DatabaseConnection), ConnectError> {
    match &options.source {
        Source::Sqlite { path } => {
            prepare_file(path)?;
            let refused = |cause: DbErr| ConnectError::File { path: path.clone(), cause: cause.to_string() };
            // The writer first: it makes the journal that the readers need.
            let writer = sea_orm::Database::connect(sqlite_writer(path, options)).await.map_err(refused)?;
            let reader = sea_orm::Database::connect(sqlite_readers(path, options)).await.map_err(refused)?;
            Ok((reader, writer))
        }
        Source::Postgres { url } => {
            let pool = sea_orm::Database::connect(postgres(url, options)).await.map_err(|cause| {
                ConnectError::Unreachable { place: options.source.place(), cause: cause.to_string() }
            })?;
            Ok((pool.clone(), pool))
        }
    }
}

/// Makes the folder and the file, readable by this user only, so that a refusal is the system's own sentence.
fn prepare_file(path: &Path) -> Result<(), ConnectError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refused = |cause| ConnectError::Folder { path: folder.to_owned(), cause };
    fs::create_dir_all(folder).map_err(refused)?;
    let existed = path.exists();
    let mut open = fs::OpenOptions::new();
    open.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    match open.open(path) {
        Ok(_) => Ok(()),
        Err(cause) if existed => Err(ConnectError::File { path: path.to_owned(), cause: cause.to_string() }),
        Err(cause) => Err(refused(cause)),
    }
}

/// The one connection that writes. Every commit is on the disk before it is reported.
fn sqlite_writer(path: &Path, options: &Options) -> ConnectOptions {
    let mut writer = sqlite();
    writer.max_connections(1).acquire_timeout(WRITER_TURN);
    writer.map_sqlx_sqlite_opts({
        let (path, busy) = (path.to_owned(), options.busy_timeout);
        move |sqlite| {
            sqlite
                .filename(&path)
                .busy_timeout(busy)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .foreign_keys(true)
                .statement_cache_capacity(STATEMENTS)
                .optimize_on_close(true, None)
                .pragma("journal_size_limit", "67108864")
                .pragma("cache_size", "-16384")
                .pragma("temp_store", "MEMORY")
                .thread_name(|_| "sqlite-writer".to_owned())
        }
    });
    // A disk that is full ends a transaction behind the driver's back, and the connection would stay confused.
    writer.map_sqlx_sqlite_before_acquire(|connection, _| {
        Box::pin(async move { Ok(!connection.is_in_transaction()) })
    });
    writer
}

/// The connections that read. They cannot write, whatever they are told.
fn sqlite_readers(path: &Path, options: &Options) -> ConnectOptions {
    let mut readers = sqlite();
    readers.max_connections(options.readers).acquire_timeout(options.acquire_timeout);
    readers.map_sqlx_sqlite_opts({
        let (path, busy) = (path.to_owned(), options.busy_timeout);
        move |sqlite| {
            sqlite
                .filename(&path)
                .busy_timeout(busy)
                .statement_cache_capacity(STATEMENTS)
                // A write empties the caches of all readers; mapped pages stay.
                .pragma("mmap_size", "134217728")
                .pragma("cache_size", "-4096")
                .pragma("temp_store", "MEMORY")
                .pragma("query_only", "ON")
                .thread_name(|number| format!("sqlite-reader-{number}"))
        }
    });
    readers.map_sqlx_sqlite_before_acquire(|connection, _| {
        Box::pin(async move { Ok(!connection.is_in_transaction()) })
    });
    readers
}

/// What the writer and the readers share. Their file is set afterwards, since an address cannot spell every path.
fn sqlite() -> ConnectOptions {
    let mut sqlite = ConnectOptions::new("sqlite:unnamed.db");
    // A file needs no try before use, and its connections never go stale.
    sqlite.test_before_acquire(false).idle_timeout(None).max_lifetime(None);
    quiet(&mut sqlite);
    sqlite
}

/// The connections to a server. One that is gone gives an error after the acquire timeout, and is taken up again by
/// itself once it is back.
fn postgres(url: &str, options: &Options) -> ConnectOptions {
    let mut server = ConnectOptions::new(url);
    server
        .max_connections(options.max_connections)
        .acquire_timeout(options.acquire_timeout)
        .test_before_acquire_if_idle_for(TRUSTED_IDLE)
        .set_application_name("creator-api")
        .map_sqlx_postgres_opts(|server| server.statement_cache_capacity(STATEMENTS));
    quiet(&mut server);
    server
}

/// No log line a statement: the request's line is enough, and statements hold what must not be logged.
fn quiet(options: &mut ConnectOptions) {
    options.sqlx_logging(false).record_stmt_in_spans(false);
}
