//! Mails invitations, password links and requested links to users.

use entity::{mails, users};
use secrecy::{ExposeSecret, SecretString};

use super::links::{add_requested_link, replace_link};
use super::notices::recipient;
use super::{LINK_HOURS, User, to_user};
use crate::app::App;
use crate::audit::{self, Action, Actor};
use crate::email;
use crate::workspaces::Workspace;
use crate::{Error, Result};
use foundation::database::Write;
use foundation::id::WorkspaceId;
use mail::message::Message;
use mail::{is_recipient, queue};

/// Maximum number of invitations and password links that the dashboard mails for one workspace per hour.
pub const MAX_MAILS_PER_HOUR: u64 = 20;

const HOUR_MS: i64 = 3_600_000;

/// Returns the URL of the page where the holder of this token sets a password. Returns the path alone when the server's URL is
/// not known.
pub fn link_url(app: &App, token: &SecretString) -> String {
    let server = app.config.server.url_for_links().unwrap_or_default();
    format!("{server}/set-password?token={}", token.expose_secret())
}

/// Queues a mail that notifies a user of their access. It links to a page to set a password, or to the sign-in page if
/// the user has a password or password sign-in is switched off. Returns false and queues nothing when the server's URL is not known.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when a user without a password was removed in the meantime, and
/// [`Error::Internal`](crate::Error::Internal) when a query or the operating system's random generator fails.
pub async fn invite(app: &App, write: &mut Write, workspace: &Workspace, user: &User) -> Result<bool> {
    if !user.has_password && app.config.sign_in.password_sign_in {
        return mail_link(app, write, workspace, user).await;
    }
    let Some(server) = app.config.server.url_for_links() else { return Ok(false) };
    let sign_in = &app.config.sign_in;
    let provider = (!sign_in.password_sign_in).then(|| sign_in.oidc_name.as_str().to_owned());
    let message = Message::AccessGranted {
        workspace: workspace.name.clone(),
        provider,
        url: format!("{server}/login"),
    };
    let recipient = recipient(write, &user.email).await?;
    queue::enqueue(write, &app.ids, workspace.id, &recipient, &message).await?;
    Ok(true)
}

/// Queues a mail with a new password link and invalidates the workspace's earlier links. Returns false and does nothing when the
/// server's URL is not known. Writes no audit log entry.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the user was removed in the meantime, and
/// [`Error::Internal`](crate::Error::Internal) when a query or the operating system's random generator fails.
pub async fn mail_link(app: &App, write: &mut Write, workspace: &Workspace, user: &User) -> Result<bool> {
    if app.config.server.url_for_links().is_none() {
        return Ok(false);
    }
    let token = replace_link(app, write, user).await?;
    queue_link(app, write, workspace, user, &token).await?;
    Ok(true)
}

/// Queues a mail with the link for this token.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the insert fails.
pub async fn queue_link(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    user: &User,
    token: &SecretString,
) -> Result<()> {
    let (workspace_name, url) = (workspace.name.clone(), link_url(app, token));
    let message = Message::SetPassword { workspace: workspace_name, url, hours: LINK_HOURS };
    let recipient = recipient(write, &user.email).await?;
    queue::enqueue(write, &app.ids, workspace.id, &recipient, &message).await?;
    Ok(())
}

/// Mails a password link to the person with this email address, who requested it. Does nothing when nobody has the address, when
/// it cannot receive mail, or when the server's URL is not known.
///
/// The link is stored in the workspace that the person joined first, but belongs to the person only.
///
/// # Errors
/// Returns [`Error::Internal`] when a query or the operating system's random generator fails.
pub async fn mail_reset_link(app: &App, address: &str) -> Result<()> {
    let rows = users::by_email_folded(app.db.read(), &email::comparison_key(address)).await?;
    let Some(user) = rows.into_iter().next().map(to_user) else { return Ok(()) };
    let can_send = app.config.sign_in.password_sign_in && app.config.server.url_for_links().is_some();
    if !can_receive_mail(&user) || !can_send {
        return Ok(());
    }
    let mut write = app.begin_write().await?;
    let token = match add_requested_link(app, &mut write, &user).await {
        // The user was removed in the meantime.
        Err(Error::NotFound(_)) => return Ok(()),
        result => result?,
    };
    let message = Message::ResetPassword { url: link_url(app, &token) };
    let recipient = recipient(&write, &user.email).await?;
    queue::enqueue(&mut write, &app.ids, user.workspace, &recipient, &message).await?;
    write.commit().await?;
    Ok(())
}

/// Queues a mail that notifies a new owner of their access, if a mail server is configured and the server's URL is
/// known. Writes an audit log entry if the mail contains a password link.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query or the operating system's random generator fails.
pub(crate) async fn notify_new_owner(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    owner: &User,
    actor: &Actor,
) -> Result<()> {
    if app.config.mail.smtp_url.is_none() || !invite(app, write, workspace, owner).await? {
        return Ok(());
    }
    if owner.has_password || !app.config.sign_in.password_sign_in {
        return Ok(());
    }
    let entry = (Action::PasswordLinkCreated, owner.id.to_string(), owner.email.as_str());
    audit::append(app, write, workspace.id, actor, entry).await
}

/// Returns whether mail can be sent to a user's email address.
pub fn can_receive_mail(user: &User) -> bool {
    is_recipient(&user.email)
}

/// Returns whether fewer than [`MAX_MAILS_PER_HOUR`] invitations and password links of the workspace were queued in the
/// last hour. The caller has locked the workspace.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn has_mail_quota(write: &Write, workspace: WorkspaceId) -> Result<bool> {
    let mails = mails::in_workspace(workspace.uuid());
    // The span ends now, so mail that was queued while the clock was ahead does not count.
    let span = (write.now_ms() - HOUR_MS, write.now_ms());
    Ok(mails.count_in(write.conn(), Message::INVITATIONS, span).await? < MAX_MAILS_PER_HOUR)
}
