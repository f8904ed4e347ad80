//! Notifications between processes on the same PostgreSQL database (`NOTIFY` and `LISTEN`).
//!
//! They are only hints: a notification is lost when the connection of a receiver breaks, and none arrive through a
//! pgbouncer in transaction mode.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, RuntimeErr, Statement, sqlx, sqlx::Executor as _};
use sqlx::postgres::PgListener;
use tokio::time::timeout;

use super::Database;

/// How long a receiver waits for a notification until it tests its connection.
const TEST_INTERVAL: Duration = Duration::from_secs(30);
/// How long the connection of a receiver has to respond.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Receives the notifications of one channel, on a connection of its own.
#[derive(Debug)]
pub struct Notifications {
    listener: PgListener,
    /// The pool of the connection.
    _connection: Database,
}

impl Database {
    /// Notifies the processes that listen to a channel. PostgreSQL only.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the query fails.
    pub async fn notify(&self, channel: &str) -> Result<(), DbErr> {
        let notify = "SELECT pg_notify($1, '')";
        let notify = Statement::from_sql_and_values(DbBackend::Postgres, notify, [channel.into()]);
        self.reader.execute_raw(notify).await.map(drop)
    }

    /// Opens a connection that receives the notifications of a channel. PostgreSQL only.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the connection fails.
    pub async fn listen(&self, channel: &str) -> Result<Notifications, DbErr> {
        let connection = self.dedicated(TIMEOUT).await.map_err(|error| DbErr::Custom(error.to_string()))?;
        let pool = connection.reader.pool().get_postgres_connection_pool();
        let listen = async {
            let mut listener = PgListener::connect_with(pool).await?;
            listener.listen(channel).await?;
            Ok(listener)
        };
        Ok(Notifications { listener: within(listen).await?, _connection: connection })
    }
}

impl Notifications {
    /// Waits for a notification.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the connection breaks. Notifications may have been lost; open another receiver.
    pub async fn next(&mut self) -> Result<(), DbErr> {
        loop {
            match timeout(TEST_INTERVAL, self.listener.try_recv()).await {
                Ok(Ok(Some(_))) => return Ok(()),
                Ok(Ok(None)) => return Err(DbErr::Custom("the connection was lost".to_owned())),
                Ok(Err(error)) => return Err(to_db_err(error)),
                Err(_) => within(self.listener.execute("SELECT 1")).await.map(drop)?,
            }
        }
    }
}

/// Runs a call. Fails if it takes longer than [`TIMEOUT`].
async fn within<T>(call: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, DbErr> {
    match timeout(TIMEOUT, call).await {
        Ok(result) => result.map_err(to_db_err),
        Err(_) => {
            Err(DbErr::Custom(format!("the database did not respond within {} ms", TIMEOUT.as_millis())))
        }
    }
}

fn to_db_err(cause: sqlx::Error) -> DbErr {
    DbErr::Query(RuntimeErr::SqlxError(cause.into()))
}
