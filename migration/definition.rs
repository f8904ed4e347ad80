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
    /// needed. If that release would fail without it, its floor excludes the release.
    Contract,
}

/// One migration. Applying it adds its columns, creates its tables, and runs its statements, in this order and in one
/// transaction. A migration cannot be reverted.
///
/// A migration with [`concurrent_indexes`](Self::concurrent_indexes) or a [`backfill`](Self::backfill) does only that, so that
/// it can be repeated after it was interrupted.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// The name recorded in the database: `m`, a number with four digits, and what it does. Migrations are ordered by name.
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
    /// Statements that change tables or rows, in SQL that both databases support.
    pub statements: &'static [&'static str],
    /// Statements that only PostgreSQL executes.
    pub postgres_statements: &'static [&'static str],
    /// Complete `CREATE INDEX` statements for existing tables. PostgreSQL creates these indexes concurrently, outside of a
    /// transaction, so that writes continue meanwhile.
    pub concurrent_indexes: &'static [&'static str],
    /// A change of many rows.
    pub backfill: Option<Backfill>,
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

/// One table: its name, the column definitions and constraints between the parentheses of `CREATE TABLE`, its storage, and
/// the complete `CREATE INDEX` statements of its indexes.
///
/// Types are those of PostgreSQL in capitals, except that `BYTES` stands for `BYTEA`.
#[derive(Clone, Copy, Debug)]
pub struct TableDefinition {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static str,
    pub(crate) storage: Storage,
    pub(crate) indexes: &'static [&'static str],
}

/// How the rows are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Like `Heap`, but PostgreSQL has a partition for each UTC day, so that the rows of a day are deleted by dropping a table.
    Daily {
        /// The column that determines the partition, in milliseconds since the epoch.
        time: &'static str,
        /// The constraints on SQLite.
        sqlite: &'static str,
        /// The constraints on PostgreSQL, whose keys contain the column.
        postgres: &'static str,
    },
}

impl TableDefinition {
    pub(crate) const fn heap(
        name: &'static str,
        columns: &'static str,
        indexes: &'static [&'static str],
    ) -> Self {
        Self { name, columns, storage: Storage::Heap, indexes }
    }

    pub(crate) const fn queue(
        name: &'static str,
        columns: &'static str,
        indexes: &'static [&'static str],
    ) -> Self {
        Self { name, columns, storage: Storage::Queue, indexes }
    }

    pub(crate) const fn keyed(
        name: &'static str,
        columns: &'static str,
        indexes: &'static [&'static str],
    ) -> Self {
        Self { name, columns, storage: Storage::Keyed, indexes }
    }

    pub(crate) const fn unlogged(
        name: &'static str,
        columns: &'static str,
        indexes: &'static [&'static str],
    ) -> Self {
        Self { name, columns, storage: Storage::Unlogged, indexes }
    }

    /// Returns the statements that create the table and its indexes in this database.
    fn create_statements(&self, backend: DbBackend) -> Vec<String> {
        let Self { name, storage, indexes, .. } = self;
        let columns = translate_types(backend, self.columns);
        let table = match (backend, storage) {
            // With STRICT, SQLite rejects values of the wrong type, as PostgreSQL does.
            (DbBackend::Sqlite, Storage::Daily { sqlite, .. }) => {
                vec![format!("CREATE TABLE {name} ({columns}, {sqlite}) STRICT")]
            }
            (DbBackend::Sqlite, Storage::Keyed) => {
                vec![format!("CREATE TABLE {name} ({columns}) STRICT, WITHOUT ROWID")]
            }
            (DbBackend::Sqlite, _) => vec![format!("CREATE TABLE {name} ({columns}) STRICT")],
            (_, Storage::Heap | Storage::Keyed) => vec![format!("CREATE TABLE {name} ({columns})")],
            (_, Storage::Queue) => vec![format!("CREATE TABLE {name} ({columns}) WITH (fillfactor = 50)")],
            (_, Storage::Unlogged) => {
                vec![format!("CREATE UNLOGGED TABLE {name} ({columns}) WITH (fillfactor = 50)")]
            }
            (_, Storage::Daily { time, postgres, .. }) => vec![
                format!("CREATE TABLE {name} ({columns}, {postgres}) PARTITION BY RANGE ({time})"),
                first_partition(name),
            ],
        };
        table.into_iter().chain(indexes.iter().map(ToString::to_string)).collect()
    }
}

/// Returns the statement that creates the first partition of a table. It contains all days before its end, eight days from now, since
/// rows can have any past time. `foundation::database` creates the later ones, each for a day.
fn first_partition(table: &str) -> String {
    format!(
        "DO $$
         DECLARE
             day_ms CONSTANT BIGINT := 86400000;
             end_ms CONSTANT BIGINT := (floor(extract(epoch FROM clock_timestamp()) * 1000 / day_ms) + 9) * day_ms;
         BEGIN
             EXECUTE format('CREATE TABLE {table}_history PARTITION OF {table} FOR VALUES FROM (MINVALUE) TO (%s)', end_ms);
         END $$"
    )
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
        statements: &[],
        postgres_statements: &[],
        concurrent_indexes: &[],
        backfill: None,
    };

    /// Returns the number in the name.
    ///
    /// # Panics
    /// If the name does not begin with `m` and four digits.
    pub(crate) const fn number(&self) -> u32 {
        let [b'm', digits @ ..] = self.name.as_bytes() else { panic!("the name must begin with `m`") };
        let (mut number, mut index) = (0, 0);
        while index < 4 {
            assert!(digits[index].is_ascii_digit(), "the name must contain a number with four digits");
            number = number * 10 + (digits[index] - b'0') as u32;
            index += 1;
        }
        number
    }

    /// Returns whether the migration has changes of at most one kind: a backfill, or concurrent indexes, or changes
    /// that are applied in one transaction. Such a migration can be repeated after an interruption.
    pub(crate) const fn has_one_kind_of_change(&self) -> bool {
        let has_other_changes = !self.added_columns.is_empty()
            || !self.tables.is_empty()
            || !self.statements.is_empty()
            || !self.postgres_statements.is_empty();
        !matches!(
            (has_other_changes, !self.concurrent_indexes.is_empty(), self.backfill.is_some()),
            (true, true, _) | (true, _, true) | (_, true, true)
        )
    }

    /// Applies the migration, except for its backfill.
    pub(crate) async fn up(&self, transaction: &DatabaseTransaction) -> Result<(), DbErr> {
        let backend = transaction.get_database_backend();
        for (table, column) in self.added_columns {
            let column = translate_types(backend, column);
            transaction.execute_unprepared(&format!("ALTER TABLE {table} ADD COLUMN {column}")).await?;
        }
        for statement in self.tables.iter().flat_map(|table| table.create_statements(backend)) {
            transaction.execute_unprepared(&statement).await?;
        }
        let postgres = if backend == DbBackend::Postgres { self.postgres_statements } else { &[] };
        for statement in self.statements.iter().chain(postgres).chain(self.concurrent_indexes) {
            transaction.execute_unprepared(statement).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_gets_its_own_types_and_storage() {
        const INDEX: &str = "CREATE INDEX ix_t ON t (at)";
        let create = |table: TableDefinition| {
            [DbBackend::Sqlite, DbBackend::Postgres].map(|backend| table.create_statements(backend))
        };
        let [sqlite, postgres] = create(TableDefinition::keyed(
            "t",
            "id UUID NOT NULL, body BYTES NOT NULL, at BIGINT NOT NULL, yes BOOLEAN",
            &[INDEX],
        ));
        let columns = "id BLOB NOT NULL, body BLOB NOT NULL, at INTEGER NOT NULL, yes INTEGER";
        assert_eq!(sqlite, [&format!("CREATE TABLE t ({columns}) STRICT, WITHOUT ROWID"), INDEX]);
        let columns = "id UUID NOT NULL, body BYTEA NOT NULL, at BIGINT NOT NULL, yes BOOLEAN";
        assert_eq!(postgres, [&format!("CREATE TABLE t ({columns})"), INDEX]);

        let [sqlite, postgres] = create(TableDefinition::queue("t", "id UUID NOT NULL", &[]));
        assert_eq!(sqlite, ["CREATE TABLE t (id BLOB NOT NULL) STRICT"]);
        assert_eq!(postgres, ["CREATE TABLE t (id UUID NOT NULL) WITH (fillfactor = 50)"]);

        let [sqlite, postgres] = create(TableDefinition {
            name: "t",
            columns: "at BIGINT NOT NULL",
            storage: Storage::Daily { time: "at", sqlite: "CHECK (at > 0)", postgres: "PRIMARY KEY (at)" },
            indexes: &[INDEX],
        });
        assert_eq!(sqlite, ["CREATE TABLE t (at INTEGER NOT NULL, CHECK (at > 0)) STRICT", INDEX]);
        assert_eq!(
            postgres[0],
            "CREATE TABLE t (at BIGINT NOT NULL, PRIMARY KEY (at)) PARTITION BY RANGE (at)"
        );
        assert_eq!(postgres[2..], [INDEX]);
    }

    #[test]
    fn the_name_contains_the_number() {
        assert_eq!(Migration { name: "m0142_notes", ..Migration::EMPTY }.number(), 142);
    }
}
