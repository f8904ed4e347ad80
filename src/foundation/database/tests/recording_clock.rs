//! Readers of changes miss nothing and do not wait, whatever the clocks do.
//!
//! A history is a random sequence of writes and reads of two servers, each with a clock of its own that is set forward and back,
//! over restarts. Two clocks are also what a server observes before and after a failover of PostgreSQL.

use std::time::Duration;

use entity::{event_feed, events, workspaces};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::{EmptyDatabase, at, workspace};
use crate::clock::{Clock, from_ms};
use crate::database::{Database, Write};
use crate::id::{EventId, Ids, min_uuid_at, uuid_ms};

/// The number of histories per database if `PROPTEST_CASES` is not set.
const HISTORIES: u32 = 20;
const START_MS: i64 = 1_772_445_600_000;
const DAY_MS: i64 = 86_400_000;
/// How long a reader that reads repeatedly waits for a committed write at most, whatever the clocks did.
const MAX_WAIT_MS: u64 = 1_000;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Sets the clock of a server forward or back.
    Set(usize, i64),
    /// Time passes for both servers.
    Pass(u64),
    /// A server begins a write.
    Begin(usize),
    /// A server adds an event to its running write, or to a new one.
    Append(usize),
    /// A server commits its running write.
    Commit(usize),
    /// A server rolls its running write back.
    RollBack(usize),
    /// A reader continues at a server.
    Read(usize, usize),
    /// A server starts again. Running writes end without a commit.
    Restart(usize),
    /// Running writes end, and readers continue at a server until they have read everything.
    Wait(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let server = || 0..2_usize;
    let seconds = prop_oneof![Just(1_i64), 1..120_i64, Just(DAY_MS / 1000)];
    let jump = prop_oneof![
        3 => seconds.clone().prop_map(|seconds| -1000 * seconds),
        2 => -999..0_i64,
        1 => 1..2_000_i64,
        1 => seconds.prop_map(|seconds| 1000 * seconds),
    ];
    prop_oneof![
        3 => (server(), jump).prop_map(|(server, by)| Step::Set(server, by)),
        3 => prop_oneof![Just(0), Just(1), 0..1_500_u64].prop_map(Step::Pass),
        2 => server().prop_map(Step::Begin),
        5 => server().prop_map(Step::Append),
        5 => server().prop_map(Step::Commit),
        1 => server().prop_map(Step::RollBack),
        5 => (server(), server()).prop_map(|(reader, server)| Step::Read(reader, server)),
        1 => server().prop_map(Step::Restart),
        1 => server().prop_map(Step::Wait),
    ]
}

/// A server process with its clock. On SQLite, both are on the same machine, but the law does not depend on that.
struct Server {
    database: Database,
    clock: Clock,
    ids: Ids,
    write: Option<(Write, Vec<Uuid>)>,
}

/// A reader of the event feed.
struct Reader {
    position: Uuid,
    events: Vec<Uuid>,
}

struct History<'a> {
    empty: &'a EmptyDatabase,
    servers: [Server; 2],
    readers: [Reader; 2],
    committed: Vec<Uuid>,
    /// The latest recording time that was committed.
    last_recorded: i64,
    /// The highest horizon that a reader received.
    horizon: i64,
}

impl History<'_> {
    async fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Set(server, by) => {
                let clock = &self.servers[server].clock;
                clock.set(from_ms((clock.now_ms() + by).max(START_MS - 30 * DAY_MS)));
            }
            Step::Pass(ms) => self.pass(ms),
            Step::Begin(server) => self.begin(server).await,
            Step::Append(server) => {
                self.begin(server).await;
                let Server { clock, ids, write, .. } = &mut self.servers[server];
                let Some((write, events)) = write else { return Ok(()) };
                let id: EventId = ids.next(from_ms(write.current_ms(clock)));
                write.add_event(event(id.uuid()), []);
                events.push(id.uuid());
            }
            Step::Commit(server) => {
                let Some((write, events)) = self.servers[server].write.take() else { return Ok(()) };
                let recorded = write.recorded_ms();
                write.commit().await.unwrap();
                prop_assert!(
                    recorded >= self.horizon,
                    "{recorded} was recorded after {} was read",
                    self.horizon
                );
                for id in events {
                    prop_assert!(uuid_ms(id) >= recorded, "the event {id} is before its write");
                    self.committed.push(id);
                }
                self.last_recorded = self.last_recorded.max(recorded);
            }
            Step::RollBack(server) => {
                if let Some((write, _)) = self.servers[server].write.take() {
                    write.rollback().await.unwrap();
                }
            }
            Step::Read(reader, server) => self.read(reader, server).await?,
            Step::Restart(server) => {
                // Closing an SQLite file waits for the writer.
                for server in [0, 1] {
                    Box::pin(self.take(Step::RollBack(server))).await?;
                }
                self.servers[server].ids = Ids::default();
                self.servers[server].database.close().await;
                self.servers[server].database = self.empty.open().await;
            }
            Step::Wait(server) => self.wait(server).await?,
        }
        Ok(())
    }

    fn pass(&self, ms: u64) {
        self.servers.iter().for_each(|server| server.clock.advance(Duration::from_millis(ms)));
    }

    /// Begins a write unless one runs. SQLite has one writer.
    async fn begin(&mut self, server: usize) {
        let is_sqlite = self.servers[server].database.backend() == sea_orm::DbBackend::Sqlite;
        if is_sqlite && self.servers[1 - server].write.is_some() {
            return;
        }
        let Server { database, clock, write, .. } = &mut self.servers[server];
        if write.is_none() {
            *write = Some((database.begin_write(clock).await.unwrap(), Vec::new()));
        }
    }

    async fn read(&mut self, reader: usize, server: usize) -> Result<(), TestCaseError> {
        let Server { database, clock, .. } = &self.servers[server];
        let is_sqlite = database.backend() == sea_orm::DbBackend::Sqlite;
        if is_sqlite && self.servers.iter().any(|server| server.write.is_some()) {
            // A reader would wait for the write.
            return Ok(());
        }
        let horizon = database.horizon(clock).await.unwrap();
        prop_assert!(horizon >= self.horizon, "the horizon went back from {} to {horizon}", self.horizon);
        self.horizon = horizon;
        let Reader { position, events } = &mut self.readers[reader];
        let range = (*position, min_uuid_at(horizon));
        let page =
            event_feed::between(database.read(), range, &event_feed::EventFilter::default(), 10_000).await;
        events.extend(page.unwrap().into_iter().map(|(id, _)| id));
        // A cursor without events is the position before the horizon.
        *position = Uuid::from_u128(min_uuid_at(horizon).as_u128() - 1).max(*position);
        Ok(())
    }

    async fn wait(&mut self, server: usize) -> Result<(), TestCaseError> {
        for server in [0, 1] {
            Box::pin(self.take(Step::Commit(server))).await?;
        }
        self.read(0, server).await?;
        self.pass(MAX_WAIT_MS);
        for reader in [0, 1] {
            self.read(reader, server).await?;
            let mut expected = self.committed.clone();
            expected.sort_unstable();
            prop_assert_eq!(&self.readers[reader].events, &expected);
        }
        prop_assert!(self.horizon > self.last_recorded, "the last write is not visible");
        Ok(())
    }
}

fn event(id: Uuid) -> events::Model {
    events::Model {
        id,
        workspace_id: Uuid::from_u128(1),
        event_type: "course.published".to_owned(),
        created_at: 1,
        body: Vec::new(),
        traceparent: None,
        is_test: false,
    }
}

/// Runs a history in a database that earlier ones have used.
async fn run(empty: &EmptyDatabase, steps: &[Step]) -> Result<(), TestCaseError> {
    let databases = [empty.open().await, empty.open().await];
    let horizon = databases[0].horizon(&at(START_MS)).await.unwrap();
    // Clocks that continue after the earlier histories.
    let start = horizon + 2_000;
    let servers =
        databases.map(|database| Server { database, clock: at(start), ids: Ids::default(), write: None });
    let readers = [min_uuid_at(horizon); 2].map(|position| Reader { position, events: Vec::new() });
    let mut history = History { empty, servers, readers, committed: Vec::new(), last_recorded: 0, horizon };
    for step in steps {
        history.take(*step).await?;
    }
    history.wait(0).await?;
    let [first, second] = history.servers;
    tokio::join!(first.database.close(), second.database.close());
    Ok(())
}

#[test]
fn readers_miss_nothing_and_do_not_wait_whatever_the_clocks_do() {
    let runtime = Runtime::new().unwrap();
    for empty in runtime.block_on(EmptyDatabase::all()) {
        runtime.block_on(async {
            let database = empty.migrated().await;
            let write = database.begin_write(&at(1)).await.unwrap();
            workspaces::insert(write.conn(), workspace(1, "acme")).await.unwrap();
            write.commit().await.unwrap();
            database.close().await;
        });
        let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
        let config = Config::with_cases(cases.unwrap_or(HISTORIES));
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..config });
        let steps = prop::collection::vec(step(), 1..40);
        let result = runner.run(&steps, |steps| runtime.block_on(run(&empty, &steps)));
        result.unwrap_or_else(|failure| panic!("{:?}: {failure}", empty.source.backend()));
    }
}
