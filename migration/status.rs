//! Compares the database with the migrations of this binary, applies pending migrations and reverts applied ones.
//!
//! Applied migrations are recorded in the table `seaql_migrations`, which earlier versions created with sea-orm-migration.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};

use crate::MIGRATIONS;
use crate::definition::translate_types;

/// The migrations of a database compared with those of this binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MigrationStatus {
    /// All migrations of this binary are applied. A newer version may have applied others on which this binary can run.
    Current,
    /// These migrations are pending, oldest first. On an empty database, these are all migrations.
    Behind(Vec<String>),
    /// This binary cannot run on the database, because it does not know this migration; most likely, a newer version applied
    /// it. Migrations of this binary can be pending as well.
    Ahead(String),
}

/// The name of the row of `server_state` that contains the floor.
const FLOOR: &str = "schema_floor";

/// The number of the newest migration of this binary.
#[expect(clippy::cast_possible_truncation, reason = "there are few migrations")]
const SCHEMA_NUMBER: u32 = MIGRATIONS.len() as u32;

/// Returns the migration status of the database. Only reads: an empty database stays empty.
///
/// # Errors
/// Returns [`DbErr`] when a query fails.
pub async fn status(connection: &impl ConnectionTrait) -> Result<MigrationStatus, DbErr> {
    let applied = applied(connection).await?;
    if let Some(unknown) =
        applied.iter().rev().find(|name| MIGRATIONS.iter().all(|migration| migration.name != **name))
        && floor(connection).await?.is_none_or(|floor| floor > SCHEMA_NUMBER)
    {
        return Ok(MigrationStatus::Ahead(unknown.clone()));
    }
    let names = MIGRATIONS.iter().map(|migration| migration.name);
    let pending: Vec<String> = names.filter(|name| !applied.contains(*name)).map(str::to_owned).collect();
    Ok(if pending.is_empty() { MigrationStatus::Current } else { MigrationStatus::Behind(pending) })
}

/// Applies all pending migrations in the transaction.
///
/// No other transaction may apply migrations meanwhile: the caller must hold the write lock of SQLite, or an advisory
/// lock on PostgreSQL.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails. The caller must then roll back.
pub async fn apply(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    while apply_next(transaction).await? {}
    Ok(())
}

/// Applies the oldest pending migration in the transaction. Returns `false` when none is pending.
///
/// No other transaction may apply migrations meanwhile, as for [`apply`].
///
/// # Errors
/// Returns [`DbErr`] when a statement fails. The caller must then roll back.
pub async fn apply_next(transaction: &DatabaseTransaction) -> Result<bool, DbErr> {
    let backend = transaction.get_database_backend();
    let columns =
        translate_types(backend, "version VARCHAR NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL");
    transaction
        .execute_unprepared(&format!("CREATE TABLE IF NOT EXISTS seaql_migrations ({columns})"))
        .await?;
    // `applied_at` is in seconds.
    let now = match backend {
        DbBackend::Sqlite => "unixepoch()",
        _ => "extract(epoch FROM now())::bigint",
    };
    let applied = applied(transaction).await?;
    let Some(migration) = MIGRATIONS.iter().find(|migration| !applied.contains(migration.name)) else {
        return Ok(false);
    };
    migration.up(transaction).await?;
    let record =
        format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{}', {now})", migration.name);
    transaction.execute_unprepared(&record).await?;
    raise_floor(transaction, migration.floor).await?;
    Ok(true)
}

/// Returns the floor of the database: the lowest schema number that a binary must know to run on it. `None` if only earlier
/// versions, which stored none, have migrated it.
async fn floor(connection: &impl ConnectionTrait) -> Result<Option<u32>, DbErr> {
    if !has_table(connection, "server_state").await? {
        return Ok(None);
    }
    let sql = format!("SELECT value FROM server_state WHERE name = '{FLOOR}'");
    let row =
        connection.query_one_raw(Statement::from_string(connection.get_database_backend(), sql)).await?;
    let Some(value) = row.map(|row| row.try_get_by_index::<String>(0)).transpose()? else { return Ok(None) };
    value.parse().map(Some).map_err(|_| DbErr::Custom(format!("the stored {FLOOR} is not a number: {value}")))
}

/// Stores the floor of a migration, unless the stored one is higher.
async fn raise_floor(transaction: &DatabaseTransaction, migration_floor: u32) -> Result<(), DbErr> {
    if floor(transaction).await?.is_some_and(|floor| floor >= migration_floor) {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO server_state (name, value) VALUES ('{FLOOR}', '{migration_floor}')
         ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    );
    transaction.execute_unprepared(&sql).await.map(drop)
}

/// Reverts all applied migrations of this binary in the transaction, newest first. Deletes all data.
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

/// Returns the names of the migrations recorded in the database, sorted.
async fn applied(connection: &impl ConnectionTrait) -> Result<BTreeSet<String>, DbErr> {
    let backend = connection.get_database_backend();
    if !has_table(connection, "seaql_migrations").await? {
        return Ok(BTreeSet::new());
    }
    let names = Statement::from_string(backend, "SELECT version FROM seaql_migrations");
    connection.query_all_raw(names).await?.iter().map(|row| row.try_get_by_index(0)).collect()
}

async fn has_table(connection: &impl ConnectionTrait, name: &str) -> Result<bool, DbErr> {
    let backend = connection.get_database_backend();
    let query = match backend {
        DbBackend::Sqlite => format!("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '{name}'"),
        _ => format!("SELECT 1 WHERE to_regclass('{name}') IS NOT NULL"),
    };
    Ok(connection.query_one_raw(Statement::from_string(backend, query)).await?.is_some())
}
