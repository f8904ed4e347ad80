//! The tables: made, taken back, and refused when they are of a newer version.

use entity::workspaces;
use sea_orm::{ConnectionTrait, DbErr};

use super::{Place, at, workspace};
use crate::database::{MigrateError, SchemaState, Unique, dialect, is_unique_violation, violates};

#[tokio::test]
async fn the_schema_goes_up_down_and_up_again() {
    for place in Place::all().await {
        let database = place.open().await;
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Behind(16));
        database.migrate().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current);
        workspaces::insert(database.begin_write(&at(1)).await.unwrap().conn(), workspace(1, "acme"))
            .await
            .unwrap();

        let down = dialect::begin(&database.inner.writer).await.unwrap();
        migration::revert(&down).await.unwrap();
        down.commit().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Behind(16));
        database.migrate().await.unwrap();
        database.migrate().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current);
        assert_eq!(workspaces::list(database.read()).await.unwrap(), []);
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
