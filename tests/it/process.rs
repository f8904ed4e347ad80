//! The program as a process: start, graceful shutdown, and recovery after a kill.

use std::time::{Duration, Instant};

use migration::Phase;
use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::masked_ids::mask_ids;
use crate::support::platform::{NDJSON, workspace_line};
use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{course_data, send, skip, wait_until};

#[tokio::test]
async fn a_request_in_flight_finishes_during_shutdown() {
    let program = TestProgram::new().await;
    let secret = program.create_key("write:students").await;
    let mut server = program.serve(&["serve"]).await;
    let address = server.base_url.trim_start_matches("http://").to_owned();

    let body = r#"{"email": "ada@example.com"}"#;
    let head = format!(
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {secret}\r\nExpect: 100-continue\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server sends this response when it reads the body.
    let mut interim_response = [0; 25];
    stream.read_exact(&mut interim_response).await.unwrap();
    assert_eq!(&interim_response, b"HTTP/1.1 100 Continue\r\n\r\n");

    server.signal("TERM").await;
    server.wait_for_log("waiting for requests in flight").await;
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut response = String::new();
    tokio::time::timeout(Duration::from_secs(20), stream.read_to_string(&mut response))
        .await
        .unwrap()
        .unwrap();
    assert!(response.starts_with("HTTP/1.1 201 Created\r\n"), "{response}");
    assert_eq!(server.wait_for_exit().await, Some(0));
    assert!(TcpStream::connect(&address).await.is_err(), "the server no longer listens");
    assert_eq!(program.app.events_of_type("student.created").await.len(), 1);
}

#[tokio::test]
async fn the_server_raises_its_limit_of_open_files() {
    let program = TestProgram::new().await;
    let mut command = program.command_after("ulimit -Sn 256", &["serve", "--no-worker"]);
    command.env("CREATOR_API_LISTEN", "127.0.0.1:0");
    let server = program.start_server(command).await;
    let limits = format!("/proc/{}/limits", server.child.id().unwrap());
    let limits = std::fs::read_to_string(limits).unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [soft, hard] = [0, 1].map(|index| files.split_whitespace().nth(index).unwrap().to_owned());
    assert_ne!(soft, "256", "{files}");
    assert!(soft == hard || soft == "65536", "{files}");
    assert_eq!(server.stop().await, Some(0));

    let mut command = program.command_after("ulimit -n 256", &["serve", "--no-worker"]);
    command.env("CREATOR_API_LISTEN", "127.0.0.1:0");
    let mut server = program.start_server(command).await;
    server.wait_for_log("the limit on open files is low").await;
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn a_worker_serves_health_checks_and_metrics() {
    let program = TestProgram::new().await;
    let occupied = program.serve(&["serve", "--no-worker"]).await;
    let occupied_address = occupied.base_url.trim_start_matches("http://").to_owned();
    let rejected = program.run(&["worker", "--metrics-listen", &occupied_address]).await;
    assert_eq!(rejected.code, Some(1), "{rejected:?}");
    assert!(
        rejected.stderr.contains("choose a free port with `--metrics-listen 127.0.0.1:0`"),
        "{rejected:?}"
    );

    assert!(program.run(&["worker", "--help"]).await.stdout.contains("--public-url <URL>"));
    let public = ["--public-url", "https://school.example"];
    let args = [&["worker", "--metrics-listen", "127.0.0.1:0"][..], &public].concat();
    let worker = program.serve(&args).await;
    let http = &program.app.http;
    let request = async |method, path: &str| {
        let response = http.request(method, format!("{}{path}", worker.base_url)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(request(Method::GET, "/healthz").await, (200, "ok\n".to_owned()));
    assert_eq!(request(Method::GET, "/readyz").await, (200, "ready\n".to_owned()));
    let (status, metrics) = request(Method::GET, "/metrics").await;
    assert!(status == 200 && metrics.contains("webhook_deliveries{state=\"pending\"} 0"), "{metrics}");
    assert_eq!(request(Method::HEAD, "/metrics").await, (200, String::new()));
    for (method, path, status) in [
        (Method::GET, "/api/v1/courses", 404),
        (Method::GET, "/dashboard", 404),
        (Method::POST, "/metrics", 405),
    ] {
        assert_eq!(request(method, path).await.0, status, "{path}");
    }
    assert_eq!(worker.stop().await, Some(0));
    assert_eq!(occupied.stop().await, Some(0));
}

#[tokio::test]
#[ignore = "slow"]
async fn a_worker_whose_delivery_loop_fails_is_unready() {
    let program = TestProgram::new().await;
    let worker = program.serve(&["worker", "--metrics-listen", "127.0.0.1:0"]).await;
    let readiness = async || {
        let response = program.app.http.get(format!("{}/readyz", worker.base_url)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(readiness().await, (200, "ready\n".to_owned()));
    let rename = async |from: &str, to: &str| {
        let write = program.app.begin_write().await;
        let statement = format!("ALTER TABLE {from} RENAME TO {to}");
        write.conn().execute_unprepared(&statement).await.expect("the table is there");
        write.commit().await.expect("the table has its new name");
    };
    rename("webhook_deliveries", "webhook_deliveries_gone").await;
    let is_unready = async || readiness().await == (503, "the delivery loop makes no progress\n".to_owned());
    wait_until("the worker is unready", is_unready).await;
    rename("webhook_deliveries_gone", "webhook_deliveries").await;
    wait_until("the worker is ready again", async || readiness().await.0 == 200).await;
    assert_eq!(worker.stop().await, Some(0));
}

#[tokio::test]
async fn a_stopping_server_is_unready_and_serves_until_it_is_drained() {
    let program = TestProgram::new().await;
    let secret = program.create_key("read:courses").await;
    let token = program.run(&["platform-tokens", "create", "--name", "sync", "--scope", "all"]).await.stdout;
    let mut server = program.serve(&["serve", "--drain-seconds", "5"]).await;
    let http = &program.app.http;
    let ready = http.get(format!("{}/readyz", server.base_url)).send().await.unwrap();
    assert_eq!(ready.status(), 200);
    let started = Instant::now();
    server.signal("TERM").await;
    let is_unready = async || {
        let response = http.get(format!("{}/readyz", server.base_url)).send().await.unwrap();
        response.status() == 503 && response.text().await.unwrap() == "the process is shutting down\n"
    };
    wait_until("the server is unready", is_unready).await;
    let key = server.key(&program.app, &secret);
    key.get("/api/v1/courses").await.assert_status(200);
    let import = http.post(format!("{}/platform/v1/changes", server.base_url)).bearer_auth(token.trim());
    let imported = send(import.header("content-type", NDJSON).body(workspace_line("c-1"))).await;
    assert!(String::from_utf8_lossy(&imported.assert_status(200).body).contains("\"applied\""));
    assert_eq!(server.wait_for_exit().await, Some(0));
    assert!(started.elapsed() >= Duration::from_secs(5), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_server_runs_on_a_newer_schema_down_to_its_floor() {
    let program = TestProgram::new().await;
    let secret = program.create_key("read:courses").await;
    let server = program.serve(&["serve"]).await;
    // A newer version applies a migration on which this version can run.
    let change_schema = async |statement: &str| {
        let write = program.app.begin_write().await;
        write.conn().execute_unprepared(statement).await.expect("the statement succeeds");
        write.commit().await.expect("the commit succeeds");
    };
    change_schema("INSERT INTO seaql_migrations (version, applied_at) VALUES ('m0099_future', 1)").await;
    let readiness = async |server: &ServerProcess| {
        let response = program.app.http.get(format!("{}/readyz", server.base_url)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(readiness(&server).await, (200, "ready\n".to_owned()));
    let started_later = program.serve(&["serve", "--no-worker"]).await;
    started_later.key(&program.app, &secret).get("/api/v1/courses").await.assert_status(200);
    assert_eq!(started_later.stop().await, Some(0));

    change_schema("UPDATE server_state SET value = '99' WHERE name = 'schema_floor'").await;
    assert_eq!(readiness(&server).await, (503, "the database is newer than this server\n".to_owned()));
    change_schema("UPDATE seaql_migrations SET version = 'm0001_old' WHERE version = 'm0037_initial'").await;
    let reason = "the database was created by a development version\n";
    assert_eq!(readiness(&server).await, (503, reason.to_owned()));
    change_schema("UPDATE seaql_migrations SET version = 'm0037_initial' WHERE version = 'm0001_old'").await;
    assert_eq!(server.stop().await, Some(0));
    let refused = program.run(&["serve", "--listen", "127.0.0.1:0"]).await;
    assert!(refused.code == Some(1) && refused.stderr.contains("m0099_future"), "{refused:?}");
}

#[tokio::test]
async fn a_server_waits_for_migrations_if_requested() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only: every command migrates a SQLite database");
    }
    let write = program.app.begin_write().await;
    let empty = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
    write.conn().execute_unprepared(empty).await.expect("the statements succeed");
    write.commit().await.expect("the commit succeeds");
    let refused = program.run(&["serve", "--listen", "127.0.0.1:0"]).await;
    let needed = migration::MIGRATIONS.iter().filter(|migration| migration.phase == Phase::Expand).count();
    let pending = format!("has {needed} pending migrations;");
    assert!(refused.code == Some(1) && refused.stderr.contains(&pending), "{refused:?}");

    let waiting = program.serve(&["serve", "--wait-for-migrations"]);
    let migrated = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        program.run(&["migrate"]).await
    };
    let (server, migrated) = tokio::join!(waiting, migrated);
    assert_eq!(migrated.code, Some(0), "{migrated:?}");
    let ready = program.app.http.get(format!("{}/readyz", server.base_url)).send().await.unwrap();
    assert_eq!(ready.status(), 200);
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn a_postgresql_role_without_a_statement_timeout_is_reported() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    let mut server = program.serve(&["serve", "--no-worker"]).await;
    server.wait_for_log("has no statement_timeout").await;
    assert_eq!(server.stop().await, Some(0));

    let database = program.app.database_url().rsplit('/').next().expect("a name").to_owned();
    let write = program.app.begin_write().await;
    let limit = format!("ALTER DATABASE {database} SET statement_timeout = '10s'");
    write.conn().execute_unprepared(&limit).await.expect("the setting is changed");
    write.commit().await.expect("the commit succeeds");
    let server = program.serve(&["serve", "--no-worker"]).await;
    let log = server.stop_and_read_log().await;
    assert!(!log.contains("statement_timeout"), "{log}");
}

#[tokio::test]
async fn a_second_signal_stops_the_server_immediately() {
    let program = TestProgram::new().await;
    let mut server = program.serve(&["serve"]).await;
    // A request that never ends.
    let mut stream = TcpStream::connect(server.base_url.trim_start_matches("http://")).await.unwrap();
    let head =
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.read_exact(&mut [0; 25]).await.unwrap();

    server.signal("TERM").await;
    server.wait_for_log("waiting for requests in flight").await;
    server.signal("TERM").await;
    assert_eq!(server.wait_for_exit().await, Some(130));
}

#[tokio::test]
async fn a_disconnected_client_is_logged() {
    let program = TestProgram::new().await;
    let secret = program.create_key("write:students").await;
    let mut server = program.serve(&["serve"]).await;
    // A transaction of the test holds the write lock, so the request waits.
    let blocking = program.app.begin_write().await;
    if program.app.uses_postgres() {
        blocking.conn().execute_unprepared("LOCK TABLE students IN EXCLUSIVE MODE").await.unwrap();
    }
    let body = r#"{"email": "ada@example.com"}"#;
    let request = format!(
        "POST /api/v1/students HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer {secret}\r\nX-Request-Id: left\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let address = server.base_url.trim_start_matches("http://").to_owned();
    let disconnect_repeatedly = async {
        // A client that disconnects before the request is processed leaves no trace, so each attempt waits longer.
        for wait_ms in (0..).map(|attempt| 50 << attempt) {
            let mut stream = TcpStream::connect(&address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            drop(stream);
            // Time to detect the disconnect before the next attempt.
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    };
    tokio::select! {
        () = disconnect_repeatedly => unreachable!("the loop does not end"),
        () = server.wait_for_log("gone=true") => {}
    }
    drop(blocking);
    assert_eq!(server.stop().await, Some(0));
    assert!(
        program.app.events_of_type("student.created").await.is_empty(),
        "the abandoned request was not executed"
    );
}

#[tokio::test]
async fn the_daily_counts_are_saved_at_shutdown() {
    let program = TestProgram::new().await;
    let secret = program.create_key("read:courses").await;
    let server = program.serve(&["serve"]).await;
    let mut remaining = String::new();
    for _ in 0..3 {
        let response = server.key(&program.app, &secret).get("/api/v1/courses").await.assert_status(200);
        response.header("x-ratelimit-daily-remaining").clone_into(&mut remaining);
    }
    assert_eq!((remaining.as_str(), server.stop().await), ("997", Some(0)));
    let server = program.serve(&["serve"]).await;
    let response = server.key(&program.app, &secret).get("/api/v1/courses").await.assert_status(200);
    assert_eq!(response.header("x-ratelimit-daily-remaining"), "996");
    assert_eq!(server.stop().await, Some(0));
}

/// Returns a few thousand changes of every type.
fn many_changes() -> Vec<String> {
    let mut changes = vec![
        ("workspace.upsert", json!({"key": "acme", "name": "Acme", "owner_email": "o@acme.example"})),
        ("live_session.upsert", json!({"key": "l1", "title": "Office hour"})),
        ("live_session.start", json!({"live_session": "l1"})),
    ];
    changes.extend((0..20).map(|n| ("course.upsert", course_data(&format!("c{n}"), "published", 2))));
    for n in 0..500 {
        let (student, course) = (format!("s{n}"), format!("c{}", n % 20));
        let order = json!({
            "key": format!("o{n}"), "number": format!("{n}"), "student": student, "currency": "EUR",
            "items": [{"course": course, "unit_amount": 100 + n}],
        });
        let lesson = json!({"student": student, "course": course, "lesson": format!("{course}-1")});
        changes.push(("student.upsert", json!({"key": student, "email": format!("{student}@example.com")})));
        changes.push(("order.pay", order));
        changes.push(("progress.record", lesson));
        match n % 5 {
            0 => changes.push(("order.refund", json!({"order": format!("o{n}")}))),
            1 => changes.push(("student.delete", json!({"student": student}))),
            2 => changes.push(("enrollment.revoke", json!({"student": student, "course": course}))),
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

/// Returns the lists, the summary and the events of the workspace, with ids masked and without recording times.
async fn imported_state(program: &TestProgram) -> Value {
    let secret = program.create_key("all").await;
    program
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
    let server = program.serve(&["serve"]).await;
    let key = server.key(&program.app, &secret);
    let mut all = Vec::new();
    for list in ["courses", "students", "orders"] {
        all.extend(key.list_all(&format!("/api/v1/{list}?sort=created_at&limit=100")).await);
    }
    let window = "from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z&interval=day";
    all.push(key.get(&format!("/api/v1/analytics/summary?{window}")).await.assert_status(200).json());
    all.extend(program.app.events().await);
    assert_eq!(server.stop().await, Some(0));
    let mut all = Value::Array(all);
    remove_recording_times(&mut all);
    mask_ids(&all)
}

/// Removes the times at which the server recorded data, which differ from run to run.
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
#[ignore = "slow"]
async fn an_import_killed_and_repeated_has_the_result_of_one_run() {
    let changes = many_changes();
    let uninterrupted = TestProgram::new().await;
    let output = uninterrupted.run_with_input(&["apply", "-"], &changes.join("\n")).await;
    assert_eq!(
        output.stdout,
        format!("{} applied, 0 applied before, 0 rejected\n", changes.len()),
        "{}",
        output.stderr
    );

    let killed = TestProgram::new().await;
    std::fs::write(killed.app.folder().join("changes.ndjson"), changes.join("\n")).unwrap();
    let mut kills = 0;
    for expected_events in [100, 700, 1300] {
        let mut child = killed.command(&["apply", "changes.ndjson"]).spawn().unwrap();
        // The process is killed once it has created this number of events. The last run may end before.
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
    let (expected, actual) = (imported_state(&uninterrupted).await, imported_state(&killed).await);
    assert!(expected == actual, "the killed and repeated import differs");
}

#[tokio::test]
async fn a_process_refuses_to_start_when_postgresql_allows_too_few_connections() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    let server = program.serve(&["serve"]).await;
    let output = program.run(&["worker", "--database-max-connections", "100000"]).await;
    assert_eq!(output.code, Some(1), "{output:?}");
    let expected = "the running processes (1) use up to 19, and this one would use up to 100002; lower \
                    --database-max-connections of the processes, or raise max_connections of PostgreSQL";
    assert!(output.stderr.contains(expected), "{}", output.stderr);
    assert_eq!(server.stop().await, Some(0));
}
