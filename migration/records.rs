//! What the database records about migrations: those applied, the floor, and the positions of backfills.
//!
//! Applied migrations are recorded in the table `seaql_migrations`. The floor and the positions are rows of `server_state`.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement, Value};

use crate::Migration;
use crate::definition::translate_types;

/// The name of the row of `server_state` that contains the floor.
const FLOOR: &str = "schema_floor";

/// Returns the names of the applied migrations, sorted.
pub(crate) async fn applied(connection: &impl ConnectionTrait) -> Result<BTreeSet<String>, DbErr> {
    let backend = connection.get_database_backend();
    if !has_table(connection, "seaql_migrations").await? {
        return Ok(BTreeSet::new());
    }
    let names = Statement::from_string(backend, "SELECT version FROM seaql_migrations");
    connection.query_all_raw(names).await?.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Records that a migration was applied.
///
/// # Errors
/// Returns [`DbErr`] when a statement fails. The caller must then roll back.
pub async fn record(transaction: &DatabaseTransaction, migration: &Migration) -> Result<(), DbErr> {
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
    let record =
        format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{}', {now})", migration.name);
    transaction.execute_unprepared(&record).await?;
    raise_floor(transaction, migration.floor).await
}

/// Returns the floor of the database: the lowest schema number that a binary must know to run on it. `None` if it has not been
/// migrated, or by another program.
pub(crate) async fn floor(connection: &impl ConnectionTrait) -> Result<Option<u32>, DbErr> {
    if !has_table(connection, "server_state").await? {
        return Ok(None);
    }
    let Some(value) = value(connection, FLOOR).await? else { return Ok(None) };
    value.parse().map(Some).map_err(|_| DbErr::Custom(format!("the stored {FLOOR} is not a number: {value}")))
}

/// Stores the floor of a migration, unless the stored one is higher.
async fn raise_floor(transaction: &DatabaseTransaction, migration_floor: u32) -> Result<(), DbErr> {
    if floor(transaction).await?.is_some_and(|floor| floor >= migration_floor) {
        return Ok(());
    }
    set_value(transaction, FLOOR, Some(migration_floor.to_string())).await
}

/// Returns the value with this name in `server_state`.
pub(crate) async fn value(connection: &impl ConnectionTrait, name: &str) -> Result<Option<String>, DbErr> {
    let sql = "SELECT value FROM server_state WHERE name = $1";
    let query = Statement::from_sql_and_values(connection.get_database_backend(), sql, [name.into()]);
    connection.query_one_raw(query).await?.map(|row| row.try_get_by_index(0)).transpose()
}

/// Stores or deletes the value with this name in `server_state`.
pub(crate) async fn set_value(
    transaction: &DatabaseTransaction,
    name: &str,
    value: Option<String>,
) -> Result<(), DbErr> {
    let (sql, values): (_, Vec<Value>) = match value {
        Some(value) => (
            "INSERT INTO server_state (name, value) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            vec![name.into(), value.into()],
        ),
        None => ("DELETE FROM server_state WHERE name = $1", vec![name.into()]),
    };
    let statement = Statement::from_sql_and_values(transaction.get_database_backend(), sql, values);
    transaction.execute_raw(statement).await.map(drop)
}

async fn has_table(connection: &impl ConnectionTrait, name: &str) -> Result<bool, DbErr> {
    let backend = connection.get_database_backend();
    let query = match backend {
        DbBackend::Sqlite => format!("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '{name}'"),
        // `to_regclass` would answer from the cache of the session, which may not know yet what another process has just committed.
        _ => format!("SELECT 1 FROM pg_class WHERE relname = '{name}' AND pg_table_is_visible(oid)"),
    };
    Ok(connection.query_one_raw(Statement::from_string(backend, query)).await?.is_some())
}
