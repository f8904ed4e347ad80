//! The people who run workspaces, and how they prove who they are.
//!
//! A person is a row in each workspace that they run. One address has one password: it is set for all of its rows at
//! once, so that signing in is one comparison, however many workspaces there are.

use entity::users::{self, Model};
use jiff::Timestamp;
use secrecy::SecretString;

use super::find::id;
use super::students::fold;
use super::{Result, passwords};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{UserId, WorkspaceId};

mod access;
mod invitations;
mod links;
mod members;

pub(super) use access::hand_over;
pub use access::{Removal, add, by_email_in, get, get_in, is_owner, lock, remove};
pub(super) use invitations::welcome_owner;
pub use invitations::{MAILS_AN_HOUR, invite, link_address, mail_link, may_mail, queue_link, takes_mail};
pub use links::{LINK_HOURS, holder, link, prune, set_password};
pub use members::{Member, members};

/// A person of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The id of the person in this workspace.
    pub id: UserId,
    /// The workspace.
    pub workspace: WorkspaceId,
    /// As it was given.
    pub email: String,
    /// Whether a password was ever set.
    pub has_password: bool,
    /// When the person came to the workspace.
    pub created_at: Timestamp,
}

/// The person with this address, who is given access when they have none.
///
/// # Errors
/// [`Error::Invalid`](super::Error::Invalid) for what is no address.
pub async fn ensure(app: &App, write: &mut Write, workspace: WorkspaceId, email: &str) -> Result<User> {
    Ok(add(app, write, workspace, email).await?.record)
}

/// The people of a workspace, oldest first.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<User>> {
    let rows = users::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    Ok(rows.into_iter().map(user).collect())
}

/// Somebody who gave the right password, and the hash that it was held against: another password may be set before a
/// session begins.
pub struct Recognised {
    /// The person, in the workspace that they came to first.
    pub user: User,
    hash: String,
}

/// The person with this address and password; none when either is wrong. An unknown address takes the same work as a wrong
/// password.
///
/// # Errors
/// [`Error::Internal`](super::Error::Internal) when the database fails.
pub async fn recognise(app: &App, email: &str, password: &SecretString) -> Result<Option<Recognised>> {
    let rows = users::by_email_folded(app.db.read(), &fold(email)).await?;
    let hash = rows.iter().find_map(|row| row.password_hash.clone());
    let right = passwords::verify(app, password, hash.clone()).await?;
    let oldest = rows.into_iter().next().filter(|_| right);
    Ok(oldest.zip(hash).map(|(row, hash)| Recognised { user: user(row), hash }))
}

/// Whether the password that somebody gave is theirs still. Until the write ends, whoever sets another one waits for it.
pub(super) async fn is_still(write: &Write, known: &Recognised) -> Result<bool> {
    let people = users::in_workspace(known.user.workspace.uuid());
    let row = people.lock(write.conn(), known.user.id.uuid()).await?;
    Ok(row.is_some_and(|row| row.password_hash.as_ref() == Some(&known.hash)))
}

/// All rows of these people, held until the write ends: a session that just goes from one to another has arrived, or stays
/// until it is ended, and so it is with a link that is just made.
///
/// Rows are locked by ascending id, and looked for again once they are: a person who is just added to another workspace, with
/// the password of a row that is held, is among them too.
pub(super) async fn lock_all(write: &Write, emails: &[&str]) -> Result<Vec<Model>> {
    let mut found = find_all(write, emails).await?;
    loop {
        found.sort_unstable_by_key(|row| row.id);
        let mut held = Vec::with_capacity(found.len());
        for row in &found {
            // A row may have been deleted meanwhile.
            held.extend(users::in_workspace(row.workspace_id).lock(write.conn(), row.id).await?);
        }
        found = find_all(write, emails).await?;
        if found.iter().all(|row| held.iter().any(|held| held.id == row.id)) {
            return Ok(held);
        }
    }
}

async fn find_all(write: &Write, emails: &[&str]) -> Result<Vec<Model>> {
    let mut found = Vec::new();
    for email in emails {
        found.extend(users::by_email_folded(write.conn(), &fold(email)).await?);
    }
    Ok(found)
}

/// Whether two addresses name the same person.
pub fn same_address(one: &str, other: &str) -> bool {
    fold(one) == fold(other)
}

pub(super) fn user(row: Model) -> User {
    User {
        id: id(row.id),
        workspace: id(row.workspace_id),
        email: row.email,
        has_password: row.password_hash.is_some(),
        created_at: from_ms(row.created_at),
    }
}
