//! The tables: made, taken back, and refused when they are of a newer version.

use entity::{api_keys, workspaces};
use sea_orm::{ConnectionTrait, DbBackend, DbErr};

use super::{Place, at, workspace};
use crate::database::{MigrateError, SchemaState, Unique, dialect, is_unique_violation, violates};

#[tokio::test]
async fn the_schema_goes_up_down_and_up_again() {
    for place in Place::all().await {
        let database = place.open().await;
        let empty = database.schema_state().await.unwrap();
        assert!(matches!(empty, SchemaState::Behind(_)));
        database.migrate().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current);
        workspaces::insert(database.begin_write(&at(1)).await.unwrap().conn(), workspace(1, "acme"))
            .await
            .unwrap();

        let down = dialect::begin(&database.inner.writer).await.unwrap();
        migration::revert(&down).await.unwrap();
        down.commit().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), empty);
        database.migrate().await.unwrap();
        database.migrate().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current);
        assert_eq!(workspaces::list(database.read()).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_database_of_an_earlier_version_is_migrated() {
    for place in Place::all().await {
        let database = place.migrated().await;
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
async fn a_quota_from_before_is_the_operator_s_unless_a_person_created_the_key() {
    for place in Place::all().await {
        let database = place.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        // The schema as it was before the step.
        for statement in [
            "ALTER TABLE api_keys DROP COLUMN operator_quota",
            "DELETE FROM seaql_migrations WHERE version = 'm0017_key_quotas'",
        ] {
            write.conn().execute_unprepared(statement).await.unwrap();
        }
        workspaces::insert(write.conn(), workspace(1, "acme")).await.unwrap();
        for (number, name, at_ms, per_minute) in [
            (1, "by a person", 10, "7"),
            (2, "by the operator", 20, "8"),
            (3, "before the audit log", 30, "9"),
            (4, "without a quota", 40, "NULL"),
            // Created at the same time as the first.
            (5, "another", 10, "10"),
        ] {
            let (id, owner) = (blob(database.backend(), number), blob(database.backend(), 1));
            let key = format!(
                "INSERT INTO api_keys (id, workspace_id, name, scopes, secret_hash, prefix, last4, per_minute, created_at)
                 VALUES ({id}, {owner}, '{name}', '[]', {}, '', '', {per_minute}, {at_ms})",
                bytes(database.backend(), number)
            );
            write.conn().execute_unprepared(&key).await.unwrap();
            let user = if number == 2 { "NULL".to_owned() } else { blob(database.backend(), 9) };
            let entry = format!(
                "INSERT INTO audit_entries (id, workspace_id, user_id, actor, action, subject, detail, address, created_at)
                 VALUES ({id}, {owner}, {user}, '', 'key.create', '', '{name}', '', {at_ms})"
            );
            if matches!(number, 1 | 2 | 4) {
                write.conn().execute_unprepared(&entry).await.unwrap();
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
            ("by a person", false),
            ("by the operator", true),
            ("without a quota", false),
        ];
        assert_eq!(quotas, expected);
    }
}

/// A UUID in SQL.
fn blob(backend: DbBackend, number: u128) -> String {
    match backend {
        DbBackend::Postgres => format!("'{}'", uuid::Uuid::from_u128(number)),
        _ => format!("x'{number:032x}'"),
    }
}

/// 32 bytes in SQL.
fn bytes(backend: DbBackend, number: u128) -> String {
    match backend {
        DbBackend::Postgres => format!("'\\x{number:064x}'"),
        _ => format!("x'{number:064x}'"),
    }
}

#[tokio::test]
async fn processes_that_start_together_migrate_once() {
    for place in Place::all().await {
        let (one, other) = (place.open().await, place.open().await);
        let (first, second) = tokio::join!(one.migrate(), other.migrate());
        first.unwrap();
        second.unwrap();
        assert_eq!(one.schema_state().await.unwrap(), SchemaState::Current);
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    for place in Place::all().await {
        let database = place.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        let newer = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m0099_future', 1)";
        write.conn().execute_unprepared(newer).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Ahead("m0099_future".to_owned()));
        let refusal = database.migrate().await.unwrap_err();
        assert!(matches!(&refusal, MigrateError::Newer(step) if step == "m0099_future"), "{refusal}");
    }
}

#[tokio::test]
async fn both_databases_name_the_unique_constraint() {
    for place in Place::all().await {
        let database = place.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        workspaces::insert(write.conn(), workspace(1, "acme")).await.unwrap();
        let refusal: DbErr = workspaces::insert(write.conn(), workspace(2, "acme")).await.unwrap_err();
        assert!(is_unique_violation(&refusal));
        assert!(violates(&refusal, Unique::WORKSPACE_KEY));
        assert!(!violates(&refusal, Unique::STUDENT_EMAIL));
    }
}
