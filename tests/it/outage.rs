//! A database that is gone, and comes back.
//!
//! PostgreSQL refuses all connections and closes those that are open. An open SQLite file cannot be taken away from
//! the process that holds it, so there the tables are taken out of its hands: every statement fails just so.

use futures_util::future::join_all;
use sea_orm::ConnectionTrait;

use crate::support::TestApp;

/// What the API and the health check read and write.
const TABLES: &[&str] = &[
    "courses",
    "students",
    "orders",
    "enrollments",
    "revenue_rollups",
    "activity_rollups",
    "api_keys",
    "idempotency_records",
    "webhook_deliveries",
    "server_state",
    "seaql_migrations",
];

/// As many connections as a story's server has at most.
const CONNECTIONS: usize = 8;

/// A running outage.
#[must_use]
pub struct Outage(());

/// Takes the database away from a running server.
pub async fn begin(app: &TestApp) -> Outage {
    match postgres(app) {
        Some((server, name)) => {
            let closed = format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false");
            let kicked =
                format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
            on_server(&server, &[&closed, &kicked]).await;
        }
        None => rename(app, |table| (table.to_owned(), format!("{table}_gone"))).await,
    }
    Outage(())
}

impl Outage {
    /// Gives it back, and lets the server find out which of its connections were closed: an open one is not tried
    /// before each use, so the first use of each fails.
    pub async fn end(self, app: &TestApp) {
        match postgres(app) {
            Some((server, name)) => {
                on_server(&server, &[&format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")]).await;
            }
            None => rename(app, |table| (format!("{table}_gone"), table.to_owned())).await,
        }
        for _ in 0..100 {
            let pings = join_all((0..CONNECTIONS).map(|_| app.app.db.ping())).await;
            if pings.iter().all(Result::is_ok) {
                return;
            }
        }
        panic!("the server does not recover");
    }
}

/// The server's address and the database's name, when the story runs on PostgreSQL.
fn postgres(app: &TestApp) -> Option<(String, String)> {
    let server = std::env::var("TEST_POSTGRES_URL").ok()?;
    let url: reqwest::Url = app.url().parse().expect("the database has an address");
    Some((server, url.path().trim_start_matches('/').to_owned()))
}

async fn on_server(server: &str, statements: &[&str]) {
    let connection = sea_orm::Database::connect(server).await.expect("the server answers");
    for statement in statements {
        connection.execute_unprepared(statement).await.expect("the server takes the statement");
    }
    connection.close().await.expect("the connection closes");
}

async fn rename(app: &TestApp, names: impl Fn(&str) -> (String, String)) {
    let write = app.write().await;
    for (from, to) in TABLES.iter().map(|table| names(table)) {
        let statement = format!("ALTER TABLE {from} RENAME TO {to}");
        write.conn().execute_unprepared(&statement).await.expect("the table is there");
    }
    write.commit().await.expect("the tables have their new names");
}
