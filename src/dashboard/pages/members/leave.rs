//! Leaving a workspace, which every member but the owner can do.

use askama::Template;
use poem::handler;

use super::{owner_not_removable, remove_member};
use crate::error::PageError;
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui;
use domain::roles::Permission;
use domain::users;

/// The path of the page.
pub(super) const LEAVE: &str = "/dashboard/settings/leave";
const SETTINGS: &str = "/dashboard/settings";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(LEAVE, get(Permission::UseAccount, confirm).post(Permission::UseAccount, leave))
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct LeavePage<'a> {
    frame: Frame,
    confirm: ui::ConfirmForm<'a>,
}

#[handler]
async fn confirm(request: DashboardRequest) -> PageResponse {
    let viewer = request.viewer();
    if viewer.is_in_sandbox() {
        return Err(PageError::LiveDataNeeded);
    }
    let member = users::get(request.app(), request.account(), viewer.user).await?;
    if users::is_owner(&viewer.live_workspace, &member) {
        return request.redirect_with(SETTINGS, &owner_not_removable(&request, &member));
    }
    let frame = request.frame(Section::Settings, "Leave this workspace?");
    let confirm = ui::ConfirmForm {
        csrf: frame.csrf(),
        text: "You will be signed out of this workspace immediately. To return, you need a new invitation. API keys and \
               webhooks that you created keep working.",
        action: LEAVE,
        button: "Leave workspace",
        back: SETTINGS,
    };
    request.show(&LeavePage { frame, confirm })
}

#[handler]
async fn leave(request: DashboardRequest) -> PageResponse {
    if request.viewer().is_in_sandbox() {
        return Err(PageError::LiveDataNeeded);
    }
    remove_member(&request, request.viewer().user).await
}
