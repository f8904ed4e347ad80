//! Database connections and transactions.
//!
//! On SQLite, one connection writes and a pool of connections reads. On PostgreSQL, one pool does both. All changes are made
//! in a [`Write`] transaction. [`Database::horizon`] returns the time up to which no running write will add rows.

mod backup;
mod bounded;
mod connect;
mod delete;
mod dialect;
mod errors;
mod indexes;
mod migrate;
mod notifications;
mod open_files;
mod options;
mod partitions;
mod pool_status;
mod postgres_url;
mod primary;
mod recording_clock;
mod running_writes;
mod standby;
#[cfg(test)]
mod tests;
mod transaction_limits;
mod write;
mod write_transaction;

use std::path::Path;
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU16},
};
use std::time::Duration;

use migration::Migrator;
pub use migration::Phase;
use sea_orm::{DbBackend, DbErr};

pub use backup::TableCount;
use bounded::PoolContext;
pub use bounded::{
    Bounded, BoundedConnection, BoundedTransaction, inherit_wait_budget, wait_budget_left, with_wait_budget,
};
pub use delete::DELETE_BATCH;
pub use errors::{ConnectError, MigrateError, UniqueConstraint, is_retryable, is_unique_violation, violates};
pub use migrate::{MigrationReport, SchemaState, format_migrations};
pub use notifications::Notifications;
pub use options::{DatabaseOptions, DatabaseSource};
pub use pool_status::PoolStatus;
pub use postgres_url::{InvalidPostgresUrl, PostgresUrl};
pub use standby::{MAX_LAG, SentHeartbeat, StandbyReader};
pub use write::Write;
pub use write_transaction::WriteTransaction;

use crate::clock::Clock;
use open_files::OpenFiles;
use partitions::KnownPartitions;
use primary::{PoolFollower, PrimaryHosts};
use recording_clock::Horizons;
use running_writes::RunningWrites;
use standby::Standby;

/// How long all calls of a request together wait for PostgreSQL, see [`with_wait_budget`].
pub const REQUEST_TIMEOUT: Duration = Duration::from_millis(2_200);

/// How long an SQLite file counts as not writable after a call has failed because of the disk. Then a write tests it.
const STORAGE_TEST_PAUSE: Duration = Duration::from_secs(60);

/// How long a call of a worker, a maintenance job or a command waits for PostgreSQL.
const JOB_TIMEOUT: Duration = Duration::from_secs(10);

/// How long [`Database::close`] waits.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The database of the server. Clones share the connections.
#[derive(Clone, Debug)]
pub struct Database {
    inner: Arc<DatabaseInner>,
    reader: BoundedConnection,
    writer: BoundedConnection,
}

#[derive(Debug)]
struct DatabaseInner {
    source: DatabaseSource,
    open_files: OpenFiles,
    running_writes: Arc<RunningWrites>,
    horizons: Horizons,
    /// Whether the clock was behind the recording time of the latest write.
    is_clock_behind: AtomicBool,
    /// Counts writes, to distribute them over the shards of the rollups.
    next_shard: AtomicU16,
    migrator: Migrator,
    known_partitions: KnownPartitions,
    pool: Arc<PoolContext>,
    standby: Option<Arc<Standby>>,
    /// Makes the pool connect to the server that accepts writes, if the URL lists several.
    _follower: Option<PoolFollower>,
}

impl DatabaseInner {
    /// Returns the URL of the PostgreSQL server in use; `None` on SQLite.
    fn server_url(&self) -> Option<&str> {
        match (&self.source, &self.pool.hosts) {
            (DatabaseSource::Sqlite { .. }, _) => None,
            (DatabaseSource::Postgres { .. }, Some(hosts)) => Some(hosts.url()),
            (DatabaseSource::Postgres { url }, None) => Some(url.as_str()),
        }
    }
}

impl Database {
    /// Connects to the database. Creates a missing SQLite file, but applies no migrations; see [`Self::migrate`].
    ///
    /// If the URL lists several PostgreSQL servers, connects to the one that accepts writes. When another one does after a
    /// failover, all connections of this database and of its [`dedicated`](Self::dedicated) ones are replaced.
    ///
    /// # Errors
    /// Returns an error when the folder is not writable, or when the server is not available.
    pub async fn connect(options: DatabaseOptions) -> Result<Self, ConnectError> {
        let hosts = match &options.source {
            DatabaseSource::Sqlite { .. } => None,
            DatabaseSource::Postgres { url } => {
                let url = PostgresUrl::parse(url).map_err(|_| ConnectError::Url)?;
                match url.has_several_hosts() {
                    true => Some(find_primary(&url, &options).await?),
                    false => None,
                }
            }
        };
        Self::open(options, hosts).await
    }

    async fn open(options: DatabaseOptions, hosts: Option<Arc<PrimaryHosts>>) -> Result<Self, ConnectError> {
        let choice = hosts.as_ref().map(|hosts| hosts.subscribe());
        let pool = Arc::new(PoolContext { hosts, ..PoolContext::default() });
        let (reader, writer) = connect::open(&options, &pool).await?;
        let open_files = match &options.source {
            DatabaseSource::Sqlite { path } => OpenFiles::of(path),
            DatabaseSource::Postgres { .. } => OpenFiles::default(),
        };
        let follower = pool.hosts.as_ref().zip(choice).map(|(hosts, choice)| {
            PoolFollower::start(hosts, choice, writer.get_postgres_connection_pool().clone())
        });
        let standby = match &options.read_url {
            Some(url) => {
                Some(Arc::new(Standby::new(connect::open_standby(url, &options).await?, options.migrator)))
            }
            None => None,
        };
        let running_writes = Arc::new(RunningWrites::default());
        let next_shard = AtomicU16::new(0);
        let DatabaseOptions { source, migrator, .. } = options;
        let known_partitions = KnownPartitions::default();
        let inner = DatabaseInner {
            source,
            open_files,
            running_writes,
            horizons: Horizons::default(),
            is_clock_behind: AtomicBool::new(false),
            next_shard,
            migrator,
            known_partitions,
            pool: Arc::clone(&pool),
            standby,
            _follower: follower,
        };
        Ok(Self {
            inner: Arc::new(inner),
            reader: Bounded::new(reader, JOB_TIMEOUT, Arc::clone(&pool)),
            writer: Bounded::new(writer, JOB_TIMEOUT, pool),
        })
    }

    /// Returns the same database with another timeout for each call. PostgreSQL only.
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            reader: self.reader.with_timeout(timeout),
            writer: self.writer.with_timeout(timeout),
        }
    }

    /// Opens one more connection to the same PostgreSQL database, for calls that must not wait for others. Its calls have this
    /// timeout.
    ///
    /// # Errors
    /// Returns an error when the server is not available.
    pub async fn dedicated(&self, timeout: Duration) -> Result<Self, ConnectError> {
        let DatabaseInner { source, migrator, pool, .. } = &*self.inner;
        let options = DatabaseOptions::new(source.clone());
        let options =
            DatabaseOptions { max_connections: 1, connections_expire: false, migrator: *migrator, ..options };
        Ok(Self::open(options, pool.hosts.clone()).await?.with_timeout(timeout))
    }

    /// Returns the connections for reading. Each statement sees all transactions committed before it.
    pub fn read(&self) -> &BoundedConnection {
        &self.reader
    }

    /// Begins a read transaction in which all queries see the same snapshot.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn snapshot(&self) -> Result<BoundedTransaction, DbErr> {
        self.reader.snapshot().await
    }

    /// Returns a reader of the standby, for reads that may lag by up to [`MAX_LAG`]. Returns `None` if there is no standby or if it
    /// cannot be used now. Read from the primary then, and also when the read fails.
    pub fn standby(&self) -> Option<StandbyReader> {
        self.inner.standby.as_ref().and_then(Standby::reader)
    }

    /// Returns whether the process has a standby, which needs [`record_heartbeat`](Self::record_heartbeat).
    pub fn has_standby(&self) -> bool {
        self.inner.standby.is_some()
    }

    /// Records a heartbeat that the primary has stored. The standby is used when it has replayed a recent one.
    pub fn record_heartbeat(&self, heartbeat: SentHeartbeat) {
        if let Some(standby) = &self.inner.standby {
            standby.record(heartbeat);
        }
    }

    /// Begins a transaction whose statements the server ends within the timeout of a call. It is not a [`Write`]: use
    /// it only for tables that no delta sync reads.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn begin_limited(&self) -> Result<BoundedTransaction, DbErr> {
        let transaction = self.writer.begin(dialect::write_options()).await?;
        dialect::limit_statements(&transaction).await?;
        Ok(transaction)
    }

    /// Returns whether concurrent writes add to different shards of a rollup.
    pub fn is_sharded(&self) -> bool {
        dialect::shard_count(self.backend()) > 1
    }

    /// Returns the kind of database.
    pub fn backend(&self) -> DbBackend {
        self.inner.source.backend()
    }

    /// Returns the folder of an SQLite database.
    pub fn folder(&self) -> Option<&Path> {
        match &self.inner.source {
            DatabaseSource::Sqlite { path } => path.parent().filter(|folder| !folder.as_os_str().is_empty()),
            DatabaseSource::Postgres { .. } => None,
        }
    }

    /// Returns the location of the data for messages, without a password.
    pub fn location(&self) -> String {
        self.inner.source.location()
    }

    /// Checks that the database is available. Returns whether it accepts writes: a standby of PostgreSQL does not, nor an SQLite
    /// file for at least [`STORAGE_TEST_PAUSE`] after a call has failed because the disk is full, read-only or broken.
    ///
    /// # Errors
    /// Returns [`DbErr`] when no connection is available within the acquire timeout, or when an SQLite file was moved, replaced or
    /// deleted.
    pub async fn ping(&self) -> Result<bool, DbErr> {
        self.inner.open_files.check()?;
        if self.backend() == DbBackend::Sqlite
            && !dialect::is_writable(&self.writer, &self.inner.pool.storage_failed_at, STORAGE_TEST_PAUSE)
                .await
        {
            return Ok(false);
        }
        let accepts_writes = dialect::accepts_writes(&self.reader).await?;
        if let Some(hosts) = self.inner.pool.hosts.as_ref().filter(|_| !accepts_writes) {
            hosts.suspect();
        }
        Ok(accepts_writes)
    }

    /// Returns the number of connections that PostgreSQL allows, without those that it reserves. Returns `None` if connections
    /// to this database do not end at PostgreSQL itself but at a proxy, such as pgbouncer, and on SQLite.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn connection_limit(&self) -> Result<Option<u64>, DbErr> {
        let options = self.inner.server_url().and_then(|url| postgres_url::server_options(url).ok());
        let Some(options) = options.filter(|options| options.get_socket().is_none()) else { return Ok(None) };
        let (limit, server) = dialect::connection_limit(&self.reader).await?;
        let Some(server) = server else { return Ok(None) };
        let is_direct = match tokio::net::lookup_host((options.get_host(), options.get_port())).await {
            Ok(mut addresses) => addresses.any(|address| address == server),
            Err(_) => false,
        };
        Ok(is_direct.then_some(limit))
    }

    /// Returns the PostgreSQL role of this server if statements outside of transactions have no timeout.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn role_without_statement_timeout(&self) -> Result<Option<String>, DbErr> {
        match self.backend() {
            DbBackend::Postgres => dialect::role_without_statement_timeout(&self.reader).await,
            _ => Ok(None),
        }
    }

    /// Returns the PostgreSQL role of this server and a partitioned table, if the role has not the privileges of the table's owner.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn role_without_ownership(&self) -> Result<Option<(String, String)>, DbErr> {
        match self.backend() {
            DbBackend::Postgres => dialect::role_without_ownership(&self.reader).await,
            _ => Ok(None),
        }
    }

    /// Returns the current time by the clock of PostgreSQL, or of this machine on SQLite.
    async fn server_now_ms(&self, clock: &Clock) -> Result<i64, DbErr> {
        let server_ms = match self.backend() {
            DbBackend::Postgres if !clock.is_simulated() => dialect::server_ms(&self.reader).await?,
            _ => None,
        };
        Ok(server_ms.unwrap_or_else(|| clock.now_ms()))
    }

    /// Returns by how many milliseconds the clock of this machine is ahead of that of PostgreSQL. Returns `None` on SQLite, which
    /// has no clock of its own.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn clock_skew_ms(&self, clock: &Clock) -> Result<Option<i64>, DbErr> {
        if self.backend() != DbBackend::Postgres {
            return Ok(None);
        }
        let before = clock.now_ms();
        let server = dialect::server_ms(&self.reader).await?;
        // The server reads its clock between the two times.
        let middle = before + (clock.now_ms() - before) / 2;
        Ok(server.map(|server| middle - server))
    }

    /// Closes all connections. Waits for those in use, at most 5 seconds: one that broke silently never responds.
    pub async fn close(&self) {
        let close = async {
            // Closing does not return errors.
            let _ = self.reader.pool().close_by_ref().await;
            let _ = self.writer.pool().close_by_ref().await;
            if let Some(standby) = &self.inner.standby {
                standby.close().await;
            }
        };
        if tokio::time::timeout(CLOSE_TIMEOUT, close).await.is_err() {
            tracing::warn!("some database connections did not close in time");
        }
    }
}

/// Finds the server that accepts writes.
async fn find_primary(
    url: &PostgresUrl,
    options: &DatabaseOptions,
) -> Result<Arc<PrimaryHosts>, ConnectError> {
    PrimaryHosts::find(url, options.acquire_timeout).await.map_err(|cause| ConnectError::Unreachable {
        location: url.location(),
        cause: format!("no server accepts writes: {cause}"),
    })
}
