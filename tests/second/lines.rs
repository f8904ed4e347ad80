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

#[tokio::test]
async fn each_line_is_answered_before_the_next_one_is_sent_until_one_fails() {
    let server = TestServer::start().await;
    let mut connection = TcpStream::connect(server.address()).await.expect("the server accepts connections");
    let head = format!(
        "POST /api/v2/imports HTTP/1.1\r\nhost: api.test\r\nx-api-key: {}\r\ncontent-type: {NDJSON}\r\n\
         transfer-encoding: chunked\r\n\r\n",
        server.secret
    );
    connection.write_all(head.as_bytes()).await.expect("the connection is open");
    for line in 1..=3 {
        let note = format!("{{\"text\":\"n{line}\"}}\n");
        let chunk = format!("{:x}\r\n{note}\r\n", note.len());
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
