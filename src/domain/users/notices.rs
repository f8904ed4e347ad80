//! Mails notices to people about their accounts, and to the owners of workspaces.

use entity::users;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::WorkspaceId;
use mail::message::{AccountEvent, Message};
use mail::{is_recipient, queue};

use super::{roles, to_user};
use crate::app::App;
use crate::audit::Actor;
use crate::roles::Role;
use crate::workspaces::Workspace;
use crate::{Result, email};

/// Queues a mail that notifies the person with this email address of an event of their account. Does nothing if the address cannot
/// receive mail.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn notify(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    address: &str,
    event: AccountEvent,
    actor: &Actor,
) -> Result<()> {
    if !is_recipient(address) {
        return Ok(());
    }
    let server = app.config.server.url_for_links().filter(|_| app.config.sign_in.password_sign_in);
    let message = Message::AccountEvent {
        event,
        by: actor.name.clone(),
        address: actor.address.map(|address| address.to_string()),
        at: from_ms(write.now_ms()),
        url: server.map(|server| format!("{server}/reset-password")),
    };
    let recipient = recipient(write, address).await?;
    queue::enqueue(write, &app.ids, workspace, &recipient, &message).await?;
    Ok(())
}

/// Queues a message to each owner of a workspace whose address can receive mail. The owners of a sandbox are those of its live
/// workspace.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn mail_owners(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    message: &Message,
) -> Result<()> {
    let members = users::in_workspace(workspace.account().uuid());
    for row in members.list(write.conn()).await? {
        let user = to_user(row);
        if roles(workspace, &user).contains(Role::Owner) && is_recipient(&user.email) {
            let recipient = recipient(write, &user.email).await?;
            queue::enqueue(write, &app.ids, workspace.id, &recipient, message).await?;
        }
    }
    Ok(())
}

/// Returns the address to which mail to this person is sent: the spelling that was stored first, in any workspace. An address that
/// is entered later cannot redirect the mail, even if its mail server delivers the two spellings to different mailboxes.
pub(super) async fn recipient(write: &Write, address: &str) -> Result<String> {
    let rows = users::by_email_folded(write.conn(), &email::comparison_key(address)).await?;
    let oldest = rows.first().map_or(address, |row| row.email.as_str());
    Ok(email::mailbox(oldest).into_owned())
}
