//! Reads from a PostgreSQL standby. PostgreSQL only.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{PostgresPair, TestKey, send, skip, wait_until};

const STUDENTS: &str = "/api/v1/students";

const SUMMARY: &str = "/api/v1/analytics/summary";

const DELTA: &str = "/api/v1/students?sort=updated_at";

/// The longest time after which a read shows a write: a standby that lags by more than 10 seconds is not used.
const MAX_LAG: Duration = Duration::from_secs(12);

async fn start(pair: &PostgresPair) -> (TestProgram, ServerProcess, TestKey) {
    let mut program = TestProgram::new().await;
    program.database_url = Some(pair.primary.url());
    assert_eq!(program.run(&["migrate"]).await.code, Some(0));
    let secret = program.create_key("read:students,write:students,read:analytics").await;
    let mut command = program.command(&["serve", "--no-worker", "--default-per-minute", "100000"]);
    command.env("CREATOR_API_LISTEN", "127.0.0.1:0").env("CREATOR_API_DEFAULT_PER_DAY", "1000000");
    // Nothing reads the access log.
    command.env("CREATOR_API_LOG_FILTER", "foundation=info,warn");
    command.env("CREATOR_API_DATABASE_READ_URL", pair.standby.url());
    let server = program.start_server(command).await;
    let key = server.key(&program.app, &secret);
    (program, server, key)
}

/// Waits until lists are read from the standby.
async fn wait_until_used(pair: &PostgresPair, key: &TestKey) {
    let now: String = pair.standby.query("SELECT clock_timestamp()::text").await;
    let used = format!(
        "SELECT count(*) > 0 FROM pg_stat_activity
         WHERE application_name = 'creator-api' AND query LIKE '%\"students\"%' AND query_start > '{now}'"
    );
    wait_until("the standby is used", async || {
        key.get(STUDENTS).await.assert_status(200);
        pair.standby.query::<bool>(&used).await
    })
    .await;
}

async fn students(key: &TestKey, path: &str) -> usize {
    key.get(path).await.assert_status(200).ids().len()
}

async fn students_total(key: &TestKey) -> i64 {
    let summary = key.get(SUMMARY).await;
    summary.assert_status(200).json()["students"]["total"].as_i64().expect("a number")
}

#[tokio::test]
async fn lists_and_analytics_use_a_standby_until_it_lags_by_10_seconds() {
    let Some(pair) = PostgresPair::start(false).await else { return };
    let (_program, server, key) = start(&pair).await;
    wait_until_used(&pair, &key).await;

    pair.standby.execute("SELECT pg_wal_replay_pause()").await;
    wait_until("the replay is paused", async || {
        pair.standby.query::<String>("SELECT pg_get_wal_replay_pause_state()").await == "paused"
    })
    .await;
    key.post(STUDENTS, json!({"email": "ada@example.com"})).await.assert_status(201);
    let written = Instant::now();
    assert_eq!(students(&key, &format!("{STUDENTS}?updated_after=2020-01-01T00:00:00Z")).await, 1);
    let current = key.request(Method::GET, SUMMARY).header("if-none-match", "\"other\"");
    assert_eq!(send(current).await.json()["students"]["total"], 1, "a conditional request uses the primary");
    // On a busy machine, single reads can use the primary.
    let (mut lagging_lists, mut lagging_summaries) = (0, 0);
    while written.elapsed() < MAX_LAG {
        lagging_lists += u32::from(students(&key, STUDENTS).await == 0);
        lagging_summaries += u32::from(students_total(&key).await == 0);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((students(&key, STUDENTS).await, students_total(&key).await), (1, 1), "neither lags");
    assert!(lagging_lists > 0 && lagging_summaries > 0, "{lagging_lists} and {lagging_summaries} reads lag");
    wait_until("a delta sync ignores the standby", async || students(&key, DELTA).await == 1).await;

    pair.standby.execute("SELECT pg_wal_replay_resume()").await;
    wait_until_used(&pair, &key).await;
    assert_eq!((students(&key, STUDENTS).await, students_total(&key).await), (1, 1));
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn reads_use_the_primary_while_the_standby_is_down() {
    let Some(mut pair) = PostgresPair::start(false).await else { return };
    let (_program, server, key) = start(&pair).await;
    wait_until_used(&pair, &key).await;
    pair.standby.kill();
    key.post(STUDENTS, json!({"email": "ada@example.com"})).await.assert_status(201);
    for _ in 0..50 {
        let started = Instant::now();
        assert_eq!((students(&key, STUDENTS).await, students_total(&key).await), (1, 1));
        assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    }
    pair.standby.start().await;
    wait_until_used(&pair, &key).await;
    let log = server.stop_and_read_log().await;
    let lines = log.lines().filter(|line| line.contains("the standby cannot be used")).count();
    assert!((1..5).contains(&lines), "{log}");
}

#[tokio::test]
async fn a_database_that_is_no_copy_of_the_primary_or_has_another_schema_is_not_used() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    let secret = program.create_key("read:students,write:students").await;
    let other = TestProgram::new().await.app.database_url();
    let (server, _) = other.rsplit_once('/').expect("the name of the database");
    let cases = [
        (other.clone(), "it has not replayed that this process runs"),
        // No migration was applied here.
        (format!("{server}/postgres"), "this version cannot run on its schema"),
    ];
    for (number, (url, reason)) in cases.into_iter().enumerate() {
        let mut command = program.command(&["serve", "--no-worker", "--default-per-minute", "100000"]);
        command.env("CREATOR_API_LISTEN", "127.0.0.1:0").env("CREATOR_API_DATABASE_READ_URL", url);
        let mut server = program.start_server(command).await;
        let key = server.key(&program.app, &secret);
        let email = format!("ada{number}@example.com");
        key.post(STUDENTS, json!({"email": email})).await.assert_status(201);
        assert_eq!(students(&key, STUDENTS).await, number + 1);
        // Each read can start a check, at most one per second.
        let read = async {
            loop {
                students(&key, STUDENTS).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            () = server.wait_for_log(reason) => {}
            () = read => {}
        }
        assert_eq!(students(&key, STUDENTS).await, number + 1);
        assert_eq!(server.stop().await, Some(0));
    }
}
