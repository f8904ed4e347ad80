//! Malformed HTTP requests: each gets the documented response with all headers, and its connection is closed.

mod order;
mod random;
mod table;

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use insta::assert_snapshot;

use crate::support::conformance::assert_error;
use crate::support::{RawExchange, TestApp, TestResponse};
use table::{MalformedRequest, ServerPart};

/// Asserts the properties of every response to a malformed request, for any part of the server. Returns the response.
#[track_caller]
fn assert_rejected(received: &RawExchange, case: &MalformedRequest) -> TestResponse {
    let label =
        format!("{} {}", case.name, String::from_utf8_lossy(&case.bytes[..case.bytes.len().min(200)]));
    assert!(received.is_closed, "the connection is closed: {label}");
    let [response] = received.responses.as_slice() else {
        panic!("{} responses instead of one: {label}", received.responses.len());
    };
    assert_eq!(response.status, case.status, "{label}: {}", String::from_utf8_lossy(&response.body));
    assert_eq!(response.headers.get_all("x-request-id").iter().count(), 1, "{label}");
    assert!(!response.header("date").is_empty(), "{label}");
    if received.version == "HTTP/1.1" {
        assert_eq!(response.header("connection"), "close", "{label}");
    }
    assert_eq!(response.header("content-length"), response.body.len().to_string(), "{label}");
    let (media_type, cache) = match case.server_part {
        ServerPart::Api => ("application/json", "private, no-store"),
        ServerPart::Pages => ("text/plain; charset=utf-8", "no-store"),
    };
    assert_eq!(
        (response.header("content-type"), response.header("cache-control")),
        (media_type, cache),
        "{label}"
    );
    let message = match case.server_part {
        ServerPart::Api => assert_error(response, case.status, "invalid_request"),
        ServerPart::Pages => String::from_utf8(response.body.clone()).expect("plain text"),
    };
    assert!(message.len() > 20 && message.len() < 200 && !message.contains(['\r', '\0']), "{message:?}");
    response.clone()
}

#[tokio::test]
async fn every_malformed_request_gets_the_documented_response() {
    let app = TestApp::start_with(&[("default_per_minute", "100000"), ("default_per_day", "100000")]).await;
    let cases = table::cases();
    assert!(cases.len() >= 400, "{} cases", cases.len());
    let (mut responses, mut failed_cases) = (String::new(), 0);
    for case in &cases {
        let exchanged = AssertUnwindSafe(app.exchange(&case.bytes, case.is_truncated)).catch_unwind().await;
        let checked = exchanged.and_then(|received| catch_unwind(|| assert_rejected(&received, case)));
        let Ok(response) = checked else {
            failed_cases += 1;
            continue;
        };
        let code = match case.server_part {
            ServerPart::Api => response.code(),
            ServerPart::Pages => "text".to_owned(),
        };
        writeln!(responses, "{} → {} {code}", case.name, response.status)
            .expect("writing to a string succeeds");
    }
    assert_eq!(failed_cases, 0, "of {} malformed requests", cases.len());
    assert_snapshot!(responses);
    app.get("/healthz").await.assert_status(200);
}

#[tokio::test]
async fn a_malformed_request_counts_against_its_address_and_keeps_its_request_id() {
    let app = TestApp::start_with(&[("trusted_proxies", "127.0.0.1")]).await;
    let request_of = |client: &str| {
        format!(
            "GET /api/v1/courses HTTP/1.1\r\nX-Request-Id: mine-{client}\r\nX-Forwarded-For: {client}\r\nbroken\r\n\r\n"
        )
    };
    for expected_remaining in [59, 58, 57] {
        let received = app.exchange(request_of("192.0.2.1").as_bytes(), false).await;
        let response = &received.responses[0];
        assert_error(response, 400, "invalid_request");
        assert_eq!(response.header("x-request-id"), "mine-192.0.2.1");
        assert_eq!(response.header("x-ratelimit-remaining"), expected_remaining.to_string());
    }
    let other = app.exchange(request_of("192.0.2.2").as_bytes(), false).await;
    assert_eq!(other.responses[0].header("x-ratelimit-remaining"), "59");
    // If the limit is exhausted, only the headers differ.
    for _ in 0..60 {
        app.exchange(request_of("192.0.2.1").as_bytes(), false).await;
    }
    let exhausted = app.exchange(request_of("192.0.2.1").as_bytes(), false).await;
    assert_error(&exhausted.responses[0], 400, "invalid_request");
    assert_eq!(exhausted.responses[0].header("x-ratelimit-remaining"), "0");
}

#[tokio::test]
async fn the_response_to_a_malformed_head_request_has_no_body() {
    let app = TestApp::start().await;
    for path in ["/api/v1/courses", "/docs/"] {
        let request = format!("HEAD {path} HTTP/1.1\r\n\r\n");
        let (bytes, is_closed) = app.exchange_bytes(request.as_bytes(), false).await;
        let text = String::from_utf8(bytes).expect("a head");
        assert!(is_closed && text.starts_with("HTTP/1.1 400 ") && text.ends_with("\r\n\r\n"), "{text}");
        assert!(text.contains("x-request-id: ") && text.matches("\r\n\r\n").count() == 1, "{text}");
    }
}

#[tokio::test]
async fn unusual_but_well_formed_requests_are_served() {
    let app = TestApp::start_with(&[("default_per_minute", "100000")]).await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let authorized = format!("Authorization: Bearer {}\r\n", key.secret);
    let request = |line: &str, headers: &str| format!("{line}\r\n{headers}{authorized}\r\n");
    let valid_requests = [
        request("GET /api/v1/courses HTTP/1.0", ""),
        request("GET /api/v1/courses HTTP/1.0", "Host: api\r\nConnection: close\r\n"),
        request("\r\n\r\nGET /api/v1/courses HTTP/1.1", "Host: api\r\nConnection: close\r\n"),
        request(
            "GET http://api.test:80/api/v1/courses HTTP/1.1",
            "Host: API.test:80\r\nConnection: close\r\n",
        ),
        request(
            "GET https://[::1]:8080/api/v1/courses HTTP/1.1",
            "Host: [::1]:8080\r\nConnection: close\r\n",
        ),
        request("GET /api/v1/courses HTTP/1.1", "hOsT:\t api \t\r\nCONNECTION:close\r\n"),
        request("GET /api/v1/courses HTTP/1.1", "Host: a%20b_c:\r\nX-Empty:\r\nConnection: close\r\n"),
        request(
            "GET /api/v1/courses? HTTP/1.1",
            "Host: 127.0.0.1\r\nX-Latin: \u{e9}\r\nConnection: close\r\n",
        ),
        request("GET /api/v1/courses HTTP/1.1", "Host: api\r\nContent-Length: 0\r\nConnection: close\r\n"),
        format!(
            "{}2;x=\"y\"\r\nab\r\n0\r\nTrailer: x\r\n\r\n",
            request(
                "GET /api/v1/courses HTTP/1.1",
                "Host: api\r\nTransfer-Encoding:  Chunked \r\nConnection: close\r\n"
            )
        ),
    ];
    for request in valid_requests {
        let received = app.exchange(request.as_bytes(), false).await;
        assert_eq!(received.responses.len(), 1, "{request}");
        assert_eq!(received.responses[0].status, 200, "{request}\n{:?}", received.responses[0]);
    }
}
