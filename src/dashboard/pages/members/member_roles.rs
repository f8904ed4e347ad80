//! The form that changes the roles of a member.

use askama::Template;
use poem::handler;
use poem::web::Path;

use super::{MEMBERS, begin_locked, owner_not_removable};
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get};
use crate::ui::{self, FormChoice};
use domain::Error;
use domain::audit::Action;
use domain::roles::{Permission, Role, Roles};
use domain::users::{self, RoleChange, User};
use foundation::id::UserId;

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route.at(
        "/dashboard/settings/people/:user/roles",
        get(Permission::ManageMembers, show_form).post(Permission::ManageMembers, change),
    )
}

/// Returns the options of the field `role`.
pub(super) fn choices(selected: Roles) -> Vec<FormChoice<'static>> {
    let choice = |role: &Role| FormChoice {
        value: role.as_str(),
        label: role.as_str(),
        hint: role.description(),
        is_selected: selected.contains(*role),
    };
    Role::ALL.iter().map(choice).collect()
}

/// Returns the roles that are selected in a form. Ignores unknown ones.
pub(super) fn selected(form: &Form) -> Roles {
    form.values("role").filter_map(|role| role.parse::<Role>().ok()).collect()
}

#[derive(Template)]
#[template(path = "members/roles.html")]
struct RolesPage {
    frame: Frame,
    member: User,
    choices: Vec<FormChoice<'static>>,
    errors: FormErrors,
}

impl RolesPage {
    fn new(request: &DashboardRequest, member: User, selected: Roles, errors: FormErrors) -> Self {
        let frame = request.frame(Section::Settings, format!("Roles of {}", member.email));
        Self { frame, member, choices: choices(selected), errors }
    }
}

#[handler]
async fn show_form(request: DashboardRequest, Path(member): Path<String>) -> PageResponse {
    let member = users::get(request.app(), request.account(), member.parse()?).await?;
    if users::is_owner(&request.viewer().live_workspace, &member) {
        return request.redirect_with(MEMBERS, &owner_not_removable(&request, &member));
    }
    let roles = member.assigned_roles;
    request.show(&RolesPage::new(&request, member, roles, FormErrors::default()))
}

#[handler]
async fn change(request: DashboardRequest, Path(member): Path<String>, form: Form) -> PageResponse {
    request.require_recent_sign_in(MEMBERS)?;
    let member: UserId = member.parse()?;
    let roles = selected(&form);
    let write = begin_locked(&request).await?;
    let changed = match users::set_roles(&write, request.account(), member, roles).await {
        Err(Error::Invalid(errors)) => {
            let member = users::get_in(&write, request.account(), member).await?;
            return request.show_errors(&RolesPage::new(&request, member, roles, errors.into()));
        }
        result => result?,
    };
    match changed {
        RoleChange::Owner(owner) => request.redirect_with(MEMBERS, &owner_not_removable(&request, &owner)),
        RoleChange::Unchanged(member) => {
            let text = format!("{} already has these roles: {roles}.", member.email);
            request.redirect_with(MEMBERS, &Flash::info(text))
        }
        RoleChange::Changed(member) => {
            let detail = format!("{}: {roles}", member.email);
            request.commit(write, Action::RolesChanged, member.id, &detail).await?;
            let text = format!("{} now has these roles: {roles}.", member.email);
            // Every role may read the list, also that of an owner who is no longer one.
            request.redirect_with(MEMBERS, &Flash::success(text))
        }
    }
}
