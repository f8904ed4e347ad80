//! The table of routes. The router is built from it, and tests compare it with the pages that they request.
//!
//! The table wraps the routes of `poem`, which cannot be listed.

use poem::PathPattern;
use poem::error::MethodNotAllowedError;
use poem::http::Method;
use poem::{Endpoint, IntoEndpoint, Request, Response, RouteMethod};

use super::error::PageError;

/// The routes of the dashboard, each with its methods.
#[derive(Default)]
pub(super) struct RouteTable {
    router: poem::Route,
    table: Vec<(Method, &'static str)>,
}

impl RouteTable {
    /// Returns an empty table.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a route. A segment `:name` is passed to the handler.
    pub(super) fn at(mut self, path: &'static str, methods: MethodHandlers) -> Self {
        self.table.extend(methods.methods.iter().map(|method| (method.clone(), path)));
        Self { router: self.router.at(path, methods), table: self.table }
    }

    /// Returns the router.
    pub(super) fn router(self) -> poem::Route {
        self.router
    }

    /// Returns the methods and paths, in the order in which they were added.
    pub(super) fn table(self) -> Vec<(Method, &'static str)> {
        self.table
    }
}

/// The handlers of a path, by method.
pub(super) struct MethodHandlers {
    handlers: RouteMethod,
    methods: Vec<Method>,
}

impl MethodHandlers {
    /// Adds a handler of POST.
    pub(super) fn post<E: IntoEndpoint<Endpoint: 'static>>(mut self, endpoint: E) -> Self {
        self.methods.push(Method::POST);
        Self { handlers: self.handlers.post(endpoint), methods: self.methods }
    }
}

impl Endpoint for MethodHandlers {
    type Output = Response;

    /// Calls the handler of the method. The handler of GET also serves HEAD.
    async fn call(&self, request: Request) -> poem::Result<Response> {
        if let Some(PathPattern(route)) = request.data() {
            web::request_context::of(&request).set_route(route.to_string());
        }
        self.handlers.call(request).await.map_err(|error| {
            if error.is::<MethodNotAllowedError>() {
                PageError::MethodNotAllowed { allowed: allowed(&self.methods) }.into()
            } else {
                error
            }
        })
    }
}

/// Returns the value of the header `Allow` (RFC 9110, section 10.2.1) of a path with handlers of these methods.
fn allowed(methods: &[Method]) -> &'static str {
    match (methods.contains(&Method::GET), methods.contains(&Method::POST)) {
        (true, true) => "GET, HEAD, POST",
        (true, false) => "GET, HEAD",
        (false, _) => "POST",
    }
}

/// Returns a handler of GET.
pub(super) fn get<E: IntoEndpoint<Endpoint: 'static>>(endpoint: E) -> MethodHandlers {
    MethodHandlers { handlers: poem::get(endpoint), methods: vec![Method::GET] }
}

/// Returns a handler of POST.
pub(super) fn post<E: IntoEndpoint<Endpoint: 'static>>(endpoint: E) -> MethodHandlers {
    MethodHandlers { handlers: poem::post(endpoint), methods: vec![Method::POST] }
}
