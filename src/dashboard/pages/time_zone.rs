//! Switching between the browser's time zone and UTC.

use poem::handler;

use super::sign_in::safe_next;
use crate::cookies::{self, CookieKind};
use crate::form::Form;
use crate::frame::ZoneSwitch;
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, post};
use domain::roles::Permission;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at("/dashboard/time-zone", post(Permission::UseAccount, switch))
}

#[handler]
async fn switch(request: DashboardRequest, form: Form) -> PageResponse {
    let mut response = request.redirect(safe_next(form.text("back")))?;
    let (headers, secure) = (response.headers_mut(), request.uses_secure_cookies());
    if form.text("show") == ZoneSwitch::UTC {
        cookies::set(headers, CookieKind::ShowUtc, secure, "1");
    } else {
        cookies::clear(headers, CookieKind::ShowUtc, secure);
    }
    Ok(response)
}
