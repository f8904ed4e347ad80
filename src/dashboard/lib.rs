//! The workspace's dashboard: pages made on the server, forms that work without a script.
//!
//! [`Dashboard`] is the endpoint: [`gate`] looks at who asks, from where, and whether a form is one of ours, then a file
//! of [`pages`] answers. Authors of pages use [`Page`](page::Page), [`Form`](form::Form), [`ui`] and [`chart`]. Nothing
//! here asks the database by itself: that is `domain`'s.

mod assets;
mod chart;
mod cookies;
mod csrf;
mod failure;
mod flash;
mod form;
mod frame;
mod gate;
mod origin;
mod page;
mod pages;
mod position;
mod query;
mod routes;
mod span;
mod ui;
mod visit;

use poem::http::Method;

pub use gate::Dashboard;

/// Whether a path is one of the dashboard's.
pub fn serves(path: &str) -> bool {
    matches!(path, "/login" | "/logout" | "/set-password" | "/dashboard") || path.starts_with("/dashboard/")
}

/// Every address of the dashboard with a method that it takes, as the router has them: `GET /dashboard/orders/:order`. The
/// files of [`assets`] are not among them.
pub fn routes() -> Vec<(Method, &'static str)> {
    pages::routes().table()
}
