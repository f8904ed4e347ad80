//! A malformed request after valid requests on the same connection: the responses to the valid requests are complete
//! and in order.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::TestApp;
use crate::support::conformance::assert_error;

const MALFORMED: &str = "GET /api/v1/courses HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n";

#[tokio::test]
async fn a_malformed_request_is_answered_after_earlier_requests() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
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
        [get("/openapi/v1.json"), post, get("/api/v1/courses"), chunked, MALFORMED.to_owned(), get("/")];
    let bytes = requests.concat();
    // The result is the same for any division of the bytes into pieces.
    for size in [bytes.len(), 1_000, 37] {
        let received = app.exchange_in_pieces(bytes.as_bytes(), size).await;
        let statuses: Vec<u16> = received.responses.iter().map(|response| response.status).collect();
        // Only the first run creates the student; later runs use the same email address.
        let expected_status = if size == bytes.len() { 201 } else { 422 };
        assert_eq!(statuses, [200, expected_status, 200, 422, 400], "pieces of {size} bytes");
        assert!(received.is_closed);
        let contract: &[u8] = include_bytes!("../../../src/api/generated/v1.json");
        assert!(received.responses[0].body == contract, "the first body is complete");
        assert_error(&received.responses[4], 400, "invalid_request");
    }
}

#[tokio::test]
async fn a_malformed_request_waits_for_a_pending_response() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let body = r#"{"email": "ada@example.com"}"#;
    // The write that the first request needs is blocked until both requests are sent.
    let write = app.begin_write().await;
    let mut stream = TcpStream::connect(app.base_url.trim_start_matches("http://")).await.unwrap();
    let post = format!(
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}{MALFORMED}",
        key.secret,
        body.len()
    );
    stream.write_all(post.as_bytes()).await.unwrap();
    write.commit().await.unwrap();
    let mut bytes = Vec::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (created, rejected) = (text.find("HTTP/1.1 201 ").unwrap(), text.find("HTTP/1.1 400 ").unwrap());
    assert!(created < rejected, "{text}");
}

#[tokio::test]
async fn a_smuggled_request_is_never_served() {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key_with_all_scopes().await;
    let smuggled = format!(
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
            format!("POST /api/v1/students HTTP/1.1\r\nHost: api\r\n{headers}\r\n\r\n0\r\n\r\n{smuggled}");
        let received = app.exchange(request.as_bytes(), false).await;
        assert_eq!(received.responses.len(), 1, "{headers:?}");
        assert!(received.is_closed && received.responses[0].status >= 400, "{headers:?}");
    }
    assert_eq!(app.events_of_type("student.created").await.len(), 0);
}
