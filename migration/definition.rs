//! The definition of a migration for both databases: tables in plain SQL of which only the types differ. Only this module
//! translates the types.
//!

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr};

/// One migration. It adds its columns, creates its tables and indexes, and runs its statements, in this order. Reverting it
/// drops columns, tables and indexes in reverse order, and does not restore the rows that its statements changed.
pub(crate) struct Migration {
    /// The name recorded in the database. Migrations are ordered by name.
    pub(crate) name: &'static str,
    /// Columns added to older tables, which must be nullable or have a default. Each is the table's name, and the column with
    /// its type as in [`TableDefinition`].
    pub(crate) added: &'static [(&'static str, &'static str)],
    pub(crate) tables: &'static [TableDefinition],
    /// Complete `CREATE INDEX` statements.
    pub(crate) indexes: &'static [&'static str],
    /// Statements that change rows of older tables, in SQL that both databases support.
    pub(crate) statements: &'static [&'static str],
}

/// One table: its name, and the column definitions between the parentheses of `CREATE TABLE`.
///
/// Types are those of PostgreSQL in capitals, with `BYTES` for a byte string.
pub(crate) struct TableDefinition {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static str,
    pub(crate) storage: Storage,
}

/// How the rows are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storage {
    /// In a heap apart from the index of the primary key. For wide rows, or tables with many indexes.
    Heap,
    /// As `Heap`, with enough free space per page on PostgreSQL to update each row within its page, without writing the
    /// indexes. For rows that are updated soon after they are inserted.
    Queue,
    /// Inside the index of the primary key on SQLite. For narrow rows that are read and written by their whole key.
    Keyed,
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

    /// Returns the `CREATE TABLE` statement for one database.
    fn create(&self, backend: DbBackend) -> String {
        let Self { name, columns, storage } = self;
        let columns = types(backend, columns);
        if backend == DbBackend::Postgres {
            let options = if *storage == Storage::Queue { " WITH (fillfactor = 50)" } else { "" };
            return format!("CREATE TABLE {name} ({columns}){options}");
        }
        // STRICT, so that SQLite rejects values of the wrong type, as PostgreSQL does.
        let options = if *storage == Storage::Keyed { "STRICT, WITHOUT ROWID" } else { "STRICT" };
        format!("CREATE TABLE {name} ({columns}) {options}")
    }
}

/// Translates the column types for this database; SQLite's are those of STRICT tables.
pub(crate) fn types(backend: DbBackend, columns: &str) -> String {
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
    create.split_once("INDEX ").and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or_default()
}

impl Migration {
    /// Applies the migration: first columns, tables and indexes, then statements.
    pub(crate) async fn up(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        let backend = transaction.get_database_backend();
        for (table, column) in self.added {
            let column = types(backend, column);
            transaction.execute_unprepared(&format!("ALTER TABLE {table} ADD COLUMN {column}")).await?;
        }
        for table in self.tables {
            transaction.execute_unprepared(&table.create(backend)).await?;
        }
        for statement in self.indexes.iter().chain(self.statements) {
            transaction.execute_unprepared(statement).await?;
        }
        Ok(())
    }

    /// Drops what the migration created. Rows that its statements changed are not restored.
    pub(crate) async fn down(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        // Indexes first, since some belong to older tables.
        for index in self.indexes.iter().rev() {
            transaction.execute_unprepared(&format!("DROP INDEX {}", index_name(index))).await?;
        }
        for table in self.tables.iter().rev() {
            transaction.execute_unprepared(&format!("DROP TABLE {}", table.name)).await?;
        }
        for (table, column) in self.added.iter().rev() {
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
            table.create(DbBackend::Sqlite),
            "CREATE TABLE t (id BLOB NOT NULL, body BLOB NOT NULL, at INTEGER NOT NULL, yes INTEGER) STRICT, WITHOUT ROWID"
        );
        assert_eq!(
            table.create(DbBackend::Postgres),
            "CREATE TABLE t (id UUID NOT NULL, body BYTEA NOT NULL, at BIGINT NOT NULL, yes BOOLEAN)"
        );
        let queue = TableDefinition::queue("t", "id UUID NOT NULL");
        assert_eq!(queue.create(DbBackend::Sqlite), "CREATE TABLE t (id BLOB NOT NULL) STRICT");
        assert_eq!(
            queue.create(DbBackend::Postgres),
            "CREATE TABLE t (id UUID NOT NULL) WITH (fillfactor = 50)"
        );
    }
}
