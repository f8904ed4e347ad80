//! `importChanges`: each line has a result, in order, once its change is committed.

use std::time::Duration;

use async_compression::tokio::bufread::GzipEncoder;
use bytes::Bytes;
use domain::platform_tokens;
use futures_util::{StreamExt, stream};
use reqwest::{Body, Method};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::mpsc;

use crate::support::platform::{NDJSON, line, platform_token, workspace_line};
use crate::support::{TestApp, TestKey, in_transaction, send};

const CHANGES: &str = "/platform/v1/changes";

fn student_line(id: &str, email: &str) -> String {
    line(id, "student.upsert", &json!({"key": email, "email": email}))
}

/// Imports lines, and returns the results.
pub async fn import(token: &TestKey, parameters: &str, lines: impl Into<Body>) -> Vec<Value> {
    let request = token.request(Method::POST, &format!("{CHANGES}{parameters}"));
    let response = send(request.header("content-type", NDJSON).body(lines.into())).await.assert_status(200);
    assert_eq!(response.header("content-type"), NDJSON);
    let text = String::from_utf8(response.body.to_vec()).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Returns a body that lasts until the sender of its parts is dropped.
pub fn open_body<T: Into<Bytes> + Send + 'static>() -> (mpsc::UnboundedSender<T>, Body) {
    let (parts, received) = mpsc::unbounded_channel();
    let parts_of_body = stream::unfold(received, async |mut received: mpsc::UnboundedReceiver<T>| {
        Some((std::io::Result::Ok(received.recv().await?.into()), received))
    });
    (parts, Body::wrap_stream(parts_of_body))
}

async fn gzip(text: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    GzipEncoder::new(text).read_to_end(&mut compressed).await.expect("memory");
    compressed
}

/// Sends the first bytes of an import, and closes the connection. Returns the results that were received.
pub async fn import_cut_off(app: &TestApp, token: &TestKey, lines: &[u8], sent: usize) -> Vec<Value> {
    let head = format!(
        "POST {CHANGES} HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer {}\r\ncontent-type: {NDJSON}\r\n\
         content-length: {}\r\n\r\n",
        token.secret,
        lines.len()
    );
    let (response, is_closed) = app.exchange_bytes(&[head.as_bytes(), &lines[..sent]].concat(), true).await;
    let response = String::from_utf8(response).expect("UTF-8");
    assert!(is_closed && response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(!response.ends_with("0\r\n\r\n"), "the response is complete");
    let lines = response.lines().filter(|line| line.starts_with("{\"line\""));
    lines.map(|line| serde_json::from_str(line).expect("a chunk contains whole lines")).collect()
}

fn summaries(results: &[Value]) -> Vec<String> {
    let summary = |result: &Value| {
        let id = result["id"].as_str().unwrap_or("-");
        format!("{} {id} {}", result["line"], result["result"].as_str().expect("text"))
    };
    results.iter().map(summary).collect()
}

#[tokio::test]
async fn each_line_has_a_result_in_its_order() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let lines = [
        workspace_line("c-1"),
        student_line("c-2", "ada@example.com"),
        "\n".to_owned(),
        "not JSON\n".to_owned(),
        line("c-3", "student.upsert", &json!({"key": "bo", "email": 7})),
        line("c-4", "student.teleport", &json!({})),
        line("c-5", "enrollment.grant", &json!({"student": "ada@example.com", "course": "missing"})),
        student_line("c-2", "ada@example.com"),
        student_line("c-6", "bo@example.com"),
    ]
    .concat();
    let results = import(&token, "", lines).await;
    assert_eq!(
        summaries(&results),
        [
            "1 c-1 applied",
            "2 c-2 applied",
            "4 - rejected",
            "5 c-3 rejected",
            "6 c-4 rejected",
            "7 c-5 rejected",
            "8 c-2 duplicate",
            "9 c-6 applied",
        ]
    );
    assert_eq!(results[3]["errors"], json!([{"field": "data/email", "message": "must be a string"}]));
    assert_eq!(app.events_of_type("student.created").await.len(), 2);
}

#[tokio::test]
async fn a_dry_run_applies_nothing() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let lines = [workspace_line("c-1"), "{}\n".to_owned()].concat();
    let results = import(&token, "?dry_run=true", lines).await;
    assert_eq!(summaries(&results), ["1 c-1 valid", "2 - rejected"]);
    assert!(domain::workspaces::list(&app.app).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_result_is_sent_before_the_next_line_arrives() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let (lines, body) = open_body();
    lines.send(workspace_line("c-1")).expect("the request is open");
    let request = token.request(Method::POST, CHANGES).header("content-type", NDJSON).body(body);
    let response = request.send().await.expect("the server responds");
    let mut results = response.bytes_stream();
    for number in 1..=3 {
        let result = results.next().await.expect("a result").expect("a result");
        let result: Value = serde_json::from_slice(&result).expect("JSON");
        assert_eq!((&result["line"], &result["result"]), (&json!(number), &json!("applied")));
        let email = format!("s{number}@example.com");
        lines.send(student_line(&format!("s-{number}"), &email)).expect("the request is open");
    }
    drop(lines);
    let last = results.next().await.expect("a result").expect("a result");
    assert!(String::from_utf8_lossy(&last).contains("\"line\":4"), "{last:?}");
    assert!(results.next().await.is_none(), "the response is complete");
}

#[tokio::test]
async fn an_import_that_was_cut_off_is_repeated_safely() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let students: Vec<String> =
        (0..500).map(|n| student_line(&format!("s-{n}"), &format!("s{n}@example.com"))).collect();
    let all = format!("{}{}", workspace_line("c-1"), students.concat());
    // The body ends within a line, although its head announces more.
    let before = import_cut_off(&app, &token, all.as_bytes(), all.len() / 2 + 7).await;
    assert!(!before.is_empty() && before.iter().all(|result| result["result"] == "applied"), "{before:?}");
    let results = import(&token, "", all).await;
    assert_eq!(results.len(), 501);
    // Lines that were applied before the cut are duplicates, even if their result was lost.
    let duplicates = results.iter().take_while(|result| result["result"] == "duplicate").count();
    assert!((before.len()..300).contains(&duplicates), "{} {duplicates}", before.len());
    assert!(results[duplicates..].iter().all(|result| result["result"] == "applied"), "{results:?}");
    assert_eq!(app.events_of_type("student.created").await.len(), 500);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_rejected_and_the_next_one_applied() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let padded = |line: String, length: usize| {
        let line = line.trim_end();
        format!("{line}{}\n", " ".repeat(length - line.len()))
    };
    let lines = [
        padded(workspace_line("c-1"), 262_144),
        padded(student_line("c-2", "ada@example.com"), 262_145),
        student_line("c-3", "bo@example.com"),
    ];
    let results = import(&token, "", lines.concat()).await;
    assert_eq!(summaries(&results), ["1 c-1 applied", "2 - rejected", "3 c-3 applied"]);
    assert_eq!(results[1]["errors"][0]["message"], "the line is longer than 262144 bytes");
}

#[tokio::test]
async fn a_compressed_body_is_decompressed() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let compressed = gzip(workspace_line("c-1").as_bytes()).await;
    let request = || token.request(Method::POST, CHANGES).header("content-type", NDJSON);
    let imported = send(request().header("content-encoding", "gzip").body(compressed)).await;
    assert!(String::from_utf8_lossy(&imported.assert_status(200).body).contains("\"applied\""));
    let rejected = send(request().header("content-encoding", "br").body("x")).await;
    let rejected = rejected.assert_status(415);
    assert_eq!(rejected.error_locations(), ["header Content-Encoding"]);
    assert_eq!(rejected.json()["error"]["details"][0]["message"], "must be gzip or absent");
}

#[tokio::test]
async fn revoking_the_token_ends_a_running_import() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let (lines, body) = open_body();
    lines.send(workspace_line("c-1")).expect("the request is open");
    let request = token.request(Method::POST, CHANGES).header("content-type", NDJSON).body(body);
    let mut results = request.send().await.expect("the server responds").bytes_stream();
    results.next().await.expect("a result").expect("a result");
    let id = token.id.parse().expect("an id");
    in_transaction(&app, async |write| platform_tokens::revoke(write, id).await).await.unwrap();
    // Although the client is silent.
    let end = results.next().await.expect("the connection fails");
    assert!(end.is_err(), "{end:?}");
    drop(lines);
}

#[tokio::test]
async fn revoking_the_token_ends_an_import_that_receives_changes() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let (lines, body) = open_body();
    lines.send(workspace_line("c-0")).expect("the request is open");
    let request = token.request(Method::POST, CHANGES).header("content-type", NDJSON).body(body);
    let mut results = request.send().await.expect("the server responds").bytes_stream();
    let id = token.id.parse().expect("an id");
    // Sends the next line after each result, so the import never waits for long.
    let mut received = 0;
    let end = loop {
        let result = results.next().await.expect("the response ends with an error");
        if result.is_err() {
            break result;
        }
        received += 1;
        if received == 3 {
            in_transaction(&app, async |write| platform_tokens::revoke(write, id).await).await.unwrap();
        }
        assert!(received < 1_000, "the import continues");
        let _ = lines.send(student_line(&format!("s-{received}"), &format!("s{received}@example.com")));
    };
    assert!(end.is_err() && received >= 3, "{received}");
}

#[tokio::test]
async fn two_imports_of_the_same_changes_apply_each_once() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    import(&token, "", workspace_line("c-1")).await;
    let lines: String =
        (0..400).map(|n| student_line(&format!("s-{n}"), &format!("s{n}@example.com"))).collect();
    let (left, right) = tokio::join!(import(&token, "", lines.clone()), import(&token, "", lines));
    let applied = left.iter().chain(&right).filter(|result| result["result"] == "applied").count();
    let repeated = left.iter().chain(&right).filter(|result| result["result"] == "duplicate").count();
    assert_eq!((applied, repeated), (400, 400));
    assert_eq!(app.events_of_type("student.created").await.len(), 400);
}

#[tokio::test]
async fn a_change_of_a_missing_workspace_is_rejected() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let results = import(&token, "", student_line("c-1", "ada@example.com")).await;
    assert_eq!(summaries(&results), ["1 c-1 rejected"]);
    assert_eq!(results[0]["errors"][0]["field"], "workspace");
}

#[tokio::test]
async fn a_corrupt_compressed_body_ends_the_import_without_the_end_of_the_response() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let request = token.request(Method::POST, CHANGES).header("content-type", NDJSON);
    let response = request.header("content-encoding", "gzip").body("not gzip").send().await.expect("a head");
    assert_eq!(response.status(), 200);
    response.bytes().await.expect_err("the response is incomplete");
}

#[tokio::test]
async fn stopping_the_server_ends_a_running_import() {
    let mut app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let (lines, body) = open_body();
    lines.send(workspace_line("c-1")).expect("the request is open");
    let request = token.request(Method::POST, CHANGES).header("content-type", NDJSON).body(body);
    let mut results = request.send().await.expect("the server responds").bytes_stream();
    results.next().await.expect("a result").expect("a result");
    app.stop().await;
    assert!(results.next().await.expect("the connection fails").is_err());
}

#[tokio::test]
async fn an_import_without_a_change_for_half_a_minute_ends() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let (lines, body) = open_body();
    lines.send(workspace_line("c-1")).expect("the request is open");
    let request = token.request(Method::POST, CHANGES).header("content-type", NDJSON).body(body);
    let mut results = request.send().await.expect("the server responds").bytes_stream();
    results.next().await.expect("a result").expect("a result");
    app.clock.advance(Duration::from_secs(29));
    lines.send(student_line("c-2", "ada@example.com")).expect("the request is open");
    results.next().await.expect("a result").expect("a result");
    // A part of a line is no change.
    lines.send("{".to_owned()).expect("the request is open");
    app.clock.advance(Duration::from_secs(30));
    assert!(results.next().await.expect("the connection fails").is_err());
}

#[tokio::test]
async fn an_import_of_an_endless_line_ends() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let (parts, body) = open_body();
    parts.send("x".repeat(262_145)).expect("the request is open");
    let request = token.request(Method::POST, CHANGES).header("content-type", NDJSON).body(body);
    let mut results = request.send().await.expect("the server responds").bytes_stream();
    let rejected = results.next().await.expect("a result").expect("a result");
    assert!(String::from_utf8_lossy(&rejected).contains("\"rejected\""), "{rejected:?}");
    let endless = async {
        while parts.send("x".repeat(100_000)).is_ok() {
            tokio::task::yield_now().await;
            app.clock.advance(Duration::from_secs(1));
        }
    };
    tokio::select! {
        end = results.next() => assert!(end.expect("the connection fails").is_err()),
        () = endless => assert!(results.next().await.expect("the connection fails").is_err()),
    }
}

#[tokio::test]
async fn an_import_whose_results_are_not_read_is_cut_off() {
    let app = TestApp::start_with_connection_limits(|limits| {
        limits.timeouts.write = Duration::from_millis(300);
    })
    .await;
    let token = platform_token(&app, "write:changes").await;
    // The results contain the long id, and do not fit into the buffers of the connection.
    let rejected_lines = line(&"x".repeat(20_000), "student.create", &json!({})).repeat(500);
    let head = format!(
        "POST {CHANGES} HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer {}\r\ncontent-type: {NDJSON}\r\n\
         content-length: {}\r\n\r\n",
        token.secret,
        rejected_lines.len()
    );
    let mut running = Vec::new();
    for _ in 0..4 {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4096).expect("a small buffer");
        let address = app.base_url.strip_prefix("http://").expect("a URL").parse().expect("an address");
        let mut stream = socket.connect(address).await.expect("the server accepts connections");
        stream.write_all(head.as_bytes()).await.expect("the connection is open");
        let mut beginning = [0; 12];
        stream.read_exact(&mut beginning).await.expect("the response begins");
        assert_eq!(&beginning, b"HTTP/1.1 200");
        running.push(stream);
    }
    let request =
        || token.request(Method::POST, CHANGES).header("content-type", NDJSON).body(workspace_line("c-1"));
    send(request()).await.assert_status(503);
    // The server stops reading, and closes the connections.
    let sent = futures_util::future::join_all(
        running.iter_mut().map(|stream| stream.write_all(rejected_lines.as_bytes())),
    );
    tokio::time::timeout(Duration::from_secs(60), sent).await.expect("the connections end");
    crate::support::wait_until("the imports end", async || send(request()).await.status == 200).await;
    for mut stream in running {
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response).await;
        assert!(!response.ends_with(b"0\r\n\r\n"), "the response is complete");
    }
}

#[tokio::test]
async fn a_long_line_in_a_compressed_body_is_rejected_before_it_ends() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let (parts, body) = open_body();
    parts.send(gzip("x".repeat(1 << 20).as_bytes()).await).expect("the request is open");
    let request = token.request(Method::POST, CHANGES).header("content-type", NDJSON);
    let response = request.header("content-encoding", "gzip").body(body).send().await;
    let mut results = response.expect("the server responds").bytes_stream();
    let rejected = results.next().await.expect("a result").expect("a result");
    let rejected: Value = serde_json::from_slice(&rejected).expect("one line");
    assert_eq!(rejected["errors"][0]["message"], "the line is longer than 262144 bytes");
    let rest = [&vec![b'x'; 64 << 20], &b"\n"[..], workspace_line("c-1").as_bytes()].concat();
    parts.send(gzip(&rest).await).expect("the request is open");
    drop(parts);
    let applied = results.next().await.expect("a result").expect("a result");
    let applied: Value = serde_json::from_slice(&applied).expect("one line");
    assert_eq!((&applied["line"], &applied["result"]), (&json!(2), &json!("applied")));
    assert!(results.next().await.is_none(), "the response is complete");
}

#[tokio::test]
async fn a_client_that_waits_for_the_permission_to_send_receives_it() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let line = workspace_line("c-1");
    let head = format!(
        "POST {CHANGES} HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer {}\r\ncontent-type: {NDJSON}\r\n\
         content-length: {}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n",
        token.secret,
        line.len()
    );
    let address = app.base_url.strip_prefix("http://").expect("a URL");
    let mut stream = TcpStream::connect(address).await.expect("the server accepts connections");
    stream.write_all(head.as_bytes()).await.expect("the connection is open");
    let mut permission = [0; 25];
    stream.read_exact(&mut permission).await.expect("the connection is open");
    assert_eq!(&permission, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(line.as_bytes()).await.expect("the connection is open");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("the response is text");
    assert!(response.contains("HTTP/1.1 200") && response.contains("\"applied\""), "{response}");
}

#[tokio::test]
async fn imports_beyond_the_limit_are_rejected() {
    let app = TestApp::start().await;
    let token = platform_token(&app, "write:changes").await;
    let mut running = Vec::new();
    for number in 0..4 {
        let (lines, body) = open_body();
        lines.send(workspace_line(&format!("c-{number}"))).expect("the request is open");
        let request = token.request(Method::POST, CHANGES).header("content-type", NDJSON).body(body);
        running.push((lines, request.send().await.expect("the server responds")));
    }
    let request =
        || token.request(Method::POST, CHANGES).header("content-type", NDJSON).body(workspace_line("x"));
    let rejected = send(request()).await.assert_status(503);
    assert_eq!((rejected.code().as_str(), rejected.header("retry-after")), ("unavailable", "5"));
    drop(running);
    crate::support::wait_until("an import ends", async || send(request()).await.status == 200).await;
}
