//! Grants and revokes access to a workspace.
//!
//! Users are added and removed while the row of their workspace is locked, which serializes these changes within a workspace.
//! Lock order: first the workspace, then the rows of users by ascending id.

use entity::Set;
use entity::users::{self, Model};
use entity::{mails, password_links, sessions, workspaces as workspace_rows};

use super::{User, is_owner, lock_rows, to_user};
use crate::app::App;
use crate::email::{self, comparison_key};
use crate::field_errors::FieldErrors;
use crate::records::{new_uuid, not_found};
use crate::roles::Roles;
use crate::workspaces::{Workspace, workspace};
use crate::{Result, WriteOutcome};
use foundation::database::Write;
use foundation::id::{User as UserIdKind, UserId, Workspace as WorkspaceIdKind, WorkspaceId};

/// Locks a workspace until the transaction ends. Other transactions wait before they add or remove users or change the owner.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace does not exist.
pub async fn lock(write: &Write, workspace_id: WorkspaceId) -> Result<Workspace> {
    let row = workspace_rows::lock(write.conn(), workspace_id.uuid()).await?;
    row.map(workspace).ok_or_else(|| not_found::<WorkspaceIdKind>(workspace_id))
}

/// Gives the user with this email address access to the workspace with these roles, and returns the user with `changed` false
/// and other roles if they already have access. A user who has a password in another workspace signs in with the same password.
///
/// # Errors
/// Returns [`Error::Invalid`](crate::Error::Invalid) when nobody can sign in with `email` or the workspace is a sandbox, and
/// [`Error::NotFound`](crate::Error::NotFound) when the workspace does not exist.
pub async fn add(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    email: &str,
    roles: Roles,
) -> Result<WriteOutcome<User>> {
    let mut errors = FieldErrors::default();
    errors.check_sign_in_email("email", email);
    check_roles(&mut errors, roles);
    errors.into_result()?;
    lock(write, workspace).await?.check_has_members()?;
    let locked = lock_rows(write, &[email]).await?;
    insert(app, write, workspace, email, roles, &locked).await
}

/// Adds an error if the set of roles is empty.
pub(super) fn check_roles(errors: &mut FieldErrors, roles: Roles) {
    if roles.is_empty() {
        errors.add("role", "must name at least one role");
    }
}

/// Inserts the user's row unless the user already has one in the workspace. `locked` contains the user's rows in all
/// workspaces, and may contain rows of others.
async fn insert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    email: &str,
    roles: Roles,
    locked: &[Model],
) -> Result<WriteOutcome<User>> {
    let folded = comparison_key(email);
    let mut rows = locked.iter().filter(|row| row.email_folded == folded);
    if let Some(row) = rows.clone().find(|row| row.workspace_id == workspace.uuid()) {
        return Ok(WriteOutcome::unchanged(to_user(row.clone())));
    }
    let row = Model {
        id: new_uuid::<UserIdKind>(app, write),
        workspace_id: workspace.uuid(),
        email: email.to_owned(),
        password_hash: rows.find_map(|row| row.password_hash.clone()),
        email_folded: folded,
        name: None,
        // The oldest row is the one that password links are mailed to, whatever the clock does.
        created_at: write.recorded_ms(),
        updated_at: write.recorded_ms(),
        roles: roles.bits(),
    };
    users::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    Ok(WriteOutcome::changed(to_user(row)))
}

/// Stores the name of a user.
pub(super) async fn set_name(write: &Write, user: &User, name: Option<&str>) -> Result<()> {
    let changes = users::ActiveModel { name: Set(name.map(str::to_owned)), ..Default::default() };
    users::in_workspace(user.workspace.uuid()).update(write.conn(), user.id.uuid(), changes).await?;
    Ok(())
}

/// Returns the user with this id.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such user.
pub async fn get(app: &App, workspace: WorkspaceId, user_id: UserId) -> Result<User> {
    let row = users::in_workspace(workspace.uuid()).by_id(app.db.read(), user_id.uuid()).await?;
    row.map(to_user).ok_or_else(|| not_found::<UserIdKind>(user_id))
}

/// Returns the user with this id, read in an open transaction.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such user.
pub async fn get_in(write: &Write, workspace: WorkspaceId, user_id: UserId) -> Result<User> {
    let row = users::in_workspace(workspace.uuid()).by_id(write.conn(), user_id.uuid()).await?;
    row.map(to_user).ok_or_else(|| not_found::<UserIdKind>(user_id))
}

/// Returns the user with this email address, read in an open transaction. `None` when the workspace has no such user.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn by_email_in(write: &Write, workspace: WorkspaceId, email: &str) -> Result<Option<User>> {
    let rows = users::in_workspace(workspace.uuid());
    Ok(rows.by_email_folded(write.conn(), &comparison_key(email)).await?.map(to_user))
}

/// The result of [`remove`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserRemoval {
    /// The user no longer has access.
    Removed(User),
    /// The user owns the workspace and was not removed.
    Owner(User),
}

/// Removes a user from a workspace, unless the user owns it. The same transaction deletes the user's sessions and
/// password links in the workspace and cancels the user's pending mail from the workspace.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such user.
pub async fn remove(write: &Write, workspace: WorkspaceId, user_id: UserId) -> Result<UserRemoval> {
    let workspace = lock(write, workspace).await?;
    let row = users::in_workspace(workspace.id.uuid()).lock(write.conn(), user_id.uuid()).await?;
    let row = row.ok_or_else(|| not_found::<UserIdKind>(user_id))?;
    let user = to_user(row);
    if is_owner(&workspace, &user) {
        return Ok(UserRemoval::Owner(user));
    }
    delete_user(write, &user).await?;
    Ok(UserRemoval::Removed(user))
}

/// The users affected by [`transfer_access`].
pub(crate) struct AccessTransfer {
    /// The new owner, and whether the access is new.
    pub(crate) owner: WriteOutcome<User>,
    /// The previous owner, if that user had access.
    pub(crate) removed: Option<User>,
}

/// Removes the previous owner of a workspace and gives the new owner access. The caller has locked the workspace, and
/// updates its `owner_email`.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub(crate) async fn transfer_access(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    previous_email: &str,
    new_email: &str,
) -> Result<AccessTransfer> {
    let locked = lock_rows(write, &[previous_email, new_email]).await?;
    let folded = comparison_key(previous_email);
    let previous =
        locked.iter().find(|row| row.workspace_id == workspace.uuid() && row.email_folded == folded);
    let removed = previous.cloned().map(to_user);
    if let Some(user) = &removed {
        delete_user(write, user).await?;
    }
    let owner = insert(app, write, workspace, new_email, Roles::OWNER, &locked).await?;
    Ok(AccessTransfer { owner, removed })
}

/// Deletes a user's row, sessions and password links in the workspace, and cancels the user's pending mail from the
/// workspace. The caller has locked the row.
async fn delete_user(write: &Write, user: &User) -> Result<()> {
    let (workspace, id) = (user.workspace.uuid(), user.id.uuid());
    sessions::in_workspace(workspace).end_others(write.conn(), id, None).await?;
    password_links::in_workspace(workspace).delete_for_user(write.conn(), id).await?;
    let mails = mails::in_workspace(workspace);
    let mut pending = mails.pending(write.conn()).await?;
    pending.retain(|mail| email::is_same(&mail.recipient, &user.email));
    let pending: Vec<_> = pending.iter().map(|mail| mail.id).collect();
    mails.cancel(write.conn(), &pending, "the recipient was removed from the workspace").await?;
    users::in_workspace(workspace).delete(write.conn(), id).await?;
    Ok(())
}
