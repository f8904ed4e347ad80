//! A step written once for both databases: tables as plain SQL in which only the types differ.
//!
//! This is the one place that knows how the two spell a type. It never decides what a table holds.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr};

/// One step: adds its columns, creates its tables and indexes, and runs its statements, in this order. Going down drops columns,
/// tables and indexes in reverse, and leaves the rows that statements changed.
pub(crate) struct Step {
    /// The name recorded in the database; its order is the order of the steps.
    pub(crate) name: &'static str,
    /// Columns of older steps' tables, which may be NULL or have a default: the table, and the column with its type as in
    /// [`Table`].
    pub(crate) added: &'static [(&'static str, &'static str)],
    pub(crate) tables: &'static [Table],
    /// Whole `CREATE INDEX` statements.
    pub(crate) indexes: &'static [&'static str],
    /// Statements that change rows of older steps' tables, in SQL that both databases know.
    pub(crate) statements: &'static [&'static str],
}

/// One table: its name and what stands between the brackets.
///
/// Types are those of PostgreSQL, in capitals, with `BYTES` for a byte string.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static str,
    pub(crate) shape: Shape,
}

/// How the rows are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Beside the primary key's index: for rows that are wide, or that many indexes name.
    Heap,
    /// As above, with as much room as PostgreSQL needs to rewrite each row where it stands: for rows that are taken in hand
    /// soon after they were written. No index hears of that then.
    Queue,
    /// Inside the primary key's index on SQLite: for narrow rows that are read and written by their whole key.
    Keyed,
}

impl Table {
    pub(crate) const fn heap(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, shape: Shape::Heap }
    }

    pub(crate) const fn queue(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, shape: Shape::Queue }
    }

    pub(crate) const fn keyed(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, shape: Shape::Keyed }
    }

    /// The `CREATE TABLE` statement for one database.
    fn create(&self, backend: DbBackend) -> String {
        let Self { name, columns, shape } = self;
        let columns = types(backend, columns);
        if backend == DbBackend::Postgres {
            let options = if *shape == Shape::Queue { " WITH (fillfactor = 50)" } else { "" };
            return format!("CREATE TABLE {name} ({columns}){options}");
        }
        // STRICT, so that SQLite refuses a value of the wrong type as PostgreSQL does.
        let options = if *shape == Shape::Keyed { "STRICT, WITHOUT ROWID" } else { "STRICT" };
        format!("CREATE TABLE {name} ({columns}) {options}")
    }
}

/// The columns with their types as this database spells them; those of SQLite are the strict ones.
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
    .fold(columns.to_owned(), |sql, (theirs, ours)| sql.replace(theirs, ours))
}

/// The name in a `CREATE INDEX` statement.
fn index_name(create: &str) -> &str {
    create.split_once("INDEX ").and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or_default()
}

impl Step {
    /// Applies the step: first its columns, tables and indexes, then its statements.
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

    /// Drops what the step created. Rows that its statements changed stay as they are.
    pub(crate) async fn down(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        // Some are of an older step's tables.
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
        let table =
            Table::keyed("t", "id UUID NOT NULL, body BYTES NOT NULL, at BIGINT NOT NULL, yes BOOLEAN");
        assert_eq!(
            table.create(DbBackend::Sqlite),
            "CREATE TABLE t (id BLOB NOT NULL, body BLOB NOT NULL, at INTEGER NOT NULL, yes INTEGER) STRICT, WITHOUT ROWID"
        );
        assert_eq!(
            table.create(DbBackend::Postgres),
            "CREATE TABLE t (id UUID NOT NULL, body BYTEA NOT NULL, at BIGINT NOT NULL, yes BOOLEAN)"
        );
        let queue = Table::queue("t", "id UUID NOT NULL");
        assert_eq!(queue.create(DbBackend::Sqlite), "CREATE TABLE t (id BLOB NOT NULL) STRICT");
        assert_eq!(
            queue.create(DbBackend::Postgres),
            "CREATE TABLE t (id UUID NOT NULL) WITH (fillfactor = 50)"
        );
    }
}
