//! The statements that only one of the two databases knows, each beside its twin.

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, RuntimeErr,
    SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait,
};

/// The upper 16 bits of the advisory locks that running writes hold on PostgreSQL; the rest is the time.
const WRITE_LOCKS: i64 = 0x5357;

/// The server's clock on PostgreSQL, in milliseconds since the epoch.
const SERVER_MS: &str = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The advisory lock of whoever migrates on PostgreSQL.
const MIGRATION_LOCK: i64 = 0x5358 << 48;

/// Begins a transaction that may write.
///
/// SQLite takes the write lock at once: a transaction that began by reading could not get it later. PostgreSQL locks
/// row by row.
pub(super) async fn begin(writer: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    writer.begin_with_options(options).await
}

/// Which clock tells when a write is recorded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Recorded {
    /// The database server's, which all processes share.
    Server,
    /// A clock of the caller's; it says this now.
    Own(i64),
}

/// Makes a write visible to [`oldest_running_write`] until it ends, and then reads the server's clock if that is to
/// record it. PostgreSQL only; on SQLite the process knows its own writes and waits for others.
///
/// The lock is taken in the inner query, so that the clock of the outer one is read while it is held.
pub(super) async fn announce_write(
    transaction: &DatabaseTransaction,
    recorded: Recorded,
) -> Result<Option<i64>, DbErr> {
    if transaction.get_database_backend() != DbBackend::Postgres {
        return Ok(None);
    }
    let entered = match recorded {
        Recorded::Server => None,
        Recorded::Own(now) => Some(now),
    };
    let lock = format!(
        "SELECT coalesce($1, {SERVER_MS}) FROM (SELECT pg_advisory_xact_lock_shared(
             ($2::bigint << 48) | (coalesce($1, {SERVER_MS}) & ((1::bigint << 48) - 1))) OFFSET 0) AS announced"
    );
    let values = [entered.into(), WRITE_LOCKS.into()];
    let statement = Statement::from_sql_and_values(DbBackend::Postgres, lock, values);
    let row = transaction.query_one_raw(statement).await?;
    match recorded {
        Recorded::Server => row.map(|row| row.try_get_by_index(0)).transpose(),
        Recorded::Own(_) => Ok(None),
    }
}

/// The database server's clock. PostgreSQL only.
pub(super) async fn server_ms(reader: &DatabaseConnection) -> Result<Option<i64>, DbErr> {
    let clock = Statement::from_string(DbBackend::Postgres, format!("SELECT {SERVER_MS}"));
    reader.query_one_raw(clock).await?.map(|row| row.try_get_by_index(0)).transpose()
}

/// When the oldest write that is still running began, in any process. PostgreSQL only.
///
/// `pg_locks` shows the two halves of the key as `classid` and `objid`.
pub(super) async fn oldest_running_write(reader: &DatabaseConnection) -> Result<Option<i64>, DbErr> {
    let oldest = "SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 16 = $1
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let oldest = Statement::from_sql_and_values(DbBackend::Postgres, oldest, [WRITE_LOCKS.into()]);
    reader.query_one_raw(oldest).await?.map_or(Ok(None), |row| row.try_get_by_index(0))
}

/// Takes the write lock and gives it back: no write that another process began before still runs. SQLite only.
///
/// May be cancelled: the driver rolls back a transaction that nobody waits for any more.
pub(super) async fn take_write_lock_once(writer: &DatabaseConnection) -> Result<(), DbErr> {
    let refused = |cause: sea_orm::sqlx::Error| DbErr::Query(RuntimeErr::SqlxError(cause.into()));
    let lock = writer.get_sqlite_connection_pool().begin_with("BEGIN IMMEDIATE").await.map_err(refused)?;
    lock.rollback().await.map_err(refused)
}

/// Waits until nobody else migrates. SQLite needs nothing here: the transaction has the write lock.
pub(super) async fn wait_for_other_migrations(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        let lock = "SELECT pg_advisory_xact_lock($1)";
        let lock = Statement::from_sql_and_values(DbBackend::Postgres, lock, [MIGRATION_LOCK.into()]);
        transaction.execute_raw(lock).await?;
    }
    Ok(())
}

/// Makes the database show that it is there. SQLite must be asked for something that is in its file.
pub(super) async fn touch(reader: &DatabaseConnection) -> Result<(), DbErr> {
    let question = match reader.get_database_backend() {
        DbBackend::Sqlite => "SELECT count(*) FROM sqlite_schema",
        _ => "SELECT 1",
    };
    reader.query_one_raw(Statement::from_string(reader.get_database_backend(), question)).await.map(drop)
}

/// How many shards the rollups' sums are spread over. SQLite writes one at a time; on PostgreSQL each commit would
/// wait for the one before if all added to the same row.
pub(super) fn shards(backend: DbBackend) -> u16 {
    if backend == DbBackend::Postgres { 16 } else { 1 }
}
