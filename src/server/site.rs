//! Which part of the server a path belongs to.

use std::sync::Arc;

use poem::http::{HeaderValue, Method, StatusCode, header};
use poem::{Endpoint, Request, Response};

use super::{docs, errors_page, guide, health, metrics, page};
use crate::api::contract::Contract;
use crate::api::front::Front;
use crate::api::middleware::Gate;

/// Everything behind the listener.
pub(super) struct Site {
    front: Arc<Front>,
    api: Api,
    /// Other versions of the API, by the beginning of their paths.
    others: Vec<(String, Api)>,
    docs: docs::Docs,
    figures: metrics::Figures,
}

type Api = Gate<poem::endpoint::BoxEndpoint<'static>>;

impl Site {
    pub(super) fn new(front: Arc<Front>, api: Api, contract: &'static Contract) -> Self {
        let (others, docs) = (Vec::new(), docs::Docs::new(contract));
        Self { front, api, others, docs, figures: metrics::Figures::default() }
    }

    /// Adds another version of the API.
    pub(super) fn add(&mut self, contract: &'static Contract, api: Api) {
        self.others.push((format!("api/{}/", contract.stem), api));
        self.docs.add(contract);
    }

    /// A page that anybody may read.
    async fn public(&self, request: &Request) -> Response {
        match request.uri().path() {
            "/" => redirect("/docs/"),
            "/healthz" => health::alive(),
            "/readyz" => health::ready(&self.front.app).await,
            "/metrics" => self.figures.response(&self.front.app).await,
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
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Ok(page::wrong_method());
        }
        let response = self.public(&request).await;
        Ok(if request.method() == Method::HEAD { without_body(response).await } else { response })
    }
}

fn redirect(to: &'static str) -> Response {
    let mut response = Response::builder().status(StatusCode::PERMANENT_REDIRECT).finish();
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(to));
    response
}

/// The answer to `HEAD`: all but the body.
async fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let length = body.into_bytes().await.unwrap_or_default().len();
    if parts.status != StatusCode::NOT_MODIFIED {
        parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(parts, poem::Body::empty())
}
