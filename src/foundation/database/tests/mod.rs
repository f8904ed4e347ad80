//! Tests on SQLite, and on PostgreSQL if `TEST_POSTGRES_URL` is set to the URL of a server that allows the user to
//! create databases.

mod connections;
mod migrations;
mod partitions;
mod recording_clock;
mod schema;
#[path = "../../../../tests/it/support/skip.rs"]
mod skip;
mod writes;

use std::sync::atomic::{AtomicU32, Ordering};

use entity::workspaces;
use migration::{MIGRATIONS, Migration, Migrator};
use sea_orm::ConnectionTrait;
use tempfile::TempDir;

use super::{Database, DatabaseOptions, DatabaseSource};
use crate::clock::{Clock, from_ms};

/// An empty database. At the end of the test, an SQLite file is deleted; a PostgreSQL database is kept.
struct EmptyDatabase {
    source: DatabaseSource,
    _folder: TempDir,
}

impl EmptyDatabase {
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { source: DatabaseSource::new(None, folder.path()).unwrap(), _folder: folder }
    }

    /// Creates a database on the server of `TEST_POSTGRES_URL`, if it is set.
    async fn postgres() -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
            skip::skip("TEST_POSTGRES_URL is not set");
            return None;
        };
        let name = format!("unit_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let admin = sea_orm::Database::connect(&server).await.unwrap();
        admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        let (base, _) = server.rsplit_once('/').unwrap();
        let folder = tempfile::tempdir().unwrap();
        Some(Self {
            source: DatabaseSource::new(Some(&format!("{base}/{name}")), folder.path()).unwrap(),
            _folder: folder,
        })
    }

    /// Returns an SQLite database and, if `TEST_POSTGRES_URL` is set, a PostgreSQL database.
    async fn all() -> Vec<Self> {
        let mut databases = vec![Self::sqlite()];
        databases.extend(Self::postgres().await);
        databases
    }

    async fn open(&self) -> Database {
        Database::connect(DatabaseOptions::new(self.source.clone())).await.unwrap()
    }

    /// Opens the database in a version with these migrations after those of the program.
    async fn open_with(&self, migrations: &[Migration]) -> Database {
        let migrator = Migrator::new([MIGRATIONS, migrations].concat().leak());
        let options = DatabaseOptions::new(self.source.clone());
        Database::connect(DatabaseOptions { migrator, ..options }).await.unwrap()
    }

    async fn migrated(&self) -> Database {
        let database = self.open().await;
        database.migrate().await.unwrap();
        database
    }
}

/// Returns a simulated clock that is set to this time in milliseconds.
fn at(now_ms: i64) -> Clock {
    Clock::simulated(from_ms(now_ms))
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
        requires_second_factor: false,
        mode: "live".to_owned(),
        live_workspace_id: None,
        deleted_at: None,
    }
}
