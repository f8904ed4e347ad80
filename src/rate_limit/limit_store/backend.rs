//! The connection to a shared store.

use std::time::Duration;

use anyhow::{Context, bail};
use entity::rate_windows::{self, SubjectCounts, SubjectRequests, SubjectResult};

use super::redis_store::RedisStore;
use foundation::config::RedisUrl;
use foundation::database::Database;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// The shortest time that the test of a lock takes, including its round trips.
const MIN_LOCK_TEST: Duration = Duration::from_millis(200);

/// A shared store and its connection.
pub(super) enum Backend {
    Postgres(PostgresStore),
    Redis(RedisStore),
    #[cfg(test)]
    Model(super::tests::ModelStore),
}

/// The table `rate_windows`.
pub(super) struct PostgresStore {
    db: Database,
    /// A connection of its own, since requests can occupy all others. `None` until connected.
    connection: Option<Database>,
}

impl Backend {
    pub(super) fn postgres(db: Database) -> Self {
        Self::Postgres(PostgresStore { db, connection: None })
    }

    /// # Errors
    /// Returns an error if the URL is invalid.
    pub(super) fn redis(url: &RedisUrl) -> anyhow::Result<Self> {
        Ok(Self::Redis(RedisStore::new(url)?))
    }

    /// Connects. `timeout` is the time that a request waits.
    ///
    /// # Errors
    /// Returns an error when the store cannot be reached.
    pub(super) async fn connect(&mut self, timeout: Duration) -> anyhow::Result<()> {
        let connect = async {
            match self {
                Self::Postgres(store) => store.connect(timeout).await,
                Self::Redis(store) => store.connect().await,
                #[cfg(test)]
                Self::Model(store) => store.connect().await,
            }
        };
        within(CONNECT_TIMEOUT, connect).await
    }

    /// Closes the connection, in the background.
    pub(super) fn disconnect(&mut self) {
        match self {
            Self::Postgres(store) => store.connection = None,
            Self::Redis(store) => store.disconnect(),
            #[cfg(test)]
            Self::Model(_) => {}
        }
    }

    /// Admits and counts as many requests of each subject as both windows allow. Each subject may occur once. Waits at
    /// most `lock_timeout` for a process that counts requests of the same subjects.
    ///
    /// # Errors
    /// Returns an error when the store fails.
    pub(super) async fn admit(
        &mut self,
        requests: &[SubjectRequests],
        now: Option<i64>,
        lock_timeout: Duration,
    ) -> anyhow::Result<Vec<SubjectResult>> {
        match self {
            Self::Postgres(store) => {
                Ok(rate_windows::admit(store.connection()?.read(), requests, now, lock_timeout).await?)
            }
            Self::Redis(store) => store.admit(requests, now).await,
            #[cfg(test)]
            Self::Model(store) => store.admit(requests, now).await,
        }
    }

    /// Adds requests that were already admitted, whatever the limits are. Each subject may occur once. `now_ms` is the time
    /// of the store.
    ///
    /// # Errors
    /// Returns an error when the store fails. The requests may have been added nevertheless.
    pub(super) async fn add(
        &mut self,
        counts: &[SubjectCounts],
        now_ms: i64,
        lock_timeout: Duration,
    ) -> anyhow::Result<()> {
        match self {
            Self::Postgres(store) => {
                Ok(rate_windows::add(store.connection()?.read(), counts, lock_timeout).await?)
            }
            Self::Redis(store) => store.add(counts, now_ms).await,
            #[cfg(test)]
            Self::Model(store) => store.add(counts).await,
        }
    }

    /// Removes the counts of subjects.
    ///
    /// # Errors
    /// Returns an error when the store fails.
    pub(super) async fn reset(&mut self, subjects: &[String]) -> anyhow::Result<()> {
        match self {
            Self::Postgres(store) => Ok(rate_windows::reset(store.connection()?.read(), subjects).await?),
            Self::Redis(store) => store.reset(subjects).await,
            #[cfg(test)]
            Self::Model(_) => Ok(()),
        }
    }
}

impl PostgresStore {
    /// Connects, and checks that the table is not locked.
    ///
    /// The check runs in a transaction, whose limits also apply to the lock of the table. Counting is a single statement, which
    /// waits for a locked table until PostgreSQL ends it, even after the connection was closed. So a table that stays locked
    /// occupies one connection of the server each time that it is locked, but not one for each test.
    async fn connect(&mut self, timeout: Duration) -> anyhow::Result<()> {
        let connection = self.db.dedicated(CONNECT_TIMEOUT).await?;
        let test = connection.with_timeout(timeout.max(MIN_LOCK_TEST)).begin_limited().await?;
        rate_windows::lock(&test).await?;
        test.rollback().await?;
        self.connection = Some(connection);
        Ok(())
    }

    fn connection(&self) -> anyhow::Result<&Database> {
        self.connection.as_ref().context("the limit store is not connected")
    }
}

/// Runs a round trip. Fails if it takes longer than the timeout.
pub(super) async fn within<T>(
    timeout: Duration,
    call: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    match tokio::time::timeout(timeout, call).await {
        Ok(result) => result,
        Err(_) => bail!("the limit store did not respond within {} ms", timeout.as_millis()),
    }
}
