//! Database URLs with several PostgreSQL servers. PostgreSQL only.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpListener;

use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{Endpoint, PostgresPair, TestKey, skip, wait_until};

/// The scopes of the key.
const SCOPES: &str = "read:students,write:students";

/// The longest time without writes after a promotion. PostgreSQL starts and stops within it.
const MAX_OUTAGE: Duration = Duration::from_secs(15);

/// How long the promoted server does not respond: longer than a test of the hosts.
const OUTAGE: Duration = Duration::from_secs(4);

/// Creates a migrated database on the pair, and a key.
async fn migrated(pair: &PostgresPair) -> (TestProgram, String) {
    let mut program = TestProgram::new().await;
    program.database_url = Some(pair.url());
    let migrated = program.run(&["migrate"]).await;
    assert_eq!(migrated.code, Some(0), "{migrated:?}");
    let secret = program.create_key(SCOPES).await;
    (program, secret)
}

async fn create_student(key: &TestKey, name: &str) {
    key.post("/api/v1/students", json!({"email": format!("{name}@example.com")})).await.assert_status(201);
}

/// Repeats a request that creates a student until it succeeds, as the contract recommends.
async fn create_student_after_failover(key: &TestKey, name: &str) {
    let started = Instant::now();
    let body = json!({"email": format!("{name}@example.com")});
    while key.post_idempotent("/api/v1/students", name, &body).await.status != 201 {
        assert!(started.elapsed() < MAX_OUTAGE, "writes fail for {} s", started.elapsed().as_secs());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn student_emails(server: &ServerProcess, program: &TestProgram, secret: &str) -> Vec<String> {
    let list = server.key(&program.app, secret).get("/api/v1/students").await;
    let students = list.assert_status(200).json()["data"].as_array().expect("a list").clone();
    students.iter().map(|student| student["email"].as_str().expect("an address").to_owned()).collect()
}

#[tokio::test]
async fn processes_follow_a_promoted_standby_and_ignore_the_previous_primary() {
    let Some(mut pair) = PostgresPair::start(true).await else { return };
    let (mut program, secret) = migrated(&pair).await;
    let endpoint = Endpoint::start().await;
    let allow = ["--webhook-allow", "127.0.0.0/8"];
    let hook = endpoint.url();
    let args = ["webhooks", "create", "--workspace", "acme", "--url", &hook, "--event", "student.created"];
    assert_eq!(program.run(&[&args[..], &allow].concat()).await.code, Some(0));
    let server = program.serve(&[&["serve"][..], &allow].concat()).await;
    let key = server.key(&program.app, &secret);
    create_student(&key, "ada").await;

    pair.primary.kill();
    pair.standby.promote().await;
    create_student_after_failover(&key, "grace").await;
    assert_eq!(student_emails(&server, &program, &secret).await, ["grace@example.com", "ada@example.com"]);
    wait_until("both events are sent", async || endpoint.requests().len() >= 2).await;

    // Both accept writes now, as when a service manager starts the previous primary again.
    pair.primary.start().await;
    create_student(&key, "mary").await;
    assert_eq!(student_emails(&server, &program, &secret).await.len(), 3);
    program.database_url = Some(pair.url_with_primary_first());
    let restarted = program.serve(&["serve", "--no-worker"]).await;
    assert_eq!(student_emails(&restarted, &program, &secret).await.len(), 3);
    assert_eq!(restarted.stop().await, Some(0));
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn writes_wait_for_the_promoted_server_while_the_previous_primary_accepts_writes() {
    let Some(mut pair) = PostgresPair::start(true).await else { return };
    let (program, secret) = migrated(&pair).await;
    let server = program.serve(&["serve", "--no-worker"]).await;
    let key = server.key(&program.app, &secret);
    create_student(&key, "ada").await;
    pair.primary.kill();
    pair.standby.promote().await;
    create_student_after_failover(&key, "grace").await;
    pair.primary.start().await;
    // Without a standby, it could acknowledge writes.
    pair.primary.execute("ALTER SYSTEM SET synchronous_standby_names = ''").await;
    pair.primary.execute("SELECT pg_reload_conf()").await;

    let paused = pair.standby.pause().await;
    let started = Instant::now();
    let mut acknowledged = vec!["grace".to_owned()];
    for number in 0.. {
        if started.elapsed() > OUTAGE {
            break;
        }
        let name = format!("student-{number}");
        let body = json!({"email": format!("{name}@example.com")});
        let post = key.post_idempotent("/api/v1/students", &name, &body);
        let response = tokio::time::timeout(Duration::from_millis(500), post).await;
        if response.is_ok_and(|response| response.status == 201) {
            acknowledged.push(name);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(paused);
    create_student_after_failover(&key, "mary").await;
    acknowledged.push("mary".to_owned());

    let stale: String = pair.primary.query("SELECT string_agg(email, ' ') FROM students").await;
    assert_eq!(stale, "ada@example.com");
    let students = student_emails(&server, &program, &secret).await;
    let is_stored = |name: &String| students.contains(&format!("{name}@example.com"));
    assert!(acknowledged.iter().all(is_stored), "{acknowledged:?}, {students:?}");
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn connections_to_a_primary_that_became_read_only_are_replaced() {
    let Some(pair) = PostgresPair::start(true).await else { return };
    let (program, secret) = migrated(&pair).await;
    let server = program.serve(&["serve", "--no-worker"]).await;
    let key = server.key(&program.app, &secret);
    create_student(&key, "ada").await;
    pair.standby.promote().await;
    pair.primary.execute("ALTER SYSTEM SET default_transaction_read_only = on").await;
    pair.primary.execute("SELECT pg_reload_conf()").await;
    create_student_after_failover(&key, "grace").await;
    assert_eq!(student_emails(&server, &program, &secret).await.len(), 2);
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn hosts_that_do_not_respond_or_refuse_connections_delay_the_start_by_a_second() {
    let mut program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    // The system accepts connections, and nothing responds.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let silent = silent.local_addr().expect("an address");
    let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let url = program.app.database_url();
    let (before, after) = url.split_once('@').expect("a user");
    program.database_url = Some(format!("{before}@{silent},{closed},{after}"));
    let started = Instant::now();
    let listed = program.run(&["workspaces", "list"]).await;
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());

    program.database_url = Some(format!("{before}@{silent},{closed}/app"));
    let failed = program.run(&["workspaces", "list"]).await;
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let reasons = [format!("{silent}: no response within 1 s"), format!("{closed}: ")];
    assert!(reasons.iter().all(|reason| failed.stderr.contains(reason)), "{}", failed.stderr);
}
