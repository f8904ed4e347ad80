//! Tests of migrations and unique constraints.

use std::time::{Duration, Instant};

use entity::workspaces;
use migration::{MIGRATIONS, Migration, MigrationStatus, Phase};
use sea_orm::{ConnectionTrait, DbErr, TransactionTrait};

use super::{EmptyDatabase, at, workspace};
use crate::database::{MigrateError, SchemaState, UniqueConstraint, is_unique_violation, violates};

const ADD_COLUMN: Migration =
    Migration { name: "m0091_note", added_columns: &[("enrollments", "note TEXT")], ..Migration::EMPTY };

#[tokio::test]
async fn a_migration_that_waits_for_a_lock_lets_other_statements_run() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    empty.migrated().await;
    let database = empty.open_with(&[ADD_COLUMN]).await;
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
async fn concurrent_processes_migrate_once() {
    for empty in EmptyDatabase::all().await {
        let (first, second) = (empty.open().await, empty.open().await);
        let pending = MIGRATIONS.iter().filter(|migration| migration.phase == Phase::Expand).count();
        assert_eq!(first.schema_state().await.unwrap(), SchemaState::Behind(pending));
        let (first_result, second_result) = tokio::join!(first.migrate(), second.migrate());
        first_result.unwrap();
        second_result.unwrap();
        assert_eq!(first.schema_state().await.unwrap(), SchemaState::Current);
    }
}

#[tokio::test]
async fn a_migration_that_waited_sees_what_the_other_process_applied() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let (first, second) = (empty.open().await, empty.open().await);
    let waiting = second.writer.pool().begin().await.unwrap();
    // The session now knows that no migration is recorded.
    let status = async || second.inner.migrator.status(&waiting).await.unwrap();
    assert!(matches!(status().await, MigrationStatus::Behind(_)));
    first.migrate().await.unwrap();
    assert!(matches!(status().await, MigrationStatus::Current));
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
