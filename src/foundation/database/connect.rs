//! Opens connections to SQLite or PostgreSQL.

use std::path::{Path, PathBuf};
use std::{fs, sync::Arc, time::Duration};

use rustix::fs::{Access, access};
use sea_orm::{
    ConnectOptions, DatabaseConnection, DbErr, RuntimeErr,
    sqlx::{
        self, Connection, PgConnection, Row,
        postgres::PgPoolOptions,
        raw_sql,
        sqlite::{SqliteJournalMode, SqliteSynchronous},
    },
};

use super::bounded::{Bounded, BoundedConnection, PoolContext};
use super::errors::connect_message;
use super::postgres_url::{STATEMENT_CACHE_CAPACITY, server_options, with_server_options};
use super::primary::PrimaryHosts;
use super::standby::STANDBY_TIMEOUT;
use super::{ConnectError, DatabaseOptions, DatabaseSource};
use crate::data_folder::{self, FolderError, folder_of};

/// How long a write waits for other writes of this process. SQLite only.
const WRITER_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that was idle for longer is tested before use, since the server may have closed it.
const UNTESTED_IDLE: Duration = Duration::from_secs(1);

/// Opens the connections for reading and those for writing.
pub(super) async fn open(
    options: &DatabaseOptions,
    context: &Arc<PoolContext>,
) -> Result<(DatabaseConnection, DatabaseConnection), ConnectError> {
    match &options.source {
        DatabaseSource::Sqlite { path } => {
            let is_immutable = options.read_only && is_immutable(path)?;
            if !options.read_only {
                prepare_file(path)?;
            }
            let file_error =
                |cause: DbErr| ConnectError::File { path: path.clone(), cause: cause.to_string() };
            // The writer connects first, since it creates the journal that the readers need.
            let writer = sea_orm::Database::connect(sqlite_writer(path, options, is_immutable))
                .await
                .map_err(file_error)?;
            let reader = sea_orm::Database::connect(sqlite_readers(path, options, is_immutable))
                .await
                .map_err(file_error)?;
            Ok((reader, writer))
        }
        DatabaseSource::Postgres { url } => {
            let url = context.hosts.as_ref().map_or(url.as_str(), |hosts| hosts.url());
            match sea_orm::Database::connect(postgres(url, options, context)).await {
                Ok(pool) => Ok((pool.clone(), pool)),
                Err(error) => Err(ConnectError::Unreachable {
                    location: options.source.location(),
                    cause: last_attempt(url, &error).await,
                }),
            }
        }
    }
}

/// Returns why a pool cannot connect. A pool that repeats failed attempts reports its timeout only, so this makes one more.
async fn last_attempt(url: &str, error: &DbErr) -> String {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(error)) if !matches!(**error, sqlx::Error::PoolTimedOut) => {
            connect_message(error)
        }
        _ => {
            let test = async { PgConnection::connect_with(&server_options(url)?).await };
            match tokio::time::timeout(TEST_TIMEOUT, test).await {
                Ok(Ok(_)) => error.to_string(),
                Ok(Err(error)) => connect_message(&error),
                Err(_) => format!("no response within {} s", TEST_TIMEOUT.as_secs()),
            }
        }
    }
}

/// Opens a pool for a standby. It connects when it is first used, since the standby can be down.
pub(super) async fn open_standby(
    url: &str,
    options: &DatabaseOptions,
) -> Result<BoundedConnection, ConnectError> {
    let context = Arc::new(PoolContext::default());
    let mut pool = postgres(url, options, &context);
    pool.connect_lazy(true).acquire_timeout(STANDBY_TIMEOUT);
    let pool = sea_orm::Database::connect(pool).await.map_err(|_| ConnectError::Url)?;
    Ok(Bounded::new(pool, STANDBY_TIMEOUT, context))
}

/// Creates the folder and the file, readable only by this user, so that errors contain the system's message.
fn prepare_file(path: &Path) -> Result<(), ConnectError> {
    let folder = folder_of(path);
    data_folder::create(folder)?;
    let existed = path.exists();
    let mut open = fs::OpenOptions::new();
    open.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    match open.open(path) {
        Ok(_) => Ok(()),
        Err(cause) if existed => Err(ConnectError::File { path: path.to_owned(), cause: cause.to_string() }),
        Err(cause) => Err(FolderError::new(folder, cause).into()),
    }
}

/// Returns the options of the connection that writes.
fn sqlite_writer(path: &Path, options: &DatabaseOptions, is_immutable: bool) -> ConnectOptions {
    let mut writer = sqlite();
    writer.max_connections(1).acquire_timeout(WRITER_TIMEOUT);
    let synchronous = if options.is_durable { SqliteSynchronous::Full } else { SqliteSynchronous::Off };
    writer.map_sqlx_sqlite_opts({
        let (path, busy, read_only) = (path.to_owned(), options.busy_timeout, options.read_only);
        move |sqlite| {
            if read_only {
                let sqlite = sqlite.filename(&path).immutable(is_immutable);
                return sqlite.busy_timeout(busy).pragma("query_only", "ON");
            }
            sqlite
                .filename(&path)
                .busy_timeout(busy)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(synchronous)
                .foreign_keys(true)
                .statement_cache_capacity(STATEMENT_CACHE_CAPACITY)
                .optimize_on_close(true, None)
                .pragma("journal_size_limit", "67108864")
                .pragma("cache_size", "-16384")
                .pragma("temp_store", "MEMORY")
                .thread_name(|_| "sqlite-writer".to_owned())
        }
    });
    // When the disk is full, SQLite ends the transaction without the driver noticing, and the connection is unusable.
    writer.map_sqlx_sqlite_before_acquire(|connection, _| {
        Box::pin(async move { Ok(!connection.is_in_transaction()) })
    });
    writer
}

/// Returns the options of the connections that read. They are read-only.
fn sqlite_readers(path: &Path, options: &DatabaseOptions, is_immutable: bool) -> ConnectOptions {
    let mut readers = sqlite();
    readers.max_connections(options.readers).acquire_timeout(options.acquire_timeout);
    readers.map_sqlx_sqlite_opts({
        let (path, busy) = (path.to_owned(), options.busy_timeout);
        move |sqlite| {
            sqlite
                .filename(&path)
                .immutable(is_immutable)
                .busy_timeout(busy)
                .statement_cache_capacity(STATEMENT_CACHE_CAPACITY)
                // A write invalidates the page caches of all readers, but not memory-mapped pages.
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

/// Returns the options of a connection that copies the database.
///
/// # Errors
/// Returns an error when the journal cannot be read.
pub(super) fn sqlite_copier(path: &Path) -> Result<ConnectOptions, ConnectError> {
    let (path, is_immutable) = (path.to_owned(), is_immutable(path)?);
    let mut copier = sqlite();
    copier.max_connections(1).map_sqlx_sqlite_opts(move |sqlite| {
        sqlite.filename(&path).immutable(is_immutable).busy_timeout(WRITER_TIMEOUT)
    });
    Ok(copier)
}

/// Returns whether a command that only reads must open the file as one that no process changes: if the folder is read-only,
/// SQLite cannot create the journal (`-wal`) and its index (`-shm`) there. Nobody else has the file open then, since they
/// exist while it is open.
///
/// # Errors
/// Returns an error when the journal has content but no index, and the folder is read-only: SQLite would ignore the
/// content.
fn is_immutable(path: &Path) -> Result<bool, ConnectError> {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let (journal, index) = (beside("-wal"), beside("-shm"));
    if (journal.exists() && index.exists()) || access(folder_of(path), Access::WRITE_OK).is_ok() {
        return Ok(false);
    }
    match journal.metadata() {
        Ok(journal_file) if journal_file.len() > 0 => Err(ConnectError::Journal { path: journal }),
        _ => Ok(true),
    }
}

/// Returns the options that the writer and the readers share. The path is set separately, since a URL cannot express every
/// path.
fn sqlite() -> ConnectOptions {
    let mut sqlite = ConnectOptions::new("sqlite:unnamed.db");
    // Connections to a file need no test before use and never expire.
    sqlite.test_before_acquire(false).idle_timeout(None).max_lifetime(None);
    disable_logging(&mut sqlite);
    sqlite
}

/// How long PostgreSQL has to respond to the test of a connection. A connection that does not respond in time is closed.
const TEST_TIMEOUT: Duration = Duration::from_secs(1);

/// Returns the options of the connections to PostgreSQL. While the server is not available, acquiring a connection fails
/// after the timeout. The pool reconnects automatically.
///
/// The driver tests each connection that is returned to the pool, without a timeout: a connection that never responds
/// would occupy a place in the pool until TCP reports an error. So after a canceled call, each connection is first
/// tested with a timeout. A connection that breaks during the driver's test still occupies its place.
fn postgres(url: &str, options: &DatabaseOptions, context: &Arc<PoolContext>) -> ConnectOptions {
    let context = Arc::clone(context);
    let mut server = ConnectOptions::new(url);
    server
        .max_connections(options.max_connections)
        .acquire_timeout(options.acquire_timeout)
        .test_before_acquire(false)
        .map_sqlx_postgres_pool_opts(move |pool| {
            let pool = prepare_new_connections(pool, context.hosts.as_ref());
            test_connections(pool, &context)
        })
        .map_sqlx_postgres_opts(with_server_options);
    if !options.connections_expire {
        server.idle_timeout(None).max_lifetime(None);
    }
    disable_logging(&mut server);
    server
}

/// Adds the tests of connections to the options of a pool.
fn test_connections(pool: PgPoolOptions, context: &Arc<PoolContext>) -> PgPoolOptions {
    let hosts = context.hosts.clone();
    let is_outdated = move |age| hosts.as_ref().is_some_and(|hosts| hosts.is_outdated(age));
    let (was_outdated, context) = (is_outdated.clone(), Arc::clone(context));
    pool.before_acquire(move |connection, state| {
        let is_outdated = is_outdated(state.age);
        Box::pin(
            async move { Ok(!is_outdated && (state.idle_for < UNTESTED_IDLE || responds(connection).await)) },
        )
    })
    .after_release(move |connection, state| {
        let (is_outdated, may_be_broken) = (was_outdated(state.age), context.cancellations.is_recent());
        Box::pin(async move { Ok(!is_outdated && (!may_be_broken || is_usable(connection).await)) })
    })
}

/// Prepares the new connections of a pool. With several hosts, those to a server that does not accept writes are closed.
///
/// Just-in-time compilation is off, since it takes longer than most statements: after some runs of `ANALYZE`, the estimated
/// cost of a claim of deliveries exceeds `jit_above_cost`, and compiling it takes 100 ms. Through pgbouncer, the setting may
/// reach the connection of another client, whose results stay the same.
fn prepare_new_connections(pool: PgPoolOptions, hosts: Option<&Arc<PrimaryHosts>>) -> PgPoolOptions {
    let hosts = hosts.cloned();
    pool.after_connect(move |connection, _| {
        let hosts = hosts.clone();
        Box::pin(async move {
            if let Some(hosts) = hosts {
                hosts.check_new(connection).await?;
            }
            // If this fails, so does the first statement, whose error names the cause.
            let _ = raw_sql("SET jit = off").execute(connection).await;
            Ok(())
        })
    })
}

/// Returns whether a connection responds in time and is in no transaction: a canceled `BEGIN` may have started one that the
/// driver does not know.
async fn is_usable(connection: &mut PgConnection) -> bool {
    // Without parameters in the protocol: otherwise the two times are those of different messages.
    let test = raw_sql("SELECT transaction_timestamp() = statement_timestamp()").fetch_one(connection);
    let row = tokio::time::timeout(TEST_TIMEOUT, test).await;
    row.is_ok_and(|row| row.is_ok_and(|row| row.try_get(0).unwrap_or(false)))
}

async fn responds(connection: &mut PgConnection) -> bool {
    matches!(tokio::time::timeout(TEST_TIMEOUT, connection.ping()).await, Ok(Ok(())))
}

/// Disables the logging of statements, which can contain secrets.
fn disable_logging(options: &mut ConnectOptions) {
    options.sqlx_logging(false).record_stmt_in_spans(false);
}
