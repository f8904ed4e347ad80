//! Requests that are not well-formed HTTP: each gets the response that the contract documents, with all headers, and
//! its connection is closed.

mod order;
mod random;
mod table;

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use insta::assert_snapshot;

use crate::conformance::assert_error;
use crate::support::{Answer, Received, TestApp};
use table::{Case, Place};

/// Asserts what every response to a malformed request has, whatever part of the server it names.
#[track_caller]
fn assert_refused(received: &Received, case: &Case) -> Answer {
    let what = format!("{} {}", case.name, String::from_utf8_lossy(&case.bytes[..case.bytes.len().min(200)]));
    assert!(received.is_closed, "the connection is closed: {what}");
    let [answer] = received.answers.as_slice() else {
        panic!("{} responses instead of one: {what}", received.answers.len());
    };
    assert_eq!(answer.status, case.status, "{what}: {}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.headers.get_all("x-request-id").iter().count(), 1, "{what}");
    assert!(!answer.header("date").is_empty(), "{what}");
    if received.version == "HTTP/1.1" {
        assert_eq!(answer.header("connection"), "close", "{what}");
    }
    assert_eq!(answer.header("content-length"), answer.body.len().to_string(), "{what}");
    let (media_type, cache) = match case.place {
        Place::Api => ("application/json", "private, no-store"),
        Place::Elsewhere => ("text/plain; charset=utf-8", "no-store"),
    };
    assert_eq!(
        (answer.header("content-type"), answer.header("cache-control")),
        (media_type, cache),
        "{what}"
    );
    let message = match case.place {
        Place::Api => assert_error(answer, case.status, "invalid_request"),
        Place::Elsewhere => String::from_utf8(answer.body.clone()).expect("plain text"),
    };
    assert!(message.len() > 20 && message.len() < 200 && !message.contains(['\r', '\0']), "{message:?}");
    answer.clone()
}

#[tokio::test]
async fn every_malformed_request_gets_the_documented_response() {
    let app = TestApp::start_with(&[("default_per_minute", "100000"), ("default_per_day", "100000")]).await;
    let cases = table::cases();
    assert!(cases.len() >= 400, "{} cases", cases.len());
    let (mut shown, mut faults) = (String::new(), 0);
    for case in &cases {
        let exchanged = AssertUnwindSafe(app.exchange(&case.bytes, case.is_truncated)).catch_unwind().await;
        let checked = exchanged.and_then(|received| catch_unwind(|| assert_refused(&received, case)));
        let Ok(answer) = checked else {
            faults += 1;
            continue;
        };
        let code = match case.place {
            Place::Api => answer.code(),
            Place::Elsewhere => "text".to_owned(),
        };
        writeln!(shown, "{} → {} {code}", case.name, answer.status).expect("a line");
    }
    assert_eq!(faults, 0, "of {} malformed requests", cases.len());
    assert_snapshot!(shown);
    app.get("/healthz").await.assert_status(200);
}

#[tokio::test]
async fn a_malformed_request_draws_on_the_bucket_of_its_address_and_keeps_its_id() {
    let app = TestApp::start_with(&[("trusted_proxies", "127.0.0.1")]).await;
    let sent = |client: &str| {
        format!(
            "GET /api/v1/courses HTTP/1.1\r\nX-Request-Id: mine-{client}\r\nX-Forwarded-For: {client}\r\nbroken\r\n\r\n"
        )
    };
    for left in [59, 58, 57] {
        let received = app.exchange(sent("192.0.2.1").as_bytes(), false).await;
        let answer = &received.answers[0];
        assert_error(answer, 400, "invalid_request");
        assert_eq!(answer.header("x-request-id"), "mine-192.0.2.1");
        assert_eq!(answer.header("x-ratelimit-remaining"), left.to_string());
    }
    let other = app.exchange(sent("192.0.2.2").as_bytes(), false).await;
    assert_eq!(other.answers[0].header("x-ratelimit-remaining"), "59");
    // An exhausted bucket changes the headers, not the answer.
    for _ in 0..60 {
        app.exchange(sent("192.0.2.1").as_bytes(), false).await;
    }
    let exhausted = app.exchange(sent("192.0.2.1").as_bytes(), false).await;
    assert_error(&exhausted.answers[0], 400, "invalid_request");
    assert_eq!(exhausted.answers[0].header("x-ratelimit-remaining"), "0");
}

#[tokio::test]
async fn the_answer_to_a_malformed_head_request_has_no_body() {
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
async fn unusual_requests_that_are_well_formed_are_served() {
    let app = TestApp::start_with(&[("default_per_minute", "100000")]).await;
    let key = app.workspace("acme").await.full_key().await;
    let authorized = format!("Authorization: Bearer {}\r\n", key.secret);
    let with = |line: &str, headers: &str| format!("{line}\r\n{headers}{authorized}\r\n");
    let served = [
        with("GET /api/v1/courses HTTP/1.0", ""),
        with("GET /api/v1/courses HTTP/1.0", "Host: api\r\nConnection: close\r\n"),
        with("\r\n\r\nGET /api/v1/courses HTTP/1.1", "Host: api\r\nConnection: close\r\n"),
        with("GET http://api.test:80/api/v1/courses HTTP/1.1", "Host: API.test:80\r\nConnection: close\r\n"),
        with("GET https://[::1]:8080/api/v1/courses HTTP/1.1", "Host: [::1]:8080\r\nConnection: close\r\n"),
        with("GET /api/v1/courses HTTP/1.1", "hOsT:\t api \t\r\nCONNECTION:close\r\n"),
        with("GET /api/v1/courses HTTP/1.1", "Host: a%20b_c:\r\nX-Empty:\r\nConnection: close\r\n"),
        with("GET /api/v1/courses? HTTP/1.1", "Host: 127.0.0.1\r\nX-Latin: \u{e9}\r\nConnection: close\r\n"),
        with("GET /api/v1/courses HTTP/1.1", "Host: api\r\nContent-Length: 0\r\nConnection: close\r\n"),
        format!(
            "{}2;x=\"y\"\r\nab\r\n0\r\nTrailer: x\r\n\r\n",
            with(
                "GET /api/v1/courses HTTP/1.1",
                "Host: api\r\nTransfer-Encoding:  Chunked \r\nConnection: close\r\n"
            )
        ),
    ];
    for request in served {
        let received = app.exchange(request.as_bytes(), false).await;
        assert_eq!(received.answers.len(), 1, "{request}");
        assert_eq!(received.answers[0].status, 200, "{request}\n{:?}", received.answers[0]);
    }
}
