//! Creates and redeems links that sign a person in to the dashboard, which the platform requests. A link is valid for one
//! use and for a short time. The database stores its hash.

use entity::sign_in_links::{self, Model};
use entity::users;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};

use super::{User, add, set_name, to_user};
use crate::app::App;
use crate::audit::{self, Action, Actor};
use crate::records::new_uuid;
use crate::roles::Roles;
use crate::sessions::{self, Proof, SessionClient};
use crate::workspaces::Workspace;
use crate::{Result, people, token};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Link, SessionId};

/// Lifetime of a link, in milliseconds.
const LIFETIME_MS: i64 = 60_000;
/// How long the code of the second factor can be entered after a link was opened, in milliseconds.
const CODE_LIFETIME_MS: i64 = 10 * 60_000;

/// A new link.
pub struct SignInLink {
    /// The URL. It contains the token.
    pub url: SecretString,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// The person whom a link signs in. A person without access to the workspace gets access first, with this name and these roles.
pub struct LinkHolder<'a> {
    /// The email address.
    pub email: &'a str,
    /// The name.
    pub name: Option<&'a str>,
    /// The roles.
    pub roles: Roles,
}

/// Creates a link for a person.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::Error::Invalid) when `email` is not an email address, or the name is not one line.
pub async fn create_sign_in_link(
    app: &App,
    write: &mut Write,
    workspace: &Workspace,
    LinkHolder { email, name, roles }: LinkHolder<'_>,
    server: &str,
) -> Result<SignInLink> {
    let mut errors = crate::field_errors::FieldErrors::default();
    errors.check_optional_single_line("name", name.map(str::to_owned).as_ref(), 200);
    errors.into_result()?;
    let member = add(app, write, workspace.id, email, roles).await?;
    let user = member.record;
    if member.changed {
        set_name(write, &user, name).await?;
        let entry = (Action::UserAdded, user.id.to_string(), user.email.as_str());
        audit::append(app, write, workspace.id, &Actor::platform(), entry).await?;
    }
    let (token, hash) = token::generate_with_digest()?;
    let expires_ms = write.now_ms() + LIFETIME_MS;
    let row = Model {
        id: new_uuid::<Link>(app, write),
        workspace_id: workspace.id.uuid(),
        user_id: user.id.uuid(),
        token_hash: hash.to_vec(),
        expires_at: expires_ms,
    };
    sign_in_links::in_workspace(workspace.id.uuid()).insert(write.conn(), row).await?;
    let url = SecretString::from(format!("{server}/sign-in?token={}", token.expose_secret()));
    Ok(SignInLink { url, expires_at: from_ms(expires_ms) })
}

/// The result of [`redeem_sign_in_link`].
pub enum Redeemed {
    /// A session of the user was started: its id and token.
    Started(User, SessionId, SecretString),
    /// The link counts as one factor, and the user has a second one: [`sessions::create_with_code`] starts the session.
    NeedsCode(OpenedLink),
}

/// A link that was opened, and whose user still has to enter a code. Ending the user's sessions invalidates it, too.
pub struct OpenedLink {
    /// The user.
    pub user: User,
    /// The token that replaces that of the link, for [`opened_link`].
    pub token: SecretString,
}

/// Uses a link and starts a session of its user, unless the user has a second factor. Returns `None` when the link was used, has
/// expired or never existed, or its user was removed.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query or the operating system's random generator fails.
pub async fn redeem_sign_in_link(
    app: &App,
    write: &mut Write,
    token: &str,
    client: SessionClient<'_>,
) -> Result<Option<Redeemed>> {
    let Some(hash) = token::digest(token) else { return Ok(None) };
    let Some(link) = sign_in_links::by_token_hash(write.conn(), &hash).await? else { return Ok(None) };
    // The lock waits for the removal of the user. Deleting or changing the row decides which of several requests uses the link.
    let row = users::in_workspace(link.workspace_id).lock(write.conn(), link.user_id).await?;
    let Some(row) = row.filter(|_| link.expires_at > write.now_ms()) else { return Ok(None) };
    let (user, links) = (to_user(row), sign_in_links::in_workspace(link.workspace_id));
    if people::has_second_factor_in(write, &user.email).await? {
        let (token, new_hash) = token::generate_with_digest()?;
        let expires_at = write.now_ms() + CODE_LIFETIME_MS;
        let is_first = links.replace_token(write.conn(), &hash, &new_hash, expires_at).await?;
        return Ok(is_first.then_some(Redeemed::NeedsCode(OpenedLink { user, token })));
    }
    if !links.delete(write.conn(), link.id).await? {
        return Ok(None);
    }
    let (session, token) = sessions::create_for(app, write, &user, client, Proof::default()).await?;
    Ok(Some(Redeemed::Started(user, session, token)))
}

/// Returns the user of a link, without using it. `None` when the link is not valid.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn by_sign_in_link(app: &App, token: &str) -> Result<Option<User>> {
    let Some(hash) = token::digest(token) else { return Ok(None) };
    let link = sign_in_links::by_token_hash(app.db.read(), &hash).await?;
    let Some(link) = link.filter(|link| link.expires_at > app.clock.now_ms()) else { return Ok(None) };
    let row = users::in_workspace(link.workspace_id).by_id(app.db.read(), link.user_id).await?;
    Ok(row.map(to_user))
}

/// Returns the opened link with the token of an [`OpenedLink`]. `None` when it is not valid any longer.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn opened_link(app: &App, token: SecretString) -> Result<Option<OpenedLink>> {
    let user = by_sign_in_link(app, token.expose_secret()).await?;
    Ok(user.map(|user| OpenedLink { user, token }))
}

/// Locks the user of an opened link and uses the link up. Returns whether it is still valid.
pub(crate) async fn use_opened_link(write: &Write, opened: &OpenedLink) -> Result<bool> {
    let (user, workspace) = (&opened.user, opened.user.workspace.uuid());
    if users::in_workspace(workspace).lock(write.conn(), user.id.uuid()).await?.is_none() {
        return Ok(false);
    }
    let Some(hash) = token::digest(opened.token.expose_secret()) else { return Ok(false) };
    let Some(link) = sign_in_links::by_token_hash(write.conn(), &hash).await? else { return Ok(false) };
    let is_deleted = sign_in_links::in_workspace(workspace).delete(write.conn(), link.id).await?;
    Ok(is_deleted && link.expires_at > write.now_ms())
}

/// Deletes expired links.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn prune_sign_in_links(app: &App) -> Result<()> {
    let write = app.begin_write().await?;
    sign_in_links::delete_expired(write.conn(), write.now_ms()).await?;
    write.commit().await?;
    Ok(())
}
