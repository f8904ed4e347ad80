//! Processes requests in the order of the contract: body size, authentication, rate limit, route, scope, media type,
//! validation, operation, response headers.
//!
//! [`RequestPipeline`] handles all paths under `/api`. Every error, including errors of the HTTP framework and panics,
//! becomes an API response with the error envelope and all headers.

mod authenticate;
mod body;
mod finish;
mod record;
#[cfg(test)]
mod tests;
mod throttle;

use std::str::FromStr;
use std::sync::Arc;

use anyhow::Context;
use bytes::Bytes;
use poem::{Endpoint, IntoResponse, Request, Response};
use poem_openapi::OpenApi;

pub use body::MAX_BYTES as MAX_BODY_BYTES;

use super::call::Caller;
use super::error::ApiError;
use super::page_cache::{CachedPage, PageLookup, PageSlot};
use super::patterns;
use super::state::ApiState;
use contract_runtime::contract::{Contract, Operation};
use contract_runtime::router::{RouteMatch, Router};
use domain::scope::Scope;
use rate_limit::{Decision, RateLimitStatus};
use record::Record;
use web::layer::catch_panic;
use web::rejection::Rejection;
use web::request_context::{LogSubject, RequestContext};

/// Handles the requests of one API version.
pub struct RequestPipeline {
    state: Arc<ApiState>,
    router: Router,
}

/// What is known about a request so far. It is used for the response headers and the request log, even if the request
/// fails early.
struct CallContext {
    /// The rate-limit status; `None` until the request was counted.
    status: Option<RateLimitStatus>,
    /// The caller; `None` until the request reaches an operation.
    caller: Option<Arc<Caller>>,
    /// The cached response, if there is one.
    page: Option<Arc<CachedPage>>,
    /// Where to cache the response, if it can be cached.
    page_slot: Option<PageSlot>,
    /// The operation id.
    operation: Option<&'static str>,
    /// The entry of the request log; `None` until the key is known.
    record: Option<Record>,
    /// The body of an error response.
    error: Option<Bytes>,
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
        Ok(Self { state, router: Router::new(contract, api, patterns::describe)? })
    }

    /// Checks a request and calls its operation.
    async fn handle(
        &self,
        access: &RequestContext,
        context: &mut CallContext,
        mut request: Request,
    ) -> Result<Response, ApiError> {
        let state = &self.state;
        if let Some(rejection) = request.extensions().get::<Rejection>() {
            let error = ApiError::rejected(*rejection);
            if *rejection == Rejection::BUSY {
                // There can be thousands of these requests. The server logs their number instead.
                access.set(LogSubject::Silent);
            }
            let (subject, limits) = throttle::subject(state, access.client, None);
            context.status =
                Some(state.limiter.acquire(&state.app.db, &state.app.clock, subject, limits).await.status());
            return Err(error);
        }
        let body = body::read(&mut request).await;
        let (principal, pending_lookup) = authenticate::principal(state, &request, access.client).await?;
        context.record =
            principal.as_ref().map(|principal| Record::begin(state, &request, access.client, principal));
        let (subject, limits) = throttle::subject(state, access.client, principal.as_ref());
        let decision = state.limiter.acquire(&state.app.db, &state.app.clock, subject, limits).await;
        drop(pending_lookup);
        context.status = Some(decision.status());
        let key = principal.as_ref().map(|principal| principal.key);
        access.set(LogSubject::Call { operation: None, key });
        let body = body?;
        if let Decision::Rejected { status, exhausted, retry_after } = decision {
            return Err(throttle::rejection(status, exhausted, retry_after));
        }
        let principal = principal.ok_or_else(|| ApiError::unauthorized(state.credential))?;

        let (route, captured) = match self.router.find(request.method().as_str(), request.uri().path()) {
            RouteMatch::Operation(route, captured) => (route, captured),
            RouteMatch::MethodNotAllowed(allow) => return Err(ApiError::method_not_allowed(allow)),
            RouteMatch::NotFound => return Err(ApiError::unknown_path()),
        };
        context.operation = Some(route.operation.id);
        access.set(LogSubject::Call { operation: context.operation, key });
        let scope = required_scope(route.operation).map_err(|error| ApiError::internal(error.into()))?;
        if let Some(scope) = scope.filter(|scope| !principal.scopes.contains(*scope)) {
            return Err(ApiError::forbidden(scope.as_str()));
        }

        let path = request.uri().path_and_query().map_or("", |path| path.as_str());
        match state
            .page_cache
            .get(&state.app, route.operation, principal.workspace, path, request.headers())
            .await
        {
            PageLookup::Hit(page) => {
                let response = page.response();
                context.page = Some(page);
                return Ok(response);
            }
            PageLookup::Miss(slot) => context.page_slot = Some(slot),
            PageLookup::Uncacheable => {}
        }

        let input = route.validate(&request, captured, body)?;
        let caller = Caller::new(Arc::clone(state), &principal, access.request_id.clone());
        let caller = context.caller.insert(Arc::new(caller));
        match route.call(Arc::clone(caller), input, request).await {
            Ok(response) => finish::operation_response(response.into_response()),
            Err(error) if error.status().is_server_error() && !error.is_from_response() => {
                Err(ApiError::internal(anyhow::anyhow!("{error}")))
            }
            Err(error) => finish::operation_response(error.into_response()),
        }
    }
}

/// Returns the scope that an operation requires.
fn required_scope(operation: &Operation) -> Result<Option<Scope>, <Scope as FromStr>::Err> {
    operation.scope.map(str::parse).transpose()
}

impl Endpoint for RequestPipeline {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let state = &self.state;
        let access = web::request_context::of(&request);
        access.set(LogSubject::Call { operation: None, key: None });
        let mut context = CallContext {
            status: None,
            caller: None,
            page: None,
            page_slot: None,
            operation: None,
            record: None,
            error: None,
        };
        let conditions = finish::Conditions::of(&request);
        let outcome = catch_panic(self.handle(&access, &mut context, request)).await;
        let outcome =
            outcome.unwrap_or_else(|panic| Err(ApiError::internal(anyhow::anyhow!("panicked: {panic}"))));
        let response = outcome
            .unwrap_or_else(|error| error.into_response(&access.request_id, &state.settings.public_url));
        let response = finish::finish(state, &access, &mut context, &conditions, response).await;
        if let Some(record) = context.record.take() {
            record.end(state, &access, &context, response.status().as_u16());
        }
        Ok(response)
    }
}
