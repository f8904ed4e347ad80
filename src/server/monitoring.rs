//! Monitoring endpoints: metrics and health checks.
//!
//! A server serves them on its listener. A worker serves nothing else on its listener.

use std::future::Future;
use std::time::Duration;

use poem::{Endpoint, Request, Response};
use tokio::net::TcpListener;

use super::health::{self, Readiness};
use super::{connections, layer, metrics, rejection};
use domain::app::App;
use foundation::telemetry::metrics::{self as recorder, ProcessKind};
use web::public_response;
use webhooks::Progress;

/// How often the metrics are aggregated, in addition to each request for them.
const AGGREGATE_INTERVAL: Duration = Duration::from_secs(5);
/// Requests in flight have one second to finish at shutdown.
const SHUTDOWN: connections::Shutdown = connections::Shutdown {
    drain: Duration::ZERO,
    accepts_while_draining: true,
    timeout: Duration::from_secs(1),
};

/// The monitoring endpoints of a process.
pub struct Monitoring {
    app: App,
    readiness: Readiness,
    metrics_page: metrics::MetricsPage,
}

impl Monitoring {
    /// Creates the endpoints and starts to record the metrics of this kind of process.
    pub fn new(app: App, process: ProcessKind) -> Self {
        recorder::install(process);
        let readiness = Readiness::new(app.clone());
        Self { app, readiness, metrics_page: metrics::MetricsPage::default() }
    }

    /// Makes `/readyz` fail while this delivery loop makes no progress.
    #[must_use]
    pub fn with_delivery(mut self, progress: Progress) -> Self {
        self.readiness = self.readiness.with_delivery(progress);
        self
    }

    /// Returns the state of `/readyz`.
    pub(super) fn readiness(&self) -> Readiness {
        self.readiness.clone()
    }

    /// Serves only these endpoints until `shutdown` resolves, and then waits one second for requests that
    /// are in flight.
    pub async fn run(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let aggregate = async {
            loop {
                tokio::time::sleep(AGGREGATE_INTERVAL).await;
                recorder::aggregate();
            }
        };
        let limits = connections::ConnectionLimits::new(&self.app.config.server);
        let app = self.app.clone();
        tokio::select! {
            () = connections::serve(listener, layer(&app, self), limits, shutdown, SHUTDOWN) => {}
            () = aggregate => {}
        }
    }

    /// Returns the response for this path, or `None` if the path is not a monitoring endpoint.
    pub(super) async fn page(&self, path: &str) -> Option<Response> {
        match path {
            "/healthz" => Some(health::alive()),
            "/readyz" => Some(self.readiness.response().await),
            "/metrics" => Some(self.metrics_page.response(&self.app).await),
            _ => None,
        }
    }
}

impl Endpoint for Monitoring {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if let Some(response) = rejection::response(&request) {
            return Ok(response);
        }
        if !public_response::is_read(request.method()) {
            return Ok(public_response::method_not_allowed());
        }
        Ok(self.page(request.uri().path()).await.unwrap_or_else(public_response::worker_not_found))
    }
}
