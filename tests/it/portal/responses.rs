//! Headers, statuses and sizes of responses, and malformed input.

use std::collections::BTreeSet;

use reqwest::Method;

use super::{page_paths, text};
use crate::support::{TestApp, TestResponse, send};

/// Returns the response to a request for a compressed page.
async fn compressed(app: &TestApp, path: &str) -> TestResponse {
    send(app.request(Method::GET, path).header("accept-encoding", "br")).await.assert_status(200)
}

#[tokio::test]
async fn a_page_has_security_headers_and_is_revalidated() {
    let app = TestApp::start().await;
    for path in [
        "/docs",
        "/docs/",
        "/docs/authentication",
        "/docs/index.md",
        "/docs/search.json",
        "/docs/search?q=limit",
    ] {
        let page = app.get(path).await.assert_status(200);
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
        ] {
            assert_eq!(page.header(name), value, "{path}: {name}");
        }
        assert_eq!(page.header("cache-control"), "public, no-cache", "{path}");
        let current = app.request(Method::GET, path).header("if-none-match", page.header("etag"));
        assert!(send(current).await.assert_status(304).body.is_empty());
        let head = send(app.request(Method::HEAD, path)).await.assert_status(200);
        assert_eq!(
            (head.body.len(), head.header("content-length")),
            (0, &*page.body.len().to_string()),
            "{path}"
        );
        send(app.request(Method::POST, path)).await.assert_status(405);
    }
    assert_eq!(app.get("/docs").await.body, app.get("/docs/").await.body);
}

#[tokio::test]
async fn the_markdown_of_a_page_has_its_media_type() {
    let app = TestApp::start().await;
    for (path, media_type) in
        [("/docs/pagination.md", "text/markdown; charset=utf-8"), ("/llms.txt", "text/plain; charset=utf-8")]
    {
        assert_eq!(app.get(path).await.assert_status(200).header("content-type"), media_type, "{path}");
    }
}

#[tokio::test]
async fn a_static_file_is_cached_for_a_year() {
    let app = TestApp::start().await;
    let home = text(&app, "/docs").await;
    let style = regex::Regex::new("/docs/static/[0-9a-f]{16}/portal.css").expect("a pattern");
    let path = style.find(&home).expect("the style sheet").as_str();
    let file = app.get(path).await.assert_status(200);
    assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    for absent in [path.replace("portal.css", "lib.rs"), path.replace("/docs/static/", "/docs/static/0")] {
        app.get(&absent).await.assert_status(404);
    }
}

#[tokio::test]
async fn an_unknown_page_is_a_page_with_a_search() {
    let app = TestApp::start().await;
    for path in [
        "/docs/nothing",
        "/docs/events/no.type",
        "/docs/objects/Nothing",
        "/docs/operations/getNothing",
        "/docs/a.md",
    ] {
        let page = app.get(path).await.assert_status(404);
        let html = String::from_utf8(page.body).expect("UTF-8");
        assert!(html.contains("Page not found") && html.contains("id=\"search\""), "{path}");
        assert!(html.contains("noindex") && html.contains("/docs/authentication"), "{path}");
    }
    let unknown = String::from_utf8(app.get("/docs/zzzzzzzz").await.assert_status(404).body).expect("UTF-8");
    let (_, results) = unknown.split_once("<ul class=\"found\">").expect("results");
    assert!(results.contains("href=\"/docs/pagination\""), "{results}");
    let similar =
        String::from_utf8(app.get("/docs/events/student").await.assert_status(404).body).expect("UTF-8");
    assert!(similar.contains("href=\"/docs/events/student.created\""), "{similar}");
    for path in ["/docs/%2e%2e/%2e%2e/Cargo.toml", "/docs/%00", "/docs/%ff", "/docs/<script>"] {
        let page = app.get(path).await;
        assert!(matches!(page.status, 400 | 404), "{path}");
        assert!(!String::from_utf8_lossy(&page.body).contains("<script>"), "{path}");
    }
}

#[tokio::test]
async fn pages_are_small() {
    let app = TestApp::start().await;
    let home = text(&app, "/docs").await;
    let mut first = compressed(&app, "/docs").await.body.len();
    let file = regex::Regex::new("\"(/docs/static/[^\"]+\\.[a-z]+)\"").expect("a pattern");
    let import = regex::Regex::new("(?:from ?|import\\()\"\\./([^\"]+)\"").expect("a pattern");
    let mut files: BTreeSet<String> = file.captures_iter(&home).map(|found| found[1].to_owned()).collect();
    let mut waiting: Vec<String> = files.iter().cloned().collect();
    while let Some(path) = waiting.pop() {
        let script = app.get(&path).await.assert_status(200).body;
        let script = String::from_utf8_lossy(&script);
        first += compressed(&app, &path).await.body.len();
        let folder = path.rsplit_once('/').expect("a folder").0;
        let imports = import.captures_iter(&script).map(|found| format!("{folder}/{}", &found[1]));
        waiting.extend(imports.filter(|path| files.insert(path.clone())));
    }
    assert!(first < 60_000, "the first page has {first} bytes");
    for path in page_paths(&app).await {
        let size = compressed(&app, &path).await.body.len();
        assert!(size < 20_000, "{path} has {size} bytes");
    }
}
