//! Workers that are killed, suspended or stopped during their work: no delivery is lost or settled twice.

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

use crate::machine::{Machine, ServerProcess};
use crate::support::{Endpoint, Receiver, request};

/// How long a test waits for a condition.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The duration of a lease.
const LEASE_MS: i64 = 60_000;

const OPEN: [&str; 2] = ["--webhook-allow", "127.0.0.0/8"];

/// Waits until the condition is true.
async fn until(what: &str, is_true: impl AsyncFn() -> bool) {
    let waited = tokio::time::timeout(TIMEOUT, async {
        while !is_true().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("timed out: {what}"));
}

/// Expires all leases. The clocks of the processes cannot be changed, so this changes the rows.
async fn expire_leases(machine: &Machine) {
    let db = &machine.app.app.db;
    let sql = format!(
        "UPDATE webhook_deliveries SET lease_until = lease_until - {LEASE_MS} WHERE lease_token IS NOT NULL"
    );
    let write = machine.app.write().await;
    write.conn().execute_raw(Statement::from_string(db.backend(), sql)).await.expect("the update succeeds");
    write.commit().await.expect("the commit succeeds");
}

/// Waits until the database executes no statement. A suspended process may have sent one just before.
async fn until_no_statement_runs(machine: &Machine) {
    let db = &machine.app.app.db;
    until("all statements have ended", async || {
        let sql = "SELECT count(*) AS running FROM pg_stat_activity
            WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()";
        let row = db
            .read()
            .query_one_raw(Statement::from_string(db.backend(), sql))
            .await
            .expect("the query succeeds");
        row.expect("a row").try_get::<i64>("", "running").expect("a count") == 0
    })
    .await;
}

/// Creates students over the API with concurrent clients until the server is killed. Counts the successful responses.
fn students(
    machine: &Machine,
    serving: &ServerProcess,
    secret: &str,
    round: usize,
    created: &Arc<AtomicUsize>,
) -> JoinSet<()> {
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let (key, created) = (serving.key(&machine.app, secret), Arc::clone(created));
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

/// Counts the deliveries by state: pending, delivered, dead, held.
async fn count_by_state(machine: &Machine) -> [i64; 4] {
    let db = &machine.app.app.db;
    let mut counts = [0; 4];
    for (state, count) in (0..).zip(&mut counts) {
        let sql = format!("SELECT count(*) FROM webhook_deliveries WHERE state = {state}");
        let row = db.read().query_one_raw(Statement::from_string(db.backend(), sql)).await.expect("a count");
        *count = row.expect("a row").try_get_by_index(0).expect("a number");
    }
    counts
}

#[tokio::test]
async fn a_server_that_is_killed_twenty_times_loses_no_delivery() {
    const KILLS: usize = 20;
    // The default is enough for a test. Set the variable to run with more events, such as 10,000.
    let events: usize =
        std::env::var("KILLED_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let machine = Machine::new().await;
    let secret = machine.key("write:students").await;
    let endpoint = Endpoint::start().await;
    let url = endpoint.url();
    let words = ["webhooks", "create", "--workspace", "acme", "--url", &url, "--event", "student.created"];
    assert_eq!(machine.run(&[&words[..], &OPEN].concat()).await.code, Some(0));
    let quota = ["--default-per-minute", "1000000", "--default-per-day", "1000000"];
    let serve = [&["serve"][..], &OPEN, &quota].concat();

    let created = Arc::new(AtomicUsize::new(0));
    for round in 1..=KILLS {
        let mut serving = machine.serve(&serve).await;
        let mut clients = students(&machine, &serving, &secret, round, &created);
        let target = events * round / KILLS;
        until("students are created", async || created.load(Ordering::SeqCst) >= target).await;
        assert!(serving.child.try_wait().expect("a process").is_none(), "the server runs");
        serving.child.kill().await.expect("the kill succeeds");
        while clients.join_next().await.is_some() {}
        // The next process may send the deliveries that were in flight.
        expire_leases(&machine).await;
    }
    let serving = machine.serve(&serve).await;
    let app = &machine.app;
    until("all are delivered", async || webhooks::queue(&app.app).await.expect("the queue").pending == 0)
        .await;
    assert_eq!(serving.stop().await, Some(0));

    let committed: BTreeSet<String> =
        app.events_of("student.created").await.iter().map(|event| event["id"].to_string()).collect();
    let sent = endpoint.sent();
    let received: BTreeSet<String> = sent.iter().map(|sent| sent.event()["id"].to_string()).collect();
    let [pending, delivered, dead, held] = count_by_state(&machine).await;
    eprintln!(
        "{KILLS} kills; committed {}, received {} of them, {} requests; {pending} pending, {delivered} delivered, \
         {dead} dead, {held} held",
        committed.len(),
        received.len(),
        sent.len()
    );
    assert!(committed.len() >= events.max(created.load(Ordering::SeqCst)), "each response was committed");
    assert!(received == committed, "{:?}", committed.symmetric_difference(&received).collect::<Vec<_>>());
    let all = i64::try_from(committed.len()).expect("a count");
    assert_eq!((pending, delivered, dead, held), (0, all, 0, 0), "counts reconcile");
    // Deliveries that were in flight at a kill may be sent twice.
    assert!(sent.len() - received.len() <= KILLS * 256, "{} duplicates", sent.len() - received.len());
}

#[tokio::test]
async fn a_server_stops_in_time_and_releases_hanging_deliveries() {
    let machine = Machine::new().await;
    let hangs = Receiver::start(|stream| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let workspace = machine.app.workspace("acme").await;
    let url = hangs.url("http", "127.0.0.1").to_string();
    let words = ["webhooks", "create", "--workspace", "acme", "--url", &url, "--event", "student.created"];
    assert_eq!(machine.run(&[&words[..], &OPEN].concat()).await.code, Some(0));
    workspace.student_by_change("ada").await;
    let mut serving = machine.serve(&[&["serve", "--shutdown-seconds", "3"][..], &OPEN].concat()).await;
    until("it is in flight", async || hangs.connections() == 1).await;
    let signaled = std::time::Instant::now();
    serving.signal("TERM").await;
    assert_eq!(serving.wait_for_exit().await, Some(0));
    assert!(signaled.elapsed() < Duration::from_secs(6), "{:?} of 3 s", signaled.elapsed());
    let queue = webhooks::queue(&machine.app.app).await.unwrap();
    assert_eq!((queue.pending, queue.in_flight), (1, 0), "the lease is released");
}

/// A `worker` process.
struct Process {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
}

impl Process {
    fn start(machine: &Machine) -> Self {
        let mut command = machine.command(&[&["worker"][..], &OPEN].concat());
        let mut child = command.stdout(Stdio::null()).spawn().expect("the program starts");
        let log = BufReader::new(child.stderr.take().expect("a log")).lines();
        Self { child, log }
    }

    async fn signal(&self, name: &str) {
        let pid = self.child.id().expect("the server runs").to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().await;
        assert!(sent.expect("kill is there").success());
    }

    /// Waits for this number of log lines that contain the text.
    async fn logs(&mut self, text: &str, times: usize) {
        for _ in 0..times {
            loop {
                let line = tokio::time::timeout(TIMEOUT, self.log.next_line()).await.expect("a line in time");
                if line.expect("a line").expect("the log continues").contains(text) {
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_worker_suspended_past_its_lease_settles_no_delivery_that_another_sent() {
    const STUDENTS: usize = 20;
    let machine = Machine::new().await;
    if !machine.app.has_many_writers() {
        // SQLite has one writer at a time, so this race needs PostgreSQL.
        return;
    }
    let (open, barrier) = watch::channel(false);
    let (hold, ids) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::<String>::new())));
    let (held, seen) = (Arc::clone(&hold), Arc::clone(&ids));
    let receiver = Receiver::start(move |mut stream| {
        let (mut barrier, held, seen) = (barrier.clone(), Arc::clone(&held), Arc::clone(&seen));
        async move {
            loop {
                let bytes = request(&mut stream).await;
                let head = String::from_utf8_lossy(&bytes).into_owned();
                let Some(id) = head.lines().find_map(|line| line.strip_prefix("x-svc-delivery: ")) else {
                    return;
                };
                seen.lock().expect("the list").push(id.to_owned());
                if held.load(Ordering::SeqCst) {
                    let _ = barrier.wait_for(|open| *open).await;
                }
                if stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    let received = async || ids.lock().expect("the list").len();
    // Created with the command, so that the worker processes can decrypt the secret with the master key of their data folder.
    let workspace = machine.app.workspace("acme").await;
    let url = receiver.url("http", "127.0.0.1").to_string();
    let words = ["webhooks", "create", "--workspace", "acme", "--url", &url, "--event", "student.created"];
    assert_eq!(machine.run(&[&words[..], &OPEN].concat()).await.code, Some(0));
    for number in 0..STUDENTS {
        workspace.student_by_change(&format!("s-{number}")).await;
    }

    let mut frozen = Process::start(&machine);
    until("the first worker has sent all deliveries", async || received().await == STUDENTS).await;
    frozen.signal("STOP").await;
    // A claim that reads the expired leases would lock the deliveries for as long as the worker is suspended.
    until_no_statement_runs(&machine).await;
    expire_leases(&machine).await;
    hold.store(false, Ordering::SeqCst);
    let mut other = Process::start(&machine);
    other.logs("delivered", STUDENTS).await;
    open.send_replace(true);
    frozen.signal("CONT").await;
    frozen.logs("lost", STUDENTS).await;

    let subscription = webhooks::list(&machine.app.app, workspace.id).await.unwrap().remove(0);
    let deliveries = workspace.deliveries(subscription.id).await;
    assert_eq!(deliveries.len(), STUDENTS);
    for delivery in &deliveries {
        assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Delivered, 1), "{delivery:?}");
    }
    let mut ids = ids.lock().expect("the list").clone();
    assert_eq!(ids.len(), 2 * STUDENTS, "both workers sent each delivery");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), STUDENTS);
    for process in [&mut frozen, &mut other] {
        process.signal("TERM").await;
        let ended = tokio::time::timeout(TIMEOUT, process.child.wait()).await.expect("it stops");
        assert_eq!(ended.expect("a code").code(), Some(0));
    }
}
