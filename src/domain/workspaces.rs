//! Workspaces and their quotas.

use entity::Set;
use entity::workspaces::{self, ActiveModel, Model};
use jiff::Timestamp;

use super::audit::{self, Action, Actor};
use super::error::{Missing, taken};
use super::faults::Faults;
use super::find::{absent, fresh, id};
use super::users::{self, User};
use super::{Changed, Error, Given, Result};
use crate::app::App;
use foundation::clock::from_ms;
use foundation::database::{Unique, Write};
use foundation::id::{Workspace as WorkspaceKind, WorkspaceId};

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Short and unique on the server, as commands and changes name it.
    pub key: String,
    /// Shown to people.
    pub name: String,
    /// The owner's address, where warnings go. The owner has access and cannot be removed.
    pub owner_email: String,
    /// Its own quota, where it has one.
    pub quota: Quota,
    /// Creation.
    pub created_at: Timestamp,
    /// Last recorded change.
    pub updated_at: Timestamp,
}

/// A custom quota; `None` falls back to the next: key, workspace, the configured default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quota {
    /// Requests in a clock minute, at least 1.
    pub per_minute: Option<i32>,
    /// Requests in a UTC day, at least 1.
    pub per_day: Option<i32>,
}

/// What `workspace.upsert` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceUpsert {
    /// 1 to 64 of `a-z`, `0-9` and `-`.
    pub key: String,
    /// Shown to people.
    pub name: String,
    /// The owner's address, where warnings go.
    pub owner_email: String,
    /// Custom quota of the minute.
    pub per_minute: Given<i32>,
    /// Custom quota of the day.
    pub per_day: Given<i32>,
}

/// Makes or changes a workspace, as the platform asks. A new workspace gives its owner access; another `owner_email` moves the
/// access from the previous owner to the new one. The same address in another spelling is the same owner.
///
/// # Errors
/// [`Error::Invalid`] for values out of their bounds.
pub async fn upsert(
    app: &App,
    write: &mut Write,
    at: Timestamp,
    upsert: WorkspaceUpsert,
) -> Result<WorkspaceId> {
    check(&upsert)?;
    let actor = Actor::feed();
    let Some(before) = workspaces::lock_by_key(write.conn(), &upsert.key).await? else {
        let (workspace, owner) = insert(app, write, at, upsert).await?;
        users::welcome_owner(app, write, &workspace, &owner, &actor).await?;
        return Ok(workspace.id);
    };
    let mut row = before.clone();
    row.name = upsert.name;
    row.owner_email = upsert.owner_email;
    row.per_minute = upsert.per_minute.or(row.per_minute);
    row.per_day = upsert.per_day.or(row.per_day);
    if row != before {
        save(app, write, &before, &mut row).await?;
    }
    let new_owner = match users::same_address(&before.owner_email, &row.owner_email) {
        true => give_access(app, write, &row, &actor).await?,
        false => Some(change_owner(app, write, &before, &row, &actor).await?.0),
    };
    if let Some(owner) = new_owner {
        users::welcome_owner(app, write, &workspace(row), &owner, &actor).await?;
    }
    Ok(id(before.id))
}

/// Gives the owner of a workspace access, if they have none: versions before this one did not. The owner, when the access is
/// new.
async fn give_access(app: &App, write: &mut Write, row: &Model, actor: &Actor) -> Result<Option<User>> {
    let Changed { record: owner, changed } = users::add(app, write, id(row.id), &row.owner_email).await?;
    if !changed {
        return Ok(None);
    }
    let added = (Action::UserAdded, owner.id.to_string(), owner.email.as_str());
    audit::append(app, write, id(row.id), actor, added).await?;
    Ok(Some(owner))
}

/// Makes a workspace, and gives its owner access.
///
/// # Errors
/// [`Error::Invalid`] for values out of their bounds.
pub async fn create(
    app: &App,
    write: &mut Write,
    at: Timestamp,
    new: WorkspaceUpsert,
) -> Result<(Workspace, User)> {
    check(&new)?;
    insert(app, write, at, new).await
}

async fn insert(
    app: &App,
    write: &mut Write,
    at: Timestamp,
    new: WorkspaceUpsert,
) -> Result<(Workspace, User)> {
    let row = Model {
        id: fresh::<WorkspaceKind>(app, write),
        key: new.key,
        name: new.name,
        owner_email: new.owner_email,
        per_minute: new.per_minute.or(None),
        per_day: new.per_day.or(None),
        created_at: at.as_millisecond(),
        updated_at: write.now_ms(),
    };
    let inserted = workspaces::insert(write.conn(), row.clone()).await;
    inserted.map_err(|error| taken(error, Unique::WORKSPACE_KEY, Error::raced))?;
    let workspace = workspace(row);
    let owner = users::add(app, write, workspace.id, &workspace.owner_email).await?.record;
    Ok((workspace, owner))
}

/// A change of a workspace's owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOwner {
    /// The owner now.
    pub owner: User,
    /// The previous owner, who no longer has access; `None` when that person had none.
    pub removed: Option<User>,
}

/// Makes the person with this address the owner of a workspace, and gives them access; the previous owner is removed. `None` when
/// the person owns it already and has access: nothing was changed then.
///
/// # Errors
/// [`Error::NotFound`] when there is no such workspace, [`Error::Invalid`] when `email` is not an address.
pub async fn set_owner(
    app: &App,
    write: &mut Write,
    workspace_id: WorkspaceId,
    email: &str,
    actor: &Actor,
) -> Result<Option<NewOwner>> {
    let mut faults = Faults::default();
    faults.email("email", email);
    faults.check()?;
    let before = workspaces::lock(write.conn(), workspace_id.uuid()).await?;
    let before = before.ok_or_else(|| absent::<WorkspaceKind>(workspace_id))?;
    if users::same_address(&before.owner_email, email) {
        let owner = give_access(app, write, &before, actor).await?;
        return Ok(owner.map(|owner| NewOwner { owner, removed: None }));
    }
    let mut row = Model { owner_email: email.to_owned(), ..before.clone() };
    save(app, write, &before, &mut row).await?;
    let (owner, removed) = change_owner(app, write, &before, &row, actor).await?;
    Ok(Some(NewOwner { owner, removed }))
}

/// Moves the access from the owner of a workspace to the next, and writes the entries of the audit log.
async fn change_owner(
    app: &App,
    write: &mut Write,
    before: &Model,
    row: &Model,
    actor: &Actor,
) -> Result<(User, Option<User>)> {
    let workspace: WorkspaceId = id(row.id);
    let moved = users::hand_over(app, write, workspace, &before.owner_email, &row.owner_email).await?;
    let Changed { record: owner, changed: is_new } = moved.owner;
    let mut entries = vec![(Action::OwnerChanged, workspace.to_string(), owner.email.as_str())];
    if let Some(removed) = &moved.removed {
        entries.push((Action::UserRemoved, removed.id.to_string(), removed.email.as_str()));
    }
    if is_new {
        entries.push((Action::UserAdded, owner.id.to_string(), owner.email.as_str()));
    }
    for entry in entries {
        audit::append(app, write, workspace, actor, entry).await?;
    }
    Ok((owner, moved.removed))
}

/// The workspace with this key.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn by_key(app: &App, key: &str) -> Result<Workspace> {
    let row = workspaces::by_key(app.db.read(), key).await?;
    row.map(workspace).ok_or_else(|| no_workspace(key))
}

/// The workspace with this key, as an open write sees it.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn by_key_in(write: &Write, key: &str) -> Result<Workspace> {
    let row = workspaces::by_key(write.conn(), key).await?;
    row.map(workspace).ok_or_else(|| no_workspace(key))
}

/// The workspace with this id.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub async fn get(app: &App, workspace_id: WorkspaceId) -> Result<Workspace> {
    let row = workspaces::by_id(app.db.read(), workspace_id.uuid()).await?;
    row.map(workspace).ok_or_else(|| absent::<WorkspaceKind>(workspace_id))
}

/// Every workspace, by key.
///
/// # Errors
/// [`Error::Internal`] when the database fails.
pub async fn list(app: &App) -> Result<Vec<Workspace>> {
    Ok(workspaces::list(app.db.read()).await?.into_iter().map(workspace).collect())
}

/// Sets a workspace's custom quota whole; `None` takes a part of it away. It holds in this process from the commit
/// on, in others within 2 s.
///
/// # Errors
/// [`Error::NotFound`] when there is no such workspace, [`Error::Invalid`] for a cap below 1.
pub async fn set_quota(
    app: &App,
    write: &mut Write,
    workspace_id: WorkspaceId,
    quota: Quota,
) -> Result<Changed<Workspace>> {
    let mut faults = Faults::default();
    faults.cap("per_minute", quota.per_minute);
    faults.cap("per_day", quota.per_day);
    faults.check()?;
    let known = workspaces::by_id(write.conn(), workspace_id.uuid()).await?;
    let known = known.ok_or_else(|| absent::<WorkspaceKind>(workspace_id))?;
    let before = workspaces::lock_by_key(write.conn(), &known.key).await?;
    let before = before.ok_or_else(|| absent::<WorkspaceKind>(workspace_id))?;
    let mut row = before.clone();
    (row.per_minute, row.per_day) = (quota.per_minute, quota.per_day);
    if row == before {
        return Ok(Changed::before(workspace(row)));
    }
    save(app, write, &before, &mut row).await?;
    Ok(Changed::now(workspace(row)))
}

fn check(upsert: &WorkspaceUpsert) -> Result<()> {
    let mut faults = Faults::default();
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if !(1..=64).contains(&upsert.key.len()) || !upsert.key.bytes().all(plain) {
        faults.add("key", "must have 1 to 64 of `a-z`, `0-9` and `-`");
    }
    faults.line("name", &upsert.name, 200);
    faults.email("owner_email", &upsert.owner_email);
    faults.cap("per_minute", upsert.per_minute.value().copied());
    faults.cap("per_day", upsert.per_day.value().copied());
    faults.check()
}

/// Writes what changed; a new quota ends what is remembered of the workspace's keys.
async fn save(app: &App, write: &mut Write, before: &Model, row: &mut Model) -> Result<()> {
    row.updated_at = write.now_ms();
    let changes = ActiveModel {
        name: Set(row.name.clone()),
        owner_email: Set(row.owner_email.clone()),
        per_minute: Set(row.per_minute),
        per_day: Set(row.per_day),
        updated_at: Set(row.updated_at),
        ..Default::default()
    };
    workspaces::update(write.conn(), row.id, changes).await?;
    if (before.per_minute, before.per_day) != (row.per_minute, row.per_day) {
        let app = app.clone();
        write.after_commit(move || app.principals.forget());
    }
    Ok(())
}

fn no_workspace(key: &str) -> Error {
    Error::NotFound(Missing::Workspace { key: key.chars().take(64).collect() })
}

pub(super) fn workspace(row: Model) -> Workspace {
    Workspace {
        id: id(row.id),
        key: row.key,
        name: row.name,
        owner_email: row.owner_email,
        quota: Quota { per_minute: row.per_minute, per_day: row.per_day },
        created_at: from_ms(row.created_at),
        updated_at: from_ms(row.updated_at),
    }
}
