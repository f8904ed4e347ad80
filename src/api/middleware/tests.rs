//! Responses have the envelope and all headers, whatever happens behind the middleware.

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

use super::Gate;
use crate::events::{encode, example};
use crate::front::{Front, Settings};
use crate::generated::adapter::V1;
use crate::generated::operations;
use crate::pages::Look;
use crate::v1::Handlers;
use domain::Given as Optional;
use domain::app::{App, Parts};
use domain::courses::{self, CourseStatus, CourseUpsert};
use domain::keys::{self, NewKey, Principals};
use domain::scope::Scopes;
use domain::workspaces::{self, Quota, WorkspaceUpsert};
use foundation::clock::Clock;
use foundation::config::Config;
use foundation::database::{Database, Options, Source};
use foundation::id::{Ids, WorkspaceId};
use foundation::secret::MasterKey;
use web::layer::Layer;

static EMPTY: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);

const HEADERS: [&str; 8] = [
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-ratelimit-daily-limit",
    "x-ratelimit-daily-remaining",
    "x-ratelimit-daily-reset",
    "x-request-id",
    "cache-control",
];

/// The API as the server wraps it.
fn layer(gate: Gate) -> Layer<Gate> {
    Layer::new(Box::new(|| "req_1".to_owned()), Vec::new(), gate)
}

/// One endpoint behind each operation of the contract.
struct Inner<E>(E);

impl<E: Endpoint + 'static> OpenApi for Inner<E> {
    fn meta() -> Vec<MetaApi> {
        V1::<Handlers>::meta()
    }

    fn register(registry: &mut Registry) {
        V1::<Handlers>::register(registry);
    }

    fn add_routes(self, routes: &mut HashMap<String, HashMap<Method, BoxEndpoint<'static>>>) {
        let inner = Arc::new(self.0);
        for (method, path) in [
            (Method::GET, "/api/v1/courses"),
            (Method::GET, "/api/v1/courses/:param0"),
            (Method::GET, "/api/v1/students"),
            (Method::POST, "/api/v1/students"),
            (Method::GET, "/api/v1/orders"),
            (Method::POST, "/api/v1/enrollments"),
            (Method::GET, "/api/v1/analytics/summary"),
        ] {
            let endpoint = Arc::clone(&inner).map_to_response().boxed();
            routes.entry(path.to_owned()).or_default().insert(method, endpoint);
        }
    }
}

struct Scene {
    folder: tempfile::TempDir,
    workspace: WorkspaceId,
    front: Arc<Front>,
    bearer: String,
}

async fn app(folder: &tempfile::TempDir, clock: Clock) -> App {
    let source = Source::new(None, folder.path()).unwrap();
    App::new(Parts {
        config: Config::defaults(),
        db: Database::connect(Options::new(source)).await.unwrap(),
        clock,
        ids: Ids::default(),
        encode,
        example,
        principals: Principals::default(),
    })
}

impl Scene {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let app = app(&folder, Clock::fixed("2026-03-01T10:00:00Z".parse::<Timestamp>().unwrap())).await;
        app.db.migrate().await.unwrap();
        let mut write = app.begin_write().await.unwrap();
        let upsert = WorkspaceUpsert {
            key: "acme".into(),
            name: "Acme".into(),
            owner_email: "owner@example.com".into(),
            per_minute: Optional::Absent,
            per_day: Optional::Absent,
        };
        let workspace = workspaces::upsert(&app, &mut write, app.clock.now(), upsert).await.unwrap();
        let key =
            NewKey { name: "test".into(), scopes: Scopes::all(), quota: Quota::default(), expires_at: None };
        let (_, secret) = keys::create(&app, &mut write, workspace, key).await.unwrap();
        write.commit().await.unwrap();
        let bearer = format!("Bearer {}", secret.expose_secret());
        let master = MasterKey::from_hex(&"07".repeat(32), "the test").unwrap();
        let settings = Settings::new(&app.config, "http://localhost").unwrap();
        let front = Front::new(app, settings, &master, &operations::CONTRACT);
        Self { folder, workspace, front, bearer }
    }

    /// Another process on the same data, under the same clock.
    async fn another_process(&self) -> App {
        app(&self.folder, self.front.app.clock.clone()).await
    }

    /// The API with the same code behind each of its operations.
    fn around<E: Endpoint + 'static>(&self, inner: E) -> Layer<Gate> {
        layer(Gate::new(Arc::clone(&self.front), &operations::CONTRACT, Inner(inner)).unwrap())
    }

    /// A request under the scene's key, with more headers.
    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Request {
        let request = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).unwrap())
            .uri_str(path)
            .header("authorization", &self.bearer);
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).finish()
    }
}

/// The parsed body of a response that has everything an answer of the API has.
async fn envelope(response: Response, status: StatusCode, code: &str) -> serde_json::Value {
    assert_eq!(response.status(), status);
    for name in HEADERS {
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
async fn a_panic_is_a_500_that_tells_nothing() {
    let scene = Scene::new().await;
    let client = scene.around(make(|_| async { panic!("secret") as Response }));
    let request = scene.request("GET", "/api/v1/courses", &[("x-request-id", "mine")]);
    let response = client.get_response(request).await;
    assert_eq!(response.headers()["x-request-id"], "mine");
    let body = envelope(response, StatusCode::INTERNAL_SERVER_ERROR, "internal_error").await;
    assert!(!body.to_string().contains("secret"));
}

#[tokio::test]
async fn what_the_framework_says_gets_the_envelope() {
    let scene = Scene::new().await;
    for (theirs, ours, code) in [
        (StatusCode::BAD_GATEWAY, StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND, "not_found"),
        (StatusCode::BAD_REQUEST, StatusCode::BAD_REQUEST, "invalid_request"),
    ] {
        let client = scene.around(make(move |_| async move { Err::<Response, poem::Error>(theirs.into()) }));
        let response = client.get_response(scene.request("GET", "/api/v1/courses", &[])).await;
        envelope(response, ours, code).await;
    }
}

fn upsert(title: &str) -> CourseUpsert {
    CourseUpsert {
        key: "ink".into(),
        slug: "ink".into(),
        title: title.into(),
        status: CourseStatus::Published,
        description: Optional::Absent,
        language: Optional::Absent,
        image_url: Optional::Absent,
        url: Optional::Absent,
        price: Optional::Absent,
        modules: None,
    }
}

/// Changes the one course, through the app of this process or another.
async fn rename(scene: &Scene, app: &App, title: &str) {
    let mut write = app.begin_write().await.unwrap();
    courses::upsert(app, &mut write, scene.workspace, app.clock.now(), upsert(title)).await.unwrap();
    write.commit().await.unwrap();
}

/// The list of courses as the API serves it.
fn catalogue(scene: &Scene) -> Layer<Gate> {
    let api = V1(Handlers { app: scene.front.app.clone() });
    layer(Gate::new(Arc::clone(&scene.front), &operations::CONTRACT, api).unwrap())
}

async fn titles(scene: &Scene, api: &Layer<Gate>, path: &str) -> String {
    let response = api.get_response(scene.request("GET", path, &[])).await;
    let body: serde_json::Value =
        serde_json::from_str(&response.into_body().into_string().await.unwrap()).unwrap();
    body["data"][0]["title"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_changed_course_is_seen_by_the_next_request() {
    let scene = Scene::new().await;
    let api = catalogue(&scene);
    for title in ["One", "Two", "Three"] {
        rename(&scene, &scene.front.app, title).await;
        for path in ["/api/v1/courses", "/api/v1/courses", "/api/v1/courses?slug=ink"] {
            assert_eq!(titles(&scene, &api, path).await, title, "{path}");
        }
    }
}

#[tokio::test]
async fn a_course_changed_by_another_process_is_seen_within_a_second() {
    let scene = Scene::new().await;
    let api = catalogue(&scene);
    let other = scene.another_process().await;
    rename(&scene, &other, "One").await;
    assert_eq!(titles(&scene, &api, "/api/v1/courses").await, "One");
    rename(&scene, &other, "Two").await;
    assert_eq!(titles(&scene, &api, "/api/v1/courses").await, "One", "the page is kept");
    scene.front.app.clock.advance(Duration::from_secs(1));
    assert_eq!(titles(&scene, &api, "/api/v1/courses").await, "Two");
}

#[tokio::test]
async fn a_page_read_before_a_change_is_not_kept_after_it() {
    let scene = Scene::new().await;
    rename(&scene, &scene.front.app, "One").await;
    let (front, app) = (&scene.front, &scene.front.app);
    let look =
        || front.pages.look(app, &operations::LIST_COURSES, scene.workspace, "/api/v1/courses", &EMPTY);
    let Look::Missing(place) = look().await else { panic!("nothing is there yet") };
    rename(&scene, app, "Two").await;
    front.pages.keep(app, place, "stale".into(), HeaderValue::from_static("W/\"x\""), None);
    assert!(matches!(look().await, Look::Missing(_)));
}

#[tokio::test]
async fn lists_that_end_with_the_clock_are_not_kept() {
    let scene = Scene::new().await;
    let (front, app) = (&scene.front, &scene.front.app);
    for path in ["/api/v1/courses?sort=updated_at", "/api/v1/courses?%73ort=updated%5Fat"] {
        let look = front.pages.look(app, &operations::LIST_COURSES, scene.workspace, path, &EMPTY).await;
        assert!(matches!(look, Look::Elsewhere), "{path}");
    }
    let look =
        front.pages.look(app, &operations::LIST_STUDENTS, scene.workspace, "/api/v1/students", &EMPTY).await;
    assert!(matches!(look, Look::Elsewhere));
}
