//! The people who run workspaces, and how they prove who they are.
//!
//! A person is a row in each workspace that they run. One address has one password: it is set for all of its rows at
//! once, so that signing in is one comparison, however many workspaces there are.

use entity::users::{self, Model};
use jiff::Timestamp;
use secrecy::SecretString;

use super::faults::Faults;
use super::find::{absent, fresh, id};
use super::students::fold;
use super::{Result, passwords};
use crate::app::App;
use crate::clock::from_ms;
use crate::database::Write;
use crate::id::{User as UserKind, UserId, WorkspaceId};

mod links;

pub use links::{LINK_HOURS, holder, link, prune, set_password};

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

/// The person with this address, who is made when the workspace has none.
///
/// # Errors
/// [`Error::Invalid`](super::Error::Invalid) for what is no address.
pub async fn ensure(app: &App, write: &mut Write, workspace: WorkspaceId, email: &str) -> Result<User> {
    let mut faults = Faults::default();
    faults.email("email", email);
    faults.check()?;
    let people = users::in_workspace(workspace.uuid());
    let folded = fold(email);
    // Of the same address elsewhere, which has a password already.
    let elsewhere = users::by_email_folded(write.conn(), &folded).await?;
    let row = Model {
        id: fresh::<UserKind>(app, write),
        workspace_id: workspace.uuid(),
        email: email.to_owned(),
        email_folded: folded.clone(),
        name: None,
        password_hash: elsewhere.into_iter().find_map(|row| row.password_hash),
        created_at: write.now_ms(),
        updated_at: write.now_ms(),
    };
    people.insert_unless_taken(write.conn(), row).await?;
    let row = people.by_email_folded(write.conn(), &folded).await?;
    row.map(user).ok_or_else(|| absent::<UserKind>(email))
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

/// All rows of a person, held until the write ends: a session that just goes from one to another has arrived, or stays
/// until it is ended, and so it is with a link that is just made.
pub(super) async fn lock_all(write: &Write, email: &str) -> Result<Vec<Model>> {
    let rows = users::by_email_folded(write.conn(), &fold(email)).await?;
    for row in &rows {
        users::in_workspace(row.workspace_id).lock(write.conn(), row.id).await?;
    }
    Ok(rows)
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
