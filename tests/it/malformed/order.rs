//! A malformed request after others on the same connection: their responses come first, whole and in order.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::conformance::assert_error;
use crate::support::TestApp;

const BROKEN: &str = "GET /api/v1/courses HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";

#[tokio::test]
async fn a_malformed_request_is_answered_after_those_before_it() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let get = |path: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\n\r\n", key.secret)
    };
    let body = r#"{"email": "ada@example.com"}"#;
    let post = format!(
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        key.secret,
        body.len()
    );
    let chunked = format!(
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        key.secret,
        body.len()
    );
    let requests =
        [get("/openapi/v1.json"), post, get("/api/v1/courses"), chunked, BROKEN.to_owned(), get("/")];
    let bytes = requests.concat();
    // However the bytes are cut.
    for size in [bytes.len(), 1_000, 37] {
        let received = app.exchange_in_pieces(bytes.as_bytes(), size).await;
        let statuses: Vec<u16> = received.answers.iter().map(|answer| answer.status).collect();
        let made = if size == bytes.len() { 201 } else { 422 };
        assert_eq!(statuses, [200, made, 200, 422, 400], "pieces of {size} bytes");
        assert!(received.is_closed);
        let contract: &[u8] = include_bytes!("../../../src/api/generated/v1.json");
        assert!(received.answers[0].body == contract, "the first body is whole");
        assert_error(&received.answers[4], 400, "invalid_request");
    }
}

#[tokio::test]
async fn a_malformed_request_waits_for_the_response_that_is_being_made() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let body = r#"{"email": "ada@example.com"}"#;
    // The write that the first request needs is held open until both requests have arrived.
    let write = app.write().await;
    let mut stream = TcpStream::connect(app.base.trim_start_matches("http://")).await.unwrap();
    let post = format!(
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}{BROKEN}",
        key.secret,
        body.len()
    );
    stream.write_all(post.as_bytes()).await.unwrap();
    write.commit().await.unwrap();
    let mut bytes = Vec::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (made, refused) = (text.find("HTTP/1.1 201 ").unwrap(), text.find("HTTP/1.1 400 ").unwrap());
    assert!(made < refused, "{text}");
}

#[tokio::test]
async fn a_smuggled_request_is_never_served() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.full_key().await;
    let inner = format!(
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 28\r\n\r\n{}",
        key.secret, r#"{"email": "eve@example.com"}"#
    );
    for headers in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: gzip, chunked",
        "Content-Length: 4\r\nContent-Length: 0",
        "Content-Length: 0\r\nContent-Length: 4",
        "Content-Length : 4",
        "X: y\rContent-Length: 4",
        "X: y\nTransfer-Encoding: chunked",
        "X: y\r\n Transfer-Encoding: chunked",
    ] {
        let request =
            format!("POST /api/v1/students HTTP/1.1\r\nHost: api\r\n{headers}\r\n\r\n0\r\n\r\n{inner}");
        let received = app.exchange(request.as_bytes(), false).await;
        assert_eq!(received.answers.len(), 1, "{headers:?}");
        assert!(received.is_closed && received.answers[0].status >= 400, "{headers:?}");
    }
    assert_eq!(app.events_of("student.created").await.len(), 0);
}
