//! The pages, one file a place of the navigation, and the table of their addresses.

mod courses;
mod entrance;
mod keys;
mod logs;
mod orders;
mod overview;
mod people;
mod settings;
mod students;
mod webhooks;
mod workspaces;

use super::routes::Route;

/// All pages.
pub(super) fn routes() -> Route {
    let route = entrance::routes(Route::new());
    let route = overview::routes(route);
    let route = keys::routes(route);
    let route = logs::routes(route);
    let route = webhooks::routes(route);
    let route = courses::routes(route);
    let route = students::routes(route);
    let route = orders::routes(route);
    let route = workspaces::routes(route);
    let route = people::routes(route);
    settings::routes(route)
}
