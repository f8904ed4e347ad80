//! What a process shows of itself to those who watch over it: its figures, and whether it is alive and ready.
//!
//! Part of the server, and all that a worker listens for.

use std::future::Future;
use std::time::Duration;

use poem::http::Method;
use poem::{Endpoint, Request, Response};
use tokio::net::TcpListener;

use super::{connections, health, metrics, page, refused};
use api::middleware::request_id;
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
        tokio::select! {
            () = connections::serve(listener, self, limits, shutdown, PATIENCE) => {}
            () = gather => {}
        }
    }

    /// The response to a request, without its id.
    async fn answer(&self, request: &Request, id: &str) -> Response {
        if let Some(refused) = refused::response(request, id) {
            return refused;
        }
        if !page::is_read(request.method()) {
            return page::wrong_method();
        }
        let shown = self.page(request.uri().path()).await;
        let response = shown.unwrap_or_else(page::nothing_of_a_worker);
        if request.method() == Method::HEAD { page::without_body(response).await } else { response }
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
        let id = request_id::of(&request, &self.app);
        let mut response = self.answer(&request, &id).await;
        request_id::stamp(&mut response, &id);
        Ok(response)
    }
}
