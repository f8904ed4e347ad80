//! `creator-api listen`: forwards events to a local server.

use std::process::Stdio;
use std::time::Duration;

use domain::keys;
use domain::workspaces::Quota;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::sandbox;
use crate::support::program::{TIMEOUT, TestProgram};
use crate::support::{Endpoint, Receiver, TestApp, TestKey, in_transaction, read_request, wait_until};

/// A running `listen`.
struct Listener {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

/// The output of a `listen` that has ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Listener {
    /// Starts `listen` with this key and these arguments, separated by spaces.
    fn start(key: &str, arguments: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_creator-api"));
        command.arg("listen").args(arguments.split(' ')).env_clear().env("CREATOR_API_KEY", key);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Self { child, stdout }
    }

    /// Returns the next line of stdout.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line);
        tokio::time::timeout(TIMEOUT, read).await.expect("a line in time").expect("stdout can be read");
        line.trim_end().to_owned()
    }

    /// Returns the signing secret, which is the first line.
    async fn secret(&mut self) -> String {
        let line = self.line().await;
        line.strip_prefix("signing secret: ").unwrap_or_else(|| panic!("{line:?}")).to_owned()
    }

    /// Waits until it has connected.
    async fn connected(&mut self) {
        let stderr = self.child.stderr.as_mut().expect("stderr is piped");
        let mut received = [0; 20];
        stderr.read_exact(&mut received).await.expect("a message");
        assert!(received.starts_with(b"listening to"), "{received:?}");
    }

    /// Sends a signal.
    async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("the process runs").to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status().await;
        assert!(status.expect("`kill` runs").success());
    }

    /// Waits until it ends.
    async fn end(mut self) -> Ended {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        let output = async {
            self.stdout.read_to_string(&mut stdout).await.expect("stdout can be read");
            let pipe = self.child.stderr.as_mut().expect("stderr is piped");
            pipe.read_to_string(&mut stderr).await.expect("stderr can be read");
            self.child.wait().await.expect("the process can be awaited").code()
        };
        let code = tokio::time::timeout(TIMEOUT, output).await.expect("the process ends in time");
        Ended { code, stdout, stderr }
    }
}

async fn start() -> (TestApp, TestKey) {
    let app = TestApp::start().await;
    let key = app.workspace("acme").await.key("read:events").await;
    (app, key)
}

async fn student(app: &TestApp, name: &str) {
    app.workspace("acme").await.upsert_student(name).await;
    app.clock.advance(Duration::from_millis(1));
}

/// Runs `listen` until it ends, and returns its code and the lines of stdout after the secret.
async fn run(key: &str, arguments: &str) -> (Option<i32>, Vec<String>, String) {
    let ended = Listener::start(key, arguments).end().await;
    let lines = ended.stdout.lines().filter(|line| !line.starts_with("signing secret: whsec_"));
    (ended.code, lines.map(str::to_owned).collect(), ended.stderr)
}

#[tokio::test]
async fn events_are_forwarded_by_type_and_signed_like_deliveries() {
    let (app, key) = start().await;
    let (students, others) = (Endpoint::start().await, Endpoint::start().await);
    let arguments =
        format!("--api {} --route student.*={} --forward-to {}", app.base_url, students.url(), others.url());
    let mut listener = Listener::start(&key.secret, &arguments);
    let secret = listener.secret().await;
    // Without `--since`, it receives what happens after it has connected.
    wait_until("it is connected", async || {
        student(&app, &format!("s{}", app.next_change_number())).await;
        !students.requests().is_empty()
    })
    .await;
    app.workspace("acme").await.course("rust", 1).await;
    app.clock.advance(Duration::from_millis(1));
    wait_until("the other event arrives", async || !others.requests().is_empty()).await;
    let stored = app.event_bodies().await;
    for request in students.requests().iter().chain(&others.requests()) {
        let signature = request.header("x-svc-signature").to_owned();
        let time: i64 = signature[2..].split(',').next().expect("a time").parse().expect("seconds");
        assert!(request.is_signed(&secret, time), "{signature}");
        assert!((time - app.clock.now().as_second()).abs() > 3600, "the local clock is not the server's");
        assert!(stored.contains(&request.body), "the stored bytes");
        assert_eq!(request.header("x-svc-sequence"), &request.header("webhook-id")[4..]);
    }
    assert_eq!(others.requests()[0].header("x-svc-event"), "course.published");
    let line = listener.line().await;
    assert!(
        line.starts_with("student.created") && line.contains(" 204  ") && line.ends_with(&students.url()),
        "{line}"
    );
    listener.signal("INT").await;
    let ended = listener.end().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("stopping: ") && !ended.stderr.contains(&key.secret), "{ended:?}");
}

#[tokio::test]
async fn one_event_decides_the_exit_code() {
    let (app, key) = start().await;
    let endpoint = Endpoint::start().await;
    student(&app, "ada").await;
    app.clock.advance(Duration::from_secs(60));
    let once = format!("--api {} --since 1h --once --timeout 60s", app.base_url);
    let to_endpoint = format!("{once} --forward-to {}", endpoint.url());
    let (code, lines, stderr) = run(&key.secret, &to_endpoint).await;
    assert_eq!((code, lines.len()), (Some(0), 1), "{lines:?} {stderr}");
    endpoint.respond_with([500]);
    let (code, lines, _) = run(&key.secret, &to_endpoint).await;
    assert_eq!(code, Some(4));
    assert!(lines[0].contains("  500  "), "{lines:?}");
    // Nothing listens on this port.
    let (code, lines, _) = run(&key.secret, &format!("{once} --forward-to http://localhost:1/hooks")).await;
    assert_eq!(code, Some(4));
    assert!(lines[0].contains("  connect  "), "{lines:?}");
    let none = format!("--api {} --since 1h --event order.* --once --timeout 1s --print-only", app.base_url);
    assert_eq!(run(&key.secret, &none).await.0, Some(5));
    let (code, lines, _) = run(&key.secret, &format!("{once} --print-only")).await;
    let bodies = app.event_bodies().await;
    assert_eq!((code, lines), (Some(0), vec![String::from_utf8(bodies[0].clone()).expect("UTF-8")]));
}

#[tokio::test]
async fn a_closed_port_does_not_end_it_and_a_revoked_key_does() {
    let (app, key) = start().await;
    student(&app, "ada").await;
    student(&app, "bob").await;
    let arguments = format!("--api {} --since 1h --forward-to http://127.0.0.1:1/", app.base_url);
    let mut listener = Listener::start(&key.secret, &arguments);
    listener.secret().await;
    for _ in 0..2 {
        let line = listener.line().await;
        assert!(line.contains("  connect  "), "{line}");
    }
    let id = key.id.parse().expect("an id");
    in_transaction(&app, async |write| keys::revoke(&app.app, write, None, id).await)
        .await
        .expect("a change");
    app.clock.advance(Duration::from_secs(15));
    let ended = listener.end().await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stderr.contains("returned 401 Unauthorized: The API key is missing or not valid."),
        "{ended:?}"
    );
}

#[tokio::test]
async fn rejected_requests_are_reported() {
    let app = TestApp::start().await;
    let acme = app.workspace("acme").await;
    let key = acme.key("read:courses").await;
    let print = format!("--api {} --print-only --once --timeout 1s", app.base_url);
    let (code, _, stderr) = run(&key.secret, &print).await;
    assert_eq!(code, Some(1));
    assert!(stderr.contains("This key does not have the scope `read:events`."), "{stderr}");
    let quota = Quota { per_minute: Some(1), per_day: None };
    let key = acme.key_with_quota("read:events", quota, None).await;
    key.get(super::EVENTS).await.assert_status(200);
    let (code, _, stderr) = run(&key.secret, &print).await;
    assert_eq!(code, Some(5));
    assert!(
        stderr.contains("The rate limit of 1 requests per minute is exhausted. Trying again in 30 seconds"),
        "{stderr}"
    );
    let (code, _, stderr) = run("", &print).await;
    assert_eq!(code, Some(2), "{stderr}");
}

#[tokio::test]
async fn an_example_needs_no_server() {
    let endpoint = Endpoint::start().await;
    let example = format!("--example order.paid --forward-to {}", endpoint.url());
    let (code, lines, _) = run("svc_live_test", &example).await;
    assert_eq!((code, lines.len()), (Some(0), 1), "{lines:?}");
    let request = &endpoint.requests()[0];
    assert_eq!((&request.event()["type"], &request.event()["test"]), (&json!("order.paid"), &json!(true)));
    assert_eq!(request.header("x-svc-mode"), "");
    assert_eq!(run("svc_test_key", &example).await.0, Some(0));
    assert_eq!(endpoint.requests()[1].header("x-svc-mode"), "test");
    endpoint.respond_with([404]);
    assert_eq!(run("svc_live_test", &example).await.0, Some(4));
    let (code, lines, _) = run("svc_live_test", "--example course.published --print-only").await;
    let body: Value = serde_json::from_str(&lines[0]).expect("JSON");
    assert_eq!((code, &body["type"]), (Some(0), &json!("course.published")));
    let (code, _, stderr) = run("svc_live_test", "--example order.payed --print-only").await;
    assert_eq!(code, Some(2));
    assert!(
        stderr.contains("there is no event type \"order.payed\"; the types are student.created"),
        "{stderr}"
    );
}

#[tokio::test]
#[ignore = "slow"]
async fn a_receiver_that_hangs_is_a_failure() {
    let receiver = Receiver::start(async |_stream| std::future::pending().await).await;
    let url = receiver.url("http", "127.0.0.1");
    let (code, lines, _) = run("svc_live_test", &format!("--example order.paid --forward-to {url}")).await;
    assert_eq!(code, Some(4));
    assert!(lines[0].contains("  timeout  "), "{lines:?}");
}

#[tokio::test]
#[ignore = "slow"]
async fn a_receiver_that_hangs_delays_the_next_events_but_loses_none() {
    let (app, key) = start().await;
    let hanging = Receiver::start(async |_stream| std::future::pending().await).await;
    let endpoint = Endpoint::start().await;
    student(&app, "ada").await;
    app.workspace("acme").await.course("rust", 1).await;
    app.clock.advance(Duration::from_millis(1));
    let arguments = format!(
        "--api {} --since 1h --route student.*={} --forward-to {}",
        app.base_url,
        hanging.url("http", "127.0.0.1"),
        endpoint.url()
    );
    let mut listener = Listener::start(&key.secret, &arguments);
    listener.secret().await;
    let line = listener.line().await;
    assert!(line.starts_with("student.created") && line.contains("  timeout  "), "{line}");
    let line = listener.line().await;
    assert!(line.starts_with("course.published") && line.contains(" 204  "), "{line}");
    assert_eq!(endpoint.requests().len(), 1);
}

#[tokio::test]
async fn two_with_one_key_receive_all_events_each_and_a_third_waits() {
    let (app, key) = start().await;
    let endpoints = [Endpoint::start().await, Endpoint::start().await];
    let start = |endpoint: &Endpoint| {
        let arguments = format!("--api {} --since 1h --forward-to {}", app.base_url, endpoint.url());
        Listener::start(&key.secret, &arguments)
    };
    let mut listeners = endpoints.each_ref().map(start);
    student(&app, "s1").await;
    for listener in &mut listeners {
        listener.secret().await;
        assert!(listener.line().await.starts_with("student.created"));
    }
    for name in ["s2", "s3"] {
        student(&app, name).await;
    }
    let print = format!("--api {} --since 1h --once --timeout 1s --print-only", app.base_url);
    let (code, _, stderr) = run(&key.secret, &print).await;
    assert_eq!(code, Some(5));
    assert!(stderr.contains("Too many streams are open. A key can have 2 at the same time."), "{stderr}");
    let [first, _second] = listeners;
    for endpoint in &endpoints {
        wait_until("all events arrive", async || endpoint.requests().len() >= 3).await;
        let emails: Vec<Value> =
            endpoint.requests().iter().map(|request| request.event()["data"]["email"].clone()).collect();
        assert_eq!(emails, ["s1@example.com", "s2@example.com", "s3@example.com"].map(Value::from));
    }
    // One that ends makes room.
    first.signal("INT").await;
    assert_eq!(first.end().await.code, Some(0));
    wait_until("its place is free", async || run(&key.secret, &print).await.0 == Some(0)).await;
}

#[tokio::test]
async fn a_proxy_that_ends_each_stream_early_is_not_asked_all_the_time() {
    let heartbeat = r#"{"cursor":"abc","sequence":null,"event":null}"#;
    let length = heartbeat.len() + 1;
    let response =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{heartbeat}\n");
    let proxy = Receiver::start(move |mut stream| {
        let response = response.clone();
        async move {
            read_request(&mut stream).await;
            let _ = stream.write_all(response.as_bytes()).await;
        }
    })
    .await;
    let arguments = format!("--api http://{} --once --timeout 1s --print-only", proxy.address);
    let (code, _, stderr) = run("svc_live_test", &arguments).await;
    assert_eq!(code, Some(5), "{stderr}");
    assert!(stderr.contains("not connected: the stream ended early; trying again"), "{stderr}");
    // After 0, 250 and 750 ms.
    assert!((1..=3).contains(&proxy.connections()), "{} requests", proxy.connections());
}

#[tokio::test]
async fn restarts_of_the_server_cause_neither_gaps_nor_duplicates() {
    let program = TestProgram::new().await;
    let secret = program.create_key("write:students,read:events").await;
    let key_id = program.run(&["keys", "list", "--workspace", "acme", "--json"]).await;
    let key_id: Value = serde_json::from_str(&key_id.stdout).expect("JSON");
    let key_id = key_id[0]["id"].as_str().expect("an id").to_owned();
    program.run(&["keys", "set-quota", &key_id, "--per-minute", "100000", "--per-day", "1000000"]).await;
    let mut server = program.serve(&["serve"]).await;
    let (address, endpoint) = (server.base_url.clone(), Endpoint::start().await);
    let arguments = format!("--api {address} --forward-to {}", endpoint.url());
    let mut listener = Listener::start(&secret, &arguments);
    listener.secret().await;
    listener.connected().await;
    let mut created = 0;
    for restart in 0..4 {
        let key = server.key(&program.app, &secret);
        for _ in 0..10 {
            created += 1;
            let student = json!({"email": format!("s{created}@example.com")});
            key.post("/api/v1/students", student).await.assert_status(201);
        }
        if restart == 0 {
            wait_until("the first events arrive", async || endpoint.requests().len() == 10).await;
        }
        server.signal(if restart % 2 == 0 { "KILL" } else { "TERM" }).await;
        server.wait_for_exit().await;
        let mut command = program.command(&["serve"]);
        command.env("CREATOR_API_LISTEN", address.strip_prefix("http://").expect("a URL"));
        server = program.start_server(command).await;
    }
    wait_until("all events arrive", async || endpoint.requests().len() >= created).await;
    listener.signal("TERM").await;
    assert_eq!(listener.end().await.code, Some(0));
    let emails: Vec<Value> =
        endpoint.requests().iter().map(|request| request.event()["data"]["email"].clone()).collect();
    let expected: Vec<Value> = (1..=created).map(|number| json!(format!("s{number}@example.com"))).collect();
    assert_eq!(emails, expected);
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn it_continues_after_a_reset_of_the_sandbox() {
    let app = TestApp::start().await;
    let key = sandbox::create(&app).await.key_with_all_scopes().await;
    let delete_student = async || {
        let created = key.post("/developer/v1/sandbox/events", json!({"type": "student.deleted"})).await;
        created.assert_status(201);
        app.clock.advance(Duration::from_millis(1));
    };
    delete_student().await;
    let arguments = format!("--api {} --print-only --since 1h --event student.deleted", app.base_url);
    let mut listener = Listener::start(&key.secret, &arguments);
    let first = listener.line().await;
    let sandbox = sandbox::reset(&app).await;
    app.clock.advance(Duration::from_secs(16));
    // It does not receive what happens before it has connected again.
    let posts = async {
        loop {
            delete_student().await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let new = sandbox.id.to_string();
    assert!(!first.contains(&new), "{first}");
    let received = async { while !listener.line().await.contains(&new) {} };
    tokio::select! {
        () = received => {}
        () = posts => unreachable!("it posts until a line is received"),
    }
    listener.signal("INT").await;
    let ended = listener.end().await;
    let message = "the sandbox was reset, so its cursor is no longer valid";
    assert!(ended.code == Some(0) && ended.stderr.contains(message), "{ended:?}");
}
