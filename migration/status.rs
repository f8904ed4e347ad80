//! Compares the database with the migrations of this binary, applies pending migrations and reverts applied ones.
//!
//! Applied migrations are recorded in the table `seaql_migrations`, which earlier versions created with sea-orm-migration.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};

use crate::MIGRATIONS;
use crate::definition::types;

/// The migrations of a database compared with those of this binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MigrationStatus {
    /// Every migration is applied, and no others.
    Current,
    /// These migrations are pending, oldest first. On an empty database, these are all migrations.
    Behind(Vec<String>),
    /// The database has this migration, which this binary does not know. Most likely, a newer version applied it.
    Ahead(String),
}

/// Returns the migration status of the database. Only reads: an empty database stays empty.
///
/// # Errors
/// Returns [`DbErr`] when a query fails.
pub async fn status(connection: &impl ConnectionTrait) -> Result<MigrationStatus, DbErr> {
    let applied = applied(connection).await?;
    if let Some(unknown) =
        applied.iter().rev().find(|name| MIGRATIONS.iter().all(|migration| migration.name != **name))
    {
        return Ok(MigrationStatus::Ahead(unknown.clone()));
    }
    let names = MIGRATIONS.iter().map(|migration| migration.name);
    let pending: Vec<String> = names.filter(|name| !applied.contains(*name)).map(str::to_owned).collect();
    Ok(if pending.is_empty() { MigrationStatus::Current } else { MigrationStatus::Behind(pending) })
}

/// Applies all pending migrations in the transaction.
///
/// No other transaction may apply migrations meanwhile: the caller must hold the write lock of SQLite, or a lock of its own on
/// PostgreSQL.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails. The caller must then roll back.
pub async fn apply(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    let backend = transaction.get_database_backend();
    let columns = types(backend, "version VARCHAR NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL");
    transaction
        .execute_unprepared(&format!("CREATE TABLE IF NOT EXISTS seaql_migrations ({columns})"))
        .await?;
    let now = match backend {
        DbBackend::Sqlite => "unixepoch()",
        _ => "extract(epoch FROM now())::bigint",
    };
    let applied = applied(transaction).await?;
    for migration in MIGRATIONS.iter().filter(|migration| !applied.contains(migration.name)) {
        migration.up(transaction).await?;
        let record = format!(
            "INSERT INTO seaql_migrations (version, applied_at) VALUES ('{}', {now})",
            migration.name
        );
        transaction.execute_unprepared(&record).await?;
    }
    Ok(())
}

/// Reverts all applied migrations in the transaction, newest first. Deletes all data.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails. The caller must then roll back.
pub async fn revert(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    let applied = applied(transaction).await?;
    for migration in MIGRATIONS.iter().rev().filter(|migration| applied.contains(migration.name)) {
        migration.down(transaction).await?;
        let record = format!("DELETE FROM seaql_migrations WHERE version = '{}'", migration.name);
        transaction.execute_unprepared(&record).await?;
    }
    Ok(())
}

/// Returns the names of the migrations recorded in the database, in order.
async fn applied(connection: &impl ConnectionTrait) -> Result<BTreeSet<String>, DbErr> {
    let backend = connection.get_database_backend();
    let exists = match backend {
        DbBackend::Sqlite => "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'seaql_migrations'",
        _ => "SELECT 1 WHERE to_regclass('seaql_migrations') IS NOT NULL",
    };
    if connection.query_one_raw(Statement::from_string(backend, exists)).await?.is_none() {
        return Ok(BTreeSet::new());
    }
    let names = Statement::from_string(backend, "SELECT version FROM seaql_migrations");
    connection.query_all_raw(names).await?.iter().map(|row| row.try_get_by_index(0)).collect()
}
