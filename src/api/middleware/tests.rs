//! Tests that error responses have the error envelope and all headers, even after a panic. Also tests the response
//! cache.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use jiff::Timestamp;
use poem::endpoint::{BoxEndpoint, make};
use poem::http::{HeaderMap, HeaderValue, Method, StatusCode};
use poem::{Endpoint, EndpointExt, Request, Response};
use poem_openapi::OpenApi;
use poem_openapi::registry::{MetaApi, Registry};
use secrecy::ExposeSecret;

use super::RequestPipeline;
use crate::events::{encode, example, read_fields};
use crate::generated::adapter::V1;
use crate::generated::operations;
use crate::response_cache::ResponseLookup;
use crate::state::{ApiState, Settings};
use crate::v1::Handlers;
use domain::FieldUpdate;
use domain::app::{App, AppParts};
use domain::courses::{self, CourseStatus, CourseUpsert};
use domain::keys::{self, NewKey, PrincipalCache};
use domain::scope::Scopes;
use domain::workspaces::{self, Quota, WorkspaceUpsert};
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, DatabaseOptions, DatabaseSource};
use foundation::id::{Ids, WorkspaceId};
use foundation::secret::MasterKeys;
use rate_limit::LimitStore;
use web::layer::RequestLayer;

static NO_HEADERS: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);

/// The headers that every response has.
const COMMON_HEADERS: [&str; 8] = [
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-daily-limit",
    "x-ratelimit-daily-remaining",
    "x-ratelimit-daily-reset",
    "x-request-id",
    "cache-control",
];

/// Wraps the pipeline in the outer layer of the server.
fn layer(pipeline: RequestPipeline) -> RequestLayer<RequestPipeline> {
    RequestLayer::new(Box::new(|| "req_1".to_owned()), Vec::new(), pipeline)
}

/// Implements every operation of the contract with the same endpoint.
struct FixedEndpoint<E>(E);

impl<E: Endpoint + 'static> OpenApi for FixedEndpoint<E> {
    fn meta() -> Vec<MetaApi> {
        V1::<Handlers>::meta()
    }

    fn register(registry: &mut Registry) {
        V1::<Handlers>::register(registry);
    }

    fn add_routes(self, routes: &mut HashMap<String, HashMap<Method, BoxEndpoint<'static>>>) {
        let shared = Arc::new(self.0);
        for (method, path) in [
            (Method::GET, "/api/v1/courses"),
            (Method::GET, "/api/v1/courses/:param0"),
            (Method::GET, "/api/v1/students"),
            (Method::POST, "/api/v1/students"),
            (Method::GET, "/api/v1/students/:param0"),
            (Method::GET, "/api/v1/orders"),
            (Method::GET, "/api/v1/orders/:param0"),
            (Method::POST, "/api/v1/enrollments"),
            (Method::GET, "/api/v1/analytics/summary"),
        ] {
            let endpoint = Arc::clone(&shared).map_to_response().boxed();
            routes.entry(path.to_owned()).or_default().insert(method, endpoint);
        }
    }
}

struct Fixture {
    /// Contains the database.
    folder: tempfile::TempDir,
    workspace: WorkspaceId,
    state: Arc<ApiState>,
    /// The `Authorization` header of a key with all scopes.
    bearer: String,
}

pub(crate) async fn app(folder: &tempfile::TempDir, clock: Clock) -> App {
    let source = DatabaseSource::new(None, folder.path()).unwrap();
    let db = Database::connect(DatabaseOptions::new(source)).await.unwrap();
    App::new(
        db,
        AppParts {
            config: Config::defaults(),
            clock,
            ids: Ids::default(),
            encode,
            example,
            read_fields,
            seed: |_, _, _| Box::pin(async { Ok(()) }),
            principals: PrincipalCache::default(),
        },
    )
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let app = app(&folder, Clock::simulated("2026-03-01T10:00:00Z".parse::<Timestamp>().unwrap())).await;
        app.db.migrate().await.unwrap();
        let mut write = app.begin_write().await.unwrap();
        let upsert = WorkspaceUpsert {
            key: "acme".into(),
            name: "Acme".into(),
            owner_email: "owner@example.com".into(),
            per_minute: FieldUpdate::Absent,
            per_day: FieldUpdate::Absent,
        };
        let workspace = workspaces::upsert(&app, &mut write, app.clock.now(), upsert).await.unwrap();
        let key = NewKey {
            name: "test".into(),
            scopes: Scopes::all(),
            quota: Quota::default(),
            expires_at: None,
            networks: Vec::new(),
        };
        let (_, secret) = keys::create(&app, &mut write, workspace, key).await.unwrap();
        write.commit().await.unwrap();
        let bearer = format!("Bearer {}", secret.expose_secret());
        let master_key = MasterKeys::parse(&"07".repeat(32), "the test").unwrap();
        let settings = Settings::new(&app.config, "http://localhost").unwrap();
        let state = ApiState::new(app, settings, &master_key, LimitStore::default(), &operations::CONTRACT);
        Self { folder, workspace, state, bearer }
    }

    /// Creates the app of another process with the same database and clock.
    async fn another_process(&self) -> App {
        app(&self.folder, self.state.app.clock.clone()).await
    }

    /// Creates an API in which this endpoint implements every operation.
    fn with_endpoint<E: Endpoint + 'static>(&self, endpoint: E) -> RequestLayer<RequestPipeline> {
        layer(
            RequestPipeline::new(Arc::clone(&self.state), &operations::CONTRACT, FixedEndpoint(endpoint))
                .unwrap(),
        )
    }

    /// Creates a request with the fixture's key and additional headers.
    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Request {
        let request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri_str(path)
            .header("authorization", &self.bearer);
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).finish()
    }
}

/// Asserts that a response has the error envelope and all headers, and returns its body.
async fn assert_error(response: Response, status: StatusCode, code: &str) -> serde_json::Value {
    assert_eq!(response.status(), status);
    for name in COMMON_HEADERS {
        assert!(response.headers().contains_key(name), "{name} on {status}");
    }
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let body: serde_json::Value =
        serde_json::from_str(&response.into_body().into_string().await.unwrap()).unwrap();
    assert_eq!(body["error"]["code"], code);
    assert_eq!(body["error"]["request_id"], id);
    assert_eq!(body["error"]["doc_url"], format!("http://localhost/docs/errors#{code}"));
    body
}

#[tokio::test]
async fn a_panic_returns_500_without_the_cause() {
    let fixture = Fixture::new().await;
    let api = fixture.with_endpoint(make(|_| async { panic!("secret") as Response }));
    let request = fixture.request("GET", "/api/v1/courses", &[("x-request-id", "mine")]);
    let response = api.get_response(request).await;
    assert_eq!(response.headers()["x-request-id"], "mine");
    let body = assert_error(response, StatusCode::INTERNAL_SERVER_ERROR, "internal_error").await;
    assert!(!body.to_string().contains("secret"));
}

#[tokio::test]
async fn errors_of_the_framework_get_the_error_envelope() {
    let fixture = Fixture::new().await;
    for (framework_status, status, code) in [
        (StatusCode::BAD_GATEWAY, StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND, "not_found"),
        (StatusCode::BAD_REQUEST, StatusCode::BAD_REQUEST, "invalid_request"),
    ] {
        let api = fixture.with_endpoint(make(move |_| async move {
            Err::<Response, poem::Error>(framework_status.into())
        }));
        let response = api.get_response(fixture.request("GET", "/api/v1/courses", &[])).await;
        assert_error(response, status, code).await;
    }
}

/// Returns the upsert of the course `ink` with this title.
fn upsert(title: &str) -> CourseUpsert {
    CourseUpsert {
        key: "ink".into(),
        slug: "ink".into(),
        title: title.into(),
        status: CourseStatus::Published,
        description: FieldUpdate::Absent,
        language: FieldUpdate::Absent,
        image_url: FieldUpdate::Absent,
        url: FieldUpdate::Absent,
        price: FieldUpdate::Absent,
        modules: None,
    }
}

/// Changes the title of the course, through the app of this process or another.
async fn set_title(fixture: &Fixture, app: &App, title: &str) {
    let mut write = app.begin_write().await.unwrap();
    courses::upsert(app, &mut write, fixture.workspace, app.clock.now(), upsert(title)).await.unwrap();
    write.commit().await.unwrap();
}

/// Creates the API with its real handlers.
fn real_api(fixture: &Fixture) -> RequestLayer<RequestPipeline> {
    let api = V1(Handlers { app: fixture.state.app.clone() });
    layer(RequestPipeline::new(Arc::clone(&fixture.state), &operations::CONTRACT, api).unwrap())
}

/// Returns the title of the first course in a list.
async fn first_title(fixture: &Fixture, api: &RequestLayer<RequestPipeline>, path: &str) -> String {
    let response = api.get_response(fixture.request("GET", path, &[])).await;
    let body: serde_json::Value =
        serde_json::from_str(&response.into_body().into_string().await.unwrap()).unwrap();
    body["data"][0]["title"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_changed_course_is_returned_by_the_next_request() {
    let fixture = Fixture::new().await;
    let api = real_api(&fixture);
    for title in ["One", "Two", "Three"] {
        set_title(&fixture, &fixture.state.app, title).await;
        for path in ["/api/v1/courses", "/api/v1/courses", "/api/v1/courses?slug=ink"] {
            assert_eq!(first_title(&fixture, &api, path).await, title, "{path}");
        }
    }
}

#[tokio::test]
async fn a_course_changed_by_another_process_is_returned_within_a_second() {
    let fixture = Fixture::new().await;
    let api = real_api(&fixture);
    let other_process = fixture.another_process().await;
    set_title(&fixture, &other_process, "One").await;
    assert_eq!(first_title(&fixture, &api, "/api/v1/courses").await, "One");
    set_title(&fixture, &other_process, "Two").await;
    assert_eq!(first_title(&fixture, &api, "/api/v1/courses").await, "One", "the response is cached");
    fixture.state.app.clock.advance(Duration::from_secs(1));
    assert_eq!(first_title(&fixture, &api, "/api/v1/courses").await, "Two");
}

#[tokio::test]
async fn a_response_read_before_a_change_is_not_cached_after_it() {
    let fixture = Fixture::new().await;
    set_title(&fixture, &fixture.state.app, "One").await;
    let (state, app) = (&fixture.state, &fixture.state.app);
    let lookup = || {
        state.response_cache.get(
            app,
            &operations::LIST_COURSES,
            fixture.workspace,
            "/api/v1/courses",
            &NO_HEADERS,
        )
    };
    let ResponseLookup::Miss(slot) = lookup().await else { panic!("the cache must be empty") };
    set_title(&fixture, app, "Two").await;
    state.response_cache.insert(app, slot, "stale".into(), HeaderValue::from_static("W/\"x\""), None);
    assert!(matches!(lookup().await, ResponseLookup::Miss(_)));
}

#[tokio::test]
async fn lists_that_depend_on_the_clock_are_not_cached() {
    let fixture = Fixture::new().await;
    let (state, app) = (&fixture.state, &fixture.state.app);
    for path in ["/api/v1/courses?sort=updated_at", "/api/v1/courses?%73ort=updated%5Fat"] {
        let lookup = state
            .response_cache
            .get(app, &operations::LIST_COURSES, fixture.workspace, path, &NO_HEADERS)
            .await;
        assert!(matches!(lookup, ResponseLookup::Uncacheable), "{path}");
    }
    let lookup = state
        .response_cache
        .get(app, &operations::LIST_STUDENTS, fixture.workspace, "/api/v1/students", &NO_HEADERS)
        .await;
    assert!(matches!(lookup, ResponseLookup::Uncacheable));
}
