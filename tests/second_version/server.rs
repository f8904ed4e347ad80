//! A running server with both versions of the API, and an API key with all scopes.

use std::collections::BTreeMap;

use api::events::{encode, example, read_fields};
use creator_api::server::Server;
use domain::FieldUpdate;
use domain::app::{App, AppParts};
use domain::keys::{self, NewKey, PrincipalCache};
use domain::scope::Scopes;
use domain::workspaces::{self, Quota, WorkspaceUpsert};
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, DatabaseOptions, DatabaseSource};
use foundation::id::Ids;
use foundation::secret::MasterKeys;
use reqwest::{Method, RequestBuilder};
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::generated::adapter::V2;
use crate::generated::operations;
use crate::service::RecordingService;

/// A server with its own database. It stops at the end of the test.
pub struct TestServer {
    /// The service that implements the second version.
    pub service: RecordingService,
    /// The secret of the API key.
    pub secret: String,
    pub app: App,
    base_url: String,
    http: reqwest::Client,
    _folder: tempfile::TempDir,
}

/// A response with its whole body.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: u16,
    /// The values of a repeated header are joined by commas.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl TestServer {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let flags = vec![
            ("data_dir", folder.path().display().to_string()),
            ("default_per_minute", "1000".to_owned()),
        ];
        let source = DatabaseSource::new(None, folder.path()).expect("a database");
        let db = Database::connect(DatabaseOptions::new(source)).await.expect("the database opens");
        let parts = AppParts {
            config: Config::read(flags, std::iter::empty()).expect("the settings are valid").0,
            clock: Clock::simulated("2026-03-01T10:00:00Z".parse().expect("a time")),
            ids: Ids::default(),
            encode,
            example,
            read_fields,
            seed: |_, _, _| Box::pin(async { Ok(()) }),
            principals: PrincipalCache::default(),
        };
        let app = App::new(db, parts);
        app.db.migrate().await.expect("the migrations apply");
        let secret = create_key(&app).await;
        let service = RecordingService::default();
        let master = MasterKeys::parse(&"07".repeat(32), "the test").expect("a key");
        let server = Server::new(app.clone(), &master, "http://api.test").expect("a server");
        let server =
            server.with_version(&operations::CONTRACT, V2(service.clone())).expect("a second version");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base_url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(server.run(listener, std::future::pending()));
        // Fails if another test has already installed the provider, which can be ignored.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { service, secret, app, base_url, http, _folder: folder }
    }

    /// Returns the address of the server, without the scheme.
    pub fn address(&self) -> &str {
        self.base_url.trim_start_matches("http://")
    }

    /// Builds a request without an API key.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url))
    }

    /// Builds a request to the second version with the API key. The path is relative to `/api/v2`.
    pub fn call(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, &format!("/api/v2{path}")).header("x-api-key", &self.secret)
    }

    /// Sends a JSON body to the second version, with the API key and a cookie.
    pub async fn send(&self, method: Method, path: &str, body: Value) -> HttpResponse {
        execute(self.call(method, path).header("cookie", "theme=dark").json(&body)).await
    }
}

/// Creates an API key with all scopes in a new workspace, and returns its secret.
async fn create_key(app: &App) -> String {
    let mut write = app.begin_write().await.expect("the transaction begins");
    let upsert = WorkspaceUpsert {
        key: "acme".into(),
        name: "Acme".into(),
        owner_email: "owner@example.com".into(),
        per_minute: FieldUpdate::Absent,
        per_day: FieldUpdate::Absent,
    };
    let workspace = workspaces::upsert(app, &mut write, app.clock.now(), upsert).await.expect("a workspace");
    let new = NewKey {
        name: "test".into(),
        scopes: Scopes::all(),
        quota: Quota::default(),
        expires_at: None,
        networks: Vec::new(),
    };
    let (_, secret) = keys::create(app, &mut write, workspace, new).await.expect("a key");
    write.commit().await.expect("the commit succeeds");
    secret.expose_secret().to_owned()
}

/// Sends a request and reads the response.
pub async fn execute(request: RequestBuilder) -> HttpResponse {
    let response = request.send().await.expect("the server responds");
    let status = response.status().as_u16();
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in response.headers() {
        let values = headers.entry(name.to_string()).or_default();
        let separator = if values.is_empty() { "" } else { ", " };
        *values += &format!("{separator}{}", value.to_str().expect("headers are ASCII"));
    }
    HttpResponse { status, headers, body: response.bytes().await.expect("the body is complete").to_vec() }
}

impl HttpResponse {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts that the status is 422, and returns the errors, each as `in field: message`.
    #[track_caller]
    pub fn errors(&self) -> Vec<String> {
        assert_eq!(self.status, 422, "{}", String::from_utf8_lossy(&self.body));
        let body = self.json();
        let details = body["error"]["details"].as_array().expect("an error has details").iter();
        let string = |detail: &Value, key: &str| detail[key].as_str().expect("a string").to_owned();
        let line = |detail: &Value| {
            format!("{} {}: {}", string(detail, "in"), string(detail, "field"), string(detail, "message"))
        };
        details.map(line).collect()
    }
}
