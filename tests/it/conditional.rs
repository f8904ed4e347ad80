//! Conditional requests, caching, compression and request ids.

use std::time::Duration;

use reqwest::Method;

use crate::support::conformance::assert_error;
use crate::support::{TestApp, TestKey, TestResponse, client_builder, course_data, send, wait_until};

const COURSES: &str = "/api/v1/courses";
/// The path of a summary with a fixed window.
const MARCH_SUMMARY: &str = "/api/v1/analytics/summary?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z";

/// Requests the path with these ETags in `If-None-Match`.
async fn get_with_tags(key: &TestKey, path: &str, tags: &[&str]) -> TestResponse {
    let request = key.request(Method::GET, path);
    send(tags.iter().fold(request, |request, tag| request.header("if-none-match", *tag))).await
}

#[tokio::test]
async fn a_matching_etag_gets_304() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let course_path = format!("{COURSES}/{}", workspace.course("rust", 2).await);
    let student_path = format!("/api/v1/students/{}", workspace.student("ada").await);
    let items = serde_json::json!([{"course": "rust", "unit_amount": 4900}]);
    let order =
        serde_json::json!({"key": "o1", "number": "1", "student": "ada", "currency": "EUR", "items": items});
    workspace.change("order.pay", order).await;
    let order_path = format!("/api/v1/orders/{}", key.get("/api/v1/orders").await.ids().remove(0));

    let lists = [COURSES, "/api/v1/students", "/api/v1/orders"];
    for path in lists.into_iter().chain([&*course_path, &student_path, &order_path, MARCH_SUMMARY]) {
        let first = key.get(path).await.assert_status(200);
        app.clock.advance(Duration::from_millis(1));
        let tag = first.header("etag");
        assert!(tag.starts_with("W/\"") && tag.ends_with('"') && tag.len() > 10, "{tag}");
        assert_eq!(key.get(path).await.header("etag"), tag, "{path}");
        assert_eq!(first.header("cache-control"), "private, no-cache");

        let strong_tag = tag.trim_start_matches("W/");
        let list = format!("\"x\", {tag}, \"y\"");
        for tags in [&[tag][..], &[strong_tag], &[&list], &["*"], &["\"x\"", tag], &["\"a,b\"", tag]] {
            let response = get_with_tags(&key, path, tags).await.assert_status(304);
            assert!(response.body.is_empty(), "{path}");
            assert_eq!(response.header("content-type"), "");
            assert_eq!(
                (response.header("etag"), response.header("cache-control")),
                (tag, "private, no-cache")
            );
            assert!(!response.header("x-request-id").is_empty());
        }
        for other_tag in
            ["", "\"x\"", "W/\"\"", "nonsense", strong_tag.trim_matches('"'), &strong_tag.to_lowercase()]
        {
            get_with_tags(&key, path, &[other_tag]).await.assert_status(200);
        }
        let head = key.request(Method::HEAD, path).header("if-none-match", tag);
        send(head).await.assert_status(304);
    }
}

#[tokio::test]
async fn a_summary_keeps_its_etag_until_a_figure_changes() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let first = key.get(MARCH_SUMMARY).await.assert_status(200);
    app.clock.advance(Duration::from_secs(1));
    // The time advances when the write that records the first request has ended.
    let has_advanced = async || {
        let next = key.get(MARCH_SUMMARY).await.assert_status(200);
        assert_eq!(next.header("etag"), first.header("etag"));
        next.json()["data_as_of"] != first.json()["data_as_of"]
    };
    wait_until("the summary is of a later time", has_advanced).await;

    workspace.student("ada").await;
    let third = get_with_tags(&key, MARCH_SUMMARY, &[first.header("etag")]).await.assert_status(200);
    assert_ne!(third.header("etag"), first.header("etag"));
    // The default window ends at the time of the request, so the ETag changes.
    let latest = key.get("/api/v1/analytics/summary").await.assert_status(200);
    app.clock.advance(Duration::from_secs(1));
    get_with_tags(&key, "/api/v1/analytics/summary", &[latest.header("etag")]).await.assert_status(200);
}

#[tokio::test]
async fn a_304_counts_against_the_limit() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_default_quota("read:courses").await;
    let first = key.get(COURSES).await.assert_status(200);
    let repeat = get_with_tags(&key, COURSES, &[first.header("etag")]).await.assert_status(304);
    assert_eq!((first.header("x-ratelimit-remaining"), repeat.header("x-ratelimit-remaining")), ("59", "58"));
}

#[tokio::test]
async fn a_change_changes_the_etag() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    let course_path = format!("{COURSES}/{}", workspace.course("rust", 2).await);
    let before = [key.get(COURSES).await, key.get(&course_path).await]
        .map(|response| response.header("etag").to_owned());

    let mut renamed = course_data("rust", "published", 2);
    renamed["title"] = "Rust, again".into();
    workspace.change("course.upsert", renamed).await;
    for (path, tag) in [COURSES, &course_path].into_iter().zip(&before) {
        let response = get_with_tags(&key, path, &[tag]).await.assert_status(200);
        assert_ne!(response.header("etag"), tag);
    }
    // Another page of the same list and another workspace's list have other ETags.
    workspace.course("ink", 1).await;
    let pages = [key.get("/api/v1/courses?limit=1").await, key.get("/api/v1/courses?limit=2").await];
    assert_ne!(pages[0].header("etag"), pages[1].header("etag"));
    let other = app.workspace("globex").await.key_with_all_scopes().await;
    get_with_tags(&other, COURSES, &[pages[1].header("etag")]).await.assert_status(200);
}

#[tokio::test]
async fn a_response_without_etag_must_not_be_stored() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let ada = serde_json::json!({"email": "ada@example.com"});

    let without_key = send(app.request(Method::GET, COURSES).header("if-none-match", "*")).await;
    let responses = [
        (key.post("/api/v1/students", ada.clone()).await, 201),
        (key.post("/api/v1/students", ada).await, 422),
        (get_with_tags(&key, "/api/v1/nothing", &["*"]).await, 404),
        (get_with_tags(&key, "/api/v1/courses?limit=0", &["*"]).await, 422),
        (without_key, 401),
    ];
    for (response, status) in responses {
        let response = response.assert_status(status);
        assert_eq!((response.header("etag"), response.header("cache-control")), ("", "private, no-store"));
    }
}

/// Sends a GET request with this `Accept-Encoding`, and returns the response without decoding its body.
async fn get_encoded(app: &TestApp, key: &TestKey, path: &str, accept: &str) -> TestResponse {
    let secret = &key.secret;
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {secret}\r\nConnection: close\r\n"
    );
    app.send_raw(format!("{head}Accept-Encoding: {accept}\r\n\r\n")).await.assert_status(200)
}

#[tokio::test]
async fn a_large_response_is_compressed_as_requested() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let key = workspace.key_with_all_scopes().await;
    for n in 0..10 {
        workspace.student(&format!("s{n}")).await;
    }
    let path = "/api/v1/students";
    let plain = key.get(path).await;
    assert!(plain.body.len() > 2_000);
    assert_eq!((plain.header("vary"), plain.header("content-encoding")), ("accept-encoding", ""));

    let decoding_client = client_builder().build().unwrap();
    for (coding, magic) in [("gzip", &b"\x1f\x8b"[..]), ("br", &[]), ("zstd", b"\x28\xb5\x2f\xfd")] {
        let compressed = get_encoded(&app, &key, path, coding).await;
        assert_eq!(compressed.header("content-encoding"), coding);
        assert!(
            compressed.body.len() < plain.body.len() / 2 && compressed.body.starts_with(magic),
            "{coding}"
        );
        assert_eq!(compressed.header("content-length"), compressed.body.len().to_string());
        assert_eq!(
            (compressed.header("vary"), compressed.header("etag")),
            ("accept-encoding", plain.header("etag"))
        );

        let request = decoding_client.get(format!("{}{path}", app.base_url)).bearer_auth(&key.secret);
        let decoded = send(request.header("accept-encoding", coding)).await;
        assert_eq!(decoded.body, plain.body, "{coding}");
    }
    let preferred = [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0.1", "gzip"),
        ("*", "zstd"),
        ("identity", ""),
        ("gzip;q=0", ""),
        ("deflate", ""),
        ("", ""),
        ("nonsense;;q=,", ""),
    ];
    for (accept, coding) in preferred {
        assert_eq!(
            get_encoded(&app, &key, path, accept).await.header("content-encoding"),
            coding,
            "{accept:?}"
        );
    }
}

#[tokio::test]
async fn a_small_response_is_not_compressed() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let response = get_encoded(&app, &key, COURSES, "gzip, br, zstd").await;
    assert_eq!((response.header("content-encoding"), response.header("vary")), ("", "accept-encoding"));
    assert_eq!(response.json()["data"], serde_json::json!([]));
}

#[tokio::test]
async fn a_valid_request_id_is_echoed_and_an_invalid_one_replaced() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let send_with_ids = async |path: &str, ids: &[&str]| {
        let request = key.request(Method::GET, path);
        send(ids.iter().fold(request, |request, id| request.header("x-request-id", *id))).await
    };

    let longest = "x".repeat(128);
    for valid_id in ["a", "AZaz09._-", "req_01khx04p32f158jxbyqapkvfe0", &longest] {
        assert_eq!(send_with_ids(COURSES, &[valid_id]).await.header("x-request-id"), valid_id);
        let rejected = send_with_ids("/api/v1/nothing", &[valid_id]).await;
        assert_error(&rejected, 404, "not_found");
        assert_eq!(rejected.header("x-request-id"), valid_id);
    }
    let too_long = "x".repeat(129);
    for invalid_ids in
        [&[""][..], &["a b"], &["a/b"], &["a\"b"], &["<script>"], &[&too_long], &["one", "two"], &[]]
    {
        let response = send_with_ids(COURSES, invalid_ids).await.assert_status(200);
        let id = response.header("x-request-id");
        assert!(id.parse::<foundation::id::RequestId>().is_ok(), "{invalid_ids:?} were replaced by {id}");
    }
    assert_ne!(
        send_with_ids(COURSES, &[]).await.header("x-request-id"),
        send_with_ids(COURSES, &[]).await.header("x-request-id")
    );
}
