//! One server: the API, its documents, Swagger UI and the health checks, on one listener.
//!
//! Composes the crates, and owns the connections and the maintenance jobs. Knows no operation
//! and no rule.

mod connections;
mod docs;
mod errors_page;
mod guide;
mod health;
mod metrics;
mod page;
mod refused;
mod site;
mod upkeep;
mod watch;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use poem_openapi::OpenApi;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use api::front::{Front, Settings};
use api::generated::adapter::V1;
use api::generated::operations;
use api::middleware::Gate;
use api::v1::Handlers;
use contract_runtime::contract::Contract;
use domain::app::App;
use foundation::id::RequestId;
use foundation::secret::MasterKey;
use web::layer::Layer;

pub use connections::{ConnectionLimits, Timeouts};
pub use watch::Watch;

/// A server that is ready to take connections.
pub struct Server {
    front: Arc<Front>,
    site: site::Site,
    patience: Duration,
    limits: ConnectionLimits,
}

impl Server {
    /// Puts the server together; `local_url` is the address to name where none is configured.
    ///
    /// # Errors
    /// When the contract's generated files do not belong together, it names an unknown scope, or a setting cannot stand in a
    /// header.
    pub fn new(app: App, master: &MasterKey, local_url: &str) -> anyhow::Result<Self> {
        let settings = Settings::new(&app.config, local_url)?;
        let patience = Duration::from_secs(u64::from(app.config.server.shutdown_seconds.get()));
        let limits = ConnectionLimits::new(&app.config.server);
        let front = Front::new(app.clone(), settings, master, &operations::CONTRACT);
        let gate = Gate::new(Arc::clone(&front), &operations::CONTRACT, V1(Handlers { app }))?;
        let site = site::Site::new(front.app.clone(), gate, &operations::CONTRACT, master);
        Ok(Self { front, site, patience, limits })
    }

    /// Serves another version of the API beside v1, under `/api/` and the name of its contract: the same keys and limits,
    /// operations and documents of its own.
    ///
    /// # Errors
    /// When the contract's generated files do not belong together, or it names an unknown scope.
    pub fn with_version(
        mut self,
        contract: &'static Contract,
        api: impl OpenApi + 'static,
    ) -> anyhow::Result<Self> {
        let gate = Gate::new(self.front.beside(contract), contract, api)?;
        self.site.add(contract, gate);
        Ok(self)
    }

    /// Applies other limits to connections than those of the configuration.
    pub fn with_connection_limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Serves until `shutdown` is done; then takes no more connections, lets running requests finish within the
    /// configured time, and saves what was counted.
    ///
    /// # Errors
    /// When the last counts could not be saved: up to a second of them is lost.
    pub async fn run(self, listener: TcpListener, shutdown: impl Future<Output = ()>) -> anyhow::Result<()> {
        let (stop, stopped) = oneshot::channel();
        let upkeep = tokio::spawn(upkeep::run(Arc::clone(&self.front), stopped));
        let site = layer(&self.front.app, self.site);
        connections::serve(listener, site, self.limits, shutdown, self.patience).await;
        // A flush that is under way ends first: what it took out of the counts is back there or written.
        let _ = stop.send(());
        upkeep.await?;
        upkeep::save(&self.front).await
    }
}

/// The layer around everything that a listener of this process serves.
fn layer<E>(app: &App, inner: E) -> Layer<E> {
    let proxies = app.config.server.trusted_proxies.clone();
    let app = app.clone();
    let new_request_id = move || {
        let id: RequestId = app.ids.next(app.clock.now());
        id.to_string()
    };
    Layer::new(Box::new(new_request_id), proxies, inner)
}
