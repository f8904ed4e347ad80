//! The pages, one file a place of the navigation, and the table of their addresses.

mod entrance;
mod keys;
mod settings;

use poem::{Route, get, handler};

use super::page::{Answer, Page};

/// All pages.
pub(super) fn routes() -> Route {
    let route = Route::new().at("/dashboard", get(home));
    let route = entrance::routes(route);
    let route = keys::routes(route);
    settings::routes(route)
}

/// The first page.
#[handler]
async fn home(page: Page) -> Answer {
    page.redirect("/dashboard/developer")
}
