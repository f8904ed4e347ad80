//! The promises of this module, on SQLite always and on PostgreSQL when `TEST_POSTGRES_URL` names a server on which
//! databases may be made.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use entity::{revenue_rollups, rollups, server_state, workspaces};
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};
use tempfile::TempDir;

use crate::clock::{Clock, from_ms};

use super::{
    ConnectError, Database, MigrateError, Options, SchemaState, Source, Unique, dialect, is_unique_violation,
    violates,
};

/// An empty database of one kind, gone at the end of the test; SQLite's file at least.
struct Place {
    source: Source,
    _folder: TempDir,
}

impl Place {
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { source: Source::new(None, folder.path()).unwrap(), _folder: folder }
    }

    /// A new database on the server of the environment, if that names one.
    async fn postgres() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let server = std::env::var("TEST_POSTGRES_URL").ok()?;
        let name = format!("unit_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let admin = sea_orm::Database::connect(&server).await.unwrap();
        admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        let (base, _) = server.rsplit_once('/').unwrap();
        let folder = tempfile::tempdir().unwrap();
        Some(Self {
            source: Source::new(Some(&format!("{base}/{name}")), folder.path()).unwrap(),
            _folder: folder,
        })
    }

    async fn all() -> Vec<Self> {
        let mut places = vec![Self::sqlite()];
        places.extend(Self::postgres().await);
        places
    }

    async fn open(&self) -> Database {
        Database::connect(Options::new(self.source.clone())).await.unwrap()
    }

    async fn migrated(&self) -> Database {
        let database = self.open().await;
        database.migrate().await.unwrap();
        database
    }
}

/// A clock that stands at so many milliseconds.
fn at(now_ms: i64) -> Clock {
    Clock::fixed(from_ms(now_ms))
}

fn workspace(number: u128, key: &str) -> workspaces::Model {
    workspaces::Model {
        id: uuid::Uuid::from_u128(number),
        key: key.to_owned(),
        name: "Acme".to_owned(),
        owner_email: "ada@example.com".to_owned(),
        per_minute: None,
        per_day: Some(5),
        created_at: 1,
        updated_at: 1,
    }
}

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
async fn the_schema_goes_up_down_and_up_again() {
    for place in Place::all().await {
        let database = place.open().await;
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Behind(14));
        database.migrate().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Current);
        workspaces::insert(database.begin_write(&at(1)).await.unwrap().conn(), workspace(1, "acme"))
            .await
            .unwrap();

        let down = dialect::begin(&database.inner.writer).await.unwrap();
        migration::revert(&down).await.unwrap();
        down.commit().await.unwrap();
        assert_eq!(database.schema_state().await.unwrap(), SchemaState::Behind(14));
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
async fn a_write_is_seen_once_committed_and_never_when_dropped() {
    for place in Place::all().await {
        let database = place.migrated().await;
        let done = Arc::new(AtomicU32::new(0));

        let mut dropped = database.begin_write(&at(7)).await.unwrap();
        server_state::put(dropped.conn(), "a", "1").await.unwrap();
        dropped.after_commit({
            let done = Arc::clone(&done);
            move || _ = done.fetch_add(1, Ordering::Relaxed)
        });
        drop(dropped);

        let mut kept = database.begin_write(&at(8)).await.unwrap();
        assert_eq!(kept.now_ms(), 8);
        assert!(server_state::put_if_absent(kept.conn(), "b", "2").await.unwrap());
        assert!(!server_state::put_if_absent(kept.conn(), "b", "3").await.unwrap());
        kept.after_commit({
            let done = Arc::clone(&done);
            move || _ = done.fetch_add(10, Ordering::Relaxed)
        });
        assert_eq!(server_state::get(database.read(), "b").await.unwrap(), None);
        kept.commit().await.unwrap();

        assert_eq!(done.load(Ordering::Relaxed), 10);
        assert_eq!(server_state::get(database.read(), "a").await.unwrap(), None);
        assert_eq!(server_state::get(database.read(), "b").await.unwrap().as_deref(), Some("2"));
    }
}

#[tokio::test]
async fn sums_are_written_at_the_commit() {
    for place in Place::all().await {
        let database = place.migrated().await;
        let school = workspace(1, "acme");
        let bucket = revenue_rollups::Bucket {
            workspace_id: school.id,
            course_id: rollups::ALL_COURSES,
            grain: rollups::Grain::Day,
            starts_at: 0,
            currency: "EUR".to_owned(),
        };
        for amount in [500, 300] {
            let mut write = database.begin_write(&at(1)).await.unwrap();
            if amount == 500 {
                workspaces::insert(write.conn(), school.clone()).await.unwrap();
            }
            let sums = revenue_rollups::Sums { orders: 1, gross_amount: amount, ..Default::default() };
            write.add_revenue(bucket.clone(), sums);
            write.add_revenue(bucket.clone(), sums);
            write.commit().await.unwrap();
        }
        let day = rollups::Piece::whole(0, rollups::Grain::Day, 1, 0, 1);
        let expected = revenue_rollups::Sums { orders: 4, gross_amount: 1600, ..Default::default() };
        let sums = revenue_rollups::sums_of(database.read(), school.id, None, &[day]).await.unwrap();
        assert_eq!(sums, [(0, "EUR".to_owned(), expected)]);
    }
}

#[tokio::test]
async fn the_horizon_stays_behind_a_held_write() {
    for place in Place::all().await {
        let database = place.migrated().await;
        assert_eq!(database.horizon(&at(50)).await.unwrap(), 50);

        let held = database.begin_write(&at(100)).await.unwrap();
        assert_eq!(database.horizon(&at(90)).await.unwrap(), 90);
        assert_eq!(database.horizon(&at(200)).await.unwrap(), 100);
        held.commit().await.unwrap();
        assert_eq!(database.horizon(&at(200)).await.unwrap(), 200);

        database.begin_write(&at(300)).await.unwrap().rollback().await.unwrap();
        assert_eq!(database.horizon(&at(400)).await.unwrap(), 400);
        assert_eq!(database.begin_write(&at(350)).await.unwrap().now_ms(), 400, "the horizon was promised");
    }
}

#[tokio::test]
async fn the_machines_clock_promises_nothing_of_a_running_write() {
    for place in Place::all().await {
        let ours = place.migrated().await;
        let theirs = place.open().await;
        let before = ours.horizon(&Clock::system()).await.unwrap();
        let held = theirs.begin_write(&Clock::system()).await.unwrap();
        assert!(before <= held.now_ms());
        if ours.backend() == DbBackend::Postgres {
            assert!(ours.horizon(&Clock::system()).await.unwrap() <= held.now_ms());
        }
        let recorded = held.now_ms();
        held.commit().await.unwrap();
        assert!(ours.horizon(&Clock::system()).await.unwrap() >= recorded);
    }
}

#[tokio::test]
async fn the_horizon_waits_for_or_stays_behind_a_write_of_another_process() {
    for place in Place::all().await {
        let ours = place.migrated().await;
        let theirs = place.open().await;
        let held = theirs.begin_write(&at(100)).await.unwrap();
        let reading = tokio::spawn({
            let ours = ours.clone();
            async move { ours.horizon(&at(200)).await.unwrap() }
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        if ours.backend() == DbBackend::Sqlite {
            assert!(!reading.is_finished(), "the foreign write is waited for");
            held.commit().await.unwrap();
            assert_eq!(reading.await.unwrap(), 200);
        } else {
            assert_eq!(reading.await.unwrap(), 100);
            held.commit().await.unwrap();
        }
        assert_eq!(ours.horizon(&at(200)).await.unwrap(), 200);
    }
}

#[tokio::test]
async fn a_reader_waiting_for_a_foreign_write_is_freed_by_a_write_of_ours() {
    let place = Place::sqlite();
    let ours = place.migrated().await;
    let theirs = place.open().await;
    let foreign = theirs.begin_write(&at(100)).await.unwrap();
    let writing = tokio::spawn({
        let ours = ours.clone();
        async move { ours.begin_write(&at(300)).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let reading = tokio::spawn({
        let ours = ours.clone();
        async move { ours.horizon(&at(200)).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!reading.is_finished());
    foreign.commit().await.unwrap();
    let held = writing.await.unwrap();
    assert_eq!(reading.await.unwrap(), 200, "although our write still runs");
    drop(held);
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

#[tokio::test]
async fn readers_cannot_write() {
    let place = Place::sqlite();
    let database = place.migrated().await;
    assert!(server_state::put(database.read(), "a", "1").await.is_err());
}

#[tokio::test]
async fn a_cancelled_commit_goes_on_to_its_end() {
    for place in Place::all().await {
        let database = place.migrated().await;
        let write = database.begin_write(&at(1)).await.unwrap();
        server_state::put(write.conn(), "a", "1").await.unwrap();
        let mut commit = Box::pin(write.commit());
        assert!(futures_util::poll!(commit.as_mut()).is_pending());
        drop(commit);
        drop(database.begin_write(&at(2)).await.unwrap());
        for _ in 0..100 {
            if server_state::get(database.read(), "a").await.unwrap().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(server_state::get(database.read(), "a").await.unwrap().as_deref(), Some("1"));
        assert_eq!(database.horizon(&at(9)).await.unwrap(), 9);
    }
}

#[tokio::test]
async fn the_writer_recovers_when_the_disk_was_full() {
    let place = Place::sqlite();
    let database = place.migrated().await;
    let write = database.begin_write(&at(1)).await.unwrap();
    // As a full disk would: the database ends the transaction by itself, and the driver does not know.
    write.conn().execute_unprepared("ROLLBACK").await.unwrap();
    drop(write);
    for text in ["1", "2"] {
        let write = database.begin_write(&at(2)).await.unwrap();
        server_state::put(write.conn(), "a", text).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(server_state::get(database.read(), "a").await.unwrap().as_deref(), Some(text));
    }
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
