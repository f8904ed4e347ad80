//! The roles of users. The owner of a workspace, whom the platform names, always has the role of an owner. So no workspace is
//! left without an owner, whichever changes run at the same time. Other users can have this role, too.

use entity::Set;
use entity::users::{self, ActiveModel};

use super::access::check_roles;
use super::{User, lock, to_user};
use crate::field_errors::FieldErrors;
use crate::records::not_found;
use crate::roles::Roles;
use crate::workspaces::Workspace;
use crate::{Result, email};
use foundation::database::Write;
use foundation::id::{User as UserIdKind, UserId, WorkspaceId};

/// Returns whether this user is the owner whom the platform names.
pub fn is_owner(workspace: &Workspace, user: &User) -> bool {
    email::is_same(&workspace.owner_email, &user.email)
}

/// Returns the roles of a user of this workspace.
pub fn roles(workspace: &Workspace, user: &User) -> Roles {
    if is_owner(workspace, user) { Roles::OWNER } else { user.assigned_roles }
}

/// The result of [`set_roles`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleChange {
    /// The user has the new roles.
    Changed(User),
    /// The user had these roles already.
    Unchanged(User),
    /// The user is the owner whom the platform names. Nothing was changed.
    Owner(User),
}

/// Replaces the roles of a user. The user's open pages and sessions have the new roles from the next request on.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace has no such user, and
/// [`Error::Invalid`](crate::Error::Invalid) when the set of roles is empty.
pub async fn set_roles(
    write: &Write,
    workspace: WorkspaceId,
    user_id: UserId,
    roles: Roles,
) -> Result<RoleChange> {
    let mut errors = FieldErrors::default();
    check_roles(&mut errors, roles);
    errors.into_result()?;
    let workspace = lock(write, workspace).await?;
    let rows = users::in_workspace(workspace.id.uuid());
    let row = rows.lock(write.conn(), user_id.uuid()).await?;
    let row = row.ok_or_else(|| not_found::<UserIdKind>(user_id))?;
    let user = User { assigned_roles: roles, ..to_user(row.clone()) };
    if is_owner(&workspace, &user) {
        return Ok(RoleChange::Owner(user));
    }
    if row.roles == roles.bits() {
        return Ok(RoleChange::Unchanged(user));
    }
    let changes =
        ActiveModel { roles: Set(roles.bits()), updated_at: Set(write.recorded_ms()), ..Default::default() };
    rows.update(write.conn(), row.id, changes).await?;
    Ok(RoleChange::Changed(user))
}
