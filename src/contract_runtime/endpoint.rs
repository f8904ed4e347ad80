//! Serves a contract as a poem endpoint: routing, authentication, validation and the call of the operation.
//!
//! A server with needs of its own, such as rate limits, can use [`Router`] directly.

use std::sync::Arc;

use poem::error::ReadBodyError;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Endpoint, Request, Response};

use super::router::{CallError, RouteMatch, Router};
use super::security::{Denial, PresentedCredential, RequiredSchemes};
use super::service::Service;

/// The default of [`ContractEndpoint::with_max_body_bytes`]: 1 MiB.
pub const MAX_BODY_BYTES: usize = 1024 * 1024;

/// A service that authenticates its callers and chooses the form of error responses.
pub trait Host: Service {
    /// Returns the caller that these credentials identify.
    ///
    /// `credentials` are those of one alternative of the operation's `security`, and there is one for each scheme of it.
    /// Each names the scopes that it must have. There are none if the contract allows anonymous callers. If the caller is
    /// denied, this method is called again for the next alternative whose credentials the request contains.
    ///
    /// # Errors
    /// Returns why the credentials are not accepted.
    fn authenticate(
        &self,
        request: &Request,
        credentials: &[PresentedCredential<'_>],
    ) -> impl Future<Output = Result<Self::Caller, Denial>> + Send;

    /// Returns the response for a request that is not a call of an operation.
    fn reject(&self, rejection: Rejection) -> Response;
}

/// Why a request does not reach an operation, or gets no response of it.
#[derive(Debug)]
pub enum Rejection {
    /// No operation has the path.
    NotFound,
    /// Operations with the path have other methods. Contains the value of the `Allow` header.
    MethodNotAllowed(HeaderValue),
    /// The request satisfies no alternative of the operation's `security`, or its credentials are not valid.
    Unauthenticated(RequiredSchemes),
    /// The credentials are valid, but do not allow the operation.
    Forbidden(RequiredSchemes),
    /// The body is larger than the maximum, in bytes.
    BodyTooLarge(usize),
    /// The connection failed before the whole body was received.
    IncompleteBody,
    /// The request violates the contract.
    Invalid(CallError),
    /// The operation failed without a response, or the credentials could not be checked.
    Internal(poem::Error),
}

/// Serves a contract.
pub struct ContractEndpoint<H> {
    router: Router,
    host: Arc<H>,
    max_body_bytes: usize,
}

impl<H: Host> ContractEndpoint<H> {
    /// Creates an endpoint that calls the operations of `router`.
    pub fn new(router: Router, host: Arc<H>) -> Self {
        Self { router, host, max_body_bytes: MAX_BODY_BYTES }
    }

    /// Sets the maximum size of a request body in bytes. It does not apply to bodies that are read line by line.
    pub fn with_max_body_bytes(self, max_body_bytes: usize) -> Self {
        Self { max_body_bytes, ..self }
    }

    /// Returns the response of the host. Adds the challenges that a response with status 401 must have (RFC 9110, section
    /// 11.6.1), unless the host has set them.
    fn reject(&self, rejection: Rejection) -> Response {
        let challenges = match &rejection {
            Rejection::Unauthenticated(security) => security.challenges(),
            _ => Vec::new(),
        };
        let mut response = self.host.reject(rejection);
        if response.status() == StatusCode::UNAUTHORIZED
            && !response.headers().contains_key(header::WWW_AUTHENTICATE)
        {
            for challenge in challenges {
                response.headers_mut().append(header::WWW_AUTHENTICATE, challenge);
            }
        }
        response
    }

    async fn handle(&self, mut request: Request) -> Result<Response, Rejection> {
        let (route, path) = match self.router.find(request.method().as_str(), request.uri().path()) {
            RouteMatch::Operation(route, path) => (route, path),
            RouteMatch::MethodNotAllowed(allow) => return Err(Rejection::MethodNotAllowed(allow)),
            RouteMatch::NotFound => return Err(Rejection::NotFound),
        };
        let (host, sent) = (&self.host, &request);
        let verify = |credentials: Vec<_>| async move { host.authenticate(sent, &credentials).await };
        let caller = match route.security.authenticate(sent, verify).await {
            Ok(caller) => Arc::new(caller),
            Err(Denial::Unauthenticated) => return Err(Rejection::Unauthenticated(route.security.clone())),
            Err(Denial::Forbidden) => return Err(Rejection::Forbidden(route.security.clone())),
            Err(Denial::Failed(error)) => return Err(Rejection::Internal(error)),
        };
        let input = if route.operation.is_streamed() {
            let body = request.take_body();
            route.validate_stream(&request, path, body).map_err(Rejection::Invalid)?
        } else {
            let body = request.take_body().into_bytes_limit(self.max_body_bytes).await;
            let body = body.map_err(|error| match error {
                ReadBodyError::PayloadTooLarge => Rejection::BodyTooLarge(self.max_body_bytes),
                _ => Rejection::IncompleteBody,
            })?;
            route.validate(&request, path, body).map_err(Rejection::Invalid)?
        };
        match route.call(caller, input, request).await {
            Ok(response) => Ok(response),
            Err(error) if error.is_from_response() => Ok(error.into_response()),
            Err(error) => Err(Rejection::Internal(error)),
        }
    }
}

impl<H: Host> Endpoint for ContractEndpoint<H> {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        Ok(self.handle(request).await.unwrap_or_else(|rejection| self.reject(rejection)))
    }
}
