//! The definition of a migration for both databases. Tables are defined once in SQL; this module translates the column
//! types and adds the storage options of each database.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr};

/// When a migration is applied while the servers and workers of a release are replaced one by one.
///
/// The order of the migrations determines the releases: the first migration of the expand phase after one of the contract
/// phase begins a new release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before the first server of the release starts. Servers of the previous release must be able to run on the schema:
    /// the migration only adds tables, nullable columns and indexes, and fills new columns in batches.
    Expand,
    /// After the last server of the previous release stopped. The migration removes or changes what only that release
    /// needed, and its floor excludes that release.
    Contract,
}

/// One migration. Applying it adds its columns, creates its tables and indexes, and runs its statements, in this order and
/// in one transaction. Reverting it drops its indexes, tables and columns, and does not restore the rows that its statements
/// changed.
///
/// A migration with [`concurrent_indexes`](Self::concurrent_indexes) or a [`backfill`](Self::backfill) does only that, so that
/// it can be repeated after it was interrupted.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// The name recorded in the database. Migrations are ordered by name.
    pub name: &'static str,
    /// The lowest schema number that a binary must know to run on the schema after this migration: the number of this
    /// migration if older binaries would fail on it or write wrong data, otherwise a lower one.
    pub floor: u32,
    /// The phase in which it is applied.
    pub phase: Phase,
    /// Columns added to existing tables: the table's name, and the column's definition as in [`TableDefinition`]. They
    /// must be nullable or have a default.
    pub added_columns: &'static [(&'static str, &'static str)],
    /// New tables.
    pub tables: &'static [TableDefinition],
    /// Complete `CREATE INDEX` statements for new tables.
    pub indexes: &'static [&'static str],
    /// Statements that change tables or rows, in SQL that both databases support.
    pub statements: &'static [&'static str],
    /// Complete `CREATE INDEX` statements for existing tables. PostgreSQL creates these indexes concurrently, outside of a
    /// transaction, so that writes continue meanwhile.
    pub concurrent_indexes: &'static [&'static str],
    /// A change of many rows.
    pub backfill: Option<Backfill>,
    /// The only kind of database that the migration changes; `None` for both. It is recorded on the other one, too.
    pub only: Option<DbBackend>,
}

/// A change of many rows, in batches that are transactions of their own. The position after each batch is stored in
/// `server_state`, so that a repeated run continues there, and every batch is applied exactly once.
///
/// Rows that servers of the previous release write after their batch are not changed. If that matters, a backfill of the
/// contract phase changes them.
#[derive(Clone, Copy, Debug)]
pub struct Backfill {
    /// The table whose rows determine the batches.
    pub table: &'static str,
    /// A column of the table that is never null, is the first one of an index, and has few rows with the same value. Rows
    /// are changed in its order.
    pub key: &'static str,
    /// The statement of a batch, in SQL that both databases support. `{batch}` stands for the condition that selects its
    /// rows.
    pub statement: &'static str,
}

/// One table: its name, the column definitions and constraints between the parentheses of `CREATE TABLE`, and its
/// storage.
///
/// Types are those of PostgreSQL in capitals, except that `BYTES` stands for `BYTEA`.
#[derive(Clone, Copy, Debug)]
pub struct TableDefinition {
    name: &'static str,
    columns: &'static str,
    storage: Storage,
}

/// How the rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Storage {
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

/// Returns the names of the index and of the table in a `CREATE INDEX` statement.
pub fn index_and_table(create: &str) -> (&str, &str) {
    let name_after = |word| {
        let (_, rest) = create.split_once(word).unwrap_or_default();
        rest.split(|character: char| character.is_whitespace() || character == '(').next().unwrap_or_default()
    };
    (name_after("INDEX "), name_after(" ON "))
}

impl Migration {
    /// A migration that changes nothing. Supplies the fields that a migration does not use.
    pub const EMPTY: Self = Self {
        name: "",
        floor: 0,
        phase: Phase::Expand,
        added_columns: &[],
        tables: &[],
        indexes: &[],
        statements: &[],
        concurrent_indexes: &[],
        backfill: None,
        only: None,
    };

    /// Returns whether the migration changes this kind of database.
    pub fn changes(&self, backend: DbBackend) -> bool {
        self.only.is_none_or(|only| only == backend)
    }

    /// Returns whether the migration has changes of at most one kind: a backfill, or concurrent indexes, or changes
    /// that are applied in one transaction. Such a migration can be repeated after an interruption.
    pub(crate) const fn has_one_kind_of_change(&self) -> bool {
        let has_other_changes = !self.added_columns.is_empty()
            || !self.tables.is_empty()
            || !self.indexes.is_empty()
            || !self.statements.is_empty();
        !matches!(
            (has_other_changes, !self.concurrent_indexes.is_empty(), self.backfill.is_some()),
            (true, true, _) | (true, _, true) | (_, true, true)
        )
    }

    /// Applies the migration, except for its backfill.
    pub(crate) async fn up(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        let backend = transaction.get_database_backend();
        if !self.changes(backend) {
            return Ok(());
        }
        for (table, column) in self.added_columns {
            let column = translate_types(backend, column);
            transaction.execute_unprepared(&format!("ALTER TABLE {table} ADD COLUMN {column}")).await?;
        }
        for table in self.tables {
            transaction.execute_unprepared(&table.create_statement(backend)).await?;
        }
        for statement in self.indexes.iter().chain(self.statements).chain(self.concurrent_indexes) {
            transaction.execute_unprepared(statement).await?;
        }
        Ok(())
    }

    /// Reverts the migration.
    pub(crate) async fn down(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        if !self.changes(transaction.get_database_backend()) {
            return Ok(());
        }
        // Indexes first, since some belong to tables of earlier migrations. A later migration may have replaced an index.
        for create in self.indexes.iter().chain(self.concurrent_indexes).rev() {
            let (index, _) = index_and_table(create);
            transaction.execute_unprepared(&format!("DROP INDEX IF EXISTS {index}")).await?;
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
