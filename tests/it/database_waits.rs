//! Database connections that stop responding, and transactions of processes that stopped running. PostgreSQL only.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait, Statement, TransactionTrait};
use serde_json::json;
use tokio::io::copy;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::support::conformance::assert_error;
use crate::support::program::TestProgram;
use crate::support::{Endpoint, TestApp, TestResponse, send, skip, wait_until};

/// Allows webhooks to the loopback network, where the endpoint of the test listens.
const ALLOW_LOOPBACK: [&str; 2] = ["--webhook-allow", "127.0.0.0/8"];

/// Forwards TCP connections to a server. A frozen connection stays open for the client and carries no more bytes, and
/// the connection to the server is closed.
struct Relay {
    port: u16,
    freezes: watch::Sender<usize>,
    task: JoinHandle<()>,
}

impl Relay {
    /// Starts a relay to this host and port.
    async fn start(server_address: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (freezes, _) = watch::channel(0);
        let frozen = freezes.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let (server_address, mut freeze) = (server_address.clone(), frozen.subscribe());
                connections.spawn(async move {
                    let server = TcpStream::connect(server_address).await.expect("the server accepts");
                    let (mut from_client, mut to_client) = client.into_split();
                    let (mut from_server, mut to_server) = server.into_split();
                    let forward = async {
                        let _ = tokio::join!(
                            copy(&mut from_client, &mut to_server),
                            copy(&mut from_server, &mut to_client)
                        );
                    };
                    tokio::select! {
                        () = forward => {}
                        _ = freeze.changed() => {}
                    }
                    // The server must roll back what it was executing, as it does when its own keepalive fails.
                    drop((from_server, to_server));
                    std::future::pending::<()>().await;
                    drop((from_client, to_client));
                });
            }
        });
        Self { port, freezes, task }
    }

    /// Freezes all connections that are open now. New connections work.
    fn freeze(&self) {
        self.freezes.send_modify(|count| *count += 1);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test]
async fn silently_dead_connections_are_replaced_within_15_seconds() {
    const CLIENTS: usize = 12;
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only");
    }
    let mut url: reqwest::Url = program.app.database_url().parse().expect("a URL");
    let server_address = format!("{}:{}", url.host_str().expect("a host"), url.port().unwrap_or(5432));
    let relay = Relay::start(server_address).await;
    url.set_host(Some("127.0.0.1")).expect("a host");
    url.set_port(Some(relay.port)).expect("a port");
    let secret = program.create_key("read:students,write:students").await;
    let endpoint = Endpoint::start().await;
    let hook = endpoint.url();
    let args = ["webhooks", "create", "--workspace", "acme", "--url", &hook, "--event", "student.created"];
    assert_eq!(program.run(&[&args[..], &ALLOW_LOOPBACK].concat()).await.code, Some(0));

    let mut command = program.command(&[&["serve"][..], &ALLOW_LOOPBACK].concat());
    command.env("DATABASE_URL", url.as_str()).env("CREATOR_API_LISTEN", "127.0.0.1:0");
    let server = program.start_server(command).await;
    let key = Arc::new(server.key(&program.app, &secret));
    let read_at_once = async || {
        let read = |_| {
            let key = Arc::clone(&key);
            async move {
                let started = Instant::now();
                let response: TestResponse = key.get("/api/v1/students?limit=1").await;
                assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
                response
            }
        };
        futures_util::future::join_all((0..CLIENTS).map(read)).await
    };
    for response in read_at_once().await {
        response.assert_status(200);
    }

    relay.freeze();
    let frozen = Instant::now();
    loop {
        let responses = read_at_once().await;
        let failed = responses.iter().filter(|response| response.status != 200);
        let failures = failed.inspect(|response| drop(assert_error(response, 500, "internal_error"))).count();
        if failures == 0 {
            break;
        }
        assert!(frozen.elapsed() < Duration::from_secs(15), "{failures} of {CLIENTS} requests fail");
    }
    key.post("/api/v1/students", json!({"email": "ada@example.com"})).await.assert_status(201);
    while endpoint.requests().is_empty() {
        assert!(frozen.elapsed() < Duration::from_secs(15), "the worker does not send");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(server.stop().await, Some(0));
}

#[tokio::test]
async fn a_write_of_a_suspended_process_delays_a_delta_sync_by_at_most_12_seconds() {
    let app = TestApp::start().await;
    if !app.uses_postgres() {
        return skip(
            "PostgreSQL only: SQLite has one writer: no other write begins while the suspended process has an open one",
        );
    }
    let workspace = app.workspace("acme").await;
    let key = workspace.key("read:students").await;
    let suspended = app.other_process().await;
    let open_write = suspended.begin_write().await.expect("a write begins");
    app.clock.advance(Duration::from_secs(1));
    let ada = workspace.student("ada").await;
    app.clock.advance(Duration::from_secs(1));

    let started = Instant::now();
    let list = "/api/v1/students?sort=updated_at";
    assert!(
        key.get(list).await.assert_status(200).ids().is_empty(),
        "the open write may still add a student"
    );
    while key.get(list).await.assert_status(200).ids().is_empty() {
        assert!(started.elapsed() < Duration::from_secs(12), "the write still holds its lock");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(key.get(list).await.ids(), [ada]);
    open_write.commit().await.expect_err("the database ended the transaction");
}

#[tokio::test]
async fn requests_that_wait_for_a_locked_table_fail_within_3_seconds() {
    let app = TestApp::start().await;
    if !app.uses_postgres() {
        return skip("PostgreSQL only: SQLite has one lock for all tables");
    }
    let key = app.workspace("acme").await.key("write:students read:students").await;
    // The key and its counts are in memory.
    key.get("/api/v1/students").await.assert_status(200);
    let other = sea_orm::Database::connect(app.database_url()).await.expect("a connection");
    let body = json!({"email": "ada@example.com"});
    let timed = async |request: reqwest::RequestBuilder| {
        let started = Instant::now();
        let response = send(request).await;
        assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
        assert_error(&response, 500, "internal_error");
    };
    let post = || key.request(reqwest::Method::POST, "/api/v1/students").json(&body);
    // The operation writes students, and the commit writes events.
    for table in ["students", "events"] {
        let lock = other.begin().await.expect("a transaction");
        let statement = format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
        lock.execute_unprepared(&statement).await.expect("the table is locked");
        timed(post()).await;
        timed(post().header("idempotency-key", "first")).await;
        if table == "students" {
            timed(key.request(reqwest::Method::GET, "/api/v1/students")).await;
        }
        lock.rollback().await.expect("the lock is released");
    }
    let repeated = key.post_idempotent("/api/v1/students", "first", &body).await;
    assert_eq!(
        repeated.assert_status(201).header("idempotent-replayed"),
        "",
        "the failed request released its claim"
    );
}

#[tokio::test]
async fn a_claim_that_could_not_be_released_is_released_when_the_database_is_available() {
    let app = TestApp::start().await;
    if !app.uses_postgres() {
        return skip("PostgreSQL only: SQLite has one lock for all tables");
    }
    let key = app.workspace("acme").await.key("write:students read:students").await;
    key.get("/api/v1/students").await.assert_status(200);
    let other = sea_orm::Database::connect(app.database_url()).await.expect("a connection");
    let lock = other.begin().await.expect("a transaction");
    lock.execute_unprepared("LOCK TABLE students IN ACCESS EXCLUSIVE MODE")
        .await
        .expect("the table is locked");

    let body = json!({"email": "ada@example.com"});
    let failing = async { key.post_idempotent("/api/v1/students", "first", &body).await };
    let lock_claims = async {
        let count = "SELECT count(*) FROM idempotency_records";
        let count = Statement::from_string(other.get_database_backend(), count);
        wait_until("the request has claimed its key", async || {
            let row = other.query_one_raw(count.clone()).await.expect("the query succeeds").expect("a row");
            row.try_get_by_index::<i64>(0).expect("a count") == 1
        })
        .await;
        // The release of the claim fails, too.
        let statement = "LOCK TABLE idempotency_records IN ACCESS EXCLUSIVE MODE";
        lock.execute_unprepared(statement).await.expect("the table is locked");
    };
    let (failed, ()) = tokio::join!(failing, lock_claims);
    assert_error(&failed, 500, "internal_error");
    lock.rollback().await.expect("the lock is released");

    let started = Instant::now();
    while key.post_idempotent("/api/v1/students", "first", &body).await.status != 201 {
        assert!(started.elapsed() < Duration::from_secs(20), "the claim is not released");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
