//! Unknown paths and unsupported methods: each gets an error with all headers. Also `HEAD` and CORS.

use reqwest::Method;

use crate::support::conformance::{assert_error, assert_rate_limit_headers};
use crate::support::{TestApp, TestKey, TestResponse, send};

const ABSENT: &str = "crs_01k424mh00e2mbrajjfteg1k8f";

/// Sends a request with exactly this method and path, and with an API key.
async fn send_request_line(app: &TestApp, key: &TestKey, method: &str, path: &str) -> TestResponse {
    let secret = &key.secret;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {secret}\r\nConnection: close\r\n\r\n"
    );
    app.send_raw(request).await
}

#[tokio::test]
async fn an_unknown_path_is_not_found() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let long = format!("/api/v1/courses/{}", "x".repeat(8_000));
    let longer = format!("/api/v1/{}", "x/".repeat(15_000));
    for path in [
        "/api/v1/nothing",
        "/api/v1",
        "/api/v1/",
        "/api",
        "/api/",
        "/api/v2/courses",
        "/api/v1/Courses",
        "/api/v1/courses/",
        "/api/v1/courses//",
        "/api/v1//courses",
        "/api//v1/courses",
        "/api/v1/courses/x/",
        "/api/v1/courses/x/modules",
        "/api/v1/students/stu_01khx04p34eqfah10jhpbrdmp2",
        "/api/v1/../v1/courses",
        "/api/v1/courses/../students",
        "/api/v1/%2e%2e/v1/courses",
        "/api/v1/courses/%2e%2e",
        "/api/v1/courses/%2E%2E%2Fstudents",
        "/api/v1/%00",
        "/api/v1/courses/%00",
        "/api/v1/courses%00",
        "/api/v1/courses/%",
        "/api/v1/courses/%zz",
        "/api/v1/courses/%ff",
        "/api/v1/courses;a=b",
        "/api/v1/cour%73es",
        "/api/v1/courses%2f",
        "/api/v1/courses/a%0d%0ab:%20c",
        "/api/v1/analytics",
        &long,
        &longer,
    ] {
        let response = send_request_line(&app, &key, "GET", path).await;
        let message = assert_error(&response, 404, "not_found");
        assert!(message.len() < 300 && !message.contains(['\r', '\n', '\0']), "{message:?}");
    }
}

#[tokio::test]
async fn an_unknown_path_outside_of_the_api_is_not_found() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    for path in [
        "//api/v1/courses",
        "/API/v1/courses",
        "/%61pi/v1/courses",
        "/nothing",
        "/api%2fv1/courses",
        "/.git/config",
    ] {
        let response = send_request_line(&app, &key, "GET", path).await.assert_status(404);
        assert!(!response.body.is_empty(), "{path}");
    }
    // The HTTP layer rejects an incomplete request line, and one that is too long.
    for path in ["", "api/v1/courses"] {
        let response = send_request_line(&app, &key, "GET", path).await;
        assert!(matches!(response.status, 400 | 404), "{path:?}: {}", response.status);
    }
    let too_long = send_request_line(&app, &key, "GET", &format!("/api/v1/{}", "x".repeat(100_000))).await;
    assert!(matches!(too_long.status, 414 | 431), "{}", too_long.status);
}

#[tokio::test]
async fn an_unsupported_method_gets_405_with_the_allowed_methods() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let course_path = format!("/api/v1/courses/{ABSENT}");
    let cases = [
        ("get", "/api/v1/courses", "GET, HEAD"),
        ("Get", "/api/v1/courses", "GET, HEAD"),
        ("POST", "/api/v1/courses", "GET, HEAD"),
        ("OPTIONS", "/api/v1/courses", "GET, HEAD"),
        ("TRACE", "/api/v1/courses", "GET, HEAD"),
        ("BREW", "/api/v1/courses", "GET, HEAD"),
        ("DELETE", &course_path, "GET, HEAD"),
        ("PUT", "/api/v1/students", "GET, HEAD, POST"),
        ("post", "/api/v1/students", "GET, HEAD, POST"),
        ("PATCH", "/api/v1/orders", "GET, HEAD"),
        ("GET", "/api/v1/enrollments", "POST"),
        ("HEAD", "/api/v1/enrollments", "POST"),
        ("DELETE", "/api/v1/analytics/summary?from=x", "GET, HEAD"),
    ];
    for (method, path, allow) in cases {
        let response = send_request_line(&app, &key, method, path).await;
        assert_eq!((response.status, response.header("allow")), (405, allow), "{method} {path}");
        match method {
            "HEAD" => assert!(response.body.is_empty()),
            _ => drop(assert_error(&response, 405, "invalid_request")),
        }
    }
    // An unknown path is 404 for any method.
    assert_error(&send_request_line(&app, &key, "DELETE", "/api/v1/nothing").await, 404, "not_found");
}

#[tokio::test]
async fn without_a_key_all_paths_get_the_same_error() {
    let app = TestApp::start().await;
    let mut bodies = Vec::new();
    for (method, path) in [
        (Method::GET, "/api/v1/courses"),
        (Method::GET, "/api/v1/nothing"),
        (Method::DELETE, "/api/v1/courses"),
        (Method::GET, "/api/v1/students?limit=0"),
        (Method::OPTIONS, "/api/v1/students"),
    ] {
        let response = send(app.request(method, path)).await;
        assert_error(&response, 401, "unauthorized");
        let mut body = response.json();
        body["error"]["request_id"].take();
        bodies.push(body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
}

#[tokio::test]
async fn head_responds_as_get_does_without_the_body() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let course = workspace.course("rust", 2).await;
    workspace.student("ada").await;
    workspace.student("bob").await;

    for path in [
        "/api/v1/courses".to_owned(),
        format!("/api/v1/courses/{course}"),
        "/api/v1/students?limit=1".to_owned(),
        "/api/v1/orders".to_owned(),
        "/api/v1/analytics/summary?interval=day".to_owned(),
        format!("/api/v1/courses/{ABSENT}"),
        "/api/v1/students?limit=0".to_owned(),
        "/api/v1/nothing".to_owned(),
    ] {
        let (get, head) = (key.get(&path).await, key.head(&path).await);
        assert_eq!(head.status, get.status, "{path}");
        assert!(head.body.is_empty(), "{path}");
        assert_rate_limit_headers(&head);
        assert_eq!(constant_headers(&head), constant_headers(&get), "{path}");
        // An error's body contains the request id, so only successful responses have the same length.
        if get.status == 200 {
            assert_eq!(head.header("content-length"), get.body.len().to_string(), "{path}");
            assert_eq!(get.header("content-length"), head.header("content-length"), "{path}");
        }
    }
    let without_key = send(app.request(Method::HEAD, "/api/v1/courses")).await;
    assert_eq!(
        (without_key.status, without_key.header("www-authenticate"), without_key.body.len()),
        (401, "Bearer", 0)
    );
}

/// Returns the headers that do not change from request to request, except `Content-Length`.
fn constant_headers(response: &TestResponse) -> Vec<(String, String)> {
    let changing =
        ["date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-daily-remaining", "content-length"];
    let mut headers: Vec<(String, String)> = response
        .headers
        .iter()
        .filter(|(name, _)| !changing.contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    headers.sort();
    headers
}

#[tokio::test]
async fn responses_have_no_cors_headers() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;

    let get = key.request(Method::GET, "/api/v1/courses").header("origin", "https://evil.example");
    let preflight = app
        .request(Method::OPTIONS, "/api/v1/students")
        .header("origin", "https://evil.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization");
    let with_key = key
        .request(Method::OPTIONS, "/api/v1/students")
        .header("origin", "https://evil.example")
        .header("access-control-request-method", "POST");
    for (request, status) in [(get, 200), (preflight, 401), (with_key, 405)] {
        let response = send(request).await.assert_status(status);
        assert_rate_limit_headers(&response);
        let cors_header = response.headers.keys().find(|name| name.as_str().starts_with("access-control-"));
        assert_eq!(cors_header, None);
    }
}
