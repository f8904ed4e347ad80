//! Workers that are killed, frozen or stopped amid their work: nothing is lost, and nothing is settled twice.

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

use crate::machine::{Machine, Serving};
use crate::support::{Endpoint, Receiver, request};

/// How long a story waits for what runs beside it.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a worker has a delivery for itself.
const LEASE_MS: i64 = 60_000;

const OPEN: [&str; 2] = ["--webhook-allow", "127.0.0.0/8"];

/// Waits until this holds.
async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("not in time: {what}"));
}

/// Lets the time of a lease pass for what is leased. The processes' own clocks cannot be moved, so their rows are.
async fn a_lease_passes(machine: &Machine) {
    let db = &machine.app.app.db;
    let moved = format!(
        "UPDATE webhook_deliveries SET lease_until = lease_until - {LEASE_MS} WHERE lease_token IS NOT NULL"
    );
    let write = machine.app.write().await;
    write.conn().execute_raw(Statement::from_string(db.backend(), moved)).await.expect("rows are moved");
    write.commit().await.expect("it is kept");
}

/// Creates students over the API, some at once, until the server is gone; counts those that it answered for.
fn students(
    machine: &Machine,
    serving: &Serving,
    secret: &str,
    round: usize,
    made: &Arc<AtomicUsize>,
) -> JoinSet<()> {
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let (key, made) = (serving.key(&machine.app, secret), Arc::clone(made));
        clients.spawn(async move {
            for number in 0.. {
                let body = json!({"email": format!("s-{round}-{client}-{number}@example.com")});
                let request = key.request(reqwest::Method::POST, "/api/v1/students").json(&body);
                match request.send().await {
                    Ok(answer) if answer.status() == 201 => made.fetch_add(1, Ordering::SeqCst),
                    _ => return,
                };
            }
        });
    }
    clients
}

/// How many deliveries stand where: pending, delivered, dead, held.
async fn ledger(machine: &Machine) -> [i64; 4] {
    let db = &machine.app.app.db;
    let mut ledger = [0; 4];
    for (state, count) in (0..).zip(&mut ledger) {
        let sql = format!("SELECT count(*) FROM webhook_deliveries WHERE state = {state}");
        let row = db.read().query_one_raw(Statement::from_string(db.backend(), sql)).await.expect("a count");
        *count = row.expect("a row").try_get_by_index(0).expect("a number");
    }
    ledger
}

#[tokio::test]
async fn killed_twenty_times_it_loses_nothing() {
    const KILLS: usize = 20;
    // By default enough for a test; the story of ten thousand is asked for by this variable.
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

    let made = Arc::new(AtomicUsize::new(0));
    for round in 1..=KILLS {
        let mut serving = machine.serve(&serve).await;
        let mut clients = students(&machine, &serving, &secret, round, &made);
        let wanted = events * round / KILLS;
        until("students are made", async || made.load(Ordering::SeqCst) >= wanted).await;
        assert!(serving.child.try_wait().expect("a process").is_none(), "it runs");
        serving.child.kill().await.expect("it is killed");
        while clients.join_next().await.is_some() {}
        // What this one had in hand is another's now, and not only after the last.
        a_lease_passes(&machine).await;
    }
    let serving = machine.serve(&serve).await;
    let app = &machine.app;
    until("all is delivered", async || webhooks::queue(&app.app).await.expect("the queue").pending == 0)
        .await;
    assert_eq!(serving.stop().await, Some(0));

    let committed: BTreeSet<String> =
        app.events_of("student.created").await.iter().map(|event| event["id"].to_string()).collect();
    let sent = endpoint.sent();
    let received: BTreeSet<String> = sent.iter().map(|sent| sent.event()["id"].to_string()).collect();
    let [pending, delivered, dead, held] = ledger(&machine).await;
    eprintln!(
        "{KILLS} kills; committed {}, received {} of them, {} requests; {pending} pending, {delivered} delivered, \
         {dead} dead, {held} held",
        committed.len(),
        received.len(),
        sent.len()
    );
    assert!(committed.len() >= events.max(made.load(Ordering::SeqCst)), "what was answered for is there");
    assert!(received == committed, "{:?}", committed.symmetric_difference(&received).collect::<Vec<_>>());
    let all = i64::try_from(committed.len()).expect("a count");
    assert_eq!((pending, delivered, dead, held), (0, all, 0, 0), "the ledger closes");
    // What was in hand at a kill may come twice.
    assert!(sent.len() - received.len() <= KILLS * 256, "{} doubles", sent.len() - received.len());
}

#[tokio::test]
async fn a_stop_ends_in_its_time_whatever_hangs_and_gives_it_back() {
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
    until("it is in hand", async || hangs.connections() == 1).await;
    let asked = std::time::Instant::now();
    serving.signal("TERM").await;
    assert_eq!(serving.ended().await, Some(0));
    assert!(asked.elapsed() < Duration::from_secs(6), "{:?} of 3 s", asked.elapsed());
    let queue = webhooks::queue(&machine.app.app).await.unwrap();
    assert_eq!((queue.pending, queue.in_flight), (1, 0), "nobody has to wait for the lease to end");
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
        let pid = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().await;
        assert!(sent.expect("kill is there").success());
    }

    /// Waits for so many lines that hold these words.
    async fn says(&mut self, words: &str, times: usize) {
        for _ in 0..times {
            loop {
                let line =
                    tokio::time::timeout(PATIENCE, self.log.next_line()).await.expect("a line in time");
                if line.expect("a line").expect("it goes on").contains(words) {
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_worker_frozen_past_its_lease_settles_nothing_of_what_another_sent() {
    const MANY: usize = 20;
    let machine = Machine::new().await;
    if !machine.app.has_many_writers() {
        // On SQLite it would be the same with less to go wrong: one writes at a time.
        return;
    }
    let (open, gate) = watch::channel(false);
    let (hold, ids) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::<String>::new())));
    let (held, seen) = (Arc::clone(&hold), Arc::clone(&ids));
    let receiver = Receiver::start(move |mut stream| {
        let (mut gate, held, seen) = (gate.clone(), Arc::clone(&held), Arc::clone(&seen));
        async move {
            loop {
                let bytes = request(&mut stream).await;
                let head = String::from_utf8_lossy(&bytes).into_owned();
                let Some(id) = head.lines().find_map(|line| line.strip_prefix("x-svc-delivery: ")) else {
                    return;
                };
                seen.lock().expect("the list").push(id.to_owned());
                if held.load(Ordering::SeqCst) {
                    let _ = gate.wait_for(|open| *open).await;
                }
                if stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    let received = async || ids.lock().expect("the list").len();
    // The processes open the secret with the key of the machine's folder.
    let workspace = machine.app.workspace("acme").await;
    let url = receiver.url("http", "127.0.0.1").to_string();
    let words = ["webhooks", "create", "--workspace", "acme", "--url", &url, "--event", "student.created"];
    assert_eq!(machine.run(&[&words[..], &OPEN].concat()).await.code, Some(0));
    for number in 0..MANY {
        workspace.student_by_change(&format!("s-{number}")).await;
    }

    let mut frozen = Process::start(&machine);
    until("the first worker has sent all", async || received().await == MANY).await;
    frozen.signal("STOP").await;
    a_lease_passes(&machine).await;
    hold.store(false, Ordering::SeqCst);
    let mut other = Process::start(&machine);
    other.says("delivered", MANY).await;
    open.send_replace(true);
    frozen.signal("CONT").await;
    frozen.says("lost", MANY).await;

    let subscription = webhooks::list(&machine.app.app, workspace.id).await.unwrap().remove(0);
    let deliveries = workspace.deliveries(subscription.id).await;
    assert_eq!(deliveries.len(), MANY);
    for delivery in &deliveries {
        assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Delivered, 1), "{delivery:?}");
    }
    let mut ids = ids.lock().expect("the list").clone();
    assert_eq!(ids.len(), 2 * MANY, "each was sent by both");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), MANY);
    for process in [&mut frozen, &mut other] {
        process.signal("TERM").await;
        let ended = tokio::time::timeout(PATIENCE, process.child.wait()).await.expect("it stops");
        assert_eq!(ended.expect("a code").code(), Some(0));
    }
}
