//! Finds the PostgreSQL server that accepts writes, if the database URL lists several hosts.
//!
//! The driver knows one server per pool. So this module tests all hosts when the process starts, and again when a call fails
//! in a way that a failover can cause, or takes long. When another server accepts writes, each pool connects to it from
//! then on, and discards its connections from before.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use sea_orm::DbErr;
use sea_orm::sqlx::{
    self, Connection as _, PgConnection, PgPool, Row as _, postgres::PgConnectOptions, raw_sql,
};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::errors::{connect_message, may_be_failover};
use super::postgres_url::{PostgresUrl, host_and_port, server_options};

/// How long a host has to connect and to respond to the test.
const TEST_TIMEOUT: Duration = Duration::from_secs(1);

/// The pause before the hosts are tested again.
const TEST_PAUSE: Duration = Duration::from_millis(500);

/// A call that takes longer causes a test of the hosts: the driver tries to connect to a server that is down until the call
/// times out.
const SLOW_CALL: Duration = Duration::from_millis(250);

/// How long a new connection to the wrong server waits for the choice of another one, before the pool connects again.
const NEW_CONNECTION_PAUSE: Duration = Duration::from_millis(100);

/// The hosts of a database URL, and the one that the connections of this process use.
#[derive(Debug)]
pub(super) struct PrimaryHosts {
    hosts: Vec<Host>,
    choice: watch::Sender<Choice>,
    is_searching: AtomicBool,
}

#[derive(Debug)]
struct Host {
    url: String,
    options: PgConnectOptions,
}

/// The host in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    host: usize,
    /// The highest timeline of a host that was used. A host with a lower one is a previous primary and is not used, also while
    /// no other host accepts writes. To use such a host again, and after `pg_upgrade`, which lowers the timeline, restart the
    /// process.
    timeline: Timeline,
    /// When it was chosen. Earlier connections can be to another host.
    since: Instant,
}

/// The timeline of a server, which increases when a standby is promoted; 0 if it is unknown.
type Timeline = u32;

impl PrimaryHosts {
    /// Finds the host that accepts writes. Tests the hosts repeatedly during this time.
    ///
    /// Only the hosts that respond to a test are compared. So if the primary does not respond, and a previous primary was started
    /// again by mistake and accepts writes, the previous one is used until a later test.
    ///
    /// # Errors
    /// Returns the reason for each host when none accepts writes.
    pub(super) async fn find(url: &PostgresUrl, max_wait: Duration) -> Result<Arc<Self>, String> {
        let hosts: Result<Vec<Host>, sqlx::Error> =
            url.host_urls().map(|url| Ok(Host { options: server_options(&url)?, url })).collect();
        let hosts = hosts.map_err(|error| error.to_string())?;
        let started = Instant::now();
        let choice = watch::Sender::new(Choice { host: 0, timeline: 0, since: started });
        let found = Self { hosts, choice, is_searching: AtomicBool::new(false) };
        loop {
            match found.test_all().await {
                Ok((host, timeline)) => {
                    found.choice.send_replace(Choice { host, timeline, since: started });
                    return Ok(Arc::new(found));
                }
                Err(reasons) if started.elapsed() >= max_wait => return Err(reasons),
                Err(_) => sleep(TEST_PAUSE).await,
            }
        }
    }

    /// Returns the URL of the host in use.
    pub(super) fn url(&self) -> &str {
        &self.hosts[self.choice.borrow().host].url
    }

    /// Returns a receiver that is notified when another host is used.
    pub(super) fn subscribe(&self) -> watch::Receiver<Choice> {
        self.choice.subscribe()
    }

    /// Returns whether a connection of this age may be to another host than the one in use.
    pub(super) fn is_outdated(&self, age: Duration) -> bool {
        self.choice.borrow().since.elapsed() < age
    }

    /// Makes a background task test the hosts until one accepts writes. Does nothing if one does so already.
    pub(super) fn suspect(self: &Arc<Self>) {
        if self.is_searching.swap(true, Ordering::Relaxed) {
            return;
        }
        let hosts = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut is_found = false;
            while let Some(hosts) = hosts.upgrade() {
                if is_found {
                    hosts.is_searching.store(false, Ordering::Relaxed);
                    return;
                }
                is_found = hosts.search().await;
                drop(hosts);
                sleep(TEST_PAUSE).await;
            }
        });
    }

    /// Runs a call. Suspects a failover when it takes long, or fails like a call to a server that is no longer the primary.
    pub(super) async fn observe<T>(
        self: &Arc<Self>,
        call: impl Future<Output = Result<T, DbErr>>,
    ) -> Result<T, DbErr> {
        let mut call = std::pin::pin!(call);
        let result = match timeout(SLOW_CALL, &mut call).await {
            Ok(result) => result,
            Err(_) => {
                self.suspect();
                call.await
            }
        };
        if result.as_ref().is_err_and(may_be_failover) {
            self.suspect();
        }
        result
    }

    /// Checks that a new connection accepts writes and is not to a previous primary: the pool may have begun to connect before
    /// another host was chosen. Otherwise waits a short time for the choice of another host.
    ///
    /// # Errors
    /// Returns an error when the connection fails, or is to the wrong server. The pool then connects again, to the host in use.
    pub(super) async fn check_new(
        self: &Arc<Self>,
        connection: &mut PgConnection,
    ) -> Result<(), sqlx::Error> {
        let mut choice = self.subscribe();
        let test = test(connection).await?;
        let known = self.choice.borrow().timeline;
        if test != Ok(known) {
            self.suspect();
        }
        let Err(reason) = test.and_then(|timeline| not_before(known, timeline)) else { return Ok(()) };
        // The receiver can have subscribed after the choice, so the pause has a limit.
        let _ = timeout(NEW_CONNECTION_PAUSE, choice.changed()).await;
        Err(sqlx::Error::Io(io::Error::other(format!("the PostgreSQL server {reason}"))))
    }

    /// Tests the hosts and uses the one that accepts writes. Returns whether one does.
    async fn search(&self) -> bool {
        let Ok((host, timeline)) = self.test_all().await else { return false };
        let is_other = |choice: &mut Choice| {
            let is_other = choice.host != host;
            let since = if is_other { Instant::now() } else { choice.since };
            *choice = Choice { host, timeline, since };
            is_other
        };
        if self.choice.send_if_modified(is_other) {
            let host = host_and_port(&self.hosts[host].options);
            tracing::warn!("PostgreSQL at {host} accepts writes now; connecting to it");
        }
        true
    }

    /// Returns the host that accepts writes, with its timeline. If several do, as after a failover when the previous primary was
    /// started again by mistake, returns the one that was promoted last, otherwise the one in use. Ignores previous primaries also
    /// while the current one does not respond.
    async fn test_all(&self) -> Result<(usize, Timeline), String> {
        let Choice { host: in_use, timeline: known, .. } = *self.choice.borrow();
        let mut tests = JoinSet::new();
        for (number, host) in self.hosts.iter().enumerate() {
            let options = host.options.clone();
            tests.spawn(async move {
                let result = timeout(TEST_TIMEOUT, test_host(&options)).await;
                let no_response = || Err(format!("no response within {} s", TEST_TIMEOUT.as_secs()));
                let result = result.unwrap_or_else(|_| no_response());
                (number, result.and_then(|timeline| not_before(known, timeline)))
            });
        }
        let mut results = tests.join_all().await;
        results.sort_by_key(|(number, _)| *number);
        let writable = results.iter().filter_map(|(number, result)| Some((*number, *result.as_ref().ok()?)));
        // Of equal hosts, `max_by_key` returns the last one.
        let best = writable.rev().max_by_key(|(number, timeline)| (*timeline, *number == in_use));
        best.ok_or_else(|| {
            let reason = |(number, result): &(usize, Result<Timeline, String>)| {
                let host = host_and_port(&self.hosts[*number].options);
                format!("{host}: {}", result.as_ref().err().map_or("", String::as_str))
            };
            results.iter().map(reason).collect::<Vec<_>>().join("; ")
        })
    }
}

/// Connects to a host and returns its timeline if it accepts writes, or the reason if it does not.
async fn test_host(options: &PgConnectOptions) -> Result<Timeline, String> {
    let mut connection =
        PgConnection::connect_with(options).await.map_err(|error| connect_message(&error))?;
    let result = test(&mut connection).await.map_err(|error| connect_message(&error))?;
    // The server notices also without this message that the connection has ended.
    let _ = connection.close().await;
    result
}

/// Returns the timeline of the server of a connection if it accepts writes, or the reason if it does not.
async fn test(connection: &mut PgConnection) -> Result<Result<Timeline, String>, sqlx::Error> {
    let query = "SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off'";
    if !raw_sql(query).fetch_one(&mut *connection).await?.try_get::<bool, _>(0)? {
        return Ok(Err("does not accept writes, because it is a standby or read-only".to_owned()));
    }
    Ok(Ok(timeline(connection).await.unwrap_or(0)))
}

/// Returns the timeline unless it is lower than the known one. If one is known, an unknown one is lower.
fn not_before(known: Timeline, timeline: Timeline) -> Result<Timeline, String> {
    match timeline < known {
        true => {
            Err(format!("was the primary before a failover: its timeline is {timeline} instead of {known}"))
        }
        false => Ok(timeline),
    }
}

/// Returns the timeline of a primary: the first eight digits of the names of its WAL files.
async fn timeline(connection: &mut PgConnection) -> Option<Timeline> {
    let query = "SELECT pg_walfile_name(pg_current_wal_lsn())";
    let row = raw_sql(query).fetch_one(connection).await.ok()?;
    let file: String = row.try_get(0).ok()?;
    Timeline::from_str_radix(file.get(..8)?, 16).ok()
}

/// A task that makes a pool connect to the host in use. Dropping it ends the task.
#[derive(Debug)]
pub(super) struct PoolFollower(JoinHandle<()>);

impl PoolFollower {
    /// Starts the task. `choice` must have been subscribed before the pool was opened.
    pub(super) fn start(
        hosts: &Arc<PrimaryHosts>,
        mut choice: watch::Receiver<Choice>,
        pool: PgPool,
    ) -> Self {
        let hosts: Weak<PrimaryHosts> = Arc::downgrade(hosts);
        Self(tokio::spawn(async move {
            while choice.changed().await.is_ok() {
                let host = choice.borrow_and_update().host;
                let Some(hosts) = hosts.upgrade() else { return };
                pool.set_connect_options(hosts.hosts[host].options.clone());
            }
        }))
    }
}

impl Drop for PoolFollower {
    fn drop(&mut self) {
        self.0.abort();
    }
}
