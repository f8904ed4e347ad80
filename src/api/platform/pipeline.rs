//! Checks the requests of the Platform API in this order: operation, token, scope, body, validation. Then calls the operation and
//! sets the headers of the response.

use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::Context;
use async_compression::tokio::bufread::GzipDecoder;
use futures_util::{StreamExt, poll};
use poem::http::{HeaderValue, header};
use poem::{Body, Endpoint, IntoResponse, Request, Response};
use tokio::io::BufReader;

use super::generated::adapter::PlatformV1;
use super::generated::operations::CONTRACT;
use super::{PlatformCaller, PlatformHandlers, RETRY_AFTER};
use crate::error::ApiError;
use crate::middleware::{body, count_rejection, finish};
use crate::patterns;
use crate::state::ApiState;
use contract_runtime::payload::Streamed;
use contract_runtime::router::{CallError, RouteMatch, Router};
use domain::app::App;
use domain::platform_tokens::{self, PlatformScope, PlatformTokenRecord};
use foundation::database::{REQUEST_TIMEOUT, with_wait_budget};
use web::compress::Compressible;
use web::panics::catch_panic;
use web::rejection::Rejection;
use web::request_context::{CallerId, LogSubject, RequestContext};

/// Handles all paths under `/platform`.
pub struct PlatformPipeline {
    /// What this API shares with v1: the app with the timeout of requests, and the limits of client addresses.
    state: Arc<ApiState>,
    router: Router,
    public_url: Arc<str>,
}

impl PlatformPipeline {
    /// Creates the pipeline. `app` is the state of the process without the timeout of requests.
    ///
    /// # Errors
    /// Returns an error if the contract's generated files do not match each other, or if the contract names an unknown
    /// scope.
    pub fn new(app: &App, state: Arc<ApiState>) -> anyhow::Result<Self> {
        for operation in CONTRACT.operations {
            let scope = operation.scope.map(PlatformScope::from_str).transpose();
            scope.with_context(|| format!("the scope of {}", operation.id))?;
        }
        let router = Router::new(&CONTRACT, PlatformV1(PlatformHandlers::new(app)), patterns::describe)?;
        let public_url = state.settings.public_url.as_str().into();
        Ok(Self { state, router, public_url })
    }

    /// Returns the token of a request. Failed attempts count against the client's IP address: after it has exhausted its limits,
    /// unknown tokens are rejected without a database query.
    async fn authenticate(
        &self,
        context: &RequestContext,
        request: &Request,
    ) -> Result<PlatformTokenRecord, ApiError> {
        let ApiState { app, limiter, settings, .. } = &*self.state;
        let (client, limits) = (context.client, settings.address_limits);
        let mut pending_lookup = None;
        if let Some(secret) = CONTRACT.credential.find(request.headers()) {
            let admit = || {
                pending_lookup = limiter.admit_lookup(&app.clock, client, limits);
                pending_lookup.is_some()
            };
            if let Some(token) = platform_tokens::authenticate(app, &secret, admit).await? {
                return Ok(token);
            }
        }
        limiter.acquire_alone(&app.clock, client, limits);
        count_rejection("unauthorized");
        Err(ApiError::invalid_platform_token(CONTRACT.credential))
    }

    async fn handle(&self, context: &RequestContext, mut request: Request) -> Result<Response, ApiError> {
        if let Some(rejection) = request.extensions().get::<Rejection>() {
            if *rejection == Rejection::BUSY {
                context.set_log_subject(LogSubject::Silent);
                return Err(ApiError::unavailable(
                    "Too many connections are open. Retry in a few seconds.",
                    RETRY_AFTER,
                ));
            }
            return Err(ApiError::rejected(*rejection));
        }
        let (route, path) = match self.router.find(request.method().as_str(), request.uri().path()) {
            RouteMatch::Operation(route, path) => (route, path),
            RouteMatch::MethodNotAllowed(allow) => return Err(ApiError::method_not_allowed(allow)),
            RouteMatch::NotFound => return Err(ApiError::unknown_path()),
        };
        context.set_route(route.operation.path);
        let operation = Some(route.operation.id);
        context.set_log_subject(LogSubject::Call { operation, caller: None });
        let token = self.authenticate(context, &request).await?;
        let caller = Some(CallerId::PlatformToken(token.id));
        context.set_log_subject(LogSubject::Call { operation, caller });
        let scope = route.operation.scope.and_then(|scope| scope.parse::<PlatformScope>().ok());
        if let Some(scope) = scope.filter(|scope| !token.scopes.contains(scope)) {
            count_rejection("forbidden");
            return Err(ApiError::forbidden_platform_token(scope.as_str()));
        }
        let input = if route.operation.is_streamed() {
            let body = streamed_body(&mut request).await;
            route.validate_stream(&request, path, body).map_err(allow_gzip)?
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

/// Takes the body of a request that the operation reads in parts. The operation limits the time that it waits for a part. If the
/// body is compressed with gzip, removes the header, and decompresses the body when it is read. Its decompressed size is not
/// limited, but that of a line is.
async fn streamed_body(request: &mut Request) -> Body {
    let mut body = request.take_body();
    if request.headers().contains_key(header::EXPECT) {
        body = after_continue(body).await;
    }
    let is_gzip = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"gzip");
    if !request.headers().get(header::CONTENT_ENCODING).is_some_and(is_gzip) {
        return body;
    }
    request.headers_mut().remove(header::CONTENT_ENCODING);
    let mut decoder = GzipDecoder::new(BufReader::new(body.into_async_read()));
    decoder.multiple_members(true);
    Body::from_async_read(decoder)
}

/// Adds gzip to the remedy for an unsupported encoding.
fn allow_gzip(error: CallError) -> CallError {
    match error {
        CallError::MediaType { expected, header: header @ "Content-Encoding", .. } => {
            CallError::MediaType { expected, header, message: "must be gzip or absent".to_owned() }
        }
        other => other,
    }
}

/// Lets the connection send `100 Continue`, for which the client waits before it sends the body. hyper sends it when the body is
/// first polled, but not after the head of the response, which a streamed response sends before the operation reads the body.
async fn after_continue(body: Body) -> Body {
    let mut parts = body.into_bytes_stream().peekable();
    let _ = poll!(Pin::new(&mut parts).peek());
    tokio::task::yield_now().await;
    Body::from_bytes_stream(parts)
}

impl Endpoint for PlatformPipeline {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let context = web::request_context::of(&request);
        context.set_log_subject(LogSubject::Call { operation: None, caller: None });
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
