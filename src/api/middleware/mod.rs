//! Everything around the operations, in the order the contract gives: body cap, authentication, rate limit, route,
//! scope, media type, validation, the operation; then the headers.
//!
//! [`Gate`] answers all paths under `/api`. Whatever happens inside (a framework fault, a panic) leaves it as an
//! answer of the API, with its envelope and all its headers.

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

pub use body::CAP as BODY_CAP;

use super::call::Caller;
use super::error::ApiError;
use super::front::Front;
use super::pages::{Look, Page, Place};
use super::patterns;
use contract_runtime::contract::{Contract, Operation};
use contract_runtime::router::{Found, Router};
use domain::scope::Scope;
use rate_limit::{Draw, Standing};
use record::Record;
use web::access::{Access, LogSubject};
use web::layer::catch;
use web::rejection::Rejection;

/// A version of the API.
pub struct Gate {
    front: Arc<Front>,
    router: Router,
}

/// What is known of a request so far: enough for the headers of its response, however far it came.
struct Seen {
    /// Where the caller stands; `None` until the limiter was asked.
    standing: Option<Standing>,
    /// Set once the request was admitted to an operation.
    caller: Option<Arc<Caller>>,
    /// The answer, when it was ready.
    page: Option<Arc<Page>>,
    /// Where the answer belongs, when it can be kept.
    place: Option<Place>,
    /// The operation that its method and path name.
    operation: Option<&'static str>,
    /// For the request log, once the key is known.
    record: Option<Record>,
    /// The body of a failure.
    error: Option<Bytes>,
}

impl Gate {
    /// The API of a contract, as `api` implements it.
    ///
    /// # Errors
    /// When the contract's generated files do not belong together, or it names a scope that does not exist.
    pub fn new(front: Arc<Front>, contract: &Contract, api: impl OpenApi) -> anyhow::Result<Self> {
        for operation in contract.operations {
            needed_scope(operation).with_context(|| format!("the scope of {}", operation.id))?;
        }
        Ok(Self { front, router: Router::new(contract, api, patterns::describe)? })
    }

    /// Goes through the checks, in order, and on to the operation.
    async fn admit(
        &self,
        access: &Access,
        seen: &mut Seen,
        mut request: Request,
    ) -> Result<Response, ApiError> {
        let front = &self.front;
        if let Some(rejection) = request.extensions().get::<Rejection>() {
            let error = ApiError::rejected(*rejection);
            if *rejection == Rejection::BUSY {
                // There may be thousands of them; the connections' own log line counts them.
                access.set(LogSubject::Silent);
            }
            let (subject, caps) = throttle::bucket(front, access.client, None);
            seen.standing =
                Some(front.limiter.draw(&front.app.db, &front.app.clock, subject, caps).await.standing());
            return Err(error);
        }
        let body = body::take(&mut request).await;
        let (principal, look_up) = authenticate::principal(front, &request, access.client).await?;
        seen.record =
            principal.as_ref().map(|principal| Record::begin(front, &request, access.client, principal));
        let (subject, caps) = throttle::bucket(front, access.client, principal.as_ref());
        let draw = front.limiter.draw(&front.app.db, &front.app.clock, subject, caps).await;
        drop(look_up);
        seen.standing = Some(draw.standing());
        let key = principal.as_ref().map(|principal| principal.key);
        access.set(LogSubject::Call { operation: None, key });
        let body = body?;
        if let Draw::Refused { standing, exhausted, retry_after } = draw {
            return Err(throttle::refuse(standing, exhausted, retry_after));
        }
        let principal = principal.ok_or_else(|| ApiError::unauthorized(front.credential))?;

        let (route, captured) = match self.router.find(request.method().as_str(), request.uri().path()) {
            Found::Operation(route, captured) => (route, captured),
            Found::WrongMethod(allow) => return Err(ApiError::wrong_method(allow)),
            Found::Nothing => return Err(ApiError::no_such_path()),
        };
        seen.operation = Some(route.operation.id);
        access.set(LogSubject::Call { operation: seen.operation, key });
        let scope = needed_scope(route.operation).map_err(|error| ApiError::internal(error.into()))?;
        if let Some(scope) = scope.filter(|scope| !principal.scopes.contains(*scope)) {
            return Err(ApiError::forbidden(scope.as_str()));
        }

        let path = request.uri().path_and_query().map_or("", |path| path.as_str());
        match front
            .pages
            .look(&front.app, route.operation, principal.workspace, path, request.headers())
            .await
        {
            Look::Found(page) => {
                let answer = page.response();
                seen.page = Some(page);
                return Ok(answer);
            }
            Look::Missing(place) => seen.place = Some(place),
            Look::Elsewhere => {}
        }

        let input = route.read(&request, captured, body)?;
        let caller = Caller::new(Arc::clone(front), &principal, access.request_id.clone());
        let caller = seen.caller.insert(Arc::new(caller));
        match route.call(Arc::clone(caller), input, request).await {
            Ok(answer) => finish::own(answer.into_response()),
            Err(error) if error.status().is_server_error() && !error.is_from_response() => {
                Err(ApiError::internal(anyhow::anyhow!("{error}")))
            }
            Err(error) => finish::own(error.into_response()),
        }
    }
}

/// The scope that an operation needs.
fn needed_scope(operation: &Operation) -> Result<Option<Scope>, <Scope as FromStr>::Err> {
    operation.scope.map(str::parse).transpose()
}

impl Endpoint for Gate {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let front = &self.front;
        let access = web::access::of(&request);
        access.set(LogSubject::Call { operation: None, key: None });
        let mut seen = Seen {
            standing: None,
            caller: None,
            page: None,
            place: None,
            operation: None,
            record: None,
            error: None,
        };
        let conditions = finish::Conditions::of(&request);
        let outcome = catch(self.admit(&access, &mut seen, request)).await;
        let outcome =
            outcome.unwrap_or_else(|panic| Err(ApiError::internal(anyhow::anyhow!("panicked: {panic}"))));
        let response = outcome
            .unwrap_or_else(|error| error.into_response(&access.request_id, &front.settings.public_url));
        let response = finish::finish(front, &access, &mut seen, &conditions, response).await;
        if let Some(record) = seen.record.take() {
            record.end(front, &access, &seen, response.status().as_u16());
        }
        Ok(response)
    }
}
