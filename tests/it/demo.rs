//! The demo: what it prints, its data, and a second one on the same data.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::support::program::{ServerProcess, TestProgram, failure_message};
use crate::support::{Browser, Endpoint, TestKey, send, wait_until};

/// A running demo.
struct Demo {
    server: ServerProcess,
    /// What it printed, by the label of the line, such as `API key`.
    printed: BTreeMap<String, String>,
}

impl Demo {
    async fn start(program: &TestProgram) -> Self {
        Self::read(program.serve(&["demo"]).await).await
    }

    async fn read(mut server: ServerProcess) -> Self {
        let mut printed = BTreeMap::new();
        while !printed.contains_key("Stop") {
            let mut line = String::new();
            assert_ne!(server.stdout.read_line(&mut line).await.unwrap(), 0, "{printed:?}");
            if let Some((label, text)) = line.trim().split_once("  ") {
                printed.insert(label.to_owned(), text.trim().to_owned());
            }
        }
        Self { server, printed }
    }

    fn key(&self, program: &TestProgram) -> TestKey {
        self.server.key(&program.app, &self.printed["API key"])
    }

    /// Runs a printed command in a shell with the demo's environment, as if it was pasted, and returns its output.
    async fn paste(&self, program: &TestProgram, label: &str) -> String {
        let mut shell = Command::new("sh");
        shell.args(["-c", &self.printed[label]]).current_dir(program.app.folder());
        shell.env("DATABASE_URL", program.app.database_url());
        let output = shell.output().await.expect("the shell runs");
        assert!(output.status.success(), "{label}: {output:?}");
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }
}

#[tokio::test]
async fn the_demo_keeps_its_data() {
    let program = TestProgram::new().await;
    let demo = Demo::start(&program).await;
    let key = demo.key(&program);
    let path = "/api/v1/courses?limit=2";
    let first = key.get(path).await.assert_status(200);
    for list in ["courses", "students", "orders"] {
        let page = key.get(&format!("/api/v1/{list}")).await.assert_status(200);
        assert!(!page.ids().is_empty(), "{list}");
    }
    let summary = key.get("/api/v1/analytics/summary").await.assert_status(200).json();
    assert!(summary["students"]["total"].as_i64() > Some(0), "{summary}");
    let docs = format!("{}/docs/", demo.server.base_url);
    send(program.app.http.get(docs)).await.assert_status(200);
    let new = key
        .post("/api/v1/students", json!({"email": "newcomer@example.com"}))
        .await
        .assert_status(201)
        .json();
    let events = program.app.events().await.len();
    assert_eq!(demo.server.stop().await, Some(0));

    let repeat = Demo::start(&program).await;
    let same_key = repeat.key(&program);
    assert_eq!(same_key.secret, key.secret);
    assert_eq!(same_key.get(path).await.assert_status(200).json(), first.json());
    let found = same_key.get("/api/v1/students?email=newcomer%40example.com").await;
    assert_eq!(found.ids(), [new["id"].as_str().unwrap()]);
    assert_eq!(program.app.events().await.len(), events);
    assert_eq!(repeat.server.stop().await, Some(0));
}

#[tokio::test]
async fn each_printed_command_works_whenever_it_is_pasted() {
    let program = TestProgram::new().await;
    let demo = Demo::start(&program).await;
    let students_before = program.app.events_of_type("student.created").await.len();
    for _ in 0..2 {
        let courses: Value = serde_json::from_str(&demo.paste(&program, "Try it").await).unwrap();
        assert_eq!(courses["data"].as_array().map(Vec::len), Some(2), "{courses}");
        let student: Value = serde_json::from_str(&demo.paste(&program, "Send event").await).unwrap();
        assert!(student["id"].as_str().is_some_and(|id| id.starts_with("stu_")), "{student}");
        assert!(demo.paste(&program, "Command").await.contains("whs_"));
    }
    let students = program.app.events_of_type("student.created").await.len();
    assert_eq!(students, students_before + 2);
    assert_eq!(demo.printed["Workspace"], "demo");
    assert_eq!(demo.server.stop().await, Some(0));

    // Without the flag, the command would look for another database.
    let url = program.app.database_url();
    let mut command = program.command(&["demo", "--listen", "127.0.0.1:0", "--database-url", &url]);
    command.env_remove("DATABASE_URL");
    let demo = Demo::read(program.start_server(command).await).await;
    assert!(demo.paste(&program, "Command").await.contains("whs_"));
    assert!(demo.printed["Command"].contains(" --database-url "), "{:?}", demo.printed);
    assert_eq!(demo.server.stop().await, Some(0));
}

/// The port is free, so only the process knows the URL.
#[tokio::test]
#[ignore = "slow"]
async fn an_invitation_links_to_the_address_that_the_server_listens_on() {
    let program = TestProgram::new().await;
    let demo = Demo::start(&program).await;
    let (email, password) = demo.printed["Sign in"].split_once(" with the password ").expect("a login");
    let (email, password) = (email.to_owned(), password.to_owned());
    let mut server = demo.server;
    for (command, invited) in [("demo", "ada@example.org"), ("serve", "bob@example.org")] {
        let browser = Browser::at(&program.app, &server.base_url);
        browser.sign_in(&email, &password).await.assert_status(303);
        let members = "/dashboard/settings/people";
        let fields = [("email", invited), ("role", "viewer")];
        browser.submit(members, members, &fields).await.assert_status(303);
        let link = format!("{}/set-password?token=", server.base_url);
        wait_until("the mail is written", async || {
            let mails = std::fs::read_dir(program.app.folder().join("mail")).into_iter().flatten();
            let mut texts = mails.filter_map(|mail| std::fs::read_to_string(mail.ok()?.path()).ok());
            texts.any(|text| {
                text.contains(invited) && text.replace("=\r\n", "").replace("=3D", "=").contains(&link)
            })
        })
        .await;
        assert_eq!(server.stop().await, Some(0), "{command}");
        server = program.serve(&["serve"]).await;
    }
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn a_second_demo_on_the_same_data_changes_nothing() {
    let program = TestProgram::new().await;
    let mut demo = Demo::start(&program).await;
    let webhooks = async || program.run(&["webhooks", "list", "--workspace", "demo", "--json"]).await.stdout;
    let before = webhooks().await;
    assert!(before.contains("127.0.0.1"), "{before}");
    let url = demo.server.base_url.clone();
    let address = url.strip_prefix("http://").unwrap();
    let second = async |listen: &str| {
        let command = program.command(&["demo", "--listen", listen]);
        failure_message(&program, 1, command).await.replace(&url, "URL")
    };
    let message = second("127.0.0.1:0").await;
    assert_snapshot!(message, @"error: a demo already runs on the data in FOLDER, at URL; use it, or start another one with other data and another port: `creator-api demo --data-dir DIR --listen 127.0.0.1:0`");
    assert_eq!(second(address).await, message, "the address in use is not the cause");
    assert_eq!(webhooks().await, before);
    demo.key(&program).get("/api/v1/courses").await.assert_status(200);

    // A demo that was killed does not count as running.
    demo.server.signal("KILL").await;
    demo.server.wait_for_exit().await;
    // It fails after it has locked the folder. Until then, a second demo would print the URL in the file.
    let lock = program.app.folder().join("demo.lock");
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), url);
    let occupied = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    second(&occupied.local_addr().unwrap().to_string()).await;
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), "");
    assert_eq!(Demo::start(&program).await.server.stop().await, Some(0));
}

/// Returns the part of a contract, or the target of its `$ref`.
fn resolve<'a>(contract: &'a Value, part: &'a Value) -> &'a Value {
    let reference = part["$ref"].as_str().map(|reference| reference.trim_start_matches('#'));
    reference.map_or(part, |reference| contract.pointer(reference).expect("the target exists"))
}

/// Sends the requests that Swagger UI fills in: with the examples and defaults of all parameters, and each example of a body.
#[tokio::test]
async fn every_example_request_of_the_contract_succeeds_in_the_demo() {
    let program = TestProgram::new().await;
    let demo = Demo::start(&program).await;
    let key = demo.key(&program);
    let contract = key.get("/openapi/v1.json").await.assert_status(200).json();
    let (mut requests, mut failures) = (0, Vec::new());
    for (template, operations) in contract["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            let (mut path, mut query) = (template.clone(), Vec::new());
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let parameter = resolve(&contract, parameter);
                let name = parameter["name"].as_str().expect("a name");
                let default = &resolve(&contract, &parameter["schema"])["default"];
                let value = if parameter["example"].is_null() { default } else { &parameter["example"] };
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                match parameter["in"].as_str() {
                    Some("path") => path = path.replace(&format!("{{{name}}}"), &text),
                    Some("query") if !value.is_null() => query.push(format!("{name}={text}")),
                    _ => {}
                }
            }
            let examples = &operation["requestBody"]["content"]["application/json"]["examples"];
            let bodies: Vec<Option<&Value>> = match examples.as_object() {
                Some(examples) => examples.values().map(|example| Some(&example["value"])).collect(),
                None => vec![None],
            };
            let target = format!("{path}?{}", query.join("&"));
            for body in bodies {
                let request = key.request(method.to_uppercase().parse().unwrap(), &target);
                let request = body.into_iter().fold(request, |request, body| request.json(body));
                let response = send(request).await;
                requests += 1;
                if !(200..300).contains(&response.status) {
                    let text = String::from_utf8_lossy(&response.body);
                    failures.push(format!("{method} {target} {body:?}: {} {text}", response.status));
                }
            }
        }
    }
    assert!(
        failures.is_empty() && requests >= 9,
        "{} of {requests}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert_eq!(demo.server.stop().await, Some(0));
}

#[tokio::test]
async fn an_ephemeral_server_uses_no_other_data_and_leaves_no_files() {
    let program = TestProgram::new().await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program.command(&["serve", "--ephemeral", "--listen", "127.0.0.1:0"]);
    command.env("TMPDIR", folder.path());
    let mut server = program.start_server(command).await;
    let mut line = String::new();
    server.stdout.read_line(&mut line).await.unwrap();
    let key = server.key(&program.app, line.trim().strip_prefix("API key ").expect("a key"));
    assert!(!key.get("/api/v1/orders").await.assert_status(200).ids().is_empty());
    assert!(key.secret.starts_with("svc_test_"), "{}", key.secret);
    let me = key.get("/developer/v1/me").await.assert_status(200).json();
    assert_eq!(me["workspace"]["mode"], "test");
    let endpoint = Endpoint::start().await;
    let webhook = json!({"url": endpoint.url(), "event_types": ["student.created"]});
    key.post("/developer/v1/webhooks", webhook).await.assert_status(201);
    key.post("/api/v1/students", json!({"email": "ada@example.com"})).await.assert_status(201);
    wait_until("the event is delivered", async || !endpoint.requests().is_empty()).await;
    assert!(program.app.events().await.is_empty(), "the configured database is not used");
    let files = || std::fs::read_dir(folder.path()).expect("the folder can be read").count();
    assert_eq!((files(), server.stop().await, files()), (1, Some(0), 0));

    let rejected = program.run(&["serve", "--ephemeral", "--data-dir", "data"]).await;
    assert_eq!(rejected.code, Some(2));
    assert!(rejected.stderr.contains("cannot be used with"), "{rejected:?}");
}

#[tokio::test]
async fn an_ephemeral_server_leaves_no_files_if_it_exits_at_once() {
    let program = TestProgram::new().await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program.command(&["serve", "--ephemeral", "--listen", "127.0.0.1:0"]);
    command.env("TMPDIR", folder.path());
    let mut server = program.start_server(command).await;
    // A request in flight keeps the server running after the first signal.
    let address = server.base_url.strip_prefix("http://").expect("a URL");
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let head =
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("the head is sent");
    let mut response = [0; 12];
    stream.read_exact(&mut response).await.expect("a response");
    assert_eq!(&response, b"HTTP/1.1 100");
    server.signal("INT").await;
    server.wait_for_log("interrupt again to exit immediately").await;
    server.signal("INT").await;
    let files = || std::fs::read_dir(folder.path()).expect("the folder can be read").count();
    assert_eq!((server.wait_for_exit().await, files()), (Some(130), 0));
}
