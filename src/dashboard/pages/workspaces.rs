//! Switching to another workspace of the same user.

use poem::handler;
use secrecy::ExposeSecret;

use crate::cookies::{self, CookieKind};
use crate::form::Form;
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, post};
use domain::audit::{self, Action, Actor};
use domain::roles::Permission;
use domain::sessions;
use foundation::id::WorkspaceId;

/// The page after switching.
const HOME: &str = "/dashboard";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at("/dashboard/workspace", post(Permission::UseAccount, switch))
}

#[handler]
async fn switch(request: DashboardRequest, form: Form) -> PageResponse {
    let to: WorkspaceId = form.text("workspace").parse()?;
    if to == request.workspace() {
        return request.redirect(HOME);
    }
    let app = request.app();
    let mut write = request.begin_write().await?;
    let (user, session, token) = sessions::switch_workspace(app, &mut write, request.viewer(), to).await?;
    let actor = Actor { user: Some(user.id), ..request.actor() };
    let entry = (Action::WorkspaceEntered, session.to_string(), "");
    audit::append(app, &mut write, to, &actor, entry).await?;
    request.commit(write, Action::WorkspaceLeft, request.viewer().session, "").await?;
    let mut response = request.redirect(HOME)?;
    cookies::set(
        response.headers_mut(),
        CookieKind::Session,
        request.uses_secure_cookies(),
        token.expose_secret(),
    );
    Ok(response)
}
