//! `/metrics` for Prometheus. The gauges of the database are read on request, and reused for one second. A response does not
//! wait long for them, so that Prometheus gets the other metrics while the database is slow.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use poem::Response;
use poem::http::header;
use tokio::sync::Mutex;

use domain::app::App;
use domain::webhooks::{self, QueueStatus};
use foundation::database::PoolStatus;
use foundation::telemetry::metrics as recorder;
use sea_orm::DbBackend;
use web::public_response;

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
        public_response::with_security_headers(response, "default-src 'none'")
    }
}

/// Sets the gauges of the database, unless they were read within [`MAX_AGE`]. Concurrent calls wait for the first one.
///
/// Each value is read on its own, so that one query that fails affects no other gauge. The next round begins when all queries have
/// ended.
async fn refresh(app: App, read_at: Arc<Mutex<Option<Instant>>>) {
    let mut read_at = read_at.lock().await;
    if read_at.is_some_and(|at| at.elapsed() < MAX_AGE) {
        return;
    }
    let now_ms = app.clock.now_ms();
    let schema = async {
        let applied = known("database_schema_version", app.db.applied_migrations().await);
        // Without heartbeats, this is the only sign.
        if app.db.backend() != DbBackend::Postgres {
            let accepts_writes = known("database_available", app.db.ping().await).unwrap_or(false);
            set_available(accepts_writes && applied.is_some());
        }
        // Names begin with `m` and four digits.
        let newest = applied.and_then(|names| names.last()?.get(1..5)?.parse().ok());
        set("database_schema_version", newest);
    };
    let mail_queue = async {
        let status = known("mail_queue_length", mail::queue::status(&app.db).await);
        set("mail_queue_length", status.map(|(mails, _)| mails as f64));
        set("mail_oldest_due_seconds", status.map(|(_, due_ms)| seconds_since(due_ms, now_ms)));
    };
    let oldest_due = async {
        let due_ms = known("webhook_oldest_due_seconds", webhooks::earliest_due_ms(&app).await);
        set("webhook_oldest_due_seconds", due_ms.map(|due_ms| seconds_since(due_ms, now_ms)));
    };
    let deliveries =
        async { set_deliveries(known("webhook_deliveries", webhooks::queue_status(&app).await)) };
    tokio::join!(schema, mail_queue, oldest_due, deliveries);
    *read_at = Some(Instant::now());
}

/// Returns a value of the database, or logs the error and returns `None`.
fn known<T, E: Into<anyhow::Error>>(metric: &'static str, value: Result<T, E>) -> Option<T> {
    let logged = |error: E| {
        let error: anyhow::Error = error.into();
        let error = format!("{error:#}");
        tracing::warn!(metric, error, "a metric of the database could not be read");
    };
    value.map_err(logged).ok()
}

/// Sets a gauge. `None` is an unknown value, `NaN`: the previous one is outdated.
fn set(name: &'static str, value: Option<f64>) {
    metrics::gauge!(name).set(value.unwrap_or(f64::NAN));
}

fn set_available(available: bool) {
    metrics::gauge!("database_available").set(f64::from(u8::from(available)));
}

/// Sets the numbers of deliveries by state. A delivery has one state.
fn set_deliveries(queue: Option<QueueStatus>) {
    let counts = queue.map(|queue| {
        let QueueStatus { pending, in_flight, held, dead } = queue;
        [pending - in_flight, in_flight, held, dead].map(|count| count as f64)
    });
    for (state, count) in STATES.into_iter().zip(counts.unwrap_or([f64::NAN; 4])) {
        metrics::gauge!("webhook_deliveries", "state" => state).set(count);
    }
}

/// Returns the time since the earliest due time, in seconds; 0 if nothing is due.
fn seconds_since(earliest_due_ms: Option<i64>, now_ms: i64) -> f64 {
    earliest_due_ms.map_or(0, |due| (now_ms - due).max(0)) as f64 / 1000.0
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
