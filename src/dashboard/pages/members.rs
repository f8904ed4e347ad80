//! The members of a workspace: list, invitations, password links by mail, removals. The path of the page is `people`.
//!
//! Links to set a password are only sent by mail and never shown on a page.

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::error::PageError;
use crate::flash::Flash;
use crate::form::{Form, FormErrors};
use crate::frame::{Frame, Section};
use crate::request::{DashboardRequest, PageResponse};
use crate::routes::{RouteTable, get, post};
use crate::ui;
use domain::audit::Action;
use domain::sessions;
use domain::users::{self, MAX_MAILS_PER_HOUR, User, UserRemoval, WorkspaceMember};
use domain::{Error, WriteOutcome};
use foundation::database::Write;
use foundation::id::UserId;

pub(super) const MEMBERS: &str = "/dashboard/settings/people";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(MEMBERS, get(list).post(invite))
        .at("/dashboard/settings/people/:user/link", post(link))
        .at("/dashboard/settings/people/:user/remove", get(confirm_remove).post(remove))
}

#[derive(Template)]
#[template(path = "members/list.html")]
struct MemberListPage {
    frame: Frame,
    members: Vec<WorkspaceMember>,
    viewer: UserId,
    email: String,
    errors: FormErrors,
    mail_hint: &'static str,
}

/// Returns the page with the submitted email address and its errors.
async fn list_page(
    request: &DashboardRequest,
    email: &str,
    errors: FormErrors,
) -> Result<MemberListPage, PageError> {
    let workspace = &request.viewer().workspace;
    Ok(MemberListPage {
        frame: request.frame(Section::Settings, "Members"),
        members: users::list_members(request.app(), workspace).await?,
        viewer: request.viewer().user,
        email: email.to_owned(),
        errors,
        mail_hint: if has_mail_server(request) {
            "The new member receives an email with sign-in instructions."
        } else {
            "No mail server is configured: the email with sign-in instructions is written to the folder \u{201c}mail\u{201d} \
             in the data folder of this server."
        },
    })
}

fn has_mail_server(request: &DashboardRequest) -> bool {
    request.app().config.mail.smtp_url.is_some()
}

#[handler]
async fn list(request: DashboardRequest) -> PageResponse {
    request.show(&list_page(&request, "", FormErrors::default()).await?)
}

/// Begins a write transaction that locks the workspace, so that nobody can remove the current user in the meantime.
///
/// # Errors
/// Returns [`PageError::SessionEnded`] when the session has ended, for example because the user was removed before.
async fn begin_locked(request: &DashboardRequest) -> Result<Write, PageError> {
    let write = request.begin_write().await?;
    users::lock(&write, request.workspace()).await?;
    if sessions::exists_in(&write, request.viewer()).await? {
        Ok(write)
    } else {
        Err(PageError::SessionEnded)
    }
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
    let is_over_limit = !users::has_mail_quota(write, request.workspace()).await?;
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
    match invite_member(&request, &form, email).await? {
        Ok(member) => {
            let text = format!("{} was invited. {}", member.email, mail_status(&request));
            request.redirect_with(MEMBERS, &Flash::success(text))
        }
        Err(errors) => request.show_errors(&list_page(&request, email, errors).await?),
    }
}

/// Invites a member, or returns the errors of the form.
async fn invite_member(
    request: &DashboardRequest,
    form: &Form,
    email: &str,
) -> Result<Result<User, FormErrors>, PageError> {
    let field_error = |message: &str| {
        let mut errors = FormErrors::default();
        errors.add("email", message);
        Ok(Err(errors))
    };
    let app = request.app();
    let mut write = begin_locked(request).await?;
    let member = match users::add(app, &mut write, request.workspace(), email).await {
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
    users::invite(app, &mut write, &request.viewer().workspace, &member).await?;
    request.commit_once(form, write, Action::UserInvited, member.id, &member.email).await?;
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
    let member: UserId = member.parse()?;
    let app = request.app();
    let mut write = begin_locked(&request).await?;
    let member = users::get_in(&write, request.workspace(), member).await?;
    if let Some(reason) = mail_error(&request, &write, &member).await? {
        return request.redirect_with(MEMBERS, &Flash::info(ui::error_sentence(&member.email, &reason)));
    }
    users::mail_link(app, &mut write, &request.viewer().workspace, &member).await?;
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
    let member = users::get(request.app(), request.workspace(), member.parse()?).await?;
    if users::is_owner(&request.viewer().workspace, &member) {
        return request.redirect_with(MEMBERS, &owner_not_removable(&request, &member));
    }
    let is_self = member.id == request.viewer().user;
    let title =
        if is_self { "Leave this workspace?".to_owned() } else { format!("Remove {}?", member.email) };
    let frame = request.frame(Section::Settings, title);
    let confirm = ui::ConfirmForm {
        csrf: frame.csrf(),
        text: if is_self {
            "You will be signed out of this workspace immediately. To return, you need a new invitation. API keys and \
             webhooks that you created keep working."
        } else {
            "Their sessions in this workspace end immediately, and their password links stop working. API keys and webhooks \
             that they created keep working: revoke the keys that only they use."
        },
        action: &format!("{MEMBERS}/{}/remove", member.id),
        button: if is_self { "Leave workspace" } else { "Remove member" },
        back: MEMBERS,
    };
    request.show(&RemoveMemberPage { frame, confirm })
}

#[handler]
async fn remove(request: DashboardRequest, Path(member): Path<String>) -> PageResponse {
    let member: UserId = member.parse()?;
    let write = begin_locked(&request).await?;
    let removed = match users::remove(&write, request.workspace(), member).await? {
        UserRemoval::Owner(owner) => {
            return request.redirect_with(MEMBERS, &owner_not_removable(&request, &owner));
        }
        UserRemoval::Removed(removed) => removed,
    };
    request.commit(write, Action::UserRemoved, removed.id, &removed.email).await?;
    if removed.id == request.viewer().user {
        return request.signed_out(&Flash::success("You left the workspace."));
    }
    request.redirect_with(MEMBERS, &Flash::success(format!("{} was removed.", removed.email)))
}

/// Returns the message that the owner cannot be removed, and how to change the owner.
fn owner_not_removable(request: &DashboardRequest, owner: &User) -> Flash {
    Flash::info(format!(
        "{} is the owner of this workspace and cannot be removed. To change the owner, send another owner_email from the \
         platform, or ask the operator of this server to run \u{201c}creator-api workspaces set-owner --workspace {} --email \
         EMAIL\u{201d}.",
        owner.email,
        request.viewer().workspace.key
    ))
}
