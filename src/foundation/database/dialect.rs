//! The operations that differ between SQLite and PostgreSQL.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, SqliteTransactionMode, Statement,
    TransactionOptions,
};

use super::errors::is_storage_failure;
use super::transaction_limits::TransactionLimits;
use super::{BoundedConnection, BoundedTransaction};

/// The upper 16 bits of the advisory locks that running writes hold on PostgreSQL. The other bits are a time that is not after the
/// recording time.
pub(super) const WRITE_LOCK_CLASS: i64 = 0x5357;

/// The advisory lock held while a horizon is determined on PostgreSQL.
pub(super) const HORIZON_LOCK: i64 = 0x5359 << 48;

/// The SQL expression for the clock of the PostgreSQL server, in milliseconds since the epoch.
pub(super) const SERVER_MS: &str = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The advisory lock held during migrations on PostgreSQL.
const MIGRATION_LOCK: i64 = 0x5358 << 48;

/// How often a process that waits for migrations of another one tries to get the lock.
const MIGRATION_LOCK_POLL: Duration = Duration::from_millis(100);

/// The longest time that a migration waits for a lock. Meanwhile, other statements wait behind it.
const MIGRATION_LOCK_TIMEOUT: &str = "2s";

/// Returns the options of a write transaction.
///
/// SQLite takes the write lock immediately, since a transaction that starts with a read may be unable to get it later.
/// PostgreSQL locks individual rows.
pub(super) fn write_options() -> TransactionOptions {
    TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    }
}

/// Limits the statements of a new transaction, and how long they wait for locks.
pub(super) async fn limit_statements(transaction: &BoundedTransaction) -> Result<(), DbErr> {
    if let Some(timeout) = transaction.timeout() {
        transaction.execute_unprepared(&TransactionLimits::new(timeout).write_settings()).await?;
    }
    Ok(())
}

/// Returns the time of the database server in milliseconds since the epoch. PostgreSQL only.
pub(super) async fn server_ms(reader: &BoundedConnection) -> Result<Option<i64>, DbErr> {
    let clock = Statement::from_string(DbBackend::Postgres, format!("SELECT {SERVER_MS}"));
    reader.query_one_raw(clock).await?.map(|row| row.try_get_by_index(0)).transpose()
}

/// Waits for migrations of other processes, and limits the wait for other locks. Disables the other timeouts, which a migration
/// may exceed. On SQLite, the transaction already holds the write lock.
///
/// `CREATE INDEX CONCURRENTLY` waits for all older snapshots in the database. So the transaction has no snapshot while it waits
/// for the lock, and none between its statements.
pub(super) async fn wait_for_other_migrations(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    if transaction.get_database_backend() != DbBackend::Postgres {
        return Ok(());
    }
    let settings = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        SELECT set_config(name, '0', true) FROM pg_settings
        WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')";
    transaction.execute_unprepared(settings).await?;
    let lock = "SELECT pg_try_advisory_xact_lock($1)";
    let lock = Statement::from_sql_and_values(DbBackend::Postgres, lock, [MIGRATION_LOCK.into()]);
    let mut is_waiting = false;
    loop {
        let row = transaction.query_one_raw(lock.clone()).await?;
        if row.map_or(Ok(false), |row| row.try_get_by_index(0))? {
            break;
        }
        if !is_waiting {
            tracing::info!("waiting for another process that applies migrations");
            is_waiting = true;
        }
        tokio::time::sleep(MIGRATION_LOCK_POLL).await;
    }
    let timeout = format!("SET LOCAL lock_timeout = '{MIGRATION_LOCK_TIMEOUT}'");
    transaction.execute_unprepared(&timeout).await.map(drop)
}

/// Returns whether the database accepts writes: a standby of PostgreSQL does not. On SQLite, the query must read the file.
pub(super) async fn accepts_writes(reader: &BoundedConnection) -> Result<bool, DbErr> {
    let query = match reader.get_database_backend() {
        DbBackend::Sqlite => "SELECT count(*) >= 0 FROM sqlite_schema",
        _ => "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'",
    };
    let row = reader.query_one_raw(Statement::from_string(reader.get_database_backend(), query)).await?;
    row.map_or(Ok(false), |row| row.try_get_by_index(0))
}

/// Returns whether the file can be written. Tests it only after a call has failed because of the disk, and not before `pause` has
/// passed: a test writes one page, which can succeed on a disk on which larger writes fail. SQLite only.
pub(super) async fn is_writable(
    writer: &BoundedConnection,
    storage_failed_at: &Mutex<Option<Instant>>,
    pause: Duration,
) -> bool {
    let failed_at = || *storage_failed_at.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(tested_failure) = failed_at() else { return true };
    if tested_failure.elapsed() < pause {
        return false;
    }
    // Writes a page of the file, although the value, which nothing else uses, stays the same.
    match writer.execute_unprepared("PRAGMA user_version = 0").await {
        Ok(_) => {
            let mut failed_at = storage_failed_at.lock().unwrap_or_else(PoisonError::into_inner);
            if *failed_at == Some(tested_failure) {
                *failed_at = None;
            }
            failed_at.is_none()
        }
        Err(error) if is_storage_failure(&error) => {
            tracing::warn!(%error, "the database file cannot be written");
            false
        }
        // Another process writes.
        Err(_) => true,
    }
}

/// Returns the role of the session if its `statement_timeout` is 0, which means that statements outside of transactions have no
/// timeout. PostgreSQL only.
pub(super) async fn role_without_statement_timeout(
    reader: &BoundedConnection,
) -> Result<Option<String>, DbErr> {
    let query = "SELECT quote_ident(current_user) WHERE current_setting('statement_timeout') = '0'";
    let row = reader.query_one_raw(Statement::from_string(DbBackend::Postgres, query)).await?;
    row.map(|row| row.try_get_by_index(0)).transpose()
}

/// Returns the role of the session and a partitioned table of the schema, if the role has not the privileges of the table's owner.
/// PostgreSQL only.
pub(super) async fn role_without_ownership(
    reader: &BoundedConnection,
) -> Result<Option<(String, String)>, DbErr> {
    let query = "SELECT quote_ident(current_user), relname::text FROM pg_class
        WHERE relkind = 'p' AND relnamespace = to_regnamespace(quote_ident(current_schema()))
          AND NOT pg_has_role(current_user, relowner, 'USAGE')
        ORDER BY relname LIMIT 1";
    let row = reader.query_one_raw(Statement::from_string(DbBackend::Postgres, query)).await?;
    row.map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).transpose()
}

/// Returns the number of connections that PostgreSQL allows, without reserved ones, and the address of the server as it sees
/// it; `None` for a Unix socket. PostgreSQL only.
pub(super) async fn connection_limit(reader: &BoundedConnection) -> Result<(u64, Option<SocketAddr>), DbErr> {
    // Version 16 introduced `reserved_connections`.
    let query = "SELECT current_setting('max_connections')::bigint
            - current_setting('superuser_reserved_connections')::bigint
            - coalesce(current_setting('reserved_connections', true)::bigint, 0),
        host(inet_server_addr()), inet_server_port()";
    let row = reader.query_one_raw(Statement::from_string(DbBackend::Postgres, query)).await?;
    let row = row.ok_or_else(|| DbErr::Custom("no row".to_owned()))?;
    let limit = row.try_get_by_index::<i64>(0)?.unsigned_abs();
    let address =
        row.try_get_by_index::<Option<String>>(1)?.and_then(|address| address.parse::<IpAddr>().ok());
    let port = row.try_get_by_index::<Option<i32>>(2)?.and_then(|port| u16::try_from(port).ok());
    Ok((limit, address.zip(port).map(SocketAddr::from)))
}

/// Returns the number of shards of the rollups. On PostgreSQL, concurrent writes to the same row would wait for each
/// other's commits. SQLite has only one writer.
pub(super) fn shard_count(backend: DbBackend) -> u16 {
    if backend == DbBackend::Postgres { 16 } else { 1 }
}
