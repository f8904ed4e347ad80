//! Manages dashboard sessions.
//!
//! A session expires 12 hours after its most recent user request, or 30 days after it was created. It ends earlier when
//! the user signs out, ends it from another session, switches to another workspace, sets a new password or is removed
//! from the workspace. Only the functions that create a session return its token; the database stores a digest.
//!
//! A session knows how its user proved their identity, and when they last did. Some forms require that this was recently, and a
//! workspace can require a second factor.

use std::net::IpAddr;

use entity::sessions::{self, ActiveModel, Model};
use entity::{Connection, NotSet, Set, sign_in_links, users as user_rows, workspaces as workspace_rows};
use jiff::Timestamp;
use secrecy::SecretString;
use uuid::Uuid;

use crate::app::App;
use crate::records::{id, not_found};
use crate::roles::Roles;
use crate::users;
use crate::workspaces::{self, Workspace};
use crate::{Error, Result, email, token};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Session as SessionIdKind, SessionId, UserId, WorkspaceId};

mod create;

pub(crate) use create::create_for;
pub use create::{CodeSignIn, FirstFactor, create, create_with_code, create_with_provider, switch_workspace};

const HOUR_MS: i64 = 3_600_000;
/// A session expires this long after its most recent use, in milliseconds.
const IDLE_MS: i64 = 12 * HOUR_MS;
/// A session expires this long after its creation, in milliseconds.
const MAX_AGE_MS: i64 = 30 * 24 * HOUR_MS;
/// Minimum time between two updates of `seen_at`, in milliseconds.
const SEEN_RESOLUTION_MS: i64 = 60_000;
/// How long a proof of identity counts as recent, in milliseconds.
const RECENT_MS: i64 = 10 * 60_000;
/// How far the clock of the server that recorded a proof may be ahead, in milliseconds.
const MAX_CLOCK_DIFFERENCE_MS: i64 = 60_000;
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
    /// The user's roles in the live workspace and its sandbox, when the request began.
    pub roles: Roles,
    /// How the user proved their identity.
    pub proof: Proof,
    /// When the user last proved it.
    pub authenticated_at: Timestamp,
    /// The workspace whose data the session shows: the live workspace or its sandbox.
    pub workspace: Workspace,
    /// The workspace to which the user and the session belong.
    pub live_workspace: Workspace,
    /// Whether the session shows live data because the sandbox that it showed was deleted. [`forget_sandbox`] resets it.
    pub has_lost_sandbox: bool,
    /// The user's other workspaces, which [`switch_workspace`] switches to. Empty for background requests.
    pub other_workspaces: Vec<Workspace>,
}

/// How a user proved their identity, besides a password or a link of the platform.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proof {
    /// With a code of the second factor.
    pub has_second_factor: bool,
    /// With an OpenID Connect provider, which decides about second factors itself.
    pub uses_provider: bool,
}

impl Viewer {
    /// Returns whether the session shows the sandbox.
    pub fn is_in_sandbox(&self) -> bool {
        self.workspace.id != self.live_workspace.id
    }

    /// Returns whether the workspace requires a second factor that the user has not used.
    pub fn lacks_second_factor(&self) -> bool {
        let Proof { has_second_factor, uses_provider } = self.proof;
        self.live_workspace.requires_second_factor && !has_second_factor && !uses_provider
    }

    /// Returns whether the user proved their identity in the last ten minutes.
    pub fn is_recently_authenticated(&self, now: Timestamp) -> bool {
        let age_ms = now.as_millisecond() - self.authenticated_at.as_millisecond();
        // A clock that was set back does not extend the time. Clocks of several servers may differ a little.
        (-MAX_CLOCK_DIFFERENCE_MS..RECENT_MS).contains(&age_ms)
    }
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

/// Records that the user has no second factor any more.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the session was ended in the meantime.
pub(crate) async fn remove_second_factor(write: &Write, viewer: &Viewer) -> Result<()> {
    let changes = ActiveModel { has_second_factor: Set(false), ..Default::default() };
    update(write, viewer, changes).await
}

/// Records that the user has just proved their identity again. With `has_second_factor`, also with a code. Returns the new token of
/// the session. The old one is no longer valid, so that who knows it gains nothing from the proof.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the session was ended in the meantime, and
/// [`Error::Internal`](crate::Error::Internal) when a query or the operating system's random generator fails.
pub async fn confirm(write: &Write, viewer: &Viewer, has_second_factor: bool) -> Result<SecretString> {
    let (token, hash) = create::new_token()?;
    let changes = ActiveModel {
        token_hash: Set(hash),
        authenticated_at: Set(write.now_ms()),
        has_second_factor: if has_second_factor { Set(true) } else { NotSet },
        ..Default::default()
    };
    update(write, viewer, changes).await?;
    Ok(token)
}

/// Lets the session show the sandbox of its workspace. Returns the new token of the session. The old one and the form tokens of open
/// pages are no longer valid, so that no form of a page with live data changes the sandbox.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no sandbox, or the session was ended in the meantime.
pub async fn enter_sandbox(write: &Write, viewer: &Viewer) -> Result<SecretString> {
    let live = viewer.live_workspace.id;
    if workspace_rows::sandbox_of(write.conn(), live.uuid()).await?.is_none() {
        return Err(Error::not_found("sandbox", &viewer.live_workspace.key));
    }
    show(write, viewer, true).await
}

/// Lets the session show the live workspace, as [`enter_sandbox`] lets it show the sandbox.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the session was ended in the meantime.
pub async fn leave_sandbox(write: &Write, viewer: &Viewer) -> Result<SecretString> {
    show(write, viewer, false).await
}

/// Records that the user knows that the sandbox, which the session showed, was deleted. The token of the session stays.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the session was ended in the meantime.
pub async fn forget_sandbox(app: &App, viewer: &Viewer) -> Result<()> {
    let write = app.begin_write().await?;
    update(&write, viewer, ActiveModel { in_sandbox: Set(false), ..Default::default() }).await?;
    Ok(write.commit().await?)
}

async fn show(write: &Write, viewer: &Viewer, in_sandbox: bool) -> Result<SecretString> {
    let (token, hash) = create::new_token()?;
    let changes = ActiveModel { token_hash: Set(hash), in_sandbox: Set(in_sandbox), ..Default::default() };
    update(write, viewer, changes).await?;
    Ok(token)
}

async fn update(write: &Write, viewer: &Viewer, changes: ActiveModel) -> Result<()> {
    let rows = sessions::in_workspace(viewer.live_workspace.id.uuid());
    if rows.update(write.conn(), viewer.session.uuid(), changes).await? {
        Ok(())
    } else {
        Err(not_found::<SessionIdKind>(viewer.session))
    }
}

/// Returns the signed-in user of a session token, or `None` when the session is unknown, or has ended or expired.
/// Background requests, such as a page polling for updates, do not extend the session (`is_user_request` is false).
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
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
    // A session outlives the sandbox that it showed.
    let sandbox = match row.in_sandbox {
        true => workspace_rows::sandbox_of(app.db.read(), row.workspace_id).await?,
        false => None,
    };
    let has_lost_sandbox = row.in_sandbox && sandbox.is_none();
    let (live_workspace, user) = (workspaces::workspace(workspace), users::to_user(user));
    let workspace = sandbox.map_or_else(|| live_workspace.clone(), workspaces::workspace);
    Ok(Some(Viewer {
        session: id(row.id),
        user: user.id,
        roles: users::roles(&live_workspace, &user),
        proof: proof(&row),
        authenticated_at: from_ms(row.authenticated_at),
        email: user.email,
        workspace,
        live_workspace,
        has_lost_sandbox,
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

/// Returns a user's active sessions in all workspaces, most recently used first, at most 100 per workspace.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
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
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the session was ended in the meantime.
pub async fn end_current(write: &mut Write, viewer: &Viewer) -> Result<()> {
    let rows = sessions::in_workspace(viewer.live_workspace.id.uuid());
    if rows.end(write.conn(), viewer.user.uuid(), viewer.session.uuid()).await? {
        Ok(())
    } else {
        Err(not_found::<SessionIdKind>(viewer.session))
    }
}

/// Returns the current roles of the user, or `None` when the session was ended. Does not check whether it has expired.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn current_roles(app: &App, viewer: &Viewer) -> Result<Option<Roles>> {
    read_roles(app.db.read(), viewer).await
}

/// Returns the current roles as [`current_roles`] does, read in an open transaction.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn current_roles_in(write: &Write, viewer: &Viewer) -> Result<Option<Roles>> {
    read_roles(write.conn(), viewer).await
}

async fn read_roles(conn: &impl Connection, viewer: &Viewer) -> Result<Option<Roles>> {
    let workspace = viewer.live_workspace.id.uuid();
    if sessions::in_workspace(workspace).by_id(conn, viewer.session.uuid()).await?.is_none() {
        return Ok(None);
    }
    let user = user_rows::in_workspace(workspace).by_id(conn, viewer.user.uuid()).await?;
    Ok(user.map(|user| users::roles(&viewer.live_workspace, &users::to_user(user))))
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
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
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
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
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
/// Returns [`Error::Internal`](crate::Error::Internal) when the transaction fails. Nothing is deleted then.
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

fn proof(row: &Model) -> Proof {
    Proof { has_second_factor: row.has_second_factor, uses_provider: row.uses_provider }
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
