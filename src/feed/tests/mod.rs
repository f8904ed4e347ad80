//! Tests against real databases: SQLite always, and PostgreSQL if `TEST_POSTGRES_URL` names a server on which the tests
//! can create databases.

mod analytics;
mod apply;
mod demo;
mod generate;
mod groups;
#[path = "../../../tests/it/support/skip.rs"]
mod skip;

use std::sync::atomic::{AtomicU32, Ordering};

use jiff::Timestamp;
use sea_orm::ConnectionTrait as _;
use tempfile::TempDir;

use super::{ApplyOptions, ApplyOutcome};
use domain::app::{App, AppParts};
use foundation::clock::Clock;
use foundation::database::{Database, DatabaseOptions, DatabaseSource};
use foundation::id::Ids;

/// An application with an empty database and a simulated clock.
struct FeedFixture {
    app: App,
    _folder: TempDir,
}

impl FeedFixture {
    /// Returns one fixture for each available kind of database.
    async fn on_all_databases() -> Vec<Self> {
        let mut fixtures = vec![Self::sqlite().await];
        match std::env::var("TEST_POSTGRES_URL") {
            Ok(server_url) => fixtures.push(Self::postgres(&server_url).await),
            Err(_) => skip::skip("on PostgreSQL: TEST_POSTGRES_URL is not set"),
        }
        fixtures
    }

    async fn sqlite() -> Self {
        Self::open(None).await
    }

    async fn postgres(server_url: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("feed_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let admin = sea_orm::Database::connect(server_url).await.unwrap();
        admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        let (base, _) = server_url.rsplit_once('/').unwrap();
        Self::open(Some(format!("{base}/{name}"))).await
    }

    async fn open(url: Option<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = DatabaseSource::new(url.as_deref(), folder.path()).unwrap();
        let db = Database::connect(DatabaseOptions::new(source)).await.unwrap();
        db.migrate().await.unwrap();
        let app = App::new(
            db,
            AppParts {
                config: foundation::config::Config::defaults(),
                clock: Clock::simulated(time("2026-06-01T12:00:00Z")),
                ids: Ids::default(),
                encode: |envelope| format!("{envelope:?}").into_bytes(),
                example: |_, _, _, _| None,
                read_fields: |_, pointers| vec![domain::outbox::filters::FieldValue::Missing; pointers.len()],
                seed: |_, _, _| Box::pin(async { Ok(()) }),
                principals: Default::default(),
            },
        );
        Self { app, _folder: folder }
    }

    /// Applies a stream, and returns the outcome and the messages of the rejected lines.
    async fn apply(&self, text: &str) -> (ApplyOutcome, Vec<String>) {
        let mut reasons = Vec::new();
        let options = ApplyOptions {
            on_rejected: Box::new(|rejected| reasons.push(rejected.to_string())),
            ..ApplyOptions::default()
        };
        let outcome = super::apply(&self.app, text.as_bytes(), options).await.unwrap();
        (outcome, reasons)
    }

    /// Returns the number of rows of a table or subquery.
    async fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        let statement = sea_orm::Statement::from_string(self.app.db.backend(), sql);
        self.app.db.read().query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Returns the line of a change.
fn line(id: &str, change: &str, at: &str, data: serde_json::Value) -> String {
    let line = serde_json::json!({"change": change, "id": id, "workspace": "acme", "at": at, "data": data});
    format!("{line}\n")
}
