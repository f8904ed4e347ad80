//! How a database stands to the steps this binary knows, and the way from one to the other.

use std::collections::BTreeSet;

use sea_orm_migration::{
    prelude::*,
    sea_orm::{DatabaseTransaction, Statement},
};

use crate::Migrator;

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
    let known: Vec<String> = Migrator::migrations().iter().map(|step| step.name().to_owned()).collect();
    if let Some(unknown) = applied.iter().rev().find(|name| !known.contains(name)) {
        return Ok(State::Ahead(unknown.clone()));
    }
    let pending: Vec<String> = known.into_iter().filter(|name| !applied.contains(name)).collect();
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
    Migrator::up(transaction, None).await
}

/// Takes every applied step back, newest first, inside the given transaction. All data goes.
///
/// # Errors
/// When a statement fails; nothing is changed once the caller rolls back.
pub async fn revert(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    Migrator::down(transaction, None).await
}

/// The names of the steps that the database has recorded, in their order.
async fn applied(connection: &impl ConnectionTrait) -> Result<BTreeSet<String>, DbErr> {
    let backend = connection.get_database_backend();
    let exists = match backend {
        sea_orm::DbBackend::Sqlite => {
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'seaql_migrations'"
        }
        _ => "SELECT 1 WHERE to_regclass('seaql_migrations') IS NOT NULL",
    };
    if connection.query_one_raw(Statement::from_string(backend, exists)).await?.is_none() {
        return Ok(BTreeSet::new());
    }
    let names = Statement::from_string(backend, "SELECT version FROM seaql_migrations");
    connection.query_all_raw(names).await?.iter().map(|row| row.try_get_by_index(0)).collect()
}
