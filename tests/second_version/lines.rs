//! Request and response bodies that are streams of JSON lines.

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{TestServer, execute};

const NDJSON: &str = "application/x-ndjson";

#[tokio::test]
async fn a_stream_can_be_longer_than_other_bodies() {
    let server = TestServer::start().await;
    let count = api::middleware::MAX_BODY_BYTES / 16;
    let lines = "{\"text\": \"hello\"}\n".repeat(count);
    assert!(lines.len() > api::middleware::MAX_BODY_BYTES);
    let request = server.call(Method::POST, "/imports").header("content-type", NDJSON);
    let imported = execute(request.body(lines)).await;
    assert_eq!((imported.status, &*imported.headers["content-type"]), (200, NDJSON));
    assert_eq!(imported.headers["cache-control"], "private, no-store");
    for header in ["x-ratelimit-remaining", "x-request-id"] {
        assert!(imported.headers.contains_key(header), "{header}: {:?}", imported.headers);
    }
    let results: Vec<&[u8]> = imported.body.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(results.len(), count);
    let last: serde_json::Value = serde_json::from_slice(results[count - 1]).expect("JSON");
    assert_eq!(last, json!({ "line": count, "text": "HELLO" }));
}

#[tokio::test]
async fn a_stream_is_rejected_before_its_lines_are_read() {
    let server = TestServer::start().await;
    let request =
        || server.request(Method::POST, "/api/v2/imports").header("content-type", NDJSON).body("{}\n");
    assert_eq!(execute(request()).await.status, 401);
    let keyed = |content_type: &str| {
        server.call(Method::POST, "/imports").header("content-type", content_type).body("{}\n")
    };
    assert_eq!(execute(keyed("application/json")).await.status, 415);
    assert_eq!(
        execute(server.call(Method::POST, "/imports?x=1").header("content-type", NDJSON)).await.status,
        422
    );
}

/// Returns the head of a request whose body is sent in chunks. The connection is kept open after the response.
fn chunked_head(server: &TestServer) -> String {
    format!(
        "POST /api/v2/imports HTTP/1.1\r\nhost: api.test\r\nx-api-key: {}\r\ncontent-type: {NDJSON}\r\n\
         transfer-encoding: chunked\r\n\r\n",
        server.secret
    )
}

/// Returns lines as one chunk of a body.
fn chunk(lines: &str) -> String {
    format!("{:x}\r\n{lines}\r\n", lines.len())
}

#[tokio::test]
async fn each_line_is_answered_before_the_next_one_is_sent_until_one_fails() {
    let server = TestServer::start().await;
    let mut connection = TcpStream::connect(server.address()).await.expect("the server accepts connections");
    connection.write_all(chunked_head(&server).as_bytes()).await.expect("the connection is open");
    for line in 1..=3 {
        let chunk = chunk(&format!("{{\"text\":\"n{line}\"}}\n"));
        connection.write_all(chunk.as_bytes()).await.expect("the connection is open");
        let expected = format!("{{\"line\":{line},\"text\":\"N{line}\"}}\n\r\n");
        let mut response = String::new();
        while !response.ends_with(&expected) {
            let byte = connection.read_u8().await.unwrap_or_else(|error| panic!("{error} after {response}"));
            response.push(char::from(byte));
        }
    }
    connection.write_all(b"3\r\n{}\n\r\n0\r\n\r\n").await.expect("the connection is open");
    let mut rest = Vec::new();
    // The server can also reset the connection.
    let _ = connection.read_to_end(&mut rest).await;
    assert_eq!(String::from_utf8_lossy(&rest), "", "the body must not have its last chunk");
}

/// Sends these lines in one chunk and then a second request on the same connection. Returns what the server sends until
/// it closes the connection.
async fn responses_until_close(server: &TestServer, lines: &str) -> String {
    let mut connection = TcpStream::connect(server.address()).await.expect("the server accepts connections");
    let second = "GET /healthz HTTP/1.1\r\nhost: api.test\r\nconnection: close\r\n\r\n";
    let requests = format!("{}{}0\r\n\r\n{second}", chunked_head(server), chunk(lines));
    connection.write_all(requests.as_bytes()).await.expect("the connection is open");
    let mut responses = Vec::new();
    // The server can also reset the connection.
    let _ = connection.read_to_end(&mut responses).await;
    String::from_utf8(responses).expect("UTF-8")
}

#[tokio::test]
async fn a_stream_that_fails_never_looks_complete() {
    let server = TestServer::start().await;
    let valid = "{\"text\":\"a\"}\n";
    let complete = responses_until_close(&server, valid).await;
    assert!(complete.contains("\r\n0\r\n\r\nHTTP/1.1 200 OK"), "{complete}");
    for failing in ["{}\n", "{\"text\":\"panic\"}\n"] {
        for lines in [failing.to_owned(), format!("{valid}{failing}"), format!("{valid}{failing}{valid}")] {
            let response = responses_until_close(&server, &lines).await;
            assert!(!response.contains("\r\n0\r\n"), "{lines} {response}");
            assert!(response.matches("HTTP/1.1 ").count() <= 1, "{lines} {response}");
        }
    }
}

#[tokio::test]
async fn the_line_before_an_error_is_sent_if_both_are_ready() {
    let server = TestServer::start().await;
    let response = responses_until_close(&server, "{\"text\":\"a\"}\n{}\n").await;
    assert!(response.ends_with("{\"line\":1,\"text\":\"A\"}\n\r\n"), "{response}");
}
