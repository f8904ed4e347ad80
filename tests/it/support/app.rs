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
use foundation::secret::MasterKeys;
use migration::Migration;
use poem::{Endpoint, Response};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::database::{TestDatabase, on_postgres};
use super::{START, TestKey, TestResponse, TestWorkspace, send};

/// The master key of all test servers, in hexadecimal.
pub(super) const MASTER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A server with its own database. Dropping it stops the server, and panics if the server has already ended by itself.
pub struct TestApp {
    pub app: App,
    /// The simulated clock of the server.
    pub clock: Clock,
    /// The URL of the server, without a slash at the end.
    pub base_url: String,
    pub http: reqwest::Client,
    pub database: TestDatabase,
    settings: Vec<(&'static str, String)>,
    stop: Option<oneshot::Sender<()>>,
    server_task: Option<JoinHandle<anyhow::Result<()>>>,
    next_change_number: AtomicU64,
}

impl TestApp {
    /// Starts a server with the default configuration, at [`START`].
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a server with these settings: their names in the configuration file, and their values.
    pub async fn start_with(settings: &[(&'static str, &str)]) -> Self {
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let clock = Clock::simulated(START.parse().expect("a time"));
        Self::serve(TestDatabase::create().await, clock, settings, |server, _| server).await
    }

    /// Starts a server with these settings, whose clients may advance its clock.
    pub async fn start_adjustable(settings: &[(&'static str, &str)]) -> Self {
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let clock = Clock::simulated(START.parse().expect("a time")).adjustable();
        Self::serve(TestDatabase::create().await, clock, settings, |server, _| server).await
    }

    /// Starts a server of a later version, which has these migrations after those of the program. They are pending.
    pub async fn start_with_migrations(migrations: &[Migration]) -> Self {
        let mut database = TestDatabase::create().await;
        database.add_migrations(migrations);
        let clock = Clock::simulated(START.parse().expect("a time"));
        Self::serve(database, clock, Vec::new(), |server, _| server).await
    }

    /// Starts a server with the default configuration. `change` changes its connection limits.
    pub async fn start_with_connection_limits(change: impl FnOnce(&mut ConnectionLimits)) -> Self {
        let clock = Clock::simulated(START.parse().expect("a time"));
        let extend = |server: Server, app: &App| {
            let mut limits = ConnectionLimits::new(&app.config.server);
            change(&mut limits);
            server.with_connection_limits(limits)
        };
        Self::serve(TestDatabase::create().await, clock, Vec::new(), extend).await
    }

    async fn serve(
        database: TestDatabase,
        clock: Clock,
        settings: Vec<(&'static str, String)>,
        extend: impl FnOnce(Server, &App) -> Server,
    ) -> Self {
        let config = config(&database, &settings);
        let app = app(&database, &clock, config).await;
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a free port");
        let base_url = format!("http://{}", listener.local_addr().expect("an address"));
        let master = MasterKeys::parse(MASTER_KEY, "the test").expect("a key");
        let server = Server::new(app.clone(), &master, "http://api.test").expect("a server");
        let server = extend(server, &app);
        let (stop, stopped) = oneshot::channel();
        let server_task = tokio::spawn(server.run(listener, async move {
            let _ = stopped.await;
        }));
        Self {
            app,
            clock,
            base_url,
            http: client(),
            database,
            settings,
            stop: Some(stop),
            server_task: Some(server_task),
            next_change_number: AtomicU64::new(0),
        }
    }

    /// Stops the server gracefully and starts it again on the same data, with the default connection limits.
    pub async fn restart(self) -> Self {
        self.restart_extended(|server, _| server).await
    }

    /// Restarts the server as [`restart`](Self::restart) does. `extend` adds versions of the API to it.
    pub async fn restart_extended(mut self, extend: impl FnOnce(Server, &App) -> Server) -> Self {
        self.stop().await;
        let (database, clock) =
            (std::mem::replace(&mut self.database, TestDatabase::placeholder()), self.clock.clone());
        let settings = std::mem::take(&mut self.settings);
        let next_change_number = self.next_change_number.load(Ordering::Relaxed);
        self.app.db.close().await;
        let restarted = Self::serve(database, clock, settings, extend).await;
        restarted.next_change_number.store(next_change_number, Ordering::Relaxed);
        restarted
    }

    /// Restarts the server as [`restart`](Self::restart) does, with these settings.
    pub async fn restart_with(mut self, settings: &[(&'static str, &str)]) -> Self {
        self.settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.restart().await
    }

    /// Stops the server gracefully, and waits until it has ended.
    pub async fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(server_task) = self.server_task.take() {
            tokio::time::timeout(Duration::from_secs(20), server_task)
                .await
                .expect("the server stops in time")
                .expect("no panic")
                .expect("the server stops without an error");
        }
    }

    /// Returns an endpoint that processes requests as another process does, without connections and maintenance jobs.
    pub async fn endpoint(&self) -> impl Endpoint<Output = Response> {
        let master = MasterKeys::parse(MASTER_KEY, "the test").expect("a key");
        Server::new(self.other_process().await, &master, "http://api.test").expect("a server").into_endpoint()
    }

    /// Returns an application with its own state, like another process, on the same database and with the same clock.
    pub async fn other_process(&self) -> App {
        app(&self.database, &self.clock, config(&self.database, &self.settings)).await
    }

    /// Returns the workspace with this key. Creates it if it does not exist.
    pub async fn workspace(&self, name: &'static str) -> TestWorkspace<'_> {
        if workspaces::by_key(&self.app, name).await.is_err() {
            let data = json!({"key": name, "name": name, "owner_email": format!("owner@{name}.example")});
            let at = self.clock.now().to_string();
            let id = format!("w-{name}");
            self.apply(&[
                json!({"change": "workspace.upsert", "id": id, "workspace": name, "at": at, "data": data}),
            ])
            .await;
        }
        let id = workspaces::by_key(&self.app, name).await.expect("the workspace exists").id;
        TestWorkspace { app: self, name, id }
    }

    /// Applies changes, and asserts that none is rejected.
    pub async fn apply(&self, changes: &[Value]) {
        let lines: String = changes.iter().map(|change| format!("{change}\n")).collect();
        let (outcome, rejects) = self.try_apply(&lines).await;
        assert!(rejects.is_empty(), "{rejects:?}");
        assert_eq!(outcome.rejected, 0);
    }

    /// Applies changes in the format of the change feed, one per line. Returns the outcome and the reasons why
    /// changes were rejected.
    pub async fn try_apply(&self, lines: &str) -> (ApplyOutcome, Vec<String>) {
        let mut rejects = Vec::new();
        let options = apply::ApplyOptions {
            on_rejected: Box::new(|reject| rejects.push(reject.to_string())),
            ..apply::ApplyOptions::default()
        };
        let outcome = apply::apply(&self.app, lines.as_bytes(), options).await.expect("the stream is read");
        (outcome, rejects)
    }

    /// Returns a number that is unique in this test, for the id of a change.
    pub fn next_change_number(&self) -> u64 {
        self.next_change_number.fetch_add(1, Ordering::Relaxed)
    }

    /// Begins a write transaction at the clock's time.
    pub async fn begin_write(&self) -> Write {
        self.app.begin_write().await.expect("the transaction begins")
    }

    /// Builds a request without an API key.
    pub fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url))
    }

    /// Sends a GET request without an API key.
    pub async fn get(&self, path: &str) -> TestResponse {
        send(self.request(reqwest::Method::GET, path)).await
    }

    /// Returns an existing API key, for requests to this server.
    pub fn key_with_secret(&self, id: String, secret: String) -> TestKey {
        TestKey { secret, id, base_url: self.base_url.clone(), http: self.http.clone() }
    }

    /// Returns the stored bytes of the bodies of all events, in order of creation.
    pub async fn event_bodies(&self) -> Vec<Vec<u8>> {
        let backend = self.app.db.backend();
        let statement = Statement::from_string(backend, "SELECT body FROM events ORDER BY id");
        let rows = self.app.db.read().query_all_raw(statement).await.expect("the query succeeds");
        rows.iter().map(|row| row.try_get_by_index(0).expect("a body column")).collect()
    }

    /// Returns the bodies of all events as JSON, in order of creation.
    pub async fn events(&self) -> Vec<Value> {
        let bodies = self.event_bodies().await;
        bodies.iter().map(|body| serde_json::from_slice(body).expect("JSON")).collect()
    }

    /// Returns the bodies of all events of one type, in order of creation.
    pub async fn events_of_type(&self, event_type: &str) -> Vec<Value> {
        let mut events = self.events().await;
        events.retain(|event| event["type"] == event_type);
        events
    }

    /// Returns the id of a course of any status, by its key.
    pub async fn course_id(&self, workspace: &TestWorkspace<'_>, key: &str) -> String {
        let course = entity::courses::in_workspace(workspace.id.uuid())
            .by_key(self.app.db.read(), key)
            .await
            .expect("the query succeeds")
            .unwrap_or_else(|| panic!("no course with the key {key}"));
        foundation::id::CourseId::from_uuid(course.id).to_string()
    }

    /// Returns whether the test runs on PostgreSQL, where several write transactions can be open at once.
    pub fn uses_postgres(&self) -> bool {
        on_postgres()
    }

    /// Returns whether a session of the PostgreSQL database waits for a lock.
    pub async fn has_blocked_session(&self) -> bool {
        let sql =
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let statement = Statement::from_string(self.app.db.backend(), sql);
        self.app.db.read().query_one_raw(statement).await.expect("the query succeeds").is_some()
    }

    /// Returns the URL of the database, as in `DATABASE_URL`.
    pub fn database_url(&self) -> String {
        self.database.url()
    }

    /// Returns the data folder of the test.
    pub fn folder(&self) -> &std::path::Path {
        self.database.folder.path()
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        // Checked before the stop signal is sent, because the server runs on other threads and may end immediately.
        let has_ended = self.server_task.as_ref().is_some_and(|server_task| server_task.is_finished());
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if has_ended && !std::thread::panicking() {
            panic!("the server ended before the test");
        }
    }
}

/// Returns the configuration of a test server. It reads no environment variables.
fn config(database: &TestDatabase, overrides: &[(&'static str, String)]) -> Config {
    let mut settings = vec![
        ("data_dir", database.folder.path().display().to_string()),
        ("database_url", database.url()),
        ("database_max_connections", "8".to_owned()),
        // Long enough that a busy machine does not make a server decide from its share.
        ("limit_store_timeout_ms", "20000".to_owned()),
    ];
    settings.retain(|(name, _)| !overrides.iter().any(|(overridden, _)| overridden == name));
    settings.extend_from_slice(overrides);
    Config::read(settings, std::iter::empty()).expect("the settings are valid").0
}

async fn app(database: &TestDatabase, clock: &Clock, config: Config) -> App {
    let db = database.open(config.database.database_max_connections.get()).await;
    App::new(
        db,
        AppParts {
            config,
            clock: clock.clone(),
            ids: Ids::default(),
            encode: api::events::encode,
            example: api::events::example,
            read_fields: api::events::read_fields,
            seed: |app, workspace, key| Box::pin(feed::demo::seed(app, workspace, key)),
            principals: PrincipalCache::default(),
        },
    )
}

/// Returns a builder of HTTP clients. Clients require a default TLS provider, although requests to the test server
/// use no TLS. They trust no certificates, since each client would read those of the system.
pub fn client_builder() -> reqwest::ClientBuilder {
    // Fails if another test has already installed the provider, which can be ignored.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([])
}

/// Returns a client that neither follows redirects nor requests compression.
fn client() -> reqwest::Client {
    client_builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .timeout(Duration::from_secs(60))
        .build()
        .expect("a client")
}
