//! Links to set a password: shown or mailed once, stored as a hash, good for one use.
//!
//! A link is of the workspace that it was made in, and the password that it sets is of all: so are the links that end.

use entity::password_links::{self, Model};
use entity::users::{self, ActiveModel};
use entity::{Set, sessions};
use secrecy::{ExposeSecret, SecretString};

use super::{User, lock_all, user};
use crate::app::App;
use crate::audit::{self, Action, Actor};
use crate::find::{absent, fresh};
use crate::{Result, passwords, token};
use foundation::database::Write;
use foundation::id::{Link, User as UserKind};

/// How long a link opens.
pub const LINK_HOURS: i64 = 72;

/// Makes a link's token for this person. Earlier links stop working, in whichever workspace they were made.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when the person was removed meanwhile.
pub async fn link(app: &App, write: &mut Write, user: &User, actor: &Actor) -> Result<SecretString> {
    let token = make(app, write, user).await?;
    let told = (Action::LinkMade, user.id.to_string(), user.email.as_str());
    audit::append(app, write, user.workspace, actor, told).await?;
    Ok(token)
}

/// [`link`], without the entry in the audit log.
pub(super) async fn make(app: &App, write: &mut Write, user: &User) -> Result<SecretString> {
    let token = token::generate()?;
    let hash =
        token::digest(token.expose_secret()).ok_or_else(|| anyhow::anyhow!("a new token has no digest"))?;
    let now_ms = write.now_ms();
    let row = Model {
        id: fresh::<Link>(app, write),
        workspace_id: user.workspace.uuid(),
        user_id: user.id.uuid(),
        token_hash: hash.to_vec(),
        created_at: now_ms,
        expires_at: now_ms + LINK_HOURS * 3_600_000,
    };
    let rows = lock_all(write, &[&user.email]).await?;
    if !rows.iter().any(|row| row.id == user.id.uuid()) {
        return Err(absent::<UserKind>(user.id));
    }
    end_all(write, &rows).await?;
    password_links::in_workspace(user.workspace.uuid()).insert(write.conn(), row).await?;
    Ok(token)
}

/// Whose password a link sets; `None` when it was used, is too old, or never was.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn holder(app: &App, token: &str) -> Result<Option<User>> {
    let Some(hash) = token::digest(token) else { return Ok(None) };
    let Some(link) = password_links::by_token_hash(app.db.read(), &hash).await? else { return Ok(None) };
    if link.expires_at <= app.clock.now_ms() {
        return Ok(None);
    }
    let row = users::in_workspace(link.workspace_id).by_id(app.db.read(), link.user_id).await?;
    Ok(row.map(user))
}

/// Sets the password of whoever holds this link, and ends all of the person's links and sessions, as the audit log of each
/// of their workspaces tells. `None` when the link is not valid.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) for a password that cannot be taken; the link is then still good.
pub async fn set_password(
    app: &App,
    token: &str,
    password: &SecretString,
    actor: impl Fn(&User) -> Actor,
) -> Result<Option<User>> {
    passwords::check(password.expose_secret())?;
    let Some(holder) = holder(app, token).await? else { return Ok(None) };
    // The work is done before the write begins: on SQLite, all others would wait for it.
    let hash = passwords::hash(app, password).await?;
    let mut write = app.begin_write().await?;
    let rows = lock_all(&write, &[&holder.email]).await?;
    if !use_up(&write, &holder, token).await? {
        return Ok(None);
    }
    end_all(&write, &rows).await?;
    for row in rows {
        let changes = ActiveModel {
            password_hash: Set(Some(hash.clone())),
            updated_at: Set(write.now_ms()),
            ..Default::default()
        };
        users::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
        sessions::in_workspace(row.workspace_id).end_others(write.conn(), row.id, None).await?;
        let person = user(row);
        let told = (Action::PasswordSet, person.id.to_string(), person.email.as_str());
        audit::append(app, &mut write, person.workspace, &actor(&person), told).await?;
    }
    write.commit().await?;
    Ok(Some(holder))
}

/// Takes the link out. False when another was quicker.
async fn use_up(write: &Write, holder: &User, token: &str) -> Result<bool> {
    let Some(hash) = token::digest(token) else { return Ok(false) };
    let Some(link) = password_links::by_token_hash(write.conn(), &hash).await? else { return Ok(false) };
    let links = password_links::in_workspace(holder.workspace.uuid());
    Ok(links.delete(write.conn(), link.id).await?)
}

/// Deletes the links of a person, who has these rows.
async fn end_all(write: &Write, rows: &[users::Model]) -> Result<()> {
    for row in rows {
        password_links::in_workspace(row.workspace_id).delete_of(write.conn(), row.id).await?;
    }
    Ok(())
}

/// Deletes links that open nothing any more.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn prune(app: &App) -> Result<()> {
    let write = app.begin_write().await?;
    password_links::delete_expired(write.conn(), write.now_ms()).await?;
    write.commit().await?;
    Ok(())
}
