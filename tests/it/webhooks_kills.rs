//! Workers that are killed, suspended or stopped while they send: no delivery is lost or settled twice.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::webhooks::{self, DeliveryState};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{Endpoint, Receiver, TestWorkspace, read_request, skip, wait_until};

/// The maximum time that a test waits for a condition.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The duration of a lease in milliseconds.
const LEASE_MS: i64 = 60_000;

/// Allows webhooks to the loopback network, where the receivers of the tests listen.
const ALLOW_LOOPBACK: [&str; 2] = ["--webhook-allow", "127.0.0.0/8"];

/// Expires all leases. It changes the rows, because a test cannot change the clock of another process.
async fn expire_leases(program: &TestProgram) {
    let db = &program.app.app.db;
    let sql = format!(
        "UPDATE webhook_deliveries SET lease_until = lease_until - {LEASE_MS} WHERE lease_token IS NOT NULL"
    );
    let write = program.app.begin_write().await;
    write.conn().execute_raw(Statement::from_string(db.backend(), sql)).await.expect("the update succeeds");
    write.commit().await.expect("the commit succeeds");
}

/// Starts clients that create students through the API until the server is killed, and count the successful responses
/// in `created`.
fn spawn_clients(
    program: &TestProgram,
    server: &ServerProcess,
    secret: &str,
    round: usize,
    created: &Arc<AtomicUsize>,
) -> JoinSet<()> {
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let (key, created) = (server.key(&program.app, secret), Arc::clone(created));
        clients.spawn(async move {
            for number in 0.. {
                let body = json!({"email": format!("s-{round}-{client}-{number}@example.com")});
                let request = key.request(reqwest::Method::POST, "/api/v1/students").json(&body);
                match request.send().await {
                    Ok(response) if response.status() == 201 => created.fetch_add(1, Ordering::SeqCst),
                    _ => return,
                };
            }
        });
    }
    clients
}

/// Returns the number of pending, delivered, dead and held deliveries.
async fn count_by_state(program: &TestProgram) -> [i64; 4] {
    let db = &program.app.app.db;
    let mut counts = [0; 4];
    for (state, count) in (0..).zip(&mut counts) {
        let sql = format!("SELECT count(*) FROM webhook_deliveries WHERE state = {state}");
        let row = db.read().query_one_raw(Statement::from_string(db.backend(), sql)).await.expect("a count");
        *count = row.expect("a row").try_get_by_index(0).expect("a number");
    }
    counts
}

#[tokio::test]
#[ignore = "slow"]
async fn a_server_that_is_killed_twenty_times_loses_no_delivery() {
    const KILLS: usize = 20;
    // Set `KILLED_EVENTS` to run with more events, such as 10,000, and pass `--include-ignored`.
    let events: usize =
        std::env::var("KILLED_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let program = TestProgram::new().await;
    let secret = program.create_key("write:students").await;
    let endpoint = Endpoint::start().await;
    let url = endpoint.url();
    let args = ["webhooks", "create", "--workspace", "acme", "--url", &url, "--event", "student.created"];
    assert_eq!(program.run(&[&args[..], &ALLOW_LOOPBACK].concat()).await.code, Some(0));
    let quota = ["--default-per-minute", "1000000", "--default-per-day", "1000000"];
    let serve = [&["serve"][..], &ALLOW_LOOPBACK, &quota].concat();

    let created = Arc::new(AtomicUsize::new(0));
    for round in 1..=KILLS {
        let mut server = program.serve(&serve).await;
        let mut clients = spawn_clients(&program, &server, &secret, round, &created);
        let target = events * round / KILLS;
        wait_until("students are created", async || created.load(Ordering::SeqCst) >= target).await;
        assert!(server.child.try_wait().expect("a process").is_none(), "the server runs");
        server.child.kill().await.expect("the kill succeeds");
        while clients.join_next().await.is_some() {}
        // The next process may send the deliveries that were in flight.
        expire_leases(&program).await;
    }
    let server = program.serve(&serve).await;
    let app = &program.app;
    wait_until("all are delivered", async || {
        webhooks::queue_status(&app.app).await.expect("the queue").pending == 0
    })
    .await;
    assert_eq!(server.stop().await, Some(0));

    let committed: BTreeSet<String> =
        app.events_of_type("student.created").await.iter().map(|event| event["id"].to_string()).collect();
    let requests = endpoint.requests();
    let received: BTreeSet<String> =
        requests.iter().map(|request| request.event()["id"].to_string()).collect();
    let [pending, delivered, dead, held] = count_by_state(&program).await;
    eprintln!(
        "{KILLS} kills; committed {}, received {} of them, {} requests; {pending} pending, {delivered} delivered, \
         {dead} dead, {held} held",
        committed.len(),
        received.len(),
        requests.len()
    );
    assert!(
        committed.len() >= events.max(created.load(Ordering::SeqCst)),
        "each successful response was committed"
    );
    assert!(received == committed, "{:?}", committed.symmetric_difference(&received).collect::<Vec<_>>());
    let all = i64::try_from(committed.len()).expect("a count");
    assert_eq!((pending, delivered, dead, held), (0, all, 0, 0), "counts reconcile");
    // Deliveries that were in flight at a kill may be sent twice.
    assert!(requests.len() - received.len() <= KILLS * 256, "{} duplicates", requests.len() - received.len());
}

#[tokio::test]
async fn a_server_stops_in_time_and_releases_hanging_deliveries() {
    let program = TestProgram::new().await;
    let hanging_receiver = Receiver::start(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let workspace = program.app.workspace("acme").await;
    let url = hanging_receiver.url("http", "127.0.0.1").to_string();
    let args = ["webhooks", "create", "--workspace", "acme", "--url", &url, "--event", "student.created"];
    assert_eq!(program.run(&[&args[..], &ALLOW_LOOPBACK].concat()).await.code, Some(0));
    workspace.upsert_student("ada").await;
    let mut server =
        program.serve(&[&["serve", "--shutdown-seconds", "3"][..], &ALLOW_LOOPBACK].concat()).await;
    wait_until("the delivery is in flight", async || hanging_receiver.connections() == 1).await;
    let signaled = std::time::Instant::now();
    server.signal("TERM").await;
    assert_eq!(server.wait_for_exit().await, Some(0));
    assert!(
        signaled.elapsed() < Duration::from_secs(6),
        "stopped after {:?} with a timeout of 3 s",
        signaled.elapsed()
    );
    let queue = webhooks::queue_status(&program.app.app).await.unwrap();
    assert_eq!((queue.pending, queue.in_flight), (1, 0), "the lease is released");
}

/// A process of the command `worker`.
struct WorkerProcess {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
}

impl WorkerProcess {
    fn start(program: &TestProgram) -> Self {
        // Attempts are logged at this level.
        let level = ["--log-filter", "info,webhooks=debug"];
        let mut command = program.command(&[&["worker"][..], &level, &ALLOW_LOOPBACK].concat());
        let mut child = command.stdout(Stdio::null()).spawn().expect("the program starts");
        let log = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        Self { child, log }
    }

    async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("the worker runs").to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status().await;
        assert!(status.expect("`kill` runs").success());
    }

    /// Waits for this number of log lines that contain the text.
    async fn wait_for_logs(&mut self, text: &str, count: usize) {
        for _ in 0..count {
            loop {
                let line = tokio::time::timeout(TIMEOUT, self.log.next_line()).await.expect("a line in time");
                if line.expect("a line").expect("the log continues").contains(text) {
                    break;
                }
            }
        }
    }
}

/// A receiver that holds requests: it reads them, and responds only when the test allows it.
struct HoldingReceiver {
    receiver: Receiver,
    /// Whether new requests are held.
    holds: Arc<AtomicBool>,
    /// Whether held requests get a response.
    responds_to_held: watch::Sender<bool>,
    /// The ids of the deliveries in all requests so far.
    ids: Arc<Mutex<Vec<String>>>,
}

impl HoldingReceiver {
    /// Starts a receiver that holds all requests.
    async fn start() -> Self {
        let (responds_to_held, barrier) = watch::channel(false);
        let (holds, ids) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::<String>::new())));
        let (shared_holds, shared_ids) = (Arc::clone(&holds), Arc::clone(&ids));
        let receiver = Receiver::start(move |mut stream| {
            let (mut barrier, holds, ids) =
                (barrier.clone(), Arc::clone(&shared_holds), Arc::clone(&shared_ids));
            async move {
                loop {
                    let bytes = read_request(&mut stream).await;
                    let head = String::from_utf8_lossy(&bytes).into_owned();
                    let Some(id) = head.lines().find_map(|line| line.strip_prefix("x-svc-delivery: ")) else {
                        return;
                    };
                    ids.lock().expect("the lock is not poisoned").push(id.to_owned());
                    if holds.load(Ordering::SeqCst) {
                        let _ = barrier.wait_for(|responds| *responds).await;
                    }
                    if stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        Self { receiver, holds, responds_to_held, ids }
    }

    /// Creates a workspace with a webhook for new students. The program's command creates the webhook, so that the
    /// worker processes can decrypt its secret with the master key of their data folder.
    async fn subscribe<'a>(&self, program: &'a TestProgram) -> TestWorkspace<'a> {
        let workspace = program.app.workspace("acme").await;
        let url = self.receiver.url("http", "127.0.0.1").to_string();
        let args = ["webhooks", "create", "--workspace", "acme", "--url", &url, "--event", "student.created"];
        assert_eq!(program.run(&[&args[..], &ALLOW_LOOPBACK].concat()).await.code, Some(0));
        workspace
    }

    /// Returns the ids of the deliveries in all requests so far.
    fn ids(&self) -> Vec<String> {
        self.ids.lock().expect("the lock is not poisoned").clone()
    }

    /// Responds to new requests from now on.
    fn stop_holding(&self) {
        self.holds.store(false, Ordering::SeqCst);
    }

    /// Responds to the requests that were held.
    fn respond_to_held(&self) {
        self.responds_to_held.send_replace(true);
    }
}

/// The number of deliveries of [`start_with_held_deliveries`].
const STUDENTS: usize = 20;

/// Starts a worker that has sent a delivery for each of [`STUDENTS`] students and waits for the responses.
async fn start_with_held_deliveries(
    program: &TestProgram,
) -> (HoldingReceiver, TestWorkspace<'_>, WorkerProcess) {
    let receiver = HoldingReceiver::start().await;
    let workspace = receiver.subscribe(program).await;
    for number in 0..STUDENTS {
        workspace.upsert_student(&format!("s-{number}")).await;
    }
    let worker = WorkerProcess::start(program);
    wait_until("the worker has sent all deliveries", async || receiver.ids().len() == STUDENTS).await;
    wait_until("the worker is registered", async || process_count(program).await == 1).await;
    (receiver, workspace, worker)
}

#[tokio::test]
async fn a_suspended_worker_settles_no_delivery_that_another_has_sent() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip(
            "PostgreSQL only: on SQLite, the deliveries of a suspended worker are sent again when their leases expire",
        );
    }
    let (receiver, workspace, mut suspended) = start_with_held_deliveries(&program).await;
    suspended.signal("STOP").await;
    receiver.stop_holding();
    let mut other = WorkerProcess::start(&program);
    other.wait_for_logs("delivered", STUDENTS).await;
    receiver.respond_to_held();
    suspended.signal("CONT").await;
    suspended.wait_for_logs("lost", STUDENTS).await;
    wait_until("the first worker is registered again", async || process_count(&program).await == 2).await;

    let subscription = webhooks::list(&program.app.app, workspace.id).await.unwrap().remove(0);
    let deliveries = workspace.deliveries(subscription.id).await;
    assert_eq!(deliveries.len(), STUDENTS);
    for delivery in &deliveries {
        assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Delivered, 1), "{delivery:?}");
    }
    let mut ids = receiver.ids();
    assert_eq!(ids.len(), 2 * STUDENTS, "both workers sent each delivery");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), STUDENTS);
    for process in [&mut suspended, &mut other] {
        process.signal("TERM").await;
        let ended =
            tokio::time::timeout(TIMEOUT, process.child.wait()).await.expect("the worker stops in time");
        assert_eq!(ended.expect("an exit status").code(), Some(0));
    }
}

#[tokio::test]
async fn deliveries_of_a_killed_worker_are_sent_again_within_15_seconds() {
    let program = TestProgram::new().await;
    if !program.app.uses_postgres() {
        return skip("PostgreSQL only: on SQLite, the deliveries are sent again when their leases expire");
    }
    let (receiver, _, killed) = start_with_held_deliveries(&program).await;
    killed.signal("KILL").await;
    let killed_at = std::time::Instant::now();
    receiver.stop_holding();
    let mut other = WorkerProcess::start(&program);
    other.wait_for_logs("delivered", STUDENTS).await;
    assert!(killed_at.elapsed() < Duration::from_secs(15), "{:?}", killed_at.elapsed());
    other.signal("TERM").await;
    let exit = tokio::time::timeout(TIMEOUT, other.child.wait()).await.expect("the worker exits");
    assert_eq!(exit.expect("its status").code(), Some(0));
    assert_eq!(process_count(&program).await, 0, "the killed worker and the stopped one are removed");
}

/// Returns the number of processes that are registered.
async fn process_count(program: &TestProgram) -> i64 {
    let db = &program.app.app.db;
    let sql = Statement::from_string(db.backend(), "SELECT count(*) AS registered FROM processes");
    let row = db.read().query_one_raw(sql).await.expect("the query succeeds");
    row.expect("a row").try_get::<i64>("", "registered").expect("a count")
}
