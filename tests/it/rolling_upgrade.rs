//! Upgrades without downtime: the phases of migrations, and servers that are replaced one by one under load.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foundation::database::Phase;
use migration::{Backfill, Migration};
use serde_json::json;

use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{TestApp, client_builder, skip, wait_until};

/// The migrations of the new release. The program runs on the schema before, between and after them.
const RELEASE: &[Migration] = &[
    Migration {
        name: "m0091_nickname",
        added_columns: &[("students", "nickname TEXT"), ("students", "old_name TEXT")],
        ..Migration::EMPTY
    },
    Migration {
        name: "m0092_fill_nickname",
        backfill: Some(Backfill {
            table: "students",
            key: "id",
            statement: "UPDATE students SET nickname = email WHERE {batch}",
        }),
        ..Migration::EMPTY
    },
    Migration {
        name: "m0093_index_nickname",
        concurrent_indexes: &["CREATE INDEX ix_students_nickname ON students (workspace_id, nickname)"],
        ..Migration::EMPTY
    },
    Migration {
        name: "m0094_drop_old_name",
        phase: Phase::Contract,
        statements: &["ALTER TABLE students DROP COLUMN old_name"],
        ..Migration::EMPTY
    },
];

#[tokio::test]
async fn a_server_serves_while_the_contract_phase_is_pending() {
    let app = TestApp::start_with_migrations(RELEASE).await;
    let key = app.workspace("acme").await.key("write:students").await;
    let readiness = async || {
        let response = app.get("/readyz").await;
        (response.status, String::from_utf8(response.body).expect("UTF-8"))
    };
    assert_eq!(readiness().await, (503, "the database has pending migrations\n".to_owned()));
    let expanded = app.app.db.migrate_phase(Some(Phase::Expand)).await.expect("the expand phase applies");
    assert_eq!((expanded.applied.len(), expanded.pending_contract), (3, 1));
    assert_eq!(readiness().await, (200, "ready\n".to_owned()));
    key.post("/api/v1/students", json!({"email": "ada@example.com"})).await.assert_status(201);
    let contracted =
        app.app.db.migrate_phase(Some(Phase::Contract)).await.expect("the contract phase applies");
    assert_eq!(contracted.applied, ["m0094_drop_old_name"]);
    assert_eq!(readiness().await, (200, "ready\n".to_owned()));
    key.post("/api/v1/students", json!({"email": "eve@example.com"})).await.assert_status(201);
}

/// Clients that write and read constantly. Like a load balancer, they choose among the servers whose `/readyz`
/// succeeds. No request is repeated, and each one opens a connection, so that the HTTP library does not repeat it
/// either.
struct Load {
    http: reqwest::Client,
    secret: String,
    /// The URLs of the running servers.
    servers: Mutex<Vec<String>>,
    /// The URLs of the servers that were ready at the last check.
    ready: Mutex<Vec<String>>,
    next_number: AtomicUsize,
    /// The email addresses of the students whose creation was acknowledged.
    acknowledged: Mutex<Vec<String>>,
    failures: Mutex<Vec<String>>,
    is_stopped: AtomicBool,
}

impl Load {
    fn new(secret: String) -> Arc<Self> {
        let http = client_builder().pool_max_idle_per_host(0).timeout(Duration::from_secs(10));
        Arc::new(Self {
            http: http.build().expect("a client"),
            secret,
            servers: Mutex::default(),
            ready: Mutex::default(),
            next_number: AtomicUsize::new(0),
            acknowledged: Mutex::default(),
            failures: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        })
    }

    /// Checks the servers every 50 milliseconds.
    async fn check_servers(&self) {
        while !self.is_stopped.load(Ordering::Relaxed) {
            let mut ready = Vec::new();
            let servers = self.servers.lock().unwrap().clone();
            for server in servers {
                let response = self.http.get(format!("{server}/readyz")).send().await;
                if response.is_ok_and(|response| response.status() == 200) {
                    ready.push(server);
                }
            }
            *self.ready.lock().unwrap() = ready;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Writes and reads until the load is stopped or a request fails.
    async fn send_requests(&self) {
        while !self.is_stopped.load(Ordering::Relaxed) {
            if let Err(failure) = self.write_and_read().await {
                self.failures.lock().unwrap().push(failure);
                return;
            }
        }
    }

    /// Creates a student on one ready server and reads it from the next one.
    async fn write_and_read(&self) -> Result<(), String> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let email = format!("student-{number}@example.com");
        let create = self.http.post(self.url(number, "/api/v1/students")?).json(&json!({"email": email}));
        self.send(create, 201).await?;
        let path = format!("/api/v1/students?email={email}");
        self.acknowledged.lock().unwrap().push(email);
        let found = self.send(self.http.get(self.url(number + 1, &path)?), 200).await?;
        if found["data"].as_array().is_none_or(|students| students.len() != 1) {
            return Err(format!("expected one student: {found}"));
        }
        Ok(())
    }

    /// Returns the URL of a path on a ready server, or an error if no server is ready. Clients that pass consecutive
    /// numbers use the ready servers in turn.
    fn url(&self, number: usize, path: &str) -> Result<String, String> {
        let ready = self.ready.lock().unwrap();
        let server = ready.get(number % ready.len().max(1)).ok_or("no server is ready")?;
        Ok(format!("{server}{path}"))
    }

    async fn send(
        &self,
        request: reqwest::RequestBuilder,
        expected: u16,
    ) -> Result<serde_json::Value, String> {
        let response =
            request.bearer_auth(&self.secret).send().await.map_err(|error| format!("{error:?}"))?;
        let (status, body) =
            (response.status(), response.text().await.map_err(|error| format!("{error:?}"))?);
        if status != expected {
            return Err(format!("{status}: {body}"));
        }
        serde_json::from_str(&body).map_err(|error| format!("{error}: {body}"))
    }

    /// Adds a server, and waits until it is ready.
    async fn add(&self, server: &ServerProcess) {
        self.servers.lock().unwrap().push(server.base_url.clone());
        wait_until("the server is ready", async || self.ready.lock().unwrap().contains(&server.base_url))
            .await;
    }

    /// Waits until 100 more students have been created, or a request has failed.
    async fn wait_for_requests(&self) {
        let count = || self.acknowledged.lock().unwrap().len();
        let before = count();
        wait_until("more writes", async || {
            count() >= before + 100 || !self.failures.lock().unwrap().is_empty()
        })
        .await;
    }
}

#[tokio::test]
async fn servers_are_replaced_under_load_without_a_failed_request() {
    let mut program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only: only one server should use a SQLite database");
    }
    let load = Load::new(program.create_key("all").await);
    // Without a log line per request, which nothing reads.
    let args = ["serve", "--no-worker", "--log-filter", "warn", "--drain-seconds", "1"];
    let limits = ["--default-per-minute", "1000000", "--default-per-day", "1000000"];
    let args = [&args[..], &limits].concat();
    let mut tasks = vec![tokio::spawn({
        let load = Arc::clone(&load);
        async move { load.check_servers().await }
    })];
    let mut servers = Vec::new();
    for _ in 0..2 {
        let server = program.serve(&args).await;
        load.add(&server).await;
        servers.push(server);
    }
    for _ in 0..4 {
        let load = Arc::clone(&load);
        tasks.push(tokio::spawn(async move { load.send_requests().await }));
    }
    load.wait_for_requests().await;

    program.app.database.add_migrations(RELEASE);
    let migrating = program.app.database.open(2).await;
    let expanded = migrating.migrate_phase(Some(Phase::Expand)).await.expect("the expand phase applies");
    assert_eq!(expanded.applied.len(), 3);
    load.wait_for_requests().await;
    for server in &mut servers {
        let new = program.serve(&args).await;
        let old = std::mem::replace(server, new);
        assert_eq!(old.stop().await, Some(0));
        load.add(server).await;
        load.wait_for_requests().await;
    }
    migrating.migrate_phase(Some(Phase::Contract)).await.expect("the contract phase applies");
    load.wait_for_requests().await;

    load.is_stopped.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.expect("no panic");
    }
    assert_eq!(*load.failures.lock().unwrap(), [""; 0]);
    let events = program.app.events_of_type("student.created").await;
    let mut created: Vec<&str> = events.iter().filter_map(|event| event["data"]["email"].as_str()).collect();
    let acknowledged = load.acknowledged.lock().unwrap();
    let mut acknowledged: Vec<&str> = acknowledged.iter().map(String::as_str).collect();
    created.sort_unstable();
    acknowledged.sort_unstable();
    assert!(acknowledged == created, "{} acknowledged, {} events", acknowledged.len(), created.len());
}
