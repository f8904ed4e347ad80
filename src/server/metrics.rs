//! `/metrics` for Prometheus. The gauges of the database are read on request, and reused for one second. A response does not
//! wait long for them, so that Prometheus gets the other metrics while the database is slow.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use poem::Response;
use poem::http::header;
use tokio::sync::Mutex;

use super::page;
use domain::app::App;
use domain::webhooks::{self, QueueStatus};
use foundation::database::PoolStatus;
use foundation::telemetry::metrics as recorder;
use sea_orm::DbBackend;

/// How long the gauges of the database are reused. The cost of counting grows with the length of the queue.
const MAX_AGE: Duration = Duration::from_secs(1);

/// How long a response waits for the gauges of the database. Then it contains the previous ones, and they are still read.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// The states of counted deliveries, as label values, in the order of the counts in [`set_deliveries`].
const STATES: [&str; 4] = ["pending", "in_flight", "held", "dead"];

/// The page `/metrics`.
#[derive(Debug, Default)]
pub(super) struct MetricsPage {
    /// When the gauges of the database were last read. `None` before the first time.
    read_at: Arc<Mutex<Option<Instant>>>,
}

/// Gauges whose values are in the database.
struct Stored {
    deliveries: QueueStatus,
    mails: i64,
    earliest_mail_ms: Option<i64>,
    schema_version: usize,
}

impl Stored {
    async fn read(app: &App) -> anyhow::Result<Self> {
        let deliveries = webhooks::queue_status(app).await?;
        let (mails, earliest_mail_ms) = mail::queue::status(&app.db).await?;
        Ok(Self {
            deliveries,
            mails,
            earliest_mail_ms,
            schema_version: app.db.applied_migrations().await?.len(),
        })
    }

    fn set(&self, now_ms: i64) {
        set_deliveries(&self.deliveries, now_ms);
        metrics::gauge!("mail_queue_length").set(self.mails as f64);
        metrics::gauge!("mail_oldest_due_seconds").set(seconds_since(self.earliest_mail_ms, now_ms));
        metrics::gauge!("database_schema_version").set(self.schema_version as f64);
    }
}

impl MetricsPage {
    /// Returns the metrics of this process and of the queues in the database.
    pub(super) async fn response(&self, app: &App) -> Response {
        let refreshed = tokio::spawn(refresh(app.clone(), Arc::clone(&self.read_at)));
        let _ = tokio::time::timeout(MAX_WAIT, refreshed).await;
        if app.db.backend() == DbBackend::Postgres {
            set_available(app.process().heartbeat_succeeded());
        }
        set_pool(app.db.pool_status());
        set_space(app.db.folder().unwrap_or(&app.config.storage.data_dir).to_owned()).await;
        metrics::gauge!("build_info", "version" => env!("CARGO_PKG_VERSION")).set(1);
        let response = Response::builder()
            .content_type("text/plain; version=0.0.4; charset=utf-8")
            .header(header::CACHE_CONTROL, "no-store")
            .body(recorder::render());
        page::with_security_headers(response, "default-src 'none'")
    }
}

/// Sets the gauges of the database, unless they were read within [`MAX_AGE`]. Concurrent calls wait for the first one.
async fn refresh(app: App, read_at: Arc<Mutex<Option<Instant>>>) {
    let mut read_at = read_at.lock().await;
    if read_at.is_some_and(|at| at.elapsed() < MAX_AGE) {
        return;
    }
    let stored = Stored::read(&app).await;
    *read_at = Some(Instant::now());
    // Without heartbeats, this is the only sign.
    if app.db.backend() != DbBackend::Postgres {
        set_available(stored.is_ok());
    }
    match stored {
        Ok(stored) => stored.set(app.clock.now_ms()),
        Err(error) => {
            // The metrics of this process are still valid, but the previous gauges are outdated.
            let error = format!("{error:#}");
            tracing::warn!(error, "the metrics of the database could not be read");
            set_unknown();
        }
    }
}

fn set_available(available: bool) {
    metrics::gauge!("database_available").set(f64::from(u8::from(available)));
}

/// Sets the gauges of the delivery queue.
fn set_deliveries(queue: &QueueStatus, now_ms: i64) {
    let QueueStatus { pending, in_flight, held, dead, earliest_due_ms } = *queue;
    for (state, count) in STATES.into_iter().zip([pending, in_flight, held, dead]) {
        metrics::gauge!("webhook_deliveries", "state" => state).set(count as f64);
    }
    metrics::gauge!("webhook_oldest_due_seconds").set(seconds_since(earliest_due_ms, now_ms));
}

/// Returns the time since the earliest due time, in seconds; 0 if nothing is due.
fn seconds_since(earliest_due_ms: Option<i64>, now_ms: i64) -> f64 {
    earliest_due_ms.map_or(0, |due| (now_ms - due).max(0)) as f64 / 1000.0
}

/// Sets the gauges of the database to `NaN`: their values are unknown.
fn set_unknown() {
    for state in STATES {
        metrics::gauge!("webhook_deliveries", "state" => state).set(f64::NAN);
    }
    for name in [
        "webhook_oldest_due_seconds",
        "mail_queue_length",
        "mail_oldest_due_seconds",
        "database_schema_version",
    ] {
        metrics::gauge!(name).set(f64::NAN);
    }
}

fn set_pool(pool: PoolStatus) {
    for (state, count) in [("in_use", pool.in_use), ("idle", pool.idle)] {
        metrics::gauge!("database_connections", "state" => state).set(count as f64);
    }
    metrics::gauge!("database_connections_max").set(pool.max as f64);
}

/// Sets the free space of a folder, as far as this user may use it, and the size of its file system. A worker on PostgreSQL may
/// have no data folder.
async fn set_space(folder: PathBuf) {
    let space = move || {
        rustix::fs::statvfs(&folder)
            .map(|status| (status.f_bavail * status.f_frsize, status.f_blocks * status.f_frsize))
    };
    // A remote file system may not respond at once.
    let space = tokio::task::spawn_blocking(space).await.ok().and_then(Result::ok);
    let (free, size) = space.map_or((f64::NAN, f64::NAN), |(free, size)| (free as f64, size as f64));
    metrics::gauge!("data_folder_free_bytes").set(free);
    metrics::gauge!("data_folder_size_bytes").set(size);
}
