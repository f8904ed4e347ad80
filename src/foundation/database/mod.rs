//! Database connections and transactions.
//!
//! On SQLite, one connection writes and a pool of connections reads. On PostgreSQL, one pool does both. All changes are made
//! in a [`Write`] transaction. [`Database::horizon`] returns the time up to which no running write will add rows.

mod connect;
mod dialect;
mod errors;
mod options;
mod running_writes;
#[cfg(test)]
mod tests;
mod write;

use std::sync::{Arc, atomic::AtomicU16};

use sea_orm::{
    AccessMode, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, IsolationLevel,
    TransactionOptions, TransactionTrait,
};

pub use errors::{ConnectError, MigrateError, UniqueConstraint, is_retryable, is_unique_violation, violates};
pub use options::{DatabaseOptions, DatabaseSource};
pub use write::Write;

use crate::clock::Clock;
use running_writes::RunningWrites;

/// The database of the server. Clones share the connections.
#[derive(Clone, Debug)]
pub struct Database {
    inner: Arc<DatabaseInner>,
}

#[derive(Debug)]
struct DatabaseInner {
    source: DatabaseSource,
    reader: DatabaseConnection,
    writer: DatabaseConnection,
    running_writes: Arc<RunningWrites>,
    /// Counts writes, to distribute them over the shards of the rollups.
    next_shard: AtomicU16,
}

/// The migrations in the database compared with those of this version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// All migrations are applied.
    Current,
    /// This number of migrations is pending.
    Behind(usize),
    /// The database has this migration, which this version does not contain.
    Ahead(String),
}

impl Database {
    /// Connects to the database. Creates a missing SQLite file, but applies no migrations; see [`Self::migrate`].
    ///
    /// # Errors
    /// Returns an error when the folder is not writable, or when the server is not available.
    pub async fn connect(options: DatabaseOptions) -> Result<Self, ConnectError> {
        let (reader, writer) = connect::open(&options).await?;
        let running_writes = Arc::new(RunningWrites::default());
        let next_shard = AtomicU16::new(0);
        let inner = DatabaseInner { source: options.source, reader, writer, running_writes, next_shard };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns the connections for reading. Each statement sees all transactions committed before it.
    pub fn read(&self) -> &DatabaseConnection {
        &self.inner.reader
    }

    /// Begins a read transaction in which all queries see the same snapshot.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn snapshot(&self) -> Result<DatabaseTransaction, DbErr> {
        let options = match self.backend() {
            DbBackend::Postgres => TransactionOptions {
                isolation_level: Some(IsolationLevel::RepeatableRead),
                access_mode: Some(AccessMode::ReadOnly),
                ..TransactionOptions::default()
            },
            _ => TransactionOptions::default(),
        };
        self.inner.reader.begin_with_options(options).await
    }

    /// Returns whether concurrent writes add to different shards of a rollup.
    pub fn is_sharded(&self) -> bool {
        dialect::shard_count(self.backend()) > 1
    }

    /// Returns the kind of database.
    pub fn backend(&self) -> DbBackend {
        self.inner.source.backend()
    }

    /// Returns the location of the data for messages, without a password.
    pub fn location(&self) -> String {
        self.inner.source.location()
    }

    /// Checks that the database is available.
    ///
    /// # Errors
    /// Returns [`DbErr`] when no connection is available within the acquire timeout, or when the SQLite file was deleted.
    pub async fn ping(&self) -> Result<(), DbErr> {
        if let DatabaseSource::Sqlite { path } = &self.inner.source {
            // An open file can still be queried after it was deleted, but its data is lost when it is closed.
            tokio::fs::metadata(path)
                .await
                .map_err(|error| DbErr::Custom(format!("{}: {error}", path.display())))?;
        }
        dialect::ping(&self.inner.reader).await
    }

    /// Compares the migrations in the database with those of this version.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn schema_state(&self) -> Result<SchemaState, DbErr> {
        Ok(match migration::status(&self.inner.reader).await? {
            migration::MigrationStatus::Current => SchemaState::Current,
            migration::MigrationStatus::Behind(pending) => SchemaState::Behind(pending.len()),
            migration::MigrationStatus::Ahead(name) => SchemaState::Ahead(name),
        })
    }

    /// Applies all pending migrations in one transaction. Concurrent processes wait for each other.
    ///
    /// # Errors
    /// Returns [`MigrateError::Newer`] when the database has a migration that this version does not contain.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        match self.schema_state().await? {
            SchemaState::Current => return Ok(()),
            SchemaState::Ahead(name) => return Err(MigrateError::Newer(name)),
            SchemaState::Behind(_) => {}
        }
        let transaction = dialect::begin(&self.inner.writer).await?;
        dialect::wait_for_other_migrations(&transaction).await?;
        if let migration::MigrationStatus::Ahead(name) = migration::status(&transaction).await? {
            return Err(MigrateError::Newer(name));
        }
        migration::apply(&transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Returns the horizon of a delta sync: no running or later write commits a row with an earlier `updated_at`.
    ///
    /// Uses the same clock as [`begin_write`](Self::begin_write). Call it before reading the page.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn horizon(&self, clock: &Clock) -> Result<i64, DbErr> {
        let server_ms = match self.backend() {
            DbBackend::Postgres if !clock.is_simulated() => dialect::server_ms(&self.inner.reader).await?,
            _ => None,
        };
        let now = server_ms.unwrap_or_else(|| clock.now_ms());
        let oldest = match self.backend() {
            DbBackend::Postgres => dialect::oldest_running_write(&self.inner.reader).await?,
            _ => self.wait_for_other_processes().await?,
        };
        Ok(self.inner.running_writes.fix_horizon(oldest.map_or(now, |start| start.min(now))))
    }

    /// Returns a time before which all writes are visible, without waiting. On SQLite, it ignores running writes of other
    /// processes.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn visible_until(&self, clock: &Clock) -> Result<i64, DbErr> {
        if self.backend() == DbBackend::Postgres {
            return self.horizon(clock).await;
        }
        let now = clock.now_ms();
        Ok(self.inner.running_writes.oldest().map_or(now, |start| start.min(now)))
    }

    /// Waits until writes of other processes that began before this call have ended. SQLite only.
    ///
    /// Holding the write lock proves this. If a write of this process holds the lock or gets it in the meantime, returns the
    /// start time of that write instead of waiting for its end.
    async fn wait_for_other_processes(&self) -> Result<Option<i64>, DbErr> {
        loop {
            let next_start = self.inner.running_writes.next_start();
            if let Some(oldest) = self.inner.running_writes.oldest() {
                return Ok(Some(oldest));
            }
            tokio::select! {
                acquired = dialect::wait_for_write_lock(&self.inner.writer) => return acquired.map(|()| None),
                () = next_start => {}
            }
        }
    }

    /// Closes all connections. Waits for those in use.
    pub async fn close(&self) {
        // Closing does not return errors.
        let _ = self.inner.reader.close_by_ref().await;
        let _ = self.inner.writer.close_by_ref().await;
    }
}
