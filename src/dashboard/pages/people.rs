//! The people of a workspace: list, invitations, password links by mail, removals.
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

pub(super) const PEOPLE: &str = "/dashboard/settings/people";

pub(super) fn routes(route: RouteTable) -> RouteTable {
    route
        .at(PEOPLE, get(list).post(invite))
        .at("/dashboard/settings/people/:user/link", post(link))
        .at("/dashboard/settings/people/:user/remove", get(confirm_remove).post(remove))
}

#[derive(Template)]
#[template(path = "people/list.html")]
struct PeopleListPage {
    frame: Frame,
    people: Vec<WorkspaceMember>,
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
) -> Result<PeopleListPage, PageError> {
    let workspace = &request.viewer().workspace;
    Ok(PeopleListPage {
        frame: request.frame(Section::Settings, "People"),
        people: users::list_members(request.app(), workspace).await?,
        viewer: request.viewer().user,
        email: email.to_owned(),
        errors,
        mail_hint: if has_mail_server(request) {
            "They receive an email with sign-in instructions."
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
async fn begin_locked(request: &DashboardRequest) -> Result<Write, PageError> {
    let write = request.begin_write().await?;
    users::lock(&write, request.workspace()).await?;
    if sessions::is_open_in(&write, request.viewer()).await? {
        Ok(write)
    } else {
        Err(PageError::SessionEnded)
    }
}

/// Returns why no email with a link can be sent now. The text continues the name of the field or the email address.
async fn mail_error(
    request: &DashboardRequest,
    write: &Write,
    person: &User,
) -> Result<Option<String>, PageError> {
    if !users::can_receive_mail(person) {
        return Ok(Some("is not a deliverable email address".to_owned()));
    }
    if request.app().config.server.reachable_url().is_none() {
        let reason =
            "cannot be sent a link: the server has no public URL; the operator can set it with --public-url";
        return Ok(Some(reason.to_owned()));
    }
    let is_over_limit = !users::has_mail_quota(write, request.workspace()).await?;
    Ok(is_over_limit.then(|| {
        format!(
            "cannot be sent a link now: this workspace reached the limit of {MAX_MAILS_PER_HOUR} emails per hour; try again later"
        )
    }))
}

#[handler]
async fn invite(request: DashboardRequest, form: Form) -> PageResponse {
    let email = form.text("email").trim();
    match add_person(&request, &form, email).await? {
        Ok(person) => {
            let text = format!("{} was invited. {}", person.email, mail_status(&request));
            request.redirect_with(PEOPLE, &Flash::success(text))
        }
        Err(errors) => request.show_errors(&list_page(&request, email, errors).await?),
    }
}

/// Invites a person, or returns the errors of the form.
async fn add_person(
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
    let person = match users::add(app, &mut write, request.workspace(), email).await {
        Err(Error::Invalid(errors)) => return Ok(Err(errors.into())),
        Err(error) => return Err(error.into()),
        Ok(WriteOutcome { changed: false, .. }) => {
            return field_error("already belongs to a person in this workspace");
        }
        Ok(WriteOutcome { record, .. }) => record,
    };
    if let Some(reason) = mail_error(request, &write, &person).await? {
        return field_error(&reason);
    }
    users::invite(app, &mut write, &request.viewer().workspace, &person).await?;
    request.commit_once(form, write, Action::UserInvited, person.id, &person.email).await?;
    Ok(Ok(person))
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
async fn link(request: DashboardRequest, Path(person): Path<String>, form: Form) -> PageResponse {
    let person: UserId = person.parse()?;
    let app = request.app();
    let mut write = begin_locked(&request).await?;
    let person = users::get_in(&write, request.workspace(), person).await?;
    if let Some(reason) = mail_error(&request, &write, &person).await? {
        return request.redirect_with(PEOPLE, &Flash::info(format!("{} {reason}.", person.email)));
    }
    users::mail_link(app, &mut write, &request.viewer().workspace, &person).await?;
    request.commit_once(&form, write, Action::PasswordLinkCreated, person.id, &person.email).await?;
    let text = format!(
        "Created a new password link for {}. Earlier links no longer work. {}",
        person.email,
        mail_status(&request)
    );
    request.redirect_with(PEOPLE, &Flash::success(text))
}

#[derive(Template)]
#[template(path = "people/remove.html")]
struct RemovePersonPage<'a> {
    frame: Frame,
    confirm: ui::ConfirmForm<'a>,
}

#[handler]
async fn confirm_remove(request: DashboardRequest, Path(person): Path<String>) -> PageResponse {
    let person = users::get(request.app(), request.workspace(), person.parse()?).await?;
    if users::is_owner(&request.viewer().workspace, &person) {
        return request.redirect_with(PEOPLE, &owner_not_removable(&request, &person));
    }
    let is_self = person.id == request.viewer().user;
    let title =
        if is_self { "Leave this workspace?".to_owned() } else { format!("Remove {}?", person.email) };
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
        action: &format!("{PEOPLE}/{}/remove", person.id),
        button: if is_self { "Leave workspace" } else { "Remove person" },
        back: PEOPLE,
    };
    request.show(&RemovePersonPage { frame, confirm })
}

#[handler]
async fn remove(request: DashboardRequest, Path(person): Path<String>) -> PageResponse {
    let person: UserId = person.parse()?;
    let write = begin_locked(&request).await?;
    let removed = match users::remove(&write, request.workspace(), person).await? {
        UserRemoval::Owner(owner) => {
            return request.redirect_with(PEOPLE, &owner_not_removable(&request, &owner));
        }
        UserRemoval::Removed(removed) => removed,
    };
    request.commit(write, Action::UserRemoved, removed.id, &removed.email).await?;
    if removed.id == request.viewer().user {
        return request.signed_out(&Flash::success("You left the workspace."));
    }
    request.redirect_with(PEOPLE, &Flash::success(format!("{} was removed.", removed.email)))
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
