//! The Ed25519 key pairs of a workspace, which sign the deliveries of its subscriptions that choose so.
//!
//! A public key is published at once and signs only after [`CACHE_SECONDS`], when every receiver that caches the published
//! keys has it. During the overlap of a rotation, requests have a signature of each key pair. Private keys are encrypted,
//! and cannot be decrypted for another key pair.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ed25519_dalek::SigningKey;
use entity::webhook_keys::{self, Model};
use entity::workspaces;
use jiff::Timestamp;
use rand::TryRng;
use rand::rngs::SysRng;
use sea_orm::ConnectionTrait;
use secrecy::zeroize::Zeroizing;
use uuid::Uuid;

use super::super::records::{id, new_uuid, not_found};
use super::super::{Error, Result};
use crate::app::App;
use crate::master_key;
use foundation::clock::from_ms;
use foundation::database::Write;
use foundation::id::{
    SigningKey as SigningKeyIdKind, SigningKeyId, Workspace as WorkspaceIdKind, WorkspaceId,
};
use foundation::secret::{Seal, SealError};

/// How long receivers may cache the published keys.
pub const CACHE_SECONDS: u32 = 300;
/// How long a key pair is published before it signs: the cache of receivers, and that of a server process.
const PUBLISHED_BEFORE_MS: i64 = CACHE_SECONDS as i64 * 1_000 + 60_000;
/// Maximum time for which the previous key pairs continue to sign after the new one.
const MAX_OVERLAP: Duration = Duration::from_hours(7 * 24);
/// Maximum number of key pairs of a workspace. Each that signs adds a signature to every request.
const MAX_KEYS: usize = 5;

/// A published key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// The id, which is its `kid`.
    pub id: SigningKeyId,
    /// The key.
    bytes: Vec<u8>,
    /// When it begins to sign.
    pub signs_from: Timestamp,
    /// When it no longer signs. `None` until it is rotated.
    pub signs_until: Option<Timestamp>,
}

impl PublicKey {
    /// Returns the key in the form of Standard Webhooks: `whpk_` and base64.
    pub fn text(&self) -> String {
        format!("whpk_{}", STANDARD.encode(&self.bytes))
    }

    /// Returns the parameter `x` of its JSON Web Key (RFC 8037).
    pub fn x(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.bytes)
    }
}

/// How a rotation replaces the previous key pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// They sign until the new one does, and for this time beside it.
    Overlap(Duration),
    /// They are deleted, and the new one signs at once. For a private key that may have leaked.
    Immediate,
}

/// Returns the published keys of a workspace, newest first.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn list(app: &App, workspace: WorkspaceId) -> Result<Vec<PublicKey>> {
    let rows = webhook_keys::in_workspace(workspace.uuid()).list(app.db.read()).await?;
    let now = app.clock.now_ms();
    Ok(rows.into_iter().filter(|row| is_published(row, now)).map(public_key).collect())
}

/// Returns whether the key is published: receivers may still verify requests that were signed shortly before its end.
fn is_published(row: &Model, now: i64) -> bool {
    row.signs_until.is_none_or(|until| until + PUBLISHED_BEFORE_MS > now)
}

/// Creates the first key pair of a workspace, unless it has one.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing workspace, and [`Error::Internal`] when a query fails, or when the master key of
/// the seal has been replaced.
pub(super) async fn ensure(app: &App, write: &Write, seal: &Seal, workspace: WorkspaceId) -> Result<()> {
    let rows = locked(write, workspace).await?;
    if rows.iter().all(|row| row.signs_until.is_some()) {
        insert(app, write, seal, workspace, write.now_ms() + PUBLISHED_BEFORE_MS).await?;
    }
    Ok(())
}

/// Rotates the key pair of a workspace.
///
/// # Errors
/// Returns [`Error::NotFound`] for a missing workspace; [`Error::Invalid`] for an overlap of more than seven days or when the
/// workspace has the maximum number of key pairs, which an immediate replacement deletes; and [`Error::Internal`] when a query
/// fails, or when the master key of the seal has been replaced.
pub async fn rotate(
    app: &App,
    write: &mut Write,
    seal: &Seal,
    workspace: WorkspaceId,
    replacement: Replacement,
) -> Result<PublicKey> {
    let now = write.now_ms();
    let rows = locked(write, workspace).await?;
    let keys = webhook_keys::in_workspace(workspace.uuid());
    let signs_from = match replacement {
        Replacement::Immediate => {
            keys.retire(write.conn(), now, now).await?;
            now
        }
        Replacement::Overlap(overlap) if overlap > MAX_OVERLAP => {
            return Err(Error::invalid("overlap", "must be 0 to 7 days"));
        }
        Replacement::Overlap(overlap) => {
            if rows.iter().filter(|row| is_published(row, now)).count() >= MAX_KEYS {
                let message = format!(
                    "would leave more than {MAX_KEYS} keys; wait until an older one expires, or replace all of them immediately"
                );
                return Err(Error::invalid("overlap", message));
            }
            let from = now + PUBLISHED_BEFORE_MS;
            let until = from.saturating_add(i64::try_from(overlap.as_millis()).unwrap_or(i64::MAX));
            keys.retire(write.conn(), now - PUBLISHED_BEFORE_MS, until).await?;
            from
        }
    };
    insert(app, write, seal, workspace, signs_from).await.map(public_key)
}

/// Returns the rows of a workspace, locked until the write ends: concurrent changes wait.
async fn locked(write: &Write, workspace: WorkspaceId) -> Result<Vec<Model>> {
    if workspaces::lock(write.conn(), workspace.uuid()).await?.is_none() {
        return Err(not_found::<WorkspaceIdKind>(workspace));
    }
    Ok(webhook_keys::in_workspace(workspace.uuid()).list(write.conn()).await?)
}

async fn insert(
    app: &App,
    write: &Write,
    seal: &Seal,
    workspace: WorkspaceId,
    signs_from: i64,
) -> Result<Model> {
    master_key::check_seal(write, seal).await?;
    let mut private = Zeroizing::new([0; 32]);
    SysRng.try_fill_bytes(private.as_mut_slice()).map_err(anyhow::Error::from)?;
    let key_id = new_uuid::<SigningKeyIdKind>(app, write);
    let row = Model {
        id: key_id,
        workspace_id: workspace.uuid(),
        public_key: SigningKey::from_bytes(&private).verifying_key().to_bytes().to_vec(),
        ciphertext: seal.encrypt(private.as_slice(), key_id.as_bytes()).map_err(anyhow::Error::from)?,
        created_at: write.now_ms(),
        signs_from,
        signs_until: None,
    };
    webhook_keys::in_workspace(workspace.uuid()).insert(write.conn(), row.clone()).await?;
    Ok(row)
}

/// Returns the key pairs of each of these workspaces that sign now, newest first; an error if one cannot be decrypted.
///
/// # Errors
/// Returns [`Error::Internal`] when the query fails.
pub async fn signing(
    conn: &impl ConnectionTrait,
    seal: &Seal,
    workspaces: &[Uuid],
    now_ms: i64,
) -> Result<HashMap<Uuid, std::result::Result<Vec<SigningKey>, SealError>>> {
    let mut signing: HashMap<Uuid, std::result::Result<Vec<SigningKey>, SealError>> = HashMap::new();
    for row in webhook_keys::signing(conn, workspaces, now_ms).await? {
        let key = decrypt(seal, &row).inspect_err(|error| {
            let (workspace, key) = (WorkspaceId::from_uuid(row.workspace_id), SigningKeyId::from_uuid(row.id));
            tracing::warn!(workspace.id = %workspace, key.id = %key, %error, "a webhook signing key cannot be decrypted");
        });
        let keys = signing.entry(row.workspace_id).or_insert_with(|| Ok(Vec::new()));
        match (&mut *keys, key) {
            (Ok(keys), Ok(key)) => keys.push(key),
            (keys, Err(error)) => *keys = Err(error),
            (Err(_), Ok(_)) => {}
        }
    }
    Ok(signing)
}

fn decrypt(seal: &Seal, row: &Model) -> std::result::Result<SigningKey, SealError> {
    let private = seal.decrypt(&row.ciphertext, row.id.as_bytes())?;
    let private: &[u8; 32] = private.as_slice().try_into().map_err(|_| SealError::Invalid)?;
    Ok(SigningKey::from_bytes(private))
}

fn public_key(row: Model) -> PublicKey {
    PublicKey {
        id: id(row.id),
        bytes: row.public_key,
        signs_from: from_ms(row.signs_from),
        signs_until: row.signs_until.map(from_ms),
    }
}
