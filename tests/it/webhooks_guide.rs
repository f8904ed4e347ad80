//! The guide for receivers: its samples are taken from the page as it is served, and run.

use std::path::Path;
use std::process::Stdio;

use bytes::Bytes;
use foundation::clock::Clock;
use foundation::config::Network;
use regex::Regex;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use webhooks::VECTORS;
use webhooks::outbound::{self, Client, DEADLINE, Options, Request, Verdict};
use webhooks::sign::SigningKey;

use crate::support::TestApp;

/// Runs a sample over the vectors; fails on the first that it judges otherwise.
const PYTHON: &str = "\
import json
from verify import verify
for vector in json.load(open('vectors.json'))['vectors']:
    told = verify(vector['secret'], vector['x_svc_signature'], vector['body'].encode(), vector['now'])
    assert told is vector['valid'], vector
    print(vector['name'])
";
const NODE: &str = "\
import { readFileSync } from 'node:fs';
const { verify } = await import('./' + process.argv[2]);
for (const vector of JSON.parse(readFileSync('vectors.json', 'utf8')).vectors) {
  const told = verify(vector.secret, vector.x_svc_signature, Buffer.from(vector.body), vector.now);
  if (told !== vector.valid) throw new Error(JSON.stringify(vector));
  console.log(vector.name);
}
";
const GO: &str = "\
package webhooks
import (\"encoding/json\"; \"fmt\"; \"os\"; \"testing\")
func TestVectors(t *testing.T) {
	var file struct { Vectors []struct { Name, Secret, Body string; Now int64; Valid bool
		Header string `json:\"x_svc_signature\"` } }
	text, _ := os.ReadFile(\"vectors.json\")
	if err := json.Unmarshal(text, &file); err != nil { t.Fatal(err) }
	for _, v := range file.Vectors {
		if Verify(v.Secret, v.Header, []byte(v.Body), v.Now) != v.Valid { t.Fatal(v) }
		fmt.Println(v.Name)
	}
}
";

/// A sample of the page, by its name.
fn sample(html: &str, name: &str) -> String {
    let opening = format!("<pre id=\"{name}\"><code>");
    let (_, rest) = html.split_once(&opening).unwrap_or_else(|| panic!("no sample {name}"));
    let (text, _) = rest.split_once("</code></pre>").expect("a sample ends");
    assert!(!text.contains(['<', '>', '"']), "{name} is escaped");
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The page, and the folder into which its samples and the vectors were put.
async fn guide() -> (String, tempfile::TempDir) {
    let app = TestApp::start().await;
    let page = app.get("/docs/webhooks").await.assert_status(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    let html = String::from_utf8(page.body).expect("UTF-8");
    let vectors = app.get("/docs/webhooks/vectors.json").await.assert_status(200);
    assert_eq!(vectors.header("content-type"), "application/json");
    assert!(vectors.body == VECTORS.as_bytes());

    let folder = tempfile::tempdir().expect("a folder");
    for name in ["verify.py", "verify.ts", "verify.rs", "verify.go", "receiver.py"] {
        std::fs::write(folder.path().join(name), sample(&html, name)).expect("a file");
    }
    std::fs::write(folder.path().join("vectors.json"), &vectors.body).expect("a file");
    (html, folder)
}

/// What the tool prints; `None` when it is not on this machine.
async fn run(folder: &Path, tool: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(tool);
    command.args(arguments).current_dir(folder).env("GOFLAGS", "").env("GOTOOLCHAIN", "local");
    let Ok(output) = command.stdin(Stdio::null()).output().await else {
        println!("{tool} is not on this machine: its sample is not run");
        return None;
    };
    let [said, complained] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{tool} {arguments:?}: {said}\n{complained}");
    Some(said)
}

/// Every vector was looked at.
fn assert_whole(said: &str) {
    let vectors: serde_json::Value = serde_json::from_str(VECTORS).expect("JSON");
    for vector in vectors["vectors"].as_array().expect("vectors") {
        assert!(said.contains(vector["name"].as_str().expect("a name")), "{vector}: {said}");
    }
}

#[tokio::test]
async fn the_samples_of_the_guide_tell_the_vectors_apart() {
    let (html, folder) = guide().await;
    let folder = folder.path();
    // Cargo compiles that one, in a unit test beside it.
    assert_eq!(sample(&html, "verify.rs"), include_str!("../../src/server/guide/verify.rs"));

    if let Some(said) = run(folder, "python3", &["-c", PYTHON]).await {
        assert_whole(&said);
    }
    std::fs::write(folder.join("vectors_test.go"), GO).expect("a file");
    std::fs::write(folder.join("go.mod"), "module webhooks\n\ngo 1.18\n").expect("a file");
    if let Some(said) = run(folder, "go", &["test", "-v", "."]).await {
        assert_whole(&said);
    }
    if let Some(features) = run(folder, "node", &["-p", "process.features.typescript || false"]).await {
        let mut file = "verify.ts";
        if features.trim() == "false" {
            // This node reads no types: the sample is run without them.
            let types = Regex::new(r": (string|number|boolean|Uint8Array)\b").expect("a pattern");
            let bare = types.replace_all(&sample(&html, file), "").into_owned();
            file = "verify.mjs";
            std::fs::write(folder.join(file), bare).expect("a file");
        }
        std::fs::write(folder.join("run.mjs"), NODE).expect("a file");
        assert_whole(&run(folder, "node", &["run.mjs", file]).await.expect("node is here"));
    }
}

#[tokio::test]
async fn the_receiver_of_the_guide_takes_what_we_send() {
    const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const OTHER: &str = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
    let (_, folder) = guide().await;
    let mut command = Command::new("python3");
    command.args(["receiver.py", "0"]).current_dir(folder.path()).env("WEBHOOK_SECRET", SECRET);
    let started = command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn();
    let Ok(mut receiver) = started else {
        println!("python3 is not on this machine: the receiver is not run");
        return;
    };
    let mut lines = BufReader::new(receiver.stdout.take().expect("its output")).lines();
    let ready = lines.next_line().await.expect("it starts").expect("a line");
    let url = ready.strip_prefix("listening on ").expect("its address").parse().expect("a URL");

    let loopback: Network = "127.0.0.0/8".parse().expect("a network");
    let client = Client::new(Options::new(&[loopback])).expect("a client");
    let (key, other) =
        (SigningKey::new(SECRET).expect("a secret"), SigningKey::new(OTHER).expect("a secret"));
    let now = Clock::system().now_ms() / 1000;
    let mut told = Vec::new();
    for (event_id, keys, now) in [
        ("evt_one", vec![key.clone()], now),
        ("evt_one", vec![other.clone(), key.clone()], now),
        ("evt_two", vec![other], now),
        ("evt_three", vec![key.clone()], now - 301),
        ("evt_four", vec![key], now),
    ] {
        let body = format!(r#"{{"id":"{event_id}","type":"student.created"}}"#);
        let request = Request {
            workspace: uuid::Uuid::nil(),
            url: &url,
            event_id,
            event_type: "student.created",
            delivery_id: "dlv_one",
            body: Bytes::from(body),
            keys: &keys,
            now,
            deadline: DEADLINE,
        };
        told.push(outbound::send(&client, request).await.verdict());
    }
    let (delivered, dead) = (Verdict::Delivered, Verdict::Dead);
    assert_eq!(told, [delivered, delivered, dead, dead, delivered]);
    for expected in ["student.created evt_one", "student.created evt_four"] {
        assert_eq!(lines.next_line().await.expect("it goes on").expect("a line"), expected);
    }
}
