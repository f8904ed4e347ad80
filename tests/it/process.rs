//! The server as a process: start, graceful shutdown, recovery after a kill, and the demo.

use std::time::Duration;

use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::machine::{Machine, ServerProcess};
use crate::masks::masked;
use crate::support::{Key, course, send};

#[tokio::test]
async fn a_request_in_flight_finishes_during_shutdown() {
    let machine = Machine::new().await;
    let secret = machine.key("write:students").await;
    let mut serving = machine.serve(&["serve"]).await;
    let address = serving.base.trim_start_matches("http://").to_owned();

    let body = r#"{"email": "ada@example.com"}"#;
    let head = format!(
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {secret}\r\nExpect: 100-continue\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body once it processes the request.
    let mut requested = [0; 25];
    stream.read_exact(&mut requested).await.unwrap();
    assert_eq!(&requested, b"HTTP/1.1 100 Continue\r\n\r\n");

    serving.signal("TERM").await;
    serving.wait_for_log("waiting for requests in flight").await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut response = String::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_string(&mut response))
        .await
        .unwrap()
        .unwrap();
    assert!(response.starts_with("HTTP/1.1 201 Created\r\n"), "{response}");
    assert_eq!(serving.wait_for_exit().await, Some(0));
    assert!(TcpStream::connect(&address).await.is_err(), "the server no longer listens");
    assert_eq!(machine.app.events_of("student.created").await.len(), 1);
}

#[tokio::test]
async fn the_server_raises_its_limit_of_open_files() {
    let machine = Machine::new().await;
    let mut command = machine.command_after("ulimit -Sn 256", &["serve", "--no-worker"]);
    command.env("CREATOR_API_LISTEN", "127.0.0.1:0");
    let serving = machine.listen(command).await;
    let limits = format!("/proc/{}/limits", serving.child.id().unwrap());
    let limits = std::fs::read_to_string(limits).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [soft, hard] = [0, 1].map(|place| files.split_whitespace().nth(place).unwrap().to_owned());
    assert_ne!(soft, "256", "{files}");
    assert!(soft == hard || soft == "65536", "{files}");
    assert_eq!(serving.stop().await, Some(0));

    let mut command = machine.command_after("ulimit -n 256", &["serve", "--no-worker"]);
    command.env("CREATOR_API_LISTEN", "127.0.0.1:0");
    let mut serving = machine.listen(command).await;
    serving.wait_for_log("the limit on open files is low").await;
    assert_eq!(serving.stop().await, Some(0));
}

#[tokio::test]
async fn a_worker_serves_health_checks_and_metrics() {
    let machine = Machine::new().await;
    let occupied = machine.serve(&["serve", "--no-worker"]).await;
    let busy = occupied.base.trim_start_matches("http://").to_owned();
    let rejected = machine.run(&["worker", "--metrics-listen", &busy]).await;
    assert_eq!(rejected.code, Some(1), "{rejected:?}");
    assert!(
        rejected.stderr.contains("choose a free port with `--metrics-listen 127.0.0.1:0`"),
        "{rejected:?}"
    );

    assert!(machine.run(&["worker", "--help"]).await.stdout.contains("--public-url <URL>"));
    let public = ["--public-url", "https://school.example"];
    let words = [&["worker", "--metrics-listen", "127.0.0.1:0"][..], &public].concat();
    let worker = machine.serve(&words).await;
    let http = &machine.app.http;
    let requested = async |method, path: &str| {
        let response = http.request(method, format!("{}{path}", worker.base)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(requested(Method::GET, "/healthz").await, (200, "ok\n".to_owned()));
    assert_eq!(requested(Method::GET, "/readyz").await, (200, "ready\n".to_owned()));
    let (status, figures) = requested(Method::GET, "/metrics").await;
    assert!(status == 200 && figures.contains("webhook_deliveries{state=\"pending\"} 0"), "{figures}");
    assert_eq!(requested(Method::HEAD, "/metrics").await, (200, String::new()));
    for (method, path, status) in [
        (Method::GET, "/api/v1/courses", 404),
        (Method::GET, "/dashboard", 404),
        (Method::POST, "/metrics", 405),
    ] {
        assert_eq!(requested(method, path).await.0, status, "{path}");
    }
    assert_eq!(worker.stop().await, Some(0));
    assert_eq!(occupied.stop().await, Some(0));
}

#[tokio::test]
async fn a_second_signal_stops_the_server_immediately() {
    let machine = Machine::new().await;
    let mut serving = machine.serve(&["serve"]).await;
    // A request that never ends.
    let mut stream = TcpStream::connect(serving.base.trim_start_matches("http://")).await.unwrap();
    let head =
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.read_exact(&mut [0; 25]).await.unwrap();

    serving.signal("TERM").await;
    serving.wait_for_log("waiting for requests in flight").await;
    serving.signal("TERM").await;
    assert_eq!(serving.wait_for_exit().await, Some(130));
}

#[tokio::test]
async fn a_disconnected_client_is_logged() {
    let machine = Machine::new().await;
    let secret = machine.key("write:students").await;
    let mut serving = machine.serve(&["serve"]).await;
    // Another process holds the write lock, so that the request has to wait.
    let other = machine.app.write().await;
    if machine.app.has_many_writers() {
        other.conn().execute_unprepared("LOCK TABLE students IN EXCLUSIVE MODE").await.unwrap();
    }
    let body = r#"{"email": "ada@example.com"}"#;
    let request = format!(
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {secret}\r\nX-Request-Id: left\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let address = serving.base.trim_start_matches("http://").to_owned();
    let hang_up = async {
        // A client that disconnects before the request is processed leaves no trace, so each attempt waits longer.
        for patience_ms in (0..).map(|attempt| 50 << attempt) {
            let mut stream = TcpStream::connect(&address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(patience_ms)).await;
            drop(stream);
            // Time to detect the disconnect before the next attempt.
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    };
    tokio::select! {
        () = hang_up => unreachable!("the loop does not end"),
        () = serving.wait_for_log("gone=true") => {}
    }
    drop(other);
    assert_eq!(serving.stop().await, Some(0));
    assert!(
        machine.app.events_of("student.created").await.is_empty(),
        "the abandoned request was not executed"
    );
}

#[tokio::test]
async fn the_daily_counts_are_saved_at_shutdown() {
    let machine = Machine::new().await;
    let secret = machine.key("read:courses").await;
    let serving = machine.serve(&["serve"]).await;
    let mut remaining = String::new();
    for _ in 0..3 {
        let response = serving.key(&machine.app, &secret).get("/api/v1/courses").await.assert_status(200);
        response.header("x-ratelimit-daily-remaining").clone_into(&mut remaining);
    }
    assert_eq!((remaining.as_str(), serving.stop().await), ("997", Some(0)));
    let serving = machine.serve(&["serve"]).await;
    let response = serving.key(&machine.app, &secret).get("/api/v1/courses").await.assert_status(200);
    assert_eq!(response.header("x-ratelimit-daily-remaining"), "996");
    assert_eq!(serving.stop().await, Some(0));
}

/// Returns a few thousand changes of every type.
fn many_changes() -> Vec<String> {
    let mut changes = vec![
        ("workspace.upsert", json!({"key": "acme", "name": "Acme", "owner_email": "o@acme.example"})),
        ("live_session.upsert", json!({"key": "l1", "title": "Office hour"})),
        ("live_session.start", json!({"live_session": "l1"})),
    ];
    changes.extend((0..20).map(|n| ("course.upsert", course(&format!("c{n}"), "published", 2))));
    for n in 0..500 {
        let (student, item) = (format!("s{n}"), format!("c{}", n % 20));
        let order = json!({
            "key": format!("o{n}"), "number": format!("{n}"), "student": student, "currency": "EUR",
            "items": [{"course": item, "unit_amount": 100 + n}],
        });
        let lesson = json!({"student": student, "course": item, "lesson": format!("{item}-1")});
        changes.push(("student.upsert", json!({"key": student, "email": format!("{student}@example.com")})));
        changes.push(("order.pay", order));
        changes.push(("progress.record", lesson));
        match n % 5 {
            0 => changes.push(("order.refund", json!({"order": format!("o{n}")}))),
            1 => changes.push(("student.delete", json!({"student": student}))),
            2 => changes.push(("enrollment.revoke", json!({"student": student, "course": item}))),
            3 => changes.push(("order.refund", json!({"order": format!("o{n}"), "amount": 50}))),
            _ => changes
                .push(("student.upsert", json!({"key": student, "email": format!("{student}@x.example")}))),
        }
    }
    let line = |(n, (change, data)): (usize, (&str, Value))| {
        let at = format!("2026-03-01T{:02}:{:02}:{:02}Z", n / 3600, n / 60 % 60, n % 60);
        json!({"change": change, "id": format!("k-{n}"), "workspace": "acme", "at": at, "data": data})
            .to_string()
    };
    changes.into_iter().enumerate().map(line).collect()
}

/// Returns the state that the changes created, without recording times: lists, summary, and events in order.
async fn imported_state(machine: &Machine) -> Value {
    let secret = machine.key("all").await;
    machine
        .run(&[
            "workspaces",
            "set-quota",
            "--workspace",
            "acme",
            "--per-minute",
            "100000",
            "--per-day",
            "100000",
        ])
        .await;
    let serving = machine.serve(&["serve"]).await;
    let key = serving.key(&machine.app, &secret);
    let mut all = Vec::new();
    for list in ["courses", "students", "orders"] {
        all.extend(key.all(&format!("/api/v1/{list}?sort=created_at&limit=100")).await);
    }
    let window = "from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z&interval=day";
    all.push(key.get(&format!("/api/v1/analytics/summary?{window}")).await.assert_status(200).json());
    all.extend(machine.app.events().await);
    assert_eq!(serving.stop().await, Some(0));
    let mut all = Value::Array(all);
    remove_recording_times(&mut all);
    masked(&all)
}

/// Removes the recording times of this server.
fn remove_recording_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(remove_recording_times),
        Value::Object(fields) => {
            fields.retain(|name, _| name != "updated_at" && name != "data_as_of");
            fields.values_mut().for_each(remove_recording_times);
        }
        _ => {}
    }
}

#[tokio::test]
async fn an_import_killed_and_repeated_has_the_result_of_one_run() {
    let changes = many_changes();
    let uninterrupted = Machine::new().await;
    let output = uninterrupted.run_with_input(&["apply", "-"], &changes.join("\n")).await;
    assert_eq!(
        output.stdout,
        format!("{} applied, 0 applied before, 0 rejected\n", changes.len()),
        "{}",
        output.stderr
    );

    let killed = Machine::new().await;
    std::fs::write(killed.app.folder().join("changes.ndjson"), changes.join("\n")).unwrap();
    let mut kills = 0;
    for expected_events in [100, 700, 1300] {
        let mut child = killed.command(&["apply", "changes.ndjson"]).spawn().unwrap();
        // Killed once it has created this number of events; the last run may have ended before.
        while child.try_wait().unwrap().is_none() && killed.app.events().await.len() < expected_events {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if child.try_wait().unwrap().is_none() {
            child.kill().await.unwrap();
            kills += 1;
        }
    }
    assert!(kills > 0, "no run was killed");
    let output = killed.run(&["apply", "changes.ndjson"]).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output.stdout.ends_with(" applied before, 0 rejected\n")
            && !output.stdout.contains(" 0 applied before"),
        "{output:?}"
    );
    let (expected, found) = (imported_state(&uninterrupted).await, imported_state(&killed).await);
    assert!(expected == found, "the killed and repeated import differs");
}

/// Returns the key and the path of the printed `curl` command.
async fn demo_key(machine: &Machine, serving: &mut ServerProcess) -> (Key, String) {
    let mut line = String::new();
    while !line.contains("curl ") {
        line.clear();
        assert_ne!(serving.stdout.read_line(&mut line).await.unwrap(), 0, "no curl line");
    }
    let curl = regex::Regex::new("curl -H 'Authorization: Bearer ([^']+)' '(http://[^/]+)(/[^']+)'").unwrap();
    let found = curl.captures(&line).unwrap_or_else(|| panic!("{line}"));
    assert_eq!(&found[2], serving.base);
    (serving.key(&machine.app, &found[1]), found[3].to_owned())
}

#[tokio::test]
async fn the_demo_prints_a_working_request_and_keeps_its_data() {
    let machine = Machine::new().await;
    let mut demo = machine.serve(&["demo"]).await;
    let (key, path) = demo_key(&machine, &mut demo).await;
    let first = key.get(&path).await.assert_status(200);
    assert!(!first.ids().is_empty());
    for list in ["courses", "students", "orders"] {
        let page = key.get(&format!("/api/v1/{list}")).await.assert_status(200);
        assert!(!page.ids().is_empty(), "{list}");
    }
    let summary = key.get("/api/v1/analytics/summary").await.assert_status(200).json();
    assert!(summary["students"]["total"].as_i64() > Some(0), "{summary}");
    send(machine.app.http.request(Method::GET, format!("{}/docs/", demo.base))).await.assert_status(200);
    let new = key
        .post("/api/v1/students", json!({"email": "newcomer@example.com"}))
        .await
        .assert_status(201)
        .json();
    let events = machine.app.events().await.len();
    assert_eq!(demo.stop().await, Some(0));

    let mut repeat = machine.serve(&["demo"]).await;
    let (same, _) = demo_key(&machine, &mut repeat).await;
    assert_eq!(same.secret, key.secret);
    assert_eq!(same.get(&path).await.assert_status(200).json(), first.json());
    let found = same.get("/api/v1/students?email=newcomer%40example.com").await;
    assert_eq!(found.ids(), [new["id"].as_str().unwrap()]);
    assert_eq!(machine.app.events().await.len(), events);
    assert_eq!(repeat.stop().await, Some(0));
}
