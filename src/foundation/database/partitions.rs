//! Tables with one partition per UTC day, so that the rows of a day are deleted by dropping a table. PostgreSQL only: on SQLite, the
//! tables are not partitioned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use entity::rollups::DAY_MS;
use jiff::Timestamp;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};

use super::{BoundedTransaction, Database, is_retryable};
use crate::clock::Clock;

/// The advisory lock held while partitions are created.
const PARTITION_LOCK: i64 = 0x5359 << 48;

/// How long dropping a partition waits for transactions that use the table. Meanwhile, other statements wait behind it.
const DROP_LOCK_TIMEOUT_MS: u32 = 100;

/// How often a call tries to drop a partition.
const DROP_TRIES: u32 = 5;

/// The pause before the next try, in which the statements that waited run.
const DROP_PAUSE: Duration = Duration::from_millis(200);

/// How long a process relies on partitions that it found. Somebody may drop them.
const KNOWN_PERIOD: Duration = Duration::from_secs(60);

/// The days for which this process created partitions or found them, with the table of each and the time of the check.
#[derive(Debug, Default)]
pub(super) struct KnownPartitions(Mutex<BTreeMap<(&'static str, i64), Instant>>);

impl KnownPartitions {
    /// Returns the days of these times, in days since the epoch, that are not known for the table.
    fn missing(&self, table: &'static str, times_ms: &[i64]) -> BTreeSet<i64> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let days = times_ms.iter().map(|&time_ms| day_of(time_ms));
        let is_known =
            |day| known.get(&(table, day)).is_some_and(|checked: &Instant| checked.elapsed() < KNOWN_PERIOD);
        days.filter(|&day| !is_known(day)).collect()
    }

    fn add(&self, table: &'static str, days: BTreeSet<i64>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, checked| checked.elapsed() < KNOWN_PERIOD);
        known.extend(days.into_iter().map(|day| ((table, day), Instant::now())));
    }
}

/// The partitions of a table.
struct Partitions(Vec<Partition>);

/// A partition. It begins where the previous one ends, or later.
struct Partition {
    name: String,
    /// Whether it contains all days before its end.
    is_first: bool,
    /// The end, excluded, in milliseconds since the epoch.
    end_ms: i64,
}

impl Partitions {
    async fn of(connection: &impl ConnectionTrait, table: &str) -> Result<Self, DbErr> {
        let query = "SELECT child.relname::text, pg_get_expr(child.relpartbound, child.oid)
             FROM pg_inherits JOIN pg_class child ON child.oid = pg_inherits.inhrelid
             WHERE pg_inherits.inhparent = to_regclass($1)";
        let query = Statement::from_sql_and_values(DbBackend::Postgres, query, [table.into()]);
        let mut partitions = Vec::new();
        for row in connection.query_all_raw(query).await? {
            let (name, bounds): (String, String) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
            partitions.extend(Partition::new(name, &bounds));
        }
        Ok(Self(partitions))
    }

    fn contains(&self, day: i64) -> bool {
        let end_ms = (day + 1) * DAY_MS;
        self.0
            .iter()
            .any(|partition| partition.end_ms == end_ms || partition.is_first && partition.end_ms > end_ms)
    }
}

impl Partition {
    /// Parses bounds such as `FOR VALUES FROM ('1767225600000') TO ('1767312000000')`.
    fn new(name: String, bounds: &str) -> Option<Self> {
        let (start, end) = bounds.split_once(" TO ")?;
        let end_ms = end.trim_matches(|character: char| !character.is_ascii_digit()).parse().ok()?;
        Some(Self { name, is_first: start.contains("MINVALUE"), end_ms })
    }
}

impl Database {
    /// Creates the partitions of the table that rows of these times need (milliseconds since the epoch), and those of the days
    /// before and after, since the clock that determines the time of a row may differ. Does nothing on SQLite.
    ///
    /// Call it before the transaction that inserts the rows. It queries the database at most once a minute.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails and the partition of one of the times does not exist.
    pub async fn ensure_partitions(&self, table: &'static str, times_ms: &[i64]) -> Result<(), DbErr> {
        if self.backend() != DbBackend::Postgres {
            return Ok(());
        }
        let days = self.inner.known_partitions.missing(table, times_ms);
        if days.is_empty() {
            return Ok(());
        }
        let needed: BTreeSet<i64> = days.iter().flat_map(|day| day - 1..=day + 1).collect();
        let found = Partitions::of(&self.reader, table).await?;
        if !needed.iter().all(|&day| found.contains(day)) {
            match self.create_partitions(table, &needed).await {
                Err(error) if days.iter().all(|&day| found.contains(day)) => {
                    tracing::warn!(%error, table, "could not create the partition of the next or previous day; trying again");
                }
                created => created?,
            }
        }
        self.inner.known_partitions.add(table, days);
        Ok(())
    }

    async fn create_partitions(&self, table: &str, days: &BTreeSet<i64>) -> Result<(), DbErr> {
        let transaction = self.begin_limited().await?;
        transaction.execute_unprepared(&format!("SELECT pg_advisory_xact_lock({PARTITION_LOCK})")).await?;
        let found = Partitions::of(&transaction, table).await?;
        for &day in days.iter().filter(|&&day| !found.contains(day)) {
            create_partition(&transaction, table, day).await?;
        }
        transaction.commit().await
    }

    /// Drops the partitions of the table whose rows are all older than `retention_ms`, by the clock of the database. Returns whether
    /// the caller must delete old rows itself: on SQLite, and while the first partition, which contains rows of many days, exists.
    ///
    /// Waits at most 100 milliseconds at a time for running transactions that use the table, since others wait behind it. A partition
    /// that could not be dropped is dropped by a later call.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement fails.
    pub async fn drop_partitions(
        &self,
        table: &'static str,
        clock: &Clock,
        retention_ms: i64,
    ) -> Result<bool, DbErr> {
        if self.backend() != DbBackend::Postgres {
            return Ok(true);
        }
        let before_ms = self.server_now_ms(clock).await? - retention_ms;
        let found = Partitions::of(&self.reader, table).await?;
        let mut has_first = false;
        for Partition { name, is_first, end_ms } in found.0 {
            if end_ms > before_ms {
                has_first |= is_first;
            } else if self.drop_partition(&name).await? {
                tracing::info!(partition = name, "dropped a partition whose rows were past their retention");
            } else {
                tracing::warn!(partition = name, "could not drop a partition, because its table is in use");
            }
        }
        Ok(has_first)
    }

    /// Returns `false` if the locks were not available in time.
    async fn drop_partition(&self, name: &str) -> Result<bool, DbErr> {
        for attempt in 0..DROP_TRIES {
            if attempt > 0 {
                tokio::time::sleep(DROP_PAUSE).await;
            }
            let transaction = self.begin_limited().await?;
            let timeout = format!("SET LOCAL lock_timeout = {DROP_LOCK_TIMEOUT_MS}");
            transaction.execute_unprepared(&timeout).await?;
            match transaction.execute_unprepared(&format!("DROP TABLE IF EXISTS {name}")).await {
                Ok(_) => return transaction.commit().await.map(|()| true),
                Err(error) if is_retryable(&error) => transaction.rollback().await?,
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

/// Creates the partition of a day. Attaching a table, unlike creating a partition, lets other transactions use the parent.
async fn create_partition(transaction: &BoundedTransaction, table: &str, day: i64) -> Result<(), DbErr> {
    let (start_ms, end_ms) = (day * DAY_MS, (day + 1) * DAY_MS);
    let date = Timestamp::from_millisecond(start_ms)
        .map_err(|error| DbErr::Custom(format!("a partition of {table}: {error}")))?
        .strftime("%Y_%m_%d")
        .to_string();
    let statements = format!(
        "CREATE TABLE {table}_{date} (LIKE {table});
         ALTER TABLE {table} ATTACH PARTITION {table}_{date} FOR VALUES FROM ({start_ms}) TO ({end_ms})"
    );
    transaction.execute_unprepared(&statements).await.map(drop)
}

/// Returns the UTC day of a time in milliseconds since the epoch, in days since the epoch.
const fn day_of(time_ms: i64) -> i64 {
    time_ms.div_euclid(DAY_MS)
}
