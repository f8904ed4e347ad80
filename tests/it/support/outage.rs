//! Simulates a database outage.
//!
//! On PostgreSQL, the database refuses new connections, and existing ones are terminated. On SQLite, the server keeps
//! its file open, so the tables are renamed instead, and every statement that uses them fails.

use std::time::Duration;

use futures_util::future::join_all;
use sea_orm::ConnectionTrait;

use super::TestApp;

/// The tables that an outage renames on SQLite. Every operation of the API and the health check use at least one.
const TABLES: &[&str] = &[
    "courses",
    "students",
    "orders",
    "enrollments",
    "revenue_rollups",
    "activity_rollups",
    "api_keys",
    "idempotency_records",
    "platform_tokens",
    "webhook_deliveries",
    "webhook_subscriptions",
    "server_state",
    "seaql_migrations",
];

/// The maximum number of connections of a test server.
const CONNECTIONS: usize = 8;

/// An outage that has begun. [`end`](Self::end) ends it.
#[must_use]
pub struct Outage(());

/// Begins an outage for a running server.
pub async fn begin(app: &TestApp) -> Outage {
    match postgres_server_and_name(app) {
        Some((server, name)) => {
            let refuse_connections = format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false");
            let terminate_sessions =
                format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
            execute_on_server(&server, &[&refuse_connections, &terminate_sessions]).await;
        }
        None => rename_tables(app, |table| (table.to_owned(), format!("{table}_gone"))).await,
    }
    Outage(())
}

impl Outage {
    /// Ends the outage and waits until the server has replaced its terminated connections. The pool does not test
    /// connections before use, so the first use of a terminated connection fails.
    pub async fn end(self, app: &TestApp) {
        match postgres_server_and_name(app) {
            Some((server, name)) => {
                execute_on_server(&server, &[&format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")])
                    .await;
            }
            None => rename_tables(app, |table| (format!("{table}_gone"), table.to_owned())).await,
        }
        for _ in 0..200 {
            let pings = join_all((0..CONNECTIONS).map(|_| app.app.db.ping())).await;
            if pings.iter().all(Result::is_ok) {
                return;
            }
            // A proxy may wait before it connects again.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the server does not recover from the outage");
    }
}

/// Returns the server's URL and the database's name if the test runs on PostgreSQL.
fn postgres_server_and_name(app: &TestApp) -> Option<(String, String)> {
    let server = std::env::var("TEST_POSTGRES_URL").ok()?;
    let url: reqwest::Url = app.database_url().parse().expect("the database URL is valid");
    Some((server, url.path().trim_start_matches('/').to_owned()))
}

/// Runs statements on the database in the server's URL.
async fn execute_on_server(server: &str, statements: &[&str]) {
    let connection = sea_orm::Database::connect(server).await.expect("the server accepts a connection");
    for statement in statements {
        connection.execute_unprepared(statement).await.expect("the statement runs");
    }
    connection.close().await.expect("the connection closes");
}

/// Renames the [`TABLES`]. `names` returns the old and the new name of a table.
async fn rename_tables(app: &TestApp, names: impl Fn(&str) -> (String, String)) {
    // Not a write, since these need `server_state`.
    let transaction = app.app.db.begin_limited().await.expect("the transaction begins");
    for (from, to) in TABLES.iter().map(|table| names(table)) {
        let statement = format!("ALTER TABLE {from} RENAME TO {to}");
        transaction.execute_unprepared(&statement).await.expect("the table is renamed");
    }
    transaction.commit().await.expect("the commit succeeds");
}
