//! The health checks `/healthz` (the process is running) and `/readyz` (it can process requests).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use poem::Response;
use poem::http::StatusCode;

use domain::app::App;
use foundation::database::SchemaState;
use web::public_response;
use webhooks::Progress;

/// The timeout for the response of the database.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);

/// A worker is unready when its delivery loop has completed no tick (one pass of the loop) without an error for this
/// long. Ticks are at most five seconds apart.
const MAX_TICK_AGE: Duration = Duration::from_secs(10);

/// Returns the response of `/healthz`.
pub(super) fn alive() -> Response {
    public_response::plain(StatusCode::OK, "ok\n")
}

/// Decides whether a process is ready. Clones share the state.
#[derive(Clone)]
pub(super) struct Readiness {
    app: App,
    is_stopping: Arc<AtomicBool>,
    /// The progress of the delivery loop of a worker process. `None` in a server.
    delivery: Option<Progress>,
}

impl Readiness {
    /// Creates the readiness of a process that is not stopping.
    pub(super) fn new(app: App) -> Self {
        Self { app, is_stopping: Arc::default(), delivery: None }
    }

    /// Also requires that this delivery loop makes progress.
    pub(super) fn with_delivery(mut self, progress: Progress) -> Self {
        self.delivery = Some(progress);
        self
    }

    /// Makes the process unready, since it is about to stop.
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Returns the response of `/readyz`: 200 if the process is not stopping, the database is available, accepts writes
    /// and has a schema on which this version can run, and the delivery loop, if one is monitored, makes progress.
    /// Otherwise 503 with the reason.
    pub(super) async fn response(&self) -> Response {
        if self.is_stopping.load(Ordering::Relaxed) {
            return unready("the process is shutting down\n");
        }
        let db = &self.app.db;
        let state = tokio::time::timeout(DATABASE_TIMEOUT, async {
            let accepts_writes = db.ping().await?;
            anyhow::Ok((accepts_writes, db.schema_state().await?))
        });
        match state.await {
            Ok(Ok((false, _))) => unready("the database does not accept writes\n"),
            Ok(Ok((true, SchemaState::Behind(_)))) => unready("the database has pending migrations\n"),
            Ok(Ok((true, SchemaState::Ahead(_)))) => unready("the database is newer than this server\n"),
            Ok(Ok((true, SchemaState::Unreleased(_)))) => {
                unready("the database was created by a development version\n")
            }
            Ok(Ok((true, SchemaState::Current))) if !self.delivery_makes_progress() => {
                unready("the delivery loop makes no progress\n")
            }
            Ok(Ok((true, SchemaState::Current))) => public_response::plain(StatusCode::OK, "ready\n"),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the database is not available");
                unready("the database is not available\n")
            }
            Err(_) => unready("the database did not respond in time\n"),
        }
    }

    /// Returns whether the delivery loop makes progress, or no delivery loop is monitored.
    fn delivery_makes_progress(&self) -> bool {
        self.delivery.as_ref().is_none_or(|progress| progress.since_last_tick() < MAX_TICK_AGE)
    }
}

fn unready(reason: &'static str) -> Response {
    public_response::plain(StatusCode::SERVICE_UNAVAILABLE, reason)
}
