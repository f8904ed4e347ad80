//! Notifications between processes on the same PostgreSQL database (`NOTIFY` and `LISTEN`).
//!
//! They are only hints: a notification is lost when the connection of a receiver breaks. Through a pgbouncer in transaction mode,
//! a process does not listen: other clients would get its notifications in the middle of their queries.

use std::time::Duration;

use sea_orm::{
    ConnectionTrait, DbBackend, DbErr, RuntimeErr, Statement, TransactionOptions, sqlx, sqlx::Executor as _,
};
use sqlx::postgres::PgListener;
use tokio::sync::watch;
use tokio::time::timeout;

use super::Database;
use super::primary::Choice;

/// How long a receiver waits for a notification until it tests its connection.
const TEST_INTERVAL: Duration = Duration::from_secs(30);
/// How long the connection of a receiver has to respond.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How often [`Database::listen`] tests whether its connection keeps the server process.
const SESSION_TESTS: usize = 5;

/// Receives the notifications of one channel, on a connection of its own.
#[derive(Debug)]
pub struct Notifications {
    listener: PgListener,
    /// Notified when the process uses another PostgreSQL server; `None` if the database URL has one host.
    server: Option<watch::Receiver<Choice>>,
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

    /// Opens a connection that receives the notifications of a channel. Returns `None` if a proxy, such as a pgbouncer in
    /// transaction mode, shares the server process of the connection with other clients. PostgreSQL only.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the connection fails.
    pub async fn listen(&self, channel: &str) -> Result<Option<Notifications>, DbErr> {
        // Before connecting, so that no change is missed.
        let server = self.inner.pool.hosts.as_ref().map(|hosts| hosts.subscribe());
        let connection = self.dedicated(TIMEOUT).await.map_err(|error| DbErr::Custom(error.to_string()))?;
        if !self.keeps_server_process(&connection).await? {
            return Ok(None);
        }
        let pool = connection.reader.pool().get_postgres_connection_pool();
        let listen = async {
            let mut listener = PgListener::connect_with(pool).await?;
            // After a lost connection, the caller opens another receiver, which tests its connection.
            listener.eager_reconnect(false);
            listener.listen(channel).await?;
            Ok(listener)
        };
        Ok(Some(Notifications { listener: within(listen).await?, server, _connection: connection }))
    }

    /// Returns whether the transactions of this one connection all run in the same server process. A proxy may share
    /// server processes: the process that was released last then runs a transaction that begins in between on another connection.
    async fn keeps_server_process(&self, connection: &Self) -> Result<bool, DbErr> {
        for _ in 0..SESSION_TESTS {
            let before = server_process(&connection.reader).await?;
            let other = self.reader.begin(TransactionOptions::default()).await?;
            let other_process = server_process(&other).await?;
            let after = server_process(&connection.reader).await?;
            other.rollback().await?;
            if before != after || before == other_process {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Notifications {
    /// Waits for a notification.
    ///
    /// # Errors
    /// Returns [`DbErr`] when the connection breaks. Notifications may have been lost; open another receiver.
    pub async fn next(&mut self) -> Result<(), DbErr> {
        loop {
            let Self { listener, server, .. } = self;
            let received = tokio::select! {
                received = timeout(TEST_INTERVAL, listener.try_recv()) => received,
                () = changed(server) => {
                    return Err(DbErr::Custom("another PostgreSQL server accepts writes".to_owned()));
                }
            };
            match received {
                Ok(Ok(Some(_))) => return Ok(()),
                Ok(Ok(None)) => return Err(DbErr::Custom("the connection was lost".to_owned())),
                Ok(Err(error)) => return Err(to_db_err(error)),
                Err(_) => within(self.listener.execute("SELECT 1")).await.map(drop)?,
            }
        }
    }
}

/// Waits until the process uses another PostgreSQL server.
async fn changed(server: &mut Option<watch::Receiver<Choice>>) {
    if let Some(server) = server
        && server.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// Returns the id of the server process that runs the query.
async fn server_process(connection: &impl ConnectionTrait) -> Result<i32, DbErr> {
    let query = Statement::from_string(DbBackend::Postgres, "SELECT pg_backend_pid()");
    let row = connection.query_one_raw(query).await?;
    row.ok_or_else(|| DbErr::Custom("no row".to_owned()))?.try_get_by_index(0)
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
