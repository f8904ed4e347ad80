//! Rotates the secrets of API keys. A key has at most two valid secrets: the current one, and during the overlap the old one, which
//! the last rotation replaced.
//!
//! `api_keys` contains the current secret, `old_key_secrets` the old one. A request with the current secret needs no further query.

use std::net::IpAddr;
use std::time::Duration;

use entity::api_keys::{self, ActiveModel};
use entity::{Set, key_notices, old_key_secrets};
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{KeyId, WorkspaceId};
use jiff::Timestamp;
use mail::message::{KeyItem, Message};
use secrecy::SecretString;

use super::manage::{NewSecret, lock, lock_valid, record};
use super::{KeyRecord, masked, shorten};
use crate::app::App;
use crate::records::id;
use crate::{Error, Result, WriteOutcome, users, workspaces};

/// Maximum time for which the old secret stays valid.
const MAX_OVERLAP: Duration = Duration::from_hours(7 * 24);

/// The secret that the last rotation of a key replaced, while it is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldSecret {
    /// The secret's first 12 characters.
    pub prefix: String,
    /// The secret's last 4 characters.
    pub last4: String,
    /// When the secret expires.
    pub expires_at: Timestamp,
}

/// The result of a rotation.
#[derive(Debug)]
pub struct RotatedKey {
    /// The key, with the new secret.
    pub key: KeyRecord,
    /// The new secret, which is valid as soon as the write commits. It cannot be retrieved later.
    pub secret: SecretString,
    /// When the old secret expires. `None` if it expires at once.
    pub old_until: Option<Timestamp>,
}

impl RotatedKey {
    /// Returns the detail of the audit log entry: the name of the key, and when the old secret ends.
    pub fn audit_detail(&self) -> String {
        let name = shorten(&self.key.name);
        match self.old_until {
            Some(until) => format!("{name} (the old secret ends at {until:.3})"),
            None => format!("{name} (the old secret ended)"),
        }
    }
}

/// Which secret to replace, and how long it stays valid.
#[derive(Debug, Clone, Copy)]
pub struct KeyRotation {
    /// The workspace of the user or the key that rotates. `None` is for the operator, who can rotate keys of any workspace.
    pub workspace: Option<WorkspaceId>,
    /// The key.
    pub key: KeyId,
    /// The digest of the secret that must still be the current one. A key that rotates itself passes the secret that it used.
    pub current_digest: Option<[u8; 32]>,
    /// How long the old secret stays valid, but not longer than the key.
    pub overlap: Duration,
}

/// Replaces the secret of a key. Takes effect in this process at the commit, in other processes within 2 s.
///
/// # Errors
/// Returns [`Error::NotFound`] when the key does not exist or belongs to another workspace. Returns [`Error::Invalid`] for `overlap`
/// when it is longer than seven days, and for `key` when the key is revoked, expired, has two valid secrets already, or was rotated in
/// the meantime.
pub async fn rotate(app: &App, write: &mut Write, rotation: KeyRotation) -> Result<RotatedKey> {
    let KeyRotation { workspace, key, current_digest, overlap } = rotation;
    if overlap > MAX_OVERLAP {
        return Err(Error::invalid("overlap", "must be 0 to 7 days"));
    }
    let mut row = lock_valid(write, workspace, key).await?;
    let now = write.now_ms();
    if let Some(old) = old_key_secrets::of_key(write.conn(), row.id, now).await? {
        let end = from_ms(old.expires_at);
        return Err(Error::invalid("key", format!("has two valid secrets; the old one ends at {end:.3}")));
    }
    // A secret that has ended is accepted for up to 2 seconds by other processes, and must not replace the current one.
    if current_digest.is_some_and(|digest| row.secret_hash != digest) {
        return Err(Error::invalid("key", "was rotated in the meantime; use its current secret"));
    }
    let end = now.saturating_add(i64::try_from(overlap.as_millis()).unwrap_or(i64::MAX));
    let end = end.min(row.expires_at.unwrap_or(i64::MAX));
    let mode = workspaces::get_in(write, id(row.workspace_id)).await?.mode;
    let NewSecret { secret, hash, prefix, last4 } = NewSecret::generate(mode)?;
    let old = old_key_secrets::Model {
        key_id: row.id,
        secret_hash: std::mem::replace(&mut row.secret_hash, hash),
        prefix: std::mem::replace(&mut row.prefix, prefix),
        last4: std::mem::replace(&mut row.last4, last4),
        replaced_at: now,
        expires_at: end,
    };
    old_key_secrets::replace(write.conn(), old).await?;
    let changes = ActiveModel {
        secret_hash: Set(row.secret_hash.clone()),
        prefix: Set(row.prefix.clone()),
        last4: Set(row.last4.clone()),
        ..Default::default()
    };
    api_keys::in_workspace(row.workspace_id).update(write.conn(), row.id, changes).await?;
    let (app, digest) = (app.clone(), row.secret_hash.clone());
    write.after_commit(move || {
        app.principals.filter.add(&digest);
        app.principals.invalidate();
    });
    Ok(RotatedKey { key: record(row), secret, old_until: (end > now).then(|| from_ms(end)) })
}

/// Ends the old secret of a key before its time. Takes effect in this process at the commit, in other processes within 2 s. Changes
/// nothing when the key has no old secret that is valid.
///
/// # Errors
/// Returns [`Error::NotFound`] when the workspace has no such key.
pub async fn end_old_secret(
    app: &App,
    write: &mut Write,
    workspace: WorkspaceId,
    key: KeyId,
) -> Result<WriteOutcome<KeyRecord>> {
    let row = lock(write, Some(workspace), key).await?;
    if !old_key_secrets::expire(write.conn(), row.id, write.now_ms()).await? {
        return Ok(WriteOutcome::unchanged(record(row)));
    }
    let app = app.clone();
    write.after_commit(move || app.principals.invalidate());
    Ok(WriteOutcome::changed(record(row)))
}

/// The stage of the notice about a rotation.
const ROTATED: &str = "rotated";
/// How often the owners get a mail about rotations of one key, in milliseconds.
const MAIL_INTERVAL_MS: i64 = 60 * 60 * 1000;

/// Queues mails to the owners of the workspace about a rotation through the API, at most once an hour for a key. Anyone
/// who has a secret of the key can rotate it.
///
/// # Errors
/// Returns [`Error::Internal`] when a query fails.
pub async fn notify_owners(
    app: &App,
    write: &mut Write,
    rotated: &RotatedKey,
    address: IpAddr,
) -> Result<()> {
    let (key, now) = (&rotated.key, write.now_ms());
    let last = key_notices::sent_at(write.conn(), key.id.uuid(), ROTATED).await?;
    if last.is_some_and(|sent_at| now - sent_at < MAIL_INTERVAL_MS) {
        return Ok(());
    }
    let notice = key_notices::Model { key_id: key.id.uuid(), stage: ROTATED.to_owned(), sent_at: now };
    key_notices::replace(write.conn(), vec![notice]).await?;
    let workspace = workspaces::get_in(write, key.workspace).await?;
    let page = app.config.server.url_for_links().map(|server| format!("{server}/dashboard/developer"));
    let message = Message::KeyRotated {
        workspace: workspace.name.clone(),
        key: KeyItem {
            name: key.name.clone(),
            secret: masked(&key.prefix, &key.last4),
            at: rotated.old_until,
        },
        address: address.to_string(),
        at: from_ms(now),
        page,
    };
    users::mail_owners(app, write, &workspace, &message).await
}
