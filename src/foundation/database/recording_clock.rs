//! The recording clock: the times of writes, and the horizons of their readers. Times are milliseconds since the epoch.
//!
//! A write is recorded at one time, which is the `updated_at` of its rows, and its events have ids with this time or a later one. A
//! horizon is a time that no running or later write precedes: a reader that has read everything before the horizon misses nothing.
//! So recording times must never go back behind a horizon that any reader has received, although the clock does, after a restart,
//! after a failover, or when it is set. The database therefore stores two marks, which only increase:
//!
//! - the *horizon*: the highest one that was returned to a reader. No later write is recorded before it.
//! - the *reserve*: no committed write, event id or horizon is later. Writes raise it by [`RESERVE_MS`] at a time, so that few of them
//!   have to. Thus a clock that is more than [`MAX_LEAD_MS`] behind the reserve was set back. Until it has caught up, writes are
//!   recorded at the reserve, and each new horizon is after it, so commits become visible at once. To remember this, the reserve is
//!   odd then, and otherwise even.
//!
//! A write that runs while a reader determines a horizon is found in the database: on PostgreSQL by its advisory lock, which it takes
//! before it reads the marks. On SQLite, only one write runs at a time, and a horizon is determined by one. The marks of PostgreSQL
//! are sequences, because their values do not depend on a snapshot: a statement that takes the lock reads marks that changed
//! while it waited. They are lost with the server's last transactions unless it replicates synchronously.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, QueryResult, RuntimeErr, Statement, Value};
use tokio::sync::Mutex;
use tokio::time::Instant;

use entity::server_state;

use super::dialect::{self, SERVER_MS};
use super::transaction_limits::TransactionLimits;
use super::{BoundedConnection, BoundedTransaction, Database};
use crate::clock::Clock;

/// By how much the reserve is raised.
const RESERVE_MS: i64 = 500;

/// How far the reserve can be ahead of a clock that was not set back. After the clock was set back by less, commits become visible
/// when it has caught up.
const MAX_LEAD_MS: i64 = 900;

/// How long a reader of an SQLite database waits for writes. A running one is usually shorter.
const MAX_WRITE_WAIT: Duration = Duration::from_secs(1);

/// How long a process waits before it determines the next horizon while the clock is behind the reserve. Each horizon then raises the
/// reserve by 2 ms. With up to 24 processes whose readers ask without a pause, it so increases more slowly than the clock.
const SET_BACK_PAUSE: Duration = Duration::from_millis(50);

/// The name of the mark for horizons: of the sequence of PostgreSQL, and in `server_state` of SQLite.
const HORIZON: &str = "recording_horizon";

/// The name of the mark for the reserve.
const RESERVE: &str = "recording_reserve";

/// The time at which a write is recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordingTime {
    /// The time, in milliseconds.
    pub(super) ms: i64,
    /// The clock when it was determined. It is earlier than the time if it was set back.
    pub(super) clock_ms: i64,
    /// The reserve, which includes this write.
    reserve: i64,
}

/// The two marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    horizon: i64,
    reserve: i64,
}

impl RecordingTime {
    /// Returns whether the clock was set back and has not caught up.
    pub(super) fn is_ahead(self) -> bool {
        self.ms > self.clock_ms + MAX_LEAD_MS
    }
}

impl Marks {
    /// Returns whether the clock was set back and has not caught up.
    fn is_set_back(self, clock: i64) -> bool {
        clock + MAX_LEAD_MS < self.reserve || (is_odd(self.reserve) && clock <= self.reserve)
    }

    /// Returns the recording time of a write that begins now.
    fn recording_time(self, clock: i64) -> RecordingTime {
        if self.is_set_back(clock) {
            let ms = self.reserve | 1;
            return RecordingTime { ms, clock_ms: clock, reserve: ms };
        }
        let ms = clock.max(self.horizon);
        let reserve = if ms > self.reserve { even(ms + RESERVE_MS) } else { self.reserve };
        RecordingTime { ms, clock_ms: clock, reserve }
    }

    /// Returns the marks with a new horizon.
    fn next(self, clock: i64) -> Self {
        if self.is_set_back(clock) {
            let horizon = (self.reserve + 1) | 1;
            return Self { horizon, reserve: horizon };
        }
        let horizon = clock.max(self.horizon);
        let reserve = if horizon > self.reserve { even(horizon + RESERVE_MS) } else { self.reserve };
        Self { horizon, reserve }
    }

    /// Reads the marks of an SQLite database.
    async fn read(conn: &impl ConnectionTrait) -> Result<Self, DbErr> {
        let query = "SELECT (SELECT CAST(value AS INTEGER) FROM server_state WHERE name = $1),
            (SELECT CAST(value AS INTEGER) FROM server_state WHERE name = $2)";
        let values = [HORIZON.into(), RESERVE.into()];
        let row =
            conn.query_one_raw(Statement::from_sql_and_values(DbBackend::Sqlite, query, values)).await?;
        let mark = |index| row.as_ref().map_or(Ok(None), |row| row.try_get_by_index::<Option<i64>>(index));
        Ok(Self { horizon: mark(0)?.unwrap_or_default(), reserve: mark(1)?.unwrap_or_default() })
    }
}

/// Determines the time at which a new write is recorded. On PostgreSQL, also makes the write visible to [`Database::horizon`] until
/// it ends, and limits its duration.
///
/// On PostgreSQL, the innermost query takes the lock, with a time that is not after the recording time. The queries around it read
/// the clock and the marks while the lock is held. `OFFSET 0` keeps them separate.
pub(super) async fn record(transaction: &BoundedTransaction, clock: &Clock) -> Result<RecordingTime, DbErr> {
    let Some(limits) = transaction.timeout().map(TransactionLimits::new) else {
        let marks = Marks::read(transaction).await?;
        let time = marks.recording_time(clock.now_ms());
        if time.reserve > marks.reserve {
            server_state::put(transaction, RESERVE, &time.reserve.to_string()).await?;
        }
        return Ok(time);
    };
    let (clock_ms, marks, is_set_back) = (clock_ms(), read_marks(), is_set_back());
    let query = format!(
        "SELECT recording_time, clock,
             CASE WHEN recording_time <= reserve THEN reserve
                 ELSE setval('{RESERVE}', greatest(pg_sequence_last_value('{RESERVE}'),
                     CASE WHEN is_set_back THEN recording_time ELSE (recording_time + {RESERVE_MS} + 1) & ~1::bigint END))
                 END,
             set_config('statement_timeout', $3, true), set_config('lock_timeout', $4, true),
             set_config('idle_in_transaction_session_timeout', $5, true)
         FROM (SELECT *, greatest(announced, horizon, CASE WHEN is_set_back THEN reserve | 1 ELSE clock END)
                   AS recording_time
             FROM (SELECT *, {is_set_back} AS is_set_back
                 FROM (SELECT announced, {clock_ms} AS clock, {marks}
                     FROM (SELECT announced, pg_advisory_xact_lock_shared(
                               ($2::bigint << 48) | (announced & ((1::bigint << 48) - 1)))
                         FROM (SELECT greatest({clock_ms}, coalesce(pg_sequence_last_value('{HORIZON}'), 0))
                                 AS announced OFFSET 0) AS start
                         OFFSET 0) AS lock OFFSET 0) AS clocks OFFSET 0) AS states OFFSET 0) AS times"
    );
    let values = [simulated_ms(clock), dialect::WRITE_LOCK_CLASS.into()].into_iter().chain(limits.settings());
    let row =
        transaction.query_one_raw(Statement::from_sql_and_values(DbBackend::Postgres, query, values)).await?;
    let row = row.ok_or_else(no_row)?;
    Ok(RecordingTime { ms: number(&row, 0)?, clock_ms: number(&row, 1)?, reserve: number(&row, 2)? })
}

/// Raises the reserve if an event id of a write that ends is later. `last_ms` is the time of the id.
pub(super) async fn reserve_until(
    transaction: &impl ConnectionTrait,
    time: RecordingTime,
    last_ms: i64,
) -> Result<(), DbErr> {
    if last_ms <= time.reserve {
        return Ok(());
    }
    let reserve = if is_odd(time.reserve) { last_ms | 1 } else { even(last_ms + RESERVE_MS) };
    match transaction.get_database_backend() {
        DbBackend::Postgres => {
            let query =
                format!("SELECT setval('{RESERVE}', greatest($1, pg_sequence_last_value('{RESERVE}')))");
            let values = [reserve.into()];
            transaction
                .query_one_raw(Statement::from_sql_and_values(DbBackend::Postgres, query, values))
                .await
                .map(drop)
        }
        _ => server_state::put(transaction, RESERVE, &reserve.to_string()).await,
    }
}

/// Determines horizons, one at a time: each is stored, and the callers that wait for one meanwhile share the next. If one fails, the
/// callers that wait for it fail as well, so that they do not wait for the database one after the other.
#[derive(Debug, Default)]
pub(super) struct Horizons {
    /// The number of horizons whose determination has started.
    started: AtomicU64,
    latest: Mutex<LatestHorizon>,
}

/// The result of the latest determination.
#[derive(Debug, Default)]
struct LatestHorizon {
    /// Its number; 0 before the first one.
    number: u64,
    /// The horizon, or the message of the error.
    result: Option<Result<i64, String>>,
    /// When the next determination may start.
    next_at: Option<Instant>,
}

/// A horizon, and whether the clock was behind the reserve.
#[derive(Clone, Copy, Debug)]
struct Horizon {
    ms: i64,
    is_set_back: bool,
}

impl Horizons {
    /// Returns a horizon whose determination starts after this call.
    async fn next(&self, determine: impl Future<Output = Result<Horizon, DbErr>>) -> Result<i64, DbErr> {
        let started_before = self.started.load(Ordering::SeqCst);
        let mut latest = match self.latest.try_lock() {
            Ok(latest) => latest,
            Err(_) => {
                let latest = self.latest.lock().await;
                match &latest.result {
                    Some(Ok(horizon)) if latest.number > started_before => return Ok(*horizon),
                    Some(Err(message)) if latest.number >= started_before => {
                        return Err(DbErr::Conn(RuntimeErr::Internal(message.clone())));
                    }
                    _ => latest,
                }
            }
        };
        if let Some(next_at) = latest.next_at {
            tokio::time::sleep_until(next_at).await;
        }
        let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        let horizon = determine.await;
        let is_set_back = horizon.as_ref().is_ok_and(|horizon| horizon.is_set_back);
        *latest = LatestHorizon {
            number,
            result: Some(horizon.as_ref().map(|horizon| horizon.ms).map_err(DbErr::to_string)),
            next_at: is_set_back.then(|| Instant::now() + SET_BACK_PAUSE),
        };
        horizon.map(|horizon| horizon.ms)
    }
}

impl Database {
    /// Returns a horizon: no running or later write commits a row with an earlier `updated_at`, or an event with an id of an earlier
    /// time. Call it before reading the page.
    ///
    /// Stores the horizon, so that it also holds after a restart or a failover. On SQLite, this waits for the running write. If
    /// that takes longer than a second, or the file cannot be written, returns the stored one.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a query fails.
    pub async fn horizon(&self, clock: &Clock) -> Result<i64, DbErr> {
        let determine = async {
            match self.backend() {
                DbBackend::Postgres => postgres_horizon(&self.reader, clock).await,
                _ => match tokio::time::timeout(MAX_WRITE_WAIT, self.sqlite_horizon(clock)).await {
                    Ok(Ok(horizon)) => Ok(horizon),
                    Ok(Err(_)) | Err(_) => {
                        let stored = Marks::read(&self.reader).await?;
                        Ok(Horizon { ms: stored.horizon, is_set_back: false })
                    }
                },
            }
        };
        self.inner.open_files.check()?;
        self.inner.horizons.next(determine).await
    }

    /// Returns a time before which all writes are visible, without storing it or waiting. On SQLite, it ignores running writes of
    /// other processes.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn visible_until(&self, clock: &Clock) -> Result<i64, DbErr> {
        if self.backend() != DbBackend::Postgres {
            let now = clock.now_ms();
            return Ok(self.inner.running_writes.oldest().map_or(now, |oldest| oldest.min(now)));
        }
        let (clock_ms, oldest) = (clock_ms(), oldest_running_write("clock"));
        let query =
            format!("SELECT least(clock, ({oldest})) FROM (SELECT {clock_ms} AS clock OFFSET 0) AS start");
        first_number(&self.reader, query, [simulated_ms(clock), dialect::WRITE_LOCK_CLASS.into()]).await
    }

    /// Returns the reserve: no committed write and no event id is later. Returns `None` if no write was recorded yet.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn recording_reserve(&self) -> Result<Option<i64>, DbErr> {
        let reserve = match self.backend() {
            DbBackend::Postgres => {
                let query = format!("SELECT coalesce(pg_sequence_last_value('{RESERVE}'), 0)");
                first_number(&self.reader, query, []).await?
            }
            _ => Marks::read(&self.reader).await?.reserve,
        };
        Ok((reserve > 0).then_some(reserve))
    }

    /// Cancel-safe: the driver rolls back a transaction that is dropped.
    async fn sqlite_horizon(&self, clock: &Clock) -> Result<Horizon, DbErr> {
        let transaction = self.writer.begin(dialect::write_options()).await?;
        let marks = Marks::read(&transaction).await?;
        let now = clock.now_ms();
        let next = marks.next(now);
        if next == marks {
            transaction.rollback().await?;
        } else {
            server_state::put(&transaction, HORIZON, &next.horizon.to_string()).await?;
            if next.reserve > marks.reserve {
                server_state::put(&transaction, RESERVE, &next.reserve.to_string()).await?;
            }
            transaction.commit().await?;
        }
        Ok(Horizon { ms: next.horizon, is_set_back: marks.is_set_back(now) })
    }
}

/// Raises and stores the horizon of PostgreSQL, then returns it, or the time of the oldest running write of all processes if that is
/// earlier. A write that is not running yet reads the new horizon. One statement at a time does this, so that the marks increase.
async fn postgres_horizon(reader: &BoundedConnection, clock: &Clock) -> Result<Horizon, DbErr> {
    let (clock_ms, marks, is_set_back) = (clock_ms(), read_marks(), is_set_back());
    let oldest = oldest_running_write("next");
    let query = format!(
        "SELECT least(next, ({oldest})), is_set_back
         FROM (SELECT next, is_set_back, setval('{HORIZON}', next),
                 CASE WHEN next > reserve THEN setval('{RESERVE}', greatest(pg_sequence_last_value('{RESERVE}'),
                     CASE WHEN is_set_back THEN next ELSE (next + {RESERVE_MS} + 1) & ~1::bigint END)) END
             FROM (SELECT *, greatest(horizon, CASE WHEN is_set_back THEN (reserve + 1) | 1 ELSE clock END) AS next
                 FROM (SELECT *, {is_set_back} AS is_set_back
                     FROM (SELECT {clock_ms} AS clock, {marks}
                         FROM (SELECT pg_advisory_xact_lock($3) OFFSET 0) AS lock
                         OFFSET 0) AS clocks OFFSET 0) AS states OFFSET 0) AS times OFFSET 0) AS stored"
    );
    let values = [simulated_ms(clock), dialect::WRITE_LOCK_CLASS.into(), dialect::HORIZON_LOCK.into()];
    let row =
        reader.query_one_raw(Statement::from_sql_and_values(DbBackend::Postgres, query, values)).await?;
    let row = row.ok_or_else(no_row)?;
    Ok(Horizon { ms: number(&row, 0)?, is_set_back: row.try_get_by_index(1)? })
}

/// Returns the query for the start of the oldest running write of all processes. It is executed after `column`, a column of the
/// outer query, was determined. The second parameter is [`dialect::WRITE_LOCK_CLASS`].
///
/// `pg_locks` contains the two halves of the lock key in `classid` and `objid`.
fn oldest_running_write(column: &str) -> String {
    format!(
        "SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) FROM pg_locks
         WHERE {column} IS NOT NULL AND locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 16 = $2
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
}

/// Executes a query of PostgreSQL that returns a number.
async fn first_number<const N: usize>(
    reader: &BoundedConnection,
    query: String,
    values: [Value; N],
) -> Result<i64, DbErr> {
    let row =
        reader.query_one_raw(Statement::from_sql_and_values(DbBackend::Postgres, query, values)).await?;
    number(&row.ok_or_else(no_row)?, 0)
}

/// Returns the expression for the time of the server, or the first parameter if it is not null.
fn clock_ms() -> String {
    format!("coalesce($1::bigint, {SERVER_MS})")
}

/// Returns the first parameter: the time of a simulated clock, which replaces that of the server.
fn simulated_ms(clock: &Clock) -> Value {
    clock.is_simulated().then(|| clock.now_ms()).into()
}

/// Returns the expression for [`Marks::is_set_back`].
fn is_set_back() -> String {
    format!("(clock + {MAX_LEAD_MS} < reserve OR (reserve & 1 = 1 AND clock <= reserve))")
}

/// Returns the columns `horizon` and `reserve` with the marks of PostgreSQL.
fn read_marks() -> String {
    format!(
        "coalesce(pg_sequence_last_value('{HORIZON}'), 0) AS horizon,
         coalesce(pg_sequence_last_value('{RESERVE}'), 0) AS reserve"
    )
}

fn is_odd(ms: i64) -> bool {
    ms & 1 == 1
}

/// Rounds up to an even number.
fn even(ms: i64) -> i64 {
    (ms + 1) & !1
}

fn number(row: &QueryResult, index: usize) -> Result<i64, DbErr> {
    row.try_get_by_index(index)
}

fn no_row() -> DbErr {
    DbErr::Custom("the recording clock returned no row".to_owned())
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;

    use super::*;

    /// Requests 20 horizons at once. Returns the number of determinations, and how many callers received a horizon.
    async fn request_many(result: Result<i64, &'static str>) -> (u64, usize) {
        let horizons = Horizons::default();
        let determine = || async {
            tokio::task::yield_now().await;
            let ms = result.map_err(|message| DbErr::Custom(message.to_owned()))?;
            Ok(Horizon { ms, is_set_back: false })
        };
        let outcomes = join_all((0..20).map(|_| horizons.next(determine()))).await;
        (horizons.started.into_inner(), outcomes.iter().filter(|outcome| outcome.is_ok()).count())
    }

    #[tokio::test]
    async fn callers_that_wait_share_the_next_horizon_or_the_failure_of_this_one() {
        assert_eq!(request_many(Ok(7)).await, (2, 20));
        assert_eq!(request_many(Err("no response")).await, (1, 0));
    }

    #[test]
    fn after_the_clock_was_set_back_writes_are_recorded_at_the_reserve_until_it_has_caught_up() {
        let marks = Marks { horizon: 1_000, reserve: 5_000 };
        let first = marks.recording_time(2_000);
        assert_eq!((first.ms, first.reserve, first.is_ahead()), (5_001, 5_001, true));
        let next = Marks { horizon: 1_000, reserve: first.reserve }.next(2_000);
        assert_eq!(next, Marks { horizon: 5_003, reserve: 5_003 });
        // Until the clock has caught up, and not only until it is less than the lead behind.
        assert_eq!(next.recording_time(5_002).ms, 5_003);
        assert_eq!(next.recording_time(5_004).ms, 5_004);
        assert!(!next.recording_time(5_004).is_ahead());
    }
}
