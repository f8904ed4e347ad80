//! From one workspace to another of the same person.

use poem::handler;
use secrecy::ExposeSecret;

use crate::cookies::{self, Kind};
use crate::form::Form;
use crate::page::{Answer, Page};
use crate::routes::{Route, post};
use domain::audit::{self, Action, Actor};
use domain::sessions;
use foundation::id::WorkspaceId;

/// Where one begins.
const HOME: &str = "/dashboard";

pub(super) fn routes(route: Route) -> Route {
    route.at("/dashboard/workspace", post(change))
}

#[handler]
async fn change(page: Page, form: Form) -> Answer {
    let to: WorkspaceId = form.text("workspace").parse()?;
    if to == page.workspace() {
        return page.redirect(HOME);
    }
    let app = page.app();
    let mut write = page.begin_write().await?;
    let (user, session, token) = sessions::change(app, &mut write, page.viewer(), to).await?;
    let actor = Actor { user: Some(user.id), ..page.actor() };
    let told = (Action::WorkspaceEntered, session.to_string(), "");
    audit::append(app, &mut write, to, &actor, told).await?;
    page.commit(write, Action::WorkspaceLeft, page.viewer().session, "").await?;
    let mut response = page.redirect(HOME)?;
    cookies::set(response.headers_mut(), Kind::Session, page.is_secure(), token.expose_secret());
    Ok(response)
}
