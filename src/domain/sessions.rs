//! Manages dashboard sessions.
//!
//! A session expires 12 hours after its most recent user request, or 30 days after it was created. It ends earlier when
//! the user signs out, ends it from another session, switches to another workspace, sets a new password or is removed
//! from the workspace. Only [`create`] and [`switch_workspace`] return its token; the database stores a digest.

use std::net::IpAddr;

use entity::sessions::{self, Model};
use entity::{Connection, sign_in_links, users as user_rows, workspaces as workspace_rows};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

use super::records::{id, new_uuid, not_found};
use super::roles::Roles;
use super::users::{self, User, VerifiedUser};
use super::workspaces::{self, Workspace};
use super::{Result, email, token};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    Session as SessionIdKind, SessionId, UserId, Workspace as WorkspaceIdKind, WorkspaceId,
};

const HOUR_MS: i64 = 3_600_000;
/// A session expires this long after its most recent use, in milliseconds.
const IDLE_MS: i64 = 12 * HOUR_MS;
/// A session expires this long after its creation, in milliseconds.
const MAX_AGE_MS: i64 = 30 * 24 * HOUR_MS;
/// Minimum time between two updates of `seen_at`, in milliseconds.
const SEEN_RESOLUTION_MS: i64 = 60_000;
/// Maximum number of sessions listed per workspace.
const MAX_LISTED: u64 = 100;

/// The client that a session is created for.
#[derive(Debug, Clone, Copy)]
pub struct SessionClient<'a> {
    /// The client's IP address.
    pub address: IpAddr,
    /// The `User-Agent` of the browser.
    pub agent: &'a str,
}

/// The signed-in user of a request.
#[derive(Debug, Clone)]
pub struct Viewer {
    /// The session.
    pub session: SessionId,
    /// The user.
    pub user: UserId,
    /// The user's email address.
    pub email: String,
    /// The user's roles in the workspace, when the request began.
    pub roles: Roles,
    /// The workspace of the session.
    pub workspace: Workspace,
    /// The user's other workspaces, which [`switch_workspace`] switches to. Empty for background requests.
    pub other_workspaces: Vec<Workspace>,
}

/// A session, as listed for its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The session's id.
    pub id: SessionId,
    /// The workspace of the session.
    pub workspace: WorkspaceId,
    /// The client's IP address when the session was created.
    pub address: String,
    /// The `User-Agent` of the browser when the session was created.
    pub agent: String,
    /// When the session was created.
    pub created_at: Timestamp,
    /// When the session was last used. May be up to one minute too early.
    pub seen_at: Timestamp,
}

/// Creates a session and returns its id and token. Returns `None` when the user's password was changed after it was
/// verified, because a password change ends all sessions, or when the user was removed from the workspace.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query or the operating system's random generator fails.
pub async fn create(
    app: &App,
    write: &mut Write,
    verified: &VerifiedUser,
    client: SessionClient<'_>,
) -> Result<Option<(SessionId, SecretString)>> {
    if !users::is_password_unchanged(write, verified).await? {
        return Ok(None);
    }
    create_for(app, write, &verified.user, client).await.map(Some)
}

/// Creates a session of a user whose row the caller has locked, and returns its id and token.
pub(super) async fn create_for(
    app: &App,
    write: &mut Write,
    user: &User,
    client: SessionClient<'_>,
) -> Result<(SessionId, SecretString)> {
    let new = NewSession {
        address: client.address.to_string(),
        agent: client.agent.chars().filter(|c| !c.is_control()).take(300).collect(),
        created_at: write.now_ms(),
    };
    insert(app, write, user, new).await
}

/// The values that [`switch_workspace`] copies from the replaced session to the new one.
struct NewSession {
    address: String,
    agent: String,
    /// In milliseconds since the epoch.
    created_at: i64,
}

/// Inserts a session of this user with a new token.
async fn insert(
    app: &App,
    write: &mut Write,
    user: &User,
    new: NewSession,
) -> Result<(SessionId, SecretString)> {
    let token = token::generate()?;
    let hash =
        token::digest(token.expose_secret()).ok_or_else(|| anyhow::anyhow!("the new token is malformed"))?;
    let row = Model {
        id: new_uuid::<SessionIdKind>(app, write),
        workspace_id: user.workspace.uuid(),
        user_id: user.id.uuid(),
        token_hash: hash.to_vec(),
        address: new.address,
        agent: new.agent,
        created_at: new.created_at,
        seen_at: write.now_ms(),
    };
    let session = id(row.id);
    sessions::in_workspace(user.workspace.uuid()).insert(write.conn(), row).await?;
    Ok((session, token))
}

/// Returns the signed-in user of a session token, or `None` when the session is unknown, or has ended or expired.
/// Background requests, such as a page polling for updates, do not extend the session (`is_user_request` is false).
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails.
pub async fn resume(app: &App, token: &str, is_user_request: bool) -> Result<Option<Viewer>> {
    let Some(hash) = token::digest(token) else { return Ok(None) };
    let Some(row) = sessions::by_token_hash(app.db.read(), &hash).await? else { return Ok(None) };
    let now_ms = app.clock.now_ms();
    if !is_active(&row, now_ms) {
        return Ok(None);
    }
    let user = user_rows::in_workspace(row.workspace_id).by_id(app.db.read(), row.user_id).await?;
    let workspace = workspace_rows::by_id(app.db.read(), row.workspace_id).await?;
    let (Some(user), Some(workspace)) = (user, workspace) else { return Ok(None) };
    if is_user_request && now_ms - row.seen_at >= SEEN_RESOLUTION_MS {
        let write = app.begin_write().await?;
        sessions::touch(write.conn(), row.id, now_ms).await?;
        write.commit().await?;
    }
    let other_workspaces = if is_user_request { other_workspaces(app, &user).await? } else { Vec::new() };
    let (workspace, user) = (workspaces::workspace(workspace), users::to_user(user));
    Ok(Some(Viewer {
        session: id(row.id),
        user: user.id,
        roles: users::roles(&workspace, &user),
        email: user.email,
        workspace,
        other_workspaces,
    }))
}

/// Returns the other workspaces of a user, in the order in which the user joined them.
async fn other_workspaces(app: &App, user: &user_rows::Model) -> Result<Vec<Workspace>> {
    let rows = user_rows::by_email_folded(app.db.read(), &user.email_folded).await?;
    let ids = rows.iter().map(|row| row.workspace_id).filter(|id| *id != user.workspace_id);
    let ids: Vec<Uuid> = ids.collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut workspaces = workspace_rows::by_ids(app.db.read(), &ids).await?;
    workspaces.sort_by_key(|workspace| ids.iter().position(|id| *id == workspace.id));
    Ok(workspaces.into_iter().map(workspaces::workspace).collect())
}

/// Replaces a session with one in another workspace of the same user. The new session has a new token and keeps the
/// address, user agent and creation time of the old one. The token and the form tokens of the old session are no longer
/// valid.
///
/// # Errors
/// Returns [`Error::NotFound`](super::Error::NotFound) when the user has no access to the workspace, or the session was ended
/// in the meantime.
pub async fn switch_workspace(
    app: &App,
    write: &mut Write,
    viewer: &Viewer,
    workspace_id: WorkspaceId,
) -> Result<(User, SessionId, SecretString)> {
    let users_in_workspace = user_rows::in_workspace(workspace_id.uuid());
    let user_row =
        users_in_workspace.by_email_folded(write.conn(), &email::comparison_key(&viewer.email)).await?;
    let user_row = user_row.ok_or_else(|| not_found::<WorkspaceIdKind>(workspace_id))?;
    // The lock serializes this with a password change, which ends all sessions.
    let user_row = users_in_workspace.lock(write.conn(), user_row.id).await?;
    let user = user_row.map(users::to_user).ok_or_else(|| not_found::<WorkspaceIdKind>(workspace_id))?;
    let rows = sessions::in_workspace(viewer.workspace.id.uuid());
    let old = rows.by_id(write.conn(), viewer.session.uuid()).await?;
    let old = old.ok_or_else(|| not_found::<SessionIdKind>(viewer.session))?;
    end_current(write, viewer).await?;
    let new = NewSession { address: old.address, agent: old.agent, created_at: old.created_at };
    let (session, token) = insert(app, write, &user, new).await?;
    Ok((user, session, token))
}

/// Returns a user's active sessions in all workspaces, most recently used first, at most 100 per workspace.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails.
pub async fn list(app: &App, viewer: &Viewer) -> Result<Vec<Session>> {
    let now_ms = app.clock.now_ms();
    let mut session_rows = Vec::new();
    for user in user_rows::by_email_folded(app.db.read(), &email::comparison_key(&viewer.email)).await? {
        let rows = sessions::in_workspace(user.workspace_id);
        session_rows.extend(rows.of_user(app.db.read(), user.id, MAX_LISTED).await?);
    }
    session_rows.sort_by_key(|row| std::cmp::Reverse((row.seen_at, row.id)));
    Ok(session_rows.into_iter().filter(|row| is_active(row, now_ms)).map(session).collect())
}

/// Ends the current session.
///
/// # Errors
/// Returns [`Error::NotFound`](super::Error::NotFound) when the session was ended in the meantime.
pub async fn end_current(write: &mut Write, viewer: &Viewer) -> Result<()> {
    let rows = sessions::in_workspace(viewer.workspace.id.uuid());
    if rows.end(write.conn(), viewer.user.uuid(), viewer.session.uuid()).await? {
        Ok(())
    } else {
        Err(not_found::<SessionIdKind>(viewer.session))
    }
}

/// Returns the current roles of the user, or `None` when the session was ended. Does not check whether it has expired.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails.
pub async fn current_roles(app: &App, viewer: &Viewer) -> Result<Option<Roles>> {
    read_roles(app.db.read(), viewer).await
}

/// Returns the current roles as [`current_roles`] does, read in an open transaction.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails.
pub async fn current_roles_in(write: &Write, viewer: &Viewer) -> Result<Option<Roles>> {
    read_roles(write.conn(), viewer).await
}

async fn read_roles(conn: &impl Connection, viewer: &Viewer) -> Result<Option<Roles>> {
    let workspace = viewer.workspace.id.uuid();
    if sessions::in_workspace(workspace).by_id(conn, viewer.session.uuid()).await?.is_none() {
        return Ok(None);
    }
    let user = user_rows::in_workspace(workspace).by_id(conn, viewer.user.uuid()).await?;
    Ok(user.map(|user| users::roles(&viewer.workspace, &users::to_user(user))))
}

/// The number of sessions of a user that were ended in one workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedSessions {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The user's id in that workspace.
    pub user: UserId,
    /// The number of ended sessions.
    pub count: u64,
}

/// Ends one of a user's sessions, in any of their workspaces. Invalidates the user's sign-in links, so that none of them starts
/// another session. Returns `None` when the user has no such session. The links are invalidated then, too.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails.
pub async fn end(write: &mut Write, viewer: &Viewer, session: SessionId) -> Result<Option<EndedSessions>> {
    let mut ended = None;
    for row in users::lock_rows(write, &[&viewer.email]).await? {
        sign_in_links::in_workspace(row.workspace_id).delete_for_user(write.conn(), row.id).await?;
        if sessions::in_workspace(row.workspace_id).end(write.conn(), row.id, session.uuid()).await? {
            ended = Some(EndedSessions { workspace: id(row.workspace_id), user: id(row.id), count: 1 });
        }
    }
    Ok(ended)
}

/// Ends all of a user's sessions except the current one, in all of their workspaces, and invalidates the user's sign-in links.
/// Returns the workspaces in which sessions were ended.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when a query fails.
pub async fn end_others(write: &mut Write, viewer: &Viewer) -> Result<Vec<EndedSessions>> {
    let mut ended = Vec::new();
    for row in users::lock_rows(write, &[&viewer.email]).await? {
        sign_in_links::in_workspace(row.workspace_id).delete_for_user(write.conn(), row.id).await?;
        let rows = sessions::in_workspace(row.workspace_id);
        let count = rows.end_others(write.conn(), row.id, Some(viewer.session.uuid())).await?;
        if count > 0 {
            ended.push(EndedSessions { workspace: id(row.workspace_id), user: id(row.id), count });
        }
    }
    Ok(ended)
}

/// Deletes expired sessions.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when the transaction fails. Nothing is deleted then.
pub async fn prune(app: &App) -> Result<()> {
    let write = app.begin_write().await?;
    let now_ms = write.now_ms();
    sessions::delete_expired(write.conn(), now_ms - IDLE_MS, now_ms - MAX_AGE_MS).await?;
    write.commit().await?;
    Ok(())
}

/// Returns whether the session has not expired.
fn is_active(row: &Model, now_ms: i64) -> bool {
    now_ms - row.seen_at < IDLE_MS && now_ms - row.created_at < MAX_AGE_MS
}

fn session(row: Model) -> Session {
    Session {
        id: id(row.id),
        workspace: id(row.workspace_id),
        address: row.address,
        agent: row.agent,
        created_at: from_ms(row.created_at),
        seen_at: from_ms(row.seen_at),
    }
}
