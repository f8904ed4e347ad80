//! A database of one story's own: a copy of a migrated one.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use foundation::database::{Database, Options, Source};
use sea_orm::ConnectionTrait;
use tokio::sync::{Mutex, OnceCell};

/// Where a story's data is, and how another process would reach it.
#[derive(Debug)]
pub struct TestDatabase {
    pub source: Source,
    /// Holds the SQLite file and whatever else the story writes; removed with it.
    pub folder: tempfile::TempDir,
}

/// The variable that names a PostgreSQL server on which databases may be made.
const SERVER: &str = "TEST_POSTGRES_URL";

/// True when the stories run on PostgreSQL.
pub fn on_postgres() -> bool {
    std::env::var_os(SERVER).is_some()
}

impl TestDatabase {
    /// A migrated, empty database.
    pub async fn create() -> Self {
        let folder = tempfile::Builder::new().prefix("creator-api-it-").tempdir().expect("a folder");
        let source = match std::env::var(SERVER) {
            Ok(server) => postgres(&server).await,
            Err(_) => sqlite(folder.path()).await,
        };
        Self { source, folder }
    }

    /// What stands in for a database that was moved elsewhere.
    pub fn gone() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { source: Source::Sqlite { path: folder.path().join("gone.db") }, folder }
    }

    /// Opens it with so many connections; SQLite reads through four of them at most, and has one more to write.
    pub async fn open(&self, max_connections: u32) -> Database {
        open(self.source.clone(), max_connections).await
    }

    /// The address, as `DATABASE_URL` takes it.
    pub fn url(&self) -> String {
        match &self.source {
            Source::Sqlite { path } => format!("sqlite://{}", path.display()),
            Source::Postgres { url } => url.clone(),
        }
    }
}

async fn open(source: Source, max_connections: u32) -> Database {
    let options = Options { readers: max_connections.min(4), max_connections, ..Options::new(source) };
    Database::connect(options).await.expect("the database opens")
}

/// A copy of a SQLite file that is migrated once a run.
async fn sqlite(folder: &Path) -> Source {
    static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
    let template = TEMPLATE
        .get_or_init(|| async {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("template.db");
            let database = open(Source::Sqlite { path: path.clone() }, 1).await;
            database.migrate().await.expect("the migrations apply");
            database.close().await;
            std::fs::read(path).expect("the template is there")
        })
        .await;
    let path: PathBuf = folder.join("creator-api.db");
    std::fs::write(&path, template).expect("the folder takes a file");
    Source::Sqlite { path }
}

/// A database made from a template that is migrated once a run.
async fn postgres(server: &str) -> Source {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    static MAKING: Mutex<()> = Mutex::const_new(());
    static NEXT: AtomicU32 = AtomicU32::new(0);

    let template = TEMPLATE
        .get_or_init(|| async {
            let name = format!("it_template_{}", std::process::id());
            execute(server, &format!("CREATE DATABASE {name}")).await;
            let database = open(Source::Postgres { url: with_name(server, &name) }, 1).await;
            database.migrate().await.expect("the migrations apply");
            database.close().await;
            name
        })
        .await;
    let name = format!("it_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    // Two copies of one template cannot be made at once.
    let _making = MAKING.lock().await;
    execute(server, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
    Source::Postgres { url: with_name(server, &name) }
}

/// The server's address with another database's name.
fn with_name(server: &str, name: &str) -> String {
    let mut url: reqwest::Url = server.parse().expect("the server's address is a URL");
    url.set_path(name);
    url.to_string()
}

async fn execute(server: &str, statement: &str) {
    let options = sea_orm::ConnectOptions::new(server);
    let connection = sea_orm::Database::connect(options).await.expect("the server answers");
    connection.execute_unprepared(statement).await.expect("the server takes the statement");
    connection.close().await.expect("the connection closes");
}
