//! Composes the API, the dashboard, the documentation, health checks and metrics into one server.
//!
//! Also accepts connections and runs the maintenance jobs.

mod connections;
mod health;
mod key_sets;
mod maintenance;
mod metrics;
mod monitoring;
mod platform;
mod rejection;
mod router;

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use poem::{Endpoint, Response};
use poem_openapi::OpenApi;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use api::candidate::Candidate;
use api::developer::DeveloperHandlers;
use api::developer::generated::adapter::DeveloperV1;
use api::developer::generated::operations as developer_operations;
use api::generated::adapter::V1;
use api::generated::operations;
use api::middleware::RequestPipeline;
use api::platform::PlatformPipeline;
use api::state::{ApiState, Settings};
use api::v1::Handlers;
use connections::Shutdown;
use contract_runtime::contract::Contract;
use dashboard::Dashboard;
use domain::app::App;
use domain::event_feed;
use foundation::config::ServerConfig;
use foundation::id::RequestId;
use foundation::secret::MasterKeys;
use foundation::telemetry::metrics::ProcessKind;
use key_sets::KeySets;
use maintenance::MaintenanceContext;
use portal::{Portal, PortalOptions};
use rate_limit::LimitStore;
use secrecy::SecretString;
use web::layer::RequestLayer;

pub use connections::{ConnectionLimits, Timeouts};
pub use monitoring::Monitoring;

/// A server that is ready to accept connections.
pub struct Server {
    maintenance: MaintenanceContext,
    api_state: Arc<ApiState>,
    router: router::RootRouter,
    platform: Arc<PlatformPipeline>,
    /// The listener of `--platform-listen`, if it is set.
    platform_listener: Option<TcpListener>,
    shutdown: Shutdown,
    limits: ConnectionLimits,
}

impl Server {
    /// Creates the server. `local_url` is its URL if no public URL is configured.
    ///
    /// # Errors
    /// Returns an error when the generated files of the contract are inconsistent, when the contract contains an
    /// unknown scope, when a setting cannot be used in a header, when the limit store needs another database, or when
    /// the candidate contract cannot be used.
    ///
    /// # Panics
    /// Panics outside of a Tokio runtime.
    pub fn new(app: App, master: &MasterKeys, local_url: &str) -> anyhow::Result<Self> {
        // First, since the other parts record metrics.
        let monitoring = Monitoring::new(app.clone(), ProcessKind::Server);
        let settings = Settings::new(&app.config, local_url)?;
        let portal_options = PortalOptions { base_url: settings.public_url.clone(), elsewhere: None };
        let shutdown = Shutdown {
            drain: drain_time(&app.config.server),
            accepts_while_draining: true,
            timeout: Duration::from_secs(u64::from(app.config.server.shutdown_seconds.get())),
        };
        let limits = ConnectionLimits::new(&app.config.server);
        let request_app = app.for_requests();
        let limit_store = LimitStore::open(&app.config.limits, &app.db, &app.clock, app.process().servers())?;
        let operations_with_keys = operations::OPERATIONS.iter().chain(developer_operations::OPERATIONS);
        let operation_ids = operations_with_keys.map(|operation| operation.id).collect();
        let dashboard = Dashboard::new(request_app.clone(), master, limit_store.clone(), operation_ids)?;
        let api_state =
            ApiState::new(request_app.clone(), settings, master, limit_store, &operations::CONTRACT);
        let key_sets = KeySets::new(request_app.clone());
        let maintenance = MaintenanceContext { app, limiter: Arc::clone(&api_state.limiter) };
        let candidate = maintenance.app.config.server.candidate_contract.as_deref();
        let candidate = candidate
            .map(|path| Candidate::open(&maintenance.app, &operations::CONTRACT, path))
            .transpose()?;
        let pipeline = RequestPipeline::new(
            Arc::clone(&api_state),
            &operations::CONTRACT,
            V1(Handlers { app: request_app.clone() }),
        )?
        .with_candidate(candidate);
        let developer_contract = &developer_operations::CONTRACT;
        let developer = RequestPipeline::new(
            api_state.for_contract(developer_contract),
            developer_contract,
            DeveloperV1(DeveloperHandlers::new(request_app, master)),
        )?;
        let platform = Arc::new(PlatformPipeline::new(&maintenance.app, Arc::clone(&api_state))?);
        let portal = Portal::new(&[&operations::CONTRACT], portal_options);
        let mut router = router::RootRouter::new(monitoring, pipeline, dashboard, key_sets, portal);
        router.set_developer(developer);
        router.set_platform(Arc::clone(&platform));
        let platform_listener = None;
        Ok(Self { maintenance, api_state, router, platform, platform_listener, shutdown, limits })
    }

    /// Adds another version of the API, at `/api/` followed by the name of its contract. It shares keys and limits with
    /// v1.
    ///
    /// # Errors
    /// Returns an error when the generated files of the contract are inconsistent, or when the contract contains an
    /// unknown scope.
    pub fn with_version(
        mut self,
        contract: &'static Contract,
        api: impl OpenApi + 'static,
    ) -> anyhow::Result<Self> {
        let pipeline = RequestPipeline::new(self.api_state.for_contract(contract), contract, api)?;
        self.router.add(contract, pipeline);
        Ok(self)
    }

    /// Offers this API key on the page of the reference, to readers on this machine.
    pub fn with_demo_key(mut self, key: SecretString) -> Self {
        self.router.set_demo_key(key);
        self
    }

    /// Serves the Platform API on this listener only.
    pub fn with_platform_listener(mut self, listener: TcpListener) -> Self {
        self.router.remove_platform();
        self.platform_listener = Some(listener);
        self
    }

    /// Replaces the connection limits of the configuration.
    pub fn with_connection_limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Declares that another process, such as systemd, keeps the listening socket open. After the shutdown signal, the
    /// server accepts no connections from it, so that they wait for the next server.
    #[must_use]
    pub fn with_shared_listener(mut self) -> Self {
        self.shutdown.accepts_while_draining = false;
        self
    }

    /// Returns the endpoint for all requests, without connections and maintenance jobs.
    pub fn into_endpoint(self) -> impl Endpoint<Output = Response> {
        layer(&self.api_state.app, self.router)
    }

    /// Serves until `signal` resolves, and then for the configured drain time while `/readyz` fails. Then stops
    /// accepting connections, waits for requests in flight within the configured timeout, and saves the counts and log
    /// entries held in memory.
    ///
    /// # Errors
    /// Returns an error when the counts and log entries cannot be saved, or when a maintenance job panicked. After a
    /// panic, nothing is saved.
    pub async fn run(self, listener: TcpListener, signal: impl Future<Output = ()>) -> anyhow::Result<()> {
        let (stop, stopped) = oneshot::channel();
        let maintenance = tokio::spawn(maintenance::run(self.maintenance.clone(), stopped));
        let readiness = self.router.readiness();
        let app = &self.api_state.app;
        let router = layer(app, self.router);
        let (stop_platform, platform_stopped) = oneshot::channel::<()>();
        let (begin_drain, drain_begun) = oneshot::channel::<()>();
        let signal = async {
            signal.await;
            readiness.stop();
            let _ = stop_platform.send(());
            let _ = begin_drain.send(());
        };
        let drain = self.shutdown.drain;
        let end_waits_after_drain = async {
            let _ = drain_begun.await;
            tokio::time::sleep(drain).await;
            event_feed::stop_waiting(app);
            std::future::pending::<Infallible>().await
        };
        let platform_limits = self.limits.clone();
        let platform = async {
            if let Some(listener) = self.platform_listener {
                let router = layer(app, platform::PlatformRouter(self.platform));
                let signal = async { drop(platform_stopped.await) };
                // Only this process holds this listener open, so connections cannot wait in it for another one.
                let shutdown = Shutdown { accepts_while_draining: true, ..self.shutdown };
                connections::serve(listener, router, platform_limits, signal, shutdown).await;
            }
        };
        let server = connections::serve(listener, router, self.limits, signal, self.shutdown);
        tokio::select! {
            _ = async { tokio::join!(server, platform) } => {}
            never = end_waits_after_drain => match never {},
        }
        // Waits for a running flush first: its counts are then either written or restored.
        let _ = stop.send(());
        maintenance.await?;
        maintenance::save(&self.maintenance).await
    }
}

/// Returns how long a server continues to serve after it was asked to stop.
pub fn drain_time(config: &ServerConfig) -> Duration {
    Duration::from_secs(u64::from(config.drain_seconds))
}

/// Wraps an endpoint in the HTTP layer that all listeners of the process share.
fn layer<E>(app: &App, inner: E) -> RequestLayer<E> {
    let proxies = app.config.server.trusted_proxies.clone();
    let app = app.clone();
    let new_request_id = move || {
        let id: RequestId = app.ids.next(app.clock.now());
        id.to_string()
    };
    RequestLayer::new(Box::new(new_request_id), proxies, inner)
}
