//! The guide `/docs/platform`, followed word for word with a real process, and its service alone.

use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::support::program::TestProgram;
use crate::support::{TestApp, sample, send, skip};

/// Returns the text of the code blocks of a page, without those that are files.
fn blocks(html: &str) -> Vec<String> {
    let after_openings = html.split("<pre tabindex=\"0\"><code class=\"").skip(1);
    let block = |rest: &str| {
        let (_, code) = rest.split_once("\">").expect("a block has a language");
        code.split("</code></pre>").next().expect("a block ends").trim_end().to_owned()
    };
    let unescape = |text: String| {
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
    };
    after_openings.map(block).map(unescape).collect()
}

#[tokio::test]
async fn a_platform_that_follows_the_guide_is_connected() {
    let program = TestProgram::new().await;
    let key = program.create_key("write:students").await;
    let server = program.serve(&["serve"]).await;
    let page = send(program.app.http.get(format!("{}/docs/platform", server.base_url))).await;
    let html = String::from_utf8(page.assert_status(200).body).expect("UTF-8");
    let blocks = blocks(&html);
    let token = program.run(&["platform-tokens", "create", "--name", "sync", "--scope", "all"]).await.stdout;
    let folder = tempfile::tempdir().expect("a folder");
    let command = |name: &str| {
        let mut command = Command::new(name);
        command.current_dir(folder.path()).env("BASE_URL", &server.base_url);
        command.env("PLATFORM_TOKEN", token.trim()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command
    };
    let Ok(imported) = command("bash").args(["-c", &blocks[1]]).output().await else {
        return skip("bash is not installed");
    };
    assert_eq!(String::from_utf8_lossy(&imported.stdout), format!("{}\n", blocks[2]), "{imported:?}");

    std::fs::write(folder.path().join("sync.py"), sample(&html, "sync.py")).expect("a file");
    let Ok(mut sync) = command("python3").args(["sync.py", "changes.ndjson"]).spawn() else {
        return skip("python3 is not installed");
    };
    let mut lines = BufReader::new(sync.stdout.take().expect("stdout is piped")).lines();
    let mut next_type = async || {
        let line = tokio::time::timeout(crate::support::program::TIMEOUT, lines.next_line()).await;
        let line = line.expect("a line in time").expect("stdout can be read").expect("the service runs");
        line.split(' ').next().expect("a type").to_owned()
    };
    for expected in ["course.published", "student.created", "enrollment.created"] {
        assert_eq!(next_type().await, expected);
    }
    // An integration creates a student, and the platform appends a change.
    let student = json!({"email": "bo@example.com"});
    let url = format!("{}/api/v1/students", server.base_url);
    send(program.app.http.post(url).bearer_auth(key).json(&student)).await.assert_status(201);
    assert_eq!(next_type().await, "student.created");
    let change = json!({"change": "student.upsert", "id": "s-2", "workspace": "acme", "at": "2026-01-02T09:00:00Z",
        "data": {"key": "ada", "email": "ada@example.com", "name": "Ada M. Osei"}});
    let file = folder.path().join("changes.ndjson");
    let before = std::fs::read_to_string(&file).expect("a file");
    std::fs::write(&file, format!("{before}{change}\n")).expect("a file");
    assert_eq!(next_type().await, "student.updated");

    let linked = command("bash").args(["-c", &blocks[5]]).output().await.expect("bash runs");
    let link: serde_json::Value = serde_json::from_slice(&linked.stdout).expect("JSON");
    assert!(link["url"].as_str().expect("a URL").starts_with(&server.base_url), "{link}");
    sync.kill().await.expect("the service runs");
    server.stop().await;
}

/// Responds to one request over HTTP/1.0, where the end of the connection is the end of the body. Returns the body of an import,
/// and responds with results of only this number of lines. Other requests get an empty page of events.
async fn respond(listener: &TcpListener, results: usize) -> Option<String> {
    let (stream, _) = listener.accept().await.expect("a connection");
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        assert!(stream.read_line(&mut head).await.expect("a line") > 0, "{head}");
        if let Some(value) = head[start..].to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.expect("a body");
    let is_import = head.starts_with("POST");
    let response = if is_import {
        let result =
            |line| format!("{}\n", json!({"line": line, "id": "x", "result": "applied", "errors": []}));
        (1..=results).map(result).collect()
    } else {
        json!({"data": [], "pagination": {"cursor": "x", "has_more": false}}).to_string()
    };
    let response = format!("HTTP/1.0 200 OK\r\n\r\n{response}");
    stream.write_all(response.as_bytes()).await.expect("the connection is open");
    is_import.then(|| String::from_utf8(body).expect("UTF-8"))
}

#[tokio::test]
async fn the_service_sends_lines_without_a_result_again() {
    let app = TestApp::start().await;
    let page = app.get("/docs/platform").await.assert_status(200);
    let html = String::from_utf8(page.body.to_vec()).expect("UTF-8");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("sync.py"), sample(&html, "sync.py")).expect("a file");
    std::fs::write(folder.path().join("changes.ndjson"), "1\n2\n3\n\n").expect("a file");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut command = Command::new("python3");
    command.args(["sync.py", "changes.ndjson"]).current_dir(folder.path()).kill_on_drop(true);
    command.env("BASE_URL", format!("http://{address}")).env("PLATFORM_TOKEN", "x").stderr(Stdio::null());
    let Ok(mut sync) = command.spawn() else {
        return skip("python3 is not installed");
    };
    let next_import = async |results| {
        let import = async {
            loop {
                if let Some(body) = respond(&listener, results).await {
                    return body;
                }
            }
        };
        tokio::time::timeout(crate::support::program::TIMEOUT, import).await.expect("an import in time")
    };
    assert_eq!(next_import(1).await, "1\n2\n3\n\n");
    assert_eq!(next_import(2).await, "2\n3\n\n");
    // The position is stored after the empty line, so nothing is sent again.
    std::fs::write(folder.path().join("changes.ndjson"), "1\n2\n3\n\n4\n").expect("a file");
    assert_eq!(next_import(1).await, "4\n");
    sync.kill().await.expect("the service runs");
}
