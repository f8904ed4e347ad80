//! Copies of an SQLite database.

use std::path::Path;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, RuntimeErr, Statement};

use super::{Database, DatabaseSource, connect};

/// The number of rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCount {
    /// The name of the table.
    pub table: String,
    /// The number of rows.
    pub rows: i64,
}

impl Database {
    /// Writes a consistent copy of an SQLite database to a file, which must not exist. Other processes can read and write the
    /// database meanwhile; the copy contains what was committed when it began.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails, for example because the disk is full, and when the database is not SQLite.
    pub async fn copy_to(&self, path: &Path) -> Result<(), DbErr> {
        let DatabaseSource::Sqlite { path: source } = &self.inner.source else { return Err(not_sqlite()) };
        let copier = connect::sqlite_copier(source).map_err(|error| DbErr::Custom(error.to_string()))?;
        let connection = sea_orm::Database::connect(copier).await?;
        let path = path.to_str().ok_or_else(|| DbErr::Custom("the path is not UTF-8".to_owned()))?;
        let copy = Statement::from_sql_and_values(DbBackend::Sqlite, "VACUUM INTO ?", [path.into()]);
        let copied = connection.execute_raw(copy).await.map(drop);
        let closed = connection.close().await;
        copied.and(closed)
    }

    /// Checks the structure of an SQLite database. Returns the first defect, or `None` if there is none.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the database cannot be read.
    pub async fn first_defect(&self) -> Result<Option<String>, DbErr> {
        let check = Statement::from_string(DbBackend::Sqlite, "PRAGMA quick_check(1)");
        let row = self.reader.query_one_raw(check).await?;
        let result: String = row.map_or(Ok(String::new()), |row| row.try_get_by_index(0))?;
        Ok((result != "ok").then_some(result))
    }

    /// Checks the structure of one table of an SQLite database and of its indexes. Returns the first defect, or `None` if there is
    /// none.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the database cannot be read.
    pub async fn first_defect_of(&self, table: &str) -> Result<Option<String>, DbErr> {
        let check = format!("PRAGMA integrity_check('{}')", table.replace('\'', "''"));
        let row = self.reader.query_one_raw(Statement::from_string(DbBackend::Sqlite, check)).await?;
        let result: String = row.map_or(Ok(String::new()), |row| row.try_get_by_index(0))?;
        Ok((result != "ok").then_some(result))
    }

    /// Returns the number of rows of each table of an SQLite database, by name.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn table_counts(&self) -> Result<Vec<TableCount>, DbErr> {
        let tables =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
        let tables = Statement::from_string(DbBackend::Sqlite, tables);
        let mut counts = Vec::new();
        for row in self.reader.query_all_raw(tables).await? {
            let table: String = row.try_get_by_index(0)?;
            let count = format!("SELECT count(*) FROM \"{}\"", table.replace('"', "\"\""));
            let row = self.reader.query_one_raw(Statement::from_string(DbBackend::Sqlite, count)).await?;
            let rows = row.map_or(Ok(0), |row| row.try_get_by_index(0))?;
            counts.push(TableCount { table, rows });
        }
        Ok(counts)
    }
}

fn not_sqlite() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal("only an SQLite database can be copied".to_owned()))
}
