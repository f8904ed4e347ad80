//! The promises of this module, on SQLite always and on PostgreSQL when `TEST_POSTGRES_URL` names a server on which
//! databases may be made.

mod connections;
mod schema;
mod writes;

use std::sync::atomic::{AtomicU32, Ordering};

use entity::workspaces;
use sea_orm::ConnectionTrait;
use tempfile::TempDir;

use super::{Database, Options, Source};
use crate::clock::{Clock, from_ms};

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
