//! Keeps rows of a write transaction in memory, so that many changes take few statements.
//!
//! While the cache is active, a query whose rows are all in memory needs no statement, and new and changed rows are
//! written together, in multi-row statements: before the commit, and before any other statement of the transaction except
//! [queries that do not read their tables](Connection::query_without_flush). So every statement sees all changes made before
//! it. A statement that changes cached rows in another way empties the cache.
//!
//! Only rows that no other transaction can change belong into the cache. A lookup that finds no row is remembered as
//! well, although another transaction can insert such a row. Writing the new row then fails with
//! [`DbErr::RecordNotInserted`], and the caller must repeat its changes in another transaction.

mod rows;
mod scoped;
mod tables;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, QueryResult, SqlErr, Statement,
};

pub use rows::TableRows;
pub(crate) use rows::{LookupValue, PendingStatement};
pub use tables::{CachedTable, CachedTables, RowLock};

/// A connection or transaction on which queries run.
pub trait Connection: ConnectionTrait {
    /// Returns the rows that the transaction keeps in memory. `None` if it keeps none.
    fn row_cache(&self) -> Option<&RowCache> {
        None
    }

    /// Runs a query without writing new and changed rows first. It must not read tables whose rows the cache can insert or
    /// change.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    fn query_without_flush(
        &self,
        statement: Statement,
    ) -> impl Future<Output = Result<Vec<QueryResult>, DbErr>> + Send {
        self.query_all_raw(statement)
    }
}

impl Connection for DatabaseConnection {}

impl Connection for DatabaseTransaction {}

/// The rows that a transaction keeps in memory. Inactive at first.
#[derive(Debug, Default)]
pub struct RowCache {
    tables: Mutex<Option<Box<CachedTables>>>,
    /// Whether rows were taken from memory and may not be written, so that the transaction must be rolled back.
    is_incomplete: AtomicBool,
}

impl RowCache {
    /// Begins to keep rows in memory. The cache is empty at first.
    pub fn activate(&self) {
        *self.tables() = Some(Box::default());
    }

    /// Removes all rows and keeps none anymore. Call [`flush`](Self::flush) first.
    pub fn deactivate(&self) {
        *self.tables() = None;
    }

    /// Writes all new and changed rows.
    ///
    /// # Errors
    /// Returns [`DbErr::RecordNotInserted`] if another transaction has inserted a row with the same unique value, and other
    /// errors when a statement fails. The transaction must then be rolled back.
    pub async fn flush<C: ConnectionTrait>(&self, conn: &C) -> Result<(), DbErr> {
        if self.is_incomplete.load(Ordering::Relaxed) {
            let message = "an earlier statement failed, so the transaction must be rolled back";
            return Err(DbErr::Custom(message.to_owned()));
        }
        let Some(statements) = self.read(|tables| Some(tables.take_pending(conn.get_database_backend())))
        else {
            return Ok(());
        };
        // Stays set if a statement fails or the future is dropped: rows would be missing.
        self.is_incomplete.store(true, Ordering::Relaxed);
        let statements = statements?;
        for statement in statements {
            match statement {
                PendingStatement::Insert { statement, row_count } => {
                    let inserted = conn.execute(&statement).await.map_err(to_lost_race)?.rows_affected();
                    if inserted != row_count {
                        return Err(DbErr::RecordNotInserted);
                    }
                }
                PendingStatement::Delete(statement) => conn.execute(&statement).await.map(drop)?,
            }
        }
        self.is_incomplete.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Removes all rows if this statement can change them. Call [`flush`](Self::flush) first.
    pub fn forget_changed_by(&self, sql: &str) {
        let mut tables = self.tables();
        if tables.is_some() && can_change_cached_rows(sql) {
            *tables = Some(Box::default());
        }
    }

    /// Calls the function if the cache is active. Returns its result.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&mut CachedTables) -> Option<T>) -> Option<T> {
        self.tables().as_mut().and_then(|tables| read(tables))
    }

    fn tables(&self) -> MutexGuard<'_, Option<Box<CachedTables>>> {
        // A panic ends the transaction, whose rows are then not read again.
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls the function if the connection has an active cache. Returns its result.
pub(crate) fn read<C: Connection, T>(
    conn: &C,
    read: impl FnOnce(&mut CachedTables) -> Option<T>,
) -> Option<T> {
    conn.row_cache()?.read(read)
}

/// Returns whether a statement can change rows of a cached table. An `INSERT` or `UPDATE` changes only the table that it
/// names; a `DELETE` can also change the tables that refer to it.
fn can_change_cached_rows(sql: &str) -> bool {
    let sql = sql.trim_start();
    let target = ["INSERT INTO \"", "UPDATE \""].iter().find_map(|verb| sql.strip_prefix(verb));
    match target.and_then(|rest| rest.split('"').next()) {
        Some(table) => tables::NAMES.contains(&table),
        None => !sql.starts_with("SELECT"),
    }
}

/// Converts the violation of a unique constraint to [`DbErr::RecordNotInserted`]: before the rows were collected, lookups have
/// found no such row.
fn to_lost_race(error: DbErr) -> DbErr {
    match error.sql_err() {
        Some(SqlErr::UniqueConstraintViolation(_)) => DbErr::RecordNotInserted,
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statements_on_other_tables_leave_the_cache_unchanged() {
        assert!(can_change_cached_rows(r#"UPDATE "students" SET "name" = $1"#));
        assert!(can_change_cached_rows(r#"DELETE FROM "modules" WHERE "id" = $1"#));
        assert!(can_change_cached_rows("UPDATE students SET name = $1"));
        assert!(!can_change_cached_rows(r#"INSERT INTO "recordings" ("id") VALUES ($1)"#));
        assert!(!can_change_cached_rows("\nSELECT 1"));
    }
}
