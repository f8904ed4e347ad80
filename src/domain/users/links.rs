//! Creates and redeems password links. A link is shown or mailed once, stored as a hash, and valid for one use.
//!
//! A link belongs to the workspace that it was created in, and so does the audit log entry of its use. A link that a person
//! requested on the sign-in page belongs to the person only: it is stored in one of the person's workspaces, which cannot replace
//! it and whose audit log does not mention it.
//!
//! The password that a link sets applies to all workspaces of the user, so using a link deletes the user's links in all
//! workspaces.

use entity::password_links::{self, Model};
use entity::users::{self, ActiveModel};
use entity::{Set, sessions, sign_in_links};
use secrecy::SecretString;

use super::notices::notify;
use super::{AccountEvent, User, lock_rows, to_user};
use crate::app::App;
use crate::audit::{self, Action, Actor};
use crate::records::{new_uuid, not_found};
use crate::{Result, passwords, token};
use foundation::database::Write;
use foundation::id::{Link, User as UserIdKind};

/// Lifetime of a link, in hours.
pub const LINK_HOURS: i64 = 72;
/// Lifetime of a link that a person requested on the sign-in page, in hours. The mail and the pages state it, too.
const REQUESTED_LINK_HOURS: i64 = 1;

/// Creates a password link for this user and returns its token. Invalidates the user's earlier links in the same workspace,
/// except those that the user requested.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the user was removed in the meantime.
pub async fn create_link(app: &App, write: &mut Write, user: &User, actor: &Actor) -> Result<SecretString> {
    let token = replace_link(app, write, user).await?;
    let entry = (Action::PasswordLinkCreated, user.id.to_string(), user.email.as_str());
    audit::append(app, write, user.workspace, actor, entry).await?;
    Ok(token)
}

/// Creates a password link as [`create_link`] does, but writes no audit log entry.
pub(super) async fn replace_link(app: &App, write: &mut Write, user: &User) -> Result<SecretString> {
    lock_user(write, user).await?;
    let links = password_links::in_workspace(user.workspace.uuid());
    links.delete_unrequested(write.conn(), user.id.uuid()).await?;
    insert_link(app, write, user, false).await
}

/// Creates a link that the user requested, and returns its token. Other links stay valid, so that strangers who request links
/// do not invalidate an invitation.
pub(super) async fn add_requested_link(app: &App, write: &mut Write, user: &User) -> Result<SecretString> {
    lock_user(write, user).await?;
    insert_link(app, write, user, true).await
}

/// Locks the user's row, as setting the password does.
async fn lock_user(write: &Write, user: &User) -> Result<()> {
    let row = users::in_workspace(user.workspace.uuid()).lock(write.conn(), user.id.uuid()).await?;
    row.map(drop).ok_or_else(|| not_found::<UserIdKind>(user.id))
}

async fn insert_link(app: &App, write: &mut Write, user: &User, is_requested: bool) -> Result<SecretString> {
    let hours = if is_requested { REQUESTED_LINK_HOURS } else { LINK_HOURS };
    let (token, hash) = token::generate_with_digest()?;
    let now_ms = write.now_ms();
    let row = Model {
        id: new_uuid::<Link>(app, write),
        workspace_id: user.workspace.uuid(),
        user_id: user.id.uuid(),
        token_hash: hash.to_vec(),
        created_at: now_ms,
        expires_at: now_ms + hours * 3_600_000,
        is_requested,
    };
    password_links::in_workspace(user.workspace.uuid()).insert(write.conn(), row).await?;
    Ok(token)
}

/// Returns the user whose password a link sets. `None` when the link was used or replaced, has expired, or never
/// existed, or when password sign-in is switched off.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn by_link(app: &App, token: &str) -> Result<Option<User>> {
    let Some(hash) = token::digest(token).filter(|_| app.config.sign_in.password_sign_in) else {
        return Ok(None);
    };
    let Some(link) = password_links::by_token_hash(app.db.read(), &hash).await? else { return Ok(None) };
    if link.expires_at <= app.clock.now_ms() {
        return Ok(None);
    }
    let row = users::in_workspace(link.workspace_id).by_id(app.db.read(), link.user_id).await?;
    Ok(row.map(to_user))
}

/// Sets the password of the user that this link belongs to, in all of the user's workspaces, and deletes all of the
/// user's sessions, password links and sign-in links. Notifies the user by mail if the password replaces another one. Writes an audit log entry in the workspace of the link only, and none
/// if the user requested the link; `actor` returns its actor from the user. Returns `None` when the link is not valid.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::Error::Invalid) when the password is too short, too long or easy to guess. The link stays valid.
pub async fn set_password(
    app: &App,
    token: &str,
    password: &SecretString,
    actor: impl FnOnce(&User) -> Actor,
) -> Result<Option<User>> {
    let Some(holder) = by_link(app, token).await? else { return Ok(None) };
    // Hashing is slow, so it runs before the transaction begins: on SQLite, a transaction blocks all other writes.
    let hash = passwords::validate_and_hash(app.passwords(), password, &holder.email).await?;
    let mut write = app.begin_write().await?;
    let rows = lock_rows(&write, &[&holder.email]).await?;
    let Some(link) = consume_link(&write, &holder, token).await? else { return Ok(None) };
    let actor = actor(&holder);
    if rows.iter().any(|row| row.password_hash.is_some()) {
        let event = AccountEvent::PasswordChanged;
        notify(app, &mut write, holder.workspace, &holder.email, event, &actor).await?;
    }
    for row in rows {
        let changes = ActiveModel {
            password_hash: Set(Some(hash.clone())),
            updated_at: Set(write.recorded_ms()),
            ..Default::default()
        };
        users::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
        sessions::in_workspace(row.workspace_id).end_others(write.conn(), row.id, None).await?;
        password_links::in_workspace(row.workspace_id).delete_for_user(write.conn(), row.id).await?;
        sign_in_links::in_workspace(row.workspace_id).delete_for_user(write.conn(), row.id).await?;
    }
    // A requested link belongs to the person only. Its use is not an event of the workspace in which it is stored.
    if !link.is_requested {
        let entry = (Action::PasswordSet, holder.id.to_string(), holder.email.as_str());
        audit::append(app, &mut write, holder.workspace, &actor, entry).await?;
    }
    write.commit().await?;
    Ok(Some(holder))
}

/// Deletes and returns the link. Returns `None` when another request has already deleted it.
async fn consume_link(write: &Write, holder: &User, token: &str) -> Result<Option<Model>> {
    let Some(hash) = token::digest(token) else { return Ok(None) };
    let Some(link) = password_links::by_token_hash(write.conn(), &hash).await? else { return Ok(None) };
    let links = password_links::in_workspace(holder.workspace.uuid());
    Ok(links.delete(write.conn(), link.id).await?.then_some(link))
}

/// Deletes expired links.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn prune_links(app: &App) -> Result<()> {
    let write = app.begin_write().await?;
    password_links::delete_expired(write.conn(), write.now_ms()).await?;
    write.commit().await?;
    Ok(())
}
