//! The identity of this process and its heartbeats, by which other processes know that it runs. Heartbeats are sent on
//! PostgreSQL only.
//!
//! A process that is killed or suspended sends no heartbeats. After [`MAX_SILENCE`], another process declares it dead and
//! releases its deliveries and its idempotency keys. It does so only if its own heartbeats have succeeded for
//! [`MIN_UPTIME`], since after an outage of the database the heartbeats of all processes are old.
//!
//! A process that was declared dead by mistake loses no data: its tokens are no longer valid, so the results of its attempts
//! and requests in progress are rejected. It registers again.

mod process;

use std::sync::atomic::Ordering;
use std::time::Duration;

use entity::processes;
pub use entity::processes::{Roles, Servers};
use foundation::config::LimitStoreSetting;
use foundation::database::{Database, SentHeartbeat, Write};
use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use crate::Result;
use crate::app::App;
use crate::idempotency::{CLAIM_SECONDS, RETENTION_HOURS};

pub use process::Process;

/// The time between two heartbeats.
const INTERVAL: Duration = Duration::from_secs(3);
/// How long a heartbeat waits for the database. Short enough for a second try before [`MAX_SILENCE`].
const TIMEOUT: Duration = Duration::from_secs(2);
/// A process is declared dead when its last heartbeat is older than this.
pub const MAX_SILENCE: Duration = Duration::from_secs(10);
/// How long the heartbeats of a process must have succeeded before it may declare others dead.
const MIN_UPTIME: Duration = Duration::from_secs(10);

/// Returns the maximum number of PostgreSQL connections of a process with these roles.
pub fn max_connections(app: &App, roles: Roles) -> u32 {
    let counts_in_database =
        matches!(app.config.limits.limit_store, None | Some(LimitStoreSetting::Database));
    let heartbeats = 1;
    let limits = u32::from(roles.serves && counts_in_database);
    let notifications = u32::from(roles.runs_worker);
    app.config.database.database_max_connections.get() + heartbeats + limits + notifications
}

/// Returns the number of running processes on PostgreSQL, and the sum of their maximum numbers of connections.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when the query fails.
pub async fn connections(app: &App) -> Result<(u64, u64)> {
    Ok(processes::connections(app.db.read(), max_silence_ms()).await?)
}

/// Registers this process, so that its leases and claims are released if it dies. Call it before the process claims
/// anything. Does nothing on SQLite.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when the statement fails. [`run`] then registers the process.
pub async fn register(app: &App, roles: Roles) -> Result<()> {
    if app.db.backend() == DbBackend::Postgres {
        register_on(app.db.read(), app, roles).await?;
    }
    Ok(())
}

async fn register_on(conn: &impl ConnectionTrait, app: &App, roles: Roles) -> std::result::Result<(), DbErr> {
    let process = app.process();
    processes::register(conn, process.id, roles, max_connections(app, roles), process.master_keys()).await
}

/// Returns the fingerprints of the master keys of each running process, in their order. Returns an empty list on SQLite.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when the query fails.
pub async fn master_keys(app: &App) -> Result<Vec<Vec<String>>> {
    if app.db.backend() != DbBackend::Postgres {
        return Ok(Vec::new());
    }
    let processes = processes::master_keys(app.db.read(), max_silence_ms()).await?;
    let keys = |text: &String| text.split(',').filter(|key| !key.is_empty()).map(str::to_owned).collect();
    Ok(processes.iter().map(keys).collect())
}

/// Sends heartbeats and releases what dead processes hold. Never returns; drop the future to stop it. Does nothing on
/// SQLite.
pub async fn run(app: &App, roles: Roles) {
    if app.db.backend() != DbBackend::Postgres {
        return std::future::pending().await;
    }
    // A connection of its own, since those of the requests can all be in use.
    let db = loop {
        match app.db.dedicated(TIMEOUT).await {
            Ok(db) => break db,
            Err(error) => {
                tracing::warn!(%error, "connecting to send heartbeats failed");
                app.process().heartbeat_succeeded.store(false, Ordering::Relaxed);
                tokio::time::sleep(INTERVAL).await;
            }
        }
    };
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut alive_since = None;
    // A release can take longer than the time between two heartbeats. Dropping the set cancels it.
    let mut releasing = JoinSet::new();
    loop {
        ticks.tick().await;
        let _ = releasing.try_join_next();
        let heartbeat = heartbeat(&db, app, roles).await;
        app.process().heartbeat_succeeded.store(heartbeat.is_ok(), Ordering::Relaxed);
        match heartbeat {
            Ok(Some(silent)) => {
                let alive_since = *alive_since.get_or_insert_with(Instant::now);
                if alive_since.elapsed() >= MIN_UPTIME && !silent.is_empty() && releasing.is_empty() {
                    let app = app.clone();
                    releasing.spawn(async move { release_all(&app, &silent).await });
                }
            }
            Ok(None) => alive_since = Some(Instant::now()),
            Err(error) => {
                alive_since = None;
                tracing::warn!(%error, "sending a heartbeat failed");
            }
        }
    }
}

/// Lets other processes lead in the roles that this process no longer has, because it is ending or a task of the role has ended.
/// Does nothing on SQLite.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when the statement fails.
pub async fn change_roles(app: &App, roles: Roles) -> Result<()> {
    if app.db.backend() == DbBackend::Postgres {
        processes::set_roles(app.db.read(), app.process().id, roles).await?;
    }
    Ok(())
}

/// Releases what this process still holds and removes its registration. Call it when the process ends. Does nothing on
/// SQLite.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a statement fails. Another process then does both.
pub async fn unregister(app: &App) -> Result<()> {
    if app.db.backend() == DbBackend::Postgres {
        let write = app.begin_write().await?;
        processes::remove(write.conn(), app.process().id).await?;
        release(&write, app.process().id).await?;
        write.commit().await?;
    }
    Ok(())
}

/// How long a heartbeat waits for the horizon that it confirms to the standby.
const HORIZON_TIMEOUT: Duration = Duration::from_millis(300);

/// Sends a heartbeat and returns the other processes that are silent. Returns `None` if this process was silent itself,
/// or if it was not registered, because [`register`] failed or another process has declared it dead. Registers
/// this process if it was not registered.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a statement fails.
async fn heartbeat(db: &Database, app: &App, roles: Roles) -> Result<Option<Vec<i64>>> {
    let process = app.process();
    let horizon = match app.db.has_standby() && roles.serves {
        // Must not delay the heartbeat.
        true => {
            let horizon = tokio::time::timeout(HORIZON_TIMEOUT, db.horizon(&app.clock)).await;
            horizon.ok().and_then(std::result::Result::ok)
        }
        false => None,
    };
    let sent = std::time::Instant::now();
    let heartbeat = processes::heartbeat(db.read(), process.id, max_silence_ms()).await?;
    process.set_leads(heartbeat.leads);
    if let Some(servers) = heartbeat.servers {
        process.servers.send_replace(servers);
    }
    if let Some((stored_at, horizon)) = heartbeat.stored_at.zip(horizon) {
        app.db.record_heartbeat(SentHeartbeat { process: process.id, stored_at, sent, horizon });
    }
    let is_registered = heartbeat.stored_at.is_some();
    if !is_registered {
        tracing::warn!(
            "this process was not registered, perhaps because another one declared it dead; registering it again"
        );
        register_on(db.read(), app, roles).await?;
    }
    Ok((is_registered && !heartbeat.was_silent).then_some(heartbeat.silent))
}

async fn release_all(app: &App, silent: &[i64]) {
    for &id in silent {
        match declare_dead(app, id).await {
            Ok(Some((deliveries, claims))) => tracing::warn!(
                deliveries,
                claims,
                "a process has sent no heartbeat for {} seconds; released its webhook deliveries and idempotency keys",
                MAX_SILENCE.as_secs()
            ),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "releasing what a dead process held failed; retrying"),
        }
    }
}

/// Declares a process dead and releases what it holds. Returns the numbers of deliveries and idempotency keys, or `None` if the
/// process is alive or another process was faster.
///
/// # Errors
/// Returns [`crate::Error::Internal`] when a statement fails. Then nothing is released.
async fn declare_dead(app: &App, id: i64) -> Result<Option<(u64, u64)>> {
    let write = app.begin_write().await?;
    if !processes::remove_silent(write.conn(), id, max_silence_ms()).await? {
        return Ok(None);
    }
    let released = release(&write, id).await?;
    write.commit().await?;
    app.fast_path().wake_signal().wake();
    Ok(Some(released))
}

/// Releases the deliveries and the idempotency keys of a process. Returns the numbers of both.
async fn release(write: &Write, id: i64) -> Result<(u64, u64)> {
    let deliveries = processes::release_deliveries(write.conn(), id).await?;
    // Claims expire after a minute, so older records are not read.
    let claimed_after = write.now_ms() - 2 * CLAIM_SECONDS * 1000;
    let expires_after = claimed_after + RETENTION_HOURS * 3_600_000;
    let claims = processes::release_idempotency_keys(write.conn(), id, expires_after).await?;
    Ok((deliveries, claims))
}

fn max_silence_ms() -> i64 {
    i64::try_from(MAX_SILENCE.as_millis()).unwrap_or(i64::MAX)
}
