//! Manages the users of workspaces, their access, passwords and invitations.
//!
//! A user has one row in each of their workspaces. All rows of an email address have the same password, which is set
//! for all of them at once. Signing in therefore takes one hash comparison, regardless of the number of workspaces.

use entity::users::{self, Model};
use jiff::Timestamp;
use secrecy::SecretString;
use sha2::{Digest as _, Sha256};

use super::records::id;
use super::roles::Roles;
use super::{Result, email, passwords};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{UserId, WorkspaceId};

mod access;
mod invitations;
mod links;
mod member_roles;
mod members;
mod notices;
mod sign_in_links;

use access::set_name;
pub(super) use access::transfer_access;
pub use access::{UserRemoval, add, by_email_in, get, get_in, lock, remove};
pub(super) use invitations::notify_new_owner;
pub use invitations::{
    MAX_MAILS_PER_HOUR, can_receive_mail, has_mail_quota, invite, link_url, mail_link, mail_reset_link,
    queue_link,
};
pub use links::{LINK_HOURS, by_link, create_link, prune_links, set_password};
pub use mail::message::AccountEvent;
pub use member_roles::{RoleChange, is_owner, roles, set_roles};
pub use members::{WorkspaceMember, list_members};
pub use notices::{mail_owners, notify};
pub(crate) use sign_in_links::use_opened_link;
pub use sign_in_links::{
    LinkHolder, OpenedLink, Redeemed, SignInLink, by_sign_in_link, create_sign_in_link, opened_link,
    prune_sign_in_links, redeem_sign_in_link,
};

/// A user of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The id of the user in this workspace. A user has another id in each workspace.
    pub id: UserId,
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The email address as it was entered.
    pub email: String,
    /// Whether the user has set a password.
    pub has_password: bool,
    /// The roles that were assigned to the user. [`roles`] returns those that apply.
    pub assigned_roles: Roles,
    /// When the user was given access to the workspace.
    pub created_at: Timestamp,
}

/// Returns the user with this email address, and gives them access with the default roles first if they have none.
///
/// # Errors
/// Returns [`Error::Invalid`](super::Error::Invalid) when `email` is not an email address, and
/// [`Error::NotFound`](super::Error::NotFound) when the workspace does not exist.
pub async fn ensure(app: &App, write: &mut Write, workspace: WorkspaceId, email: &str) -> Result<User> {
    Ok(add(app, write, workspace, email, Roles::DEFAULT).await?.record)
}

/// Returns the users of a workspace, oldest first.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when the query fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<User>> {
    let rows = users::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    Ok(rows.into_iter().map(to_user).collect())
}

/// A user whose password was verified, and the hash that it was compared with. The hash is compared again when the
/// session is created, to detect a password change in the meantime.
pub struct VerifiedUser {
    /// The user, in the workspace that they joined first.
    pub user: User,
    hash: String,
}

impl VerifiedUser {
    /// Returns the version of the verified password.
    pub fn password_version(&self) -> PasswordVersion {
        PasswordVersion::new(&self.user.email, &self.hash)
    }
}

/// Identifies an account and its password, and changes when a password is set. Reveals neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordVersion([u8; 32]);

impl PasswordVersion {
    fn new(email: &str, hash: &str) -> Self {
        let mut digest = Sha256::new_with_prefix(email::comparison_key(email));
        digest.update([0]);
        digest.update(hash);
        Self(digest.finalize().into())
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the version of the password of this email address. `None` if there is no user or no password.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when the query fails.
pub async fn password_version(app: &App, email: &str) -> Result<Option<PasswordVersion>> {
    let rows = users::by_email_folded(app.db.read(), &email::comparison_key(email)).await?;
    let hash = rows.iter().find_map(|row| row.password_hash.as_deref());
    Ok(hash.map(|hash| PasswordVersion::new(email, hash)))
}

/// Returns the user with this email address and password. `None` when either is wrong, or when the user has not set a
/// password. Takes the same time in all of these cases. Returns `None` for everybody if password sign-in is switched off.
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when the query fails or the stored hash is malformed.
pub async fn verify_login(app: &App, email: &str, password: &SecretString) -> Result<Option<VerifiedUser>> {
    if !app.config.sign_in.password_sign_in {
        return Ok(None);
    }
    let rows = users::by_email_folded(app.db.read(), &email::comparison_key(email)).await?;
    let hash = rows.iter().find_map(|row| row.password_hash.clone());
    let is_correct = passwords::verify(app.passwords(), password, hash.clone()).await?;
    let Some((user, hash)) = rows.into_iter().next().map(to_user).zip(hash) else { return Ok(None) };
    if !is_correct {
        tracing::warn!(user.id = %user.id, "somebody entered an incorrect password");
        return Ok(None);
    }
    Ok(Some(VerifiedUser { user, hash }))
}

/// Returns the user whose password was verified earlier, if it still has this version. `version` contains the bytes of a
/// [`PasswordVersion`].
///
/// # Errors
/// Returns [`Error::Internal`](super::Error::Internal) when the query fails.
pub async fn verified_before(
    app: &App,
    workspace: WorkspaceId,
    user: UserId,
    version: &[u8],
) -> Result<Option<VerifiedUser>> {
    let row = users::in_workspace(workspace.uuid()).by_id(app.db.read(), user.uuid()).await?;
    let Some(row) = row.filter(|_| app.config.sign_in.password_sign_in) else { return Ok(None) };
    let Some(hash) = row.password_hash.clone() else { return Ok(None) };
    let verified = VerifiedUser { user: to_user(row), hash };
    Ok(Some(verified).filter(|verified| verified.password_version().as_bytes() == version))
}

/// Returns whether the user still has the verified password. Returns false if the user was removed. Locks the user's
/// row, so the password cannot change until the transaction ends.
pub(super) async fn is_password_unchanged(write: &Write, verified: &VerifiedUser) -> Result<bool> {
    let rows = users::in_workspace(verified.user.workspace.uuid());
    let row = rows.lock(write.conn(), verified.user.id.uuid()).await?;
    Ok(row.is_some_and(|row| row.password_hash.as_ref() == Some(&verified.hash)))
}

/// Locks and returns all rows of the users with these email addresses, across workspaces. While they are locked, none of the
/// users' sessions can switch to another workspace and no password link can be created.
///
/// Locks rows by ascending id and reads them again until all are locked: another transaction can add a user to a
/// further workspace in the meantime, and copies the password hash to the new row.
pub(super) async fn lock_rows(write: &Write, emails: &[&str]) -> Result<Vec<Model>> {
    let mut rows = find_rows(write, emails).await?;
    loop {
        rows.sort_unstable_by_key(|row| row.id);
        let mut locked_rows = Vec::with_capacity(rows.len());
        for row in &rows {
            // Skips a row that was deleted in the meantime.
            locked_rows.extend(users::in_workspace(row.workspace_id).lock(write.conn(), row.id).await?);
        }
        rows = find_rows(write, emails).await?;
        if rows.iter().all(|row| locked_rows.iter().any(|locked| locked.id == row.id)) {
            return Ok(locked_rows);
        }
    }
}

async fn find_rows(write: &Write, emails: &[&str]) -> Result<Vec<Model>> {
    let mut rows = Vec::new();
    for email in emails {
        rows.extend(users::by_email_folded(write.conn(), &email::comparison_key(email)).await?);
    }
    Ok(rows)
}

pub(super) fn to_user(row: Model) -> User {
    User {
        id: id(row.id),
        workspace: id(row.workspace_id),
        email: row.email,
        has_password: row.password_hash.is_some(),
        assigned_roles: Roles::from_bits(row.roles),
        created_at: from_ms(row.created_at),
    }
}
