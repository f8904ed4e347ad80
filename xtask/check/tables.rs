//! The entities against the migrated schema: tables, columns, their types, whether they may be null, and the keys.
//!
//! Reads the schema out of the database itself, on SQLite always and on PostgreSQL when `DATABASE_URL` names a server. It
//! never trusts the migrations' text.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, bail};
use sea_orm::{
    ColumnTrait, ColumnType, ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DbBackend,
    EntityTrait, IdenStatic, Iterable, PrimaryKeyToColumn, QueryResult, Statement, TransactionTrait,
};

use super::finding::Finding;

/// A table, as an entity or a database has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// Its columns by name: their kind, and whether they may be null.
    columns: BTreeMap<String, (&'static str, bool)>,
    /// The columns of its primary key, in order.
    key: Vec<String>,
    /// Its indexes, unique constraints included: their columns, and whether they are unique.
    indexes: BTreeSet<(Vec<String>, bool)>,
}

type Tables = BTreeMap<String, Table>;

/// What the entities and the migrated schemas disagree on.
///
/// # Errors
/// When a database cannot be had, or its schema not be read.
pub(crate) async fn judge(postgres: Option<&str>) -> anyhow::Result<Vec<Finding>> {
    let entities = entities();
    let mut memory = ConnectOptions::new("sqlite::memory:");
    memory.max_connections(1);
    let sqlite = migrated(&Database::connect(memory).await?).await?;
    let mut findings = compare("SQLite", &entities, &sqlite);
    if let Some(url) = postgres {
        let theirs = on_postgres(url).await.context("PostgreSQL could not be asked (DATABASE_URL)")?;
        findings.extend(compare("PostgreSQL", &entities, &theirs));
        findings.extend(indexes(&sqlite, &theirs));
    }
    Ok(findings)
}

/// The schema on a PostgreSQL server, migrated in a database of its own that is gone afterwards.
async fn on_postgres(url: &str) -> anyhow::Result<Tables> {
    let (base, _) = url.rsplit_once('/').context("the address names no database")?;
    let name = format!("check_{}", std::process::id());
    let admin = Database::connect(url).await?;
    admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await?;
    let tables = async {
        let database = Database::connect(format!("{base}/{name}")).await?;
        let tables = migrated(&database).await;
        database.close().await?;
        tables
    };
    let tables = tables.await;
    admin.execute_unprepared(&format!("DROP DATABASE {name}")).await?;
    tables
}

/// Migrates an empty database and reads its schema.
async fn migrated(database: &DatabaseConnection) -> anyhow::Result<Tables> {
    let transaction = database.begin().await?;
    migration::apply(&transaction).await?;
    transaction.commit().await?;
    match database.get_database_backend() {
        DbBackend::Sqlite => sqlite(database).await,
        DbBackend::Postgres => postgres(database).await,
        other => bail!("nothing is known of {other:?}"),
    }
}

async fn rows(database: &DatabaseConnection, sql: &str) -> anyhow::Result<Vec<QueryResult>> {
    let statement = Statement::from_string(database.get_database_backend(), sql);
    Ok(database.query_all_raw(statement).await?)
}

async fn sqlite(database: &DatabaseConnection) -> anyhow::Result<Tables> {
    let mut tables = Tables::new();
    let columns = "SELECT t.name, c.name, c.type, c.\"notnull\", c.pk FROM sqlite_master t, pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY c.pk";
    for row in rows(database, columns).await? {
        let table: &mut Table = tables.entry(row.try_get_by_index(0)?).or_default();
        let (name, ty): (String, String) = (row.try_get_by_index(1)?, row.try_get_by_index(2)?);
        let (refuses_null, key): (i64, i64) = (row.try_get_by_index(3)?, row.try_get_by_index(4)?);
        table.columns.insert(name.clone(), (stored(&ty), refuses_null == 0 && key == 0));
        if key > 0 {
            table.key.push(name);
        }
    }
    let indexes = "SELECT t.name, i.name, i.\"unique\", c.name FROM sqlite_master t, pragma_index_list(t.name) i, \
                   pragma_index_info(i.name) c WHERE t.type = 'table' AND i.origin <> 'pk' ORDER BY i.name, c.seqno";
    gather(&mut tables, rows(database, indexes).await?)?;
    Ok(tables)
}

async fn postgres(database: &DatabaseConnection) -> anyhow::Result<Tables> {
    let mut tables = Tables::new();
    let columns = "SELECT table_name::text, column_name::text, data_type::text, (is_nullable = 'NO')::int::bigint \
                   FROM information_schema.columns WHERE table_schema = 'public'";
    for row in rows(database, columns).await? {
        let table: &mut Table = tables.entry(row.try_get_by_index(0)?).or_default();
        let (name, ty): (String, String) = (row.try_get_by_index(1)?, row.try_get_by_index(2)?);
        let refuses_null: i64 = row.try_get_by_index(3)?;
        table.columns.insert(name, (stored(&ty), refuses_null == 0));
    }
    // An expression stands at place 0 of an index and has no column.
    let indexed = |primary: &str| {
        format!(
            "SELECT t.relname::text, i.relname::text, x.indisunique::int::bigint, a.attname::text \
             FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid \
             JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'public' \
             CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY k(attnum, place) \
             LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum AND k.attnum > 0 \
             WHERE {primary} x.indisprimary ORDER BY i.relname, k.place"
        )
    };
    for row in rows(database, &indexed("")).await? {
        let table: &mut Table = tables.entry(row.try_get_by_index(0)?).or_default();
        table.key.push(row.try_get_by_index(3)?);
    }
    gather(&mut tables, rows(database, &indexed("NOT")).await?)?;
    Ok(tables)
}

/// Adds indexes to their tables: rows of table, index, uniqueness and column, in the order of the columns.
fn gather(tables: &mut Tables, rows: Vec<QueryResult>) -> anyhow::Result<()> {
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

/// The kind of value that a column of this type stores; SQLite knows fewer.
fn stored(ty: &str) -> &'static str {
    match &*ty.to_lowercase() {
        "uuid" => "a UUID",
        "blob" | "bytea" => "bytes",
        "text" | "character varying" => "a text",
        "bigint" | "integer" | "smallint" => "a whole number",
        "boolean" => "a boolean",
        _ => "something else",
    }
}

/// The kind of value that an entity's column holds.
fn held(ty: &ColumnType) -> &'static str {
    match ty {
        ColumnType::Uuid => "a UUID",
        ColumnType::Blob | ColumnType::Binary(_) | ColumnType::VarBinary(_) => "bytes",
        ColumnType::String(_) | ColumnType::Text | ColumnType::Char(_) | ColumnType::Enum { .. } => "a text",
        ColumnType::TinyInteger | ColumnType::SmallInteger | ColumnType::Integer | ColumnType::BigInteger => {
            "a whole number"
        }
        ColumnType::Boolean => "a boolean",
        _ => "something else",
    }
}

fn table<E: EntityTrait>() -> (String, Table)
where
    E::Column: Iterable,
    E::PrimaryKey: Iterable + PrimaryKeyToColumn<Column = E::Column>,
{
    let columns = E::Column::iter().map(|column| {
        let definition = column.def();
        (column.as_str().to_owned(), (held(definition.get_column_type()), definition.is_null()))
    });
    let key = E::PrimaryKey::iter().map(|key| key.into_column().as_str().to_owned());
    let table = Table { columns: columns.collect(), key: key.collect(), indexes: BTreeSet::new() };
    (E::default().table_name().to_owned(), table)
}

macro_rules! tables {
    ($($module:ident),* $(,)?) => { [$(table::<entity::$module::Entity>()),*].into() };
}

/// Every entity. A table that is missing here is found without one.
fn entities() -> Tables {
    tables![
        activity_rollups,
        api_keys,
        api_request_days,
        api_requests,
        applied_changes,
        audit_entries,
        certificates,
        courses,
        enrollments,
        entitlements,
        events,
        idempotency_records,
        lesson_completions,
        lessons,
        live_sessions,
        mails,
        modules,
        order_items,
        orders,
        password_links,
        rate_usage,
        recordings,
        refunds,
        revenue_rollups,
        server_state,
        sessions,
        student_tags,
        students,
        users,
        webhook_attempts,
        webhook_deliveries,
        webhook_fanouts,
        webhook_replays,
        webhook_secrets,
        webhook_subscriptions,
        webhook_topics,
        workspaces,
    ]
}

/// What entities and a schema disagree on. SQLite stores a UUID as bytes and a boolean as a number.
fn compare(backend: &str, entities: &Tables, schema: &Tables) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |table: &str, message: String| findings.push(finding(backend, table, message));
    for name in schema.keys().filter(|name| !entities.contains_key(*name) && *name != "seaql_migrations") {
        report(name, format!("the table `{name}` has no entity in the list of `check`"));
    }
    for (name, entity) in entities {
        let Some(table) = schema.get(name) else {
            report(name, format!("the entity `{name}` has no table"));
            continue;
        };
        for (column, (ty, null)) in &entity.columns {
            let Some((stored, stored_null)) = table.columns.get(column) else {
                report(name, format!("the entity `{name}` has a column `{column}`, its table has none"));
                continue;
            };
            let fits = ty == stored
                || (backend == "SQLite"
                    && [("a UUID", "bytes"), ("a boolean", "a whole number")].contains(&(*ty, *stored)));
            if !fits {
                report(name, format!("`{name}.{column}` is {ty} to the entity and {stored} in the table"));
            }
            if null != stored_null {
                let may = |null: bool| if null { "may be null" } else { "is never null" };
                let (ours, theirs) = (may(*null), may(*stored_null));
                report(name, format!("`{name}.{column}` {ours} to the entity and {theirs} in the table"));
            }
        }
        for column in table.columns.keys().filter(|column| !entity.columns.contains_key(*column)) {
            report(name, format!("the table `{name}` has a column `{column}`, its entity has none"));
        }
        if entity.key != table.key {
            let (ours, theirs) = (entity.key.join(", "), table.key.join(", "));
            report(
                name,
                format!("the key of `{name}` is ({ours}) to the entity and ({theirs}) in the table"),
            );
        }
    }
    findings
}

/// Indexes that only one of the two databases has.
fn indexes(sqlite: &Tables, postgres: &Tables) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, ours) in sqlite {
        let theirs = postgres.get(name).cloned().unwrap_or_default();
        for (one, other, backend) in
            [(&ours.indexes, &theirs.indexes, "SQLite"), (&theirs.indexes, &ours.indexes, "PostgreSQL")]
        {
            for (columns, unique) in one.difference(other) {
                let unique = if *unique { "unique " } else { "" };
                let message =
                    format!("{backend} alone has the {unique}index on `{name}` ({})", columns.join(", "));
                findings.push(finding(backend, name, message));
            }
        }
    }
    findings
}

fn finding(backend: &str, table: &str, message: String) -> Finding {
    let file = format!("entity/{table}.rs");
    let folder = format!("entity/{table}/mod.rs");
    Finding {
        code: "schema",
        file: if crate::workspace().join(&file).exists() { file } else { folder },
        line: 1,
        column: 1,
        message: format!("{message} ({backend})"),
        help: "change the entity, or add a step to migration".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_entities_are_the_migrated_schema() {
        let postgres = std::env::var("TEST_POSTGRES_URL").ok();
        assert_eq!(judge(postgres.as_deref()).await.expect("the databases answer"), []);
    }

    #[test]
    fn each_difference_is_told() {
        let entity = Table {
            columns: [("id", ("a UUID", false)), ("name", ("a text", true)), ("gone", ("a text", false))]
                .map(|(name, column)| (name.to_owned(), column))
                .into(),
            key: vec!["id".to_owned()],
            indexes: BTreeSet::new(),
        };
        let table = Table {
            columns: [("id", ("bytes", false)), ("name", ("bytes", false)), ("new", ("a text", false))]
                .map(|(name, column)| (name.to_owned(), column))
                .into(),
            key: vec!["name".to_owned()],
            indexes: [(vec!["name".to_owned()], true)].into(),
        };
        let entities: Tables = [("things".to_owned(), entity)].into();
        let schema: Tables = [("things".to_owned(), table.clone()), ("others".to_owned(), table)].into();
        let told: Vec<_> = compare("SQLite", &entities, &schema).into_iter().map(|it| it.message).collect();
        assert_eq!(
            told,
            [
                "the table `others` has no entity in the list of `check` (SQLite)",
                "the entity `things` has a column `gone`, its table has none (SQLite)",
                "`things.name` is a text to the entity and bytes in the table (SQLite)",
                "`things.name` may be null to the entity and is never null in the table (SQLite)",
                "the table `things` has a column `new`, its entity has none (SQLite)",
                "the key of `things` is (id) to the entity and (name) in the table (SQLite)",
            ]
        );
        let told: Vec<_> = indexes(&schema, &entities).into_iter().map(|it| it.message).collect();
        assert_eq!(told.len(), 2);
        assert_eq!(told[1], "SQLite alone has the unique index on `things` (name) (SQLite)");
    }
}
