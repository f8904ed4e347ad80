//! Routes requests to the API, the dashboard and the public pages.

use std::sync::Arc;

use poem::{Endpoint, Request, Response};

use super::health::Readiness;
use super::key_sets::KeySets;
use super::monitoring::Monitoring;
use super::{platform, rejection};
use api::developer;
use api::middleware::RequestPipeline;
use api::platform::{PlatformPipeline, generated};
use contract_runtime::contract::Contract;
use dashboard::Dashboard;
use portal::Portal;
use secrecy::SecretString;
use web::public_response;

/// Routes requests by their paths.
pub(super) struct RootRouter {
    /// Version 1 of the API. It also answers requests for versions that do not exist.
    api: RequestPipeline,
    /// Other APIs with the keys of v1, with their path prefixes: the Developer API, and other versions.
    other_apis: Vec<(String, RequestPipeline)>,
    /// `None` if the Platform API has an address of its own.
    platform: Option<Arc<PlatformPipeline>>,
    dashboard: Dashboard,
    key_sets: KeySets,
    portal: Portal,
    monitoring: Monitoring,
}

impl RootRouter {
    pub(super) fn new(
        monitoring: Monitoring,
        api: RequestPipeline,
        dashboard: Dashboard,
        key_sets: KeySets,
        portal: Portal,
    ) -> Self {
        Self { api, other_apis: Vec::new(), platform: None, dashboard, key_sets, portal, monitoring }
    }

    /// Adds the Platform API and its documentation.
    pub(super) fn set_platform(&mut self, platform: Arc<PlatformPipeline>) {
        self.platform = Some(platform);
        self.portal.add(&generated::operations::CONTRACT);
    }

    /// Removes the Platform API, but not its documentation.
    pub(super) fn remove_platform(&mut self) {
        self.platform = None;
        self.portal.set_elsewhere(&generated::operations::CONTRACT);
    }

    /// Adds the Developer API and its documentation.
    pub(super) fn set_developer(&mut self, api: RequestPipeline) {
        self.other_apis.push(("developer/".to_owned(), api));
        self.portal.add(&developer::generated::operations::CONTRACT);
    }

    /// Adds another version of the API.
    pub(super) fn add(&mut self, contract: &'static Contract, api: RequestPipeline) {
        self.other_apis.push((format!("api/{}/", contract.name), api));
        self.portal.add(contract);
    }

    /// Offers this API key on the page of the reference, to readers on this machine.
    pub(super) fn set_demo_key(&mut self, key: SecretString) {
        self.portal.set_demo_key(key);
    }

    /// Returns the state of `/readyz`.
    pub(super) fn readiness(&self) -> Readiness {
        self.monitoring.readiness()
    }

    /// Returns a page of the dashboard or a public page.
    async fn page(&self, request: Request) -> poem::Result<Response> {
        if dashboard::serves(request.uri().path()) {
            // Boxed, so that the future of an API request does not include the future of a page.
            Box::pin(self.dashboard.call(request)).await
        } else if public_response::is_read(request.method()) {
            Ok(self.public(&request).await)
        } else {
            Ok(public_response::method_not_allowed())
        }
    }

    /// Returns a page that requires no authentication.
    async fn public(&self, request: &Request) -> Response {
        let path = request.uri().path();
        if let Some(response) = self.monitoring.page(path).await {
            return response;
        }
        if let Some(path) = path.strip_prefix("/webhooks/") {
            return self.key_sets.response(path).await;
        }
        match path {
            "/" => self.portal.redirect_home(),
            "/favicon.ico" => dashboard::icon(),
            _ => self.portal.response(request).unwrap_or_else(public_response::not_found),
        }
    }
}

impl Endpoint for RootRouter {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        // `//api/v1/courses` is not a path of the API, but its client expects an API response.
        let path = request.uri().path().trim_start_matches('/');
        if let Some((_, api)) = self
            .other_apis
            .iter()
            .find(|(prefix, _)| path.starts_with(prefix) || path == prefix.trim_end_matches('/'))
        {
            return api.call(request).await;
        }
        if path == "api" || path.starts_with("api/") {
            return self.api.call(request).await;
        }
        if let Some(platform) = self.platform.as_ref().filter(|_| platform::serves(path)) {
            return platform.call(request).await;
        }
        match rejection::response(&request) {
            Some(response) => Ok(response),
            None => self.page(request).await,
        }
    }
}
