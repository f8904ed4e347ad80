//! The members of a workspace: list, invitations, roles, password links by mail, removals. The path of the page is `people`.
//!
//! Links to set a password are only sent by mail and never shown on a page.

mod leave;
mod member_roles;

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::error::PageError;
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::ui::{self, FormChoice, Tone};
use domain::audit::Action;
use domain::roles::{Permission, Role, Roles};
use domain::users::{self, MAX_MAILS_PER_HOUR, User, UserRemoval, WorkspaceMember};
use domain::{Error, WriteOutcome};
use foundation::database::Write;
use foundation::id::UserId;

pub(super) const MEMBERS: &str = "/dashboard/settings/people";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    member_roles::routes(leave::routes(route))
        .at(MEMBERS, get(Permission::ReadWorkspace, list).post(Permission::ManageMembers, invite))
        .at("/dashboard/settings/people/:user/link", post(Permission::ManageMembers, link))
        .at(
            "/dashboard/settings/people/:user/remove",
            get(Permission::ManageMembers, confirm_remove).post(Permission::ManageMembers, remove),
        )
}

#[derive(Template)]
#[template(path = "members/list.html")]
struct MemberListPage {
    frame: Frame,
    members: Vec<WorkspaceMember>,
    viewer: UserId,
    email: String,
    /// The selected roles of the invitation.
    roles: Roles,
    errors: FormErrors,
    mail_hint: &'static str,
    /// Whether members can sign in with passwords.
    has_passwords: bool,
}

impl MemberListPage {
    fn role_choices(&self) -> Vec<FormChoice<'static>> {
        member_roles::choices(self.roles)
    }
}

/// Returns the page with the submitted email address and roles, and their errors.
async fn list_page(
    request: &DashboardRequest,
    email: &str,
    roles: Roles,
    errors: FormErrors,
) -> Result<MemberListPage, PageError> {
    let workspace = &request.viewer().live_workspace;
    Ok(MemberListPage {
        frame: request.frame(Section::Settings, "Members"),
        members: users::list_members(request.app(), workspace).await?,
        viewer: request.viewer().user,
        email: email.to_owned(),
        roles,
        errors,
        has_passwords: request.app().config.sign_in.password_sign_in,
        mail_hint: if has_mail_server(request) {
            "The new member receives an email with sign-in instructions."
        } else {
            "No mail server is configured: the email with sign-in instructions is written to the folder \u{201c}mail\u{201d} \
             in the data folder of this server."
        },
    })
}

/// Returns the color of a role's badge.
fn tone(role: &Role) -> Tone {
    if *role == Role::Owner { Tone::Good } else { Tone::Quiet }
}

fn has_mail_server(request: &DashboardRequest) -> bool {
    request.app().config.mail.smtp_url.is_some()
}

#[handler]
async fn list(request: DashboardRequest) -> PageResponse {
    request.show(&list_page(&request, "", Roles::DEFAULT, FormErrors::default()).await?)
}

/// Begins a write transaction that locks the workspace, so that nobody can remove the current user or change their roles in the
/// meantime.
///
/// # Errors
/// Returns an error when the user was removed or lost the permission before.
async fn begin_locked(request: &DashboardRequest) -> Result<Write, PageError> {
    let write = request.begin_write().await?;
    users::lock(&write, request.account()).await?;
    request.authorize(&write).await?;
    Ok(write)
}

/// Returns why no email with a link can be sent now, as the message of a form error, or `None` if one can be sent.
async fn mail_error(
    request: &DashboardRequest,
    write: &Write,
    member: &User,
) -> Result<Option<String>, PageError> {
    if !users::can_receive_mail(member) {
        return Ok(Some("is not a deliverable email address".to_owned()));
    }
    if request.app().config.server.url_for_links().is_none() {
        let reason = "No link can be sent, because the server has no public URL; the operator can set it with \
                      --public-url";
        return Ok(Some(reason.to_owned()));
    }
    let is_over_limit = !users::has_mail_quota(write, request.account()).await?;
    Ok(is_over_limit.then(|| {
        format!(
            "No link can be sent now, because this workspace reached the limit of {MAX_MAILS_PER_HOUR} emails per hour; \
             try again later"
        )
    }))
}

#[handler]
async fn invite(request: DashboardRequest, form: Form) -> PageResponse {
    let email = form.text("email").trim();
    request.require_recent_sign_in(MEMBERS)?;
    let roles = member_roles::selected(&form);
    match invite_member(&request, &form, email, roles).await? {
        Ok(member) => {
            let text = format!("{} was invited. {}", member.email, mail_status(&request));
            request.redirect_with(MEMBERS, &Flash::success(text))
        }
        Err(errors) => request.show_errors(&list_page(&request, email, roles, errors).await?),
    }
}

/// Invites a member, or returns the errors of the form.
async fn invite_member(
    request: &DashboardRequest,
    form: &Form,
    email: &str,
    roles: Roles,
) -> Result<Result<User, FormErrors>, PageError> {
    let field_error = |message: &str| {
        let mut errors = FormErrors::default();
        errors.add("email", message);
        Ok(Err(errors))
    };
    let app = request.app();
    let mut write = begin_locked(request).await?;
    let member = match users::add(app, &mut write, request.account(), email, roles).await {
        Err(Error::Invalid(errors)) => return Ok(Err(errors.into())),
        Err(error) => return Err(error.into()),
        Ok(WriteOutcome { changed: false, .. }) => {
            return field_error("already belongs to a member of this workspace");
        }
        Ok(WriteOutcome { record, .. }) => record,
    };
    if let Some(reason) = mail_error(request, &write, &member).await? {
        return field_error(&reason);
    }
    users::invite(app, &mut write, &request.viewer().live_workspace, &member).await?;
    let detail = format!("{}: {roles}", member.email);
    request.commit_once(form, write, Action::UserInvited, member.id, &detail).await?;
    Ok(Ok(member))
}

/// Returns what happens to the queued email.
fn mail_status(request: &DashboardRequest) -> &'static str {
    if has_mail_server(request) {
        "The email was queued."
    } else {
        "No mail server is configured: the email is written to the folder \u{201c}mail\u{201d} in the data folder \
         of this server."
    }
}

#[handler]
async fn link(request: DashboardRequest, Path(member): Path<String>, form: Form) -> PageResponse {
    request.require_recent_sign_in(MEMBERS)?;
    let member: UserId = member.parse()?;
    let app = request.app();
    if !app.config.sign_in.password_sign_in {
        let text = "No link was sent, because password sign-in is switched off on this server.";
        return request.redirect_with(MEMBERS, &Flash::info(text));
    }
    let mut write = begin_locked(&request).await?;
    let member = users::get_in(&write, request.account(), member).await?;
    if let Some(reason) = mail_error(&request, &write, &member).await? {
        return request.redirect_with(MEMBERS, &Flash::info(ui::error_sentence(&member.email, &reason)));
    }
    users::mail_link(app, &mut write, &request.viewer().live_workspace, &member).await?;
    request.commit_once(&form, write, Action::PasswordLinkCreated, member.id, &member.email).await?;
    let text = format!(
        "Created a new password link for {}. Earlier links from this workspace no longer work. {}",
        member.email,
        mail_status(&request)
    );
    request.redirect_with(MEMBERS, &Flash::success(text))
}

#[derive(Template)]
#[template(path = "members/remove.html")]
struct RemoveMemberPage<'a> {
    frame: Frame,
    confirm: ui::ConfirmForm<'a>,
}

#[handler]
async fn confirm_remove(request: DashboardRequest, Path(member): Path<String>) -> PageResponse {
    let member = users::get(request.app(), request.account(), member.parse()?).await?;
    if users::is_owner(&request.viewer().live_workspace, &member) {
        return request.redirect_with(MEMBERS, &owner_not_removable(&request, &member));
    }
    if member.id == request.viewer().user {
        return request.redirect(leave::LEAVE);
    }
    let frame = request.frame(Section::Settings, format!("Remove {}?", member.email));
    let confirm = ui::ConfirmForm {
        csrf: frame.csrf(),
        text: "Their sessions in this workspace end immediately, and their password links stop working. API keys and webhooks \
               that they created keep working: revoke the keys that only they use.",
        action: &format!("{MEMBERS}/{}/remove", member.id),
        button: "Remove member",
        back: MEMBERS,
    };
    request.show(&RemoveMemberPage { frame, confirm })
}

#[handler]
async fn remove(request: DashboardRequest, Path(member): Path<String>) -> PageResponse {
    request.require_recent_sign_in(MEMBERS)?;
    remove_member(&request, member.parse()?).await
}

/// Removes a member, who can be the current user.
async fn remove_member(request: &DashboardRequest, member: UserId) -> PageResponse {
    let write = begin_locked(request).await?;
    let removed = match users::remove(&write, request.account(), member).await? {
        UserRemoval::Owner(owner) => {
            return request.redirect_with(MEMBERS, &owner_not_removable(request, &owner));
        }
        UserRemoval::Removed(removed) => removed,
    };
    request.commit(write, Action::UserRemoved, removed.id, &removed.email).await?;
    if removed.id == request.viewer().user {
        return request.signed_out(&Flash::success("You left the workspace."));
    }
    request.redirect_with(MEMBERS, &Flash::success(format!("{} was removed.", removed.email)))
}

/// Returns the message that the owner cannot be removed or get other roles, and how to change the owner.
fn owner_not_removable(request: &DashboardRequest, owner: &User) -> Flash {
    Flash::info(format!(
        "{} is the owner of this workspace: this member cannot be removed, and keeps the role owner. To change the owner, send another owner_email from the \
         platform, or ask the operator of this server to run \u{201c}creator-api workspaces set-owner --workspace {} --email \
         EMAIL\u{201d}.",
        owner.email,
        request.viewer().live_workspace.key
    ))
}
