//! Creates and updates workspaces, their owners and their quotas.

use entity::Set;
use entity::workspaces::{self, ActiveModel, Model};
use jiff::Timestamp;

use super::{Mode, Quota, Workspace, WorkspaceUpsert, workspace};
use crate::app::App;
use crate::audit::{self, Action, Actor};
use crate::error::map_unique_violation;
use crate::field_errors::FieldErrors;
use crate::records::{id, new_uuid, not_found};
use crate::roles::Roles;
use crate::users::{self, User};
use crate::{Error, Result, WriteOutcome, email};
use foundation::database::{UniqueConstraint, Write};
use foundation::id::{Workspace as WorkspaceIdKind, WorkspaceId};

/// Creates or updates a workspace from a change of the change feed. Gives the owner access. When `owner_email` changes,
/// removes the previous owner's access. Spellings of one email address belong to the same owner. Notifies an
/// owner who is new, or whose access is new, by mail if a mail server is configured and the server's URL is known.
///
/// # Errors
/// Returns [`Error::Invalid`] when a value is not valid.
pub async fn upsert(
    app: &App,
    write: &mut Write,
    at: Timestamp,
    upsert: WorkspaceUpsert,
) -> Result<WorkspaceId> {
    validate(&upsert)?;
    let actor = Actor::feed();
    let Some(before) = workspaces::lock_by_key(write.conn(), &upsert.key).await? else {
        let (workspace, owner) = insert(app, write, at, upsert).await?;
        users::notify_new_owner(app, write, &workspace, &owner, &actor).await?;
        return Ok(workspace.id);
    };
    if before.mode != Mode::Live.as_str() {
        return Err(Error::invalid("key", "is that of a test workspace, which no change creates or updates"));
    }
    let mut row = before.clone();
    row.name = upsert.name;
    row.owner_email = upsert.owner_email;
    row.per_minute = upsert.per_minute.apply_to(row.per_minute);
    row.per_day = upsert.per_day.apply_to(row.per_day);
    if row != before {
        save(app, write, &before, &mut row).await?;
    }
    if !email::is_same(&before.owner_email, &row.owner_email) {
        let (owner, _) = change_owner(app, write, &before, &row, &actor).await?;
        users::notify_new_owner(app, write, &workspace(row), &owner, &actor).await?;
    }
    Ok(id(before.id))
}

/// Creates a workspace and gives its owner access. Does not notify the owner. The caller has checked that no workspace
/// has the key.
///
/// # Errors
/// Returns [`Error::Invalid`] when a value is not valid, and [`Error::Internal`] when the key was taken in the
/// meantime.
pub async fn create(
    app: &App,
    write: &mut Write,
    at: Timestamp,
    new: WorkspaceUpsert,
) -> Result<(Workspace, User)> {
    validate(&new)?;
    insert(app, write, at, new).await
}

async fn insert(
    app: &App,
    write: &mut Write,
    at: Timestamp,
    new: WorkspaceUpsert,
) -> Result<(Workspace, User)> {
    let row = Model {
        id: new_uuid::<WorkspaceIdKind>(app, write),
        key: new.key,
        name: new.name,
        owner_email: new.owner_email,
        per_minute: new.per_minute.apply_to(None),
        per_day: new.per_day.apply_to(None),
        created_at: at.as_millisecond(),
        updated_at: write.recorded_ms(),
        requires_second_factor: false,
        mode: Mode::Live.as_str().to_owned(),
        live_workspace_id: None,
        deleted_at: None,
    };
    let inserted = workspaces::insert(write.conn(), row.clone()).await;
    inserted
        .map_err(|error| map_unique_violation(error, UniqueConstraint::WORKSPACE_KEY, Error::lost_race))?;
    let workspace = workspace(row);
    let owner = users::add(app, write, workspace.id, &workspace.owner_email, Roles::OWNER).await?.record;
    Ok((workspace, owner))
}

/// The result of changing a workspace's owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnershipTransfer {
    /// The new owner.
    pub owner: User,
    /// The previous owner, whose access was removed. `None` if the previous owner had no access.
    pub removed: Option<User>,
}

/// Makes the user with this email address the owner of a workspace and gives them access. Removes the previous owner's
/// access. Returns `None` and changes nothing if the user already owns the workspace. Does not notify the new owner.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace does not exist, and [`Error::Invalid`] when `email` is not an email address.
pub async fn set_owner(
    app: &App,
    write: &mut Write,
    workspace_id: WorkspaceId,
    email: &str,
    actor: &Actor,
) -> Result<Option<OwnershipTransfer>> {
    let mut errors = FieldErrors::default();
    errors.check_sign_in_email("email", email);
    errors.into_result()?;
    let before = workspaces::lock(write.conn(), workspace_id.uuid()).await?;
    let before = before.ok_or_else(|| not_found::<WorkspaceIdKind>(workspace_id))?;
    workspace(before.clone()).check_has_members()?;
    if email::is_same(&before.owner_email, email) {
        return Ok(None);
    }
    let mut row = Model { owner_email: email.to_owned(), ..before.clone() };
    save(app, write, &before, &mut row).await?;
    let (owner, removed) = change_owner(app, write, &before, &row, actor).await?;
    Ok(Some(OwnershipTransfer { owner, removed }))
}

/// Removes the previous owner, gives the new owner access, and writes the audit log entries.
async fn change_owner(
    app: &App,
    write: &mut Write,
    before: &Model,
    row: &Model,
    actor: &Actor,
) -> Result<(User, Option<User>)> {
    let workspace: WorkspaceId = id(row.id);
    let transfer =
        users::transfer_access(app, write, workspace, &before.owner_email, &row.owner_email).await?;
    let WriteOutcome { record: owner, changed: is_new } = transfer.owner;
    let mut entries = vec![(Action::OwnerChanged, workspace.to_string(), owner.email.as_str())];
    if let Some(removed) = &transfer.removed {
        entries.push((Action::UserRemoved, removed.id.to_string(), removed.email.as_str()));
    }
    if is_new {
        entries.push((Action::UserAdded, owner.id.to_string(), owner.email.as_str()));
    }
    for entry in entries {
        audit::append(app, write, workspace, actor, entry).await?;
    }
    Ok((owner, transfer.removed))
}

/// Replaces both limits of a workspace's custom quota. For a limit that is `None`, the default applies. Takes effect in this
/// process at the commit, in other processes within 2 s.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace does not exist, and [`Error::Invalid`] when a limit is below 1.
pub async fn set_quota(
    app: &App,
    write: &mut Write,
    workspace_id: WorkspaceId,
    quota: Quota,
) -> Result<WriteOutcome<Workspace>> {
    let mut errors = FieldErrors::default();
    errors.check_quota("per_minute", quota.per_minute);
    errors.check_quota("per_day", quota.per_day);
    errors.into_result()?;
    let unlocked = workspaces::by_id(write.conn(), workspace_id.uuid()).await?;
    let unlocked = unlocked.ok_or_else(|| not_found::<WorkspaceIdKind>(workspace_id))?;
    let before = workspaces::lock_by_key(write.conn(), &unlocked.key).await?;
    let before = before.ok_or_else(|| not_found::<WorkspaceIdKind>(workspace_id))?;
    let mut row = before.clone();
    (row.per_minute, row.per_day) = (quota.per_minute, quota.per_day);
    if row == before {
        return Ok(WriteOutcome::unchanged(workspace(row)));
    }
    save(app, write, &before, &mut row).await?;
    Ok(WriteOutcome::changed(workspace(row)))
}

/// Sets whether members who sign in with a password or a link need a second factor. Members without one can then only set one up.
/// Returns whether the setting was changed.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace does not exist.
pub async fn require_second_factor(
    app: &App,
    write: &mut Write,
    workspace_id: WorkspaceId,
    is_required: bool,
) -> Result<bool> {
    let before = workspaces::lock(write.conn(), workspace_id.uuid()).await?;
    let before = before.ok_or_else(|| not_found::<WorkspaceIdKind>(workspace_id))?;
    if before.requires_second_factor == is_required {
        return Ok(false);
    }
    let mut row = Model { requires_second_factor: is_required, ..before.clone() };
    save(app, write, &before, &mut row).await?;
    Ok(true)
}

fn validate(upsert: &WorkspaceUpsert) -> Result<()> {
    let mut errors = FieldErrors::default();
    let is_allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if !(1..=64).contains(&upsert.key.len()) || !upsert.key.bytes().all(is_allowed) {
        errors.add("key", "must have 1 to 64 characters of `a-z`, `0-9` and `-`");
    }
    errors.check_single_line("name", &upsert.name, 200);
    errors.check_sign_in_email("owner_email", &upsert.owner_email);
    errors.check_quota("per_minute", upsert.per_minute.value().copied());
    errors.check_quota("per_day", upsert.per_day.value().copied());
    errors.into_result()
}

/// Writes an updated workspace and sets its `updated_at`. If the quota changed, invalidates the cached keys after the
/// commit.
async fn save(app: &App, write: &mut Write, before: &Model, row: &mut Model) -> Result<()> {
    row.updated_at = write.recorded_ms();
    let changes = ActiveModel {
        name: Set(row.name.clone()),
        owner_email: Set(row.owner_email.clone()),
        per_minute: Set(row.per_minute),
        per_day: Set(row.per_day),
        updated_at: Set(row.updated_at),
        requires_second_factor: Set(row.requires_second_factor),
        ..Default::default()
    };
    workspaces::update(write.conn(), row.id, changes).await?;
    if before.owner_email != row.owner_email {
        workspaces::set_owner_of_sandbox(write.conn(), row.id, &row.owner_email).await?;
    }
    if (before.per_minute, before.per_day) != (row.per_minute, row.per_day) {
        let app = app.clone();
        write.after_commit(move || app.principals.invalidate());
    }
    Ok(())
}
