//! Creates sessions: after signing in, and by switching to another workspace.

use entity::sessions::{self, Model};
use entity::users as user_rows;
use foundation::database::Write;
use foundation::id::{Session as SessionIdKind, SessionId, Workspace as WorkspaceIdKind, WorkspaceId};
use foundation::secret::Seal;
use secrecy::SecretString;

use super::{Proof, SessionClient, Viewer, end_current, proof};
use crate::app::App;
use crate::people::{self, CodeCheck};
use crate::records::{id, new_uuid, not_found};
use crate::users::{self, OpenedLink, User, VerifiedUser};
use crate::{Result, email, token};

/// Creates a session and returns its id and token. Returns `None` when the user's password was changed after it was
/// verified, because a password change ends all sessions, when the user was removed from the workspace, or when the user has a
/// second factor, so that only [`create_with_code`] creates a session.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query or the operating system's random generator fails.
pub async fn create(
    app: &App,
    write: &mut Write,
    verified: &VerifiedUser,
    client: SessionClient<'_>,
) -> Result<Option<(SessionId, SecretString)>> {
    if !users::is_password_unchanged(write, verified).await? {
        return Ok(None);
    }
    if people::has_second_factor_in(write, &verified.user.email).await? {
        return Ok(None);
    }
    create_for(app, write, &verified.user, client, Proof::default()).await.map(Some)
}

/// What a person proved before they are asked for a code.
pub enum FirstFactor {
    /// They know the password.
    Password(VerifiedUser),
    /// They opened a sign-in link.
    Link(OpenedLink),
}

impl FirstFactor {
    /// Returns the user.
    pub const fn user(&self) -> &User {
        match self {
            Self::Password(verified) => &verified.user,
            Self::Link(opened) => &opened.user,
        }
    }
}

/// The result of [`create_with_code`].
pub enum CodeSignIn {
    /// The session's id and token, and the number of recovery codes that are left if one was used.
    Started(SessionId, SecretString, Option<u64>),
    /// The code is wrong.
    WrongCode,
    /// The password was changed, the link was invalidated, or the user was removed in the meantime.
    Expired,
}

/// Creates a session of a user who proved a first factor, if the code of the second one is right, and uses the code up. If no session
/// is started, the caller must roll the transaction back.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query or the operating system's random generator fails.
pub async fn create_with_code(
    app: &App,
    write: &mut Write,
    seal: &Seal,
    first: &FirstFactor,
    code: &str,
    client: SessionClient<'_>,
) -> Result<CodeSignIn> {
    let user = first.user();
    let is_valid = match first {
        FirstFactor::Password(verified) => users::is_password_unchanged(write, verified).await?,
        FirstFactor::Link(opened) => users::use_opened_link(write, opened).await?,
    };
    if !is_valid {
        return Ok(CodeSignIn::Expired);
    }
    let left = match people::check_code(write, seal, &user.email, code).await? {
        CodeCheck::Wrong => return Ok(CodeSignIn::WrongCode),
        CodeCheck::Right => None,
        CodeCheck::Recovery { left } => Some(left),
    };
    let proof = Proof { has_second_factor: true, uses_provider: false };
    let (session, token) = create_for(app, write, user, client, proof).await?;
    Ok(CodeSignIn::Started(session, token, left))
}

/// Creates a session of a user who signed in with a provider, and returns its id and token. The caller got the user from
/// [`people::sign_in_with_provider`] in the same transaction. `authenticated_ms` is when the user entered their credentials at the
/// provider, in milliseconds since the epoch. If the provider does not say it, the user has to confirm their identity before the
/// first sensitive action.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query or the operating system's random generator fails.
pub async fn create_with_provider(
    app: &App,
    write: &mut Write,
    user: &User,
    client: SessionClient<'_>,
    authenticated_ms: Option<i64>,
) -> Result<(SessionId, SecretString)> {
    let proof = Proof { has_second_factor: false, uses_provider: true };
    let authenticated_at = authenticated_ms.unwrap_or_default().clamp(0, write.now_ms());
    insert(app, write, user, NewSession { authenticated_at, ..new_session(write, client, proof) }).await
}

/// Creates a session of a user whose row the caller has locked, and returns its id and token.
pub(crate) async fn create_for(
    app: &App,
    write: &mut Write,
    user: &User,
    client: SessionClient<'_>,
    proof: Proof,
) -> Result<(SessionId, SecretString)> {
    insert(app, write, user, new_session(write, client, proof)).await
}

/// Returns the values of a session of a user who has just entered their credentials.
fn new_session(write: &Write, client: SessionClient<'_>, proof: Proof) -> NewSession {
    NewSession {
        address: client.address.to_string(),
        agent: client.agent.chars().filter(|c| !c.is_control()).take(300).collect(),
        created_at: write.now_ms(),
        authenticated_at: write.now_ms(),
        proof,
    }
}

/// The values that [`switch_workspace`] copies from the replaced session to the new one.
struct NewSession {
    address: String,
    agent: String,
    /// In milliseconds since the epoch.
    created_at: i64,
    /// In milliseconds since the epoch.
    authenticated_at: i64,
    proof: Proof,
}

/// Returns a new token with its digest.
pub(super) fn new_token() -> Result<(SecretString, Vec<u8>)> {
    let (token, hash) = token::generate_with_digest()?;
    Ok((token, hash.to_vec()))
}

/// Inserts a session of this user with a new token.
async fn insert(
    app: &App,
    write: &mut Write,
    user: &User,
    new: NewSession,
) -> Result<(SessionId, SecretString)> {
    let (token, token_hash) = new_token()?;
    let row = Model {
        id: new_uuid::<SessionIdKind>(app, write),
        workspace_id: user.workspace.uuid(),
        user_id: user.id.uuid(),
        token_hash,
        address: new.address,
        agent: new.agent,
        created_at: new.created_at,
        seen_at: write.now_ms(),
        authenticated_at: new.authenticated_at,
        has_second_factor: new.proof.has_second_factor,
        uses_provider: new.proof.uses_provider,
        in_sandbox: false,
    };
    let session = id(row.id);
    sessions::in_workspace(user.workspace.uuid()).insert(write.conn(), row).await?;
    Ok((session, token))
}

/// Replaces a session with one in another workspace of the same user. The new session has a new token and keeps the
/// address, user agent, creation time and proof of identity of the old one. The token and the form tokens of the old session are no longer
/// valid.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the user has no access to the workspace, or the session was ended
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
    let rows = sessions::in_workspace(viewer.live_workspace.id.uuid());
    let old = rows.by_id(write.conn(), viewer.session.uuid()).await?;
    let old = old.ok_or_else(|| not_found::<SessionIdKind>(viewer.session))?;
    end_current(write, viewer).await?;
    let new = NewSession {
        created_at: old.created_at,
        authenticated_at: old.authenticated_at,
        proof: proof(&old),
        address: old.address,
        agent: old.agent,
    };
    let (session, token) = insert(app, write, &user, new).await?;
    Ok((user, session, token))
}
