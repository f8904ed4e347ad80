//! The bare database: runs the server's SQL statements without the server, as an upper limit.
//!
//! The connections have the same configuration and number as those of the server. Rows are fetched, but only the ids of
//! a page are decoded. The statements are copies: update them when the server's statements change. With
//! `log_statement = 'all'`, PostgreSQL logs the server's statements.

use std::time::{Duration, Instant};

use anyhow::Result;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{ConnectOptions, Database, DatabaseConnection};
use tokio::task::JoinSet;

use crate::compare::CONNECTIONS;
use crate::measurement::Measurement;
use crate::site::{BenchSite, DatabaseKind};

pub mod reads;
pub mod writes;

/// The number of connections of the server to PostgreSQL.
const SERVER_CONNECTIONS: u32 = 16;

/// How long a task waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

/// Connections for reads and writes.
#[derive(Clone)]
pub struct BareDatabase {
    pub reader: DatabaseConnection,
    pub writer: DatabaseConnection,
}

impl BareDatabase {
    /// Connects to the database of a site.
    ///
    /// # Errors
    /// Returns an error when the database cannot be reached.
    pub async fn open(site: &BenchSite) -> Result<Self> {
        if site.kind == DatabaseKind::Postgres {
            let pool = Database::connect(options(site.url(), SERVER_CONNECTIONS)).await?;
            return Ok(Self { reader: pool.clone(), writer: pool });
        }
        let cores = std::thread::available_parallelism().map_or(2, |cores| cores.get());
        let readers = u32::try_from(cores * 2).unwrap_or(4).max(4);
        Ok(Self {
            reader: Database::connect(sqlite(site.url(), readers, "-4096")).await?,
            writer: Database::connect(sqlite(site.url(), 1, "-16384")).await?,
        })
    }
}

fn options(url: &str, connections: u32) -> ConnectOptions {
    let mut options = ConnectOptions::new(url);
    options.max_connections(connections).min_connections(connections).acquire_timeout(ACQUIRE_TIMEOUT);
    options.test_before_acquire(false).sqlx_logging(false).record_stmt_in_spans(false);
    options
}

/// Returns the options for SQLite. `cache_size` is the value of the pragma: a negative number is a size in KiB.
fn sqlite(url: &str, connections: u32, cache_size: &'static str) -> ConnectOptions {
    let mut options = options(url, connections);
    options.map_sqlx_sqlite_opts(move |sqlite| {
        sqlite
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .pragma("mmap_size", "134217728")
            .pragma("cache_size", cache_size)
            .pragma("temp_store", "MEMORY")
    });
    options
}

/// Runs the clients of a full load. Each repeats its statements until the end of the window.
async fn run_clients<F>(
    warm_up: Duration,
    window: Duration,
    client: impl Fn(usize) -> F,
) -> Result<Measurement>
where
    F: BareClient + 'static,
{
    let window_start = Instant::now() + warm_up;
    let window_end = window_start + window;
    let mut clients = JoinSet::new();
    for number in 0..CONNECTIONS {
        let mut client = client(number);
        clients.spawn(async move {
            let mut measured = Measurement::new(window);
            loop {
                let started_at = Instant::now();
                client.run_once().await?;
                let now = Instant::now();
                if now >= window_end {
                    return anyhow::Ok(measured);
                }
                if started_at >= window_start {
                    measured.record(now - started_at);
                }
            }
        });
    }
    let mut measured = Measurement::new(window);
    while let Some(outcome) = clients.join_next().await {
        measured.merge(&outcome??);
    }
    Ok(measured)
}

/// One client of the bare database.
trait BareClient: Send {
    /// Runs the client's statements once.
    fn run_once(&mut self) -> impl Future<Output = Result<()>> + Send;
}
