//! Tests of migrations and unique constraints.

use std::time::{Duration, Instant};

use entity::{api_keys, workspaces};
use migration::Migrator;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, TransactionTrait};

use super::{EmptyDatabase, at, workspace};
use crate::database::{MigrateError, SchemaState, UniqueConstraint, dialect, is_unique_violation, violates};

#[tokio::test]
async fn migrations_are_applied_reverted_and_applied_again() {
    for empty in EmptyDatabase::all().await {
        let database = empty.open().await;
        let initial = database.schema_state().await.unwrap();
        assert!(matches!(initial, SchemaState::Behind(_)));
        database.migrate().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current);
        workspaces::insert(database.begin_write(&at(1)).await.unwrap().conn(), workspace(1, "acme"))
            .await
            .unwrap();

        let revert = database.writer.pool().begin_with_options(dialect::write_options()).await.unwrap();
        Migrator::default().revert(&revert).await.unwrap();
        revert.commit().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), initial);
        database.migrate().await.unwrap();
        database.migrate().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current);
        assert_eq!(workspaces::list(database.read()).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_database_of_an_earlier_version_is_migrated() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        for statement in [
            "CREATE TABLE kept AS SELECT version, applied_at FROM seaql_migrations",
            "DROP TABLE seaql_migrations",
            // As sea-orm-migration created it for earlier versions.
            "CREATE TABLE \"seaql_migrations\" ( \"version\" varchar NOT NULL PRIMARY KEY, \"applied_at\" bigint NOT NULL )",
            "INSERT INTO seaql_migrations SELECT version, applied_at FROM kept WHERE version <> 'm0020_grants'",
            "DROP TABLE kept",
            "ALTER TABLE enrollments DROP COLUMN granted_until",
        ] {
            write.conn().execute_unprepared(statement).await.unwrap();
        }
        write.commit().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Behind(1));
        database.migrate().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current);
    }
}

#[tokio::test]
async fn a_migration_that_waits_for_a_lock_lets_other_statements_run() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let database = empty.migrated().await;
    let write = database.begin_write(&at(1)).await.unwrap();
    for statement in [
        "DELETE FROM seaql_migrations WHERE version = 'm0020_grants'",
        "ALTER TABLE enrollments DROP COLUMN granted_until",
    ] {
        write.conn().execute_unprepared(statement).await.unwrap();
    }
    write.commit().await.unwrap();
    // A transaction that reads the table blocks the migration, and the migration blocks later readers.
    let reader = database.snapshot().await.unwrap();
    let read = "SELECT count(*) FROM enrollments";
    reader.execute_unprepared(read).await.unwrap();
    let migrating = tokio::spawn({
        let database = database.clone();
        async move { database.migrate().await }
    });
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(4) {
        let read_at = Instant::now();
        database.read().execute_unprepared(read).await.unwrap();
        assert!(read_at.elapsed() < Duration::from_secs(3), "{:?}", read_at.elapsed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!migrating.is_finished(), "the migration still waits");
    reader.rollback().await.unwrap();
    migrating.await.unwrap().unwrap();
    assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current);
}

#[tokio::test]
async fn an_existing_quota_is_the_operator_s_unless_a_user_created_the_key() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        // The schema before the migration.
        for statement in [
            "ALTER TABLE api_keys DROP COLUMN operator_quota",
            "DELETE FROM seaql_migrations WHERE version = 'm0017_key_quotas'",
        ] {
            write.conn().execute_unprepared(statement).await.unwrap();
        }
        workspaces::insert(write.conn(), workspace(1, "acme")).await.unwrap();
        for (number, name, at_ms, per_minute) in [
            (1, "by a user", 10, "7"),
            (2, "by the operator", 20, "8"),
            (3, "before the audit log", 30, "9"),
            (4, "without a quota", 40, "NULL"),
            // Created at the same time as the first key.
            (5, "another", 10, "10"),
        ] {
            let (id, owner) = (blob(database.backend(), number), blob(database.backend(), 1));
            let insert_key = format!(
                "INSERT INTO api_keys (id, workspace_id, name, scopes, secret_hash, prefix, last4, per_minute, created_at)
                 VALUES ({id}, {owner}, '{name}', '[]', {}, '', '', {per_minute}, {at_ms})",
                bytes(database.backend(), number)
            );
            write.conn().execute_unprepared(&insert_key).await.unwrap();
            let user = if number == 2 { "NULL".to_owned() } else { blob(database.backend(), 9) };
            let insert_entry = format!(
                "INSERT INTO audit_entries (id, workspace_id, user_id, actor, action, subject, detail, address, created_at)
                 VALUES ({id}, {owner}, {user}, '', 'key.create', '', '{name}', '', {at_ms})"
            );
            if matches!(number, 1 | 2 | 4) {
                write.conn().execute_unprepared(&insert_entry).await.unwrap();
            }
        }
        write.commit().await.unwrap();

        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Behind(1));
        database.migrate().await.unwrap();
        let keys = api_keys::in_workspace(workspace(1, "acme").id).list(database.read()).await.unwrap();
        let mut quotas: Vec<_> = keys.iter().map(|key| (key.name.as_str(), key.operator_quota)).collect();
        quotas.sort_unstable();
        let expected = [
            ("another", true),
            ("before the audit log", true),
            ("by a user", false),
            ("by the operator", true),
            ("without a quota", false),
        ];
        assert_eq!(quotas, expected);
    }
}

/// Returns a UUID as an SQL literal.
fn blob(backend: DbBackend, number: u128) -> String {
    match backend {
        DbBackend::Postgres => format!("'{}'", uuid::Uuid::from_u128(number)),
        _ => format!("x'{number:032x}'"),
    }
}

/// Returns 32 bytes as an SQL literal.
fn bytes(backend: DbBackend, number: u128) -> String {
    match backend {
        DbBackend::Postgres => format!("'\\x{number:064x}'"),
        _ => format!("x'{number:064x}'"),
    }
}

#[tokio::test]
async fn concurrent_processes_migrate_once() {
    for empty in EmptyDatabase::all().await {
        let (first, second) = (empty.open().await, empty.open().await);
        let (first_result, second_result) = tokio::join!(first.migrate(), second.migrate());
        first_result.unwrap();
        second_result.unwrap();
        assert_eq!(first.schema_state().await.unwrap(), SchemaState::Current);
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_rejected() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m0099_future', 1)";
        write.conn().execute_unprepared(newer).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current, "the floor is not higher");
        let write = database.begin_write(&at(2)).await.unwrap();
        let raise_floor = "UPDATE server_state SET value = '99' WHERE name = 'schema_floor'";
        write.conn().execute_unprepared(raise_floor).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Ahead("m0099_future".to_owned()));
        let error = database.migrate().await.unwrap_err();
        assert!(matches!(&error, MigrateError::Newer(name) if name == "m0099_future"), "{error}");
    }
}

#[tokio::test]
async fn the_violated_constraint_is_recognized_on_both_databases() {
    for empty in EmptyDatabase::all().await {
        let database = empty.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        workspaces::insert(write.conn(), workspace(1, "acme")).await.unwrap();
        let error: DbErr = workspaces::insert(write.conn(), workspace(2, "acme")).await.unwrap_err();
        assert!(is_unique_violation(&error));
        assert!(violates(&error, UniqueConstraint::WORKSPACE_KEY));
        assert!(!violates(&error, UniqueConstraint::STUDENT_EMAIL));
    }
}
