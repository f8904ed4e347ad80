//! The pages of the dashboard, one module per section, and their routes.

mod confirm_identity;
mod courses;
mod keys;
mod logs;
mod members;
mod orders;
mod overview;
mod reset_password;
mod sandbox;
mod security;
mod settings;
mod sign_in;
mod sign_in_code;
mod sign_in_link;
pub(crate) mod sign_in_provider;
mod students;
mod time_zone;
mod webhooks;
mod workspaces;

use super::routes::RouteTable;

/// Returns the routes of all pages.
pub(super) fn routes() -> RouteTable {
    let route = sign_in::routes(RouteTable::new());
    let route = sign_in_code::routes(route);
    let route = sign_in_link::routes(route);
    let route = sign_in_provider::routes(route);
    let route = reset_password::routes(route);
    let route = overview::routes(route);
    let route = keys::routes(route);
    let route = logs::routes(route);
    let route = webhooks::routes(route);
    let route = courses::routes(route);
    let route = students::routes(route);
    let route = orders::routes(route);
    let route = workspaces::routes(route);
    let route = sandbox::routes(route);
    let route = time_zone::routes(route);
    let route = members::routes(route);
    let route = confirm_identity::routes(route);
    let route = security::routes(route);
    settings::routes(route)
}
