//! The table of routes. The router is built from it, and tests compare it with the pages that they request.
//!
//! Every route states the permission that it requires, or that it is public. A member without the permission does not reach the
//! handler. Without the second factor that a workspace requires, only the routes that need [`Permission::UseAccount`] are open.
//!
//! The table wraps the routes of `poem`, which cannot be listed.

use poem::PathPattern;
use poem::error::MethodNotAllowedError;
use poem::http::Method;
use poem::{Endpoint, IntoEndpoint, Request, Response, RouteMethod};

use super::context::{CurrentRoles, context};
use super::error::PageError;
use domain::roles::Permission;
use domain::sessions::Viewer;

/// The access to a route that visitors may use.
pub(super) const PUBLIC: Option<Permission> = None;

/// The routes of the dashboard, each with its methods.
#[derive(Default)]
pub(super) struct RouteTable {
    router: poem::Route,
    table: Vec<(Method, &'static str, Option<Permission>)>,
}

impl RouteTable {
    /// Returns an empty table.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a route. A segment `:name` is passed to the handler.
    pub(super) fn at(mut self, path: &'static str, methods: MethodHandlers) -> Self {
        let routes = methods.access.iter().map(|(method, permission)| (method.clone(), path, *permission));
        self.table.extend(routes);
        Self { router: self.router.at(path, methods), table: self.table }
    }

    /// Returns the router.
    pub(super) fn router(self) -> poem::Route {
        self.router
    }

    /// Returns the routes in the order in which they were added: method, path and required permission.
    pub(super) fn table(self) -> Vec<(Method, &'static str, Option<Permission>)> {
        self.table
    }
}

/// The handlers of a path, by method.
pub(super) struct MethodHandlers {
    handlers: RouteMethod,
    /// The permission that each method requires; `None` if it is public.
    access: Vec<(Method, Option<Permission>)>,
}

impl MethodHandlers {
    /// Adds a handler of POST.
    pub(super) fn post<E: IntoEndpoint<Endpoint: 'static>>(
        mut self,
        access: impl Into<Option<Permission>>,
        endpoint: E,
    ) -> Self {
        self.access.push((Method::POST, access.into()));
        Self { handlers: self.handlers.post(endpoint), access: self.access }
    }

    /// Checks that the user may use the method, and passes the permission to the handler.
    fn authorize(&self, request: &mut Request) -> Result<(), PageError> {
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let access = self.access.iter().find(|(known, _)| known == method);
        let Some((_, Some(permission))) = access else { return Ok(()) };
        let roles = request.extensions().get::<CurrentRoles>().ok_or(PageError::SessionEnded)?.0;
        if !roles.allow(*permission) {
            return Err(PageError::Forbidden);
        }
        let context = context(request)?;
        if permission.needs_live_data() && context.viewer.as_ref().is_some_and(Viewer::is_in_sandbox) {
            return Err(PageError::LiveDataNeeded);
        }
        let lacks_second_factor = context.viewer.as_ref().is_some_and(Viewer::lacks_second_factor);
        if lacks_second_factor && *permission != Permission::UseAccount {
            return Err(PageError::SecondFactorRequired);
        }
        request.extensions_mut().insert(*permission);
        Ok(())
    }
}

impl Endpoint for MethodHandlers {
    type Output = Response;

    /// Calls the handler of the method. The handler of GET also serves HEAD.
    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        if let Some(PathPattern(route)) = request.data() {
            web::request_context::of(&request).set_route(route.to_string());
        }
        self.authorize(&mut request)?;
        self.handlers.call(request).await.map_err(|error| {
            if error.is::<MethodNotAllowedError>() {
                PageError::MethodNotAllowed { allowed: allowed(&self.access) }.into()
            } else {
                error
            }
        })
    }
}

/// Returns the value of the header `Allow` (RFC 9110, section 10.2.1) of a path with handlers of these methods.
fn allowed(access: &[(Method, Option<Permission>)]) -> &'static str {
    let has = |method| access.iter().any(|(known, _)| *known == method);
    match (has(Method::GET), has(Method::POST)) {
        (true, true) => "GET, HEAD, POST",
        (true, false) => "GET, HEAD",
        (false, _) => "POST",
    }
}

/// Returns a handler of GET.
pub(super) fn get<E: IntoEndpoint<Endpoint: 'static>>(
    access: impl Into<Option<Permission>>,
    endpoint: E,
) -> MethodHandlers {
    MethodHandlers { handlers: poem::get(endpoint), access: vec![(Method::GET, access.into())] }
}

/// Returns a handler of POST.
pub(super) fn post<E: IntoEndpoint<Endpoint: 'static>>(
    access: impl Into<Option<Permission>>,
    endpoint: E,
) -> MethodHandlers {
    MethodHandlers { handlers: poem::post(endpoint), access: vec![(Method::POST, access.into())] }
}
