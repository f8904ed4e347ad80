//! The open write transaction.

use std::sync::atomic::Ordering;

use entity::outbox::Outbox;
use entity::{activity_rollups, events, revenue_rollups, webhook_deliveries, webhook_fanouts};
use sea_orm::{DatabaseTransaction, DbErr};
use tracing::Instrument;

use super::{Database, dialect, dialect::Recorded, running::Registered};
use crate::clock::Clock;

/// `Sync` too, so that a future which holds `&Write` across an await may move between threads.
type Effect = Box<dyn FnOnce() + Send + Sync>;

/// One change in the making: all of it becomes visible at [`commit`](Self::commit), or none when it is dropped.
pub struct Write {
    transaction: DatabaseTransaction,
    registered: Registered,
    began_ms: i64,
    shard: i16,
    revenue: revenue_rollups::Deltas,
    activity: activity_rollups::Deltas,
    outbox: Outbox,
    effects: Vec<Effect>,
}

impl Database {
    /// Begins a write. It is recorded at the clock's time; on PostgreSQL the machine's clock gives way to the server's,
    /// so that the writes of all processes are recorded by one clock.
    ///
    /// On SQLite it waits for its turn, since one write runs at a time.
    ///
    /// # Errors
    /// When the database does not answer, or another process holds the SQLite file for too long.
    pub async fn begin_write(&self, clock: &Clock) -> Result<Write, DbErr> {
        let began_ms = clock.now_ms();
        let recorded = if clock.is_fixed() { Recorded::Own(began_ms) } else { Recorded::Server };
        let transaction = dialect::begin(&self.inner.writer).await?;
        let server_ms = dialect::announce_write(&transaction, recorded).await?;
        let registered = self.inner.running.register(|| server_ms.unwrap_or_else(|| clock.now_ms()));
        let turn = self.inner.turn.fetch_add(1, Ordering::Relaxed) % dialect::shards(self.backend());
        Ok(Write {
            transaction,
            registered,
            began_ms,
            shard: i16::try_from(turn).unwrap_or_default(),
            revenue: revenue_rollups::Deltas::default(),
            activity: activity_rollups::Deltas::default(),
            outbox: Outbox::default(),
            effects: Vec::new(),
        })
    }
}

impl Write {
    /// The transaction, to read and write in.
    pub fn conn(&self) -> &DatabaseTransaction {
        &self.transaction
    }

    /// The time at which this write is recorded: what `updated_at` becomes. The same for all of the write.
    pub fn now_ms(&self) -> i64 {
        self.registered.start()
    }

    /// When this process asked for the write, by its own clock. What is granted from the moment of the write on, for a while,
    /// ends no later than that while after this.
    pub fn began_ms(&self) -> i64 {
        self.began_ms
    }

    /// Adds to the revenue sums when the write is committed.
    pub fn add_revenue(&mut self, bucket: revenue_rollups::Bucket, sums: revenue_rollups::Sums) {
        self.revenue.add(bucket, sums);
    }

    /// Adds to the activity sums when the write is committed.
    pub fn add_activity(&mut self, bucket: activity_rollups::Bucket, sums: activity_rollups::Sums) {
        self.activity.add(bucket, sums);
    }

    /// Adds an event and its deliveries to the outbox when the write is committed.
    pub fn add_event(
        &mut self,
        event: events::Model,
        deliveries: impl IntoIterator<Item = webhook_deliveries::Model>,
    ) {
        self.outbox.push(event, deliveries);
    }

    /// Remembers, when the write is committed, who gets a delivery of an event later.
    pub fn add_rest(&mut self, rest: webhook_fanouts::Rest) {
        self.outbox.push_rest(rest);
    }

    /// Does something once the write is committed, and never otherwise: a wake-up, the end of a cached page.
    ///
    /// It runs before [`commit`](Self::commit) returns, and must neither block nor fail.
    pub fn after_commit(&mut self, effect: impl FnOnce() + Send + Sync + 'static) {
        self.effects.push(Box::new(effect));
    }

    /// Makes the change visible, then does what was to be done after it.
    ///
    /// Once begun it goes on to its end even when the caller is cancelled, so that what follows a commit always does.
    ///
    /// # Errors
    /// When the database does; the change is then rolled back, or, when the connection broke amid the commit, either.
    pub async fn commit(self) -> Result<(), DbErr> {
        match tokio::spawn(self.finish().in_current_span()).await {
            Ok(outcome) => outcome,
            Err(failure) => match failure.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(failure) => Err(DbErr::Custom(failure.to_string())),
            },
        }
    }

    async fn finish(mut self) -> Result<(), DbErr> {
        self.outbox.flush(&self.transaction).await?;
        // The sums come last: writers meet in them, and hold them only from here to the commit.
        self.revenue.flush(&self.transaction, self.shard).await?;
        self.activity.flush(&self.transaction, self.shard).await?;
        self.transaction.commit().await?;
        drop(self.registered);
        self.effects.into_iter().for_each(|effect| effect());
        Ok(())
    }

    /// Takes everything back and waits until that is done. Dropping the write takes it back as well.
    ///
    /// # Errors
    /// When the database does not answer; the change is not kept all the same.
    pub async fn rollback(self) -> Result<(), DbErr> {
        self.transaction.rollback().await
    }
}

impl std::fmt::Debug for Write {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Write").field("now_ms", &self.now_ms()).finish_non_exhaustive()
    }
}
