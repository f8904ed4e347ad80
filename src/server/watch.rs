//! What a process shows of itself to those who watch over it: its figures, and whether it is alive and ready.
//!
//! Part of the server, and all that a worker listens for.

use std::future::Future;
use std::time::Duration;

use poem::{Endpoint, Request, Response};
use tokio::net::TcpListener;

use super::{connections, health, layer, metrics, page, refused};
use domain::app::App;
use foundation::telemetry::metrics as figures;

/// How often the figures are gathered when nobody asks for them.
const GATHER_EVERY: Duration = Duration::from_secs(5);
/// How long an answer may take once the process is to stop.
const PATIENCE: Duration = Duration::from_secs(1);

/// The pages for those who watch over a process.
pub struct Watch {
    app: App,
    figures: metrics::Figures,
}

impl Watch {
    /// Begins to count what the figures tell of.
    pub fn new(app: App) -> Self {
        figures::install();
        Self { app, figures: metrics::Figures::default() }
    }

    /// Shows these pages and no others until `shutdown` is done.
    pub async fn run(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        let gather = async {
            loop {
                tokio::time::sleep(GATHER_EVERY).await;
                figures::gather();
            }
        };
        let limits = connections::ConnectionLimits::new(&self.app.config.server);
        let app = self.app.clone();
        tokio::select! {
            () = connections::serve(listener, layer(&app, self), limits, shutdown, PATIENCE) => {}
            () = gather => {}
        }
    }

    /// The page at this path; `None` when it is none of these.
    pub(super) async fn page(&self, path: &str) -> Option<Response> {
        match path {
            "/healthz" => Some(health::alive()),
            "/readyz" => Some(health::ready(&self.app).await),
            "/metrics" => Some(self.figures.response(&self.app).await),
            _ => None,
        }
    }
}

impl Endpoint for Watch {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if let Some(refused) = refused::response(&request) {
            return Ok(refused);
        }
        if !page::is_read(request.method()) {
            return Ok(page::wrong_method());
        }
        Ok(self.page(request.uri().path()).await.unwrap_or_else(page::nothing_of_a_worker))
    }
}
