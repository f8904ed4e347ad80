//! A database for each test, copied from a migrated template.

use std::path::{Path, PathBuf};
use std::sync::Mutex as StdMutex;
use std::sync::atomic::{AtomicU32, Ordering};

use foundation::database::{Database, DatabaseOptions, DatabaseSource};
use migration::{MIGRATIONS, Migration, Migrator};
use sea_orm::ConnectionTrait;
use tokio::sync::{Mutex, OnceCell};

/// The database of a test, and its folder.
#[derive(Debug)]
pub struct TestDatabase {
    pub source: DatabaseSource,
    /// Contains the SQLite file and other files of the test. Dropping this value deletes it.
    pub folder: tempfile::TempDir,
    /// The migrations of the version that opens the database.
    migrator: Migrator,
}

/// The environment variable with the URL of a PostgreSQL server on which databases can be created.
const SERVER_VARIABLE: &str = "TEST_POSTGRES_URL";

/// Returns whether the tests run on PostgreSQL.
pub fn on_postgres() -> bool {
    std::env::var_os(SERVER_VARIABLE).is_some()
}

impl TestDatabase {
    /// Creates a migrated, empty database.
    pub async fn create() -> Self {
        let folder = tempfile::Builder::new().prefix("creator-api-it-").tempdir().expect("a folder");
        let source = match std::env::var(SERVER_VARIABLE) {
            Ok(server) => postgres(&server).await,
            Err(_) => sqlite(folder.path()).await,
        };
        Self { source, folder, migrator: Migrator::default() }
    }

    /// Returns a placeholder that replaces a database after it was moved to another owner.
    pub fn placeholder() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let source = DatabaseSource::Sqlite { path: folder.path().join("placeholder.db") };
        Self { source, folder, migrator: Migrator::default() }
    }

    /// Opens the database. On PostgreSQL, it has up to `max_connections` connections. On SQLite, it has one connection
    /// for writes, and up to `max_connections` for reads, but at most four.
    pub async fn open(&self, max_connections: u32) -> Database {
        open(self.source.clone(), max_connections, self.migrator).await
    }

    /// Changes the version that opens the database: one with these migrations after those of the program.
    pub fn add_migrations(&mut self, migrations: &[Migration]) {
        self.migrator = Migrator::new([MIGRATIONS, migrations].concat().leak());
    }

    /// Returns the URL, as in `DATABASE_URL`.
    pub fn url(&self) -> String {
        match &self.source {
            DatabaseSource::Sqlite { path } => format!("sqlite://{}", path.display()),
            DatabaseSource::Postgres { url } => url.clone(),
        }
    }
}

async fn open(source: DatabaseSource, max_connections: u32, migrator: Migrator) -> Database {
    let readers = max_connections.min(4);
    // Tests do not wait for the disk.
    let (options, is_durable) = (DatabaseOptions::new(source), false);
    let options = DatabaseOptions { readers, max_connections, migrator, is_durable, ..options };
    Database::connect(options).await.expect("the database opens")
}

/// Copies an SQLite file that is migrated once for all tests.
async fn sqlite(folder: &Path) -> DatabaseSource {
    static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
    let template = TEMPLATE
        .get_or_init(|| async {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("template.db");
            let database = open(DatabaseSource::Sqlite { path: path.clone() }, 1, Migrator::default()).await;
            database.migrate().await.expect("the migrations apply");
            database.close().await;
            std::fs::read(path).expect("the template can be read")
        })
        .await;
    let path: PathBuf = folder.join("creator-api.db");
    std::fs::write(&path, template).expect("the file is written");
    DatabaseSource::Sqlite { path }
}

/// The PostgreSQL databases of ended tests, to be dropped. All databases of a run together would need several gigabytes.
static ENDED: StdMutex<Vec<String>> = StdMutex::new(Vec::new());
/// How many of them are dropped together.
const ENDED_BATCH: usize = 16;

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let DatabaseSource::Postgres { url } = &self.source {
            let name =
                url.parse::<reqwest::Url>().expect("the URL is valid").path().trim_matches('/').to_owned();
            ENDED.lock().expect("the mutex is not poisoned").push(name);
        }
    }
}

/// Drops the databases of ended tests, if there are many.
async fn drop_ended(server: &str) {
    let ended = {
        let mut ended = ENDED.lock().expect("the mutex is not poisoned");
        if ended.len() < ENDED_BATCH {
            return;
        }
        std::mem::take(&mut *ended)
    };
    let options = sea_orm::ConnectOptions::new(server);
    let connection = sea_orm::Database::connect(options).await.expect("the server accepts a connection");
    for name in ended {
        // A test can leave a process or a task with a connection. If the database is still in use, it remains.
        let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        let _ = connection.execute_unprepared(&drop).await;
    }
    connection.close().await.expect("the connection closes");
}

/// Creates a database from a template that is migrated once for all tests.
async fn postgres(server: &str) -> DatabaseSource {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    static CREATION: Mutex<()> = Mutex::const_new(());
    static NEXT: AtomicU32 = AtomicU32::new(0);

    let template = TEMPLATE
        .get_or_init(|| async {
            let name = format!("it_template_{}", std::process::id());
            execute(server, &format!("CREATE DATABASE {name}")).await;
            let source = DatabaseSource::Postgres { url: database_url(server, &name) };
            let database = open(source, 1, Migrator::default()).await;
            database.migrate().await.expect("the migrations apply");
            database.close().await;
            // A proxy keeps connections open, and PostgreSQL copies only a database without any.
            let terminate = format!(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'"
            );
            execute(server, &terminate).await;
            name
        })
        .await;
    let name = format!("it_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    // Many copies at once would slow down the tests that run meanwhile.
    let _creation = CREATION.lock().await;
    drop_ended(server).await;
    execute(server, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
    DatabaseSource::Postgres { url: database_url(server, &name) }
}

/// Returns the server's URL with this database name.
fn database_url(server: &str, name: &str) -> String {
    let mut url: reqwest::Url = server.parse().expect("the server's URL is valid");
    url.set_path(name);
    url.to_string()
}

/// Runs a statement on the database in the server's URL.
async fn execute(server: &str, statement: &str) {
    let options = sea_orm::ConnectOptions::new(server);
    let connection = sea_orm::Database::connect(options).await.expect("the server accepts a connection");
    connection.execute_unprepared(statement).await.expect("the statement runs");
    connection.close().await.expect("the connection closes");
}
