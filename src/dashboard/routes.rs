//! The table of addresses: the router is built from it, and tests hold what they visit against it.
//!
//! It stands in for the framework's own routes, which cannot be asked what they hold.

use poem::http::Method;
use poem::{IntoEndpoint, RouteMethod};

/// The addresses of pages, each with the methods that it takes.
#[derive(Default)]
pub(super) struct Route {
    router: poem::Route,
    table: Vec<(Method, &'static str)>,
}

impl Route {
    /// None yet.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// One more address; `:name` is a part of it that is given to the page.
    pub(super) fn at(mut self, path: &'static str, methods: Methods) -> Self {
        self.table.extend(methods.taken.into_iter().map(|method| (method, path)));
        Self { router: self.router.at(path, methods.route), table: self.table }
    }

    /// What answers.
    pub(super) fn router(self) -> poem::Route {
        self.router
    }

    /// What is answered, in the order in which it was added.
    pub(super) fn table(self) -> Vec<(Method, &'static str)> {
        self.table
    }
}

/// What answers at an address, by method.
pub(super) struct Methods {
    route: RouteMethod,
    taken: Vec<Method>,
}

impl Methods {
    /// A form's target as well.
    pub(super) fn post<E: IntoEndpoint<Endpoint: 'static>>(mut self, endpoint: E) -> Self {
        self.taken.push(Method::POST);
        Self { route: self.route.post(endpoint), taken: self.taken }
    }
}

/// A page.
pub(super) fn get<E: IntoEndpoint<Endpoint: 'static>>(endpoint: E) -> Methods {
    Methods { route: poem::get(endpoint), taken: vec![Method::GET] }
}

/// A form's target that is no page.
pub(super) fn post<E: IntoEndpoint<Endpoint: 'static>>(endpoint: E) -> Methods {
    Methods { route: poem::post(endpoint), taken: vec![Method::POST] }
}
