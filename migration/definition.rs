//! The definition of a migration for both databases. Tables are defined once in SQL; this module translates the column
//! types and adds the storage options of each database.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr};

/// One migration. Applying it adds its columns, creates its tables and indexes, and runs its statements, in this order.
/// Reverting it drops its indexes, tables and columns, and does not restore the rows that its statements changed.
pub(crate) struct Migration {
    /// The name recorded in the database. Migrations are ordered by name.
    pub(crate) name: &'static str,
    /// The lowest schema number that a binary must know to run on the schema after this migration: the number of this
    /// migration if older binaries would fail on it or write wrong data, otherwise a lower one.
    pub(crate) floor: u32,
    /// Columns added to existing tables: the table's name, and the column's definition as in [`TableDefinition`]. They
    /// must be nullable or have a default.
    pub(crate) added_columns: &'static [(&'static str, &'static str)],
    pub(crate) tables: &'static [TableDefinition],
    /// Complete `CREATE INDEX` statements.
    pub(crate) indexes: &'static [&'static str],
    /// Statements that change rows of existing tables, in SQL that both databases support.
    pub(crate) statements: &'static [&'static str],
}

/// One table: its name, the column definitions and constraints between the parentheses of `CREATE TABLE`, and its
/// storage.
///
/// Types are those of PostgreSQL in capitals, except that `BYTES` stands for `BYTEA`.
pub(crate) struct TableDefinition {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static str,
    pub(crate) storage: Storage,
}

/// How the rows are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Separately from the index of the primary key. For wide rows, or tables with many indexes.
    Heap,
    /// Like `Heap`, but PostgreSQL leaves half of each page free. It can then update a row within its page without
    /// writing the indexes. For rows that are updated soon after they are inserted.
    Queue,
    /// In the index of the primary key on SQLite; like `Heap` on PostgreSQL. For narrow rows that are read and written
    /// by their whole key.
    Keyed,
    /// Like `Queue`, but PostgreSQL does not write the rows to its log, so that writing them does not wait for the disk. The
    /// table is empty after a crash, and on a promoted standby.
    Unlogged,
}

impl TableDefinition {
    pub(crate) const fn heap(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, storage: Storage::Heap }
    }

    pub(crate) const fn queue(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, storage: Storage::Queue }
    }

    pub(crate) const fn keyed(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, storage: Storage::Keyed }
    }

    pub(crate) const fn unlogged(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, storage: Storage::Unlogged }
    }

    /// Returns the `CREATE TABLE` statement for this database.
    fn create_statement(&self, backend: DbBackend) -> String {
        let Self { name, columns, storage } = self;
        let columns = translate_types(backend, columns);
        if backend == DbBackend::Postgres {
            let table = if *storage == Storage::Unlogged { "UNLOGGED TABLE" } else { "TABLE" };
            let is_queue = matches!(storage, Storage::Queue | Storage::Unlogged);
            let options = if is_queue { " WITH (fillfactor = 50)" } else { "" };
            return format!("CREATE {table} {name} ({columns}){options}");
        }
        // With STRICT, SQLite rejects values of the wrong type, as PostgreSQL does.
        let options = if *storage == Storage::Keyed { "STRICT, WITHOUT ROWID" } else { "STRICT" };
        format!("CREATE TABLE {name} ({columns}) {options}")
    }
}

/// Translates the types in column definitions for this database. For SQLite, these are the types of STRICT tables.
pub(crate) fn translate_types(backend: DbBackend, columns: &str) -> String {
    if backend == DbBackend::Postgres {
        return columns.replace(" BYTES", " BYTEA");
    }
    [
        (" UUID", " BLOB"),
        (" BYTES", " BLOB"),
        (" BIGINT", " INTEGER"),
        (" SMALLINT", " INTEGER"),
        (" BOOLEAN", " INTEGER"),
    ]
    .iter()
    .fold(columns.to_owned(), |sql, (postgres, sqlite)| sql.replace(postgres, sqlite))
}

/// Returns the index name in a `CREATE INDEX` statement.
fn index_name(create: &str) -> &str {
    create
        .split_once("INDEX ")
        .and_then(|(_, definition)| definition.split_whitespace().next())
        .unwrap_or_default()
}

impl Migration {
    /// Applies the migration.
    pub(crate) async fn up(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        let backend = transaction.get_database_backend();
        for (table, column) in self.added_columns {
            let column = translate_types(backend, column);
            transaction.execute_unprepared(&format!("ALTER TABLE {table} ADD COLUMN {column}")).await?;
        }
        for table in self.tables {
            transaction.execute_unprepared(&table.create_statement(backend)).await?;
        }
        for statement in self.indexes.iter().chain(self.statements) {
            transaction.execute_unprepared(statement).await?;
        }
        Ok(())
    }

    /// Reverts the migration.
    pub(crate) async fn down(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        // Indexes first, since some belong to tables of earlier migrations.
        for index in self.indexes.iter().rev() {
            transaction.execute_unprepared(&format!("DROP INDEX {}", index_name(index))).await?;
        }
        for table in self.tables.iter().rev() {
            transaction.execute_unprepared(&format!("DROP TABLE {}", table.name)).await?;
        }
        for (table, column) in self.added_columns.iter().rev() {
            let name = column.split_whitespace().next().unwrap_or_default();
            transaction.execute_unprepared(&format!("ALTER TABLE {table} DROP COLUMN {name}")).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_gets_its_own_types() {
        let table = TableDefinition::keyed(
            "t",
            "id UUID NOT NULL, body BYTES NOT NULL, at BIGINT NOT NULL, yes BOOLEAN",
        );
        assert_eq!(
            table.create_statement(DbBackend::Sqlite),
            "CREATE TABLE t (id BLOB NOT NULL, body BLOB NOT NULL, at INTEGER NOT NULL, yes INTEGER) STRICT, WITHOUT ROWID"
        );
        assert_eq!(
            table.create_statement(DbBackend::Postgres),
            "CREATE TABLE t (id UUID NOT NULL, body BYTEA NOT NULL, at BIGINT NOT NULL, yes BOOLEAN)"
        );
        let queue = TableDefinition::queue("t", "id UUID NOT NULL");
        assert_eq!(queue.create_statement(DbBackend::Sqlite), "CREATE TABLE t (id BLOB NOT NULL) STRICT");
        assert_eq!(
            queue.create_statement(DbBackend::Postgres),
            "CREATE TABLE t (id UUID NOT NULL) WITH (fillfactor = 50)"
        );
    }
}
