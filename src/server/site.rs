//! Which part of the server a path belongs to.

use poem::http::{HeaderValue, StatusCode, header};
use poem::{Endpoint, Request, Response};

use super::{docs, errors_page, guide, page, refused, watch};
use api::middleware::Gate;
use contract_runtime::contract::Contract;
use dashboard::Dashboard;
use domain::app::App;
use foundation::secret::MasterKey;

/// Everything behind the listener.
pub(super) struct Site {
    api: Gate,
    /// Other versions of the API, by the beginning of their paths.
    others: Vec<(String, Gate)>,
    dashboard: Dashboard,
    docs: docs::Docs,
    watch: watch::Watch,
}

impl Site {
    pub(super) fn new(app: App, api: Gate, contract: &'static Contract, master: &MasterKey) -> Self {
        let dashboard = Dashboard::new(app.clone(), master);
        let watch = watch::Watch::new(app);
        Self { api, others: Vec::new(), dashboard, docs: docs::Docs::new(contract), watch }
    }

    /// Adds another version of the API.
    pub(super) fn add(&mut self, contract: &'static Contract, api: Gate) {
        self.others.push((format!("api/{}/", contract.stem), api));
        self.docs.add(contract);
    }

    /// A page of the dashboard, or a public one.
    async fn page(&self, request: Request) -> poem::Result<Response> {
        if dashboard::serves(request.uri().path()) {
            self.dashboard.call(request).await
        } else if page::is_read(request.method()) {
            Ok(self.public(&request).await)
        } else {
            Ok(page::wrong_method())
        }
    }

    /// A page that anybody may read.
    async fn public(&self, request: &Request) -> Response {
        let path = request.uri().path();
        if let Some(shown) = self.watch.page(path).await {
            return shown;
        }
        match path {
            "/" => redirect("/docs/"),
            "/docs" => redirect("/docs/"),
            "/docs/errors" => page::html(errors_page::HTML.clone()),
            "/docs/webhooks" => page::html(guide::HTML.clone()),
            "/docs/webhooks/vectors.json" => page::json(guide::VECTORS),
            "/docs/page.css" => page::style(),
            path => match path.strip_prefix("/docs/") {
                Some(file) => self.docs.swagger(file),
                None => match path.strip_prefix("/openapi/").and_then(|file| self.docs.document(file)) {
                    Some(document) => document.response(request),
                    None => page::not_found(),
                },
            },
        }
    }
}

impl Endpoint for Site {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        // `//api/v1/courses` is no path of the API, but whoever sends it expects the API's kind of answer.
        let path = request.uri().path().trim_start_matches('/');
        if path == "api" || path.starts_with("api/") {
            let other = self.others.iter().find(|(beginning, _)| path.starts_with(beginning));
            return other.map_or(&self.api, |(_, api)| api).call(request).await;
        }
        match refused::response(&request) {
            Some(refused) => Ok(refused),
            None => self.page(request).await,
        }
    }
}

fn redirect(to: &'static str) -> Response {
    let mut response = Response::builder().status(StatusCode::PERMANENT_REDIRECT).finish();
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(to));
    response
}
