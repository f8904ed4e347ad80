//! The connection to a shared store.

use std::time::Duration;

use anyhow::Context;
use entity::rate_windows::{self, Batch, BatchResult};

use super::redis_store::RedisStore;
use super::within;
use foundation::config::RedisUrl;
use foundation::database::Database;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// A shared store and its connection.
pub(super) enum Backend {
    Postgres(PostgresStore),
    Redis(RedisStore),
}

/// The table `rate_windows`.
pub(super) struct PostgresStore {
    db: Database,
    timeout: Duration,
    /// A connection of its own, since requests can occupy all others. `None` until connected.
    connection: Option<Database>,
}

impl Backend {
    pub(super) fn postgres(db: Database, timeout: Duration) -> Self {
        Self::Postgres(PostgresStore { db, timeout, connection: None })
    }

    /// # Errors
    /// Returns an error if the URL is invalid.
    pub(super) fn redis(url: &RedisUrl) -> anyhow::Result<Self> {
        Ok(Self::Redis(RedisStore::new(url)?))
    }

    /// Connects, and checks that the store can count within the timeout.
    ///
    /// # Errors
    /// Returns an error when the store cannot be reached, does not accept writes, or responds too late.
    pub(super) async fn connect(&mut self, timeout: Duration, now: Option<i64>) -> anyhow::Result<()> {
        let connect = async {
            match self {
                Self::Postgres(store) => store.connect().await,
                Self::Redis(store) => store.connect().await,
            }
        };
        within(CONNECT_TIMEOUT, connect).await?;
        // Once to prepare, and once to measure.
        within(CONNECT_TIMEOUT, self.admit(&[], now)).await?;
        within(timeout, self.admit(&[], now)).await.map(drop)
    }

    /// Closes the connection, in the background.
    pub(super) fn disconnect(&mut self) {
        match self {
            Self::Postgres(store) => store.connection = None,
            Self::Redis(store) => store.disconnect(),
        }
    }

    /// Admits and counts as many requests of each batch as both windows allow.
    ///
    /// # Errors
    /// Returns an error when the store fails.
    pub(super) async fn admit(
        &mut self,
        batches: &[Batch],
        now: Option<i64>,
    ) -> anyhow::Result<Vec<BatchResult>> {
        match self {
            Self::Postgres(store) => Ok(rate_windows::admit(store.connection()?.read(), batches, now).await?),
            Self::Redis(store) => store.admit(batches, now).await,
        }
    }

    /// Removes the counts of a subject.
    ///
    /// # Errors
    /// Returns an error when the store fails.
    pub(super) async fn reset(&mut self, subject: &str) -> anyhow::Result<()> {
        match self {
            Self::Postgres(store) => Ok(rate_windows::reset(store.connection()?.read(), subject).await?),
            Self::Redis(store) => store.reset(subject).await,
        }
    }
}

impl PostgresStore {
    /// Connects, and checks that the table is not locked.
    ///
    /// The check runs in a transaction with limits of the server, unlike [`Backend::admit`], which is one statement without a
    /// transaction. A table that stays locked therefore occupies at most one connection of the server for each time that the
    /// store was available before.
    async fn connect(&mut self) -> anyhow::Result<()> {
        let connection = self.db.dedicated(self.timeout.max(CONNECT_TIMEOUT)).await?;
        let test = connection.with_timeout(self.timeout).begin_limited().await?;
        rate_windows::lock(&test).await?;
        test.rollback().await?;
        self.connection = Some(connection);
        Ok(())
    }

    fn connection(&self) -> anyhow::Result<&Database> {
        self.connection.as_ref().context("it is not connected")
    }
}
