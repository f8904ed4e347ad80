//! Checks the requests of the Platform API in this order: operation, token, scope, body, validation. Then calls the operation and
//! sets the headers of the response.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::Context;
use async_compression::tokio::bufread::GzipDecoder;
use poem::http::{HeaderValue, header};
use poem::{Body, Endpoint, IntoResponse, Request, Response};
use tokio::io::BufReader;

use super::generated::adapter::PlatformV1;
use super::generated::operations::CONTRACT;
use super::{PlatformCaller, PlatformHandlers};
use crate::error::ApiError;
use crate::middleware::{body, count_rejection, finish};
use crate::patterns;
use contract_runtime::payload::Streamed;
use contract_runtime::router::{RouteMatch, Router};
use domain::app::App;
use domain::platform_tokens::{self, PlatformScope};
use foundation::database::{REQUEST_TIMEOUT, with_wait_budget};
use web::compress::Compressible;
use web::layer::catch_panic;
use web::rejection::Rejection;
use web::request_context::{LogSubject, RequestContext};

/// Handles all paths under `/platform`.
pub struct PlatformPipeline {
    app: App,
    router: Router,
    public_url: Arc<str>,
}

impl PlatformPipeline {
    /// Creates the pipeline. `public_url` is the base URL of this server for clients, without a trailing slash.
    ///
    /// # Errors
    /// Returns an error if the contract's generated files do not match each other, or if the contract names an unknown
    /// scope.
    pub fn new(app: &App, public_url: &str) -> anyhow::Result<Self> {
        for operation in CONTRACT.operations {
            let scope = operation.scope.map(PlatformScope::from_str).transpose();
            scope.with_context(|| format!("the scope of {}", operation.id))?;
        }
        let router = Router::new(&CONTRACT, PlatformV1(PlatformHandlers::new(app)), patterns::describe)?;
        Ok(Self { app: app.for_requests(), router, public_url: public_url.into() })
    }

    async fn handle(&self, context: &RequestContext, mut request: Request) -> Result<Response, ApiError> {
        if let Some(rejection) = request.extensions().get::<Rejection>() {
            if *rejection == Rejection::BUSY {
                context.set_log_subject(LogSubject::Silent);
            }
            return Err(ApiError::rejected(*rejection));
        }
        let (route, path) = match self.router.find(request.method().as_str(), request.uri().path()) {
            RouteMatch::Operation(route, path) => (route, path),
            RouteMatch::MethodNotAllowed(allow) => return Err(ApiError::method_not_allowed(allow)),
            RouteMatch::NotFound => return Err(ApiError::unknown_path()),
        };
        context.set_route(route.operation.path);
        context.set_log_subject(LogSubject::Call { operation: Some(route.operation.id), key: None });
        let token = match CONTRACT.credential.find(request.headers()) {
            Some(secret) => platform_tokens::authenticate(&self.app, &secret).await?,
            None => None,
        };
        let Some(token) = token else {
            count_rejection("unauthorized");
            return Err(ApiError::invalid_platform_token(CONTRACT.credential));
        };
        let scope = route.operation.scope.and_then(|scope| scope.parse::<PlatformScope>().ok());
        if let Some(scope) = scope.filter(|scope| !token.scopes.contains(scope)) {
            count_rejection("forbidden");
            return Err(ApiError::forbidden_platform_token(scope.as_str()));
        }
        let input = if route.operation.is_streamed() {
            let body = decompressed(&mut request);
            route.validate_stream(&request, path, body)?
        } else {
            let body = body::read(&mut request).await?;
            route.validate(&request, path, body)?
        };
        let request_id = context.request_id.clone();
        let caller = PlatformCaller { token, request_id, public_url: Arc::clone(&self.public_url) };
        match route.call(Arc::new(caller), input, request).await {
            Ok(response) => finish::operation_response(response.into_response()),
            Err(error) if error.status().is_server_error() && !error.is_from_response() => {
                Err(ApiError::internal(anyhow::anyhow!("{error}")))
            }
            Err(error) => finish::operation_response(error.into_response()),
        }
    }
}

/// Takes the body of a request without reading it. If it is compressed with gzip, removes the header, and decompresses the body
/// when it is read. Its decompressed size is not limited, but that of a line is.
fn decompressed(request: &mut Request) -> Body {
    let body = body::stream(request);
    let is_gzip = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"gzip");
    if !request.headers().get(header::CONTENT_ENCODING).is_some_and(is_gzip) {
        return body;
    }
    request.headers_mut().remove(header::CONTENT_ENCODING);
    let mut decoder = GzipDecoder::new(BufReader::new(body.into_async_read()));
    decoder.multiple_members(true);
    Body::from_async_read(decoder)
}

impl Endpoint for PlatformPipeline {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let context = web::request_context::of(&request);
        context.set_log_subject(LogSubject::Call { operation: None, key: None });
        let outcome = catch_panic(with_wait_budget(REQUEST_TIMEOUT, self.handle(&context, request))).await;
        let outcome =
            outcome.unwrap_or_else(|panic| Err(ApiError::internal(anyhow::anyhow!("panicked: {panic}"))));
        let mut response =
            outcome.unwrap_or_else(|error| error.into_response(&context.request_id, &self.public_url));
        if response.extensions().get::<Streamed>().is_some() {
            response.extensions_mut().insert(web::layer::Unbuffered);
        } else {
            context.allow_compression(Compressible::Once);
        }
        response.headers_mut().insert(header::CACHE_CONTROL, finish::NO_STORE);
        Ok(response)
    }
}
