//! The people of a workspace as its page of them shows them.

use jiff::Timestamp;

use super::{User, is_owner, list};
use crate::app::App;
use crate::workspaces::Workspace;
use crate::{Result, audit};

/// A person of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The person.
    pub user: User,
    /// Whether the person owns the workspace, and so cannot be removed.
    pub is_owner: bool,
    /// When the person last signed in to this workspace; `None` while the invitation is pending. Whether the person has a
    /// password for another workspace is not to be told here.
    pub signed_in_at: Option<Timestamp>,
}

/// The people of a workspace, oldest first.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn members(app: &App, workspace: &Workspace) -> Result<Vec<Member>> {
    let signed_in = audit::last_sign_ins(app, workspace.id).await?;
    let people = list(app, workspace.id).await?;
    let member = |user: User| Member {
        is_owner: is_owner(workspace, &user),
        signed_in_at: signed_in.get(&user.id).copied(),
        user,
    };
    Ok(people.into_iter().map(member).collect())
}
