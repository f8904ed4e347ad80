//! The guide `/docs/platform`, followed word for word with a real process.

use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::program::TestProgram;
use crate::support::send;
use crate::webhooks_guide::sample;

/// Returns the text of the code blocks of a page.
fn blocks(html: &str) -> Vec<String> {
    let after_openings = html.split("<pre><code>").skip(1);
    let block = |rest: &str| rest.split("</code></pre>").next().expect("a block ends").to_owned();
    let unescape = |text: String| text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
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
        command.current_dir(folder.path()).env("API_URL", &server.base_url);
        command.env("PLATFORM_TOKEN", token.trim()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command
    };
    let Ok(imported) = command("bash").args(["-c", &blocks[1]]).output().await else {
        println!("bash is not installed: the guide is not followed");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&imported.stdout), format!("{}\n", blocks[2]), "{imported:?}");

    std::fs::write(folder.path().join("sync.py"), sample(&html, "sync.py")).expect("a file");
    let Ok(mut sync) = command("python3").args(["sync.py", "changes.ndjson"]).spawn() else {
        println!("python3 is not installed: the sample does not run");
        return;
    };
    let mut lines = BufReader::new(sync.stdout.take().expect("stdout is piped")).lines();
    let mut next_type = async || {
        let line = tokio::time::timeout(crate::program::TIMEOUT, lines.next_line()).await;
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
