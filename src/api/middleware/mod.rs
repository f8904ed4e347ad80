//! Everything around the operations, in the order the contract gives: request id, body cap, authentication, rate
//! limit, route, scope; then the framework with media type, validation and the operation; then the headers.
//!
//! [`Gate`] answers all paths under `/api`. Whatever happens inside (a framework fault, a panic) leaves it as an
//! answer of the API, with its envelope and all its headers.

mod body;
mod caller;
mod compress;
pub mod etag;
mod finish;
mod log;
mod record;
pub mod request_id;
#[cfg(test)]
mod tests;
mod throttle;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use poem::{Endpoint, IntoResponse, Request, Response};
use poem_openapi::OpenApi;

pub use body::CAP as BODY_CAP;
pub use caller::address as client_address;
pub use compress::{Coding, Packable};

use super::call::Caller;
use super::error::ApiError;
use super::front::Front;
use super::pages::{Look, Page, Place};
use super::patterns;
use super::rejection::Rejection;
use contract_runtime::contract::Contract;
use contract_runtime::router::{Found, Router};
use domain::scope::Scope;
use log::Entry;
use rate_limit::{Draw, Standing};
use record::Record;

/// A version of the API.
pub struct Gate {
    front: Arc<Front>,
    router: Router,
}

/// What is known of a request so far: enough for its headers and its log line, however far it came.
pub(crate) struct Seen {
    /// Where the caller stands; `None` until the limiter was asked.
    standing: Option<Standing>,
    /// Set once the request was admitted to an operation.
    caller: Option<Arc<Caller>>,
    /// The answer, when it was ready.
    page: Option<Arc<Page>>,
    /// Where the answer belongs, when it can be kept.
    place: Option<Place>,
    /// For the log; holds the request's id.
    entry: Entry,
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
            operation.scope.map(str::parse::<Scope>).transpose()?;
        }
        Ok(Self { front, router: Router::new(contract, api, patterns::describe)? })
    }

    /// Goes through the checks, in order, and on to the operation.
    async fn admit(&self, seen: &mut Seen, mut request: Request) -> Result<Response, ApiError> {
        let front = &self.front;
        if let Some(rejection) = request.extensions().get::<Rejection>() {
            let error = ApiError::rejected(*rejection);
            if *rejection == Rejection::BUSY {
                // There may be thousands of them; the connections' own log line counts them.
                seen.entry.silence();
            }
            let (subject, caps) = throttle::bucket(front, &request, None);
            seen.standing =
                Some(front.limiter.draw(&front.app.db, &front.app.clock, subject, caps).await.standing());
            return Err(error);
        }
        let body = body::take(&mut request).await;
        let (principal, look_up) = caller::authenticate(front, &request).await?;
        seen.record = principal.as_ref().map(|principal| Record::begin(front, &request, principal));
        let (subject, caps) = throttle::bucket(front, &request, principal.as_ref());
        let draw = front.limiter.draw(&front.app.db, &front.app.clock, subject, caps).await;
        drop(look_up);
        seen.standing = Some(draw.standing());
        seen.entry.key = principal.map(|principal| principal.key);
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
        seen.entry.operation = Some(route.operation.id);
        if let Some(name) = route.operation.scope
            && !name.parse().is_ok_and(|scope| principal.scopes.contains(scope))
        {
            return Err(ApiError::forbidden(name));
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
        let caller = Caller::new(Arc::clone(front), &principal, seen.entry.request_id().to_owned());
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

impl Endpoint for Gate {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let front = &self.front;
        let mut seen = Seen {
            standing: None,
            caller: None,
            page: None,
            place: None,
            entry: Entry::begin(&request, request_id::of(&request, &front.app)),
            record: None,
            error: None,
        };
        let wish = finish::Wish::of(&request);
        // The framework's own state is gone with the request; what is borrowed here is only read afterwards.
        let outcome = AssertUnwindSafe(self.admit(&mut seen, request)).catch_unwind().await;
        let response = match outcome {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => error.into_response(seen.entry.request_id(), &front.settings.public_url),
            Err(panic) => ApiError::internal(anyhow::anyhow!("panicked: {}", log::panic_text(&*panic)))
                .into_response(seen.entry.request_id(), &front.settings.public_url),
        };
        let response = finish::finish(front, &mut seen, &wish, response).await;
        seen.entry.end(response.status());
        if let Some(record) = seen.record.take() {
            record.end(front, &seen, response.status().as_u16(), seen.error.as_ref());
        }
        Ok(response)
    }
}
