//! Write transactions. Times are milliseconds since the epoch.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use entity::outbox::Outbox;
use entity::{activity_rollups, events, revenue_rollups, webhook_deliveries, webhook_fanouts};
use sea_orm::{DbBackend, DbErr};

use super::errors::failure_reason;
use super::recording_clock::{self, RecordingTime};
use super::{
    Database, DatabaseInner, WriteTransaction, dialect, inherit_wait_budget, running_writes::RegisteredWrite,
};
use crate::clock::Clock;
use crate::telemetry::activity::Activity;
use crate::telemetry::activity::inherit_activity;
use crate::telemetry::traces::{Span, SpanKind};

/// A function to run after the commit. `Sync`, so that futures that hold `&Write` across an await are `Send`.
type CommitHook = Box<dyn FnOnce() + Send + Sync>;

/// A write transaction. [`commit`](Self::commit) makes its changes visible; dropping it rolls them back.
pub struct Write {
    database: Arc<DatabaseInner>,
    transaction: WriteTransaction,
    /// The time at which the write is recorded.
    time: RecordingTime,
    registered: RegisteredWrite,
    /// When this process requested the write, by its clock.
    began_ms: i64,
    /// When the recording time was determined, by the clock of this process and by a clock that is never set.
    recorded: (i64, Instant),
    /// The shard of the rollups that the commit adds to. Concurrent writes that add to different shards do not wait for
    /// each other's rows.
    shard: i16,
    revenue: revenue_rollups::RevenueDeltas,
    activity: activity_rollups::ActivityDeltas,
    outbox: Outbox,
    /// The time of the last event id, in milliseconds since the epoch; 0 without events.
    last_event_ms: i64,
    commit_hooks: Vec<CommitHook>,
    /// The span of the transaction; `None` if it is not recorded.
    span: Option<Span>,
}

impl Database {
    /// Begins a write transaction and determines its recording time by `clock`. On PostgreSQL, the server's clock replaces the
    /// machine's, so that the writes of all processes are recorded by one clock. The recording time is later if the clock was set
    /// back.
    ///
    /// On SQLite, this call waits for other writes, since only one runs at a time.
    ///
    /// # Errors
    /// Returns [`DbErr`] when no connection is available in time, or when another process holds the SQLite lock for too long.
    pub async fn begin_write(&self, clock: &Clock) -> Result<Write, DbErr> {
        let mut span = start_span(self.backend());
        let began_ms = clock.now_ms();
        let begin = async {
            let transaction = self.writer.begin(dialect::write_options()).await?;
            // Before the recording time is determined, so that no earlier write appears to have ended.
            let registered = self.inner.running_writes.register(clock.now_ms());
            let time = recording_clock::record(&transaction, clock).await?;
            Ok((transaction, registered, time))
        };
        let (transaction, registered, time) = begin.await.inspect_err(|error| fail(span.as_mut(), error))?;
        if time.is_ahead() != self.inner.is_clock_behind.swap(time.is_ahead(), Ordering::Relaxed) {
            report_clock(time.is_ahead());
        }
        let shard =
            self.inner.next_shard.fetch_add(1, Ordering::Relaxed) % dialect::shard_count(self.backend());
        Ok(Write {
            database: Arc::clone(&self.inner),
            transaction: WriteTransaction::new(transaction),
            registered,
            time,
            began_ms,
            recorded: (clock.now_ms(), Instant::now()),
            shard: i16::try_from(shard).unwrap_or_default(),
            revenue: revenue_rollups::RevenueDeltas::default(),
            activity: activity_rollups::ActivityDeltas::default(),
            outbox: Outbox::default(),
            last_event_ms: 0,
            commit_hooks: Vec::new(),
            span,
        })
    }
}

impl Write {
    /// Returns the transaction for queries.
    pub fn conn(&self) -> &WriteTransaction {
        &self.transaction
    }

    /// Returns the time at which this write is recorded, for `updated_at`. It is constant during the write, and later than
    /// [`now_ms`](Self::now_ms) if the clock was set back.
    pub fn recorded_ms(&self) -> i64 {
        self.time.ms
    }

    /// Returns the time at which this write began, by the clock of [`Database::begin_write`]. It is constant during the write. Use it
    /// for everything but `updated_at`: what expires or is due later must not depend on a clock that was wrong.
    pub fn now_ms(&self) -> i64 {
        self.time.clock_ms
    }

    /// Returns the recording time plus the time that has passed since, or a few milliseconds less: the response time of the database.
    pub fn current_ms(&self, clock: &Clock) -> i64 {
        let (recorded_ms, recorded_at) = self.recorded;
        let elapsed_ms = match clock.is_simulated() {
            true => clock.now_ms() - recorded_ms,
            false => i64::try_from(recorded_at.elapsed().as_millis()).unwrap_or(i64::MAX),
        };
        self.recorded_ms().saturating_add(elapsed_ms.max(0))
    }

    /// Returns the time at which this process requested the write, by its own clock. Count durations that start with the
    /// write, such as leases, from this time, so that they do not end too late.
    pub fn began_ms(&self) -> i64 {
        self.began_ms
    }

    /// Returns the span of the transaction, which includes the wait for it. Returns `None` if it is not recorded.
    pub fn span(&self) -> Option<&Span> {
        self.span.as_ref()
    }

    /// Adds to the revenue rollups, the precomputed sums of each period, at the commit.
    pub fn add_revenue(
        &mut self,
        bucket: revenue_rollups::RevenueBucket,
        sums: revenue_rollups::RevenueSums,
    ) {
        self.revenue.add(bucket, sums);
    }

    /// Adds to the activity rollups, the precomputed sums of each period, at the commit.
    pub fn add_activity(
        &mut self,
        bucket: activity_rollups::ActivityBucket,
        sums: activity_rollups::ActivitySums,
    ) {
        self.activity.add(bucket, sums);
    }

    /// Adds an event and its deliveries to the outbox at the commit.
    pub fn add_event(
        &mut self,
        event: events::Model,
        deliveries: impl IntoIterator<Item = webhook_deliveries::Model>,
    ) {
        self.last_event_ms = self.last_event_ms.max(crate::id::uuid_ms(event.id));
        self.outbox.push(event, deliveries);
    }

    /// Returns the events of this write so far.
    pub fn events(&self) -> &[events::Model] {
        self.outbox.events()
    }

    /// Adds the fan-out of an event to the outbox at the commit: the subscriptions whose deliveries are created later.
    pub fn add_fanout(&mut self, fanout: webhook_fanouts::PendingFanout) {
        self.outbox.push_fanout(fanout);
    }

    /// Registers a function that runs only if the write is committed, such as a wake signal.
    ///
    /// It runs before [`commit`](Self::commit) returns, and must not block or panic.
    pub fn after_commit(&mut self, hook: impl FnOnce() + Send + Sync + 'static) {
        self.commit_hooks.push(Box::new(hook));
    }

    /// Commits the transaction, then runs the functions registered with [`after_commit`](Self::after_commit).
    ///
    /// Continues to the end even if the caller is canceled.
    ///
    /// # Errors
    /// Returns [`DbErr`] when a statement or the commit fails. The changes are then rolled back. If the connection was lost
    /// or the commit timed out, they may have been committed, but the registered functions do not run.
    pub async fn commit(self) -> Result<(), DbErr> {
        // Boxed, since the future is large, and the wrappers and the new task would each move it.
        let finish = Box::pin(self.finish());
        match tokio::spawn(inherit_activity(inherit_wait_budget(finish))).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(DbErr::Custom(error.to_string())),
            },
        }
    }

    async fn finish(mut self) -> Result<(), DbErr> {
        let mut span = self.span.take();
        let flush = async {
            recording_clock::reserve_until(&self.transaction, self.time, self.last_event_ms).await?;
            self.outbox.flush(&self.transaction).await?;
            // The rollups come last, since concurrent writes wait for each other's rollup rows until the commit.
            self.revenue.flush(&self.transaction, self.shard).await?;
            self.activity.flush(&self.transaction, self.shard).await
        };
        let flushed = flush.await.and_then(|()| self.database.open_files.check());
        let committed = match flushed {
            Ok(()) => self.transaction.commit().await,
            Err(error) => Err(error),
        };
        committed.inspect_err(|error| fail(span.as_mut(), error))?;
        if let Some(span) = &mut span {
            span.set("db.operation.name", "COMMIT");
        }
        drop(span);
        drop(self.registered);
        self.commit_hooks.into_iter().for_each(|hook| hook());
        Ok(())
    }

    /// Rolls back and waits until that is done. Dropping the write rolls it back, too.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the connection fails. The changes are rolled back in any case.
    pub async fn rollback(self) -> Result<(), DbErr> {
        self.transaction.rollback().await
    }
}

fn report_clock(is_behind: bool) {
    match is_behind {
        true => tracing::warn!(
            "the clock was set back; until it has caught up, changes are recorded at later times, so that readers miss none"
        ),
        false => tracing::info!("the clock has caught up; changes are recorded at its time again"),
    }
}

/// Starts the span of a transaction if it belongs to a recorded activity.
fn start_span(backend: DbBackend) -> Option<Span> {
    let mut span = Activity::start_span("transaction", SpanKind::Client)?;
    span.set("db.system.name", if backend == DbBackend::Postgres { "postgresql" } else { "sqlite" });
    Some(span)
}

/// Marks a transaction as failed.
fn fail(span: Option<&mut Span>, error: &DbErr) {
    if let Some(span) = span {
        span.fail(failure_reason(error));
    }
}

impl std::fmt::Debug for Write {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Write").field("recorded_ms", &self.recorded_ms()).finish_non_exhaustive()
    }
}
