//! Sessions: who is signed in, from where, and until when.
//!
//! A session ends after 12 hours without a request, 30 days after it was begun, or when it is ended. The token leaves
//! this module once, as the result of [`begin`] or [`change`].

use std::net::IpAddr;

use entity::sessions::{self, Model};
use entity::{users as user_rows, workspaces as workspace_rows};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

use super::find::{absent, fresh, id};
use super::students::fold;
use super::users::{self, Recognised, User};
use super::workspaces::{self, Workspace};
use super::{Result, token};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{Session as SessionKind, SessionId, UserId, Workspace as WorkspaceKind, WorkspaceId};

const HOUR_MS: i64 = 3_600_000;
/// A session that was not used for so long has ended.
const IDLE_MS: i64 = 12 * HOUR_MS;
/// A session that was begun so long ago has ended.
const LONGEST_MS: i64 = 30 * 24 * HOUR_MS;
/// The last use is written no more often than this.
const SEEN_EVERY_MS: i64 = 60_000;
/// Sessions shown at most.
const MOST_SHOWN: u64 = 100;

/// Where a session is begun.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The client address.
    pub address: IpAddr,
    /// What the browser calls itself.
    pub agent: &'a str,
}

/// Who is signed in.
#[derive(Debug, Clone)]
pub struct Viewer {
    /// The session.
    pub session: SessionId,
    /// The person.
    pub user: UserId,
    /// The person's address.
    pub email: String,
    /// What the person runs.
    pub workspace: Workspace,
    /// What else the person runs: the workspaces that [`change`] leads to. Not looked for where nobody attends.
    pub others: Vec<Workspace>,
}

/// A session as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The workspace that it is in; [`change`] takes it to another.
    pub workspace: WorkspaceId,
    /// The client address it was begun from.
    pub address: String,
    /// What the browser called itself.
    pub agent: String,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was last used, up to a minute late.
    pub seen_at: Timestamp,
}

/// Begins a session; its token comes out here and nowhere else. `None` when the password is not the person's any more: a
/// new one ends the sessions that there are, and this one would have come after it.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database or the system's generator fails.
pub async fn begin(
    app: &App,
    write: &mut Write,
    known: &Recognised,
    origin: Origin<'_>,
) -> Result<Option<(SessionId, SecretString)>> {
    if !users::is_still(write, known).await? {
        return Ok(None);
    }
    let now_ms = write.now_ms();
    let begun = Begun {
        address: origin.address.to_string(),
        agent: origin.agent.chars().filter(|c| !c.is_control()).take(300).collect(),
        created_at: now_ms,
    };
    insert(app, write, &known.user, begun).await.map(Some)
}

/// How a session was begun, in whichever workspace.
struct Begun {
    address: String,
    agent: String,
    created_at: i64,
}

/// Writes a session of this person, under a new token.
async fn insert(
    app: &App,
    write: &mut Write,
    user: &User,
    begun: Begun,
) -> Result<(SessionId, SecretString)> {
    let token = token::generate()?;
    let hash =
        token::digest(token.expose_secret()).ok_or_else(|| anyhow::anyhow!("a new token has no digest"))?;
    let row = Model {
        id: fresh::<SessionKind>(app, write),
        workspace_id: user.workspace.uuid(),
        user_id: user.id.uuid(),
        token_hash: hash.to_vec(),
        address: begun.address,
        agent: begun.agent,
        created_at: begun.created_at,
        seen_at: write.now_ms(),
    };
    let session = id(row.id);
    sessions::in_workspace(user.workspace.uuid()).insert(write.conn(), row).await?;
    Ok((session, token))
}

/// Who a presented token stands for; `None` when it is unknown, was ended, or is too old. A request that nobody attends to,
/// such as a page's own look for news, does not keep the session alive.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn resume(app: &App, token: &str, attended: bool) -> Result<Option<Viewer>> {
    let Some(hash) = token::digest(token) else { return Ok(None) };
    let Some(row) = sessions::by_token_hash(app.db.read(), &hash).await? else { return Ok(None) };
    let now_ms = app.clock.now_ms();
    if !lives(&row, now_ms) {
        return Ok(None);
    }
    let user = user_rows::in_workspace(row.workspace_id).by_id(app.db.read(), row.user_id).await?;
    let workspace = workspace_rows::by_id(app.db.read(), row.workspace_id).await?;
    let (Some(user), Some(workspace)) = (user, workspace) else { return Ok(None) };
    if attended && now_ms - row.seen_at >= SEEN_EVERY_MS {
        let write = app.begin_write().await?;
        sessions::touch(write.conn(), row.id, now_ms).await?;
        write.commit().await?;
    }
    Ok(Some(Viewer {
        session: id(row.id),
        user: id(user.id),
        others: if attended { others(app, &user).await? } else { Vec::new() },
        email: user.email,
        workspace: workspaces::workspace(workspace),
    }))
}

/// The other workspaces of a person, the one that they came to first first.
async fn others(app: &App, user: &user_rows::Model) -> Result<Vec<Workspace>> {
    let rows = user_rows::by_email_folded(app.db.read(), &user.email_folded).await?;
    let other = |row: &user_rows::Model| (row.workspace_id != user.workspace_id).then_some(row.workspace_id);
    let ids: Vec<Uuid> = rows.iter().filter_map(other).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = workspace_rows::by_ids(app.db.read(), &ids).await?;
    found.sort_by_key(|workspace| ids.iter().position(|id| *id == workspace.id));
    Ok(found.into_iter().map(workspaces::workspace).collect())
}

/// Takes a session to another workspace of the same person, whose password is one over all of them: a new session, as old
/// as this one, under a new token, so that what pages of this one have sent so far ends with it.
///
/// # Errors
/// [`Error::NotFound`](super::Error::NotFound) when the person has no such workspace, or the session was ended meanwhile.
pub async fn change(
    app: &App,
    write: &mut Write,
    viewer: &Viewer,
    to: WorkspaceId,
) -> Result<(User, SessionId, SecretString)> {
    let people = user_rows::in_workspace(to.uuid());
    let there = people.by_email_folded(write.conn(), &fold(&viewer.email)).await?;
    let there = there.ok_or_else(|| absent::<WorkspaceKind>(to))?;
    // A new password, which ends all sessions, waits for this one, or has ended it before.
    let there = people.lock(write.conn(), there.id).await?;
    let user = there.map(users::user).ok_or_else(|| absent::<WorkspaceKind>(to))?;
    let left = sessions::in_workspace(viewer.workspace.id.uuid());
    let left = left.by_id(write.conn(), viewer.session.uuid()).await?;
    let left = left.ok_or_else(|| absent::<SessionKind>(viewer.session))?;
    leave(write, viewer).await?;
    let begun = Begun { address: left.address, agent: left.agent, created_at: left.created_at };
    let (session, token) = insert(app, write, &user, begun).await?;
    Ok((user, session, token))
}

/// A person's sessions in whichever of their workspaces, the one used last first.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn list(app: &App, viewer: &Viewer) -> Result<Vec<Session>> {
    let now_ms = app.clock.now_ms();
    let mut all = Vec::new();
    for row in user_rows::by_email_folded(app.db.read(), &fold(&viewer.email)).await? {
        let rows = sessions::in_workspace(row.workspace_id);
        all.extend(rows.of_user(app.db.read(), row.id, MOST_SHOWN).await?);
    }
    all.sort_by_key(|row| std::cmp::Reverse((row.seen_at, row.id)));
    Ok(all.into_iter().filter(|row| lives(row, now_ms)).map(session).collect())
}

/// Ends the session that somebody is in.
///
/// # Errors
/// [`Error::NotFound`](super::Error::NotFound) when it was ended meanwhile.
pub async fn leave(write: &mut Write, viewer: &Viewer) -> Result<()> {
    let rows = sessions::in_workspace(viewer.workspace.id.uuid());
    if rows.end(write.conn(), viewer.user.uuid(), viewer.session.uuid()).await? {
        Ok(())
    } else {
        Err(absent::<SessionKind>(viewer.session))
    }
}

/// Whether the session that somebody is in has not been ended.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn is_open(app: &App, viewer: &Viewer) -> Result<bool> {
    let rows = sessions::in_workspace(viewer.workspace.id.uuid());
    Ok(rows.by_id(app.db.read(), viewer.session.uuid()).await?.is_some())
}

/// Whether the session that somebody is in has not been ended, as an open write sees it.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn is_open_in(write: &Write, viewer: &Viewer) -> Result<bool> {
    let rows = sessions::in_workspace(viewer.workspace.id.uuid());
    Ok(rows.by_id(write.conn(), viewer.session.uuid()).await?.is_some())
}

/// Sessions of a person that were ended, all of them in one workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The person, as that workspace knows them.
    pub user: UserId,
    /// How many.
    pub count: u64,
}

/// Ends one of a person's sessions, in whichever of their workspaces.
///
/// # Errors
/// [`Error::NotFound`](super::Error::NotFound) when the person has no such session.
pub async fn end(write: &mut Write, viewer: &Viewer, session: SessionId) -> Result<Ended> {
    for row in user_rows::by_email_folded(write.conn(), &fold(&viewer.email)).await? {
        let rows = sessions::in_workspace(row.workspace_id);
        if rows.end(write.conn(), row.id, session.uuid()).await? {
            return Ok(Ended { workspace: id(row.workspace_id), user: id(row.id), count: 1 });
        }
    }
    Err(absent::<SessionKind>(session))
}

/// Ends all of a person's sessions but the one that they are in, in all of their workspaces: from each, [`change`] leads to
/// the others. Says where there were any.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn end_others(write: &mut Write, viewer: &Viewer) -> Result<Vec<Ended>> {
    let mut ended = Vec::new();
    for row in users::lock_all(write, &[&viewer.email]).await? {
        let rows = sessions::in_workspace(row.workspace_id);
        let count = rows.end_others(write.conn(), row.id, Some(viewer.session.uuid())).await?;
        if count > 0 {
            ended.push(Ended { workspace: id(row.workspace_id), user: id(row.id), count });
        }
    }
    Ok(ended)
}

/// Deletes sessions that have ended by themselves.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn prune(app: &App) -> Result<()> {
    let write = app.begin_write().await?;
    let now_ms = write.now_ms();
    sessions::delete_ended(write.conn(), now_ms - IDLE_MS, now_ms - LONGEST_MS).await?;
    write.commit().await?;
    Ok(())
}

fn lives(row: &Model, now_ms: i64) -> bool {
    now_ms - row.seen_at < IDLE_MS && now_ms - row.created_at < LONGEST_MS
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
