//! The law of `own_counts`: what several servers admit together while their store is slow or stops, with simulated time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use foundation::clock::from_ms;
use foundation::database::{DatabaseOptions, DatabaseSource};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio::task::LocalSet;

use super::tests::{Delay, ModelStore};
use super::*;
use crate::{Decision, Limiter, Limits, Subject};

/// A noon (UTC), in milliseconds since the epoch.
const NOON: i64 = 1_767_268_800_000;
/// The time that a request waits for the store, as by default.
const TIMEOUT: Duration = Duration::from_millis(300);
/// The simulated time advances by this.
const TICK: Duration = Duration::from_millis(50);
const TICKS_PER_SECOND: usize = 20;

/// Some servers and what their clients do.
#[derive(Clone, Debug)]
struct History {
    servers: usize,
    limits: Limits,
    /// When the history begins, in milliseconds after noon.
    start_ms: i64,
    phases: Vec<Phase>,
}

/// A time in which the store responds with the same delay.
#[derive(Clone, Debug)]
struct Phase {
    delay: Delay,
    seconds: usize,
    /// In each second, each of these sends requests at the same time: the tick, the server and the number of requests.
    bursts: Vec<(usize, usize, usize)>,
}

impl Phase {
    /// Returns whether requests do not wait for the store.
    fn is_slow(&self) -> bool {
        self.takes_longer_than(TIMEOUT)
    }

    /// Returns whether requests may not wait for the store: they may wait for the previous batch, too.
    fn may_be_slow(&self) -> bool {
        self.takes_longer_than(TIMEOUT / 3)
    }

    fn takes_longer_than(&self, time: Duration) -> bool {
        match self.delay {
            Delay::Request(delay) | Delay::Response(delay) => delay > time,
            Delay::Stopped => true,
        }
    }
}

/// What the clients of all servers were admitted.
#[derive(Debug, Default)]
struct Admitted {
    /// By the end of the minute, in seconds.
    by_minute: BTreeMap<i64, u32>,
    by_day: BTreeMap<i64, u32>,
    /// The minutes in which the store was slow from the start on.
    began_slowly: Vec<i64>,
}

/// The servers of a history. They need a database, but do not use it.
struct Simulation {
    limiters: Rc<Vec<Limiter>>,
    delay: watch::Sender<Delay>,
    clock: Clock,
    db: Database,
    admitted: Rc<RefCell<Admitted>>,
}

impl Simulation {
    fn new(history: &History, db: &Database) -> Self {
        let clock = Clock::simulated(from_ms(NOON + history.start_ms));
        let (delay, delays) = watch::channel(Delay::Response(Duration::ZERO));
        let store = ModelStore::new(delays);
        let count = u32::try_from(history.servers).unwrap();
        let limiter = |rank| {
            let (_, servers) = watch::channel(Servers { count, rank });
            let backend = Backend::Model(store.clone());
            Limiter::new(LimitStore::start(backend, TIMEOUT, clock.clone(), servers))
        };
        let limiters = Rc::new((0..count).map(limiter).collect());
        Self { limiters, delay, clock, db: db.clone(), admitted: Rc::default() }
    }

    /// Sends requests at once to a server, in the background.
    fn send(&self, server: usize, requests: usize, limits: Limits) {
        for _ in 0..requests {
            let (limiters, clock, db) = (Rc::clone(&self.limiters), self.clock.clone(), self.db.clone());
            let admitted = Rc::clone(&self.admitted);
            tokio::task::spawn_local(async move {
                let subject = Subject::Address([192, 0, 2, 1].into());
                if let Decision::Admitted(status) =
                    limiters[server].acquire(&db, &clock, subject, limits).await
                {
                    let mut admitted = admitted.borrow_mut();
                    *admitted.by_minute.entry(status.minute_reset).or_default() += 1;
                    *admitted.by_day.entry(status.day_reset).or_default() += 1;
                }
            });
        }
    }

    /// Makes each server notice the state of the store.
    fn ping(&self) {
        for limiter in self.limiters.iter() {
            let store = limiter.store().clone();
            tokio::task::spawn_local(async move {
                let request = SubjectRequests {
                    subject: "ping".to_owned(),
                    requested: 1,
                    short_limit: 1_000_000,
                    short_length: 60_000,
                    short_alignment: 60_000,
                    day_limit: 1_000_000,
                    ..SubjectRequests::default()
                };
                store.shared().unwrap().count(request, 0).await
            });
        }
    }

    async fn run(&self, history: &History) {
        for phase in &history.phases {
            self.delay.send_replace(phase.delay);
            for tick in 0..phase.seconds * TICKS_PER_SECOND {
                let now_ms = self.clock.now_ms();
                if now_ms % 60_000 == 0 && phase.is_slow() {
                    self.admitted.borrow_mut().began_slowly.push(now_ms / 1000 + 60);
                }
                // At the start and at the end of a second, in which clients send.
                if phase.is_slow() && tick % (TICKS_PER_SECOND / 2) == 0 {
                    self.ping();
                }
                for (at, server, requests) in &phase.bursts {
                    if tick % TICKS_PER_SECOND == *at {
                        self.send(server % history.servers, *requests, history.limits);
                    }
                }
                tokio::time::sleep(TICK).await;
                self.clock.advance(TICK);
            }
        }
        // Requests that still wait.
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

/// Runs a history and returns what was admitted.
fn admitted(db: &Database, history: &History) -> Admitted {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    LocalSet::new().block_on(&runtime, async {
        let simulation = Simulation::new(history, db);
        simulation.run(history).await;
        simulation.admitted.take()
    })
}

/// Returns the most that a window of this limit admits in which the store fails or recovers.
fn most(limit: u32, servers: usize) -> u32 {
    2 * limit - limit / u32::try_from(servers).unwrap()
}

fn assert_law(history: &History, admitted: &Admitted) -> Result<(), TestCaseError> {
    let Limits { per_minute, per_day } = history.limits;
    for (minute, count) in &admitted.by_minute {
        prop_assert!(*count <= most(per_minute, history.servers), "{minute}: {count}, {admitted:?}");
        let began_slowly = admitted.began_slowly.contains(minute);
        prop_assert!(!began_slowly || *count <= per_minute, "{minute} began slowly: {count}, {admitted:?}");
    }
    for (day, count) in &admitted.by_day {
        prop_assert!(*count <= most(per_day, history.servers), "day {day}: {count}, {admitted:?}");
        // The day of noon did not begin slowly.
        let midnight = NOON / 1000 + 12 * 3600;
        let mut later = history.phases.iter().map(Phase::may_be_slow).skip_while(|is_slow| !is_slow);
        let fails_again = later.by_ref().find(|is_slow| !is_slow).is_some() && later.any(|is_slow| is_slow);
        let began_slowly =
            *day > midnight && admitted.began_slowly.contains(&(midnight + 60)) && !fails_again;
        prop_assert!(!began_slowly || *count <= per_day, "the day began slowly: {count}, {admitted:?}");
    }
    Ok(())
}

/// Connects to a database that no test uses.
fn database(runtime: &tokio::runtime::Runtime, folder: &std::path::Path) -> Database {
    let source = DatabaseSource::Sqlite { path: folder.join("test.db") };
    runtime.block_on(Database::connect(DatabaseOptions::new(source))).expect("a database")
}

/// A folder that is removed on drop.
struct TestFolder(std::path::PathBuf);

impl TestFolder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("limits-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn phase() -> impl Strategy<Value = Phase> {
    let milliseconds = prop_oneof![Just(0), Just(100), Just(250), Just(299), Just(500), 0..3_000_u64];
    let delay = (milliseconds, any::<bool>()).prop_map(|(ms, counts_first)| {
        let delay = Duration::from_millis(ms);
        if counts_first { Delay::Response(delay) } else { Delay::Request(delay) }
    });
    let delay = prop_oneof![3 => delay, 1 => Just(Delay::Stopped)];
    let burst = (0..TICKS_PER_SECOND, 0..4_usize, 1..40_usize);
    (delay, 1..25_usize, prop::collection::vec(burst, 0..5)).prop_map(|(delay, seconds, bursts)| Phase {
        delay,
        seconds,
        bursts,
    })
}

fn history() -> impl Strategy<Value = History> {
    let limits = prop_oneof![
        3 => (1..100_u32, 1..400_u32),
        // With reserved requests.
        1 => (600..800_u32, 600..2_000_u32),
    ];
    // Around a minute, or around midnight.
    let start_ms = prop_oneof![Just(30_000), Just(45_000), Just(12 * 3_600_000 - 45_000)];
    (1..5_usize, limits, start_ms, prop::collection::vec(phase(), 1..12)).prop_map(
        |(servers, (per_minute, per_day), start_ms, phases)| History {
            servers,
            limits: Limits { per_minute, per_day },
            start_ms,
            phases,
        },
    )
}

#[test]
fn slow_stores_do_not_multiply_limits() {
    let (folder, runtime) = (TestFolder::new("law"), tokio::runtime::Runtime::new().unwrap());
    let db = database(&runtime, &folder.0);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(128) });
    let result = runner.run(&history(), |history| assert_law(&history, &admitted(&db, &history)));
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// Returns what servers admit in each of four minutes at a limit of 60, if the store responds with this delay from second 90 on, for
/// so long. In the second minute, before the store fails, all requests are sent to one server.
fn admitted_of_60(db: &Database, servers: usize, delay: Delay, seconds: usize) -> Vec<u32> {
    let limits = Limits { per_minute: 60, per_day: 100_000 };
    let to_all: Vec<_> = (0..servers).map(|server| (3, server, 40)).collect();
    let fast = Delay::Response(Duration::ZERO);
    let phases = [
        (fast, 60, to_all.clone()),
        (fast, 30, vec![(3, 0, 40)]),
        (delay, seconds, to_all.clone()),
        (fast, 150 - seconds, to_all),
    ];
    let phases = phases.map(|(delay, seconds, bursts)| Phase { delay, seconds, bursts });
    let history = History { servers, limits, start_ms: 0, phases: phases.into() };
    admitted(db, &history).by_minute.into_values().collect()
}

#[test]
fn a_limit_of_60_with_a_slow_or_stopped_store() {
    let (folder, runtime) = (TestFolder::new("table"), tokio::runtime::Runtime::new().unwrap());
    let db = database(&runtime, &folder.0);
    let response = |ms| Delay::Response(Duration::from_millis(ms));
    // The delay, how long it lasts, and what three servers admit in the minute in which it begins.
    let table = [
        (response(0), 60, 60),
        (response(100), 60, 60),
        (response(500), 60, 100),
        (Delay::Stopped, 10, 100),
        (Delay::Stopped, 60, 100),
    ];
    for (delay, seconds, at_change) in table {
        let one = admitted_of_60(&db, 1, delay, seconds);
        assert_eq!(one, [60, 60, 60, 60], "one server, {delay:?} for {seconds} s");
        let three = admitted_of_60(&db, 3, delay, seconds);
        assert_eq!(three, [60, at_change, 60, 60], "three servers, {delay:?} for {seconds} s");
    }
}
