//! The server as a process: it starts, stops in good order, survives being killed, and shows itself in a demo.

use std::time::Duration;

use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::machine::{Machine, Serving};
use crate::masks::masked;
use crate::support::{Key, course, send};

#[tokio::test]
async fn a_request_in_flight_finishes_when_the_server_is_asked_to_stop() {
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
    // The server has begun with the request once it asks for the body.
    let mut asked = [0; 25];
    stream.read_exact(&mut asked).await.unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");

    serving.signal("TERM").await;
    serving.says("running requests finish").await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    assert_eq!(serving.ended().await, Some(0));
    assert!(TcpStream::connect(&address).await.is_err(), "nothing listens any more");
    assert_eq!(machine.app.events_of("student.created").await.len(), 1);
}

#[tokio::test]
async fn a_server_may_have_as_many_files_open_as_the_machine_lets_it() {
    let machine = Machine::new().await;
    let mut command = machine.after("ulimit -Sn 256", &["serve", "--no-worker"]);
    command.env("CREATOR_API_LISTEN", "127.0.0.1:0");
    let serving = machine.listen(command).await;
    let limits = format!("/proc/{}/limits", serving.child.id().unwrap());
    let limits = std::fs::read_to_string(limits).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [soft, hard] = [0, 1].map(|place| files.split_whitespace().nth(place).unwrap().to_owned());
    assert_ne!(soft, "256", "{files}");
    assert!(soft == hard || soft == "65536", "{files}");
    assert_eq!(serving.stop().await, Some(0));

    let mut command = machine.after("ulimit -n 256", &["serve", "--no-worker"]);
    command.env("CREATOR_API_LISTEN", "127.0.0.1:0");
    let mut serving = machine.listen(command).await;
    serving.says("few files may be open at once").await;
    assert_eq!(serving.stop().await, Some(0));
}

#[tokio::test]
async fn a_worker_that_serves_nothing_else_shows_its_figures() {
    let machine = Machine::new().await;
    let taken = machine.serve(&["serve", "--no-worker"]).await;
    let busy = taken.base.trim_start_matches("http://").to_owned();
    let refused = machine.run(&["worker", "--metrics-listen", &busy]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("take a free port with `--metrics-listen 127.0.0.1:0`"), "{refused:?}");

    assert!(machine.run(&["worker", "--help"]).await.stdout.contains("--public-url <URL>"));
    let public = ["--public-url", "https://school.example"];
    let words = [&["worker", "--metrics-listen", "127.0.0.1:0"][..], &public].concat();
    let worker = machine.serve(&words).await;
    let http = &machine.app.http;
    let asked = async |method, path: &str| {
        let answer = http.request(method, format!("{}{path}", worker.base)).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert_eq!(asked(Method::GET, "/healthz").await, (200, "ok\n".to_owned()));
    assert_eq!(asked(Method::GET, "/readyz").await, (200, "ready\n".to_owned()));
    let (status, figures) = asked(Method::GET, "/metrics").await;
    assert!(status == 200 && figures.contains("webhook_deliveries{state=\"pending\"} 0"), "{figures}");
    assert_eq!(asked(Method::HEAD, "/metrics").await, (200, String::new()));
    for (method, path, status) in [
        (Method::GET, "/api/v1/courses", 404),
        (Method::GET, "/dashboard", 404),
        (Method::POST, "/metrics", 405),
    ] {
        assert_eq!(asked(method, path).await.0, status, "{path}");
    }
    assert_eq!(worker.stop().await, Some(0));
    assert_eq!(taken.stop().await, Some(0));
}

#[tokio::test]
async fn asked_twice_it_stops_at_once() {
    let machine = Machine::new().await;
    let mut serving = machine.serve(&["serve"]).await;
    // A request that never ends.
    let mut stream = TcpStream::connect(serving.base.trim_start_matches("http://")).await.unwrap();
    let head =
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.read_exact(&mut [0; 25]).await.unwrap();

    serving.signal("TERM").await;
    serving.says("running requests finish").await;
    serving.signal("TERM").await;
    assert_eq!(serving.ended().await, Some(130));
}

#[tokio::test]
async fn a_caller_who_hangs_up_is_in_the_log_too() {
    let machine = Machine::new().await;
    let secret = machine.key("write:students").await;
    let mut serving = machine.serve(&["serve"]).await;
    // Somebody else writes for a while, so that the request has to wait.
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
        // Whoever leaves before the request was begun leaves no trace: each next one stays for longer.
        for patience_ms in (0..).map(|turn| 50 << turn) {
            let mut stream = TcpStream::connect(&address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(patience_ms)).await;
            drop(stream);
            // Time to notice it, before another one asks.
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    };
    tokio::select! {
        () = hang_up => unreachable!("it goes on"),
        () = serving.says("gone=true") => {}
    }
    drop(other);
    assert_eq!(serving.stop().await, Some(0));
    assert!(machine.app.events_of("student.created").await.is_empty(), "what nobody waited for was not done");
}

#[tokio::test]
async fn the_counts_of_the_day_are_saved_when_it_stops() {
    let machine = Machine::new().await;
    let secret = machine.key("read:courses").await;
    let serving = machine.serve(&["serve"]).await;
    let mut left = String::new();
    for _ in 0..3 {
        let answer = serving.key(&machine.app, &secret).get("/api/v1/courses").await.assert_status(200);
        answer.header("x-ratelimit-daily-remaining").clone_into(&mut left);
    }
    assert_eq!((left.as_str(), serving.stop().await), ("997", Some(0)));
    let serving = machine.serve(&["serve"]).await;
    let answer = serving.key(&machine.app, &secret).get("/api/v1/courses").await.assert_status(200);
    assert_eq!(answer.header("x-ratelimit-daily-remaining"), "996");
    assert_eq!(serving.stop().await, Some(0));
}

/// A few thousand changes of every kind.
fn stream() -> Vec<String> {
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

/// All that the changes made, recording times aside: the lists, the summary and the events in their order.
async fn made(machine: &Machine) -> Value {
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
    forget(&mut all);
    masked(&all)
}

/// Removes when this server recorded what.
fn forget(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(forget),
        Value::Object(fields) => {
            fields.retain(|name, _| name != "updated_at" && name != "data_as_of");
            fields.values_mut().for_each(forget);
        }
        _ => {}
    }
}

#[tokio::test]
async fn killed_while_it_applies_and_applied_again_it_has_made_what_one_run_makes() {
    let stream = stream();
    let whole = Machine::new().await;
    let ran = whole.fed(&["apply", "-"], &stream.join("\n")).await;
    assert_eq!(
        ran.stdout,
        format!("{} applied, 0 applied before, 0 rejected\n", stream.len()),
        "{}",
        ran.stderr
    );

    let killed = Machine::new().await;
    std::fs::write(killed.app.folder().join("changes.ndjson"), stream.join("\n")).unwrap();
    let mut kills = 0;
    for wanted in [100, 700, 1300] {
        let mut child = killed.command(&["apply", "changes.ndjson"]).spawn().unwrap();
        // Killed as soon as it has come so far; the last run may have ended before.
        while child.try_wait().unwrap().is_none() && killed.app.events().await.len() < wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if child.try_wait().unwrap().is_none() {
            child.kill().await.unwrap();
            kills += 1;
        }
    }
    assert!(kills > 0, "it was never killed while it ran");
    let ran = killed.run(&["apply", "changes.ndjson"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.ends_with(" applied before, 0 rejected\n") && !ran.stdout.contains(" 0 applied before"),
        "{ran:?}"
    );
    let (expected, found) = (made(&whole).await, made(&killed).await);
    assert!(expected == found, "what was killed and applied again differs");
}

/// The key and the address of the line that a newcomer pastes.
async fn welcome(machine: &Machine, serving: &mut Serving) -> (Key, String) {
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
async fn the_demo_shows_itself_and_goes_on_where_it_was() {
    let machine = Machine::new().await;
    let mut demo = machine.serve(&["demo"]).await;
    let (key, path) = welcome(&machine, &mut demo).await;
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

    let mut again = machine.serve(&["demo"]).await;
    let (same, _) = welcome(&machine, &mut again).await;
    assert_eq!(same.secret, key.secret);
    assert_eq!(same.get(&path).await.assert_status(200).json(), first.json());
    let found = same.get("/api/v1/students?email=newcomer%40example.com").await;
    assert_eq!(found.ids(), [new["id"].as_str().unwrap()]);
    assert_eq!(machine.app.events().await.len(), events);
    assert_eq!(again.stop().await, Some(0));
}
