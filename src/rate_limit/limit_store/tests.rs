//! PostgreSQL and Redis admit the same requests as a model of the rules.

#[path = "../../../tests/it/support/skip.rs"]
mod skip;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foundation::config::LimitStoreSetting;
use foundation::database::{Database, DatabaseOptions, DatabaseSource};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sea_orm::ConnectionTrait;
use tokio::sync::watch;

use super::backend::Backend;
use entity::rate_windows::{SubjectCounts, SubjectRequests, SubjectResult};

/// The timeout of all calls.
const TIMEOUT: Duration = Duration::from_secs(20);
const DAY: i64 = 86_400_000;

/// The windows of a subject in the model: their starts and counts.
#[derive(Clone, Copy)]
struct Windows {
    short: (i64, i64),
    day: (i64, i64),
}

/// Returns the start and the count of a window before the requests of a call.
fn window_before(
    stored: Option<(i64, i64)>,
    (length, max_set_back, alignment): (i64, i64, i64),
    (known_start, known): (i64, i64),
    now: i64,
) -> (i64, i64) {
    let new = now - now % alignment;
    let (start, used) = match stored {
        // In the window, or up to five seconds before it.
        Some((start, used)) if (start - 5_000..start + length).contains(&now) => (start, used),
        // The clock was set back.
        Some((start, used)) if (start - max_set_back..start).contains(&now) => (new, used),
        _ => (new, 0),
    };
    (start, if start == known_start && start == new { used.max(known) } else { used })
}

/// Applies the requests of one subject to the model, and returns the expected result.
fn expected(model: &mut HashMap<String, Windows>, requests: &SubjectRequests, now: i64) -> SubjectResult {
    let stored = model.get(&requests.subject).copied();
    let length = requests.short_length;
    let (short_start, short_used) = window_before(
        stored.map(|windows| windows.short),
        (length, length - 1, requests.short_alignment),
        (requests.short_known_start, requests.short_known),
        now,
    );
    let (day_start, day_used) = window_before(
        stored.map(|windows| windows.day),
        (DAY, 5_000, DAY),
        (requests.day_known_start, requests.day_known),
        now,
    );
    let left = (requests.short_limit - short_used).min(requests.day_limit - day_used).max(0);
    let admitted = left.min(i64::from(requests.requested));
    let windows =
        Windows { short: (short_start, short_used + admitted), day: (day_start, day_used + admitted) };
    model.insert(requests.subject.clone(), windows);
    SubjectResult {
        subject: requests.subject.clone(),
        admitted,
        short_start,
        short_used: windows.short.1,
        day_start,
        day_used: windows.day.1,
        now,
    }
}

/// Adds counts of one subject to the model.
fn add(model: &mut HashMap<String, Windows>, counts: &SubjectCounts) {
    let added = Windows {
        short: (counts.short_start, counts.short_count),
        day: (counts.day_start, counts.day_count),
    };
    let sum = |stored: (i64, i64), added: (i64, i64), length: i64| match added.0 - stored.0 {
        later if later >= length => added,
        earlier if earlier <= -length => stored,
        _ => (stored.0, stored.1 + added.1),
    };
    let windows = match model.get(&counts.subject) {
        None => added,
        Some(stored) => Windows {
            short: sum(stored.short, added.short, counts.short_length),
            day: sum(stored.day, added.day, DAY),
        },
    };
    model.insert(counts.subject.clone(), windows);
}

/// How long the model takes to respond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Delay {
    /// Counts at once and responds after this time.
    Response(Duration),
    /// Counts and responds after this time.
    Request(Duration),
    /// Does neither until this changes.
    Stopped,
}

/// The model as a store that several processes share. Clones share the counts.
#[derive(Clone)]
pub(super) struct ModelStore {
    windows: Arc<Mutex<HashMap<String, Windows>>>,
    delay: watch::Receiver<Delay>,
}

impl ModelStore {
    pub(super) fn new(delay: watch::Receiver<Delay>) -> Self {
        Self { windows: Arc::default(), delay }
    }

    /// Runs a call with the current delay.
    async fn call<T>(&mut self, call: impl FnOnce(&mut HashMap<String, Windows>) -> T) -> anyhow::Result<T> {
        let delay = *self.delay.wait_for(|delay| *delay != Delay::Stopped).await?;
        if let Delay::Request(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        let result = call(&mut self.windows.lock().unwrap());
        if let Delay::Response(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        Ok(result)
    }

    pub(super) async fn connect(&mut self) -> anyhow::Result<()> {
        self.call(|_| ()).await
    }

    pub(super) async fn admit(
        &mut self,
        requests: &[SubjectRequests],
        now: Option<i64>,
    ) -> anyhow::Result<Vec<SubjectResult>> {
        let now = now.expect("a simulated time");
        self.call(|model| requests.iter().map(|request| expected(model, request, now)).collect()).await
    }

    pub(super) async fn add(&mut self, counts: &[SubjectCounts]) -> anyhow::Result<()> {
        self.call(|model| counts.iter().for_each(|counts| add(model, counts))).await
    }
}

/// Generates counts of a subject to be added, in the current windows or in others. Starts are relative to them.
fn added_counts(subject: &'static str) -> impl Strategy<Value = SubjectCounts> {
    (-1..2_i64, 0..5_i64, -1..2_i64, 0..5_i64).prop_map(move |(minutes, short_count, days, day_count)| {
        SubjectCounts {
            subject: subject.to_owned(),
            short_limit: 5,
            short_length: 60_000,
            short_start: minutes * 60_000,
            short_count,
            day_limit: 20,
            day_start: days * DAY,
            day_count,
        }
    })
}

/// A step of a test: by how much the time advances, requests at the new time, and counts to be added then.
type Step = (i64, Vec<SubjectRequests>, Vec<SubjectCounts>);

/// Generates a step of time in milliseconds and the requests at the new time, of two callers: the windows of one are aligned,
/// those of the other start with a request. Only the first sends known counts, as API requests do and sign-ins do not.
fn step() -> impl Strategy<Value = Step> {
    let advance = prop_oneof![
        6 => 0..20_000_i64,
        3 => -70_000..70_000_i64,
        1 => -DAY..DAY,
    ];
    let subject_requests = |subject: &'static str, is_aligned: bool| {
        let known = i64::from(is_aligned);
        (0..4_u32, 1..8_i64, 1..30_i64, -1..2_i64, 0..6_i64, 0..2_i64, 0..20_i64).prop_map(
            move |(requested, short_limit, day_limit, minutes, short_known, days, day_known)| {
                SubjectRequests {
                    subject: subject.to_owned(),
                    requested,
                    short_limit,
                    short_length: 60_000,
                    short_alignment: if is_aligned { 60_000 } else { 1 },
                    short_known_start: minutes,
                    short_known: known * short_known,
                    day_limit,
                    day_known_start: days,
                    day_known: known * day_known,
                }
            },
        )
    };
    let added = prop::option::of((added_counts("aligned"), added_counts("unaligned")));
    (advance, subject_requests("aligned", true), subject_requests("unaligned", false), added).prop_map(
        |(advance, first, second, added)| {
            let added = added.map_or_else(Vec::new, |(first, second)| vec![first, second]);
            (advance, vec![first, second], added)
        },
    )
}

/// Runs random requests against the store and the model.
fn assert_follows_model(runtime: &tokio::runtime::Runtime, backend: Backend) {
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(48) });
    let (backend, cases) = (RefCell::new(backend), Cell::new(0));
    let steps = prop::collection::vec(step(), 1..20);
    let result = runner.run(&steps, |steps| {
        cases.set(cases.get() + 1);
        let mut model = HashMap::new();
        let mut now: i64 = 1_772_445_630_000;
        for (advance, mut requests, mut added) in steps {
            now += advance;
            for counts in &mut added {
                let alignment = if counts.subject == "aligned" { 60_000 } else { 7_000 };
                counts.subject = format!("{}-{}", counts.subject, cases.get());
                counts.short_start += now - now % alignment;
                counts.day_start += now - now % DAY;
                add(&mut model, counts);
            }
            for subject in &mut requests {
                subject.subject = format!("{}-{}", subject.subject, cases.get());
                // Of the current minute and day, or of others.
                subject.short_known_start = now - now % 60_000 + subject.short_known_start * 60_000;
                subject.day_known_start = now - now % DAY + subject.day_known_start * DAY;
            }
            let mut backend = backend.borrow_mut();
            if !added.is_empty() {
                runtime.block_on(backend.add(&added, now, TIMEOUT)).expect("the store responds");
            }
            let mut actual =
                runtime.block_on(backend.admit(&requests, Some(now), TIMEOUT)).expect("the store responds");
            actual.sort_by(|a, b| a.subject.cmp(&b.subject));
            let expected: Vec<SubjectResult> =
                requests.iter().map(|subject| expected(&mut model, subject, now)).collect();
            prop_assert_eq!(actual, expected);
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn postgres_admits_as_the_model() {
    let Ok(server) = std::env::var("TEST_POSTGRES_URL") else {
        return skip::skip("TEST_POSTGRES_URL is not set");
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let name = format!("limit_store_{}", std::process::id());
    let admin = runtime.block_on(sea_orm::Database::connect(&server)).unwrap();
    let backend = runtime.block_on(async {
        admin.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
        let (base, _) = server.rsplit_once('/').unwrap();
        let source = DatabaseSource::Postgres { url: format!("{base}/{name}") };
        let db = Database::connect(DatabaseOptions::new(source)).await.unwrap();
        db.migrate().await.unwrap();
        let mut backend = Backend::postgres(db);
        backend.connect(TIMEOUT).await.unwrap();
        backend
    });
    assert_follows_model(&runtime, backend);
    let drop = format!("DROP DATABASE {name} WITH (FORCE)");
    runtime.block_on(admin.execute_unprepared(&drop)).unwrap();
}

/// A process that is killed on drop.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn redis_admits_as_the_model() {
    let Some(program) = std::env::var_os("TEST_REDIS_SERVER") else {
        return skip::skip("TEST_REDIS_SERVER is not set");
    };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Command::new(program)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let _server = KillOnDrop(server);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let setting = LimitStoreSetting::Redis(format!("redis://127.0.0.1:{port}").parse().unwrap());
    let LimitStoreSetting::Redis(url) = &setting else { unreachable!("it is a Redis server") };
    let mut backend = Backend::redis(url).unwrap();
    let mut tries = 0;
    while let Err(error) = runtime.block_on(backend.connect(TIMEOUT)) {
        tries += 1;
        assert!(tries < 200, "{error:#}");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_follows_model(&runtime, backend);
}
