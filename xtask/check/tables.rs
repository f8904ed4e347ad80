//! Compares the entities with the migrated database schema: tables, columns, types, nullability and primary keys. Also
//! compares the indexes of the two databases.
//!
//! Reads the schema from the database itself: always from SQLite, and from PostgreSQL if `DATABASE_URL` is the URL of a
//! PostgreSQL server.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, bail};
use sea_orm::{
    ColumnTrait, ColumnType, ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend,
    EntityTrait, IdenStatic, Iterable, PrimaryKeyToColumn, QueryResult, Statement, TransactionTrait,
};

use super::finding::CheckFinding;

/// The schema of a table, from an entity or a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableSchema {
    /// The columns by name: their kind, and whether they are nullable.
    columns: BTreeMap<String, (&'static str, bool)>,
    /// The columns of the primary key, in order.
    primary_key: Vec<String>,
    /// The indexes, including unique constraints: their columns, and whether they are unique.
    indexes: BTreeSet<(Vec<String>, bool)>,
}

type DatabaseSchema = BTreeMap<String, TableSchema>;

/// Returns the differences between the entities and the migrated schemas.
///
/// # Errors
/// Returns an error when a database is unavailable or its schema cannot be read.
pub(crate) async fn check(postgres: Option<&str>) -> anyhow::Result<Vec<CheckFinding>> {
    let entities = entities();
    let mut memory = ConnectOptions::new("sqlite::memory:");
    memory.max_connections(1);
    let sqlite = migrate_and_read(&Database::connect(memory).await?).await?;
    let mut findings = compare("SQLite", &entities, &sqlite);
    if let Some(url) = postgres {
        let postgres_tables = migrate_and_read_postgres(url)
            .await
            .context("cannot read the schema from PostgreSQL (DATABASE_URL)")?;
        findings.extend(compare("PostgreSQL", &entities, &postgres_tables));
        findings.extend(compare_indexes(&sqlite, &postgres_tables));
    }
    Ok(findings)
}

/// Returns the schema on a PostgreSQL server. Migrates a temporary database, which is dropped afterwards.
async fn migrate_and_read_postgres(url: &str) -> anyhow::Result<DatabaseSchema> {
    let name = format!("check_{}", std::process::id());
    let admin = Database::connect(url).await?;
    admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await?;
    let tables = async {
        let database = Database::connect(with_database(url, &name)?).await?;
        let tables = migrate_and_read(&database).await;
        database.close().await?;
        tables
    };
    let tables = tables.await;
    admin.execute_unprepared(&format!("DROP DATABASE {name}")).await?;
    tables
}

/// Returns a database URL with another database name and the same parameters.
fn with_database(url: &str, name: &str) -> anyhow::Result<String> {
    let mut url = url::Url::parse(url).context("the URL of the database is not valid")?;
    url.set_path(name);
    Ok(url.into())
}

/// Migrates an empty database and reads its schema.
async fn migrate_and_read(database: &DatabaseConnection) -> anyhow::Result<DatabaseSchema> {
    let transaction = database.begin().await?;
    migration::Migrator::default().apply(&transaction).await?;
    transaction.commit().await?;
    match database.get_database_backend() {
        DbBackend::Sqlite => read_sqlite_schema(database).await,
        DbBackend::Postgres => read_postgres_schema(database).await,
        other => bail!("unsupported database: {other:?}"),
    }
}

async fn rows(database: &DatabaseConnection, sql: &str) -> anyhow::Result<Vec<QueryResult>> {
    let statement = Statement::from_string(database.get_database_backend(), sql);
    Ok(database.query_all_raw(statement).await?)
}

async fn read_sqlite_schema(database: &DatabaseConnection) -> anyhow::Result<DatabaseSchema> {
    let mut tables = DatabaseSchema::new();
    let columns = "SELECT t.name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_master t, pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY c.pk";
    for row in rows(database, columns).await? {
        let table: &mut TableSchema = tables.entry(row.try_get_by_index(0)?).or_default();
        let (name, column_type): (String, String) = (row.try_get_by_index(1)?, row.try_get_by_index(2)?);
        let (is_not_null, key_position): (i64, i64) = (row.try_get_by_index(3)?, row.try_get_by_index(4)?);
        table
            .columns
            .insert(name.clone(), (stored_kind(&column_type), is_not_null == 0 && key_position == 0));
        if key_position > 0 {
            table.primary_key.push(name);
        }
    }
    let indexes = "SELECT t.name, i.name, i.\"unique\", c.name FROM sqlite_master t, pragma_index_list(t.name) i, \
                   pragma_index_info(i.name) c WHERE t.type = 'table' AND i.origin <> 'pk' ORDER BY i.name, c.seqno";
    add_indexes(&mut tables, rows(database, indexes).await?)?;
    Ok(tables)
}

async fn read_postgres_schema(database: &DatabaseConnection) -> anyhow::Result<DatabaseSchema> {
    let mut tables = DatabaseSchema::new();
    let columns = "SELECT table_name::text, column_name::text, data_type::text, (is_nullable = 'NO')::int::bigint \
                   FROM information_schema.columns WHERE table_schema = 'public' \
                   AND NOT (SELECT relispartition FROM pg_class WHERE oid = to_regclass(table_name))";
    for row in rows(database, columns).await? {
        let table: &mut TableSchema = tables.entry(row.try_get_by_index(0)?).or_default();
        let (name, column_type): (String, String) = (row.try_get_by_index(1)?, row.try_get_by_index(2)?);
        let is_not_null: i64 = row.try_get_by_index(3)?;
        table.columns.insert(name, (stored_kind(&column_type), is_not_null == 0));
    }
    // The attribute number of an expression is 0, so it has no column.
    // `negation` is empty for primary keys, and `NOT` for all other indexes. The key of a partitioned table also contains the
    // column that determines the partition; SQLite has no partitions.
    let indexes_sql = |negation: &str| {
        format!(
            "SELECT t.relname::text, i.relname::text, x.indisunique::int::bigint, a.attname::text \
             FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid \
             JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'public' \
             CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY k(attnum, place) \
             LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum AND k.attnum > 0 \
             LEFT JOIN pg_partitioned_table p ON p.partrelid = t.oid AND x.indisprimary AND p.partattrs[0] = k.attnum \
             WHERE {negation} x.indisprimary AND NOT t.relispartition AND p.partrelid IS NULL ORDER BY i.relname, k.place"
        )
    };
    for row in rows(database, &indexes_sql("")).await? {
        let table: &mut TableSchema = tables.entry(row.try_get_by_index(0)?).or_default();
        table.primary_key.push(row.try_get_by_index(3)?);
    }
    add_indexes(&mut tables, rows(database, &indexes_sql("NOT")).await?)?;
    Ok(tables)
}

/// Adds indexes to their tables. The rows contain table, index, uniqueness and column, in the order of the columns.
fn add_indexes(tables: &mut DatabaseSchema, rows: Vec<QueryResult>) -> anyhow::Result<()> {
    let mut indexes: BTreeMap<(String, String), (bool, Vec<String>)> = BTreeMap::new();
    for row in rows {
        let unique: i64 = row.try_get_by_index(2)?;
        let column: Option<String> = row.try_get_by_index(3)?;
        let index = indexes.entry((row.try_get_by_index(0)?, row.try_get_by_index(1)?)).or_default();
        index.0 = unique == 1;
        index.1.push(column.unwrap_or_else(|| "(expression)".to_owned()));
    }
    for ((table, _), (unique, columns)) in indexes {
        tables.entry(table).or_default().indexes.insert((columns, unique));
    }
    Ok(())
}

/// Returns the kind of value that a column type stores. SQLite distinguishes fewer kinds.
fn stored_kind(column_type: &str) -> &'static str {
    match &*column_type.to_lowercase() {
        "uuid" => "a UUID",
        "blob" | "bytea" => "bytes",
        "text" | "character varying" => "a string",
        "bigint" | "integer" | "smallint" => "an integer",
        "boolean" => "a boolean",
        _ => "another type",
    }
}

/// Returns the kind of value of an entity's column.
fn entity_kind(column_type: &ColumnType) -> &'static str {
    match column_type {
        ColumnType::Uuid => "a UUID",
        ColumnType::Blob | ColumnType::Binary(_) | ColumnType::VarBinary(_) => "bytes",
        ColumnType::String(_) | ColumnType::Text | ColumnType::Char(_) | ColumnType::Enum { .. } => {
            "a string"
        }
        ColumnType::TinyInteger | ColumnType::SmallInteger | ColumnType::Integer | ColumnType::BigInteger => {
            "an integer"
        }
        ColumnType::Boolean => "a boolean",
        _ => "another type",
    }
}

/// Returns the name and the schema of an entity's table, without indexes.
fn table<E: EntityTrait>() -> (String, TableSchema)
where
    E::Column: Iterable,
    E::PrimaryKey: Iterable + PrimaryKeyToColumn<Column = E::Column>,
{
    let columns = E::Column::iter().map(|column| {
        let definition = column.def();
        (column.as_str().to_owned(), (entity_kind(definition.get_column_type()), definition.is_null()))
    });
    let primary_key = E::PrimaryKey::iter().map(|key| key.into_column().as_str().to_owned());
    let table = TableSchema {
        columns: columns.collect(),
        primary_key: primary_key.collect(),
        indexes: BTreeSet::new(),
    };
    (E::default().table_name().to_owned(), table)
}

macro_rules! tables {
    ($($module:ident),* $(,)?) => { [$(table::<entity::$module::Entity>()),*].into() };
}

/// Returns all entities. A table without an entity in this list is reported.
fn entities() -> DatabaseSchema {
    tables![
        activity_rollups,
        api_keys,
        api_request_days,
        api_requests,
        applied_changes,
        audit_entries,
        candidate_findings,
        candidate_requests,
        certificates,
        courses,
        deprecated_uses,
        deprecation_notices,
        enrollments,
        entitlements,
        events,
        idempotency_records,
        key_notices,
        lesson_completions,
        lessons,
        live_sessions,
        mails,
        modules,
        old_key_secrets,
        order_items,
        orders,
        password_links,
        people,
        platform_tokens,
        processes,
        rate_usage,
        rate_windows,
        recordings,
        recovery_codes,
        refunds,
        revenue_rollups,
        server_state,
        sessions,
        sign_in_links,
        student_tags,
        students,
        users,
        webhook_attempts,
        webhook_deliveries,
        webhook_fanouts,
        webhook_keys,
        webhook_rates,
        webhook_replays,
        webhook_secrets,
        webhook_subscriptions,
        webhook_topics,
        workspaces,
    ]
}

/// Compares entities with the schema of a database. SQLite stores UUIDs as bytes and booleans as integers.
fn compare(backend: &str, entities: &DatabaseSchema, schema: &DatabaseSchema) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    let mut report = |table: &str, message: String| findings.push(finding(backend, table, message));
    for name in schema.keys().filter(|name| !entities.contains_key(*name) && *name != "seaql_migrations") {
        report(name, format!("table `{name}` has no entity in `entities` (xtask/check/tables.rs)"));
    }
    for (name, entity) in entities {
        let Some(table) = schema.get(name) else {
            report(name, format!("entity `{name}` has no table"));
            continue;
        };
        for (column, (kind, is_nullable)) in &entity.columns {
            let Some((stored_kind, stored_is_nullable)) = table.columns.get(column) else {
                report(name, format!("column `{column}` of entity `{name}` does not exist in the table"));
                continue;
            };
            let is_compatible = kind == stored_kind
                || (backend == "SQLite"
                    && [("a UUID", "bytes"), ("a boolean", "an integer")].contains(&(*kind, *stored_kind)));
            if !is_compatible {
                report(
                    name,
                    format!("`{name}.{column}` is {kind} in the entity and {stored_kind} in the table"),
                );
            }
            if is_nullable != stored_is_nullable {
                let describe =
                    |is_nullable: bool| if is_nullable { "is nullable" } else { "is not nullable" };
                let (in_entity, in_table) = (describe(*is_nullable), describe(*stored_is_nullable));
                report(
                    name,
                    format!("`{name}.{column}` {in_entity} in the entity and {in_table} in the table"),
                );
            }
        }
        for column in table.columns.keys().filter(|column| !entity.columns.contains_key(*column)) {
            report(name, format!("column `{column}` of table `{name}` does not exist in the entity"));
        }
        if entity.primary_key != table.primary_key {
            let (entity_key, table_key) = (entity.primary_key.join(", "), table.primary_key.join(", "));
            report(
                name,
                format!(
                    "the primary key of `{name}` is ({entity_key}) in the entity and ({table_key}) in the table"
                ),
            );
        }
    }
    findings
}

/// Returns a finding for each index that only one of the two databases has.
fn compare_indexes(sqlite: &DatabaseSchema, postgres: &DatabaseSchema) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for (name, sqlite_table) in sqlite {
        let postgres_table = postgres.get(name).cloned().unwrap_or_default();
        let (in_sqlite, in_postgres) = (&sqlite_table.indexes, &postgres_table.indexes);
        for (indexes, other_indexes, backend) in
            [(in_sqlite, in_postgres, "SQLite"), (in_postgres, in_sqlite, "PostgreSQL")]
        {
            for (columns, unique) in indexes.difference(other_indexes) {
                let unique = if *unique { "unique " } else { "" };
                let message =
                    format!("only {backend} has the {unique}index on `{name}` ({})", columns.join(", "));
                findings.push(finding(backend, name, message));
            }
        }
    }
    findings
}

fn finding(backend: &str, table: &str, message: String) -> CheckFinding {
    let file = format!("entity/{table}.rs");
    let folder = format!("entity/{table}/mod.rs");
    CheckFinding {
        code: "schema",
        file: if crate::workspace().join(&file).exists() { file } else { folder },
        line: 1,
        column: 1,
        message: format!("{message} ({backend})"),
        help: "change the entity, or add a migration".to_owned(),
    }
}

#[cfg(test)]
#[path = "../../tests/it/support/skip.rs"]
mod skip;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_entities_equal_the_migrated_schema() {
        let postgres = std::env::var("TEST_POSTGRES_URL").ok();
        if postgres.is_none() {
            skip::skip("on PostgreSQL: TEST_POSTGRES_URL is not set");
        }
        assert_eq!(check(postgres.as_deref()).await.expect("the databases are available"), []);
    }

    #[test]
    fn each_difference_is_reported() {
        let entity = TableSchema {
            columns: [("id", ("a UUID", false)), ("name", ("a string", true)), ("gone", ("a string", false))]
                .map(|(name, column)| (name.to_owned(), column))
                .into(),
            primary_key: vec!["id".to_owned()],
            indexes: BTreeSet::new(),
        };
        let table = TableSchema {
            columns: [("id", ("bytes", false)), ("name", ("bytes", false)), ("new", ("a string", false))]
                .map(|(name, column)| (name.to_owned(), column))
                .into(),
            primary_key: vec!["name".to_owned()],
            indexes: [(vec!["name".to_owned()], true)].into(),
        };
        let entities: DatabaseSchema = [("things".to_owned(), entity)].into();
        let schema: DatabaseSchema =
            [("things".to_owned(), table.clone()), ("others".to_owned(), table)].into();
        let reported: Vec<_> =
            compare("SQLite", &entities, &schema).into_iter().map(|finding| finding.message).collect();
        assert_eq!(
            reported,
            [
                "table `others` has no entity in `entities` (xtask/check/tables.rs) (SQLite)",
                "column `gone` of entity `things` does not exist in the table (SQLite)",
                "`things.name` is a string in the entity and bytes in the table (SQLite)",
                "`things.name` is nullable in the entity and is not nullable in the table (SQLite)",
                "column `new` of table `things` does not exist in the entity (SQLite)",
                "the primary key of `things` is (id) in the entity and (name) in the table (SQLite)",
            ]
        );
        let reported: Vec<_> =
            compare_indexes(&schema, &entities).into_iter().map(|finding| finding.message).collect();
        assert_eq!(reported.len(), 2);
        assert_eq!(reported[1], "only SQLite has the unique index on `things` (name) (SQLite)");
    }

    #[test]
    fn the_parameters_of_a_database_url_are_kept() {
        let url = |url| with_database(url, "check_1").expect("a valid URL");
        assert_eq!(url("postgres://u:p@host:5432/app"), "postgres://u:p@host:5432/check_1");
        assert_eq!(
            url("postgres://host/app?sslmode=disable&host=/var/run/postgresql"),
            "postgres://host/check_1?sslmode=disable&host=/var/run/postgresql"
        );
        assert_eq!(url("postgres://host"), "postgres://host/check_1");
        assert!(with_database("host/app", "check_1").is_err());
    }
}
