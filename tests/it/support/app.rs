//! A running server with a simulated clock.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use creator_api::server::{ConnectionLimits, Server};
use domain::app::{App, AppParts};
use domain::keys::PrincipalCache;
use domain::workspaces;
use feed::apply::{self, ApplyOutcome};
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::Write;
use foundation::id::Ids;
use foundation::secret::MasterKey;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::database::{TestDatabase, on_postgres};
use super::{Key, START, TestResponse, Workspace, send};

/// The master key of all tests.
pub(super) const MASTER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A server with a database of its own. Dropping it stops the server, and fails the test when the server has ended before.
pub struct TestApp {
    pub app: App,
    pub clock: Clock,
    pub base: String,
    pub http: reqwest::Client,
    pub database: TestDatabase,
    flags: Vec<(&'static str, String)>,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<anyhow::Result<()>>>,
    changes: AtomicU64,
}

impl TestApp {
    /// Starts a server with the default configuration, at [`START`].
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a server with these settings: names of the configuration file and their values.
    pub async fn start_with(settings: &[(&'static str, &str)]) -> Self {
        let flags = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let clock = Clock::simulated(START.parse().expect("a time"));
        Self::serve(TestDatabase::create().await, clock, flags, |_| ()).await
    }

    /// Starts a server with the default configuration and changed connection limits.
    pub async fn start_with_connection_limits(change: impl FnOnce(&mut ConnectionLimits)) -> Self {
        let clock = Clock::simulated(START.parse().expect("a time"));
        Self::serve(TestDatabase::create().await, clock, Vec::new(), change).await
    }

    async fn serve(
        database: TestDatabase,
        clock: Clock,
        flags: Vec<(&'static str, String)>,
        change: impl FnOnce(&mut ConnectionLimits),
    ) -> Self {
        let config = config(&database, &flags);
        let app = app(&database, &clock, config).await;
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let master = MasterKey::from_hex(MASTER_KEY, "the test").expect("a key");
        let mut limits = ConnectionLimits::new(&app.config.server);
        change(&mut limits);
        let server = Server::new(app.clone(), &master, "http://api.test").expect("a server");
        let server = server.with_connection_limits(limits);
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(server.run(listener, async move {
            let _ = stopped.await;
        }));
        Self {
            app,
            clock,
            base,
            http: client(),
            database,
            flags,
            stop: Some(stop),
            served: Some(served),
            changes: AtomicU64::new(0),
        }
    }

    /// Stops the server gracefully and starts it again on the same data.
    pub async fn restart(mut self) -> Self {
        self.stop().await;
        let (database, clock) =
            (std::mem::replace(&mut self.database, TestDatabase::gone()), self.clock.clone());
        let (flags, changes) = (std::mem::take(&mut self.flags), self.changes.load(Ordering::Relaxed));
        self.app.db.close().await;
        let restarted = Self::serve(database, clock, flags, |_| ()).await;
        restarted.changes.store(changes, Ordering::Relaxed);
        restarted
    }

    /// Stops the server as a signal does, and waits for its end.
    pub async fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(served) = self.served.take() {
            tokio::time::timeout(Duration::from_secs(20), served)
                .await
                .expect("the server stops in time")
                .expect("no panic")
                .expect("the last counts are saved");
        }
    }

    /// Returns the state of another process on the same data and the same clock.
    pub async fn other_process(&self) -> App {
        app(&self.database, &self.clock, config(&self.database, &self.flags)).await
    }

    /// Returns a workspace, and creates it on first use.
    pub async fn workspace(&self, name: &'static str) -> Workspace<'_> {
        if workspaces::by_key(&self.app, name).await.is_err() {
            let data = json!({"key": name, "name": name, "owner_email": format!("owner@{name}.example")});
            let at = self.clock.now().to_string();
            let id = format!("w-{name}");
            self.apply(&[
                json!({"change": "workspace.upsert", "id": id, "workspace": name, "at": at, "data": data}),
            ])
            .await;
        }
        let id = workspaces::by_key(&self.app, name).await.expect("the workspace is there").id;
        Workspace { app: self, name, id }
    }

    /// Applies changes, none of which may be rejected.
    pub async fn apply(&self, changes: &[Value]) {
        let lines: String = changes.iter().map(|change| format!("{change}\n")).collect();
        let (outcome, rejects) = self.try_apply(&lines).await;
        assert!(rejects.is_empty(), "{rejects:?}");
        assert_eq!(outcome.rejected, 0);
    }

    /// Applies a stream of changes, and returns the outcome and the reasons of rejected changes.
    pub async fn try_apply(&self, lines: &str) -> (ApplyOutcome, Vec<String>) {
        let mut rejects = Vec::new();
        let options = apply::ApplyOptions {
            rejected: Box::new(|reject| rejects.push(reject.to_string())),
            ..apply::ApplyOptions::default()
        };
        let outcome = apply::apply(&self.app, lines.as_bytes(), options).await.expect("the stream is read");
        (outcome, rejects)
    }

    /// Returns a unique number for a change.
    pub fn next_change_number(&self) -> u64 {
        self.changes.fetch_add(1, Ordering::Relaxed)
    }

    /// Begins a write at the clock's time.
    pub async fn write(&self) -> Write {
        self.app.begin_write().await.expect("a write begins")
    }

    /// Builds a request without a key.
    pub fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    /// Requests a page without a key.
    pub async fn get(&self, path: &str) -> TestResponse {
        send(self.request(reqwest::Method::GET, path)).await
    }

    /// Returns a key with this secret.
    pub fn key_of(&self, id: String, secret: String) -> Key {
        Key { secret, id, base: self.base.clone(), http: self.http.clone() }
    }

    /// Returns the exact bodies of all events, in order of creation.
    pub async fn bodies(&self) -> Vec<Vec<u8>> {
        let backend = self.app.db.backend();
        let statement = Statement::from_string(backend, "SELECT body FROM events ORDER BY id");
        let rows = self.app.db.read().query_all_raw(statement).await.expect("the outbox is read");
        rows.iter().map(|row| row.try_get_by_index(0).expect("a body")).collect()
    }

    /// Returns the bodies of all events, in order of creation.
    pub async fn events(&self) -> Vec<Value> {
        let bodies = self.bodies().await;
        bodies.iter().map(|body| serde_json::from_slice(body).expect("JSON")).collect()
    }

    /// Returns the events of one type.
    pub async fn events_of(&self, kind: &str) -> Vec<Value> {
        let mut events = self.events().await;
        events.retain(|event| event["type"] == kind);
        events
    }

    /// Returns the id of a course of any status, by its key.
    pub async fn course_id(&self, workspace: &Workspace<'_>, key: &str) -> String {
        let course = entity::courses::in_workspace(workspace.id.uuid())
            .by_key(self.app.db.read(), key)
            .await
            .expect("the database answers")
            .unwrap_or_else(|| panic!("no course {key}"));
        foundation::id::CourseId::from_uuid(course.id).to_string()
    }

    /// Returns whether several writes can be open at once, as on PostgreSQL.
    pub fn has_many_writers(&self) -> bool {
        on_postgres()
    }

    /// Returns the database URL, as in `DATABASE_URL`.
    pub fn url(&self) -> String {
        self.database.url()
    }

    /// Returns the test's folder.
    pub fn folder(&self) -> &std::path::Path {
        self.database.folder.path()
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        // Checked before the stop: on other threads, the server may end while this runs.
        let has_ended = self.served.as_ref().is_some_and(|served| served.is_finished());
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if has_ended && !std::thread::panicking() {
            panic!("the server ended before the test");
        }
    }
}

/// Returns the configuration of a test: its own folder and database, and nothing of this machine's environment.
fn config(database: &TestDatabase, flags: &[(&'static str, String)]) -> Config {
    let mut all = vec![
        ("data_dir", database.folder.path().display().to_string()),
        ("database_url", database.url()),
        ("database_max_connections", "8".to_owned()),
    ];
    all.retain(|(name, _)| !flags.iter().any(|(overridden, _)| overridden == name));
    all.extend_from_slice(flags);
    Config::read(all, std::iter::empty()).expect("the settings are valid").0
}

async fn app(database: &TestDatabase, clock: &Clock, config: Config) -> App {
    App::new(AppParts {
        db: database.open(config.database.database_max_connections.get()).await,
        config,
        clock: clock.clone(),
        ids: Ids::default(),
        encode: api::events::encode,
        example: api::events::example,
        principals: PrincipalCache::default(),
    })
}

/// Returns a client builder for calls to the server. Clients require a default TLS provider, though these calls do not use TLS.
pub fn http() -> reqwest::ClientBuilder {
    // Fails if another test has installed it, which changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy()
}

/// Returns a client that neither follows redirects nor requests compression.
fn client() -> reqwest::Client {
    http()
        .redirect(reqwest::redirect::Policy::none())
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .timeout(Duration::from_secs(60))
        .build()
        .expect("a client")
}
