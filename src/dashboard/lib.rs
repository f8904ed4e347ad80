//! The dashboard of a workspace: pages rendered on the server, with forms that work without scripts.
//!
//! [`Dashboard`] is the endpoint. The [`pipeline`] identifies the browser, checks forms and calls a handler of [`pages`].
//! Handlers use [`DashboardRequest`](request::DashboardRequest), [`Form`](form::Form), [`ui`] and [`chart`]. All database
//! access goes through the `domain` crate.

mod assets;
mod chart;
mod context;
mod cookies;
mod csrf;
mod device;
mod error;
mod flash;
mod form;
mod frame;
mod origin;
mod pages;
mod pipeline;
mod position;
mod query;
mod request;
mod routes;
mod steps;
mod time_span;
mod ui;

use domain::roles::Permission;
use poem::http::Method;

pub use pipeline::Dashboard;

/// Returns whether the dashboard serves this path.
pub fn serves(path: &str) -> bool {
    matches!(path, "/login" | "/logout" | "/reset-password" | "/set-password" | "/sign-in" | "/dashboard")
        || path.starts_with("/dashboard/")
        || path.starts_with("/sign-in/")
}

/// Returns the icon of the server, for `/favicon.ico`.
pub fn icon() -> poem::Response {
    assets::icon()
}

/// Returns every route of the dashboard: its method, its path pattern as registered with the router (`/dashboard/orders/:order`),
/// and the permission that it requires of members, or `None` if visitors may use it. Excludes the static files of [`assets`].
pub fn routes() -> Vec<(Method, &'static str, Option<Permission>)> {
    pages::routes().table()
}
