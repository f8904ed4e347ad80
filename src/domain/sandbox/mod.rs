//! Sandboxes: workspaces with test data, at most one for each live workspace.
//!
//! A sandbox is a workspace of its own, so what isolates workspaces also isolates test data from live data. It has no users: the
//! members of the live workspace are those of its sandbox.
//!
//! The demo data is first written to a workspace that counts as deleted, so that nobody sees it. One transaction then makes this
//! workspace the sandbox. A reset replaces the sandbox in the same way; what the old one keeps is moved in that transaction. The
//! rows of deleted workspaces are deleted [later](purge), and so are those that a failed process left behind.

pub mod clock;
pub mod events;

use entity::workspace_rows::RowsOfWorkspace;
use entity::workspaces::{self as rows, ActiveModel, Model};
use entity::{Set, applied_changes, sessions, workspace_rows};

use crate::app::App;
use crate::error::map_unique_violation;
use crate::records::{new_uuid, not_found};
use crate::workspaces::{Mode, Workspace, workspace};
use crate::{Error, Result};
use foundation::database::{DELETE_BATCH, UniqueConstraint, Write};
use foundation::id::{Workspace as WorkspaceIdKind, WorkspaceId};

/// What the key of a sandbox has after the key of its live workspace.
const KEY_SUFFIX: &str = "-sandbox";
/// What the name of a sandbox has after the name of its live workspace.
const NAME_SUFFIX: &str = " (sandbox)";
/// Maximum length of a workspace's key, in bytes.
const MAX_KEY_BYTES: usize = 64;
/// Maximum length of a workspace's name, in characters.
const MAX_NAME_CHARS: usize = 200;
/// How long the rows of a deleted workspace stay, in milliseconds: transactions that began before can still write some, and a
/// workspace that is being filled also counts as deleted.
const PURGE_AFTER_MS: i64 = 60 * 60 * 1000;
/// Maximum number of transactions of a call of [`purge`].
const MAX_PURGE_BATCHES: usize = 120;

/// A workspace with the demo data that nobody sees yet.
#[derive(Debug)]
pub struct SeededWorkspace(Workspace);

/// Returns the sandbox of a workspace, or `None` if it has none.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn of(app: &App, live: WorkspaceId) -> Result<Option<Workspace>> {
    Ok(rows::sandbox_of(app.db.read(), live.uuid()).await?.map(workspace))
}

/// Writes the demo data to a new workspace, for [`create`], or for [`reset`] if it `replaces` a sandbox. Commits transactions of its
/// own.
///
/// # Errors
/// Returns the errors of [`create`] or [`reset`], and [`Error::Internal`] when the database fails.
pub async fn seed(app: &App, live: &Workspace, replaces: bool) -> Result<SeededWorkspace> {
    let key = sandbox_key(live)?;
    let write = app.begin_write().await?;
    let sandbox = rows::sandbox_of(write.conn(), live.id.uuid()).await?;
    match (&sandbox, replaces) {
        (Some(_), false) => return Err(has_sandbox()),
        (None, true) => return Err(has_no_sandbox()),
        (Some(_), true) | (None, false) => {}
    }
    check_key(&write, live, &key).await?;
    let id = new_uuid::<WorkspaceIdKind>(app, &write);
    let row = Model {
        id,
        key: internal_key(id),
        name: live.name.clone(),
        owner_email: live.owner_email.clone(),
        per_minute: live.quota.per_minute,
        per_day: live.quota.per_day,
        created_at: write.now_ms(),
        updated_at: write.recorded_ms(),
        requires_second_factor: false,
        mode: Mode::Test.as_str().to_owned(),
        live_workspace_id: None,
        deleted_at: Some(write.now_ms()),
    };
    rows::insert(write.conn(), row.clone()).await?;
    write.commit().await?;
    let seeded = workspace(row);
    (app.seed)(app, seeded.id, &seeded.key).await?;
    Ok(SeededWorkspace(seeded))
}

/// Makes a seeded workspace the sandbox of a workspace that has none, and returns it.
///
/// # Errors
/// Returns [`Error::Invalid`] for `workspace` when it has a sandbox or cannot have one.
pub async fn create(write: &mut Write, live: &Workspace, seeded: SeededWorkspace) -> Result<Workspace> {
    let row = lock(write, live).await?;
    if rows::sandbox_of(write.conn(), row.id).await?.is_some() {
        return Err(has_sandbox());
    }
    // Sessions that showed an earlier sandbox do not enter this one by themselves.
    sessions::leave_sandbox(write.conn(), row.id).await?;
    attach(write, row, seeded).await
}

/// Replaces the data of a sandbox by that of a seeded workspace, and returns it. Its id is another one. Its API keys, webhooks, quota
/// and audit log stay. Nothing that happened before is sent afterwards.
///
/// # Errors
/// Returns [`Error::Invalid`] for `workspace` when it has no sandbox.
pub async fn reset(
    app: &App,
    write: &mut Write,
    live: &Workspace,
    seeded: SeededWorkspace,
) -> Result<Workspace> {
    let row = lock(write, live).await?;
    let old = sandbox_of(write, &row).await?;
    let (new, now) = (seeded.0.id.uuid(), write.recorded_ms());
    workspace_rows::move_kept(write.conn(), old.id, new, now).await?;
    let quota =
        ActiveModel { per_minute: Set(old.per_minute), per_day: Set(old.per_day), ..Default::default() };
    rows::update(write.conn(), new, quota).await?;
    detach(app, write, &old).await?;
    attach(write, row, seeded).await
}

/// Deletes the sandbox of a workspace, and returns it. Its API keys and webhooks end at the commit. Sessions that show it then show the
/// live workspace.
///
/// # Errors
/// Returns [`Error::Invalid`] for `workspace` when it has no sandbox.
pub async fn delete(app: &App, write: &mut Write, live: &Workspace) -> Result<Workspace> {
    let row = lock(write, live).await?;
    let old = sandbox_of(write, &row).await?;
    workspace_rows::end(write.conn(), old.id, write.now_ms()).await?;
    detach(app, write, &old).await?;
    Ok(workspace(old))
}

/// Makes a workspace a test workspace without a live workspace: that of `creator-api serve --ephemeral`.
///
/// # Errors
/// Returns [`Error::Internal`] when the statement fails.
pub async fn mark_as_test(write: &Write, workspace: WorkspaceId) -> Result<()> {
    let changes = ActiveModel { mode: Set(Mode::Test.as_str().to_owned()), ..Default::default() };
    rows::update(write.conn(), workspace.uuid(), changes).await?;
    Ok(())
}

/// Deletes the rows of workspaces that were deleted an hour ago, in short transactions. A later call continues.
///
/// # Errors
/// Returns [`Error::Internal`] when a statement fails. Rows deleted before remain deleted.
pub async fn purge(app: &App) -> Result<()> {
    let mut batches_left = MAX_PURGE_BATCHES;
    for row in rows::deleted_before(app.db.read(), app.clock.now_ms() - PURGE_AFTER_MS).await? {
        // The records of applied changes refer to a key of the workspace.
        let keys = [row.key.clone(), internal_key(row.id)];
        let tables = workspace_rows::TABLES.iter().map(RowsToPurge::Of);
        for rows in tables.chain(keys.iter().map(|key| RowsToPurge::AppliedTo(key))) {
            let limit = rows.batch();
            let mut deleted = limit;
            while deleted == limit {
                let Some(left) = batches_left.checked_sub(1) else { return Ok(()) };
                let write = app.begin_write().await?;
                deleted = match rows {
                    RowsToPurge::Of(table) => {
                        workspace_rows::delete_batch(write.conn(), *table, row.id, limit).await?
                    }
                    RowsToPurge::AppliedTo(key) => {
                        applied_changes::delete_batch(write.conn(), key, limit).await?
                    }
                };
                write.commit().await?;
                // Most tables are empty, which costs little.
                batches_left = if deleted > 0 { left } else { batches_left };
            }
        }
        let write = app.begin_write().await?;
        rows::delete(write.conn(), row.id).await?;
        write.commit().await?;
    }
    Ok(())
}

/// Rows that [`purge`] deletes.
#[derive(Clone, Copy)]
enum RowsToPurge<'a> {
    /// Those of a workspace in this table.
    Of(&'static RowsOfWorkspace),
    /// The records of the changes that were applied to the workspace with this key.
    AppliedTo(&'a str),
}

impl RowsToPurge<'_> {
    /// Returns the maximum number of rows deleted by one transaction. Large tables refer to courses without an index that begins with
    /// the course, so the database reads them for each deleted course.
    fn batch(self) -> u64 {
        match self {
            Self::Of(RowsOfWorkspace { table: "courses", .. }) => 1,
            Self::Of(_) | Self::AppliedTo(_) => DELETE_BATCH,
        }
    }
}

/// Locks the live workspace, so that its sandbox is changed by one transaction at a time.
async fn lock(write: &Write, live: &Workspace) -> Result<Model> {
    let row = rows::lock(write.conn(), live.id.uuid()).await?;
    row.ok_or_else(|| not_found::<WorkspaceIdKind>(live.id))
}

/// Returns the sandbox, and locks it after the live workspace, so that no key or webhook is created in it until the commit.
async fn sandbox_of(write: &Write, live: &Model) -> Result<Model> {
    let row = rows::sandbox_of(write.conn(), live.id).await?.ok_or_else(has_no_sandbox)?;
    rows::lock(write.conn(), row.id).await?.ok_or_else(has_no_sandbox)
}

fn has_sandbox() -> Error {
    Error::invalid("workspace", "has a sandbox already; reset it to get the demo data again")
}

fn has_no_sandbox() -> Error {
    Error::invalid("workspace", "has no sandbox; create one first")
}

/// Makes a seeded workspace the sandbox of a live workspace.
async fn attach(write: &Write, live: Model, SeededWorkspace(seeded): SeededWorkspace) -> Result<Workspace> {
    let live = workspace(live);
    let key = sandbox_key(&live)?;
    check_key(write, &live, &key).await?;
    let kept_chars = MAX_NAME_CHARS - NAME_SUFFIX.len();
    let changes = ActiveModel {
        key: Set(key),
        name: Set(live.name.chars().take(kept_chars).chain(NAME_SUFFIX.chars()).collect()),
        owner_email: Set(live.owner_email),
        live_workspace_id: Set(Some(live.id.uuid())),
        deleted_at: Set(None),
        updated_at: Set(write.recorded_ms()),
        ..Default::default()
    };
    let updated = rows::update(write.conn(), seeded.id.uuid(), changes).await;
    updated
        .map_err(|error| map_unique_violation(error, UniqueConstraint::WORKSPACE_KEY, Error::lost_race))?;
    let row = rows::sandbox_of(write.conn(), live.id.uuid()).await?;
    row.map(workspace).ok_or_else(|| not_found::<WorkspaceIdKind>(seeded.id))
}

/// Marks a sandbox as deleted. It loses its key, and the changes that were applied to it count as applied to the key that it gets.
async fn detach(app: &App, write: &mut Write, old: &Model) -> Result<()> {
    let key = deleted_key(old.id);
    let changes = ActiveModel {
        key: Set(key.clone()),
        live_workspace_id: Set(None),
        deleted_at: Set(Some(write.now_ms())),
        updated_at: Set(write.recorded_ms()),
        ..Default::default()
    };
    rows::update(write.conn(), old.id, changes).await?;
    applied_changes::rename(write.conn(), &old.key, &key).await?;
    let app = app.clone();
    write.after_commit(move || app.principals.invalidate());
    Ok(())
}

/// Returns the key of the sandbox of a workspace.
fn sandbox_key(live: &Workspace) -> Result<String> {
    let key = format!("{}{KEY_SUFFIX}", live.key);
    match live.mode {
        Mode::Live if key.len() <= MAX_KEY_BYTES => Ok(key),
        Mode::Live => {
            let message = format!(
                "cannot have a sandbox: its key `{key}` would be longer than {MAX_KEY_BYTES} characters; create a live workspace with \
                 a shorter key"
            );
            Err(Error::invalid("workspace", message))
        }
        Mode::Test => {
            Err(Error::invalid("workspace", "is a test workspace; only a live workspace has a sandbox"))
        }
    }
}

/// Rejects the key of a sandbox if another workspace has it.
async fn check_key(write: &Write, live: &Workspace, key: &str) -> Result<()> {
    let taken = rows::by_key(write.conn(), key).await?;
    if taken.is_none_or(|row| row.live_workspace_id == Some(live.id.uuid())) {
        return Ok(());
    }
    let message = format!(
        "cannot have a sandbox: its key would be `{key}`, which another workspace has; create a live workspace with another key"
    );
    Err(Error::invalid("workspace", message))
}

/// Returns the key of a workspace while it is filled with the demo data. The records of these changes keep it.
fn internal_key(id: uuid::Uuid) -> String {
    format!("sandbox-{}", id.simple())
}

/// Returns the key of a workspace that was a sandbox. It is not the [`internal_key`], since somebody can have imported changes with the
/// ids of the demo data.
fn deleted_key(id: uuid::Uuid) -> String {
    format!("deleted-{}", id.simple())
}
