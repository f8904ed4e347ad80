//! The guide for webhook receivers: the code samples on the served page work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;

use api::generated::events::EVENT_TYPES;
use bytes::Bytes;
use foundation::clock::Clock;
use foundation::config::Network;
use regex::Regex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use webhooks::TEST_VECTORS;
use webhooks::outbound::{
    self, ATTEMPT_TIMEOUT, ClientOptions, DeliveryVerdict, WebhookClient, WebhookRequest,
};
use webhooks::sign::SigningKey;

use crate::support::events::cause_all_events;
use crate::support::{Endpoint, TestApp, course_data, sample, skip};

/// Runs the Python sample with all test vectors. It fails on the first wrong result, like the programs below.
const PYTHON: &str = "\
import json
from verify import verify
for vector in json.load(open('vectors.json'))['vectors']:
    result = verify(vector['secret'], vector['x_svc_signature'], vector['body'].encode(), vector['now'])
    assert result is vector['valid'], vector
    print(vector['name'])
";
const NODE: &str = "\
import { readFileSync } from 'node:fs';
const { verify } = await import('./' + process.argv[2]);
for (const vector of JSON.parse(readFileSync('vectors.json', 'utf8')).vectors) {
  const result = verify(vector.secret, vector.x_svc_signature, Buffer.from(vector.body), vector.now);
  if (result !== vector.valid) throw new Error(JSON.stringify(vector));
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

/// Returns the page, and a folder with its samples and the test vectors.
async fn guide() -> (String, tempfile::TempDir) {
    let app = TestApp::start().await;
    let page = app.get("/docs/webhooks").await.assert_status(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"));
    let html = String::from_utf8(page.body).expect("UTF-8");
    let vectors = app.get("/docs/webhooks/vectors.json").await.assert_status(200);
    assert_eq!(vectors.header("content-type"), "application/json");
    assert!(vectors.body == TEST_VECTORS.as_bytes());

    let folder = tempfile::tempdir().expect("a folder");
    let ed25519 = ["verify_ed25519.py", "verify_ed25519.mjs", "verify_ed25519.go"];
    for name in ["verify.py", "verify.ts", "verify.rs", "verify.go", "receiver.py"].into_iter().chain(ed25519)
    {
        std::fs::write(folder.path().join(name), sample(&html, name)).expect("a file");
    }
    std::fs::write(folder.path().join("vectors.json"), &vectors.body).expect("a file");
    (html, folder)
}

/// Runs a tool, which must succeed, and returns its output; `None` when the tool is not installed.
async fn run(folder: &Path, tool: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(tool);
    command.args(arguments).current_dir(folder).env("GOFLAGS", "").env("GOTOOLCHAIN", "local");
    let Ok(output) = command.stdin(Stdio::null()).output().await else {
        skip(&format!("{tool} is not installed"));
        return None;
    };
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{tool} {arguments:?}: {stdout}\n{stderr}");
    Some(stdout)
}

/// Asserts that the output contains the name of every test vector.
fn assert_all_vectors_run(stdout: &str) {
    let vectors: serde_json::Value = serde_json::from_str(TEST_VECTORS).expect("JSON");
    for vector in vectors["vectors"].as_array().expect("vectors") {
        assert!(stdout.contains(vector["name"].as_str().expect("a name")), "{vector}: {stdout}");
    }
}

#[tokio::test]
async fn the_samples_of_the_guide_verify_the_test_vectors() {
    let (html, folder) = guide().await;
    let folder = folder.path();
    // A unit test in the folder of this sample compiles and runs it.
    assert_eq!(sample(&html, "verify.rs"), include_str!("../../src/portal/guides/verify.rs"));

    if let Some(stdout) = run(folder, "python3", &["-c", PYTHON]).await {
        assert_all_vectors_run(&stdout);
    }
    std::fs::write(folder.join("vectors_test.go"), GO).expect("a file");
    std::fs::write(folder.join("go.mod"), "module webhooks\n\ngo 1.18\n").expect("a file");
    if let Some(stdout) = run(folder, "go", &["test", "-v", "."]).await {
        assert_all_vectors_run(&stdout);
    }
    if let Some(features) = run(folder, "node", &["-p", "process.features.typescript || false"]).await {
        let mut file = "verify.ts";
        if features.trim() == "false" {
            // This version of node does not support types, so the sample runs without them.
            let types = Regex::new(r": (string|number|boolean|Uint8Array)\b").expect("a pattern");
            let without_types = types.replace_all(&sample(&html, file), "").into_owned();
            file = "verify.mjs";
            std::fs::write(folder.join(file), without_types).expect("a file");
        }
        std::fs::write(folder.join("run.mjs"), NODE).expect("a file");
        assert_all_vectors_run(&run(folder, "node", &["run.mjs", file]).await.expect("node is installed"));
    }
}

/// Runs the samples for Ed25519 with a published signature, and with a changed body.
const PYTHON_ED25519: &str = "\
import json
try:
    from verify_ed25519 import verify
    key, headers, body, now = json.load(open('ed25519.json'))
    assert verify(key, headers, body.encode(), now) and not verify(key, headers, body.encode() + b' ', now)
    assert not verify(key, headers, body.encode(), now + 301)
    assert not verify(key, {**headers, 'webhook-timestamp': '\u{b2}'}, body.encode(), now)
    assert not verify(key, {**headers, 'webhook-signature': 'v1a'}, body.encode(), now)
except ImportError:
    print('missing')
";
const NODE_ED25519: &str = "\
import { readFileSync } from 'node:fs';
import { verify } from './verify_ed25519.mjs';
const [key, headers, body, now] = JSON.parse(readFileSync('ed25519.json', 'utf8'));
const results = [verify(key, headers, Buffer.from(body), now), verify(key, headers, Buffer.from(body + ' '), now)];
results.push(verify(key, headers, Buffer.from(body), now + 301));
results.push(verify(key, { ...headers, 'webhook-signature': 'v1a' }, Buffer.from(body), now));
if (String(results) !== 'true,false,false,false') throw results;
";
const GO_ED25519: &str = "\
package webhooks
import (\"encoding/json\"; \"net/http\"; \"os\"; \"testing\")
func TestEd25519(t *testing.T) {
	text, _ := os.ReadFile(\"ed25519.json\")
	var key, body string
	var now int64
	headers := map[string]string{}
	if err := json.Unmarshal(text, &[]any{&key, &headers, &body, &now}); err != nil { t.Fatal(err) }
	header := http.Header{}
	for name, value := range headers { header.Set(name, value) }
	if !VerifyEd25519(key, header, []byte(body), now) { t.Fatal(\"valid\") }
	if VerifyEd25519(key, header, []byte(body+\" \"), now) { t.Fatal(\"changed\") }
	if VerifyEd25519(key, header, []byte(body), now+301) { t.Fatal(\"old\") }
}
";

#[tokio::test]
async fn the_samples_of_the_guide_verify_ed25519_signatures() {
    let (_, folder) = guide().await;
    let folder = folder.path();
    // The signature is the one of the specification of Standard Webhooks.
    let headers = json!({
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= \
            v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==",
    });
    let key = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=";
    let vector = json!([key, headers, r#"{"test": 2432232314}"#, 1_614_265_330]);
    std::fs::write(folder.join("ed25519.json"), vector.to_string()).expect("a file");
    if run(folder, "python3", &["-c", PYTHON_ED25519]).await.is_some_and(|stdout| stdout.contains("missing"))
    {
        skip("the Python package cryptography is not installed");
    }
    std::fs::write(folder.join("run.mjs"), NODE_ED25519).expect("a file");
    run(folder, "node", &["run.mjs"]).await;
    std::fs::write(folder.join("ed25519_test.go"), GO_ED25519).expect("a file");
    std::fs::write(folder.join("go.mod"), "module webhooks\n\ngo 1.18\n").expect("a file");
    run(folder, "go", &["test", "."]).await;
}

#[tokio::test]
async fn the_receiver_of_the_guide_accepts_our_requests() {
    const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const OTHER: &str = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=";
    let (_, folder) = guide().await;
    let mut command = Command::new("python3");
    command.args(["receiver.py", "0"]).current_dir(folder.path()).env("WEBHOOK_SECRET", SECRET);
    let started = command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn();
    let Ok(mut receiver) = started else {
        return skip("python3 is not installed");
    };
    let mut lines = BufReader::new(receiver.stdout.take().expect("its output")).lines();
    let ready = lines.next_line().await.expect("the receiver starts").expect("a line");
    let url = ready.strip_prefix("listening on ").expect("its URL").parse().expect("a URL");

    let loopback: Network = "127.0.0.0/8".parse().expect("a network");
    let client = WebhookClient::new(ClientOptions::new(&[loopback])).expect("a client");
    let (key, other) =
        (SigningKey::new(SECRET).expect("a secret"), SigningKey::new(OTHER).expect("a secret"));
    let now = Clock::system().now_ms() / 1000;
    let mut verdicts = Vec::new();
    for (event_id, keys, now, marker) in [
        ("evt_one", vec![key.clone()], now, ""),
        ("evt_one", vec![other.clone(), key.clone()], now, ""),
        ("evt_two", vec![other], now, ""),
        ("evt_three", vec![key.clone()], now - 301, ""),
        ("evt_four", vec![key.clone()], now, r#","test":true"#),
        ("evt_five", vec![key], now, ""),
    ] {
        let body = format!(r#"{{"id":"{event_id}","type":"student.created"{marker}}}"#);
        let request = WebhookRequest {
            workspace: uuid::Uuid::nil(),
            mode: domain::workspaces::Mode::Live,
            url: &url,
            event_id,
            event_type: "student.created",
            delivery_id: "dlv_one",
            body: Bytes::from(body),
            keys: &keys,
            ed25519_keys: &[],
            custom_headers: &[],
            now,
            timeout: ATTEMPT_TIMEOUT,
            traceparent: None,
        };
        verdicts.push(outbound::send(&client, request).await.verdict());
    }
    let (delivered, dead) = (DeliveryVerdict::Delivered, DeliveryVerdict::Dead);
    assert_eq!(verdicts, [delivered, delivered, dead, dead, delivered, delivered]);
    let printed =
        ["student.created evt_one", "test event student.created evt_four", "student.created evt_five"];
    for expected in printed {
        assert_eq!(lines.next_line().await.expect("the output continues").expect("a line"), expected);
    }
}

/// Adds the paths of all fields in a value, such as `items[].id`. Metadata has keys of the workspace's own.
fn add_field_paths(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) if path != "metadata" => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                paths.insert(path.clone());
                add_field_paths(value, &path, paths);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| add_field_paths(item, &format!("{path}[]"), paths))
        }
        _ => {}
    }
}

#[tokio::test]
async fn the_event_catalog_documents_exactly_the_fields_that_are_delivered() {
    let app = TestApp::start_with_local_webhooks().await;
    let workspace = app.workspace("acme").await;
    let endpoint = Endpoint::start().await;
    let _subscription = workspace.subscribe_endpoint(&endpoint, EVENT_TYPES).await;
    cause_all_events(&workspace, &workspace.key_with_all_scopes().await).await;
    for status in ["published", "archived"] {
        let mut course = course_data("go", status, 1);
        course["price"] = json!({"amount": 4900, "currency": "EUR"});
        workspace.change("course.upsert", course).await;
    }
    while app.deliver_due().await > 0 {}
    let mut delivered: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for request in endpoint.requests() {
        let event = request.event();
        let fields = delivered.entry(event["type"].as_str().expect("a type").to_owned()).or_default();
        add_field_paths(&event["data"], "", fields);
    }
    assert!(delivered.keys().eq(BTreeSet::from_iter(EVENT_TYPES)), "{:?}", delivered.keys());

    let row = Regex::new("<tr id=\"field-data[^\"]*\"><td[^>]*><a [^>]*><code>data\\.([^<]+)</code>")
        .expect("a pattern");
    let mut differences = Vec::new();
    for (event_type, fields) in &delivered {
        let page = app.get(&format!("/docs/events/{event_type}")).await.assert_status(200);
        // Names may be broken after their dots.
        let html = String::from_utf8(page.body).expect("UTF-8").replace("<wbr>", "");
        let documented: BTreeSet<String> = row.captures_iter(&html).map(|row| row[1].to_owned()).collect();
        let undocumented: Vec<&String> = fields.difference(&documented).collect();
        // An order has no refunds when it is paid.
        let is_always_empty = |path: &String| event_type == "order.paid" && path.starts_with("refunds[].");
        let undelivered: Vec<&String> =
            documented.difference(fields).filter(|path| !is_always_empty(path)).collect();
        if !undocumented.is_empty() || !undelivered.is_empty() {
            differences.push(format!(
                "{event_type}: not documented: {undocumented:?}, not delivered: {undelivered:?}"
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
