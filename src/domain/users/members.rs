//! Lists the users of a workspace for the dashboard.

use jiff::Timestamp;

use super::{User, is_owner, list, roles};
use crate::app::App;
use crate::roles::Roles;
use crate::workspaces::Workspace;
use crate::{Result, audit};

/// A user of a workspace, with their role and last sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceMember {
    /// The user.
    pub user: User,
    /// The roles that apply to the user.
    pub roles: Roles,
    /// Whether the platform names the user as the owner. This user cannot be removed and keeps the role.
    pub is_owner: bool,
    /// When the user most recently signed in to this workspace or switched to it. `None` if the user never did. Show
    /// this and not `user.has_password`, which would disclose that the user has an account in another workspace.
    pub signed_in_at: Option<Timestamp>,
}

/// Returns the users of a workspace, oldest first.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when a query fails.
pub async fn list_members(app: &App, workspace: &Workspace) -> Result<Vec<WorkspaceMember>> {
    let signed_in = audit::last_sign_ins(app, workspace.id).await?;
    let users = list(app, workspace.id).await?;
    let member = |user: User| WorkspaceMember {
        roles: roles(workspace, &user),
        is_owner: is_owner(workspace, &user),
        signed_in_at: signed_in.get(&user.id).copied(),
        user,
    };
    Ok(users.into_iter().map(member).collect())
}
