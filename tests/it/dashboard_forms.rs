//! The protection of forms and pages: CSRF tokens, origins, sessions, security headers, escaping, and limits on input.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::browser::{csrf_token, html};
use crate::support::{Browser, TestApp, send};

const KEYS: &str = "/dashboard/developer";
const NEW: &str = "/dashboard/developer/keys/new";
/// The fields of a valid form for a new API key.
const FIELDS: [(&str, &str); 3] = [("name", "CRM"), ("scopes", "read:courses"), ("expires", "")];

/// Returns the number of API keys of the workspace `acme`.
async fn key_count(app: &TestApp) -> u64 {
    let id = app.workspace("acme").await.id;
    entity::api_keys::in_workspace(id.uuid()).count(app.app.db.read()).await.unwrap()
}

#[tokio::test]
async fn a_form_without_a_valid_token_is_rejected() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let visitor_token = csrf_token(&Browser::new(&app).get("/login").await);
    for token in ["", "AAAA", visitor_token.as_str()] {
        let rejected = browser.post(NEW, token, &FIELDS).await.assert_status(403);
        assert!(html(&rejected).contains("Form rejected"));
    }
    assert_eq!(key_count(&app).await, 0);
    browser.submit(NEW, NEW, &FIELDS).await.assert_status(200);
    assert_eq!(key_count(&app).await, 1);
}

#[tokio::test]
async fn a_form_from_another_site_is_rejected_even_with_a_valid_token() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let token = csrf_token(&browser.get(NEW).await);
    let foreign = [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ];
    for (name, value) in foreign {
        browser.send(browser.form(NEW, &token, &FIELDS).header(name, value)).await.assert_status(403);
    }
    assert_eq!(key_count(&app).await, 0);
    // Browsers send this origin from pages with the policy `no-referrer`, such as those of the dashboard.
    let same_origin = browser.form(NEW, &token, &FIELDS).header("origin", "null");
    browser.send(same_origin.header("sec-fetch-site", "same-origin")).await.assert_status(200);
    // An old browser sends only the origin.
    let token = csrf_token(&browser.get(NEW).await);
    browser.send(browser.form(NEW, &token, &FIELDS).header("origin", &app.base_url)).await.assert_status(200);
    assert_eq!(key_count(&app).await, 2);
}

#[tokio::test]
async fn a_browser_without_cookies_gets_an_explanation() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    // Over http to another machine, browsers send no `Sec-Fetch-Site`.
    let form =
        || browser.form("/login", "AAAA", &[]).header("host", "192.0.2.7:8080").header("origin", "null");
    let rejected = html(&send(form()).await.assert_status(403));
    assert!(
        rejected.contains("Your browser sent no cookie with this form") && rejected.contains("--public-url"),
        "{rejected}"
    );
    // Over https, a missing cookie has other causes: the page was open for a long time, or another site sent the form.
    for site in ["same-origin", "cross-site"] {
        let rejected = html(&send(form().header("sec-fetch-site", site)).await.assert_status(403));
        assert!(rejected.contains("Form rejected"), "{site}: {rejected}");
    }
    let visitor = html(&send(form().header("cookie", "__Host-visitor=AAAA")).await.assert_status(403));
    assert!(visitor.contains("Form rejected"), "{visitor}");
}

#[tokio::test]
async fn an_aborted_form_gets_an_error_and_closes_the_connection() {
    let app = TestApp::start().await;
    let mut stream = TcpStream::connect(app.base_url.trim_start_matches("http://")).await.unwrap();
    let incomplete_request =
        "POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nemail=ada";
    stream.write_all(incomplete_request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(
        response.starts_with("HTTP/1.1 408 ") && response.contains("\r\nconnection: close\r\n"),
        "{response}"
    );
    assert!(response.contains("Form incomplete"), "{response}");
}

#[tokio::test]
async fn a_form_sent_again_after_signing_out_changes_nothing() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let session = browser.cookie("session").unwrap();
    let token = csrf_token(&browser.get(NEW).await);
    browser.submit(KEYS, "/logout", &[]).await.assert_status(303);
    let ended = browser.post(NEW, &token, &FIELDS).await.assert_status(403);
    assert!(html(&ended).contains("Your session has ended"));
    browser.set_cookie("session", &session);
    browser.post(NEW, &token, &FIELDS).await.assert_status(403);
    browser.post("/logout", &token, &[]).await.assert_status(403);
    // The token is not valid for the next session of the same browser, either.
    browser.sign_in("owner@acme.example", crate::support::browser::PASSWORD).await.assert_status(303);
    browser.post(NEW, &token, &FIELDS).await.assert_status(403);
    assert_eq!(key_count(&app).await, 0);
}

#[tokio::test]
async fn a_form_is_rejected_if_its_session_ends_before_it_arrives() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let (browser, phone) = (acme.owner_browser().await, Browser::new(&app));
    phone.sign_in("owner@acme.example", crate::support::browser::PASSWORD).await.assert_status(303);
    let (token, session) = (csrf_token(&browser.get(NEW).await), browser.cookie("session").unwrap());
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("csrf", &token)
        .extend_pairs(FIELDS)
        .finish();
    // After a minute, the server updates the session's last use, which shows that it has loaded the session.
    app.clock.advance(Duration::from_secs(61));
    let mut stream = TcpStream::connect(app.base_url.trim_start_matches("http://")).await.unwrap();
    let length = form.len();
    let head = format!(
        "POST {NEW} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: session={session}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n"
    );
    let (beginning, end) = form.split_at(20);
    stream.write_all(format!("{head}{beginning}").as_bytes()).await.unwrap();
    let is_session_loaded = async || {
        let row = entity::sessions::by_token_hash(app.app.db.read(), &Sha256::digest(&session).into()).await;
        row.unwrap().expect("the session exists").seen_at == app.clock.now_ms()
    };
    while !is_session_loaded().await {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let end_others = "/dashboard/settings/sessions/end-others";
    phone.submit("/dashboard/settings", end_others, &[]).await.assert_status(303);

    stream.write_all(end.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(
        response.starts_with("HTTP/1.1 403 ") && response.contains("Your session has ended"),
        "{response}"
    );
    assert_eq!(key_count(&app).await, 0);
}

#[tokio::test]
async fn a_page_answers_an_unsupported_method_with_the_allowed_methods() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let end_others = "/dashboard/settings/sessions/end-others";
    for (method, path, allow) in [
        (Method::PUT, KEYS, "GET, HEAD"),
        (Method::DELETE, NEW, "GET, HEAD, POST"),
        (Method::GET, end_others, "POST"),
        (Method::HEAD, end_others, "POST"),
    ] {
        let response = browser.send(app.request(method.clone(), path)).await.assert_status(405);
        assert_eq!(response.header("allow"), allow, "{method} {path}");
    }
    let token = csrf_token(&browser.get(NEW).await);
    let response = browser.post(KEYS, &token, &[]).await.assert_status(405);
    assert_eq!(response.header("allow"), "GET, HEAD");
    browser.send(app.request(Method::PUT, "/dashboard/nothing")).await.assert_status(404);
}

#[tokio::test]
async fn every_page_has_security_headers() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let guest = Browser::new(&app);
    let mut pages = vec![
        guest.get("/login").await.assert_status(200),
        guest.get("/set-password").await.assert_status(404),
        guest.get("/dashboard").await.assert_status(303),
        guest.post("/login", "", &[]).await.assert_status(403),
        browser.send(app.request(Method::PUT, KEYS)).await.assert_status(405),
        browser
            .post("/dashboard/settings", &csrf_token(&browser.get(NEW).await), &[])
            .await
            .assert_status(405),
    ];
    for (path, status) in [
        ("/dashboard", 200),
        ("/dashboard?days=7&days=90", 200),
        (KEYS, 200),
        (NEW, 200),
        ("/dashboard/settings", 200),
        ("/dashboard/settings/audit", 200),
        ("/dashboard/settings/audit?after=nonsense", 200),
        ("/dashboard/settings/audit?after=1&after=2", 200),
        ("/set-password?token=a&token=b", 303),
        ("/dashboard/developer/webhooks", 200),
        ("/dashboard/developer/webhooks/new", 200),
        ("/dashboard/developer/webhooks/dead-letters", 200),
        ("/dashboard/developer/webhooks/dead-letters?from=never", 422),
        ("/dashboard/developer/webhooks/dead-letters/replay", 303),
        ("/dashboard/nothing", 404),
        ("/logout", 200),
    ] {
        pages.push(browser.get(path).await.assert_status(status));
    }
    let (subscription_id, _) = app.workspace("acme").await.subscribe(&["order.paid"]).await;
    let webhook = format!("/dashboard/developer/webhooks/{subscription_id}");
    for action in ["", "/edit", "/rotate", "/delete"] {
        pages.push(browser.get(&format!("{webhook}{action}")).await.assert_status(200));
    }
    let rotate = format!("{webhook}/rotate");
    pages.push(browser.submit(&rotate, &rotate, &[("overlap", "24")]).await.assert_status(200));
    pages.push(browser.submit(&webhook, &format!("{webhook}/pause"), &[]).await.assert_status(303));
    pages.push(browser.get(&format!("{webhook}/enable")).await.assert_status(200));
    for page in pages {
        let policy = page.header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert_eq!(page.header("cache-control"), "no-store");
        let text = String::from_utf8_lossy(&page.body).into_owned();
        for inline in ["style=", "<style", "onclick", "javascript:", "<script>"] {
            assert!(!text.contains(inline), "{inline}: {text}");
        }
    }
}

#[tokio::test]
async fn static_files_are_cached_for_a_year_under_their_digest() {
    let app = TestApp::start().await;
    let page = html(&app.get("/login").await);
    let file_path = regex::Regex::new("/dashboard/static/[0-9a-f]{16}/[a-z.]+").unwrap();
    let files: Vec<&str> = file_path.find_iter(&page).map(|file| file.as_str()).collect();
    assert_eq!(files.len(), 5, "{page}");
    let mut bytes = 0;
    for file in files {
        let compressed = send(app.request(Method::GET, file).header("accept-encoding", "br")).await;
        assert_eq!(
            compressed.assert_status(200).header("cache-control"),
            "public, max-age=31536000, immutable"
        );
        let compressed = send(app.request(Method::GET, file).header("accept-encoding", "br")).await;
        bytes += compressed.body.len();
        app.get(&file.replace("/static/", "/static/0")).await.assert_status(404);
    }
    assert!(bytes < 55_000, "the first page loads {bytes} bytes of files");
}

#[tokio::test]
async fn user_input_is_escaped() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let name = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    let fields = [("name", name), ("scopes", "read:courses"), ("expires", "")];
    browser.submit(NEW, NEW, &fields).await.assert_status(200);
    for path in [KEYS, "/dashboard/settings/audit"] {
        let page = html(&browser.get(path).await);
        assert!(
            page.contains("alert(1)") && !page.contains("<script>alert") && !page.contains("<img"),
            "{page}"
        );
    }
    let sign_in_page = browser.send(app.request(Method::GET, "/login?next=%22%3E%3Cscript%3E")).await;
    assert!(!String::from_utf8_lossy(&sign_in_page.body).contains("\"><script>"));
    let rejected = Browser::new(&app).sign_in("\"><script>alert(2)</script>", "x").await.assert_status(422);
    assert!(!html(&rejected).contains("<script>alert"));
}

#[tokio::test]
async fn overlong_input_gets_an_error_message() {
    let app = TestApp::start().await;
    let browser = app.workspace("acme").await.owner_browser().await;
    let long = "ä".repeat(10_000);
    let fields = [("name", &*long), ("scopes", "read:courses"), ("expires", "")];
    let rejected = browser.submit(NEW, NEW, &fields).await.assert_status(422);
    let page = html(&rejected);
    assert!(page.contains("Name must have 1 to 200 characters.") && page.contains("aria-invalid"), "{page}");
    let huge = "a".repeat(300_000);
    browser.submit(NEW, NEW, &[("name", &huge)]).await.assert_status(413);
    assert_eq!(key_count(&app).await, 0);
    Browser::new(&app).sign_in(&long, &long).await.assert_status(422);
}

#[tokio::test]
async fn no_search_text_causes_a_server_error() {
    let app = TestApp::start().await;
    let workspace = app.workspace("acme").await;
    let browser = workspace.owner_browser().await;
    // Without rows, nothing would be searched.
    workspace.course("ink", 1).await;
    workspace.student("ada").await;
    let items = [json!({"course": "ink", "unit_amount": 100})];
    let order = json!({"key": "o1", "number": "1", "student": "ada", "currency": "EUR", "items": items});
    workspace.change("order.pay", order).await;
    // Texts up to the maximum length of a request head, and a character that the databases cannot store.
    for text in ["a".repeat(10_000), "a".repeat(60_000), "%25".repeat(4_000), "a%00b".to_owned()] {
        for list in ["courses", "students", "orders"] {
            let results = browser.get(&format!("/dashboard/{list}?q={text}")).await.assert_status(200);
            assert!(html(&results).contains("No matching "), "{list} {text:.20}");
        }
        for field in ["request", "operation", "key", "status"] {
            let path = format!("/dashboard/developer/logs?{field}={text}");
            browser.get(&path).await.assert_status(422);
        }
    }
    for email in ["a\0", "owner@acme.example"] {
        Browser::new(&app).sign_in(email, "a\0").await.assert_status(422);
    }
}
