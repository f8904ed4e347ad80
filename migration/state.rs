//! How a database stands to the steps this binary knows, and the way from one to the other.
//!
//! Applied steps are recorded in the table `seaql_migrations`, which earlier versions created through sea-orm-migration.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};

use crate::STEPS;
use crate::step::types;

/// How a database stands to this binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Every step is applied and nothing else is.
    Current,
    /// These steps are still to be applied, oldest first; all of them on an empty database.
    Behind(Vec<String>),
    /// Another binary, most likely a newer one, applied this step, which this one does not know.
    Ahead(String),
}

/// How the database stands to this binary. Reads only: an empty database stays empty.
///
/// # Errors
/// When the database does not answer.
pub async fn state(connection: &impl ConnectionTrait) -> Result<State, DbErr> {
    let applied = applied(connection).await?;
    if let Some(unknown) = applied.iter().rev().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        return Ok(State::Ahead(unknown.clone()));
    }
    let names = STEPS.iter().map(|step| step.name);
    let pending: Vec<String> = names.filter(|name| !applied.contains(*name)).map(str::to_owned).collect();
    Ok(if pending.is_empty() { State::Current } else { State::Behind(pending) })
}

/// Applies every pending step inside the given transaction.
///
/// The caller's transaction must be the only one that migrates: it holds the write lock of SQLite, or a lock of
/// its own on PostgreSQL.
///
/// # Errors
/// When a statement fails; nothing is kept once the caller rolls back.
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
    for step in STEPS.iter().filter(|step| !applied.contains(step.name)) {
        step.up(transaction).await?;
        let record =
            format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{}', {now})", step.name);
        transaction.execute_unprepared(&record).await?;
    }
    Ok(())
}

/// Takes every applied step back, newest first, inside the given transaction. All data goes.
///
/// # Errors
/// When a statement fails; nothing is changed once the caller rolls back.
pub async fn revert(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    let applied = applied(transaction).await?;
    for step in STEPS.iter().rev().filter(|step| applied.contains(step.name)) {
        step.down(transaction).await?;
        let record = format!("DELETE FROM seaql_migrations WHERE version = '{}'", step.name);
        transaction.execute_unprepared(&record).await?;
    }
    Ok(())
}

/// The names of the steps that the database has recorded, in their order.
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
