//! Finds the operation of a request, then checks in this order: body size, authentication, rate limit, client address, whether the
//! operation exists, scope, whether the operation was removed, response cache, media type, validation; then calls the operation and
//! sets the response headers. A request without a valid key is rejected with 401 after the rate limit of its client address was
//! checked, so an exhausted limit returns 429. A cached response is returned without validation.
//! Bodies that are streams of lines are neither read nor stored here: the operation reads and sends line by line.
//!
//! One [`RequestPipeline`] handles all paths under `/api`, and another one those under `/developer`. Every error, including errors
//! of the HTTP framework and panics, becomes an API response with the error envelope and all headers.

mod authenticate;
pub(crate) mod body;
pub(crate) mod finish;
mod record;
#[cfg(test)]
pub(crate) mod tests;
mod throttle;

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use poem::{Endpoint, IntoResponse, Request, Response};
use poem_openapi::OpenApi;

pub use body::MAX_BYTES as MAX_BODY_BYTES;
use body::RequestBody;

use super::call::Caller;
use super::candidate::{Candidate, Observation};
use super::deprecations::{self, UsedParts};
use super::error::ApiError;
use super::patterns;
use super::response_cache::{CachedResponse, ResponseLookup, ResponseSlot};
use super::state::ApiState;
use contract_runtime::call::PathParameters;
use contract_runtime::contract::{Contract, Operation};
use contract_runtime::router::{Route, RouteMatch, Router};
use domain::keys::Principal;
use domain::scope::Scope;
use foundation::database::{REQUEST_TIMEOUT, with_wait_budget};
use rate_limit::{Decision, RateLimitStatus};
use record::RequestLogEntry;
use web::panics::catch_panic;
use web::rejection::Rejection;
use web::request_context::{CallerId, LogSubject, RequestContext};

/// Handles the requests of one API version.
pub struct RequestPipeline {
    state: Arc<ApiState>,
    router: Router,
    /// The name of the contract.
    contract: &'static str,
    candidate: Option<Arc<Candidate>>,
}

/// The state of a request in the pipeline. The response headers and the request log are derived from it, even if the
/// request fails early.
struct CallContext {
    /// The rate-limit status; `None` until the rate limit is checked.
    rate_limit_status: Option<RateLimitStatus>,
    /// The caller; `None` unless the request reaches an operation.
    caller: Option<Arc<Caller>>,
    /// The response from the cache; `None` if it was not cached.
    cached_response: Option<Arc<CachedResponse>>,
    /// Where to cache the response, if it can be cached.
    response_slot: Option<ResponseSlot>,
    /// What is compared with the candidate contract; `None` without one, and until the request is routed.
    observation: Option<Box<Observation>>,
    /// What the request uses that is deprecated; `None` if it uses nothing, and until the request is routed.
    deprecated: Option<Box<UsedParts>>,
    /// The operation id; `None` until the request is routed.
    operation: Option<&'static str>,
    /// The entry of the request log; `None` until the request is authenticated, and without a valid key.
    log_entry: Option<RequestLogEntry>,
    /// The body of the response if it is an error; `None` otherwise.
    error_body: Option<Bytes>,
}

impl RequestPipeline {
    /// Creates the pipeline of a contract that `api` implements.
    ///
    /// # Errors
    /// Returns an error if the contract's generated files do not match each other, or if the contract names an unknown
    /// scope.
    pub fn new(state: Arc<ApiState>, contract: &Contract, api: impl OpenApi) -> anyhow::Result<Self> {
        for operation in contract.operations {
            required_scope(operation).with_context(|| format!("the scope of {}", operation.id))?;
        }
        let router = Router::new(contract, api, patterns::describe)?;
        deprecations::declare(&state.app, contract.name, router.announcements());
        Ok(Self { state, router, contract: contract.name, candidate: None })
    }

    /// Compares accepted requests with a candidate contract.
    #[must_use]
    pub fn with_candidate(self, candidate: Option<Arc<Candidate>>) -> Self {
        Self { candidate, ..self }
    }

    /// Counts a request that its connection rejected, and returns the error.
    fn rejected(
        &self,
        request_context: &RequestContext,
        call_context: &mut CallContext,
        rejection: Rejection,
    ) -> ApiError {
        if rejection == Rejection::BUSY {
            // There can be thousands of these requests, so the server logs only their number.
            request_context.set_log_subject(LogSubject::Silent);
        }
        // These requests can be many and must not wait, so they count in this process alone.
        let (client, limits) = (request_context.client, self.state.settings.address_limits);
        let decision = self.state.limiter.acquire_alone(&self.state.app.clock, client, limits);
        call_context.rate_limit_status = Some(decision.status());
        ApiError::rejected(rejection)
    }

    /// Notes what a request of an operation uses that is deprecated, and what is compared with the candidate contract.
    fn observe(
        &self,
        call_context: &mut CallContext,
        principal: &Principal,
        route: &Route,
        request: &Request,
        path: &PathParameters,
        body: &RequestBody,
    ) {
        let body = if let RequestBody::Whole(body) = body { Some(body) } else { None };
        let uses = route.deprecated_uses(request, path, body);
        let called = (self.contract, route.operation.id);
        call_context.deprecated = UsedParts::new(&self.state.app, called, principal, uses);
        let candidate = self.candidate.as_ref();
        call_context.observation = candidate
            .and_then(|candidate| candidate.observe(principal, route.operation, request, path, body));
    }

    /// Checks a request and calls its operation.
    async fn handle(
        &self,
        request_context: &RequestContext,
        call_context: &mut CallContext,
        mut request: Request,
    ) -> Result<Response, ApiError> {
        let state = &self.state;
        if let Some(rejection) = request.extensions().get::<Rejection>() {
            return Err(self.rejected(request_context, call_context, *rejection));
        }
        let route = self.router.find(request.method().as_str(), request.uri().path());
        let operation = match &route {
            RouteMatch::Operation(route, _) => Some(route.operation.id),
            RouteMatch::MethodNotAllowed(_) | RouteMatch::NotFound => None,
        };
        request_context.set_log_subject(LogSubject::Call { operation, caller: None });
        let body = receive_body(&route, &mut request).await;
        let (principal, pending_lookup) =
            authenticate::principal(state, &request, request_context.client).await?;
        call_context.log_entry = principal
            .as_ref()
            .map(|principal| RequestLogEntry::begin(state, &request, request_context.client, principal));
        let (subject, limits) = throttle::subject(state, request_context.client, principal.as_ref());
        let decision = state.limiter.acquire(&state.app.db, &state.app.clock, subject, limits).await;
        drop(pending_lookup);
        call_context.rate_limit_status = Some(decision.status());
        let caller = principal.as_ref().map(|principal| CallerId::Key(principal.key));
        request_context.set_log_subject(LogSubject::Call { operation, caller });
        let body = body?;
        if let Decision::Rejected { status, exhausted, retry_after } = decision {
            return Err(throttle::rejection(status, exhausted, retry_after));
        }
        let Some(principal) = principal else {
            count_rejection("unauthorized");
            return Err(ApiError::unauthorized(state.credential));
        };
        require_network(&principal, request_context.client)?;

        let (route, path_parameters) = match route {
            RouteMatch::Operation(route, path_parameters) => (route, path_parameters),
            RouteMatch::MethodNotAllowed(allow) => return Err(ApiError::method_not_allowed(allow)),
            RouteMatch::NotFound => return Err(ApiError::unknown_path()),
        };
        call_context.operation = Some(route.operation.id);
        request_context.set_route(route.operation.path);
        require_scope(&principal, route.operation)?;
        self.observe(call_context, &principal, route, &request, &path_parameters, &body);
        deprecations::require_served(&state.app, route, &principal).inspect_err(|_| {
            // Who still calls a removed operation is of interest, too.
            let deprecated = call_context.deprecated.as_ref();
            deprecated.inspect(|uses| uses.count(&state.app, &request_context.request_id));
        })?;
        let path = request.uri().path_and_query().map_or("", |path| path.as_str());
        match state
            .response_cache
            .get(&state.app, route.operation, principal.workspace, path, request.headers())
            .await
        {
            ResponseLookup::Hit(cached_response) => {
                let response = cached_response.response();
                call_context.cached_response = Some(cached_response);
                return Ok(response);
            }
            ResponseLookup::Miss(slot) => call_context.response_slot = Some(slot),
            ResponseLookup::Uncacheable => {}
        }

        let input = match body {
            RequestBody::Whole(body) => route.validate(&request, path_parameters, body)?,
            RequestBody::Stream(body) => route.validate_stream(&request, path_parameters, body)?,
        };
        let request_id = request_context.request_id.clone();
        let address = request_context.client;
        let caller = Caller::new(Arc::clone(state), &principal, address, request_id, request.headers());
        let caller = call_context.caller.insert(Arc::new(caller));
        match route.call(Arc::clone(caller), input, request).await {
            Ok(response) => finish::operation_response(response.into_response()),
            Err(error) if error.status().is_server_error() && !error.is_from_response() => {
                Err(ApiError::internal(anyhow::anyhow!("{error}")))
            }
            Err(error) => finish::operation_response(error.into_response()),
        }
    }
}

/// Reads the body of a request, unless its operation reads it line by line.
async fn receive_body(route: &RouteMatch<'_>, request: &mut Request) -> Result<RequestBody, ApiError> {
    match route {
        RouteMatch::Operation(route, _) if route.operation.is_streamed() => {
            Ok(RequestBody::Stream(body::stream(request)))
        }
        _ => body::read(request).await.map(RequestBody::Whole),
    }
}

/// Rejects a key that may not be used from this address.
fn require_network(principal: &Principal, client: IpAddr) -> Result<(), ApiError> {
    if principal.is_allowed_from(client) {
        return Ok(());
    }
    count_rejection("forbidden");
    Err(ApiError::forbidden_address(client))
}

/// Rejects a key without the scope of the operation.
fn require_scope(principal: &Principal, operation: &Operation) -> Result<(), ApiError> {
    let scope = required_scope(operation).map_err(|error| ApiError::internal(error.into()))?;
    let Some(scope) = scope.filter(|scope| !principal.scopes.contains(*scope)) else { return Ok(()) };
    count_rejection("forbidden");
    Err(ApiError::forbidden(scope.as_str()))
}

/// Counts a request that was rejected for this reason.
pub(crate) fn count_rejection(reason: &'static str) {
    metrics::counter!("api_rejected_requests_total", "reason" => reason).increment(1);
}

/// Returns the scope that an operation requires, if any.
fn required_scope(operation: &Operation) -> Result<Option<Scope>, <Scope as FromStr>::Err> {
    operation.scope.map(str::parse).transpose()
}

impl Endpoint for RequestPipeline {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let state = &self.state;
        let request_context = web::request_context::of(&request);
        request_context.set_log_subject(LogSubject::Call { operation: None, caller: None });
        let mut call_context = CallContext {
            rate_limit_status: None,
            caller: None,
            cached_response: None,
            response_slot: None,
            observation: None,
            deprecated: None,
            operation: None,
            log_entry: None,
            error_body: None,
        };
        let conditions = finish::Conditions::from_request(&request);
        let handle = self.handle(&request_context, &mut call_context, request);
        let outcome = catch_panic(with_wait_budget(REQUEST_TIMEOUT, handle)).await;
        let outcome =
            outcome.unwrap_or_else(|panic| Err(ApiError::internal(anyhow::anyhow!("panicked: {panic}"))));
        let response = outcome.unwrap_or_else(|error| {
            error.into_response(&request_context.request_id, &state.settings.public_url)
        });
        let response =
            finish::finish(state, &request_context, &mut call_context, &conditions, response).await;
        if let Some(log_entry) = call_context.log_entry.take() {
            log_entry.end(state, &request_context, &call_context, response.status().as_u16());
        }
        Ok(response)
    }
}
