//! The people of a workspace: the list, invitations and new links by mail, removals.
//!
//! A link to set a password is mailed to its person and never shown on a page.

use askama::Template;
use poem::handler;
use poem::web::Path;

use crate::failure::Failure;
use crate::flash::Flash;
use crate::form::{Faults, Form};
use crate::frame::{Frame, Section};
use crate::page::{Answer, Page};
use crate::routes::{Route, get, post};
use crate::ui;
use domain::audit::Action;
use domain::sessions;
use domain::users::{self, MAILS_AN_HOUR, Member, Removal, User};
use domain::{Changed, Error};
use foundation::database::Write;
use foundation::id::UserId;

pub(super) const PEOPLE: &str = "/dashboard/settings/people";

pub(super) fn routes(route: Route) -> Route {
    route
        .at(PEOPLE, get(list).post(invite))
        .at("/dashboard/settings/people/:user/link", post(link))
        .at("/dashboard/settings/people/:user/remove", get(ask).post(remove))
}

#[derive(Template)]
#[template(path = "people/list.html")]
struct ListPage {
    frame: Frame,
    people: Vec<Member>,
    viewer: UserId,
    email: String,
    faults: Faults,
    mail_hint: &'static str,
}

/// The page, with what was written into the form to invite, and what is wrong with it.
async fn list_page(page: &Page, email: &str, faults: Faults) -> Result<ListPage, Failure> {
    let workspace = &page.viewer().workspace;
    Ok(ListPage {
        frame: page.frame(Section::Settings, "People"),
        people: users::members(page.app(), workspace).await?,
        viewer: page.viewer().user,
        email: email.to_owned(),
        faults,
        mail_hint: if has_mail_server(page) {
            "They get a mail that says how to sign in."
        } else {
            "This server has no mail server: the mail that says how to sign in is written to the folder \u{201c}mail\u{201d} of its \
             data folder."
        },
    })
}

fn has_mail_server(page: &Page) -> bool {
    page.app().config.mail.smtp_url.is_some()
}

#[handler]
async fn list(page: Page) -> Answer {
    page.show(&list_page(&page, "", Faults::default()).await?)
}

/// Begins a change of people. It holds the workspace, so that nobody removes the reader meanwhile.
async fn begin(page: &Page) -> Result<Write, Failure> {
    let write = page.begin_write().await?;
    users::lock(&write, page.workspace()).await?;
    if sessions::is_open_in(&write, page.viewer()).await? { Ok(write) } else { Err(Failure::SessionEnded) }
}

/// Why no mail with a link can be sent now; goes on after the name of what was to be mailed.
async fn no_mail(page: &Page, write: &Write, person: &User) -> Result<Option<String>, Failure> {
    if !users::takes_mail(person) {
        return Ok(Some("is no address that mail can be sent to".to_owned()));
    }
    if page.app().config.server.known_address().is_none() {
        let reason = "cannot be mailed a link: the server does not know its own address; the operator can set it with --public-url";
        return Ok(Some(reason.to_owned()));
    }
    let over = !users::may_mail(write, page.workspace()).await?;
    Ok(over.then(|| {
        format!(
            "cannot be mailed a link now: {MAILS_AN_HOUR} were mailed for this workspace in the last hour; try again later"
        )
    }))
}

#[handler]
async fn invite(page: Page, form: Form) -> Answer {
    let email = form.text("email").trim();
    match invited(&page, &form, email).await? {
        Ok(person) => {
            let text = format!("{} is invited. {}", person.email, whereabouts(&page));
            page.redirect_with(PEOPLE, &Flash::done(text))
        }
        Err(faults) => page.show_faults(&list_page(&page, email, faults).await?),
    }
}

/// Invites somebody, or says what is wrong.
async fn invited(page: &Page, form: &Form, email: &str) -> Result<Result<User, Faults>, Failure> {
    let fault = |message: &str| {
        let mut faults = Faults::default();
        faults.add("email", message);
        Ok(Err(faults))
    };
    let app = page.app();
    let mut write = begin(page).await?;
    let person = match users::add(app, &mut write, page.workspace(), email).await {
        Err(Error::Invalid(faults)) => return Ok(Err(faults.into())),
        Err(error) => return Err(error.into()),
        Ok(Changed { changed: false, .. }) => {
            return fault("is the address of somebody who is in this workspace already");
        }
        Ok(Changed { record, .. }) => record,
    };
    if let Some(reason) = no_mail(page, &write, &person).await? {
        return fault(&reason);
    }
    users::invite(app, &mut write, &page.viewer().workspace, &person).await?;
    page.commit_once(form, write, Action::UserInvited, person.id, &person.email).await?;
    Ok(Ok(person))
}

/// Where a mail that was queued goes.
fn whereabouts(page: &Page) -> &'static str {
    if has_mail_server(page) {
        "The mail is on its way."
    } else {
        "No mail server is set: the mail is written to the folder \u{201c}mail\u{201d} of the server's data folder."
    }
}

#[handler]
async fn link(page: Page, Path(person): Path<String>, form: Form) -> Answer {
    let person: UserId = person.parse()?;
    let app = page.app();
    let mut write = begin(&page).await?;
    let person = users::get_in(&write, page.workspace(), person).await?;
    if let Some(reason) = no_mail(&page, &write, &person).await? {
        return page.redirect_with(PEOPLE, &Flash::note(format!("{} {reason}.", person.email)));
    }
    users::mail_link(app, &mut write, &page.viewer().workspace, &person).await?;
    page.commit_once(&form, write, Action::LinkMade, person.id, &person.email).await?;
    let text = format!(
        "A new link to set a password was made for {}; earlier links stop working. {}",
        person.email,
        whereabouts(&page)
    );
    page.redirect_with(PEOPLE, &Flash::done(text))
}

#[derive(Template)]
#[template(path = "people/remove.html")]
struct RemovePage<'a> {
    frame: Frame,
    confirm: ui::Confirm<'a>,
}

#[handler]
async fn ask(page: Page, Path(person): Path<String>) -> Answer {
    let person = users::get(page.app(), page.workspace(), person.parse()?).await?;
    if users::is_owner(&page.viewer().workspace, &person) {
        return page.redirect_with(PEOPLE, &owner_stays(&page, &person));
    }
    let is_reader = person.id == page.viewer().user;
    let title =
        if is_reader { "Leave this workspace?".to_owned() } else { format!("Remove {}?", person.email) };
    let frame = page.frame(Section::Settings, title);
    let confirm = ui::Confirm {
        csrf: frame.csrf(),
        text: if is_reader {
            "You are signed out of this workspace at once. Somebody in it must invite you before you can come back. API keys and \
             webhooks that you made keep working."
        } else {
            "Their sessions in this workspace and their links to set a password end at once. API keys and webhooks that they made \
             keep working: revoke the keys that only they use."
        },
        action: &format!("{PEOPLE}/{}/remove", person.id),
        button: if is_reader { "Leave workspace" } else { "Remove person" },
        back: PEOPLE,
    };
    page.show(&RemovePage { frame, confirm })
}

#[handler]
async fn remove(page: Page, Path(person): Path<String>) -> Answer {
    let person: UserId = person.parse()?;
    let write = begin(&page).await?;
    let removed = match users::remove(&write, page.workspace(), person).await? {
        Removal::Owner(owner) => return page.redirect_with(PEOPLE, &owner_stays(&page, &owner)),
        Removal::Removed(removed) => removed,
    };
    page.commit(write, Action::UserRemoved, removed.id, &removed.email).await?;
    if removed.id == page.viewer().user {
        return page.signed_out(&Flash::done("You have left the workspace."));
    }
    page.redirect_with(PEOPLE, &Flash::done(format!("{} is removed.", removed.email)))
}

/// Why an owner is not removed, and how the owner is changed.
fn owner_stays(page: &Page, owner: &User) -> Flash {
    Flash::note(format!(
        "{} owns this workspace and cannot be removed. The owner is changed by the platform, with another owner_email, or by \
         the operator of this server, with \u{201c}creator-api workspaces set-owner --workspace {} --email ADDRESS\u{201d}.",
        owner.email,
        page.viewer().workspace.key
    ))
}
