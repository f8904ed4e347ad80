//! Creates, lists and revokes API keys, and changes them on behalf of the operator.

use entity::api_keys::{self, ActiveModel, Model};
use entity::{Set, StringList, workspaces};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};

use super::super::field_errors::FieldErrors;
use super::super::records::{id, new_uuid, not_found};
use super::super::scope::Scopes;
use super::super::workspaces::{Mode, Quota};
use super::super::{Error, Result, WriteOutcome};
use super::quota::{self, EffectiveQuota};
use super::{KeyRecord, MAX_NETWORKS, NewKey};
use crate::app::App;
use crate::bearer_secret;
use foundation::clock::from_ms;
use foundation::config::Network;
use foundation::database::Write;
use foundation::id::{ApiKey as KeyIdKind, KeyId, Workspace as WorkspaceIdKind, WorkspaceId};

/// Creates a key on behalf of the operator, and returns it with its secret. The secret cannot be retrieved later. The
/// quota of the key can exceed the workspace's.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the workspace does not exist, and
/// [`Error::Invalid`](crate::Error::Invalid) when the key has no scope, an invalid name or quota, or an expiry in the past.
pub async fn create(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    key: NewKey,
) -> Result<(KeyRecord, SecretString)> {
    insert(app, write, workspace, key, true).await
}

/// Creates a key on behalf of a user of the workspace, and returns it with its secret. The quota of the key cannot
/// exceed the workspace's. If the workspace's quota is lowered later, the key is limited by the lower quota.
///
/// # Errors
/// Returns the errors of [`create`], and [`Error::Invalid`](crate::Error::Invalid) when the quota exceeds the workspace's.
pub async fn create_by_member(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    key: NewKey,
) -> Result<(KeyRecord, SecretString)> {
    insert(app, write, workspace, key, false).await
}

/// Inserts a key. `by_operator` is whether the operator creates it, so that its quota may exceed the workspace's.
async fn insert(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    key: NewKey,
    by_operator: bool,
) -> Result<(KeyRecord, SecretString)> {
    // Locked, so that a sandbox that is reset at the same time does not lose the key.
    let row = workspaces::lock(write.conn(), workspace.uuid()).await?;
    let row = row.ok_or_else(|| not_found::<WorkspaceIdKind>(workspace))?;
    let max = (!by_operator).then(|| quota::workspace_quota(Some(&row), &app.config.limits));
    validate(write, &key, max)?;
    let secret = NewSecret::generate(Mode::from_column(&row.mode))?;
    let row = Model {
        id: new_uuid::<KeyIdKind>(app, write),
        workspace_id: workspace.uuid(),
        name: key.name,
        scopes: scopes_column(key.scopes),
        secret_hash: secret.hash,
        prefix: secret.prefix,
        last4: secret.last4,
        per_minute: key.quota.per_minute,
        per_day: key.quota.per_day,
        created_at: write.now_ms(),
        last_used_at: None,
        expires_at: key.expires_at.map(Timestamp::as_millisecond),
        revoked_at: None,
        operator_quota: by_operator && key.quota != Quota::default(),
        sunset_extended_until: None,
        networks: networks_column(&key.networks),
    };
    api_keys::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    let (app, digest) = (app.clone(), row.secret_hash.clone());
    write.after_commit(move || app.principals.filter.add(&digest));
    Ok((record(row), secret.secret))
}

/// A new secret, and what is stored of it.
pub(super) struct NewSecret {
    pub(super) secret: SecretString,
    pub(super) hash: Vec<u8>,
    pub(super) prefix: String,
    pub(super) last4: String,
}

impl NewSecret {
    /// Generates a secret of a key whose workspace has this mode.
    pub(super) fn generate(mode: Mode) -> Result<Self> {
        let prefix = match mode {
            Mode::Live => bearer_secret::LIVE_KEY,
            Mode::Test => bearer_secret::TEST_KEY,
        };
        let secret = bearer_secret::generate(prefix)?;
        let plain_text = secret.expose_secret();
        Ok(Self {
            hash: bearer_secret::digest(plain_text).to_vec(),
            prefix: plain_text.chars().take(12).collect(),
            last4: plain_text[plain_text.len() - 4..].to_owned(),
            secret,
        })
    }
}

/// Returns the keys of a workspace, newest first, including revoked and expired keys.
///
/// # Errors
/// Returns [`Error::Internal`](crate::Error::Internal) when the query fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<KeyRecord>> {
    let rows = api_keys::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    Ok(rows.into_iter().rev().map(record).collect())
}

/// Revokes a key. Takes effect in this process at the commit, in other processes within 2 s. Revoking a revoked key changes
/// nothing.
///
/// `workspace` is the workspace of the user who revokes the key. `None` is for the operator, who can revoke keys of any
/// workspace.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the key does not exist or belongs to another workspace.
pub async fn revoke(
    app: &App,
    write: &mut Write,
    workspace: Option<WorkspaceId>,
    key: KeyId,
) -> Result<WriteOutcome<KeyRecord>> {
    let mut row = lock(write, workspace, key).await?;
    if row.revoked_at.is_some() {
        return Ok(WriteOutcome::unchanged(record(row)));
    }
    let now_ms = write.now_ms();
    api_keys::in_workspace(row.workspace_id).revoke(write.conn(), row.id, now_ms).await?;
    row.revoked_at = Some(now_ms);
    let app = app.clone();
    write.after_commit(move || app.principals.invalidate());
    Ok(WriteOutcome::changed(record(row)))
}

/// Locks a key, which waits for concurrent changes to it. `workspace` is that of the user who changes the key; `None` is for the
/// operator, who can change keys of any workspace.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the key does not exist or belongs to another workspace.
pub(super) async fn lock(write: &Write, workspace: Option<WorkspaceId>, key: KeyId) -> Result<Model> {
    let row = api_keys::by_id(write.conn(), key.uuid()).await?;
    let row = row.filter(|row| workspace.is_none_or(|workspace| workspace.uuid() == row.workspace_id));
    let rows = api_keys::in_workspace(row.ok_or_else(|| not_found::<KeyIdKind>(key))?.workspace_id);
    rows.lock(write.conn(), key.uuid()).await?.ok_or_else(|| not_found::<KeyIdKind>(key))
}

/// Locks a key as [`lock`] does, to change it.
///
/// # Errors
/// Returns the errors of [`lock`], and [`Error::Invalid`](crate::Error::Invalid) for `key` when the key is revoked or expired.
pub(super) async fn lock_valid(write: &Write, workspace: Option<WorkspaceId>, key: KeyId) -> Result<Model> {
    let row = lock(write, workspace, key).await?;
    match row.revoked_at.is_none() && row.expires_at.is_none_or(|end| end > write.now_ms()) {
        true => Ok(row),
        false => Err(Error::invalid("key", "is revoked or expired")),
    }
}

/// Replaces both limits of a key's custom quota on behalf of the operator. For a limit that is `None`, the workspace's
/// applies. Takes effect in this process at the commit, in other processes within 2 s.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the key does not exist, and
/// [`Error::Invalid`](crate::Error::Invalid) when a limit is below 1.
pub async fn set_quota(
    app: &App,
    write: &mut Write,
    key: KeyId,
    quota: Quota,
) -> Result<WriteOutcome<KeyRecord>> {
    let mut errors = FieldErrors::default();
    errors.check_quota("per_minute", quota.per_minute);
    errors.check_quota("per_day", quota.per_day);
    errors.into_result()?;
    let (per_minute, per_day) = (quota.per_minute, quota.per_day);
    let operator_quota = quota != Quota::default();
    let changes = ActiveModel {
        per_minute: Set(per_minute),
        per_day: Set(per_day),
        operator_quota: Set(operator_quota),
        ..Default::default()
    };
    let change = |row: &mut Model| {
        (row.per_minute, row.per_day, row.operator_quota) = (per_minute, per_day, operator_quota);
    };
    update(app, write, key, changes, change).await
}

/// Lets deprecated operations work for a key after their sunset, until this time; `None` withdraws it. Takes effect in this process
/// at the commit, in other processes within 2 s.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the key does not exist, and
/// [`Error::Invalid`](crate::Error::Invalid) when the time is not in the future.
pub async fn extend_sunset(
    app: &App,
    write: &mut Write,
    key: KeyId,
    until: Option<Timestamp>,
) -> Result<WriteOutcome<KeyRecord>> {
    let mut errors = FieldErrors::default();
    if until.is_some_and(|until| until.as_millisecond() <= write.now_ms()) {
        errors.add("until", "must be in the future");
    }
    errors.into_result()?;
    let until = until.map(Timestamp::as_millisecond);
    let changes = ActiveModel { sunset_extended_until: Set(until), ..Default::default() };
    update(app, write, key, changes, |row| row.sunset_extended_until = until).await
}

/// Replaces the networks from which a key may be used; none means from everywhere. Takes effect in this process at the commit, in
/// other processes within 2 s.
///
/// # Errors
/// Returns [`Error::NotFound`](crate::Error::NotFound) when the key does not exist, and
/// [`Error::Invalid`](crate::Error::Invalid) when there are more than [`MAX_NETWORKS`].
pub async fn set_networks(
    app: &App,
    write: &mut Write,
    key: KeyId,
    networks: &[Network],
) -> Result<WriteOutcome<KeyRecord>> {
    let mut errors = FieldErrors::default();
    check_networks(&mut errors, networks);
    errors.into_result()?;
    let networks = networks_column(networks);
    let changes = ActiveModel { networks: Set(networks.clone()), ..Default::default() };
    let change = |row: &mut Model| row.networks = networks;
    update(app, write, key, changes, change).await
}

/// Changes a key on behalf of the operator. `change` makes the changes in the row, too. A row that stays the same is not written.
async fn update(
    app: &App,
    write: &mut Write,
    key: KeyId,
    changes: ActiveModel,
    change: impl FnOnce(&mut Model),
) -> Result<WriteOutcome<KeyRecord>> {
    let before = lock(write, None, key).await?;
    let mut row = before.clone();
    change(&mut row);
    if row == before {
        return Ok(WriteOutcome::unchanged(record(row)));
    }
    api_keys::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    let app = app.clone();
    write.after_commit(move || app.principals.invalidate());
    Ok(WriteOutcome::changed(record(row)))
}

/// Validates a new key. `max` is the maximum of its custom quota. `None` means unlimited.
fn validate(write: &Write, key: &NewKey, max: Option<EffectiveQuota>) -> Result<()> {
    let mut errors = FieldErrors::default();
    check_fields(&mut errors, write, &key.name, key.scopes, key.expires_at);
    let limits = [
        ("per_minute", key.quota.per_minute, max.map(|max| max.per_minute)),
        ("per_day", key.quota.per_day, max.map(|max| max.per_day)),
    ];
    for (field, requested, max) in limits {
        errors.check_quota(field, requested);
        if let (Some(requested), Some(max)) = (requested, max)
            && i64::from(requested) > i64::from(max.requests)
        {
            let max = max.requests;
            errors.add(
                field,
                format!(
                    "must be at most {max}, the quota of the workspace; the operator of this server can raise it"
                ),
            );
        }
    }
    check_networks(&mut errors, &key.networks);
    errors.into_result()
}

/// Validates the fields that members choose and can change.
pub(super) fn check_fields(
    errors: &mut FieldErrors,
    write: &Write,
    name: &str,
    scopes: Scopes,
    expires_at: Option<Timestamp>,
) {
    errors.check_single_line("name", name, 200);
    if scopes.iter().next().is_none() {
        errors.add("scopes", "must have at least one scope");
    }
    if expires_at.is_some_and(|end| end.as_millisecond() <= write.now_ms()) {
        errors.add("expires_at", "must be in the future");
    }
}

/// Returns the stored form of scopes.
pub(super) fn scopes_column(scopes: Scopes) -> StringList {
    StringList(scopes.iter().map(|scope| scope.as_str().to_owned()).collect())
}

/// Returns the networks from which a key may be used.
pub(super) fn networks(row: &Model) -> Vec<Network> {
    let networks = row.networks.as_deref().unwrap_or_default().split_whitespace();
    networks.filter_map(|network| network.parse().ok()).collect()
}

pub(super) fn networks_column(networks: &[Network]) -> Option<String> {
    let texts: Vec<String> = networks.iter().map(Network::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

pub(super) fn check_networks(errors: &mut FieldErrors, networks: &[Network]) {
    if networks.len() > MAX_NETWORKS {
        errors.add("networks", format!("must have at most {MAX_NETWORKS} networks"));
    }
}

pub(super) fn record(row: Model) -> KeyRecord {
    KeyRecord {
        networks: networks(&row),
        id: id(row.id),
        workspace: id(row.workspace_id),
        name: row.name,
        scopes: row.scopes.0.iter().filter_map(|scope| scope.parse().ok()).collect(),
        prefix: row.prefix,
        last4: row.last4,
        quota: Quota { per_minute: row.per_minute, per_day: row.per_day },
        created_at: from_ms(row.created_at),
        last_used_at: row.last_used_at.map(from_ms),
        expires_at: row.expires_at.map(from_ms),
        revoked_at: row.revoked_at.map(from_ms),
        sunset_extended_until: row.sunset_extended_until.map(from_ms),
    }
}
