//! The mail by which people learn that they have access.

use entity::mails;
use secrecy::{ExposeSecret, SecretString};

use super::links::make;
use super::{LINK_HOURS, User};
use crate::Result;
use crate::app::App;
use crate::audit::{self, Action, Actor};
use crate::workspaces::Workspace;
use foundation::database::Write;
use foundation::id::WorkspaceId;
use mail::message::Message;
use mail::{is_recipient, queue};

/// Invitations and links that the dashboard of one workspace may mail in an hour.
pub const MAILS_AN_HOUR: u64 = 20;

const HOUR_MS: i64 = 3_600_000;

/// Where somebody with this token sets a password: an address, or its path alone where the server's address is not known.
pub fn link_address(app: &App, token: &SecretString) -> String {
    let server = app.config.server.known_address().unwrap_or_default();
    format!("{server}/set-password?token={}", token.expose_secret())
}

/// Queues a mail that tells a person of their access: with a link to set a password, or to sign in when they have one.
/// False when the server's address is not known: nothing is queued then.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database or the system's generator fails.
pub async fn invite(app: &App, write: &mut Write, workspace: &Workspace, person: &User) -> Result<bool> {
    if !person.has_password {
        return mail_link(app, write, workspace, person).await;
    }
    let Some(server) = app.config.server.known_address() else { return Ok(false) };
    let message = Message::AccessGiven { workspace: workspace.name.clone(), page: format!("{server}/login") };
    queue::enqueue(write, &app.ids, workspace.id, &person.email, &message).await?;
    Ok(true)
}

/// Queues a mail with a new link to set a password; the links made before end. False when the server's address is not known:
/// nothing is done then.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database or the system's generator fails.
pub async fn mail_link(app: &App, write: &mut Write, workspace: &Workspace, person: &User) -> Result<bool> {
    if app.config.server.known_address().is_none() {
        return Ok(false);
    }
    let token = make(app, write, person).await?;
    queue_link(app, write, workspace, person, &token).await?;
    Ok(true)
}

/// Queues the mail with this link.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn queue_link(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    person: &User,
    token: &SecretString,
) -> Result<()> {
    let (workspace_name, link) = (workspace.name.clone(), link_address(app, token));
    let message = Message::SetPassword { workspace: workspace_name, link, hours: LINK_HOURS };
    queue::enqueue(write, &app.ids, workspace.id, &person.email, &message).await?;
    Ok(())
}

/// Tells a new owner of their access by mail, where a mail server is set and the server's address is known.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database or the system's generator fails.
pub(crate) async fn welcome_owner(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    owner: &User,
    actor: &Actor,
) -> Result<()> {
    if app.config.mail.smtp_url.is_none() || !invite(app, write, workspace, owner).await? {
        return Ok(());
    }
    if owner.has_password {
        return Ok(());
    }
    let made = (Action::LinkMade, owner.id.to_string(), owner.email.as_str());
    audit::append(app, write, workspace.id, actor, made).await
}

/// Whether mail can be sent to a person's address.
pub fn takes_mail(person: &User) -> bool {
    is_recipient(&person.email)
}

/// Whether the dashboard may mail another invitation or link for this workspace now. The caller holds the workspace.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn may_mail(write: &Write, workspace: WorkspaceId) -> Result<bool> {
    let mails = mails::in_workspace(workspace.uuid());
    // Not those of the future, which a clock that was ahead has written.
    let span = (write.now_ms() - HOUR_MS, write.now_ms());
    Ok(mails.count_in(write.conn(), Message::INVITATIONS, span).await? < MAILS_AN_HOUR)
}
