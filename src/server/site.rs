//! Which part of the server a path belongs to.

use std::sync::Arc;

use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Endpoint, Request, Response};

use super::{docs, errors_page, guide, page, refused, watch};
use api::front::Front;
use api::middleware::{Coding, Gate, client_address, request_id};
use contract_runtime::contract::Contract;
use dashboard::Dashboard;
use dashboard::visit::Client;
use foundation::secret::MasterKey;

/// Everything behind the listener.
pub(super) struct Site {
    front: Arc<Front>,
    api: Gate,
    /// Other versions of the API, by the beginning of their paths.
    others: Vec<(String, Gate)>,
    dashboard: Dashboard,
    docs: docs::Docs,
    watch: watch::Watch,
}

impl Site {
    pub(super) fn new(front: Arc<Front>, api: Gate, contract: &'static Contract, master: &MasterKey) -> Self {
        let dashboard = Dashboard::new(front.app.clone(), master);
        let watch = watch::Watch::new(front.app.clone());
        Self { front, api, others: Vec::new(), dashboard, docs: docs::Docs::new(contract), watch }
    }

    /// Adds another version of the API.
    pub(super) fn add(&mut self, contract: &'static Contract, api: Gate) {
        self.others.push((format!("api/{}/", contract.stem), api));
        self.docs.add(contract);
    }

    /// A page of the dashboard, told from which address it is asked for, and packed as the browser likes it.
    async fn dashboard(&self, mut request: Request) -> poem::Result<Response> {
        let address = client_address(&request, &self.front.settings.proxies);
        request.extensions_mut().insert(Client(address));
        let coding = Coding::wanted(request.headers());
        let response = self.dashboard.call(request).await?;
        Ok(match coding {
            Some(coding) => packed(response, coding).await,
            None => response,
        })
    }

    /// A page of the dashboard, or a public one.
    async fn page(&self, request: Request) -> poem::Result<Response> {
        let head = request.method() == Method::HEAD;
        let response = if dashboard::serves(request.uri().path()) {
            self.dashboard(request).await?
        } else if page::is_read(request.method()) {
            self.public(&request).await
        } else {
            return Ok(page::wrong_method());
        };
        Ok(if head { page::without_body(response).await } else { response })
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
                    Some(document) => document.response(request).await,
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
        let id = request_id::of(&request, &self.front.app);
        let mut response = match refused::response(&request, &id) {
            Some(refused) => refused,
            None => self.page(request).await?,
        };
        request_id::stamp(&mut response, &id);
        Ok(response)
    }
}

fn redirect(to: &'static str) -> Response {
    let mut response = Response::builder().status(StatusCode::PERMANENT_REDIRECT).finish();
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(to));
    response
}

/// The answer in a coding, when that is worth it.
async fn packed(response: Response, coding: Coding) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(plain) = body.into_bytes().await else {
        return page::plain(StatusCode::INTERNAL_SERVER_ERROR, "The page could not be written.\n");
    };
    parts.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    let Some(packed) = coding.apply(&plain).await else { return Response::from_parts(parts, plain.into()) };
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    Response::from_parts(parts, packed.into())
}
