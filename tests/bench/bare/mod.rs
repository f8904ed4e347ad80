//! The bare database: the server's own statements without the server, as a limit.
//!
//! The connections are set as the server sets its own, and as many. Rows are fetched and not decoded. The statements here
//! are copies: when the server asks for other rows, they must follow (`log_statement = 'all'` on PostgreSQL shows them).

use std::time::{Duration, Instant};

use anyhow::Result;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{ConnectOptions, Database, DatabaseConnection};
use tokio::task::JoinSet;

use crate::compare::CONNECTIONS;
use crate::measured::Measured;
use crate::site::{Kind, Site};

pub mod reads;
pub mod writes;

/// Connections of the server to PostgreSQL.
const SERVER_CONNECTIONS: u32 = 16;

/// How long a task waits for its turn at a connection.
const TURN: Duration = Duration::from_secs(30);

/// Connections to read from and to write to.
#[derive(Clone)]
pub struct Bare {
    pub reader: DatabaseConnection,
    pub writer: DatabaseConnection,
}

impl Bare {
    /// Connects to a site's database.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn open(site: &Site) -> Result<Self> {
        if site.kind == Kind::Postgres {
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
    options.max_connections(connections).min_connections(connections).acquire_timeout(TURN);
    options.test_before_acquire(false).sqlx_logging(false).record_stmt_in_spans(false);
    options
}

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

/// As many clients as a load has, each doing the same again and again until the window's end.
async fn crowd<F>(warm_up: Duration, window: Duration, client: impl Fn(usize) -> F) -> Result<Measured>
where
    F: Client + 'static,
{
    let from = Instant::now() + warm_up;
    let until = from + window;
    let mut clients = JoinSet::new();
    for number in 0..CONNECTIONS {
        let mut client = client(number);
        clients.spawn(async move {
            let mut measured = Measured::new(window);
            loop {
                let begun = Instant::now();
                client.once().await?;
                let now = Instant::now();
                if now >= until {
                    return anyhow::Ok(measured);
                }
                if begun >= from {
                    measured.record(now - begun);
                }
            }
        });
    }
    let mut measured = Measured::new(window);
    while let Some(outcome) = clients.join_next().await {
        measured.join(&outcome??);
    }
    Ok(measured)
}

/// One client of the bare database.
trait Client: Send {
    /// Does its work once.
    fn once(&mut self) -> impl Future<Output = Result<()>> + Send;
}
