//! Streams of changes against real databases: SQLite always, and PostgreSQL when `TEST_POSTGRES_URL` names a server
//! on which databases may be made.

mod analytics;
mod apply;
mod demo;
mod generate;

use std::sync::atomic::{AtomicU32, Ordering};

use jiff::Timestamp;
use sea_orm::ConnectionTrait as _;
use tempfile::TempDir;

use super::{Options, Outcome};
use domain::app::{App, Parts};
use foundation::clock::Clock;
use foundation::database::{Database, Options as Connect, Source};
use foundation::id::Ids;

/// An empty server of its own, on a clock that stands still.
struct Place {
    app: App,
    _folder: TempDir,
}

impl Place {
    async fn all() -> Vec<Self> {
        let mut places = vec![Self::sqlite().await];
        if let Ok(server) = std::env::var("TEST_POSTGRES_URL") {
            places.push(Self::postgres(&server).await);
        }
        places
    }

    async fn sqlite() -> Self {
        Self::open(None).await
    }

    async fn postgres(server: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("feed_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let admin = sea_orm::Database::connect(server).await.unwrap();
        admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        let (base, _) = server.rsplit_once('/').unwrap();
        Self::open(Some(format!("{base}/{name}"))).await
    }

    async fn open(url: Option<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Source::new(url.as_deref(), folder.path()).unwrap();
        let db = Database::connect(Connect::new(source)).await.unwrap();
        db.migrate().await.unwrap();
        let app = App::new(Parts {
            config: foundation::config::Config::defaults(),
            db,
            clock: Clock::fixed(time("2026-06-01T12:00:00Z")),
            ids: Ids::default(),
            encode: |envelope| envelope.event.kind().as_bytes().to_vec(),
            example: |_, _, _, _| None,
            principals: Default::default(),
        });
        Self { app, _folder: folder }
    }

    /// Applies the text, and says what came of it with the reasons of what was rejected.
    async fn apply(&self, text: &str) -> (Outcome, Vec<String>) {
        let mut reasons = Vec::new();
        let options =
            Options { rejected: Box::new(|reject| reasons.push(reject.to_string())), ..Options::default() };
        let outcome = super::apply(&self.app, text.as_bytes(), options).await.unwrap();
        (outcome, reasons)
    }

    /// How many rows a table has.
    async fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        let statement = sea_orm::Statement::from_string(self.app.db.backend(), sql);
        self.app.db.read().query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A change's line.
fn line(id: &str, change: &str, at: &str, data: serde_json::Value) -> String {
    let line = serde_json::json!({"change": change, "id": id, "workspace": "acme", "at": at, "data": data});
    format!("{line}\n")
}
