//! Tests of bodies that are streams of JSON lines.

use contract_runtime::payload::{MAX_LINE_BYTES, Streamed};
use futures_util::{FutureExt, StreamExt, stream};
use poem::http::{Method, StatusCode};
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::{Endpoint, Request, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{JSON, send, service};

const NDJSON: &str = "content-type: application/x-ndjson";

/// Imports tools from chunks of a body, and returns the lines of the response.
async fn import(chunks: Vec<Vec<u8>>) -> Vec<Value> {
    let chunks = stream::iter(chunks.into_iter().map(Ok::<_, std::io::Error>));
    let response = send(Method::POST, "/tool-import", &[NDJSON], poem::Body::from_bytes_stream(chunks)).await;
    assert_eq!(
        (response.status, response.content_type.as_deref()),
        (StatusCode::OK, Some("application/x-ndjson"))
    );
    let lines = response.body.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| serde_json::from_slice(line).expect("a line is JSON")).collect()
}

#[tokio::test]
async fn lines_are_validated_one_by_one() {
    let valid = r#"{"name": "saw", "shape": {"width": 1}}"#;
    let body = format!("{valid}\n\n{{\"name\": \"\"}}\r\n[\n{valid}");
    let expected = [
        json!({ "line": 1, "name": "saw" }),
        json!({ "line": 3, "error": "/shape is required; /name must not be empty" }),
        json!({ "line": 4, "error": "/0 is incomplete: the JSON ends at column 1" }),
        json!({ "line": 5, "name": "saw" }),
    ];
    assert_eq!(import(vec![body.clone().into_bytes()]).await, expected);
    // The chunks of the body do not matter.
    assert_eq!(import(body.bytes().map(|byte| vec![byte]).collect()).await, expected);
    assert_eq!(import(vec![]).await, [Value::Null; 0]);
    let wrong = send(Method::POST, "/tool-import", &[JSON], valid).await;
    assert_eq!(wrong.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn the_length_of_a_line_is_limited() {
    let line = |length: usize| {
        let (start, end) = (r#"{"shape": {"width": 1}, "name": ""#, "\"}");
        format!("{start}{}{end}\n", "a".repeat(length - start.len() - end.len())).into_bytes()
    };
    let longest = import(vec![line(MAX_LINE_BYTES), line(100)]).await;
    assert_eq!(
        (longest.len(), longest[0]["line"].as_u64(), longest[1]["line"].as_u64()),
        (2, Some(1), Some(2))
    );
    // The following lines are read.
    let too_long = import(vec![line(100), line(MAX_LINE_BYTES + 1), line(100)]).await;
    assert_eq!(too_long.len(), 3);
    assert_eq!(too_long[1], json!({ "line": 2, "error": " is longer than 262144 bytes" }));
    assert_eq!((&too_long[2]["line"], &too_long[2]["error"]), (&json!(3), &Value::Null));
    let endless = import(vec![vec![b' '; MAX_LINE_BYTES], vec![b' '; 1], line(100)]).await;
    assert_eq!(endless, [json!({ "line": 1, "error": " is longer than 262144 bytes" })]);
}

#[tokio::test]
async fn a_lost_connection_is_an_error_of_the_line() {
    let chunks = [Ok("{}\n{"), Err(std::io::Error::other("lost"))];
    let body = poem::Body::from_bytes_stream(stream::iter(chunks));
    let response = send(Method::POST, "/tool-import", &[NDJSON], body).await;
    let text = String::from_utf8(response.body).expect("UTF-8");
    assert!(text.ends_with("{\"line\":2,\"error\":\" is incomplete: it cannot be read\"}\n"), "{text}");
}

#[tokio::test]
async fn a_body_that_does_not_arrive_in_time_is_an_error_of_the_line() {
    let chunks = [Ok("{}\n{"), Err(std::io::Error::from(std::io::ErrorKind::TimedOut))];
    let body = poem::Body::from_bytes_stream(stream::iter(chunks));
    let response = send(Method::POST, "/tool-import", &[NDJSON], body).await;
    let text = String::from_utf8(response.body).expect("UTF-8");
    assert!(
        text.ends_with("{\"line\":2,\"error\":\" is incomplete: it did not arrive in time\"}\n"),
        "{text}"
    );
}

#[tokio::test]
async fn other_tasks_run_between_many_empty_lines() {
    let body = format!("{}{{}}\n", "\n".repeat(1000));
    let request = Request::builder().method(Method::POST).uri_str("/tool-import");
    let request = request.content_type("application/x-ndjson").body(body);
    let response = service::endpoint().get_response(request).await;
    let mut lines = response.into_body().into_bytes_stream();
    assert!(lines.next().now_or_never().is_none(), "the empty lines must not be skipped in one poll");
    let line = lines.next().await.expect("a line").expect("the body does not fail");
    let line: Value = serde_json::from_slice(&line).expect("JSON");
    assert_eq!(line["line"], 1001);
}

#[tokio::test]
async fn an_optional_stream_needs_no_content_type() {
    let check = async |headers: &[&str], body: &'static str| {
        let response = send(Method::POST, "/tool-checks", headers, body).await;
        (response.status.as_u16(), String::from_utf8(response.body).expect("UTF-8"))
    };
    let line = r#"{"name": "saw", "shape": {"width": 1}}"#;
    assert_eq!(check(&[NDJSON], line).await, (200, "\"saw\"\n".to_owned()));
    assert_eq!(check(&[NDJSON], "").await, (200, String::new()));
    assert_eq!(check(&[], "").await, (200, String::new()));
    assert_eq!(check(&[], line).await.0, 415);
    assert_eq!(check(&[JSON], line).await.0, 415);
}

#[tokio::test]
async fn a_stream_is_marked_for_middleware() {
    let request = Request::builder().method(Method::POST).uri_str("/tool-checks").finish();
    let response = service::endpoint().get_response(request).await;
    assert_eq!(response.extensions().get(), Some(&Streamed));
}

/// Connects to a server with a real connection.
async fn connect() -> TcpStream {
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a free port");
    let address = acceptor.local_addr().remove(0);
    let address = *address.as_socket_addr().expect("a TCP address");
    tokio::spawn(Server::new_with_acceptor(acceptor).run(service::endpoint()));
    TcpStream::connect(address).await.expect("the server accepts connections")
}

/// Sends the head of a request whose body is sent in chunks.
async fn send_head(connection: &mut TcpStream, path: &str) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: a\r\n{NDJSON}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await.expect("the connection is open");
}

/// Sends a line as a chunk of the body.
async fn send_line(connection: &mut TcpStream, line: &str) {
    let chunk = format!("{:x}\r\n{line}\n\r\n", line.len() + 1);
    connection.write_all(chunk.as_bytes()).await.expect("the connection is open");
}

/// Reads until the text ends with this.
async fn read_until(connection: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    while !text.ends_with(end) {
        let byte = connection.read_u8().await.unwrap_or_else(|error| panic!("{error} after {text}"));
        text.push(char::from(byte));
    }
    text
}

#[tokio::test]
async fn each_line_is_answered_before_the_next_one_is_sent() {
    let mut connection = connect().await;
    send_head(&mut connection, "/tool-checks").await;
    for name in ["saw", "axe", "file"] {
        send_line(&mut connection, &format!(r#"{{"name": "{name}", "shape": {{"width": 1}}}}"#)).await;
        read_until(&mut connection, &format!("\"{name}\"\n\r\n")).await;
    }
    connection.write_all(b"0\r\n\r\n").await.expect("the connection is open");
    assert_eq!(read_until(&mut connection, "0\r\n\r\n").await, "0\r\n\r\n");
}

#[tokio::test]
async fn a_response_that_fails_is_not_complete() {
    let mut connection = connect().await;
    send_head(&mut connection, "/tool-checks").await;
    send_line(&mut connection, r#"{"name": "saw", "shape": {"width": 1}}"#).await;
    send_line(&mut connection, "{}").await;
    connection.write_all(b"0\r\n\r\n").await.expect("the connection is open");
    let mut response = Vec::new();
    // The server can also reset the connection.
    let _ = connection.read_to_end(&mut response).await;
    let response = String::from_utf8(response).expect("UTF-8");
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    // The last chunk of a complete body has the length 0.
    assert!(response.ends_with("\r\n6\r\n\"saw\"\n\r\n"), "{response}");
}

#[tokio::test]
async fn the_line_before_an_error_is_sent_if_both_are_ready() {
    let mut connection = connect().await;
    send_head(&mut connection, "/tool-checks").await;
    send_line(&mut connection, "{\"name\": \"saw\", \"shape\": {\"width\": 1}}\n{}").await;
    connection.write_all(b"0\r\n\r\n").await.expect("the connection is open");
    let mut response = Vec::new();
    // The server can also reset the connection.
    let _ = connection.read_to_end(&mut response).await;
    let response = String::from_utf8(response).expect("UTF-8");
    assert!(response.ends_with("\r\n6\r\n\"saw\"\n\r\n"), "{response}");
}

#[tokio::test]
async fn a_stream_needs_no_request_body_and_head_returns_its_headers() {
    let mut connection = connect().await;
    let request = |method: &str| format!("{method} /tool-names HTTP/1.1\r\nhost: a\r\n\r\n");
    // The response to HEAD has no body: the next response follows its head.
    for method in ["HEAD", "GET", "HEAD"] {
        connection.write_all(request(method).as_bytes()).await.expect("the connection is open");
        let head = read_until(&mut connection, "\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("content-type: application/x-ndjson\r\n"), "{head}");
        assert!(!head.contains("content-length"), "{head}");
        if method == "GET" {
            let body = read_until(&mut connection, "0\r\n\r\n").await;
            assert_eq!(body, "6\r\n\"saw\"\n\r\n6\r\n\"axe\"\n\r\n0\r\n\r\n");
        }
    }
}
