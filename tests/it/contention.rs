//! Imports, dashboard forms and API calls write the same rows concurrently, in several processes, without deadlocks.
//!
//! Every transaction takes its locks in the same order, so none of them deadlocks on PostgreSQL. Set
//! `CONTENTION_SECONDS` to run the load for longer.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sea_orm::{ConnectionTrait, Statement};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};

use crate::support::browser::{csrf_token, html};
use crate::support::program::{ServerProcess, TestProgram};
use crate::support::{Browser, TestKey, course_data};

const COURSES: u64 = 5;
const STUDENTS: u64 = 10;
const BROWSERS: usize = 6;
/// The arguments of the servers.
const SERVE: [&str; 7] =
    ["serve", "--default-per-minute", "1000000", "--default-per-day", "1000000", "--log-filter", "error"];

/// Returns the duration of the load.
fn duration() -> Duration {
    let seconds = std::env::var("CONTENTION_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    Duration::from_secs(seconds)
}

/// A pseudorandom sequence of numbers, the same in each run.
struct Numbers(u64);

impl Numbers {
    /// Returns the next number, which is less than `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Returns a change of a random type, for random records. `import` and `number` identify the change. `orders` are the keys
/// of the orders of the import.
fn random_change(import: usize, number: u64, orders: &mut Vec<String>, numbers: &mut Numbers) -> Value {
    let student = format!("s{}", numbers.below(STUDENTS));
    let (first, second) = (format!("c{}", numbers.below(COURSES)), format!("c{}", numbers.below(COURSES)));
    let (change, data) = match numbers.below(100) {
        0..25 => ("enrollment.grant", json!({"student": student, "course": first})),
        25..40 => ("enrollment.revoke", json!({"student": student, "course": first})),
        40..50 if !orders.is_empty() => {
            let order = &orders[numbers.below(orders.len() as u64) as usize];
            ("order.refund", json!({"order": order}))
        }
        40..70 => {
            orders.push(format!("o-{import}-{number}"));
            let items =
                json!([{"course": first, "unit_amount": 1900}, {"course": second, "unit_amount": 2900}]);
            (
                "order.pay",
                json!({
                    "key": orders.last(), "number": format!("{import}-{number}"), "student": student,
                    "currency": "EUR", "items": items,
                }),
            )
        }
        70..85 => {
            ("progress.record", json!({"student": student, "course": first, "lesson": format!("{first}-1")}))
        }
        85..97 => (
            "student.upsert",
            json!({"key": student, "email": format!("{student}@example.com"), "name": format!("Name {number}")}),
        ),
        _ => ("course.upsert", course_data(&first, "published", 2 + numbers.below(3) as usize)),
    };
    json!({
        "change": change, "id": format!("{import}-{number}"), "workspace": "acme", "at": "2026-03-01T10:00:00Z",
        "data": data,
    })
}

/// Writes random changes to the standard input of an import until the deadline.
async fn write_changes(mut stdin: ChildStdin, import: usize, deadline: Instant) {
    let mut numbers = Numbers(import as u64 + 7);
    let (mut number, mut orders) = (0, Vec::new());
    while Instant::now() < deadline {
        let mut lines = String::new();
        for _ in 0..64 {
            number += 1;
            lines.push_str(&format!("{}\n", random_change(import, number, &mut orders, &mut numbers)));
        }
        if stdin.write_all(lines.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Returns the path of the file with an import's stderr.
fn errors_file(program: &TestProgram, import: usize) -> std::path::PathBuf {
    program.app.folder().join(format!("import-{import}.log"))
}

/// Starts an import that gets changes until `deadline`.
fn start_import(program: &TestProgram, import: usize, deadline: Instant) -> Child {
    let mut command = program.command(&["apply", "-"]);
    let errors = std::fs::File::create(errors_file(program, import)).expect("a file");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(errors)
        .spawn()
        .expect("the program starts");
    let stdin = child.stdin.take().expect("stdin is piped");
    tokio::spawn(write_changes(stdin, import, deadline));
    child
}

/// The ids of the students and courses of the load.
struct RecordIds {
    students: Vec<String>,
    courses: Vec<String>,
}

/// Counts all responses, and those with a status of 500 or more.
#[derive(Default)]
struct ResponseCounts {
    all: AtomicUsize,
    failed: AtomicUsize,
}

impl ResponseCounts {
    fn count(&self, status: u16) {
        self.all.fetch_add(1, Ordering::Relaxed);
        self.failed.fetch_add(usize::from(status >= 500), Ordering::Relaxed);
    }

    /// Returns the numbers of all responses and of failures.
    fn numbers(&self) -> (usize, usize) {
        (self.all.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }
}

/// Returns whether a server logged this error for a request that waited too long for PostgreSQL, as requests do on a busy
/// machine when several imports queue for the same student.
fn is_of_expired_wait(error: &str) -> bool {
    ["lock timeout", "statement timeout", "did not respond within", "waited too long for the database"]
        .iter()
        .any(|text| error.contains(text))
}

/// Enrolls students and revokes their access through forms until `deadline`.
async fn use_dashboard(
    browser: Browser<'_>,
    seed: usize,
    ids: &RecordIds,
    deadline: Instant,
    counts: &ResponseCounts,
) {
    let mut numbers = Numbers(seed as u64 + 99);
    let link = regex::Regex::new("href=\"([^\"]+/revoke)\"").expect("a pattern");
    while Instant::now() < deadline {
        let student = &ids.students[numbers.below(STUDENTS) as usize];
        let course = &ids.courses[numbers.below(COURSES) as usize];
        let path = format!("/dashboard/students/{student}");
        let page = browser.get(&path).await;
        counts.count(page.status);
        if page.status != 200 {
            continue;
        }
        let (token, page) = (csrf_token(&page), html(&page));
        let revoke = link.captures(&page).map(|captures| captures[1].to_owned());
        let response = match revoke.filter(|_| numbers.below(2) == 0) {
            Some(revoke) => browser.post(&revoke, &token, &[]).await,
            None => browser.post(&format!("{path}/enroll"), &token, &[("course", course)]).await,
        };
        counts.count(response.status);
    }
}

/// Enrolls students through the API until `deadline`.
async fn use_api(key: TestKey, seed: usize, ids: &RecordIds, deadline: Instant, counts: &ResponseCounts) {
    let mut numbers = Numbers(seed as u64 + 999);
    while Instant::now() < deadline {
        let student = &ids.students[numbers.below(STUDENTS) as usize];
        let course = &ids.courses[numbers.below(COURSES) as usize];
        let body = json!({"studentId": student, "courseId": course});
        counts.count(key.post("/api/v1/enrollments", body).await.status);
    }
}

/// Creates the courses and students of the load and returns their ids.
async fn prepare(program: &TestProgram, key: &TestKey) -> RecordIds {
    let line = |id: String, kind: &str, data: Value| {
        let change = json!({"change": kind, "id": id, "workspace": "acme", "at": "2026-03-01T10:00:00Z", "data": data});
        format!("{change}\n")
    };
    let mut lines = String::new();
    for number in 0..COURSES {
        let data = course_data(&format!("c{number}"), "published", 2);
        lines.push_str(&line(format!("c{number}"), "course.upsert", data));
    }
    for number in 0..STUDENTS {
        let data = json!({"key": format!("s{number}"), "email": format!("s{number}@example.com")});
        lines.push_str(&line(format!("s{number}"), "student.upsert", data));
    }
    let output = program.run_with_input(&["apply", "-"], &lines).await;
    assert_eq!(output.code, Some(0), "{output:?}");
    let ids = async |path: &str| key.get(path).await.assert_status(200).ids();
    RecordIds { students: ids("/api/v1/students").await, courses: ids("/api/v1/courses").await }
}

/// Runs a query whose result is one number.
async fn query_number(program: &TestProgram, sql: &str) -> i64 {
    let db = &program.app.app.db;
    let row =
        db.read().query_one_raw(Statement::from_string(db.backend(), sql)).await.expect("the query succeeds");
    row.expect("a row").try_get_by_index(0).expect("a number")
}

/// Invariants of orders and access, each with a query that counts the rows that violate it.
const INVARIANTS: [(&str, &str); 7] = [
    (
        "the refunded amount of an order is the sum of its refunds",
        "SELECT count(*) FROM orders o WHERE refunded_amount <>
             (SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) FROM refunds r WHERE r.order_id = o.id)",
    ),
    (
        "an order has the status `refunded` exactly if its total amount was refunded",
        "SELECT count(*) FROM orders WHERE (status = 'refunded') <> (refunded_amount = total_amount)",
    ),
    (
        "the daily revenue is the sum of the orders",
        "SELECT count(*) FROM (
             SELECT (SELECT coalesce(sum(total_amount), 0) FROM orders) -
                 (SELECT coalesce(sum(gross_amount), 0) FROM revenue_rollups WHERE grain = 'day'
                      AND course_id IN (SELECT DISTINCT course_id FROM revenue_rollups r
                          WHERE r.course_id NOT IN (SELECT id FROM courses))) AS difference
         ) AS d WHERE difference <> 0",
    ),
    (
        "a refunded order has no active entitlement",
        "SELECT count(*) FROM entitlements e JOIN orders o ON o.id = e.order_id
         WHERE e.status = 'active' AND o.status = 'refunded'",
    ),
    (
        "an active entitlement gives access without end",
        "SELECT count(*) FROM entitlements e JOIN enrollments n ON n.id = e.enrollment_id
         WHERE e.status = 'active' AND (n.status = 'revoked' OR n.expires_at IS NOT NULL)",
    ),
    (
        "an enrollment counts its completed lessons",
        "SELECT count(*) FROM enrollments n WHERE completed_lessons <>
             (SELECT count(*) FROM lesson_completions c WHERE c.enrollment_id = n.id)",
    ),
    (
        "an enrollment counts the lessons of its course",
        "SELECT count(*) FROM enrollments n JOIN courses c ON c.id = n.course_id WHERE n.total_lessons <> c.lesson_count",
    ),
];

async fn assert_invariants(program: &TestProgram) {
    for (invariant, sql) in INVARIANTS {
        assert_eq!(query_number(program, sql).await, 0, "{invariant}");
    }
    let paid_events = "SELECT count(*) FROM events WHERE type = 'order.paid'";
    assert_eq!(
        query_number(program, paid_events).await,
        query_number(program, "SELECT count(*) FROM orders").await
    );
}

/// Runs this number of imports concurrently with browsers and API clients on two servers.
async fn run_load(imports: usize) {
    let mut program = TestProgram::new().await;
    let secret = program.create_key("read:students,read:courses,write:enrollments").await;
    let servers = [program.serve(&SERVE).await, program.serve(&SERVE).await];
    let key = |server: &ServerProcess| server.key(&program.app, &secret);
    let ids = prepare(&program, &key(&servers[0])).await;
    let keys = servers.each_ref().map(key);
    let base_urls = servers.each_ref().map(|server| server.base_url.clone());
    program.app.base_url.clone_from(&base_urls[0]);
    let workspace = program.app.workspace("acme").await;
    workspace.add_user("owner@acme.example").await;
    let mut browsers = Vec::new();
    for number in 0..BROWSERS {
        let browser = Browser::at(&program.app, &base_urls[number % 2]);
        browser.sign_in("owner@acme.example", crate::support::browser::PASSWORD).await.assert_status(303);
        browsers.push(browser);
    }

    let deadline = Instant::now() + duration();
    let children: Vec<Child> = (0..imports).map(|number| start_import(&program, number, deadline)).collect();
    let (forms, calls) = (ResponseCounts::default(), ResponseCounts::default());
    let browsing = browsers
        .into_iter()
        .enumerate()
        .map(|(seed, browser)| use_dashboard(browser, seed, &ids, deadline, &forms));
    let calling = keys.into_iter().enumerate().map(|(seed, key)| use_api(key, seed, &ids, deadline, &calls));
    tokio::join!(futures_util::future::join_all(browsing), futures_util::future::join_all(calling));

    let mut codes = Vec::new();
    for mut child in children {
        codes.push(child.wait().await.expect("the import can be awaited").code());
    }
    // PostgreSQL reports the statistics of a session at its end at the latest.
    let mut errors = Vec::new();
    for server in servers {
        let log = server.stop_and_read_log().await;
        errors.extend(log.lines().filter(|line| line.contains(" ERROR ")).map(str::to_owned));
    }
    let (expired_waits, other_errors): (Vec<_>, Vec<_>) =
        errors.into_iter().partition(|line| is_of_expired_wait(line));
    let deadlocks = match program.app.uses_postgres() {
        true => {
            let sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
            query_number(&program, sql).await
        }
        false => 0,
    };
    let changes = query_number(&program, "SELECT count(*) FROM applied_changes").await;
    let (forms, calls) = (forms.numbers(), calls.numbers());
    eprintln!(
        "{imports} imports: {codes:?}, {changes} changes; pages and forms {forms:?}, calls {calls:?} (all, failed); \
         {} expired waits; {deadlocks} deadlocks",
        expired_waits.len()
    );
    for (import, code) in codes.iter().enumerate() {
        let errors = std::fs::read_to_string(errors_file(&program, import)).expect("a file");
        assert!(matches!(code, Some(0 | 3)), "an import failed: {:?}", errors.lines().last());
    }
    assert_eq!(other_errors, Vec::<String>::new());
    assert_eq!((forms.1 + calls.1, deadlocks), (expired_waits.len(), 0));
    assert!(expired_waits.len() * 5 <= forms.0 + calls.0, "too many requests waited in vain");
    assert!(forms.0 > 0 && calls.0 > 0 && changes > 0);
    assert_invariants(&program).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "slow"]
async fn one_import_does_not_deadlock_with_dashboard_and_api() {
    run_load(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "slow"]
async fn four_imports_do_not_deadlock_with_dashboard_and_api() {
    run_load(4).await;
}
