//! Tests of connections: their options, their errors, and reconnection.

use std::time::Duration;

use entity::server_state;
use sea_orm::{ConnectionTrait, DbBackend, Statement};

use super::{EmptyDatabase, at};
use crate::database::dialect::is_writable;
use crate::database::errors::is_storage_failure;
use crate::database::postgres_url::server_options;
use crate::database::{ConnectError, Database, DatabaseOptions, DatabaseSource};

#[tokio::test]
async fn sqlite_is_built_with_the_flags_of_the_cargo_configuration() {
    let empty = EmptyDatabase::sqlite();
    let database = empty.open().await;
    let query = Statement::from_string(DbBackend::Sqlite, "PRAGMA compile_options");
    let rows = database.read().query_all_raw(query).await.unwrap();
    let flags: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
    let has = |flag: &str| flags.iter().any(|compiled| compiled == flag);
    assert!(has("ENABLE_QPSG") && has("DEFAULT_MEMSTATUS=0"), "see .cargo/config.toml: {flags:?}");
    assert!(!has("ENABLE_MEMORY_MANAGEMENT") && !has("ENABLE_STAT4"), "see .cargo/config.toml: {flags:?}");
}

#[tokio::test]
async fn the_error_for_a_folder_that_cannot_be_created_names_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let source = DatabaseSource::new(None, &file.join("data")).unwrap();
    let error = Database::connect(DatabaseOptions::new(source)).await.unwrap_err();
    assert!(matches!(error, ConnectError::Folder { .. }), "{error}");
    let problem = format!("{} is not a folder; specify another one with --data-dir", file.display());
    assert!(error.to_string().ends_with(&problem), "{error}");
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    std::fs::write(&path, "Dear diary, this is a long enough text to be something else. ".repeat(100))
        .unwrap();
    let error = Database::connect(DatabaseOptions::new(DatabaseSource::Sqlite { path })).await.unwrap_err();
    assert!(matches!(error, ConnectError::File { .. }), "{error}");
}

#[tokio::test]
async fn the_error_for_an_unavailable_server_omits_the_password() {
    let source = DatabaseSource::Postgres { url: "postgres://ada:secret@127.0.0.1:1/school".to_owned() };
    let mut options = DatabaseOptions::new(source);
    options.acquire_timeout = Duration::from_millis(300);
    let error = Database::connect(options).await.unwrap_err().to_string();
    assert!(error.contains("127.0.0.1:1/school") && !error.contains("secret"), "{error}");
}

#[test]
fn the_driver_gets_an_ipv6_address_without_brackets() {
    let options = server_options("postgres://ada@[::1]:5433/school").unwrap();
    assert_eq!((options.get_host(), options.get_port()), ("::1", 5433));
}

#[tokio::test]
async fn a_deleted_file_is_not_available() {
    let empty = EmptyDatabase::sqlite();
    let database = empty.migrated().await;
    assert!(database.ping().await.unwrap());
    let DatabaseSource::Sqlite { path } = &empty.source else { unreachable!() };
    std::fs::rename(path, path.with_extension("away")).unwrap();
    assert!(database.ping().await.is_err());
    std::fs::rename(path.with_extension("away"), path).unwrap();
    assert!(database.ping().await.unwrap());
}

#[tokio::test]
async fn sqlite_accepts_no_writes_for_a_while_after_one_failed_because_of_the_disk() {
    let empty = EmptyDatabase::sqlite();
    let database = empty.migrated().await;
    let set = async |pragma: &str| database.writer.pool().execute_unprepared(pragma).await.unwrap();
    // Later writes of this connection fail as those to a read-only file do.
    set("PRAGMA query_only = ON").await;
    assert!(database.ping().await.unwrap(), "no write has failed yet");
    let error = database.begin_write(&at(1)).await.unwrap_err();
    assert!(is_storage_failure(&error), "{error}");
    let is_writable =
        async || is_writable(&database.writer, &database.inner.pool.storage_failed_at, Duration::ZERO).await;
    assert!(!database.ping().await.unwrap());
    assert!(!is_writable().await);
    set("PRAGMA query_only = OFF").await;
    assert!(!database.ping().await.unwrap(), "the file is not tested yet");
    assert!(is_writable().await);
    assert!(database.ping().await.unwrap());

    // Later writes fail as those to a full disk do, if they enlarge the file.
    set("PRAGMA max_page_count = 1").await;
    let write = database.begin_write(&at(2)).await.unwrap();
    let error = server_state::put(write.conn(), "a", &"a".repeat(1_000_000)).await.unwrap_err();
    assert!(is_storage_failure(&error), "{error}");
    assert!(!database.ping().await.unwrap());
}

#[tokio::test]
async fn a_canceled_begin_leaves_no_transaction_open() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    empty.migrated().await.close().await;
    let options = DatabaseOptions { max_connections: 1, ..DatabaseOptions::new(empty.source.clone()) };
    let database = Database::connect(options).await.unwrap();
    let clock = at(1);
    for _ in 0..20 {
        // The first poll sends `BEGIN`.
        let canceled = tokio::time::timeout(Duration::from_micros(1), database.begin_write(&clock));
        drop(canceled.await);
        let fail_in_transaction =
            "SELECT 1 / CASE WHEN transaction_timestamp() = statement_timestamp() THEN 1 ELSE 0 END";
        database.read().execute_unprepared(fail_in_transaction).await.unwrap();
    }
}

#[tokio::test]
async fn postgres_does_not_compile_statements() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let query = Statement::from_string(DbBackend::Postgres, "SELECT current_setting('jit')");
    let row = empty.open().await.read().query_one_raw(query).await.unwrap().unwrap();
    assert_eq!(row.try_get_by_index::<String>(0).unwrap(), "off");
}

#[tokio::test]
async fn connections_closed_by_the_server_are_replaced() {
    let Some(empty) = EmptyDatabase::postgres().await else { return };
    let database = empty.migrated().await;
    let reads = (0..8).map(|_| server_state::get(database.read(), "a"));
    futures_util::future::try_join_all(reads).await.unwrap();
    let terminate = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    database.read().execute_unprepared(terminate).await.unwrap();
    // Each closed connection can fail at most once.
    for _ in 0..DatabaseOptions::new(empty.source.clone()).max_connections {
        if let Ok(write) = database.begin_write(&at(1)).await {
            write.commit().await.unwrap();
        }
    }
    for _ in 0..20 {
        database.begin_write(&at(1)).await.unwrap().commit().await.unwrap();
    }
}
