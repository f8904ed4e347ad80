//! Connections to the database, read and write.
//!
//! SQLite: one connection writes, a pool of others reads. PostgreSQL: one pool does both. Whoever changes something
//! opens a [`Write`], does all of the change in it and commits it once; [`Database::horizon`] says how far a reader
//! may trust that no running write will still add rows. What only one of the two databases can say stands in
//! [`dialect`](self), beside its twin. This module knows connections and transactions, never a table.

mod connect;
mod dialect;
mod errors;
mod options;
mod running;
#[cfg(test)]
mod tests;
mod write;

use std::sync::{Arc, atomic::AtomicU16};

use sea_orm::{
    AccessMode, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, IsolationLevel,
    TransactionOptions, TransactionTrait,
};

pub use errors::{ConnectError, MigrateError, Unique, is_retryable, is_unique_violation, violates};
pub use options::{Options, Source};
pub use write::Write;

use crate::clock::Clock;
use running::Running;

/// The database that the server works on. Cloning it shares the connections.
#[derive(Clone, Debug)]
pub struct Database {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Source,
    reader: DatabaseConnection,
    writer: DatabaseConnection,
    running: Arc<Running>,
    /// Counts writes, to spread them over the shards of the rollups.
    turn: AtomicU16,
}

/// How the database stands to this binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SchemaState {
    /// It has the schema that this binary knows.
    Current,
    /// So many steps are still to be applied.
    Behind(usize),
    /// A newer binary applied the step of this name.
    Ahead(String),
}

impl Database {
    /// Opens the database. A SQLite file is made when it is not there; its schema is not, see [`Self::migrate`].
    ///
    /// # Errors
    /// When the folder cannot be written, the address is wrong, or the server does not answer.
    pub async fn connect(options: Options) -> Result<Self, ConnectError> {
        let (reader, writer) = connect::open(&options).await?;
        let running = Arc::new(Running::default());
        let inner = Inner { source: options.source, reader, writer, running, turn: AtomicU16::new(0) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The connections to read from. Each statement sees what was committed before it.
    pub fn read(&self) -> &DatabaseConnection {
        &self.inner.reader
    }

    /// A transaction in which all reads see one and the same state, for sums that must agree with each other.
    ///
    /// # Errors
    /// When the database does not answer.
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

    /// Whether writers that run together add to different shards of a sum.
    pub fn is_sharded(&self) -> bool {
        dialect::shards(self.backend()) > 1
    }

    /// Which of the two databases it is.
    pub fn backend(&self) -> DbBackend {
        self.inner.source.backend()
    }

    /// Where the data is, without a password, for messages.
    pub fn place(&self) -> String {
        self.inner.source.place()
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// When it does not, within the time to acquire a connection; or when its file is gone.
    pub async fn ping(&self) -> Result<(), DbErr> {
        if let Source::Sqlite { path } = &self.inner.source {
            // An open file answers even after it was removed, and then forgets everything at the end.
            tokio::fs::metadata(path)
                .await
                .map_err(|error| DbErr::Custom(format!("{}: {error}", path.display())))?;
        }
        dialect::touch(&self.inner.reader).await
    }

    /// How the database stands to this binary.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn schema_state(&self) -> Result<SchemaState, DbErr> {
        Ok(match migration::state(&self.inner.reader).await? {
            migration::State::Current => SchemaState::Current,
            migration::State::Behind(pending) => SchemaState::Behind(pending.len()),
            migration::State::Ahead(step) => SchemaState::Ahead(step),
        })
    }

    /// Applies every pending step in one transaction: all of them or none. Processes that start together take turns.
    ///
    /// # Errors
    /// [`MigrateError::Newer`] when the database is newer than this binary; nothing is changed then.
    pub async fn migrate(&self) -> Result<(), MigrateError> {
        match self.schema_state().await? {
            SchemaState::Current => return Ok(()),
            SchemaState::Ahead(step) => return Err(MigrateError::Newer(step)),
            SchemaState::Behind(_) => {}
        }
        let transaction = dialect::begin(&self.inner.writer).await?;
        dialect::wait_for_other_migrations(&transaction).await?;
        if let migration::State::Ahead(step) = migration::state(&transaction).await? {
            return Err(MigrateError::Newer(step));
        }
        migration::apply(&transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Up to where a delta sync may read: no row that a running write will still commit, or that any later write
    /// will, has an `updated_at` below the horizon.
    ///
    /// By the same clock that records writes, see [`begin_write`](Self::begin_write). The page must be read after it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn horizon(&self, clock: &Clock) -> Result<i64, DbErr> {
        let server_ms = match self.backend() {
            DbBackend::Postgres if !clock.is_fixed() => dialect::server_ms(&self.inner.reader).await?,
            _ => None,
        };
        let now = server_ms.unwrap_or_else(|| clock.now_ms());
        let oldest = match self.backend() {
            DbBackend::Postgres => dialect::oldest_running_write(&self.inner.reader).await?,
            _ => self.wait_for_foreign_writes().await?,
        };
        Ok(self.inner.running.promise(oldest.map_or(now, |start| start.min(now))))
    }

    /// A time before which all that was recorded is there to be read, as far as can be told without waiting: not what another
    /// process is amid on SQLite.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn settled_until(&self, clock: &Clock) -> Result<i64, DbErr> {
        if self.backend() == DbBackend::Postgres {
            return self.horizon(clock).await;
        }
        let now = clock.now_ms();
        Ok(self.inner.running.oldest().map_or(now, |start| start.min(now)))
    }

    /// Waits until no other process is amid a write that began before this call, and gives the bound that the proof
    /// sets when it is a write of this process: another process may begin as soon as that one ends. SQLite only.
    ///
    /// Whoever gets the write lock proves it. When a write of this process has the lock, or gets it meanwhile, that
    /// is proof enough, and there is no need to wait for its end.
    async fn wait_for_foreign_writes(&self) -> Result<Option<i64>, DbErr> {
        loop {
            let begun = self.inner.running.next_begun();
            if let Some(oldest) = self.inner.running.oldest() {
                return Ok(Some(oldest));
            }
            tokio::select! {
                proof = dialect::take_write_lock_once(&self.inner.writer) => return proof.map(|()| None),
                () = begun => {}
            }
        }
    }

    /// Closes all connections, after those in use are given back.
    pub async fn close(&self) {
        // Neither can fail: the drivers close what is open and report nothing.
        let _ = self.inner.reader.close_by_ref().await;
        let _ = self.inner.writer.close_by_ref().await;
    }
}
