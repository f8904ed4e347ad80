//! Connections: how they are made, what is told of those that cannot be, and those that are cut.

use std::time::Duration;

use entity::server_state;
use sea_orm::{ConnectionTrait, DbBackend, Statement};

use super::{Place, at};
use crate::database::{ConnectError, Database, Options, Source};

#[tokio::test]
async fn sqlite_is_built_as_the_settings_of_cargo_say() {
    let place = Place::sqlite();
    let database = place.open().await;
    let question = Statement::from_string(DbBackend::Sqlite, "PRAGMA compile_options");
    let rows = database.read().query_all_raw(question).await.unwrap();
    let flags: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
    let has = |flag: &str| flags.iter().any(|known| known == flag);
    assert!(has("ENABLE_QPSG") && has("DEFAULT_MEMSTATUS=0"), "see .cargo/config.toml: {flags:?}");
    assert!(!has("ENABLE_MEMORY_MANAGEMENT") && !has("ENABLE_STAT4"), "see .cargo/config.toml: {flags:?}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let source = Source::new(None, &file.join("data")).unwrap();
    let refusal = Database::connect(Options::new(source)).await.unwrap_err();
    assert!(matches!(refusal, ConnectError::Folder { .. }), "{refusal}");
    assert!(refusal.to_string().contains("--data-dir"), "{refusal}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    std::fs::write(&path, "Dear diary, this is a long enough text to be something else. ".repeat(100))
        .unwrap();
    let refusal = Database::connect(Options::new(Source::Sqlite { path })).await.unwrap_err();
    assert!(matches!(refusal, ConnectError::File { .. }), "{refusal}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_password() {
    let source = Source::Postgres { url: "postgres://ada:secret@127.0.0.1:1/school".to_owned() };
    let mut options = Options::new(source);
    options.acquire_timeout = Duration::from_millis(300);
    let refusal = Database::connect(options).await.unwrap_err().to_string();
    assert!(refusal.contains("127.0.0.1:1/school") && !refusal.contains("secret"), "{refusal}");
}

#[tokio::test]
async fn a_file_that_was_removed_does_not_answer() {
    let place = Place::sqlite();
    let database = place.migrated().await;
    database.ping().await.unwrap();
    let Source::Sqlite { path } = &place.source else { unreachable!() };
    std::fs::rename(path, path.with_extension("away")).unwrap();
    assert!(database.ping().await.is_err());
    std::fs::rename(path.with_extension("away"), path).unwrap();
    database.ping().await.unwrap();
}

#[tokio::test]
async fn connections_that_the_server_cut_are_replaced() {
    let Some(place) = Place::postgres().await else { return };
    let database = place.migrated().await;
    let reads = (0..8).map(|_| server_state::get(database.read(), "a"));
    futures_util::future::try_join_all(reads).await.unwrap();
    let cut = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    database.read().execute_unprepared(cut).await.unwrap();
    // Each is found dead once at most, and there are no more than these.
    for _ in 0..Options::new(place.source.clone()).max_connections {
        if let Ok(write) = database.begin_write(&at(1)).await {
            write.commit().await.unwrap();
        }
    }
    for _ in 0..20 {
        database.begin_write(&at(1)).await.unwrap().commit().await.unwrap();
    }
}
