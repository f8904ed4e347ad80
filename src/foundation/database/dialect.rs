//! The operations that differ between SQLite and PostgreSQL.

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, RuntimeErr,
    SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait,
};

/// The upper 16 bits of the advisory locks that running writes hold on PostgreSQL. The other bits are the start time.
const WRITE_LOCK_CLASS: i64 = 0x5357;

/// The SQL expression for the clock of the PostgreSQL server, in milliseconds since the epoch.
const SERVER_MS: &str = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The advisory lock held during migrations on PostgreSQL.
const MIGRATION_LOCK: i64 = 0x5358 << 48;

/// Begins a write transaction.
///
/// SQLite takes the write lock immediately, since a transaction that starts with a read may be unable to get it later.
/// PostgreSQL locks individual rows.
pub(super) async fn begin(writer: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    writer.begin_with_options(options).await
}

/// The clock that determines the time at which a write is recorded.
#[derive(Clone, Copy, Debug)]
pub(super) enum WriteClock {
    /// The clock of the database server, which all processes share.
    Server,
    /// The clock of the caller, with its current time in milliseconds.
    Caller(i64),
}

/// Makes a write visible to [`oldest_running_write`] until it ends. Returns the time of the server if that is the clock.
///
/// PostgreSQL only. On SQLite, the process tracks its own writes and waits for those of other processes. The inner query
/// takes the lock, so that the outer query reads the clock while the lock is held.
pub(super) async fn announce_write(
    transaction: &DatabaseTransaction,
    clock: WriteClock,
) -> Result<Option<i64>, DbErr> {
    if transaction.get_database_backend() != DbBackend::Postgres {
        return Ok(None);
    }
    let caller_ms = match clock {
        WriteClock::Server => None,
        WriteClock::Caller(now) => Some(now),
    };
    let lock = format!(
        "SELECT coalesce($1, {SERVER_MS}) FROM (SELECT pg_advisory_xact_lock_shared(
             ($2::bigint << 48) | (coalesce($1, {SERVER_MS}) & ((1::bigint << 48) - 1))) OFFSET 0) AS announced"
    );
    let values = [caller_ms.into(), WRITE_LOCK_CLASS.into()];
    let statement = Statement::from_sql_and_values(DbBackend::Postgres, lock, values);
    let row = transaction.query_one_raw(statement).await?;
    match clock {
        WriteClock::Server => row.map(|row| row.try_get_by_index(0)).transpose(),
        WriteClock::Caller(_) => Ok(None),
    }
}

/// Returns the time of the database server in milliseconds since the epoch. PostgreSQL only.
pub(super) async fn server_ms(reader: &DatabaseConnection) -> Result<Option<i64>, DbErr> {
    let clock = Statement::from_string(DbBackend::Postgres, format!("SELECT {SERVER_MS}"));
    reader.query_one_raw(clock).await?.map(|row| row.try_get_by_index(0)).transpose()
}

/// Returns the start time of the oldest running write of all processes. PostgreSQL only.
///
/// `pg_locks` contains the two halves of the lock key in `classid` and `objid`.
pub(super) async fn oldest_running_write(reader: &DatabaseConnection) -> Result<Option<i64>, DbErr> {
    let oldest = "SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 16 = $1
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let oldest = Statement::from_sql_and_values(DbBackend::Postgres, oldest, [WRITE_LOCK_CLASS.into()]);
    reader.query_one_raw(oldest).await?.map_or(Ok(None), |row| row.try_get_by_index(0))
}

/// Acquires and releases the write lock, which waits for writes that other processes began earlier. SQLite only.
///
/// Cancel-safe: the driver rolls back a transaction that is dropped.
pub(super) async fn wait_for_write_lock(writer: &DatabaseConnection) -> Result<(), DbErr> {
    let to_db_err = |cause: sea_orm::sqlx::Error| DbErr::Query(RuntimeErr::SqlxError(cause.into()));
    let lock = writer.get_sqlite_connection_pool().begin_with("BEGIN IMMEDIATE").await.map_err(to_db_err)?;
    lock.rollback().await.map_err(to_db_err)
}

/// Waits for migrations of other processes. On SQLite, the transaction already holds the write lock.
pub(super) async fn wait_for_other_migrations(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        let lock = "SELECT pg_advisory_xact_lock($1)";
        let lock = Statement::from_sql_and_values(DbBackend::Postgres, lock, [MIGRATION_LOCK.into()]);
        transaction.execute_raw(lock).await?;
    }
    Ok(())
}

/// Executes a query to test the connection. On SQLite, the query must read the file.
pub(super) async fn ping(reader: &DatabaseConnection) -> Result<(), DbErr> {
    let query = match reader.get_database_backend() {
        DbBackend::Sqlite => "SELECT count(*) FROM sqlite_schema",
        _ => "SELECT 1",
    };
    reader.query_one_raw(Statement::from_string(reader.get_database_backend(), query)).await.map(drop)
}

/// Returns the number of shards of the rollups. On PostgreSQL, concurrent writes to the same row would wait for each
/// other's commits. SQLite has only one writer.
pub(super) fn shard_count(backend: DbBackend) -> u16 {
    if backend == DbBackend::Postgres { 16 } else { 1 }
}
