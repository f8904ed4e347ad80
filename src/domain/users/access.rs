//! Who has access to a workspace.
//!
//! People are added and removed while the row of their workspace is locked, so that such changes of one workspace happen one
//! after another. The lock order is the workspace first, then the rows of people by ascending id.

use entity::users::{self, Model};
use entity::{mails, password_links, sessions, workspaces as workspace_rows};

use super::{User, lock_all, same_address, user};
use crate::app::App;
use crate::faults::Faults;
use crate::find::{absent, fresh};
use crate::students::fold;
use crate::workspaces::{Workspace, workspace};
use crate::{Changed, Result};
use foundation::database::Write;
use foundation::id::{User as UserKind, UserId, Workspace as WorkspaceKind, WorkspaceId};

/// Locks a workspace until the write ends: nobody else adds or removes people, or changes the owner, meanwhile.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when there is no such workspace.
pub async fn lock(write: &Write, workspace_id: WorkspaceId) -> Result<Workspace> {
    let row = workspace_rows::lock(write.conn(), workspace_id.uuid()).await?;
    row.map(workspace).ok_or_else(|| absent::<WorkspaceKind>(workspace_id))
}

/// Gives the person with this address access to the workspace. A person who has a password for another workspace signs in
/// with the same one.
///
/// # Errors
/// [`Error::Invalid`](crate::Error::Invalid) when `email` is not an address.
pub async fn add(app: &App, write: &mut Write, workspace: WorkspaceId, email: &str) -> Result<Changed<User>> {
    let mut faults = Faults::default();
    faults.email("email", email);
    faults.check()?;
    lock(write, workspace).await?;
    let held = lock_all(write, &[email]).await?;
    insert(app, write, workspace, email, &held).await
}

/// Writes the person's row, unless it is among the rows that the write holds: those of the person in all workspaces.
async fn insert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    email: &str,
    held: &[Model],
) -> Result<Changed<User>> {
    let folded = fold(email);
    let mut rows = held.iter().filter(|row| row.email_folded == folded);
    if let Some(row) = rows.clone().find(|row| row.workspace_id == workspace.uuid()) {
        return Ok(Changed::before(user(row.clone())));
    }
    let row = Model {
        id: fresh::<UserKind>(app, write),
        workspace_id: workspace.uuid(),
        email: email.to_owned(),
        password_hash: rows.find_map(|row| row.password_hash.clone()),
        email_folded: folded,
        name: None,
        created_at: write.now_ms(),
        updated_at: write.now_ms(),
    };
    users::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    Ok(Changed::now(user(row)))
}

/// The person with this id.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when nobody in the workspace has it.
pub async fn get(app: &App, workspace: WorkspaceId, person: UserId) -> Result<User> {
    let row = users::in_workspace(workspace.uuid()).by_id(app.db.read(), person.uuid()).await?;
    row.map(user).ok_or_else(|| absent::<UserKind>(person))
}

/// The person with this id, as an open write sees them.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when nobody in the workspace has it.
pub async fn get_in(write: &Write, workspace: WorkspaceId, person: UserId) -> Result<User> {
    let row = users::in_workspace(workspace.uuid()).by_id(write.conn(), person.uuid()).await?;
    row.map(user).ok_or_else(|| absent::<UserKind>(person))
}

/// The person with this address, as an open write sees them; `None` when the workspace has none.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub async fn by_email_in(write: &Write, workspace: WorkspaceId, email: &str) -> Result<Option<User>> {
    let people = users::in_workspace(workspace.uuid());
    Ok(people.by_email_folded(write.conn(), &fold(email)).await?.map(user))
}

/// Whether this person owns the workspace.
pub fn is_owner(workspace: &Workspace, person: &User) -> bool {
    same_address(&workspace.owner_email, &person.email)
}

/// What a removal came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// The person has no access any more.
    Removed(User),
    /// The person owns the workspace. Nothing was changed.
    Owner(User),
}

/// Removes a person from a workspace. In the same transaction, the person's sessions in the workspace and the links that were
/// made in it end, and mail that waits for the person is withdrawn.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) when nobody in the workspace has this id.
pub async fn remove(write: &Write, workspace: WorkspaceId, person: UserId) -> Result<Removal> {
    let workspace = lock(write, workspace).await?;
    let row = users::in_workspace(workspace.id.uuid()).lock(write.conn(), person.uuid()).await?;
    let row = row.ok_or_else(|| absent::<UserKind>(person))?;
    let person = user(row);
    if is_owner(&workspace, &person) {
        return Ok(Removal::Owner(person));
    }
    take_out(write, &person).await?;
    Ok(Removal::Removed(person))
}

/// A workspace's new owner.
pub(crate) struct Handover {
    /// The new owner, and whether the access is new.
    pub(crate) owner: Changed<User>,
    /// The previous owner, when that person had access.
    pub(crate) removed: Option<User>,
}

/// Moves the access of a workspace's owner to another person. The caller holds the workspace and writes its owner.
///
/// # Errors
/// [`Error::Internal`](crate::Error::Internal) when the database fails.
pub(crate) async fn hand_over(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    from: &str,
    to: &str,
) -> Result<Handover> {
    let held = lock_all(write, &[from, to]).await?;
    let folded = fold(from);
    let before = held.iter().find(|row| row.workspace_id == workspace.uuid() && row.email_folded == folded);
    let removed = before.cloned().map(user);
    if let Some(person) = &removed {
        take_out(write, person).await?;
    }
    let owner = insert(app, write, workspace, to, &held).await?;
    Ok(Handover { owner, removed })
}

/// Deletes the row of a person, which the write holds, with everything that gives access by it.
async fn take_out(write: &Write, person: &User) -> Result<()> {
    let (workspace, id) = (person.workspace.uuid(), person.id.uuid());
    sessions::in_workspace(workspace).end_others(write.conn(), id, None).await?;
    password_links::in_workspace(workspace).delete_of(write.conn(), id).await?;
    let mails = mails::in_workspace(workspace);
    let mut waiting = mails.pending(write.conn()).await?;
    waiting.retain(|mail| same_address(&mail.recipient, &person.email));
    let waiting: Vec<_> = waiting.iter().map(|mail| mail.id).collect();
    mails.withdraw(write.conn(), &waiting, "the recipient was removed from the workspace").await?;
    users::in_workspace(workspace).delete(write.conn(), id).await?;
    Ok(())
}
